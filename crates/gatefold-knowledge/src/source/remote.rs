//! Documents that are not on the disk.

use futures::future::BoxFuture;

/// Documents that are fetched by their addresses. This crate knows no network, so whoever builds a base brings
/// them along.
pub trait RemoteDocuments: Send + Sync + 'static {
    /// Their addresses, which are the names of the documents in the base: each has a scheme and `://`.
    fn addresses(&self) -> &[String];

    /// Fetches one, within limits of bytes and time. The mark is that of the bytes which the base has of it,
    /// if it has any.
    fn fetch<'a>(
        &'a self,
        address: &'a str,
        mark: Option<&'a str>,
    ) -> BoxFuture<'a, Result<FetchedDocument, UnfetchedDocument>>;
}

/// What came of an address.
#[derive(Debug)]
pub enum FetchedDocument {
    /// The bytes are still those of the mark.
    Same,
    Bytes {
        bytes: Vec<u8>,
        /// A file name for the bytes, whose ending says what they are if anything does.
        file_name: String,
        /// What tells these bytes from later ones, to be given back with the next request.
        mark: Option<String>,
    },
}

/// Why nothing came of an address.
#[derive(Debug)]
pub enum UnfetchedDocument {
    /// There is no such document any more.
    Missing(String),
    /// It has more bytes than are read.
    TooLarge(String),
    /// It could not be fetched for now.
    Unreachable {
        /// For whoever reads a list of documents, often a model.
        reason: String,
        /// For the operator, with the fix if there is one.
        detail: String,
    },
}
