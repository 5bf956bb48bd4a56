use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatefold_core::{CallId, Digest, Principal, ResumeError, Target, Timestamp, ToolId, UserId};
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::records::{DecidedBy, digest};

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

/// Identifies a principal across requests, with its token and the credentials that it sent, if it has
/// any. Rights are not included: they may change in the meantime, and policy judges a resuming call by
/// the current ones.
pub(crate) fn principal_digest(principal: &Principal) -> Digest {
    let Principal { user, organisation, agent, token, sent, rights: _ } = principal;
    let token = token.as_ref().map(|token| &token.id);
    let told = if sent.is_empty() {
        let Some(token) = token else { return person_digest(principal) };
        serde_json::to_vec(&(user, organisation, agent, token))
    } else {
        let sent = sent.as_slice().iter().map(|(domain, own)| (domain, own.digest));
        let sent: Vec<_> = sent.collect();
        serde_json::to_vec(&(user, organisation, agent, token, sent))
    };
    digest(&told.expect("a principal has only string keys"))
}

/// Identifies a principal as somebody for whom a call is approved: with what it sent for sources,
/// since that is who it is there, and with any token, since tokens are renewed.
pub(crate) fn asker_digest(principal: &Principal) -> Digest {
    principal_digest(&Principal { token: None, ..principal.clone() })
}

/// Identifies a principal, whatever it came with.
pub(crate) fn person_digest(principal: &Principal) -> Digest {
    let who: (&UserId, _, _) = (&principal.user, &principal.organisation, &principal.agent);
    digest(&serde_json::to_vec(&who).expect("a principal has only string keys"))
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
    fn what_a_client_sent_tells_its_calls_apart() {
        let sent = |domain: &str, digest: u8| {
            let user = UserId::new("ann");
            let value = gatefold_core::Secret::new("a secret");
            let digest = Digest::new([digest; 32]);
            let credential = gatefold_core::ClientCredential { user, digest, value: Some(value) };
            let sent = [(gatefold_core::Domain::from_key(domain), credential)];
            Principal { sent: sent.into_iter().collect(), ..Principal::local() }
        };
        let all = [Principal::local(), sent("crm", 1), sent("crm", 2), sent("mail", 1)];
        let digests: std::collections::HashSet<_> = all.iter().map(principal_digest).collect();
        assert_eq!(digests.len(), all.len());
        assert_eq!(principal_digest(&sent("crm", 1)), principal_digest(&sent("crm", 1)));
        assert!(all.iter().all(|own| person_digest(own) == person_digest(&all[0])));
        assert!(!format!("{all:?}").contains("a secret"));
        let text = SealedCall { principal: principal_digest(&all[1]), ..sealed() };
        let (key, opened) = (SealKey::new([3; 32]), text.seal(&SealKey::new([3; 32])));
        let of = |principal| SealedCall::open(&opened, &key, principal, NOW).map(drop);
        assert_eq!(of(&all[1]), Ok(()));
        assert_eq!(of(&all[2]), Err(ResumeError::Principal));
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
