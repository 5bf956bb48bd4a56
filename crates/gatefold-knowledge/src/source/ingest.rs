//! Keeping a base at what its files say, in the background.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream;
use gatefold_documents::MAX_INPUT;
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::cited::CitedVersions;
use super::progress::IngestProgress;
use super::watch::FileWatch;
use super::{DocumentReader, KnowledgeSourceSettings, UnreadDocument, on_disk};
use crate::{
    DocumentSummary, FileFacts, FileOnDisk, KnowledgeBase, KnowledgeError, NewDocument, READY, plan,
};

/// How many documents are read at once. The pool of workers has limits of its own.
const READ_AT_ONCE: usize = 4;

/// How long documents that were read may wait to be found.
const COMMIT_EVERY: Duration = Duration::from_secs(1);

/// How long to wait after something failed that may get better: no worker was free, or another process
/// writes to the base.
const RETRY: Duration = Duration::from_secs(15);

/// How many chunks are encoded before others get a turn, and how long that turn is for each part of the
/// time that encoding took.
const ENCODED: usize = 8;
const REST_SHARE: u32 = 2;

/// How long a base is open before its chunks are encoded: a command that asks it once is over sooner.
const ENCODE_AFTER: Duration = Duration::from_secs(1);

/// How often versions that were cited are told to the base.
const TEND_EVERY: Duration = Duration::from_secs(5);

/// Reads the files of a base, again and again.
pub(super) struct Ingest {
    pub(super) settings: KnowledgeSourceSettings,
    pub(super) base: Arc<KnowledgeBase>,
    pub(super) reader: Arc<dyn DocumentReader>,
    pub(super) watch: Arc<FileWatch>,
    pub(super) progress: Arc<IngestProgress>,
    pub(super) cited: Arc<CitedVersions>,
    /// Rung when documents changed.
    pub(super) changed: Arc<Notify>,
}

/// How one look at the files ended.
#[derive(Debug, PartialEq, Eq)]
enum Pass {
    /// The base says what the files said.
    Done,
    /// Files changed meanwhile.
    Again,
    /// Some could not be read for now; the reason is for the operator.
    Later(String),
}

/// What is to be done about one file.
enum Outcome {
    Put(Box<NewDocument>),
    Fault {
        facts: FileFacts,
        state: String,
        reason: String,
    },
    /// It is gone, or cannot be opened: the next look tells.
    Skipped,
    Later(String),
}

/// Reads the files of a base once, for whoever asks it without a gateway. Says why some are left for
/// later, if they are.
pub async fn read_files(
    settings: &KnowledgeSourceSettings,
    base: &Arc<KnowledgeBase>,
    reader: &Arc<dyn DocumentReader>,
    progress: &Arc<IngestProgress>,
) -> Result<Option<String>, KnowledgeError> {
    let ingest = Arc::new(Ingest {
        settings: settings.clone(),
        base: Arc::clone(base),
        reader: Arc::clone(reader),
        // It follows nothing, so that no news interrupts a pass.
        watch: Arc::new(FileWatch::new()),
        progress: Arc::clone(progress),
        cited: Arc::new(CitedVersions::new()),
        changed: Arc::default(),
    });
    Ok(match Ingest::pass(&ingest).await? {
        Pass::Done | Pass::Again => None,
        Pass::Later(reason) => Some(reason),
    })
}

impl Ingest {
    /// Goes on until it is dropped.
    pub(super) async fn run(self) {
        let this = Arc::new(self);
        loop {
            this.watch.follow(&this.settings.roots);
            let pass = Self::pass(&this).await;
            this.progress.has_looked();
            match pass {
                Ok(Pass::Done) => this.watch.changed().await,
                Ok(Pass::Again) => {}
                Ok(Pass::Later(reason)) => {
                    let (domain, seconds) = (&this.settings.domain, RETRY.as_secs());
                    tracing::warn!(%domain, reason, seconds, "documents could not be read for now and are tried again");
                    sleep(RETRY).await;
                }
                Err(error) => {
                    this.log(&error);
                    sleep(RETRY).await;
                }
            }
        }
    }

    fn log(&self, error: &KnowledgeError) {
        let (domain, cause) = (&self.settings.domain, std::error::Error::source(error));
        tracing::warn!(%domain, %error, cause, "documents could not be taken into a knowledge base");
    }

    /// Looks at all files once.
    async fn pass(this: &Arc<Self>) -> Result<Pass, KnowledgeError> {
        let own = Arc::clone(this);
        let (changes, known) = on_disk(move || {
            let known = own.base.documents()?;
            let listing = own.settings.folder.list();
            if !listing.unread.is_empty() {
                // A folder that comes back is another one to the system.
                own.watch.forget();
            }
            let changes = plan(listing, &known);
            for name in &changes.removed {
                own.base.remove(name)?;
            }
            if !changes.removed.is_empty() {
                own.commit()?;
            }
            Ok::<_, KnowledgeError>((changes, known))
        })
        .await?;
        let known: HashMap<_, _> =
            known.into_iter().map(|document| (document.name.clone(), document)).collect();
        this.progress.set_unread(changes.changed.len());
        let pass = Self::take(this, changes.changed, Arc::new(known)).await;
        this.progress.set_unread(0);
        pass
    }

