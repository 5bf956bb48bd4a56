//! Encodes passages in the background and requests at once.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::network::Threads;
use crate::vector_cache::PASSAGE_TOKENS;
use crate::{EncoderError, Key, Model, QuantizedVector, Vector, VectorCache, passage_key};

/// The most texts that wait for their vectors; more are left out.
pub const QUEUE_TEXTS: usize = 100_000;
/// Requests whose vectors are kept, so that the next page of an answer costs nothing.
pub const REQUESTS: usize = 256;
/// The most tokens of a request that are encoded: more takes longer and adds hardly anything.
pub const REQUEST_TOKENS: usize = 48;
/// The most failed texts that are remembered, so that they are not tried again.
const FAILURES: usize = 1024;
/// The longest that the background waits for requests to end before its next text, so that a steady
/// stream of requests does not stop it.
const GIVE_WAY: Duration = Duration::from_millis(100);
/// How long nothing is encoded before the model rests.
const REST: Duration = Duration::from_mins(10);
/// How much lower than normal the background thread's priority is (0 to 19).
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// What an embedder needs from a model; tests bring their own.
trait Encode: Send + Sync {
    fn passage(&self, threads: &Threads, text: &str, tokens: usize)
    -> Result<Vector, EncoderError>;
    fn request(&self, text: &str, tokens: usize) -> Result<Vector, EncoderError>;
    fn rest(&self, unused: Duration) -> Duration;
}

impl Encode for Model {
    fn passage(
        &self,
        threads: &Threads,
        text: &str,
        tokens: usize,
    ) -> Result<Vector, EncoderError> {
        self.encode_on(threads, text, tokens)
    }

    fn request(&self, text: &str, tokens: usize) -> Result<Vector, EncoderError> {
        self.encode(text, tokens)
    }

    fn rest(&self, unused: Duration) -> Duration {
        Self::rest(self, unused)
    }
}

/// Fills a cache on one low-priority thread and encodes requests on the caller's thread.
///
/// Dropping it ends the thread after the current text.
pub struct Embedder {
    shared: Arc<EmbedderState>,
    /// `None` where the system could not start a thread.
    thread: Option<JoinHandle<()>>,
    /// For passages that are kept elsewhere: a thread of low priority too.
    elsewhere: OnceLock<Threads>,
}

/// How far the background has come with the texts last asked for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Texts that have a vector, including those from earlier runs.
    pub embedded: usize,
    /// Texts that were asked for, each counted once.
    pub wanted: usize,
}

struct EmbedderState {
    model: Arc<dyn Encode>,
    cache: RwLock<VectorCache>,
    work: Mutex<PendingTexts>,
    changed: Condvar,
    requests: Mutex<RequestCache>,
}

#[derive(Default)]
struct PendingTexts {
    /// At most [`QUEUE_TEXTS`].
    queue: VecDeque<(Key, Arc<str>)>,
    progress: Progress,
    /// The current text, and whether it is among those last asked for.
    current: Option<(Key, bool)>,
    /// At most [`FAILURES`].
    failed: HashSet<Key>,
    /// Requests that are being encoded; the background waits for them.
    requests: usize,
    is_over: bool,
}

impl PendingTexts {
    fn is_busy(&self) -> bool {
        !self.queue.is_empty() || self.current.is_some()
    }
}

impl Embedder {
    pub fn start(model: Arc<Model>, cache: VectorCache) -> Self {
        Self::over(model, cache, REST)
    }

    fn over(model: Arc<dyn Encode>, cache: VectorCache, rest: Duration) -> Self {
        let shared = Arc::new(EmbedderState {
            model,
            cache: RwLock::new(cache),
            work: Mutex::default(),
            changed: Condvar::new(),
            requests: Mutex::default(),
        });
        let background = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("gatefold-embed".to_owned());
        let thread = thread.spawn(move || background.run(rest));
        let thread = thread.inspect_err(|error| {
            tracing::error!(%error, "no thread could be started for embedding; passages get no vectors");
        });
        Self { shared, thread: thread.ok(), elsewhere: OnceLock::new() }
    }

