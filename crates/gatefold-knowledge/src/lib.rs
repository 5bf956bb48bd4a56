//! Knowledge bases: documents that are kept with their past versions, searched and cited.
//!
//! A [`KnowledgeBase`] is one folder on disk. What it keeps is in one SQLite file; the index of
//! words beside it is derived, and made anew where it is missing or disagrees. A search gives
//! [`Passage`]s with absolute scores. A [`Folder`] lists the files that a base is made from.
//!
//! The API blocks: call it on threads that may wait. This crate must not know the configuration,
//! MCP, calls, the store of the gateway, an async runtime or the network, and it reads no document's
//! format: `gatefold-documents` does, in a worker.

mod base;
mod chunks;
mod citation;
mod codec;
mod error;
mod files;
mod index;
mod layout;
mod limits;
mod passage;
pub mod ranking;
mod storage;
mod words;

pub use base::{BaseSettings, Found, KnowledgeBase, NewDocument, Query, SentenceEncoder, TextKind};
pub use citation::{InvalidVersion, Version};
pub use error::KnowledgeError;
pub use files::{FileChanges, FileListing, FileOnDisk, Folder, plan};
pub use limits::{
    MAX_DOCUMENTS, MAX_FILES, MAX_NAME, MAX_QUERY, MAX_TITLE, MAX_TOP, PAST_BYTES, PAST_TIME,
    PAST_VERSIONS,
};
pub use passage::Passage;
pub use storage::past::PastLimits;
pub use storage::rows::FileFacts;
pub use storage::{BaseCounts, DocumentSummary, READY};
