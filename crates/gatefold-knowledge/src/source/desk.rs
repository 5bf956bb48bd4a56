//! Answers of one base to one caller.

mod checking;
mod documents;
mod resources;
mod retrieving;

use std::sync::Arc;

use gatefold_core::{CallError, Domain, Payload, Target};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::access::Access;
use super::cited::CitedVersions;
use super::progress::IngestProgress;
use crate::{KnowledgeBase, KnowledgeError, SentenceEncoder};

/// What one call works with. Its methods wait for the disk.
pub(super) struct Desk {
    pub(super) domain: Domain,
    pub(super) base: Arc<KnowledgeBase>,
    pub(super) access: Access,
    pub(super) cited: Arc<CitedVersions>,
    /// Of each origin of documents.
    pub(super) progress: [Arc<IngestProgress>; 2],
    pub(super) encoder: Option<Arc<dyn SentenceEncoder>>,
}

/// Why a desk has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeskError {
    /// The call can be mended.
    #[error("{0}")]
    Arguments(String),
    /// What is asked for is not there.
    #[error("{0}")]
    Missing(String),
    #[error(transparent)]
    Base(#[from] KnowledgeError),
}

pub(super) type DeskResult = Result<Payload, DeskError>;

impl DeskError {
    /// The error for whoever made the call.
    pub(super) fn of_call(self, target: &Target) -> CallError {
        match self {
            Self::Arguments(message) => super::arguments::wrong(target, message),
            Self::Missing(message) => missing(target, message),
            Self::Base(error @ KnowledgeError::Missing { .. }) => {
                missing(target, error.to_string())
            }
            Self::Base(error) => unavailable(&target.domain, error),
        }
    }
}

fn missing(target: &Target, message: String) -> CallError {
    let data = to_raw_value(&json!({ "uri": &*target.name })).ok();
    CallError::MissingResource { tool: target.id.clone(), message, data }
}

/// The engine failed, which is nothing that a model could mend.
pub(super) fn unavailable(domain: &Domain, error: KnowledgeError) -> CallError {
    CallError::Unavailable {
        domain: domain.clone(),
        reason: "its documents cannot be read for now".to_owned(),
        source: Some(error.into()),
    }
}

impl Desk {
    /// "Read on with `handbook__read_document`; ..."
    fn hint(&self) -> String {
        let domain = &self.domain;
        format!(
            "To read more of a document call {domain}__read_document with its citation; \
             {domain}__list_documents lists all."
        )
    }

    /// What a caller has to know of documents that are not searched yet.
    fn notes(&self) -> Vec<String> {
        match self.progress.iter().map(|progress| progress.unread()).sum() {
            0 => Vec::new(),
            1 => vec!["One document is still being read and cannot be found yet.".to_owned()],
            unread => {
                vec![format!("{unread} documents are still being read and cannot be found yet.")]
            }
        }
    }
}
