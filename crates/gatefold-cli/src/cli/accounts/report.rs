//! What the commands say about sign-ins.

use std::process::ExitCode;

use gatefold::App;
use gatefold_core::{CallError, Timestamp};
use gatefold_oauth::SignInError;
use serde::Serialize;
use serde_json::json;

use super::target::AccountTarget;
use crate::cli::failure::with_help;
use crate::cli::output::Output;
use crate::cli::table::{Table, number_of};

/// One sign-in, as it is listed.
#[derive(Debug, Serialize)]
pub(super) struct AccountReport {
    source: String,
    /// Whose it is. None if everybody shares it.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    state: AccountState,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes: Vec<String>,
    /// Further scopes that the server wanted for something that was tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wanted: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signed_in_at: Option<Timestamp>,
    /// When the present token ends. With `refreshes`, another one follows by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_ends_at: Option<Timestamp>,
    refreshes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum AccountState {
    SignedIn,
    NeedsSignIn,
    /// It works, and a new sign-in would give more rights.
    WantsMore,
    /// What is kept cannot be read.
    Unreadable,
    /// The configuration has no such source any more.
    Orphaned,
}

impl AccountState {
    fn words(self) -> &'static str {
        match self {
            Self::SignedIn => "signed in",
            Self::NeedsSignIn => "needs a sign-in",
            Self::WantsMore => "wants more rights",
            Self::Unreadable => "cannot be read",
            Self::Orphaned => "source is gone",
        }
    }
}

/// Every sign-in that is kept.
pub(super) async fn accounts(app: &App) -> Result<Vec<AccountReport>, SignInError> {
    let (accounts, config) = (app.accounts(), app.config());
    let places = accounts.grants().places().await.map_err(SignInError::Store)?;
    let mut reports = Vec::new();
    for place in places {
        let source = config.sources.iter().find(|source| source.domain == place.domain);
        let user = place.identity.user().map(ToString::to_string);
        let mut report = AccountReport {
            source: source.map_or_else(|| place.domain.to_string(), |it| it.origin.key.clone()),
            user,
            state: AccountState::Unreadable,
            issuer: None,
            scopes: Vec::new(),
            wanted: Vec::new(),
            signed_in_at: None,
            token_ends_at: None,
            refreshes: false,
        };
        if let Ok(Some(kept)) = accounts.kept(&place).await {
            let grant = kept.grant;
            let site = source.and_then(|source| app.site(source));
            let is_same = site.as_ref().map(|site| site.url.as_str() == grant.site);
            report.state = match (is_same, &grant.tokens) {
                (None, _) => AccountState::Orphaned,
                (Some(false), _) | (_, None) => AccountState::NeedsSignIn,
                (Some(true), Some(_)) if !grant.wanted.is_empty() => AccountState::WantsMore,
                (Some(true), Some(_)) => AccountState::SignedIn,
            };
            let tokens = grant.tokens.as_ref();
            report.token_ends_at = tokens.and_then(|tokens| tokens.expires_at);
            report.refreshes = tokens.is_some_and(|tokens| tokens.refresh.is_some());
            let given = tokens.and_then(|tokens| tokens.scopes.clone());
            report.scopes = given.unwrap_or(grant.scopes);
            report.issuer = Some(grant.issuer);
            report.wanted = grant.wanted;
            report.signed_in_at = Some(grant.signed_in_at);
        }
        reports.push(report);
    }
    Ok(reports)
}

pub(super) fn print_accounts(accounts: &[AccountReport], output: &Output) {
    if accounts.is_empty() {
        output.line("nobody is signed in anywhere; `gatefold login NAME` signs in at a source");
        return;
    }
    let style = output.style();
    let mut table = Table::new(&["source", "who", "state", "provider", "scopes"]).spare(&[4, 3]);
    for account in accounts {
        let state = match account.state {
            AccountState::SignedIn => style.good(account.state.words()),
            _ => style.bad(account.state.words()),
        };
        table.row([
            style.strong(&account.source),
            account.user.clone().unwrap_or_else(|| "everybody".to_owned()),
            state,
            account.issuer.clone().unwrap_or_default(),
            account.scopes.join(" "),
        ]);
    }
    output.lines(&table.lines(style));
    for account in accounts {
        let name = &account.source;
        let user = account.user.as_ref().map(|user| format!(" --for {user}")).unwrap_or_default();
        match account.state {
            AccountState::NeedsSignIn | AccountState::WantsMore | AccountState::Unreadable => {
                output.line(&format!("{name}: `gatefold login {name}{user}`"));
            }
            AccountState::SignedIn | AccountState::Orphaned => {}
        }
    }
}

/// What a source lists after a sign-in: the number of its tools. None if that depends on who asks.
pub(super) type Listed = Option<Result<usize, CallError>>;

pub(super) async fn listed(app: &App, target: &AccountTarget) -> Listed {
    // Only a call of that user connects as that user.
    if target.user().is_some() {
        return None;
    }
    let domain = &target.place.domain;
    let refreshed = app.refresh(domain).await?;
    let pinned = app.pin();
    let tools = pinned.view().tools().filter(|tool| tool.domain() == domain).count();
    Some(refreshed.map(|()| tools))
}

/// Reports a sign-in, and what the source offers now.
pub(super) fn welcome(
    target: &AccountTarget,
    listed: Listed,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let name = &target.site.name;
    let tools = listed.transpose().map_err(|error| {
        with_help(
            format!("signed in at `{name}`, but it cannot be used yet: {error}"),
            format!("`gatefold check` tries again; `gatefold logout {name}` undoes the sign-in"),
        )
    })?;
    if output.is_json() {
        output.json(&json!({
            "source": name,
            "user": target.user(),
            "signed_in": true,
            "tools": tools,
        }));
    } else {
        let found = tools.map(|tools| format!(": {}", number_of(tools, "tool")));
        let user = target.user().map(|user| format!(" for `{user}`")).unwrap_or_default();
        output.line(&format!("signed in at `{name}`{user}{}", found.unwrap_or_default()));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn not_needed(target: &AccountTarget, output: &Output) {
    let name = &target.site.name;
    if output.is_json() {
        output.json(&json!({ "source": name, "user": target.user(), "signed_in": false }));
    } else {
        output.line(&format!("`{name}` asks for no sign-in: its tools can be used as they are"));
    }
}

pub(super) fn farewell(
    target: &AccountTarget,
    was_there: bool,
    told: &Result<bool, SignInError>,
    output: &Output,
) {
    let name = &target.site.name;
    if output.is_json() {
        let revoked = matches!(told, Ok(true));
        output.json(&json!({
            "source": name,
            "user": target.user(),
            "was_signed_in": was_there,
            "revoked": revoked,
        }));
        return;
    }
    if !was_there {
        output.line(&format!("nobody was signed in at `{name}`"));
        return;
    }
    output.line(&format!("signed out at `{name}`"));
    match told {
        Ok(true) => output.line("  the provider has ended the tokens, too"),
        Ok(false) => output.line(
            "  the provider takes no notice of that; if you want to be sure, end the access of Gatefold there",
        ),
        Err(error) => output.line(&format!("  the provider could not be told: {error}")),
    }
}
