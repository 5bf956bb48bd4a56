use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use gatefold_core::{ManualClock, Timestamp};
use gatefold_documents::{Hints, READING_TIME, read_document};
use gatefold_knowledge::{
    BaseSettings, FileFacts, Found, KnowledgeBase, NewDocument, PastLimits, Query, SentenceEncoder,
};

/// A base in a folder of its own, and a clock for it.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) past: PastLimits,
    pub(crate) encoder: Option<Arc<dyn SentenceEncoder>>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let folder = tempfile::tempdir().unwrap();
        Self { folder, clock, past: PastLimits::default(), encoder: None }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("base")
    }

    pub(crate) fn open(&self) -> KnowledgeBase {
        let (encoder, clock) = (self.encoder.clone(), Arc::clone(&self.clock));
        let encoder = Arc::new(move || encoder.clone());
        KnowledgeBase::open(&self.path(), BaseSettings { past: self.past, encoder, clock }).unwrap()
    }
}

pub(crate) fn open(folder: &Path) -> KnowledgeBase {
    KnowledgeBase::open(folder, BaseSettings::default()).unwrap()
}

pub(crate) fn facts(name: &str, bytes: &[u8]) -> FileFacts {
    // Any digest will do that tells bytes apart.
    let digest = gatefold_knowledge::Version::of(&String::from_utf8_lossy(bytes));
    FileFacts {
        name: name.to_owned(),
        digest: digest.as_bytes().to_vec(),
        bytes: bytes.len() as u64,
        modified: Timestamp::from_millis(1),
    }
}

pub(crate) fn document(name: &str, text: &str) -> NewDocument {
    let hints = Hints { name: Some(name), ..Hints::default() };
    let read = read_document(text.as_bytes(), &hints, Instant::now() + READING_TIME);
    NewDocument {
        file: facts(name, text.as_bytes()),
        title_hint: None,
        note: String::new(),
        document: read.unwrap(),
    }
}

pub(crate) fn put(base: &KnowledgeBase, documents: &[(&str, &str)]) {
    for (name, text) in documents {
        base.put(&document(name, text)).unwrap();
    }
    base.commit().unwrap();
}

pub(crate) fn search(base: &KnowledgeBase, text: &str) -> Found {
    base.search(&Query { text, top: 10, per_document: 3 }).unwrap()
}

/// The documents of the passages that are found, in order.
pub(crate) fn names(base: &KnowledgeBase, text: &str) -> Vec<String> {
    search(base, text).passages.iter().map(|passage| passage.document.to_string()).collect()
}
