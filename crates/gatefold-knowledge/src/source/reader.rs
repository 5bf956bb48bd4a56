//! Where documents are read.

use futures::future::BoxFuture;
use gatefold_documents::Document;

/// Reads the text of documents where that can harm nothing: whoever wrote one may mean harm.
pub trait DocumentReader: Send + Sync + 'static {
    /// Reads one. Its name says what its bytes do not.
    fn read<'a>(
        &'a self,
        name: &'a str,
        bytes: &'a [u8],
    ) -> BoxFuture<'a, Result<ReadDocument, UnreadDocument>>;
}

/// A document that was read.
#[derive(Debug)]
pub struct ReadDocument {
    pub document: Document,
    /// What is missing of it, in words; often empty.
    pub note: String,
}

/// Why a document was not read.
#[derive(Debug)]
pub enum UnreadDocument {
    /// It cannot be read as it is.
    Fault {
        /// In one word, for lists.
        state: String,
        reason: String,
    },
    /// Nothing could read it for now. The text is for the operator.
    Later(String),
}
