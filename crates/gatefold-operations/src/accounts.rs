//! Sign-ins at sources.

use std::time::Duration;

use gatefold::config::{SourceConfig, SourceSection};
use gatefold_core::{Domain, Principal, Timestamp, UpstreamIdentity, UserId};
use gatefold_dispatch::IdentityScope;
use gatefold_identity::{GrantPlace, Grants as _};
use gatefold_oauth::{Grant, SignInError, SignInNeed, SiteSettings, revoke};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::{AppOperations, Fault, OperationError};

/// The longest name of a user, in bytes.
const USER_LIMIT: usize = 256;

/// How long a provider may take to hear of a sign-out.
const REVOKE_DEADLINE: Duration = Duration::from_secs(30);

/// A source, and whose sign-in there.
pub struct AccountTarget {
    pub site: SiteSettings,
    pub place: GrantPlace,
}

/// One sign-in, for a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AccountReport {
    /// The source, as the configuration names it.
    pub source: String,
    /// Whose it is. None if everybody shares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    pub state: AccountState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Further scopes that the server wanted for something that was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_in_at: Option<Timestamp>,
    /// When the present token ends. With `refreshes`, another one follows by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_ends_at: Option<Timestamp>,
    pub refreshes: bool,
}

/// Whether a sign-in is of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountState {
    SignedIn,
    NeedsSignIn,
    /// It works, and a new sign-in would give more rights.
    WantsMore,
    /// What is kept cannot be read.
    Unreadable,
    /// The configuration has no such source any more.
    Orphaned,
}

/// Ends one sign-in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SignOut {
    /// The source, as the configuration names it, or its domain.
    pub source: String,
    /// Whose sign-in it is, at a source where each user has their own.
    pub user: Option<String>,
}

/// How a sign-out went.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SignedOut {
    /// The source, as the configuration names it.
    pub source: String,
    pub domain: Domain,
    pub user: Option<String>,
    /// Whether there was anything to end.
    pub was_signed_in: bool,
    /// Whether the provider has ended the tokens, too.
    pub revoked: bool,
    /// Why the provider could not be told.
    pub revocation_fault: Option<String>,
}

impl AppOperations<'_> {
    /// Every sign-in that is kept.
    pub async fn accounts(&self) -> Result<Vec<AccountReport>, OperationError> {
        self.asker.require_operator("list sign-ins at sources")?;
        let places = self.app.accounts().grants().places().await.map_err(SignInError::Store)?;
        let config = self.app.config();
        let mut reports = Vec::new();
        for place in places {
            let source = config.sources.iter().find(|source| source.domain == place.domain);
            reports.push(self.account_report(&place, source).await);
        }
        Ok(reports)
    }

    async fn account_report(
        &self,
        place: &GrantPlace,
        source: Option<&SourceConfig>,
    ) -> AccountReport {
        let unreadable = AccountReport {
            source: source.map_or_else(|| place.domain.to_string(), |it| it.origin.key.clone()),
            user: place.identity.user().map(ToString::to_string),
            state: AccountState::Unreadable,
            issuer: None,
            scopes: Vec::new(),
            wanted: Vec::new(),
            signed_in_at: None,
            token_ends_at: None,
            refreshes: false,
        };
        let Ok(Some(kept)) = self.app.accounts().kept(place).await else { return unreadable };
        let Grant { site, tokens, scopes, issuer, wanted, signed_in_at, .. } = kept.grant;
        let current = source.and_then(|source| self.app.site(source));
        let state = match (current.map(|current| current.url.as_str() == site), &tokens) {
            (None, _) => AccountState::Orphaned,
            (Some(false), _) | (_, None) => AccountState::NeedsSignIn,
            (Some(true), Some(_)) if !wanted.is_empty() => AccountState::WantsMore,
            (Some(true), Some(_)) => AccountState::SignedIn,
        };
        AccountReport {
            state,
            issuer: Some(issuer),
            signed_in_at: Some(signed_in_at),
            token_ends_at: tokens.as_ref().and_then(|tokens| tokens.expires_at),
            refreshes: tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some()),
            scopes: tokens.and_then(|tokens| tokens.scopes).unwrap_or(scopes),
            wanted,
            ..unreadable
        }
    }

    /// Forgets a sign-in, and tells the provider.
    pub async fn sign_out(&self, request: &SignOut) -> Result<SignedOut, OperationError> {
        let target = self.account(&request.source, request.user.as_deref())?;
        let AccountTarget { site, place } = &target;
        let accounts = self.app.accounts();
        let revoked = match accounts.kept(place).await {
            Ok(Some(kept)) => {
                let (now, deadline) = (accounts.clock().now(), Instant::now() + REVOKE_DEADLINE);
                revoke(&site.client, &site.oauth, &kept.grant, now, deadline).await
            }
            // What cannot be read is removed all the same.
            _ => Ok(false),
        };
        let was_signed_in = accounts.grants().remove(place).await.map_err(SignInError::Store)?;
        Ok(SignedOut {
            source: site.name.clone(),
            domain: place.domain.clone(),
            user: target.user().map(str::to_owned),
            was_signed_in,
            revoked: matches!(revoked, Ok(true)),
            revocation_fault: revoked.err().map(|error| error.to_string()),
        })
    }

    /// Seals the kept sign-ins under new keys, and returns how many there are.
    pub async fn rotate_keys(&self) -> Result<usize, OperationError> {
        self.asker.require_operator("change the keys of sign-ins")?;
        Ok(self.app.accounts().grants().rotate().await?)
    }

    /// Finds a source by its name in the configuration, or by its domain.
    pub fn account(&self, name: &str, user: Option<&str>) -> Result<AccountTarget, OperationError> {
        self.asker.require_operator("sign in and out at sources")?;
        let config = self.app.config();
        let by_key = config.sources.iter().find(|source| source.origin.key == name);
        let found = by_key.or_else(|| config.sources.iter().find(|it| it.domain.as_str() == name));
        let Some(source) = found else {
            let names: Vec<_> = config
                .sources
                .iter()
                .filter(|source| self.app.site(source).is_some())
                .map(|source| source.origin.key.as_str())
                .collect();
            let help = match names.as_slice() {
                [] => "add the server first: `gatefold add NAME URL`".to_owned(),
                names => format!("one can sign in at {}", names.join(", ")),
            };
            let fault = Fault::new(format!("there is no source `{name}`"));
            return Err(OperationError::NotFound(fault.with_help(help)));
        };
        let Some(site) = self.app.site(source) else { return Err(no_site(name, source)) };
        let identity = identity(name, &site, user)?;
        Ok(AccountTarget { place: GrantPlace { domain: source.domain.clone(), identity }, site })
    }
}

