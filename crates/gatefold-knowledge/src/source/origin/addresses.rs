//! Documents that are fetched, again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::{Clock, Domain};
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, sleep_until};

use super::super::on_disk;
use super::super::remote::{FetchedDocument, RemoteDocuments, UnfetchedDocument};
use super::{ChangedDocument, DocumentChanges, LoadedDocument};
use crate::limits::MAX_DOCUMENTS;
use crate::{DocumentSummary, FileFacts};

/// How long to wait at most before an address is tried again that gave nothing.
const FAILED_AGAIN: Duration = Duration::from_mins(5);

/// How the note begins of a document that could not be fetched again.
const STALE: &str = "not fetched again: ";

/// The states of documents that were not fetched.
const UNREACHABLE: &str = "unreachable";
const MISSING: &str = "missing";
const TOO_LARGE: &str = "too_large";

/// Addresses that are looked at regularly.
pub(in super::super) struct AddressOrigin {
    domain: Domain,
    documents: Arc<dyn RemoteDocuments>,
    refresh: Duration,
    clock: Arc<dyn Clock>,
    /// By address, at most [`MAX_DOCUMENTS`].
    states: Mutex<HashMap<String, AddressState>>,
}

/// What was last heard of an address.
#[derive(Default)]
struct AddressState {
    /// The digest and the mark of its bytes, if the server gives marks.
    marked: Option<(Vec<u8>, String)>,
    has_failed: bool,
    /// When it is fetched next; at once if nothing says so.
    due: Option<Instant>,
}

impl AddressOrigin {
    pub(in super::super) fn new(
        domain: Domain,
        documents: Arc<dyn RemoteDocuments>,
        refresh: Duration,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { domain, documents, refresh, clock, states: Mutex::default() }
    }

    pub(super) fn look(&self, known: &[DocumentSummary]) -> DocumentChanges {
        let (now, states) = (Instant::now(), self.states());
        let is_due = |address: &&String| {
            states.get(*address).and_then(|state| state.due).is_none_or(|due| due <= now)
        };
        let addresses = || self.documents.addresses().iter().take(MAX_DOCUMENTS);
        let changed = addresses().filter(is_due).cloned().map(ChangedDocument::Address).collect();
        let is_gone = |name: &&String| addresses().all(|address| address != *name);
        let names = known.iter().map(|document| &document.name);
        DocumentChanges { changed, removed: names.filter(is_gone).cloned().collect() }
    }

    pub(super) async fn load(
        &self,
        address: String,
        known: Option<&DocumentSummary>,
    ) -> LoadedDocument {
        // What may be out of date is fetched whole, so that its note goes.
        let fresh = known.filter(|known| !is_stale(known));
        let mark = fresh.and_then(|known| self.mark(&address, &known.digest));
        match self.documents.fetch(&address, mark.as_deref()).await {
            Ok(FetchedDocument::Same) => {
                self.note(address, |state| state.has_failed = false);
                LoadedDocument::Skipped
            }
            Ok(FetchedDocument::Bytes { bytes, file_name, mark }) => {
                let (bytes, digest) = on_disk(move || {
                    let digest = Sha256::digest(&bytes).to_vec();
                    (bytes, digest)
                })
                .await;
                let marked = mark.map(|mark| (digest.clone(), mark));
                self.note(address.clone(), |state| {
                    (state.marked, state.has_failed) = (marked, false);
                });
                if fresh.is_some_and(|known| known.digest == digest) {
                    return LoadedDocument::Skipped;
                }
                let facts = FileFacts { digest, ..self.facts(address, bytes.len()) };
                LoadedDocument::Bytes { facts, file_name, bytes }
            }
            Err(unfetched) => {
                self.note(address.clone(), |state| {
                    (state.marked, state.has_failed) = (None, true);
                });
                self.fault(address, unfetched, known)
            }
        }
    }

    pub(super) fn settle(&self, names: impl Iterator<Item = String>) {
        let now = Instant::now();
        for name in names {
            self.note(name, |state| {
                let pause = if state.has_failed { FAILED_AGAIN } else { self.refresh };
                state.due = Some(now + pause.min(self.refresh));
            });
        }
    }

    /// Waits until an address is to be fetched.
    pub(super) async fn due(&self) {
        let next = self.states().values().filter_map(|state| state.due).min();
        sleep_until(next.unwrap_or_else(|| Instant::now() + self.refresh)).await;
    }

    /// What becomes of a document that was not fetched.
    fn fault(
        &self,
        address: String,
        unfetched: UnfetchedDocument,
        known: Option<&DocumentSummary>,
    ) -> LoadedDocument {
        let (state, reason) = match unfetched {
            UnfetchedDocument::Missing(reason) => (MISSING, reason),
            UnfetchedDocument::TooLarge(reason) => (TOO_LARGE, reason),
            UnfetchedDocument::Unreachable { reason, detail } => {
                let has_text = known.is_some_and(|known| known.version.is_some());
                let is_unreachable = known.is_some_and(|known| known.state == UNREACHABLE);
                let has_fault = known.is_some() && !has_text && !is_unreachable;
                if has_fault || known.is_some_and(is_stale) {
                    return LoadedDocument::Skipped;
                }
                // Logged once, not at every try.
                if !is_unreachable {
                    let domain = &self.domain;
                    tracing::warn!(%domain, detail, "a document could not be fetched and is tried again");
                }
                if has_text {
                    return LoadedDocument::Stale(format!("{STALE}{reason}"));
                }
                (UNREACHABLE, reason)
            }
        };
        if known.is_some_and(|known| known.state == state && known.reason == reason) {
            return LoadedDocument::Skipped;
        }
        LoadedDocument::Fault { facts: self.facts(address, 0), state, reason }
    }

    fn facts(&self, name: String, bytes: usize) -> FileFacts {
        let modified = self.clock.now();
        FileFacts { name, digest: Vec::new(), bytes: bytes as u64, modified }
    }

    /// The mark of the bytes with this digest.
    fn mark(&self, address: &str, digest: &[u8]) -> Option<String> {
        let states = self.states();
        let (own, mark) = states.get(address)?.marked.as_ref()?;
        (own == digest).then(|| mark.clone())
    }

    fn note(&self, address: String, change: impl FnOnce(&mut AddressState)) {
        change(self.states().entry(address).or_default());
    }

    fn states(&self) -> MutexGuard<'_, HashMap<String, AddressState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether what is known of a document may be out of date, because it could not be had since.
pub(in super::super) fn is_stale(known: &DocumentSummary) -> bool {
    known.version.is_some() && known.reason.starts_with(STALE)
}
