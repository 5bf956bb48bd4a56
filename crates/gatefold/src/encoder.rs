//! The sentence encoder of a configuration, as searches use it.

#[cfg(feature = "knowledge")]
mod passages;
#[cfg(feature = "knowledge")]
mod queries;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

#[cfg(feature = "knowledge")]
pub(crate) use queries::QueryEncoder;

use gatefold_catalog::Encoder;
use gatefold_encoder::{
    CACHED_VECTORS, Embedder, EncoderError, ModelPlace, QuantizedVector, REQUEST_TOKENS,
    VectorCache,
};

/// The file in the state directory that keeps the vectors of tools.
const VECTORS: &str = "encoder.vectors";

/// The bar of an encoder in files, fitted to all-MiniLM-L6-v2: cosines of encoders that were not made
/// for tools are lower.
const BAR_OF_FILES: f32 = 0.18;

/// How many vectors of past requests are kept in memory: enough for the ten tenants with the most
/// past queries.
const PAST_REQUESTS: usize = 20_000;

/// An encoder that is opened by the first search, or by [`EncoderTier::start`]: most commands never
/// search, and to open one in files takes a fifth of a second and much memory.
#[derive(Debug)]
pub struct EncoderTier {
    model: ModelPlace,
    vectors: PathBuf,
    /// `None` inside if it could not be opened, which was logged.
    opened: OnceLock<Option<Arc<OpenEncoder>>>,
    /// What it was last given to read before it is opened: at most [`CACHED_VECTORS`], since no
    /// more would be kept.
    passages: Mutex<Option<Vec<Arc<str>>>>,
}

#[derive(Debug)]
struct OpenEncoder {
    /// Which model it is.
    #[cfg(feature = "knowledge")]
    digest: String,
    tools: Embedder,
    /// Its vectors stay in memory: past requests can be erased, and a vector on disk would reveal
    /// them.
    past: Embedder,
}

impl EncoderTier {
    /// An encoder that keeps its vectors in a state directory.
    pub fn new(model: &ModelPlace, state_dir: &Path) -> Self {
        Self {
            model: model.clone(),
            vectors: state_dir.join(VECTORS),
            opened: OnceLock::new(),
            passages: Mutex::default(),
        }
    }

    /// Opens an encoder, tries it and closes it again: the length of its vectors, or why it cannot be
    /// used.
    pub async fn examine(model: ModelPlace) -> Result<usize, String> {
        let tried = tokio::task::spawn_blocking(move || {
            let model = model.open()?;
            model.encode("a short text", REQUEST_TOKENS).map(|_| model.dimensions())
        });
        let dimensions = match tried.await {
            Ok(tried) => tried,
            Err(panic) => return Err(panic.to_string()),
        };
        dimensions.map_err(|error| match std::error::Error::source(&error) {
            Some(cause) => format!("{error} ({cause})"),
            None => error.to_string(),
        })
    }

    /// Where its model comes from.
    pub fn model(&self) -> &ModelPlace {
        &self.model
    }

    /// Whether opening it failed. It is not tried again.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.opened.get(), Some(None))
    }

    /// Opens the encoder on a thread of its own, so that it begins to read.
    pub fn start(self: &Arc<Self>) {
        let tier = Arc::clone(self);
        let spawned =
            std::thread::Builder::new().name("gatefold-encoder".to_owned()).spawn(move || {
                tier.opened();
            });
        if let Err(error) = spawned {
            tracing::warn!(%error, "no thread could be started for the encoder; the first search opens it");
        }
    }

    /// Waits until no tool is left to read, at most `limit`. Returns whether none is: also if the
    /// encoder could not be opened.
    pub(crate) fn await_tools(&self, limit: Duration) -> bool {
        self.opened().is_none_or(|opened| opened.tools.wait(limit) || opened.tools.is_idle())
    }

    fn opened(&self) -> Option<&Arc<OpenEncoder>> {
        let opened = self.opened.get_or_init(|| self.open().inspect_err(log).ok().map(Arc::new));
        if let Some(opened) = opened {
            let mut waiting = self.passages();
            if let Some(passages) = waiting.take() {
                opened.tools.want(passages);
            }
        }
        opened.as_ref()
    }

    fn open(&self) -> Result<OpenEncoder, EncoderError> {
        let model = Arc::new(self.model.open()?);
        let vectors = VectorCache::open(&self.vectors, &model).unwrap_or_else(|error| {
            let cause = std::error::Error::source(&error);
            tracing::warn!(%error, cause, "the encoder's vectors are kept in memory only");
            VectorCache::in_memory(&model, CACHED_VECTORS)
        });
        let past =
            Embedder::start(Arc::clone(&model), VectorCache::in_memory(&model, PAST_REQUESTS));
        Ok(OpenEncoder {
            #[cfg(feature = "knowledge")]
            digest: model.digest().to_owned(),
            tools: Embedder::start(model, vectors),
            past,
        })
    }

    fn passages(&self) -> MutexGuard<'_, Option<Vec<Arc<str>>>> {
        self.passages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log(error: &EncoderError) {
    let cause = std::error::Error::source(error);
    tracing::error!(%error, cause, "the encoder could not be opened; searches go without it");
}

impl Encoder for EncoderTier {
    fn read(&self, passages: Vec<String>) {
        let passages = passages.into_iter().take(CACHED_VECTORS);
        let passages: Vec<Arc<str>> = passages.map(Arc::from).collect();
        // Held until the passages are set, so that of two callers the later one wins.
        let mut waiting = self.passages();
        match self.opened.get() {
            Some(Some(opened)) => {
                *waiting = None;
                opened.tools.want(passages);
            }
            Some(None) => *waiting = None,
            // Opening it takes them from here.
            None => *waiting = Some(passages),
        }
    }

