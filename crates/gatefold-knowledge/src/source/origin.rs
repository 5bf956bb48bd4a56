//! Where documents come from: the disk, or an address. Both are taken into a base in the same way.

mod addresses;
mod folders;

use std::sync::Arc;

use gatefold_core::Clock;

use super::{KnowledgeSourceSettings, RemoteDocuments};
use crate::{DocumentSummary, FileFacts, FileOnDisk};
use addresses::AddressOrigin;
pub(super) use addresses::is_stale;
use folders::FolderOrigin;

/// One place that documents of a base come from. No two of a base have documents of the same name.
pub(super) enum DocumentOrigin {
    Folders(FolderOrigin),
    Addresses(AddressOrigin),
}

/// The places that documents of a base come from: the disk, and addresses.
pub(super) fn origins(
    settings: &KnowledgeSourceSettings,
    remote: Option<Arc<dyn RemoteDocuments>>,
    clock: &Arc<dyn Clock>,
) -> [Option<DocumentOrigin>; 2] {
    let KnowledgeSourceSettings { domain, roots, folder, refresh, .. } = settings;
    let folders = || FolderOrigin::new(roots.clone(), Arc::clone(folder));
    let addresses =
        |remote| AddressOrigin::new(domain.clone(), remote, *refresh, Arc::clone(clock));
    [
        (!roots.is_empty()).then(|| DocumentOrigin::Folders(folders())),
        remote.map(|remote| DocumentOrigin::Addresses(addresses(remote))),
    ]
}

/// A document that may have changed.
pub(super) enum ChangedDocument {
    File(FileOnDisk),
    Address(String),
}

/// What is to be done about the documents of an origin.
pub(super) struct DocumentChanges {
    pub(super) changed: Vec<ChangedDocument>,
    /// The names of those that are gone.
    pub(super) removed: Vec<String>,
}

/// What an origin gives of a document.
pub(super) enum LoadedDocument {
    Bytes {
        facts: FileFacts,
        /// What the reader is told of them.
        file_name: String,
        bytes: Vec<u8>,
    },
    Fault {
        facts: FileFacts,
        state: &'static str,
        reason: String,
    },
    /// It cannot be had for now. What is known of it stays, with this note.
    Stale(String),
    /// Nothing changes, or the next look tells.
    Skipped,
}

impl ChangedDocument {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::File(file) => &file.name,
            Self::Address(address) => address,
        }
    }
}

impl DocumentOrigin {
    /// Whether the document of this name is one of this origin. The path of a file has no empty part, so it
    /// is never taken for an address.
    pub(super) fn owns(&self, name: &str) -> bool {
        name.contains("://") == matches!(self, Self::Addresses(_))
    }

    /// Has the system tell of changes, where it can and does not yet.
    pub(super) fn follow(&self) {
        if let Self::Folders(folders) = self {
            folders.follow();
        }
    }

    /// Looks for changes, given all documents that it owns. This waits for the disk.
    pub(super) fn look(&self, known: &[DocumentSummary]) -> DocumentChanges {
        match self {
            Self::Folders(folders) => folders.look(known),
            Self::Addresses(addresses) => addresses.look(known),
        }
    }

    /// Loads a document, given what is known of it.
    pub(super) async fn load(
        &self,
        document: ChangedDocument,
        known: Option<&DocumentSummary>,
    ) -> LoadedDocument {
        match (self, document) {
            (Self::Folders(_), ChangedDocument::File(file)) => folders::load(file).await,
            (Self::Addresses(addresses), ChangedDocument::Address(address)) => {
                addresses.load(address, known).await
            }
            (Self::Folders(_), ChangedDocument::Address(_))
            | (Self::Addresses(_), ChangedDocument::File(_)) => LoadedDocument::Skipped,
        }
    }

    /// Notes that the base has what was loaded of these documents.
    pub(super) fn settle(&self, names: impl Iterator<Item = String>) {
        if let Self::Addresses(addresses) = self {
            addresses.settle(names);
        }
    }

    /// Whether nobody can find anything of a document before it is loaded, given what is known of it.
    pub(super) fn is_missed(&self, known: Option<&DocumentSummary>) -> bool {
        known.is_none() || matches!(self, Self::Folders(_))
    }

    /// Whether something changed since [`changed`](Self::changed) returned last.
    pub(super) fn has_news(&self) -> bool {
        matches!(self, Self::Folders(folders) if folders.has_news())
    }

    /// Waits until something may have changed. Cancelling it loses no change.
    pub(super) async fn changed(&self) {
        match self {
            Self::Folders(folders) => folders.changed().await,
            Self::Addresses(addresses) => addresses.due().await,
        }
    }
}
