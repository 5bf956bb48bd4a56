//! What a call is told that has no result: whether it was sent, what was answered, and what it may
//! have done.

use gatefold_core::{AnswerFault, CallEffect, CallError, Target, UnsentCause, with_causes};
use gatefold_egress::{EgressError, FirstRedirect};
use gatefold_secrecy::KnownSecrets;
use http::StatusCode;

use super::HttpApi;
use crate::auth::TokenError;

impl HttpApi {
    /// Why a request has no answer that can be read. `secrets` are those that it was signed with, too.
    pub(super) fn unanswered(
        &self,
        error: &EgressError,
        target: &Target,
        secrets: &KnownSecrets,
    ) -> CallError {
        let reason = secrets.mask(&with_causes(error)).into_owned();
        if let Some(redirect) = error.first_redirect() {
            let fault = match error {
                EgressError::Onward { .. } => AnswerFault::RedirectFailed,
                _ => AnswerFault::Redirect,
            };
            return self.no_result(fault, effect_behind(redirect, target), reason);
        }
        match error {
            EgressError::Failed { .. } | EgressError::Timeout { .. }
                if !target.hints.is_repeatable() =>
            {
                CallError::Lost { tool: target.id.clone(), reason }
            }
            EgressError::Url { .. } | EgressError::NoRoots | EgressError::Identity { .. } => {
                self.not_sent(UnsentCause::SetUp, reason)
            }
            _ => self.unavailable(reason),
        }
    }

    /// Why the body of an answer is no result. Its status said that the call was carried out.
    pub(super) fn unread(
        &self,
        error: &EgressError,
        target: &Target,
        limit: u64,
        secrets: &KnownSecrets,
    ) -> CallError {
        let effect = CallEffect::of_answered(&target.hints);
        let fault = match error {
            EgressError::TooLarge { size, .. } => {
                let size = size.unwrap_or(limit.saturating_add(1));
                return CallError::TooLarge { tool: target.id.clone(), size, limit };
            }
            EgressError::Timeout { .. } => AnswerFault::Endless,
            EgressError::Encoding { .. } => AnswerFault::Unreadable,
            _ => AnswerFault::EndedEarly,
        };
        self.no_result(fault, effect, secrets.mask(&with_causes(error)).into_owned())
    }

    /// Why there is no token. Only a token endpoint that answers nothing is unavailable.
    pub(super) fn without_token(&self, error: &TokenError) -> CallError {
        let reason = format!("its credentials could not be had: {}", with_causes(error));
        match error {
            TokenError::Egress(egress) if !egress.is_answered() => self.unavailable(reason),
            _ => self.not_sent(UnsentCause::Credentials, reason),
        }
    }

    pub(super) fn no_result(
        &self,
        fault: AnswerFault,
        effect: CallEffect,
        reason: String,
    ) -> CallError {
        let domain = self.settings.domain.clone();
        CallError::NoResult { domain, fault, effect, retry_after: None, reason }
    }

    pub(super) fn not_sent(&self, cause: UnsentCause, reason: impl AsRef<str>) -> CallError {
        let reason = self.masked(reason.as_ref());
        CallError::NotSent { domain: self.settings.domain.clone(), cause, reason }
    }

    pub(super) fn unavailable(&self, reason: impl AsRef<str>) -> CallError {
        let domain = self.settings.domain.clone();
        CallError::Unavailable { domain, reason: self.masked(reason.as_ref()), source: None }
    }

    /// A reason without secrets: it may name an address with one in its path, or repeat what a token
    /// endpoint said.
    pub(super) fn masked(&self, reason: &str) -> String {
        self.secrets.mask(reason).into_owned()
    }
}

/// What a call may have done whose answer was a redirect that led to nothing.
fn effect_behind(redirect: &FirstRedirect, target: &Target) -> CallEffect {
    match redirect.status {
        _ if target.hints.is_repeatable() => CallEffect::Repeatable,
        // Only the request that is sent on has an effect (RFC 9110, section 15.4).
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
            if redirect.path.is_none() =>
        {
            CallEffect::Nothing
        }
        _ => CallEffect::Possible,
    }
}
