//! What the commands say about sign-ins.

use std::process::ExitCode;

use gatefold::App;
use gatefold_core::CallError;
use gatefold_operations::{AccountReport, AccountState, AccountTarget, SignedOut};
use serde_json::json;

use crate::cli::failure::with_help;
use crate::cli::output::Output;
use crate::cli::table::{Table, number_of};

fn words(state: AccountState) -> &'static str {
    match state {
        AccountState::SignedIn => "signed in",
        AccountState::NeedsSignIn => "needs a sign-in",
        AccountState::WantsMore => "wants more rights",
        AccountState::Unreadable => "cannot be read",
        AccountState::Orphaned => "source is gone",
    }
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
            AccountState::SignedIn => style.good(words(account.state)),
            _ => style.bad(words(account.state)),
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

pub(super) fn farewell(signed_out: &SignedOut, output: &Output) {
    let SignedOut { source, user, was_signed_in, revoked, revocation_fault, .. } = signed_out;
    if output.is_json() {
        output.json(&json!({
            "source": source,
            "user": user,
            "was_signed_in": was_signed_in,
            "revoked": revoked,
        }));
        return;
    }
    if !was_signed_in {
        output.line(&format!("nobody was signed in at `{source}`"));
        return;
    }
    output.line(&format!("signed out at `{source}`"));
    match revocation_fault {
        Some(error) => output.line(&format!("  the provider could not be told: {error}")),
        None if *revoked => output.line("  the provider has ended the tokens, too"),
        None => output.line(
            "  the provider takes no notice of that; if you want to be sure, end the access of Gatefold there",
        ),
    }
}
