//! Reads OpenAPI descriptions: 3.0, 3.1, 3.2 and Swagger 2, in JSON or YAML, in one file or many.

use gatefold_core::BoxError;
#[cfg(test)]
use serde_json::Value;
use url::Url;

mod bodies;
mod description;
mod documents;
mod library;
mod names;
mod operations;
mod overlay;
mod parameters;
mod reading;
mod responses;
mod schema;
mod security;
mod servers;
mod text;
mod value;

pub use description::{
    ApiDescription, DescriptionNote, DescriptionOptions, SignInUse, ToolDraft, UnusableOperation,
};
pub use documents::{BudgetSpent, DocumentBudget, Documents, FileDocuments};
pub use library::DOCUMENTS_LIMIT;
pub use overlay::{OperationOverlay, Overlay};
pub use reading::ApiReading;
pub use security::CodeFlowUrls;
pub use text::{DOCUMENT_LIMIT, TextError};

use library::{Library, MissingDocument};

/// Why a description gives no tools at all.
#[derive(Debug, thiserror::Error)]
pub enum DescriptionError {
    #[error("the description could not be had")]
    Fetch(#[source] BoxError),
    #[error("the description could not be read: {0}")]
    Text(#[from] TextError),
    #[error("it is no OpenAPI description: {0}")]
    Other(String),
    #[error("the description does not say where the API is: set `base_url`")]
    NoServer,
}

/// The documents of one description, as they were fetched.
#[derive(Debug)]
pub struct ApiDocuments {
    library: Library,
}

impl ApiDocuments {
    /// Fetches a description and all that it refers to. What cannot be had costs only what needs it.
    pub async fn load(url: &Url, documents: &dyn Documents) -> Result<Self, DescriptionError> {
        let budget = DocumentBudget::new(DOCUMENT_LIMIT);
        let bytes = documents.fetch(url, &budget).await.map_err(DescriptionError::Fetch)?;
        Ok(Self { library: Library::load(url, bytes, documents, &budget).await? })
    }

    /// Of a single document.
    #[cfg(test)]
    pub(crate) fn of(document: &Value) -> Self {
        Self { library: Library::of(document) }
    }

    /// Begins to read the operations, each as a tool when it is asked for. To read all of them takes up to a
    /// second of processor time for the largest descriptions.
    pub fn read<'a>(
        &'a self,
        options: &'a DescriptionOptions,
        overlay: &'a Overlay,
    ) -> Result<ApiReading<'a>, DescriptionError> {
        ApiReading::new(&self.library, self.notes(), options, overlay)
    }

    /// What could not be had, and what was repaired.
    fn notes(&self) -> Vec<DescriptionNote> {
        let missing =
            |one: &MissingDocument| format!("`{}` could not be had: {}", one.url, one.why);
        let repaired = |(url, what): &(String, String)| format!("`{url}`: {what}");
        let missing = self.library.missing.iter().map(missing);
        let whats = missing.chain(self.library.repairs.iter().map(repaired));
        whats.map(|what| DescriptionNote { tool: None, what }).collect()
    }
}

#[cfg(test)]
mod tests;
