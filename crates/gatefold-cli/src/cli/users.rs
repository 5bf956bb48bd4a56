//! `gatefold user`: the people who sign in at the gateway itself.

use std::process::ExitCode;

use clap::Subcommand;
use gatefold::config::load;
use gatefold::{Environment, PASSWORD_LINK_LIFE};
use gatefold_core::{Timestamp, UserId};
use gatefold_store::{PersonRecord, Store, StoreError, StoreOptions};
use serde_json::json;

use super::access_tokens::name;
use super::arguments::{Format, SharedOptions};
use super::failure::with_help;
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
    let place = match users {
        Users::Link { .. } => Some(sign_in_place(shared, environment)?),
        Users::List { .. } | Users::Remove { .. } => None,
    };
    let state_dir = session::state_dir_alone(shared, environment)?;
    stop::unless_stopped(async {
        let store = Store::open(&state_dir, StoreOptions::keeping_all()).await?;
        let done = match (users, place) {
            (Users::Link { user, .. }, Some(place)) => link(&store, user, &place, output).await,
            (Users::Remove { user, .. }, _) => remove(&store, user, output).await,
            _ => list(&store, output).await,
        };
        store.close().await?;
        done.map(|()| ExitCode::SUCCESS)
    })
    .await
}

/// The address at which people sign in.
fn sign_in_place(shared: &SharedOptions, environment: &Environment) -> anyhow::Result<String> {
    let config = load(&shared.inputs().located(environment)?, environment)?;
    let has_passwords = config.server.sign_in.as_ref().map(|own| own.password);
    if has_passwords == Some(false) {
        return Err(with_help(
            "nobody signs in at this gateway with a password",
            "write `password = true` into `sign_in`, beside `provider`",
        ));
    }
    let url = config.server.public_url.filter(|_| has_passwords.is_some());
    let url = url.ok_or_else(|| {
        with_help(
            "nobody signs in at this gateway",
            "write `authentication = \"token\"`, `public_url = \"https://tools.example\"` and \
             `sign_in = { password = true }` under `[server]`",
        )
    })?;
    Ok(url.as_str().to_owned())
}

async fn link(store: &Store, user: &str, place: &str, output: &Output) -> anyhow::Result<()> {
    let user = UserId::new(user);
    let made = store.create_password_link(&user, PASSWORD_LINK_LIFE).await.map_err(explained)?;
    let address = format!("{place}/oauth/password?link={}", made.text.expose());
    if output.is_json() {
        let until = made.expires_at;
        output.json(&json!({ "user": user, "link": address, "expires_at": until }));
    } else {
        output.verbatim(&address);
        output.complain(&format!("made a link for `{user}`: good once, until {}", made.expires_at));
        output.complain("  whoever opens it sets that user's password");
    }
    Ok(())
}

async fn list(store: &Store, output: &Output) -> anyhow::Result<()> {
    let people = store.people().await?;
    if output.is_json() {
        output.json(&json!({ "users": people }));
    } else {
        output.lines(&lines(&people, output.style()));
    }
    Ok(())
}

async fn remove(store: &Store, user: &str, output: &Output) -> anyhow::Result<()> {
    if !store.remove_person(&UserId::new(user)).await? {
        return Err(with_help(
            format!("nobody called `{user}` signs in here"),
            "`gatefold user list` shows who does; `gatefold token revoke` ends made tokens",
        ));
    }
    if output.is_json() {
        output.json(&json!({ "removed": user }));
    } else {
        output.line(&format!("removed `{user}`: no password, session or client is left"));
    }
    Ok(())
}

fn explained(error: StoreError) -> anyhow::Error {
    match &error {
        StoreError::TooManyPeople { .. } => {
            with_help(error, "remove those who are gone: `gatefold user list`")
        }
        _ => error.into(),
    }
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
