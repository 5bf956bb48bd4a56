//! The request of a call, before it has credentials.

use std::sync::{Arc, MutexGuard, PoisonError};

use gatefold_catalog::Manifest;
use gatefold_core::{CallError, Target, UnsentCause};
use serde_json::{Map, Value};
use url::Url;

use super::{ApiDefinition, HttpApi, HttpApiSettings, invalid};
use crate::action::{Action, server};
use crate::actions::WrittenAction;
use crate::request::{OperationPath, OperationPaths, OutgoingRequest, RequestError};

impl HttpApiSettings {
    /// Where all operations are: a description's are kept with its manifest.
    pub(super) fn operations(&self, manifest: Option<&Manifest>) -> OperationPaths {
        let paths = match &self.definition {
            ApiDefinition::Described(_) => {
                let kept = manifest.and_then(|manifest| manifest.supplement());
                kept.and_then(|kept| serde_json::from_str(&kept.attachment).ok())
                    .unwrap_or_default()
            }
            ApiDefinition::Written(actions) => actions.iter().map(WrittenAction::place).collect(),
        };
        OperationPaths::new(Vec::<OperationPath>::into_iter(paths), self.base.as_ref())
    }
}

impl HttpApi {
    /// The request without credentials, which no server takes for another operation's.
    pub(super) fn request(
        &self,
        action: &Action,
        arguments: &Map<String, Value>,
        target: &Target,
    ) -> Result<OutgoingRequest, CallError> {
        let base = self.base(action)?;
        let request = OutgoingRequest::new(action, &base, arguments).and_then(|request| {
            self.check_names(action, &base, &request)?;
            let operations = self.operations().clone();
            operations.check(action, &base, &request.url, self.settings.routing)?;
            Ok(request)
        });
        request.map_err(|error| {
            if let RequestError::OtherOperation { needs_decoding: true, .. } = error {
                tracing::warn!(
                    domain = %self.settings.domain,
                    tool = %target.id,
                    "refused a call whose encoded slashes may lead to another operation; if this API looks for \
                     segments before it decodes them, set `encoded_slashes = true`"
                );
            }
            match error {
                RequestError::Action { .. } => self.not_sent(UnsentCause::SetUp, error.to_string()),
                error => invalid(target, error.to_string()),
            }
        })
    }

    pub(super) fn operations(&self) -> MutexGuard<'_, Arc<OperationPaths>> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn base(&self, action: &Action) -> Result<Url, CallError> {
        let server = server(self.settings.base.as_ref(), action.base.as_deref());
        server.ok_or_else(|| {
            let reason = "its description names no server; set `base_url` for this source";
            self.not_sent(UnsentCause::SetUp, reason)
        })
    }
}
