use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatefold_core::{CallId, Digest, Principal, ResumeError, Target, Timestamp, ToolId, UserId};
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::DecidedBy;

/// The key that seals suspended calls. Replicas must share it to resume each other's calls.
#[derive(Clone)]
pub struct SealKey([u8; 32]);

impl SealKey {
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A key for another purpose (HKDF-SHA-256, RFC 5869). It reveals nothing about this one.
    pub fn derive(&self, purpose: &'static str) -> [u8; 32] {
        let mut key = [0; 32];
        let derived = Hkdf::<Sha256>::new(None, &self.0).expand(purpose.as_bytes(), &mut key);
        derived.expect("HKDF-SHA-256 gives up to 8160 bytes");
        key
    }

    fn mac(&self, body: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.0);
        mac.expect("HMAC takes keys of any length").chain_update(body)
    }

    /// JSON and its HMAC-SHA-256 (RFC 2104), both in base64url, joined by a dot.
    pub(crate) fn seal(&self, value: &impl Serialize) -> String {
        let body = serde_json::to_vec(value).expect("a seal has only string keys");
        let tag = self.mac(&body).finalize().into_bytes();
        format!("{}.{}", URL_SAFE_NO_PAD.encode(&body), URL_SAFE_NO_PAD.encode(tag))
    }

    /// What was sealed with this key, or nothing if the text was not sealed with it or was altered.
    pub(crate) fn open<T: DeserializeOwned>(&self, text: &str) -> Option<T> {
        let (body, tag) = text.split_once('.')?;
        let decode = |part| URL_SAFE_NO_PAD.decode(part).ok();
        let (body, tag) = (decode(body)?, decode(tag)?);
        self.mac(&body).verify_slice(&tag).ok()?;
        serde_json::from_slice(&body).ok()
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(***)")
    }
}

/// What a suspended call is bound to. The holder of the sealed text can read it but not alter it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealedCall {
    pub(crate) call: CallId,
    pub(crate) principal: Digest,
    /// The operation's kind and the target's id, because two sources may define identical tools.
    pub(crate) operation: String,
    pub(crate) target: ToolId,
    pub(crate) definition: Digest,
    pub(crate) arguments: Digest,
    pub(crate) expires_at: Timestamp,
    /// Who already approved it, if it needed that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) approved_by: Option<DecidedBy>,
    pub(crate) state: SealedState,
}

/// What a suspended call waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SealedState {
    /// Approval by the person at the client.
    Approval,
    /// Answers for a source that keeps nothing itself. The text is its own state, if it needs any.
    Source(Option<String>),
    /// Answers for a source that is waiting in the dispatcher with this number.
    Parked(u64),
}

impl SealedCall {
    pub(crate) fn seal(&self, key: &SealKey) -> String {
        key.seal(self)
    }

    /// Opens a sealed text and checks everything that does not need the call's tool.
    pub(crate) fn open(
        text: &str,
        key: &SealKey,
        principal: &Principal,
        now: Timestamp,
    ) -> Result<Self, ResumeError> {
        let sealed: Self = key.open(text).ok_or(ResumeError::Forged)?;
        if sealed.principal != principal_digest(principal) {
            return Err(ResumeError::Principal);
        }
        if sealed.expires_at <= now {
            return Err(ResumeError::Expired);
        }
        Ok(sealed)
    }

    /// Checks that the resuming call is the one that was sealed.
    pub(crate) fn check(
        &self,
        operation: &str,
        target: &Target,
        arguments: Digest,
    ) -> Result<(), ResumeError> {
        if self.operation != operation || self.target != target.id {
            return Err(ResumeError::Call);
        }
        if self.definition != target.digest {
            return Err(ResumeError::Definition);
        }
        if self.arguments != arguments {
            return Err(ResumeError::Arguments);
        }
        Ok(())
    }
}

/// Identifies a principal, and its token if it has one, across requests. Rights are not included:
/// they may change in the meantime, and policy judges a resuming call by the current ones.
pub(crate) fn principal_digest(principal: &Principal) -> Digest {
    let Some(token) = &principal.token else { return person_digest(principal) };
    let who = (&principal.user, &principal.organisation, &principal.agent, &token.id);
    digest(&serde_json::to_vec(&who).expect("a principal has only string keys"))
}

/// Identifies a principal, whatever its token.
pub(crate) fn person_digest(principal: &Principal) -> Digest {
    let who: (&UserId, _, _) = (&principal.user, &principal.organisation, &principal.agent);
    digest(&serde_json::to_vec(&who).expect("a principal has only string keys"))
}

pub(crate) fn digest(bytes: &[u8]) -> Digest {
    Digest::new(Sha256::digest(bytes).into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(5_000);

    fn sealed() -> SealedCall {
        SealedCall {
            call: CallId::new(NOW, 9),
            principal: principal_digest(&Principal::local()),
            operation: "tool".to_owned(),
            target: ToolId::new("mail__send"),
            definition: Digest::new([1; 32]),
            arguments: Digest::new([2; 32]),
            expires_at: NOW.plus(Duration::from_secs(1)),
            approved_by: None,
            state: SealedState::Source(Some("step 2".to_owned())),
        }
    }

    fn check(text: &str, key: u8, user: &str, now: Timestamp, expected: Result<(), ResumeError>) {
        let principal = Principal::user(UserId::new(user));
        let opened = SealedCall::open(text, &SealKey::new([key; 32]), &principal, now);
        assert_eq!(opened.map(|sealed| assert_eq!(sealed, self::sealed())), expected);
    }

    #[test]
    fn a_seal_opens_only_as_it_was_closed() {
        let text = sealed().seal(&SealKey::new([3; 32]));
        let (body, tag) = text.split_once('.').unwrap();
        let late = NOW.plus(Duration::from_secs(1));
        check(&text, 3, "local", NOW, Ok(()));
        check(&text, 4, "local", NOW, Err(ResumeError::Forged));
        check(&text, 3, "ann", NOW, Err(ResumeError::Principal));
        check(&text, 3, "local", late, Err(ResumeError::Expired));
        for forged in ["", ".", body, &format!("{body}."), &format!("A{body}.{tag}"), "é.é"] {
            check(forged, 3, "local", NOW, Err(ResumeError::Forged));
        }
    }
}
