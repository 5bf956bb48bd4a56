//! Tokens: what a code gives, and what a refresh token gives.
//!
//! All that one consent gave is a family. Its id is in each of its tokens, so a client that refreshes
//! stays who it is. A refresh token is good once: the next one is derived from it, so an answer that
//! was lost can be given again, and any former one is recognised by following it up to the present.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatefold_core::{DrawnToken, PresentedToken, Timestamp, TokenId, TokenKind};
use gatefold_identity::{
    CodeRecord, CodeState, Consent, FamilyAccess, FamilyRecord, FamilyRenewal, KeepOutcome,
    Resource, Scopes,
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::IssuerError;
use crate::form::{FormFault, Parameters};
use crate::keys::{is_same, is_same_hash};
use crate::state::IssuerState;

/// How long a code is good.
pub const CODE_LIFE: Duration = Duration::from_secs(60);
/// How long an access token is good.
pub const ACCESS_LIFE: Duration = Duration::from_secs(60 * 60);
/// After this time, somebody has to agree again.
pub const FAMILY_LIFE: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// How often a family is refreshed at most: more than once an hour over all of its time.
pub const REFRESHES: u32 = 2500;
/// How long a refresh token that was just used is answered as before.
pub const REPEAT_WITHIN: Duration = Duration::from_secs(10);

/// The length of a PKCE verifier (RFC 7636, section 4.1).
const VERIFIER_BYTES: std::ops::RangeInclusive<usize> = 43..=128;

/// What the client of somebody is told whose way to sign in is none any more.
const NOT_ADMITTED: &str = "the user has to sign in again";

/// How often a refresh is tried again that another gateway came before.
const TRIES: usize = 3;

/// The answer of the token endpoint.
#[derive(Serialize)]
pub(crate) struct TokenAnswer {
    access_token: String,
    token_type: &'static str,
    expires_in: u64,
    refresh_token: String,
    scope: &'static str,
}

/// Why a client gets no token.
#[derive(Debug)]
pub(crate) enum TokenFault {
    Refused { error: &'static str, why: String },
    Issuer(IssuerError),
}

impl TokenFault {
    pub(crate) fn refused(error: &'static str, why: &str) -> Self {
        Self::Refused { error, why: why.to_owned() }
    }
}

impl From<IssuerError> for TokenFault {
    fn from(error: IssuerError) -> Self {
        Self::Issuer(error)
    }
}

impl From<FormFault> for TokenFault {
    fn from(fault: FormFault) -> Self {
        Self::Refused { error: "invalid_request", why: fault.message() }
    }
}

fn invalid_grant(why: &str) -> TokenFault {
    TokenFault::refused("invalid_grant", why)
}

fn required<'a>(parameters: &'a Parameters, name: &'static str) -> Result<&'a str, TokenFault> {
    let missing = || TokenFault::refused("invalid_request", &format!("`{name}` is missing"));
    parameters.one(name)?.ok_or_else(missing)
}

impl IssuerState {
    /// Answers a request to the token endpoint.
    pub(crate) async fn tokens(&self, parameters: &Parameters) -> Result<TokenAnswer, TokenFault> {
        if parameters.count("client_secret") > 0 || parameters.count("client_assertion") > 0 {
            let why = "clients here have no secret and prove themselves with PKCE alone";
            return Err(TokenFault::refused("invalid_client", why));
        }
        match required(parameters, "grant_type")? {
            "authorization_code" => self.first_tokens(parameters).await,
            "refresh_token" => self.next_tokens(parameters).await,
            _ => {
                let why = "there are `authorization_code` and `refresh_token`";
                Err(TokenFault::refused("unsupported_grant_type", why))
            }
        }
    }

    async fn first_tokens(&self, parameters: &Parameters) -> Result<TokenAnswer, TokenFault> {
        let client = required(parameters, "client_id")?;
        let verifier = required(parameters, "code_verifier")?;
        let code = required(parameters, "code")?;
        let now = self.clock.now();
        let unknown = || invalid_grant("the code is not known");
        let code = PresentedToken::read_as(TokenKind::Code, code).ok_or_else(unknown)?;
        let taken = self.store.take_code(&code.id, code.hash).await;
        let code = match taken.map_err(IssuerError::Store)? {
            CodeState::Fresh(code) => *code,
            CodeState::Unknown => return Err(unknown()),
            CodeState::Used => {
                // One of the two who had it should not have it, and nobody knows which.
                self.end(&code.id, "a code was used twice").await?;
                return Err(invalid_grant("the code was used before; all that it gave is revoked"));
            }
        };
        // From here on the code is used up, whatever comes of it.
        let access_to = self.check_code(&code, client, verifier, parameters, now)?;
        let refresh = DrawnToken::draw_for(TokenKind::Refresh, &code.id);
        let access = DrawnToken::draw_for(TokenKind::SignedIn, &code.id);
        let refresh = refresh.map_err(IssuerError::Random)?;
        let access = access.map_err(IssuerError::Random)?;
        let CodeRecord { id, consent, .. } = code;
        let record = FamilyAccess {
            hash: access.hash,
            resource: access_to,
            scopes: consent.scopes,
            expires_at: now.plus(ACCESS_LIFE),
        };
        let family = FamilyRecord {
            id: id.clone(),
            consent: consent.clone(),
            created_at: now,
            expires_at: now.plus(FAMILY_LIFE),
            refresh: refresh.hash,
            refreshes: 0,
            refreshed_at: now,
            access: record.clone(),
            last_used: None,
        };
        match self.store.begin_family(family, now).await.map_err(IssuerError::Store)? {
            KeepOutcome::Kept => {}
            KeepOutcome::Full => {
                return Err(TokenFault::refused("invalid_grant", "too many are signed in"));
            }
            KeepOutcome::Refused => return Err(invalid_grant("the code was revoked")),
        }
        let Consent { user, client, .. } = consent;
        tracing::info!(token = %id, %user, %client, "a client was let in");
        Ok(answer(&access, &refresh, &record, now))
    }

    /// What the code's client has to show for it. Returns what its first access token is for.
    fn check_code(
        &self,
        code: &CodeRecord,
        client: &str,
        verifier: &str,
        parameters: &Parameters,
        now: Timestamp,
    ) -> Result<Resource, TokenFault> {
        if code.expires_at <= now {
            return Err(invalid_grant("the code has expired"));
        }
        if code.consent.client != client {
            return Err(invalid_grant("the code is another client's"));
        }
        if !self.admits(&code.consent.user, code.consent.provided.as_ref()) {
            return Err(invalid_grant(NOT_ADMITTED));
        }
        // OAuth 2.1 leaves it out; earlier clients repeat it.
        if parameters.one("redirect_uri")?.is_some_and(|redirect| redirect != code.redirect) {
            return Err(invalid_grant("the code went to another `redirect_uri`"));
        }
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        let is_long_enough = VERIFIER_BYTES.contains(&verifier.len());
        if !is_long_enough || !is_same(&challenge, &code.challenge) {
            return Err(invalid_grant("the `code_verifier` is not the challenge's"));
        }
        self.narrowed_resource(parameters, &code.consent.resource)
    }

    async fn next_tokens(&self, parameters: &Parameters) -> Result<TokenAnswer, TokenFault> {
        let client = required(parameters, "client_id")?;
        let text = required(parameters, "refresh_token")?;
        let unknown =
            || invalid_grant("the refresh token is not known, has expired or was revoked");
        let presented = PresentedToken::read_as(TokenKind::Refresh, text).ok_or_else(unknown)?;
        for _ in 0..TRIES {
            let now = self.clock.now();
            let family = self.store.family(&presented.id, now).await;
            let family = family.map_err(IssuerError::Store)?.ok_or_else(unknown)?;
            let age = self.age(&family, text, &presented);
            let age = age.ok_or_else(unknown)?;
            if family.consent.client != client {
                return Err(invalid_grant("the refresh token is another client's"));
            }
            if !self.admits(&family.consent.user, family.consent.provided.as_ref()) {
                return Err(invalid_grant(NOT_ADMITTED));
            }
            let refresh = self.keys.next_refresh(&family.id, text);
            let access = self.keys.next_access(&family.id, text);
            match age {
                0 if family.refreshes >= REFRESHES => {
                    self.end(&family.id, "it was refreshed as often as may be").await?;
                    return Err(unknown());
                }
                0 => {
                    let record = FamilyAccess {
                        hash: access.hash,
                        resource: self.narrowed_resource(parameters, &family.consent.resource)?,
                        scopes: narrowed_scopes(parameters, family.consent.scopes)?,
                        expires_at: now.plus(ACCESS_LIFE).min(family.expires_at),
                    };
                    let renewal = FamilyRenewal {
                        from: presented.hash,
                        refresh: refresh.hash,
                        refreshed_at: now,
                        access: record.clone(),
                    };
                    let renewed = self.store.renew_family(&family.id, renewal).await;
                    if renewed.map_err(IssuerError::Store)? {
                        return Ok(answer(&access, &refresh, &record, now));
                    }
                    // Somebody else came before; the next look says how long ago.
                }
                // The answer may have been lost on its way, or a client asked twice at once.
                1 if now.since(family.refreshed_at) <= REPEAT_WITHIN => {
                    return Ok(answer(&access, &refresh, &family.access, now));
                }
                _ => {
                    self.end(&family.id, "a former refresh token was used").await?;
                    return Err(invalid_grant(
                        "the refresh token was used before; all that followed is revoked",
                    ));
                }
            }
        }
        Err(IssuerError::Busy.into())
    }

    /// How many refreshes ago a refresh token was the present one. None for one that never was.
    fn age(&self, family: &FamilyRecord, text: &str, presented: &PresentedToken) -> Option<u32> {
        if is_same_hash(&presented.hash, &family.refresh) {
            return Some(0);
        }
        let mut later = self.keys.next_refresh(&family.id, text);
        for age in 1..=family.refreshes {
            if is_same_hash(&later.hash, &family.refresh) {
                return Some(age);
            }
            later = self.keys.next_refresh(&family.id, later.text.expose());
        }
        None
    }

    /// Ends what a token belongs to, if whoever presents it has really had it (RFC 7009).
    pub(crate) async fn revoke(&self, parameters: &Parameters) -> Result<(), TokenFault> {
        let text = required(parameters, "token")?;
        let client = parameters.one("client_id")?;
        let Some(presented) = PresentedToken::read(text) else { return Ok(()) };
        let family = self.store.family(&presented.id, self.clock.now()).await;
        let Some(family) = family.map_err(IssuerError::Store)? else { return Ok(()) };
        let is_own = match presented.kind {
            TokenKind::SignedIn => is_same_hash(&presented.hash, &family.access.hash),
            TokenKind::Refresh => self.age(&family, text, &presented).is_some(),
            _ => false,
        };
        if is_own && client.is_none_or(|client| client == family.consent.client) {
            self.store.end_family(&family.id).await.map_err(IssuerError::Store)?;
            tracing::info!(token = %family.id, "a client ended its access");
        }
        Ok(())
    }

    async fn end(&self, id: &TokenId, why: &str) -> Result<(), IssuerError> {
        let ended = self.store.end_family(id).await.map_err(IssuerError::Store)?;
        if ended {
            tracing::warn!(token = %id, reason = why, "a client's access was ended");
        }
        Ok(())
    }

    /// What an access token is to be for, within what was agreed to.
    fn narrowed_resource(
        &self,
        parameters: &Parameters,
        agreed: &Resource,
    ) -> Result<Resource, TokenFault> {
        let target = |why| TokenFault::refused("invalid_target", why);
        if parameters.count("resource") > 1 {
            return Err(target("one token is for one `resource`"));
        }
        let Some(asked) = parameters.one("resource")? else { return Ok(agreed.clone()) };
        let asked = Resource::read(&self.settings.public_url, asked);
        let asked = asked.ok_or_else(|| target("`resource` is no part of this gateway"))?;
        if !agreed.covers(&asked) {
            return Err(target("`resource` is more than was agreed to"));
        }
        Ok(asked)
    }
}

fn narrowed_scopes(parameters: &Parameters, agreed: Scopes) -> Result<Scopes, TokenFault> {
    let Some(asked) = parameters.one("scope")? else { return Ok(agreed) };
    let asked = Scopes::read(asked).filter(|asked| asked.is_within(agreed));
    asked.ok_or_else(|| TokenFault::refused("invalid_scope", "`scope` is more than was agreed to"))
}

fn answer(
    access: &DrawnToken,
    refresh: &DrawnToken,
    record: &FamilyAccess,
    now: Timestamp,
) -> TokenAnswer {
    TokenAnswer {
        access_token: access.text.expose().to_owned(),
        token_type: "Bearer",
        expires_in: record.expires_at.since(now).as_secs(),
        refresh_token: refresh.text.expose().to_owned(),
        scope: record.scopes.as_str(),
    }
}
