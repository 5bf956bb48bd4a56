//! `gatefold login`, `logout` and `accounts`: signing in at remote servers.

mod browser;
mod flow;
mod report;

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gatefold::{App, Environment};
use gatefold_core::Domain;
use gatefold_operations::{
    AccountTarget, AppOperations, Asker, OperationError, RefreshSource, SignOut,
};
use serde_json::json;

use self::report::Listed;
use super::arguments::{Format, SharedOptions};
use super::output::Output;
use super::{control, session, stop};

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
        let operations = AppOperations::new(&app, Asker::Operator, &());
        let target = operations.account(&login.name, login.user.as_deref())?;
        target.refuse_machines()?;
        let result = signed_in(login, &app, &target, environment, output).await;
        if matches!(result, Ok(Some(_))) {
            tell_gateways(&target.place.domain, shared, environment).await;
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
        let kept = app.accounts().kept(&target.place).await.map_err(OperationError::from)?;
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
        let operations = AppOperations::new(&app, Asker::Operator, &());
        let request = SignOut { source: logout.name.clone(), user: logout.user.clone() };
        let signed_out = operations.sign_out(&request).await?;
        tell_gateways(&signed_out.domain, shared, environment).await;
        report::farewell(&signed_out, output);
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
        let listed = AppOperations::new(&app, Asker::Operator, &()).accounts().await;
        app.close().await;
        let accounts = listed?;
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
async fn tell_gateways(domain: &Domain, shared: &SharedOptions, environment: &Environment) {
    let Ok(located) = control::locate(shared, environment).await else { return };
    let request = RefreshSource { source: domain.to_string() };
    for gateway in &located.running {
        if let Err(error) = gateway.ask(&request).await {
            tracing::debug!(%error, "a running gateway could not be told");
        }
    }
}