    /// Reads files and puts them into the base, a few at a time.
    async fn take(
        this: &Arc<Self>,
        files: Vec<FileOnDisk>,
        known: Arc<HashMap<String, DocumentSummary>>,
    ) -> Result<Pass, KnowledgeError> {
        let mut left = files.len();
        let reading = |file: FileOnDisk| {
            let (this, known) = (Arc::clone(this), Arc::clone(&known));
            async move { this.read(file, &known).await }
        };
        let mut outcomes = stream::iter(files).map(reading).buffer_unordered(READ_AT_ONCE);
        let (mut committed, mut waiting) = (Instant::now(), None);
        while let Some(outcome) = outcomes.next().await {
            let own = Arc::clone(this);
            let is_due = committed.elapsed() >= COMMIT_EVERY || left == 1;
            let later = on_disk(move || {
                let later = own.put(outcome?)?;
                if is_due {
                    own.commit()?;
                }
                Ok::<_, KnowledgeError>(later)
            })
            .await?;
            left = left.saturating_sub(1);
            this.progress.set_unread(left);
            waiting = later.or(waiting);
            if is_due {
                committed = Instant::now();
                // What was put stays, and a deletion need not wait for the rest.
                if left > 0 && this.watch.has_news() {
                    this.watch.changed().await;
                    return Ok(Pass::Again);
                }
            }
        }
        Ok(waiting.map_or(Pass::Done, Pass::Later))
    }

    async fn read(
        &self,
        file: FileOnDisk,
        known: &HashMap<String, DocumentSummary>,
    ) -> Result<Outcome, KnowledgeError> {
        let mut facts = FileFacts {
            name: file.name.clone(),
            digest: Vec::new(),
            bytes: file.size,
            modified: file.modified,
        };
        if file.size > MAX_INPUT as u64 {
            let reason = format!("it has {} bytes, and at most {MAX_INPUT} are read", file.size);
            return Ok(Outcome::Fault { facts, state: "too_large".to_owned(), reason });
        }
        let read = on_disk(move || {
            let bytes = file.read(MAX_INPUT as u64)?;
            let digest = Sha256::digest(&bytes).to_vec();
            Ok::<_, KnowledgeError>((bytes, digest))
        });
        let (bytes, digest) = match read.await {
            Ok(read) => read,
            Err(error) => {
                tracing::debug!(%error, "a file was listed and could not be read");
                return Ok(Outcome::Skipped);
            }
        };
        facts.digest = digest;
        if let Some(same) = known.get(&facts.name).filter(|same| same.digest == facts.digest) {
            return self.touched(facts, same).await;
        }
        let name = facts.name.clone();
        Ok(match self.reader.read(&name, &bytes).await {
            Ok(read) => Outcome::Put(Box::new(NewDocument {
                file: facts,
                title_hint: None,
                note: read.note,
                document: read.document,
            })),
            Err(UnreadDocument::Fault { state, reason }) => Outcome::Fault { facts, state, reason },
            Err(UnreadDocument::Later(reason)) => Outcome::Later(reason),
        })
    }

    /// A file with another date and the same bytes, which need not be read again.
    async fn touched(
        &self,
        facts: FileFacts,
        same: &DocumentSummary,
    ) -> Result<Outcome, KnowledgeError> {
        let (state, note) = (same.state.clone(), same.reason.clone());
        let Some(version) = same.version.filter(|_| state == READY) else {
            return Ok(Outcome::Fault { facts, state, reason: note });
        };
        let (base, name) = (Arc::clone(&self.base), facts.name.clone());
        let document = on_disk(move || base.document(&name, version)).await?;
        Ok(Outcome::Put(Box::new(NewDocument { file: facts, title_hint: None, note, document })))
    }

    /// Puts what was read into the base, and says why it is read later if it is.
    fn put(&self, outcome: Outcome) -> Result<Option<String>, KnowledgeError> {
        let put = match outcome {
            Outcome::Put(document) => self.base.put(&document),
            Outcome::Fault { facts, state, reason } => self.base.put_fault(&facts, &state, &reason),
            Outcome::Skipped => Ok(()),
            Outcome::Later(reason) => return Ok(Some(reason)),
        };
        match put {
            // Such a document costs no other.
            Err(error @ (KnowledgeError::Name(_) | KnowledgeError::Full)) => {
                tracing::warn!(domain = %self.settings.domain, %error, "a document was left out");
                Ok(None)
            }
            put => put.map(|()| None),
        }
    }

    fn commit(&self) -> Result<(), KnowledgeError> {
        // What is cited must be known to be before versions are thrown away.
        self.cited.flush(&self.base);
        self.base.commit()?;
        self.changed.notify_one();
        Ok(())
    }
}

/// Has the encoder read what it has not, slowly, and tells the base what was cited. Goes on until it is
/// dropped.
pub(super) async fn tend(base: Arc<KnowledgeBase>, cited: Arc<CitedVersions>) {
    sleep(ENCODE_AFTER).await;
    loop {
        let (own, noted) = (Arc::clone(&base), Arc::clone(&cited));
        let start = Instant::now();
        let encoded = on_disk(move || {
            noted.flush(&own);
            own.encode_some(ENCODED)
        });
        match encoded.await {
            Ok(0) => sleep(TEND_EVERY).await,
            Ok(_) => sleep(start.elapsed() * REST_SHARE).await,
            Err(error) => {
                tracing::warn!(%error, "passages are ranked without the encoder for now");
                sleep(TEND_EVERY).await;
            }
        }
    }
}
