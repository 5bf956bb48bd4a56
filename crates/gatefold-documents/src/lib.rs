//! The text of documents, in blocks and with places.
//!
//! Whoever wrote a document may mean harm. A reader bounds the text it makes, the memory it holds and
//! the time it takes, and whoever calls it runs it in a worker all the same.
//!
//! This crate must not know any other crate of ours, and reads nothing but the bytes it is given.

mod document;
mod draft;
mod fault;
mod format;
mod html;
mod limits;
#[cfg(feature = "readers")]
mod mail;
#[cfg(feature = "readers")]
mod markdown;
#[cfg(feature = "readers")]
mod office;
mod pdf;
mod plain;
mod read;
mod sniffing;
mod table;

pub use document::{Block, BlockKind, Document, Part, PartFault, Place};
pub use fault::{DocumentFault, PdfFault};
pub use format::{Format, Hints};
pub use limits::{MAX_INPUT, READING_TIME};
pub use read::read_document;
pub use sniffing::is_document;
