//! Keeping a base at what its files and addresses say, in the background.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::cited::CitedVersions;
use super::origin::{ChangedDocument, DocumentOrigin, LoadedDocument, is_stale, origins};
use super::progress::IngestProgress;
use super::{DocumentReader, KnowledgePorts, KnowledgeSourceSettings, UnreadDocument, on_disk};
use crate::{
    DocumentSummary, FileFacts, KnowledgeBase, KnowledgeError, NewDocument, READY, Version,
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

/// Reads the documents of one origin into a base, again and again.
pub(super) struct Ingest {
    pub(super) settings: KnowledgeSourceSettings,
    pub(super) base: Arc<KnowledgeBase>,
    pub(super) reader: Arc<dyn DocumentReader>,
    pub(super) origin: DocumentOrigin,
    pub(super) progress: Arc<IngestProgress>,
    pub(super) cited: Arc<CitedVersions>,
    /// Rung when documents changed.
    pub(super) changed: Arc<Notify>,
}

/// How one look at the documents ended.
#[derive(Debug, PartialEq, Eq)]
enum Pass {
    /// The base says what the documents said.
    Done,
    /// Documents changed meanwhile.
    Again,
    /// Some could not be read for now; the reason is for the operator.
    Later(String),
}

/// What is to be done about one document.
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

/// Reads what is new or changed once, for whoever works with a base without a gateway. An address that was
/// fetched before is not fetched again. Says why some are left for later, if they are.
pub async fn read_documents(
    settings: &KnowledgeSourceSettings,
    ports: &KnowledgePorts,
    base: &Arc<KnowledgeBase>,
    progress: &Arc<IngestProgress>,
) -> Result<Option<String>, KnowledgeError> {
    let mut later = None;
    for origin in once(settings, ports, base).await? {
        let ingest = Arc::new(Ingest {
            settings: settings.clone(),
            base: Arc::clone(base),
            reader: Arc::clone(&ports.reader),
            // It follows nothing, so that no news interrupts a pass.
            origin,
            progress: Arc::clone(progress),
            cited: Arc::new(CitedVersions::new()),
            changed: Arc::default(),
        });
        if let Pass::Later(reason) = Ingest::pass(&ingest).await? {
            later = Some(reason);
        }
    }
    Ok(later)
}

/// How many documents differ from what the base says, without those that were fetched before.
pub async fn count_unread(
    settings: &KnowledgeSourceSettings,
    ports: &KnowledgePorts,
    base: &Arc<KnowledgeBase>,
) -> Result<usize, KnowledgeError> {
    let (origins, base) = (once(settings, ports, base).await?, Arc::clone(base));
    on_disk(move || {
        let known = base.documents()?;
        let count = |origin: &DocumentOrigin| {
            let own = known.iter().filter(|document| origin.owns(&document.name));
            let changes = origin.look(&own.cloned().collect::<Vec<_>>());
            changes.changed.len() + changes.removed.len()
        };
        Ok(origins.iter().map(count).sum())
    })
    .await
}

/// The origins of a base, for one look.
async fn once(
    settings: &KnowledgeSourceSettings,
    ports: &KnowledgePorts,
    base: &Arc<KnowledgeBase>,
) -> Result<Vec<DocumentOrigin>, KnowledgeError> {
    let own = Arc::clone(base);
    let known = on_disk(move || own.documents()).await?;
    let origins = origins(settings, ports.remote.clone(), &ports.clock);
    let origins: Vec<_> = origins.into_iter().flatten().collect();
    for origin in &origins {
        let names = known.iter().map(|document| document.name.clone());
        origin.settle(names.filter(|name| origin.owns(name)));
    }
    Ok(origins)
}

impl Ingest {
    /// Goes on until it is dropped.
    pub(super) async fn run(self) {
        let this = Arc::new(self);
        loop {
            this.origin.follow();
            let pass = Self::pass(&this).await;
            this.progress.has_looked();
            match pass {
                Ok(Pass::Done) => this.origin.changed().await,
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

    /// Looks at all documents once.
    async fn pass(this: &Arc<Self>) -> Result<Pass, KnowledgeError> {
        let own = Arc::clone(this);
        let (changes, known) = on_disk(move || {
            let mut known = own.base.documents()?;
            known.retain(|document| own.origin.owns(&document.name));
            let changes = own.origin.look(&known);
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
        let pass = Self::take(this, changes.changed, Arc::new(known)).await;
        this.progress.set_unread(0);
        pass
    }

    /// Reads documents and puts them into the base, a few at a time.
    async fn take(
        this: &Arc<Self>,
        documents: Vec<ChangedDocument>,
        known: Arc<HashMap<String, DocumentSummary>>,
    ) -> Result<Pass, KnowledgeError> {
        let is_missed = |name: &str| this.origin.is_missed(known.get(name));
        let (mut left, mut settled) = (documents.len(), Vec::new());
        let mut unread = documents.iter().filter(|own| is_missed(own.name())).count();
        this.progress.set_unread(unread);
        let reading = |document: ChangedDocument| {
            let (this, known) = (Arc::clone(this), Arc::clone(&known));
            async move {
                let name = document.name().to_owned();
                (name, this.read(document, &known).await)
            }
        };
        let mut outcomes = stream::iter(documents).map(reading).buffer_unordered(READ_AT_ONCE);
        let (mut committed, mut waiting) = (Instant::now(), None);
        loop {
            // What was read must not wait for a document that takes long.
            match timeout(COMMIT_EVERY, outcomes.next()).await {
                Ok(Some((name, outcome))) => {
                    let own = Arc::clone(this);
                    let later = on_disk(move || own.put(outcome?)).await?;
                    left = left.saturating_sub(1);
                    unread = unread.saturating_sub(usize::from(is_missed(&name)));
                    if later.is_none() {
                        settled.push(name);
                    }
                    waiting = later.or(waiting);
                }
                Ok(None) => left = 0,
                Err(_) => {}
            }
            if left > 0 && (settled.is_empty() || committed.elapsed() < COMMIT_EVERY) {
                continue;
            }
            Self::settle(this, &mut settled).await?;
            // Only now can they be found.
            this.progress.set_unread(unread);
            committed = Instant::now();
            if left == 0 {
                break;
            }
            // What was put stays, and a deletion need not wait for the rest.
            if this.origin.has_news() {
                this.origin.changed().await;
                return Ok(Pass::Again);
            }
        }
        Ok(waiting.map_or(Pass::Done, Pass::Later))
    }

    /// Makes what was put count.
    async fn settle(this: &Arc<Self>, names: &mut Vec<String>) -> Result<(), KnowledgeError> {
        if names.is_empty() {
            return Ok(());
        }
        let own = Arc::clone(this);
        on_disk(move || own.commit()).await?;
        this.origin.settle(names.drain(..));
        Ok(())
    }

    async fn read(
        &self,
        document: ChangedDocument,
        known: &HashMap<String, DocumentSummary>,
    ) -> Result<Outcome, KnowledgeError> {
        let same = known.get(document.name());
        let (facts, file_name, bytes) = match self.origin.load(document, same).await {
            LoadedDocument::Bytes { facts, file_name, bytes } => (facts, file_name, bytes),
            LoadedDocument::Fault { facts, state, reason } => {
                return Ok(Outcome::Fault { facts, state: state.to_owned(), reason });
            }
            LoadedDocument::Stale(note) => return self.annotate(same, note).await,
            LoadedDocument::Skipped => return Ok(Outcome::Skipped),
        };
        let is_same = |same: &&DocumentSummary| same.digest == facts.digest && !is_stale(same);
        if let Some(same) = same.filter(is_same) {
            return self.touched(facts, same).await;
        }
        Ok(match self.reader.read(&file_name, &bytes).await {
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
        self.put_again(facts, version, note).await
    }

    /// Leaves a document as it is, with a note.
    async fn annotate(
        &self,
        same: Option<&DocumentSummary>,
        note: String,
    ) -> Result<Outcome, KnowledgeError> {
        let Some((same, version)) = same.and_then(|same| Some((same, same.version?))) else {
            return Ok(Outcome::Skipped);
        };
        let facts = FileFacts {
            name: same.name.clone(),
            digest: same.digest.clone(),
            bytes: same.bytes,
            modified: same.modified,
        };
        self.put_again(facts, version, note).await
    }

    async fn put_again(
        &self,
        file: FileFacts,
        version: Version,
        note: String,
    ) -> Result<Outcome, KnowledgeError> {
        let (base, name) = (Arc::clone(&self.base), file.name.clone());
        let document = on_disk(move || base.document(&name, version)).await?;
        Ok(Outcome::Put(Box::new(NewDocument { file, title_hint: None, note, document })))
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
