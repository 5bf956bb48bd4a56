//! A knowledge base as a source: tools that search and read it, and citations as resources.
//!
//! The base itself blocks, so it is asked on threads that may wait. Beside the calls, one task keeps the
//! base at what its files say, and another has the encoder read it.

mod access;
mod arguments;
mod cited;
mod desk;
mod hub;
mod ingest;
mod manifest;
mod origin;
mod place;
mod progress;
mod reader;
mod remote;
mod shown;
mod verdict;
mod watch;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::{KindName, Manifest};
use gatefold_core::{BoxError, CallError, Clock, Domain, EntryKind, Payload};
use gatefold_dispatch::{AdmittedCall, CallContext, DocumentCount, StatelessSource};
use tokio::sync::{Notify, OnceCell};
use tokio_util::task::AbortOnDropHandle;

use crate::{BaseSettings, EncoderInForce, Folder, KnowledgeBase, KnowledgeError, PastLimits};
use access::Access;
use cited::CitedVersions;
use desk::{Desk, DeskResult, unavailable};
pub use hub::KnowledgeHub;
use ingest::Ingest;
pub use ingest::{count_unread, read_documents};
use origin::origins;
pub use place::place_words;
pub use progress::IngestProgress;
pub use reader::{DocumentReader, ReadDocument, UnreadDocument};
pub use remote::{FetchedDocument, RemoteDocuments, UnfetchedDocument};
pub use verdict::verdict_words;

/// Whether everybody may see the resource with this URI of the source.
pub type SeenByAll = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What a source of knowledge is made of.
#[derive(Clone)]
pub struct KnowledgeSourceSettings {
    pub domain: Domain,
    /// What people call it.
    pub title: Option<String>,
    /// The folders and files that its documents are in, as `folder` has them.
    pub roots: Vec<PathBuf>,
    pub folder: Arc<Folder>,
    /// Where the base is kept.
    pub state: PathBuf,
    /// What is kept of documents that changed or are gone.
    pub past: PastLimits,
    /// How often documents are looked at that have to be fetched.
    pub refresh: Duration,
    /// Which documents may stand in what everybody is told of the source.
    pub seen_by_all: SeenByAll,
}

/// What a source of knowledge needs from outside.
#[derive(Clone)]
pub struct KnowledgePorts {
    pub reader: Arc<dyn DocumentReader>,
    /// The documents that are not on the disk.
    pub remote: Option<Arc<dyn RemoteDocuments>>,
    pub encoder: EncoderInForce,
    pub clock: Arc<dyn Clock>,
}

/// One knowledge base.
pub struct KnowledgeSource {
    settings: KnowledgeSourceSettings,
    ports: KnowledgePorts,
    base: OnceCell<Arc<KnowledgeBase>>,
    cited: Arc<CitedVersions>,
    progress: Arc<IngestProgress>,
    /// The same of documents that are fetched.
    fetching: Arc<IngestProgress>,
    /// As the base was described last.
    count: Mutex<Option<DocumentCount>>,
    changed: Arc<Notify>,
    /// What goes on beside the calls, once the base is open.
    background: Mutex<Option<BackgroundTasks>>,
}

/// The tasks that read folders and addresses, and the one that tends the base.
type BackgroundTasks = [Option<AbortOnDropHandle<()>>; 3];

impl KnowledgeSource {
    pub const KIND: KindName = KindName::at("knowledge", &manifest::PLACE);

    pub fn new(settings: KnowledgeSourceSettings, ports: KnowledgePorts) -> Self {
        Self {
            settings,
            ports,
            base: OnceCell::new(),
            cited: Arc::new(CitedVersions::new()),
            progress: Arc::default(),
            fetching: Arc::default(),
            count: Mutex::default(),
            changed: Arc::default(),
            background: Mutex::default(),
        }
    }

    /// The base, which is opened by whoever wants it first.
    async fn base(&self) -> Result<Arc<KnowledgeBase>, KnowledgeError> {
        let base = self.base.get_or_try_init(|| async {
            let state = self.settings.state.clone();
            let settings = BaseSettings {
                past: self.settings.past,
                encoder: Arc::clone(&self.ports.encoder),
                clock: self.ports.clock.clone(),
            };
            let base = on_disk(move || KnowledgeBase::open(&state, settings)).await?;
            let base = Arc::new(base);
            self.begin(&base);
            Ok::<_, KnowledgeError>(base)
        });
        base.await.cloned()
    }