/// Why nobody signs in at a source.
fn no_site(name: &str, source: &SourceConfig) -> OperationError {
    match &source.section {
        SourceSection::Disabled => OperationError::Refused(
            Fault::new(format!("`{name}` is disabled"))
                .with_help(format!("enable it first: `gatefold enable {name}`")),
        ),
        SourceSection::Unusable(unusable) => OperationError::Unavailable(
            Fault::new(format!("`{name}` cannot be used")).with_help(unusable.fault.on_one_line()),
        ),
        SourceSection::Usable(section) if section.client_headers().is_some() => invalid(format!(
            "nobody signs in at `{name}`: its `credentials` are the clients' own, and they send them"
        )),
        SourceSection::Usable(_) => invalid(format!(
            "nobody signs in at `{name}`: only a server over HTTP without a header \
             `Authorization` wants it, and an API with `authorization_code` in its `auth`"
        )),
    }
}

fn identity(
    name: &str,
    site: &SiteSettings,
    user: Option<&str>,
) -> Result<UpstreamIdentity, OperationError> {
    match (site.scope, user.map(str::trim)) {
        (IdentityScope::Client, _) => Err(invalid(format!(
            "nobody signs in at `{name}`: its tokens come from those that its callers send"
        ))),
        (IdentityScope::Shared, None) => Ok(UpstreamIdentity::Shared),
        (IdentityScope::Shared, Some(_)) => {
            let fault = Fault::new(format!("everybody shares one sign-in at `{name}`"));
            Err(OperationError::Invalid(
                fault.with_help(
                    "leave `--for` out, or set `credentials = \"per_user\"` in the source",
                ),
            ))
        }
        (IdentityScope::PerUser, Some(user)) if (1..=USER_LIMIT).contains(&user.len()) => {
            Ok(UpstreamIdentity::User(UserId::new(user)))
        }
        (IdentityScope::PerUser, Some(_)) => {
            Err(invalid(format!("a user's name has 1 to {USER_LIMIT} bytes")))
        }
        // Whoever uses a gateway without accounts.
        (IdentityScope::PerUser, None) => Ok(UpstreamIdentity::User(Principal::local().user)),
    }
}

impl AccountTarget {
    /// Refuses a source at which Gatefold proves itself, and no person signs in.
    pub fn refuse_machines(&self) -> Result<(), OperationError> {
        if self.site.sign_in != SignInNeed::Machine {
            return Ok(());
        }
        let text = format!("nobody signs in at `{}`: Gatefold proves itself there", self.site.name);
        let help = "`gatefold check` shows whether that works";
        Err(OperationError::Invalid(Fault::new(text).with_help(help)))
    }

    /// Whose sign-in it is, for people. None if it is everybody's.
    pub fn user(&self) -> Option<&str> {
        self.place.identity.user().map(UserId::as_str)
    }
}

fn invalid(text: String) -> OperationError {
    OperationError::Invalid(Fault::new(text))
}
