//! `gatefold login`, `logout` and `accounts`: signing in at remote servers.

mod browser;
mod flow;
mod report;
mod target;

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gatefold::{App, Environment};
use gatefold_oauth::{SignInError, revoke};
use serde_json::json;
use tokio::time::Instant;

use self::report::Listed;
use self::target::{AccountTarget, find};
use super::arguments::{Format, SharedOptions};
use super::control::{self, ControlRequest};
use super::failure::with_help;
use super::output::Output;
use super::{session, stop};

/// How long a provider may take to answer one question.
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);

/// How often one command signs in at a server that wants more rights each time.
const ROUNDS: usize = 3;

#[derive(Debug, Args)]
pub(crate) struct Login {
    /// The source, as the configuration names it
    name: String,
    /// Sign in for this user, at a source with `credentials = "per_user"`
    #[arg(long = "for", value_name = "USER")]
    user: Option<String>,
    /// Open no browser: print the address, and take the one that the browser ended at
    #[arg(long)]
    no_browser: bool,
    /// Sign in on another device, with a code
    #[arg(long, conflicts_with = "no_browser")]
    device: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// The source, as the configuration names it
    name: String,
    /// Sign this user out, at a source with `credentials = "per_user"`
    #[arg(long = "for", value_name = "USER")]
    user: Option<String>,
    #[command(flatten)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct AccountList {
    #[command(flatten)]
    pub(super) format: Format,
}

pub(super) async fn login(
    login: &Login,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        let app = session::open(shared, environment).await?.app;
        let target = find(&app, &login.name, login.user.as_deref())?;
        target.refuse_machines()?;
        let result = signed_in(login, &app, &target, environment, output).await;
        if matches!(result, Ok(Some(_))) {
            tell_gateways(&target, shared, environment).await;
        }
        app.close().await;
        let Some(listed) = result? else {
            report::not_needed(&target, output);
            return Ok(ExitCode::SUCCESS);
        };
        report::welcome(&target, listed, output)
    })
    .await
}

/// Signs in, and again if the server then wants more rights. Returns what the source lists now, or
/// None if it needs no sign-in.
async fn signed_in(
    login: &Login,
    app: &App,
    target: &AccountTarget,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<Option<Listed>> {
    let mut rounds = 0;
    loop {
        if !flow::run(login, app, target, environment, output).await? {
            return Ok(None);
        }
        rounds += 1;
        let listed = report::listed(app, target).await;
        let kept = app.accounts().kept(&target.place).await.map_err(explained)?;
        let wants_more = kept.is_some_and(|kept| !kept.grant.wanted.is_empty());
        if !wants_more || rounds == ROUNDS {
            return Ok(Some(listed));
        }
    }
}

pub(super) async fn logout(
    logout: &Logout,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        let app = session::open(shared, environment).await?.app;
        let target = find(&app, &logout.name, logout.user.as_deref())?;
        let accounts = app.accounts();
        let kept = accounts.kept(&target.place).await;
        let deadline = Instant::now() + ANSWER_DEADLINE;
        let told = match &kept {
            Ok(Some(kept)) => {
                let (site, now) = (&target.site, accounts.clock().now());
                revoke(&site.client, &site.oauth, &kept.grant, now, deadline).await
            }
            // What cannot be read is removed all the same.
            _ => Ok(false),
        };
        let was_there = accounts.grants().remove(&target.place).await;
        let was_there = was_there.map_err(SignInError::Store).map_err(explained)?;
        tell_gateways(&target, shared, environment).await;
        report::farewell(&target, was_there, &told, output);
        app.close().await;
        Ok(ExitCode::SUCCESS)
    })
    .await
}

pub(super) async fn list(
    _: &AccountList,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        let app = session::open(shared, environment).await?.app;
        let listed = report::accounts(&app).await;
        app.close().await;
        let accounts = listed.map_err(explained)?;
        if output.is_json() {
            output.json(&json!({ "accounts": accounts }));
        } else {
            report::print_accounts(&accounts, output);
        }
        Ok(ExitCode::SUCCESS)
    })
    .await
}

/// Tells running gateways of a change, so that nobody waits for it. One that is not told finds out
/// by itself with the next call.
async fn tell_gateways(target: &AccountTarget, shared: &SharedOptions, environment: &Environment) {
    let Ok(located) = control::locate(shared, environment).await else { return };
    let source = target.place.domain.to_string();
    let request = ControlRequest::Refresh { source };
    for gateway in &located.running {
        let told: anyhow::Result<bool> = gateway.ask(&request).await;
        if let Err(error) = told {
            tracing::debug!(%error, "a running gateway could not be told");
        }
    }
}

fn explained(error: SignInError) -> anyhow::Error {
    match error.hint() {
        Some(hint) => with_help(&error, hint),
        None => error.into(),
    }
}