    /// Replaces the set of texts to encode; those already in the cache are done. Texts that failed
    /// before are left out, and so is what exceeds [`QUEUE_TEXTS`].
    pub fn want(&self, texts: Vec<Arc<str>>) {
        let mut seen = HashSet::new();
        let mut queue: VecDeque<_> = keyed(texts).filter(|(key, _)| seen.insert(*key)).collect();
        let vectors = self.shared.cache.read().unwrap_or_else(PoisonError::into_inner);
        queue.retain(|(key, _)| vectors.get(key).is_none());
        drop(vectors);
        let mut work = self.shared.work();
        // The current text is not in the cache yet, but need not be encoded again.
        let embedded = seen.len() - queue.len();
        let is_current = |key: &Key| work.current.is_some_and(|(current, _)| current == *key);
        let counts = queue.iter().any(|(key, _)| is_current(key));
        queue.retain(|(key, _)| !is_current(key) && !work.failed.contains(key));
        if queue.len() > QUEUE_TEXTS {
            tracing::warn!(
                texts = queue.len(),
                limit = QUEUE_TEXTS,
                "texts were left without vectors"
            );
            queue.truncate(QUEUE_TEXTS);
        }
        work.queue = queue;
        work.progress = Progress { embedded, wanted: seen.len() };
        if let Some((_, is_counted)) = &mut work.current {
            *is_counted = counts;
        }
        drop(work);
        self.shared.changed.notify_all();
    }

    /// Adds texts, before those that wait. What waits, failed or has a vector is not added again.
    pub fn want_also(&self, texts: Vec<Arc<str>>) {
        let texts: Vec<_> = keyed(texts).collect();
        let mut work = self.shared.work();
        let mut known: HashSet<Key> = work.queue.iter().map(|(key, _)| *key).collect();
        known.extend(work.current.map(|(key, _)| key));
        let vectors = self.shared.cache.read().unwrap_or_else(PoisonError::into_inner);
        let is_new = |key: &Key| vectors.get(key).is_none() && !work.failed.contains(key);
        let new = texts.into_iter().filter(|(key, _)| is_new(key) && known.insert(*key));
        let new: Vec<_> = new.collect();
        drop(vectors);
        work.progress.wanted += new.len();
        for text in new.into_iter().rev() {
            work.queue.push_front(text);
        }
        work.queue.truncate(QUEUE_TEXTS);
        drop(work);
        self.shared.changed.notify_all();
    }

    /// The vector of a passage, once it is there.
    pub fn vector(&self, key: &Key) -> Option<Arc<QuantizedVector>> {
        self.shared.cache.read().unwrap_or_else(PoisonError::into_inner).get(key)
    }

    /// The same for several, in their order.
    pub fn vectors(&self, passages: &[&str]) -> Vec<Option<Arc<QuantizedVector>>> {
        let vectors = self.shared.cache.read().unwrap_or_else(PoisonError::into_inner);
        passages.iter().map(|passage| vectors.get(&passage_key(passage))).collect()
    }

    pub fn progress(&self) -> Progress {
        self.shared.work().progress
    }

    /// Whether no text is left to read: some may have failed or been left out.
    pub fn has_read(&self) -> bool {
        !self.shared.work().is_busy()
    }

    /// Whether nothing more will be read: none is left, or there is no thread, or none any more.
    pub fn is_idle(&self) -> bool {
        !self.runs() || self.has_read()
    }

    fn runs(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Waits until nothing is left to do, at most `limit`. Returns whether every wanted text has a
    /// vector: `false` also where one failed or was left out.
    pub fn wait(&self, limit: Duration) -> bool {
        let limit = if self.runs() { limit } else { Duration::ZERO };
        let is_busy = |work: &mut PendingTexts| work.is_busy();
        let waited = self.shared.changed.wait_timeout_while(self.shared.work(), limit, is_busy);
        let (work, _) = waited.unwrap_or_else(PoisonError::into_inner);
        work.progress.embedded >= work.progress.wanted
    }

    /// Makes the background wait for a while before its next text, as it does for requests.
    pub fn pause(&self) -> Pause<'_> {
        Pause::begin(&self.shared)
    }

    /// The vector of a passage that is kept elsewhere, cut at `tokens` tokens. Nobody waits for it: requests
    /// that are being encoded go first, and other work of the machine does.
    pub fn passage(&self, text: &str, tokens: usize) -> Result<Vector, EncoderError> {
        let is_asked = |work: &mut PendingTexts| work.requests > 0;
        let waited = self.shared.changed.wait_timeout_while(self.shared.work(), GIVE_WAY, is_asked);
        drop(waited);
        let threads = self.elsewhere.get_or_init(|| Threads::start_with(step_back));
        self.shared.model.passage(threads, text, tokens)
    }

    /// The vector of a request, cut at `tokens` tokens; from memory if it was requested recently.
    /// It does not wait for passages.
    pub fn request(&self, text: &str, tokens: usize) -> Result<Arc<Vector>, EncoderError> {
        let key = request_key(text, tokens);
        if let Some(found) = self.shared.requests().get(&key) {
            return Ok(found);
        }
        let encoded = {
            let _pause = self.pause();
            Arc::new(self.shared.model.request(text, tokens)?)
        };
        self.shared.requests().put(key, Arc::clone(&encoded));
        Ok(encoded)
    }
}

