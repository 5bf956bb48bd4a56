//! Knowledge bases: documents that are kept with their past versions, searched, cited, and offered as
//! sources.
//!
//! A [`KnowledgeBase`] is one folder on disk. What it keeps is in one SQLite file; the index of
//! words beside it is derived, and made anew where it is missing or disagrees. A search gives
//! [`Passage`]s with absolute scores. [`ground`] makes an answer of nothing but quotes, and
//! [`check_citations`] compares quotes with what they cite; both are pure functions.
//!
//! The API blocks: call it on threads that may wait. Only `source` knows calls and an async runtime: there a base
//! is a source ([`KnowledgeSource`]), and so are the tools for all bases at once ([`KnowledgeHub`]). This crate
//! must not know the configuration, MCP, the exchange, the store of the gateway or the network, and it reads no
//! document's format: `gatefold-documents` does, in a worker behind [`DocumentReader`]. What is not on the disk is
//! fetched behind [`RemoteDocuments`].

mod base;
mod checking;
mod chunks;
mod citation;
mod codec;
mod error;
mod evidence;
mod files;
mod grounding;
mod index;
mod layout;
mod limits;
mod passage;
pub mod ranking;
mod readable;
mod sentences;
mod source;
mod storage;
mod words;

pub use base::{
    BaseSettings, DiskUse, EncoderInForce, Found, KnowledgeBase, NewDocument, Query,
    SentenceEncoder, TextKind, similarities,
};
pub use checking::{
    CheckedAnswer, CheckedQuote, CitableText, CitedText, CitedTexts, FoundQuote, MAX_ANSWER,
    MAX_QUOTES, Misattribution, Verdict, check_citations,
};
pub use citation::{Citation, InvalidCitation, InvalidVersion, Version};
pub use error::KnowledgeError;
pub use files::{FileChanges, FileListing, FileOnDisk, Folder, plan};
pub use grounding::{
    Calibration, Claim, Features, Grounded, GroundingSettings, MAX_GROUNDING_QUOTES, Quote,
    Similarity, ground,
};
pub use limits::{
    GROUNDING_PASSAGES, MAX_DOCUMENTS, MAX_FILES, MAX_NAME, MAX_QUERY, MAX_TITLE, MAX_TOP,
    PASSAGES_PER_DOCUMENT, PAST_BYTES, PAST_TIME, PAST_VERSIONS,
};
pub use passage::Passage;
pub use readable::{ReadableBase, ReadableTexts};
pub use sentences::sentences;
pub use source::{
    DocumentReader, FetchedDocument, IngestProgress, KnowledgeHub, KnowledgePorts, KnowledgeSource,
    KnowledgeSourceSettings, ReadDocument, RemoteDocuments, SeenByAll, UnfetchedDocument,
    UnreadDocument, count_unread, place_words, read_documents, verdict_words,
};
pub use storage::past::PastLimits;
pub use storage::rows::FileFacts;
pub use storage::{BaseCounts, DocumentSummary, READY};
