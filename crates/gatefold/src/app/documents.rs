//! The text of documents that people give.

use gatefold_core::Principal;
use gatefold_dispatch::DataOwner;
use gatefold_documents::is_pdf;

use super::App;
use crate::documents::{DocumentError, read_in_worker};

impl App {
    /// The text of a PDF, for somebody. `None` if these bytes are no PDF.
    pub async fn pdf_text(
        &self,
        principal: &Principal,
        bytes: &[u8],
    ) -> Option<Result<String, DocumentError>> {
        if !is_pdf(bytes) {
            return None;
        }
        let owner = DataOwner::lasting(principal);
        Some(read_in_worker(self.factory.workers(), owner.as_bytes(), bytes).await)
    }
}