impl Drop for Embedder {
    fn drop(&mut self) {
        self.shared.work().is_over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread for embedding ended by a panic");
        }
    }
}

impl std::fmt::Debug for Embedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedder").field("progress", &self.progress()).finish_non_exhaustive()
    }
}

impl EmbedderState {
    fn work(&self) -> MutexGuard<'_, PendingTexts> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn requests(&self) -> MutexGuard<'_, RequestCache> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The background thread: one text after the other until the embedder is dropped.
    fn run(&self, rest: Duration) {
        let threads = Threads::start_with(step_back);
        while let Some((key, text)) = self.next(rest) {
            let vector = self.model.passage(&threads, &text, PASSAGE_TOKENS);
            let is_embedded = match vector {
                Ok(vector) => {
                    let mut vectors = self.cache.write().unwrap_or_else(PoisonError::into_inner);
                    vectors.put(key, Arc::new(vector.quantize()));
                    true
                }
                Err(error) => {
                    if matches!(error, EncoderError::Load { .. } | EncoderError::Gone { .. }) {
                        // It would be the same for each of them.
                        self.work().queue.clear();
                    }
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(
                        error,
                        bytes = text.len(),
                        "a text was not embedded and skipped"
                    );
                    false
                }
            };
            self.finish(key, is_embedded);
        }
    }

    fn next(&self, rest: Duration) -> Option<(Key, Arc<str>)> {
        let is_asked = |work: &mut PendingTexts| work.requests > 0 && !work.is_over;
        let waited = self.changed.wait_timeout_while(self.work(), GIVE_WAY, is_asked);
        let (mut work, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_idle = |work: &mut PendingTexts| work.queue.is_empty() && !work.is_over;
        let mut wait = rest;
        loop {
            let waited = self.changed.wait_timeout_while(work, wait, is_idle);
            let (after, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
            if !timed_out.timed_out() {
                work = after;
                break;
            }
            drop(after);
            wait = self.model.rest(rest);
            work = self.work();
        }
        if work.is_over {
            return None;
        }
        let (key, text) = work.queue.pop_front()?;
        work.current = Some((key, true));
        Some((key, text))
    }

    fn finish(&self, key: Key, is_embedded: bool) {
        let mut work = self.work();
        let counts = work.current.take().is_some_and(|(_, counts)| counts);
        if is_embedded && counts {
            work.progress.embedded += 1;
        }
        if !is_embedded && work.failed.len() < FAILURES {
            work.failed.insert(key);
        }
        drop(work);
        self.changed.notify_all();
    }
}

/// Only on Linux is niceness a property of a thread; elsewhere it would slow the whole program.
fn step_back() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::debug!(%error, "embedding kept the usual priority");
    }
}

/// A request in progress. Dropping it ends the pause, also when the request panics.
#[must_use]
pub struct Pause<'a>(&'a EmbedderState);

impl<'a> Pause<'a> {
    fn begin(shared: &'a EmbedderState) -> Self {
        shared.work().requests += 1;
        Self(shared)
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.0.work().requests -= 1;
        self.0.changed.notify_all();
    }
}

/// Recent requests; the least recently used one is evicted.
#[derive(Default)]
struct RequestCache {
    /// At most [`REQUESTS`], each with its last use.
    known: HashMap<Key, (u64, Arc<Vector>)>,
    uses: u64,
}

impl RequestCache {
    fn get(&mut self, key: &Key) -> Option<Arc<Vector>> {
        self.uses += 1;
        let (used, encoded) = self.known.get_mut(key)?;
        *used = self.uses;
        Some(Arc::clone(encoded))
    }

    fn put(&mut self, key: Key, encoded: Arc<Vector>) {
        if self.known.len() >= REQUESTS && !self.known.contains_key(&key) {
            let oldest = self.known.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                self.known.remove(&oldest);
            }
        }
        self.uses += 1;
        self.known.insert(key, (self.uses, encoded));
    }
}

fn keyed(texts: Vec<Arc<str>>) -> impl Iterator<Item = (Key, Arc<str>)> {
    texts.into_iter().map(|text| (passage_key(&text), text))
}

fn request_key(text: &str, tokens: usize) -> Key {
    let hash = Sha256::new().chain_update((tokens as u64).to_le_bytes());
    hash.chain_update(text).finalize().into()
}

#[cfg(test)]
mod tests;
