//! The text of documents that people give.

use gatefold_core::Principal;
use gatefold_dispatch::DataOwner;
use gatefold_documents::is_document;

use super::App;
use crate::documents::{DocumentError, ReadDocument, read_in_worker};

impl App {
    /// The text of a PDF or of a file of an office, for somebody. `None` if these bytes begin as neither.
    pub async fn document_text(
        &self,
        principal: &Principal,
        name: &str,
        bytes: &[u8],
    ) -> Option<Result<ReadDocument, DocumentError>> {
        if !is_document(bytes) {
            return None;
        }
        let owner = DataOwner::lasting(principal);
        Some(read_in_worker(self.factory.workers(), owner.as_bytes(), name, bytes).await)
    }
}
