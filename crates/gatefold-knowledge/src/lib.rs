//! Knowledge bases: documents that are kept with their past versions, searched and cited.
//!
//! A [`KnowledgeBase`] is one folder on disk. What it keeps is in one SQLite file; the index of
//! words beside it is derived, and made anew where it is missing or disagrees. A search gives
//! [`Passage`]s with absolute scores.
//!
//! The API blocks: call it on threads that may wait. This crate must not know the configuration,
//! MCP, calls, the store of the gateway, an async runtime or the network, and it reads no document's
//! format: `gatefold-documents` does, in a worker.

mod citation;
mod passage;
mod sentences;

pub use citation::{Citation, InvalidCitation, InvalidVersion, Version};
pub use passage::Passage;
pub use sentences::sentences;