    fn finish(&self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let is_done = |reader: &Embedder| {
            reader.wait(until.saturating_duration_since(Instant::now())) || reader.is_idle()
        };
        self.opened().is_none_or(|opened| is_done(&opened.tools) && is_done(&opened.past))
    }

    fn bar(&self) -> Option<f32> {
        match self.model {
            ModelPlace::Builtin => None,
            ModelPlace::Files(_) => Some(BAR_OF_FILES),
        }
    }

    fn similarities(&self, request: &str, passages: &[&str]) -> Vec<Option<f32>> {
        match self.opened().filter(|opened| opened.tools.has_read()) {
            Some(opened) => opened.cosines(request, &opened.tools.vectors(passages)),
            None => vec![None; passages.len()],
        }
    }

    fn past_similarities(&self, request: &str, past: &[&str]) -> Vec<Option<f32>> {
        let Some(opened) = self.opened() else { return vec![None; past.len()] };
        let vectors = opened.past.vectors(past);
        let is_unread = |(_, vector): &(&&str, &Option<_>)| vector.is_none();
        let unread = past.iter().zip(&vectors).filter(is_unread);
        let unread: Vec<Arc<str>> = unread.map(|(text, _)| Arc::from(*text)).collect();
        if !unread.is_empty() {
            opened.past.want_also(unread);
        }
        if !opened.tools.has_read() {
            return vec![None; past.len()];
        }
        opened.cosines(request, &vectors)
    }
}

impl OpenEncoder {
    /// The cosines of a request to texts by their vectors.
    fn cosines(&self, request: &str, texts: &[Option<Arc<QuantizedVector>>]) -> Vec<Option<f32>> {
        if texts.iter().all(Option::is_none) {
            return vec![None; texts.len()];
        }
        // `tools`, which encodes the request, pauses by itself.
        let _pause = self.past.pause();
        match self.tools.request(request, REQUEST_TOKENS) {
            Ok(request) => {
                texts.iter().map(|text| text.as_ref().map(|text| text.cosine(&request))).collect()
            }
            Err(error) => {
                tracing::warn!(%error, "a request was ranked without the encoder");
                vec![None; texts.len()]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_waits_to_be_read_than_can_be_kept() {
        let home = tempfile::tempdir().unwrap();
        let gone = ModelPlace::Files(home.path().join("gone"));
        let encoder = EncoderTier::new(&gone, home.path());
        encoder.read(vec![String::new(); CACHED_VECTORS + 1]);
        assert_eq!(encoder.passages().as_ref().map(Vec::len), Some(CACHED_VECTORS));
    }

    #[test]
    fn one_in_files_has_a_bar_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let bar = |model| EncoderTier::new(&model, home.path()).bar();
        assert_eq!(bar(ModelPlace::Files("own".into())), Some(BAR_OF_FILES));
        assert_eq!(bar(ModelPlace::Builtin), None, "the ranking's own");
    }

    #[cfg(feature = "encoder")]
    #[test]
    fn nothing_is_judged_until_all_is_read() {
        let home = tempfile::tempdir().unwrap();
        let encoder = EncoderTier::new(&ModelPlace::Builtin, home.path());
        let texts =
            |count| (0..count).map(|text| format!("desk print: Prints page {text}")).collect();
        let judged = || encoder.similarities("print it", &["desk print: Prints page 0"])[0];
        encoder.read(texts(1));
        assert!(encoder.await_tools(Duration::from_mins(1)));
        assert!(judged().is_some());
        // So many take longer than the test.
        encoder.read(texts(CACHED_VECTORS));
        assert_eq!(judged(), None, "this one is read, the others are not");
        assert!(!encoder.await_tools(Duration::ZERO) && !encoder.finish(Duration::ZERO));
        assert_eq!(encoder.past_similarities("print it", &["print this"]), [None]);
        encoder.read(texts(2));
        assert!(encoder.finish(Duration::from_mins(1)));
        assert!(judged().is_some());
        let past = encoder.past_similarities("print it", &["print this"])[0];
        assert!(past.is_some(), "it was read while the tools were not");
    }

    #[cfg(feature = "encoder")]
    #[test]
    fn past_requests_are_judged_once_they_are_read_also_beside_unread_ones() {
        let home = tempfile::tempdir().unwrap();
        let encoder = EncoderTier::new(&ModelPlace::Builtin, home.path());
        let judged = |past: &[&str]| encoder.past_similarities("print it", past);
        let (written, asked) = (["a summary", "a request"], ["print this", "copy that"]);
        assert_eq!((judged(&written), judged(&asked)), (vec![None; 2], vec![None; 2]));
        assert!(encoder.finish(Duration::from_mins(1)));
        let all = judged(&[&written[..], &asked].concat());
        assert!(all.iter().all(Option::is_some), "neither list replaced the other: {all:?}");
        let with_a_new_one = judged(&["print this", "burn those", "copy that"]);
        assert!(with_a_new_one[0].is_some() && with_a_new_one[2].is_some(), "{with_a_new_one:?}");
    }

    #[test]
    fn one_that_cannot_be_opened_is_known_to_have_failed() {
        let home = tempfile::tempdir().unwrap();
        let gone = ModelPlace::Files(home.path().join("gone"));
        let encoder = EncoderTier::new(&gone, home.path());
        assert!(!encoder.has_failed(), "nobody has asked it");
        assert_eq!(encoder.similarities("a", &["b"]), [None]);
        assert!(encoder.has_failed());
    }
}
