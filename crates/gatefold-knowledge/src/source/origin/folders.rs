//! Documents on the disk.

use std::path::PathBuf;
use std::sync::Arc;

use gatefold_documents::MAX_INPUT;
use sha2::{Digest as _, Sha256};

use super::super::on_disk;
use super::super::watch::FileWatch;
use super::{ChangedDocument, DocumentChanges, LoadedDocument};
use crate::{DocumentSummary, FileChanges, FileFacts, FileOnDisk, Folder, KnowledgeError, plan};

/// Folders and files that are watched.
pub(in super::super) struct FolderOrigin {
    roots: Vec<PathBuf>,
    folder: Arc<Folder>,
    watch: FileWatch,
}

impl FolderOrigin {
    pub(in super::super) fn new(roots: Vec<PathBuf>, folder: Arc<Folder>) -> Self {
        Self { roots, folder, watch: FileWatch::new() }
    }

    pub(super) fn follow(&self) {
        self.watch.follow(&self.roots);
    }

    pub(super) fn look(&self, known: &[DocumentSummary]) -> DocumentChanges {
        let listing = self.folder.list();
        if !listing.unread.is_empty() {
            // A folder that comes back is another one to the system.
            self.watch.forget();
        }
        let FileChanges { changed, removed } = plan(listing, known);
        DocumentChanges {
            changed: changed.into_iter().map(ChangedDocument::File).collect(),
            removed,
        }
    }

    pub(super) fn has_news(&self) -> bool {
        self.watch.has_news()
    }

    pub(super) async fn changed(&self) {
        self.watch.changed().await;
    }
}

/// Reads a file.
pub(super) async fn load(file: FileOnDisk) -> LoadedDocument {
    let facts = FileFacts {
        name: file.name.clone(),
        digest: Vec::new(),
        bytes: file.size,
        modified: file.modified,
    };
    if file.size > MAX_INPUT as u64 {
        let reason = format!("it has {} bytes, and at most {MAX_INPUT} are read", file.size);
        return LoadedDocument::Fault { facts, state: "too_large", reason };
    }
    let read = on_disk(move || {
        let bytes = file.read(MAX_INPUT as u64)?;
        let digest = Sha256::digest(&bytes).to_vec();
        Ok::<_, KnowledgeError>((bytes, digest))
    });
    match read.await {
        Ok((bytes, digest)) => {
            let file_name = facts.name.clone();
            LoadedDocument::Bytes { facts: FileFacts { digest, ..facts }, file_name, bytes }
        }
        Err(error) => {
            tracing::debug!(%error, "a file was listed and could not be read");
            LoadedDocument::Skipped
        }
    }
}
