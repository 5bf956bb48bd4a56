//! HTTP APIs as sources: those with an OpenAPI description, and those whose actions a person wrote.
//!
//! Either way an operation becomes an [`Action`], which is kept in its tool's definition. A call needs nothing
//! else, so an API can be called while its description cannot be read, and what a person approved is what
//! is sent.
//!
//! This crate must not know configuration files, storage, or who may call what. Only
//! `gatefold-egress` sends anything.

mod action;
mod actions;
mod answer;
mod arguments;
mod auth;
mod media;
mod openapi;
mod request;
mod source;

pub use action::{
    ACTION_KEY, Action, BodyArguments, BodyMedia, ParameterPlace, ParameterSpec, PartEncoding,
    RequestBody, ResultShape, SecurityRequirement, SecurityScheme, Style,
};
pub use actions::{ActionFault, WrittenAction};
pub use answer::{EXTRACT_TASK, check_extract};
pub use arguments::ArgumentCheck;
pub use auth::{
    Auth, AuthError, ClientCredentials, KeyPart, KeyPlace, SchemeCredential, SchemeCredentials,
};
pub use openapi::{
    ApiDescription, ApiDocuments, ApiReading, BudgetSpent, CodeFlowUrls, DOCUMENT_LIMIT,
    DOCUMENTS_LIMIT, DescriptionError, DescriptionNote, DescriptionOptions, DocumentBudget,
    Documents, FileDocuments, OperationOverlay, Overlay, SignInUse, TextError, ToolDraft,
    UnusableOperation,
};
pub use request::{
    MAX_HEADER_BYTES, MAX_URL_BYTES, OperationPath, OperationPaths, OutgoingRequest, RequestError,
    Routing,
};
pub use source::{ApiDefinition, DescribedOperations, DescriptionPlace, HttpApi, HttpApiSettings};
