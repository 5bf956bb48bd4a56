//! Knowledge bases on the disk, for whoever works with them beside a gateway.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gatefold_core::{Clock, Domain};
use gatefold_egress::{Egress, Settings};
use gatefold_knowledge::{
    BaseSettings, DocumentSummary, IngestProgress, KnowledgeBase, KnowledgeError, KnowledgePorts,
    KnowledgeSourceSettings, count_unread, read_documents,
};
use tokio::task::spawn_blocking;

use crate::config::kinds::base_section;
use crate::config::{Config, SourceConfig};
use crate::encoder::QueryEncoder;
use crate::{files, worker};

/// The most folders that are looked at where bases are kept.
const MAX_FOLDERS: usize = 10_000;

/// The folder of a state directory that bases are kept in.
pub(crate) fn folder_of(state_dir: &Path) -> PathBuf {
    state_dir.join("knowledge")
}

/// A knowledge base of a configuration, as it is on the disk.
///
/// A gateway may work with it at the same time. Then this process reads what that one has written, and
/// writes only what nobody else does.
pub struct ConfiguredBase {
    /// The source's name in the configuration.
    pub name: String,
    settings: KnowledgeSourceSettings,
    ports: KnowledgePorts,
}

/// What people should look at of a base's documents.
#[derive(Debug)]
pub struct BaseFindings {
    pub documents: usize,
    /// Documents without text.
    pub failed: Vec<DocumentSummary>,
    /// Documents of which a part is missing.
    pub incomplete: Vec<DocumentSummary>,
    pub unread: Option<UnreadFiles>,
    /// The folders and files of the configuration that cannot be read, and why.
    pub missing: Vec<(PathBuf, io::Error)>,
}

/// Files that a base does not say the text of yet.
#[derive(Debug)]
pub struct UnreadFiles {
    pub count: usize,
    /// Why they were not read.
    pub reason: String,
    /// Whether another process writes to the base, which may be reading them.
    pub is_busy: bool,
}

/// The knowledge bases of a configuration, in its order. One that is disabled or cannot be used is not
/// among them.
pub fn configured_bases(
    config: &Config,
    state_dir: &Path,
    clock: &Arc<dyn Clock>,
) -> Vec<ConfiguredBase> {
    let workers = worker::pool(config, worker::this_program());
    let folder = folder_of(state_dir);
    // So that searches rank as a gateway does.
    let encoder = QueryEncoder::opened_late(config.search.encoder.clone());
    // Without one, addresses stay as they were fetched.
    let egress = Egress::new(Settings::default()).ok();
    let base = |source: &SourceConfig| {
        let section = base_section(source.section.usable()?)?;
        Some(ConfiguredBase {
            name: source.origin.key.clone(),
            settings: section.settings(&source.domain, &folder, Arc::new(|_| true)),
            ports: KnowledgePorts {
                reader: Arc::new(section.reader(&source.domain, workers.clone())),
                remote: egress.as_ref().and_then(|egress| section.remote(egress)),
                encoder: Arc::clone(&encoder),
                clock: Arc::clone(clock),
            },
        })
    };
    config.sources.iter().filter_map(base).collect()
}

/// The folders of bases in a state directory that this configuration does not name. Another one may: many
/// can share a state directory. Those of sources that are disabled or cannot be used are not among them.
pub fn unnamed_bases(config: &Config, state_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = folder_of(state_dir);
    let named: Vec<_> = config
        .sources
        .iter()
        .filter_map(|source| {
            let section = base_section(source.section.usable()?)?;
            Some(section.settings(&source.domain, &folder, Arc::new(|_| true)).state)
        })
        .collect();
    let unread = config.sources.iter().filter(|source| source.section.usable().is_none());
    let unread: Vec<_> = unread.map(|source| source.domain.as_str()).collect();
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut unnamed = Vec::new();
    for entry in entries.take(MAX_FOLDERS) {
        let path = entry?.path();
        let domain = path.file_name().and_then(|name| name.to_str()?.rsplit_once('-'));
        let Some((domain, _)) = domain.filter(|(domain, _)| !unread.contains(domain)) else {
            continue;
        };
        let is_base = Domain::parse(domain).is_ok() && KnowledgeBase::disk_use(&path)?.is_some();
        if is_base && !named.contains(&path) {
            unnamed.push(path);
        }
    }
    unnamed.sort();
    Ok(unnamed)
}

