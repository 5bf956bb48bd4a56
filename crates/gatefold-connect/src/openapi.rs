//! Reads OpenAPI descriptions: 3.0, 3.1, 3.2 and Swagger 2, in JSON or YAML, in one file or many.

use gatefold_catalog::one_line;
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
mod responses;
mod schema;
mod security;
mod servers;
mod text;
mod value;

pub use description::{
    ApiDescription, DescriptionNote, DescriptionOptions, ToolDraft, UnusableOperation,
};
pub use documents::{Documents, FileDocuments};
pub use library::DOCUMENTS_LIMIT;
pub use overlay::{OperationOverlay, Overlay, OverlayReport};
pub use security::CodeFlowUrls;
pub use text::{DOCUMENT_LIMIT, TextError};

use library::{Library, MissingDocument};
use names::Nameable;
use operations::{Surroundings, TextLimits};
use parameters::Edition;
use responses::Outputs;
use schema::{Schemas, Siblings};
use security::SecuritySchemes;
use value::DocumentValue;

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
        let bytes = documents.fetch(url).await.map_err(DescriptionError::Fetch)?;
        Ok(Self { library: Library::load(url, bytes, documents).await? })
    }

    /// Of a single document.
    #[cfg(test)]
    pub(crate) fn of(document: &Value) -> Self {
        Self { library: Library::of(document) }
    }

    /// Reads all operations. This takes up to a second of processor time for the largest descriptions.
    pub fn describe(
        &self,
        options: &DescriptionOptions,
    ) -> Result<ApiDescription, DescriptionError> {
        let root = self.library.root();
        let (edition, siblings) = edition(root.value)?;
        let security = SecuritySchemes::of(&self.library);
        let mut schemas = Schemas::new(&self.library, siblings);
        let operations = operations::operations(&self.library, edition);
        let nameables: Vec<Nameable<'_>> = operations
            .iter()
            .map(|one| Nameable {
                id: one.node.text("operationId"),
                method: &one.method,
                path: &one.path,
            })
            .collect();
        let limits = TextLimits::of(operations.len());
        let mut outputs = Outputs::new(limits.output);
        let all = Surroundings { edition, root, security: &security, options, limits };
        let (mut tools, mut unusable) = (Vec::new(), Vec::new());
        let mut notes = self.notes();
        for (operation, name) in operations.iter().zip(names::names(&nameables)) {
            match operations::tool(&mut schemas, &all, operation, &mut outputs, name.clone()) {
                Ok(tool) => tools.push(tool),
                Err(why) => unusable.push(UnusableOperation { operation: operation.label(), why }),
            }
            let mut whats = schemas.take_notes();
            whats.dedup();
            notes.extend(
                whats.into_iter().map(|what| DescriptionNote { tool: Some(name.clone()), what }),
            );
        }
        let place = |one| operations::place(&self.library, &all, one);
        let paths = operations.iter().map(place).collect();
        if tools.is_empty() && unusable.iter().any(|one| one.why.contains("`base_url`")) {
            return Err(DescriptionError::NoServer);
        }
        let info = |key: &str| root.get("info").and_then(|info| info.text(key)).unwrap_or_default();
        Ok(ApiDescription {
            title: one_line(info("title"), 200),
            version: one_line(info("version"), 60),
            description: Some(info("description").trim().to_owned())
                .filter(|text| !text.is_empty()),
            tools,
            paths,
            unusable,
            notes,
            schemes: security.by_name().clone(),
            token_urls: security.token_urls,
            code_flows: security.code_flows,
        })
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

fn edition(root: &DocumentValue) -> Result<(Edition, Siblings), DescriptionError> {
    let version = |key: &str| match root.get(key) {
        Some(DocumentValue::String(text)) => Some(text.trim().to_owned()),
        Some(DocumentValue::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    match (version("openapi"), version("swagger")) {
        (Some(version), _) if version.starts_with("3.0") => {
            Ok((Edition::OpenApi3, Siblings::Annotate))
        }
        (Some(version), _) if version.starts_with('3') => Ok((Edition::OpenApi3, Siblings::Count)),
        (_, Some(version)) if version.starts_with('2') => {
            Ok((Edition::Swagger2, Siblings::Annotate))
        }
        (None, None) => {
            Err(DescriptionError::Other("it has neither `openapi` nor `swagger`".to_owned()))
        }
        (new, old) => {
            let version = new.or(old).unwrap_or_default();
            let why =
                format!("version `{}` is none of 2.0, 3.0, 3.1 and 3.2", one_line(&version, 20));
            Err(DescriptionError::Other(why))
        }
    }
}

#[cfg(test)]
mod tests;
