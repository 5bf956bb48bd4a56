//! The credentials that a port gives for each request: those of a person's sign-in, for example.

use std::sync::Arc;

use gatefold_core::{BoxError, CallError, UpstreamIdentity, with_causes};
use gatefold_dispatch::{
    CredentialError, CredentialRefusal, CredentialSet, Credentials, IdentityScope, RefusalCause,
};
use gatefold_egress::{HttpResponse, challenges};
use http::StatusCode;

use super::HttpApi;
use super::prepared::PreparedAction;
use crate::auth::Auth;

impl HttpApi {
    /// The credentials for one request. An operation that needs none waits for no sign-in.
    pub(super) async fn own_credentials(
        &self,
        prepared: &PreparedAction,
        identity: &UpstreamIdentity,
    ) -> Result<Option<CredentialSet>, CallError> {
        if self.is_signed_in() && !self.settings.sign_in().uses_auth(&prepared.action) {
            return Ok(None);
        }
        let Some(port) = &self.credentials else { return Ok(None) };
        let had = self.had(port, identity).await;
        had.map(Some).map_err(|error| self.told(error))
    }

    /// Reports credentials that the API refused. Gives others, if the request is worth another try
    /// with them.
    pub(super) async fn refused(
        &self,
        carried: &CredentialSet,
        answer: &HttpResponse,
        identity: &UpstreamIdentity,
    ) -> Result<Option<CredentialSet>, CallError> {
        let Some(port) = &self.credentials else { return Ok(None) };
        let challenges = challenges(answer.headers());
        let cause = match answer.status() {
            StatusCode::UNAUTHORIZED => RefusalCause::Unknown,
            // Most APIs say it of what the account may not do, and say why in their answer.
            StatusCode::FORBIDDEN if !challenges.is_empty() => RefusalCause::Forbidden,
            _ => return Ok(None),
        };
        let refusal = CredentialRefusal { carried: carried.clone(), cause, challenges };
        match port.refused(&self.settings.domain, identity, refusal).await {
            Ok(other) => Ok(Some(other).filter(|_| cause == RefusalCause::Unknown)),
            Err(error) if error.needs_sign_in => Err(self.told(error)),
            Err(error) if self.is_signed_in() && cause == RefusalCause::Unknown => {
                Err(self.told(error))
            }
            Err(error) => {
                tracing::debug!(domain = %self.settings.domain, %error, "credentials were refused");
                Ok(None)
            }
        }
    }

    /// Whether somebody has signed in, where everybody shares one sign-in. A source that waits for
    /// one says so when it is listed, not only when it is called.
    pub(super) async fn check_sign_in(&self) -> Result<(), BoxError> {
        let Some(port) = self.credentials.as_ref().filter(|_| self.is_signed_in()) else {
            return Ok(());
        };
        if port.scope(&self.settings.domain) != Some(IdentityScope::Shared) {
            return Ok(());
        }
        match self.had(port, &UpstreamIdentity::Shared).await {
            Err(error) if error.needs_sign_in => Err(error.into()),
            _ => Ok(()),
        }
    }

    async fn had(
        &self,
        port: &Arc<dyn Credentials>,
        identity: &UpstreamIdentity,
    ) -> Result<CredentialSet, CredentialError> {
        match port.at_hand(&self.settings.domain, identity) {
            Some(set) => Ok(set),
            None => port.obtain(&self.settings.domain, identity).await,
        }
    }

    fn is_signed_in(&self) -> bool {
        matches!(self.settings.auth, Some(Auth::SignedIn))
    }

    fn told(&self, error: CredentialError) -> CallError {
        if error.needs_sign_in {
            let domain = self.settings.domain.clone();
            return CallError::NeedsSignIn { domain, reason: error.reason };
        }
        let reason = format!("its credentials could not be had: {}", with_causes(&error));
        self.unavailable(reason)
    }
}