impl ConfiguredBase {
    /// What its citations and tools are called by.
    pub fn domain(&self) -> &Domain {
        &self.settings.domain
    }

    /// What people call it.
    pub fn title(&self) -> Option<&str> {
        self.settings.title.as_deref()
    }

    /// The folders and files that its documents are in.
    pub fn roots(&self) -> &[PathBuf] {
        &self.settings.roots
    }

    /// Where it is kept.
    pub fn folder(&self) -> &Path {
        &self.settings.state
    }

    /// Opens the base, or makes an empty one.
    pub async fn open(&self) -> Result<Arc<KnowledgeBase>, KnowledgeError> {
        let folder = self.settings.state.clone();
        let settings = BaseSettings {
            past: self.settings.past,
            encoder: Arc::clone(&self.ports.encoder),
            clock: self.ports.clock.clone(),
        };
        let opened = spawn_blocking(move || {
            let failed = |source| KnowledgeError::Folder { path: folder.clone(), source };
            files::create_private_directory(&folder).map_err(failed)?;
            KnowledgeBase::open(&folder, settings)
        });
        joined(opened.await).map(Arc::new)
    }

    /// Reads the files that are new or changed. Says which are left, and why, if any are.
    pub async fn read_files(
        &self,
        base: &Arc<KnowledgeBase>,
        progress: &Arc<IngestProgress>,
    ) -> Result<Option<UnreadFiles>, KnowledgeError> {
        let read = read_documents(&self.settings, &self.ports, base, progress).await;
        let (reason, is_busy) = match read {
            Ok(None) => return Ok(None),
            Ok(Some(reason)) => (reason, false),
            Err(error @ KnowledgeError::Busy) => (error.to_string(), true),
            Err(error) => return Err(error),
        };
        let count = self.count_unread(base).await?;
        Ok((count > 0).then_some(UnreadFiles { count, reason, is_busy }))
    }

    /// Reads the files that are new or changed, and says what is wrong with any.
    pub async fn examine(&self) -> Result<BaseFindings, KnowledgeError> {
        let base = self.open().await?;
        let unread = self.read_files(&base, &Arc::default()).await?;
        self.findings(&base, unread).await
    }

    /// What is wrong with the documents of a base whose files were read.
    pub async fn findings(
        &self,
        base: &Arc<KnowledgeBase>,
        unread: Option<UnreadFiles>,
    ) -> Result<BaseFindings, KnowledgeError> {
        let own = Arc::clone(base);
        let all = joined(spawn_blocking(move || own.documents()).await)?;
        let documents = all.len();
        let (failed, ready): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|document| document.version.is_none());
        let is_incomplete = |document: &DocumentSummary| !document.reason.is_empty();
        let incomplete = ready.into_iter().filter(is_incomplete).collect();
        Ok(BaseFindings { documents, failed, incomplete, unread, missing: self.missing_roots() })
    }

    /// The folders and files of the configuration that cannot be read, and why.
    pub fn missing_roots(&self) -> Vec<(PathBuf, io::Error)> {
        let missing = |root: &PathBuf| {
            let looked_at = match fs::metadata(root) {
                Ok(metadata) if metadata.is_dir() => fs::read_dir(root).map(drop),
                Ok(_) => fs::File::open(root).map(drop),
                Err(error) => Err(error),
            };
            Some((root.clone(), looked_at.err()?))
        };
        self.settings.roots.iter().filter_map(missing).collect()
    }

    /// How many files differ from what the base says.
    pub async fn count_unread(&self, base: &Arc<KnowledgeBase>) -> Result<usize, KnowledgeError> {
        count_unread(&self.settings, &self.ports, base).await
    }
}

impl fmt::Debug for ConfiguredBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredBase").field("name", &self.name).finish_non_exhaustive()
    }
}

fn joined<T>(result: Result<T, tokio::task::JoinError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