    /// Starts what goes on as long as the source is there.
    fn begin(&self, base: &Arc<KnowledgeBase>) {
        let spawn = |origin, progress: &Arc<IngestProgress>| {
            progress.begin();
            let ingest = Ingest {
                settings: self.settings.clone(),
                base: Arc::clone(base),
                reader: Arc::clone(&self.ports.reader),
                origin,
                progress: Arc::clone(progress),
                cited: Arc::clone(&self.cited),
                changed: Arc::clone(&self.changed),
            };
            AbortOnDropHandle::new(tokio::spawn(ingest.run()))
        };
        let remote = self.ports.remote.clone();
        let [folders, addresses] = origins(&self.settings, remote, &self.ports.clock);
        let tending = ingest::tend(Arc::clone(base), Arc::clone(&self.cited));
        let tasks = [
            folders.map(|folders| spawn(folders, &self.progress)),
            addresses.map(|addresses| spawn(addresses, &self.fetching)),
            Some(AbortOnDropHandle::new(tokio::spawn(tending))),
        ];
        let mut background = self.background.lock().unwrap_or_else(PoisonError::into_inner);
        *background = Some(tasks);
    }

    async fn answer(&self, call: AdmittedCall, context: CallContext) -> Result<Payload, CallError> {
        let target = Arc::clone(call.target());
        let base = self.base().await.map_err(|error| unavailable(&target.domain, error))?;
        self.progress.await_first_look().await;
        let desk = Desk {
            domain: self.settings.domain.clone(),
            base,
            access: Access::new(&self.settings.domain, &context.nested),
            cited: Arc::clone(&self.cited),
            progress: [&self.progress, &self.fetching].map(Arc::clone),
            encoder: (self.ports.encoder)(),
        };
        let work: Box<dyn FnOnce() -> DeskResult + Send> = match (target.kind, &*target.name) {
            (EntryKind::Tool, manifest::KB_RETRIEVE) => {
                let arguments = arguments::read(&call)?;
                Box::new(move || desk.retrieve(&arguments))
            }
            (EntryKind::Tool, manifest::GROUNDED_RETRIEVE) => {
                let arguments = arguments::read(&call)?;
                Box::new(move || desk.ground(&arguments))
            }
            (EntryKind::Tool, manifest::LIST_DOCUMENTS) => {
                let arguments = arguments::read(&call)?;
                Box::new(move || desk.list(&arguments))
            }
            (EntryKind::Tool, manifest::READ_DOCUMENT) => {
                let arguments = arguments::read(&call)?;
                Box::new(move || desk.read(&arguments))
            }
            (EntryKind::Tool, manifest::CHECK_CITATIONS) => {
                let arguments = arguments::read(&call)?;
                Box::new(move || desk.check(&arguments))
            }
            (EntryKind::Resource, _) => {
                let target = Arc::clone(&target);
                Box::new(move || desk.cited_bytes(&target))
            }
            (kind, name) => {
                return Err(CallError::Unknown { kind: kind.as_str(), name: name.to_owned() });
            }
        };
        on_disk(work).await.map_err(|error| error.of_call(&target))
    }

    async fn described(&self) -> Result<Manifest, BoxError> {
        let base = self.base().await?;
        let (settings, clock) = (self.settings.clone(), self.ports.clock.clone());
        let manifest = on_disk(move || {
            let documents = base.documents()?;
            let without_text = documents.iter().filter(|own| own.version.is_none()).count();
            let count = DocumentCount { total: documents.len(), without_text };
            let manifest = manifest::of_base(&settings, &documents, clock.now());
            Ok::<_, KnowledgeError>((manifest, count))
        });
        let (manifest, count) = manifest.await?;
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) = Some(count);
        Ok(manifest)
    }
}

impl Drop for KnowledgeSource {
    fn drop(&mut self) {
        // A command that cites something is over before the base is told of it otherwise.
        if let Some(base) = self.base.get() {
            self.cited.flush(base);
        }
    }
}

impl fmt::Debug for KnowledgeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnowledgeSource")
            .field("domain", &self.settings.domain)
            .finish_non_exhaustive()
    }
}

impl StatelessSource for KnowledgeSource {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        self.described().boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        self.answer(call, context).boxed()
    }

    fn documents(&self) -> Option<DocumentCount> {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tells_changes(&self) -> bool {
        true
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        self.changed.notified().boxed()
    }
}

/// Runs something that waits for the disk where that holds nobody up.
async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
