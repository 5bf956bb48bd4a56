//! `gatefold user`: the people who sign in at the gateway itself.

use std::process::ExitCode;

use clap::Subcommand;
use gatefold::Environment;
use gatefold::config::load;
use gatefold_core::{Timestamp, UserId};
use gatefold_operations::{PersonRecord, StateOperations, sign_in_address};
use serde_json::json;

use super::access_tokens::name;
use super::arguments::{Format, SharedOptions};
use super::output::{Output, Style};
use super::table::Table;
use super::{session, stop};

#[derive(Debug, Subcommand)]
pub(crate) enum Users {
    /// Print a link with which a person sets a password, once
    ///
    /// It is good for a day, and takes the place of the one before. Give it to that person alone:
    /// whoever opens it is that user here. Setting a new password signs the person out in all
    /// browsers; clients that are let in stay.
    #[command(after_long_help = "Example:\n  gatefold user link ann")]
    Link {
        /// The user, as in `gatefold token create --for`
        #[arg(value_name = "USER", value_parser = name)]
        user: String,
        #[command(flatten)]
        format: Format,
    },
    /// List who signs in here
    #[command(after_long_help = "Example:\n  gatefold user list --json")]
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Remove a person's password and sessions, and end the access of all clients they let in
    ///
    /// Whoever signs in at a provider can do so again, until the provider refuses it.
    #[command(after_long_help = "Example:\n  gatefold user remove ann")]
    Remove {
        /// The user's name, as `gatefold user list` shows it
        #[arg(value_name = "USER")]
        user: String,
        #[command(flatten)]
        format: Format,
    },
}

impl Users {
    pub(crate) fn format(&self) -> &Format {
        match self {
            Self::Link { format, .. } | Self::List { format } | Self::Remove { format, .. } => {
                format
            }
        }
    }
}

/// Works on the files of the state directory. A gateway that runs on them looks there for changes.
pub(super) async fn run(
    users: &Users,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let address = match users {
        Users::Link { .. } => {
            let config = load(&shared.inputs().located(environment)?, environment)?;
            Some(sign_in_address(&config)?)
        }
        Users::List { .. } | Users::Remove { .. } => None,
    };
    let state_dir = session::state_dir_alone(shared, environment)?;
    stop::unless_stopped(async {
        session::with_state(&state_dir, async |state| match (users, address) {
            (Users::Link { user, .. }, Some(address)) => link(state, user, &address, output).await,
            (Users::Remove { user, .. }, _) => remove(state, user, output).await,
            _ => list(state, output).await,
        })
        .await
    })
    .await
}

async fn link(
    state: &StateOperations,
    user: &str,
    address: &str,
    output: &Output,
) -> anyhow::Result<()> {
    let made = state.create_password_link(UserId::new(user), address).await?;
    if output.is_json() {
        output.json(&made);
    } else {
        output.verbatim(&made.link);
        output.complain(&format!("made a link for `{user}`: good once, until {}", made.expires_at));
        output.complain("  whoever opens it sets that user's password");
    }
    Ok(())
}

async fn list(state: &StateOperations, output: &Output) -> anyhow::Result<()> {
    let people = state.people().await?;
    if output.is_json() {
        output.json(&json!({ "users": people }));
    } else {
        output.lines(&lines(&people, output.style()));
    }
    Ok(())
}

async fn remove(state: &StateOperations, user: &str, output: &Output) -> anyhow::Result<()> {
    state.remove_person(&UserId::new(user)).await?;
    if output.is_json() {
        output.json(&json!({ "removed": user }));
    } else {
        output.line(&format!("removed `{user}`: no password, session or client is left"));
    }
    Ok(())
}

fn lines(people: &[PersonRecord], style: Style) -> Vec<String> {
    if people.is_empty() {
        return vec!["nobody signs in here; `gatefold user link NAME` lets somebody".to_owned()];
    }
    let heads = ["user", "password set", "link until", "at a provider", "clients"];
    let mut table = Table::new(&heads).spare(&[2, 3, 1]);
    let day = |at: Option<Timestamp>, otherwise: &str| {
        at.map_or_else(|| otherwise.to_owned(), |at| at.to_string().chars().take(10).collect())
    };
    for person in people {
        let has_link = person.link_expires_at.is_some();
        table.row([
            style.strong(person.user.as_str()),
            day(person.password_set_at, if has_link { "not yet" } else { "" }),
            day(person.link_expires_at, ""),
            day(person.signed_in_at, ""),
            person.clients.to_string(),
        ]);
    }
    table.lines(style)
}
