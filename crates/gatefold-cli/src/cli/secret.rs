//! `gatefold secret`: secrets in the keyring or a file, for configurations.

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use gatefold::Environment;
use gatefold::config::secrets_file;
use gatefold::secrets::{SecretError, SecretFile, SecretName, VALUE_LIMIT_BYTES};
use gatefold_core::Secret as Value;
use gatefold_operations::{AppOperations, Asker};
use gatefold_setup::secrets::{self, Keyring, UNLOCK_DEADLINE};
use serde_json::json;

use super::arguments::{Secret, SharedOptions};
use super::output::Output;
use super::table::number_of;
use super::terminal::Terminal;
use super::{failure, paths, session, stop};

pub(super) async fn run(
    secret: &Secret,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let place = SecretPlace::of_configuration(shared, environment);
    stop::unless_stopped(async {
        match secret {
            Secret::Set { name } => set(legal(name)?, &place, output).await,
            Secret::List { .. } => list(&place, output),
            Secret::Remove { name } => remove(&legal(name)?, &place, output),
            Secret::Rotate => rotate(shared, environment, output).await,
        }
    })
    .await
}

/// Seals the kept sign-ins under new keys.
async fn rotate(
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let app = session::open(shared, environment).await?.app;
    let rotated = AppOperations::new(&app, Asker::Operator, &()).rotate_keys().await;
    app.close().await;
    output.line(&format!("sealed {} under new keys", number_of(rotated?, "sign-in")));
    Ok(ExitCode::SUCCESS)
}

/// Where secrets are kept.
pub(super) struct SecretPlace {
    pub(super) keyring: Arc<dyn Keyring>,
    /// What to call it.
    pub(super) title: String,
}

impl SecretPlace {
    /// The file that the configuration names, otherwise the keyring. A configuration is not needed.
    fn of_configuration(shared: &SharedOptions, environment: &Environment) -> Self {
        let inputs = shared.inputs().located(environment).ok();
        match inputs.and_then(|inputs| secrets_file(&inputs, environment)) {
            Some(path) => Self::file(path, environment),
            None => Self::keyring(),
        }
    }

    pub(super) fn keyring() -> Self {
        Self { keyring: secrets::system(), title: "the keyring".to_owned() }
    }

    pub(super) fn file(path: PathBuf, environment: &Environment) -> Self {
        let title = paths::shown(&path, environment);
        Self { keyring: Arc::new(SecretFile::at(path)), title }
    }
}

async fn set(name: SecretName, place: &SecretPlace, output: &Output) -> anyhow::Result<ExitCode> {
    let asked = name.clone();
    let _terminal = Terminal::kept();
    // Nobody may ever answer, so the waiting thread is one that a signal can leave behind.
    let value = tokio::task::spawn_blocking(move || value_of(&asked)).await?;
    if value.as_ref().err().is_some_and(is_interruption) {
        // Ctrl-C at the prompt also sends the signal, which ends the command.
        return std::future::pending().await;
    }
    let value = value?;
    let stored = secrets::store(&*place.keyring, &name, &value);
    stored.map_err(|error| storing_failed(&error))?;
    output.line(&format!("stored `{name}` in {}", place.title));
    output.line(&format!("  refer to it in `gatefold.toml` as `${{secret:{name}}}`"));
    Ok(ExitCode::SUCCESS)
}

/// Whether somebody pressed Ctrl-C at the prompt.
fn is_interruption(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::Interrupted)
}

fn list(place: &SecretPlace, output: &Output) -> anyhow::Result<ExitCode> {
    let names = place.keyring.names(UNLOCK_DEADLINE).map_err(|error| storing_failed(&error))?;
    let names: Vec<_> = names.iter().map(SecretName::as_str).collect();
    if output.is_json() {
        output.json(&json!({ "secrets": names }));
    } else if names.is_empty() {
        let title = &place.title;
        output
            .line(&format!("{title} has no Gatefold secrets; add one: `gatefold secret set NAME`"));
    } else {
        for name in names {
            output.line(name);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(name: &SecretName, place: &SecretPlace, output: &Output) -> anyhow::Result<ExitCode> {
    place.keyring.remove(name, UNLOCK_DEADLINE).map_err(|error| match error {
        SecretError::Missing(_) | SecretError::NotInFile(..) => {
            failure::with_help(&error, "`gatefold secret list` lists the existing ones")
        }
        other => storing_failed(&other),
    })?;
    output.line(&format!("removed `{name}` from {}", place.title));
    Ok(ExitCode::SUCCESS)
}

fn legal(name: &str) -> anyhow::Result<SecretName> {
    SecretName::parse(name)
        .map_err(|error| failure::usage(format!("{error}\n  help: {}", error.hint(None))))
}

fn storing_failed(error: &SecretError) -> anyhow::Error {
    failure::with_help(error, error.hint(None))
}

/// The value, from a hidden prompt on a terminal, otherwise from standard input. Arguments would
/// show it to every process on the machine, and in the shell's history.
fn value_of(name: &SecretName) -> anyhow::Result<Value> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        let typed = rpassword::prompt_password(format!("value of `{name}` (hidden): "));
        return Ok(Value::new(typed.context("the value could not be read")?));
    }
    let mut bytes = Vec::new();
    // One byte more than allowed, and a line end that is not part of it.
    let limit = VALUE_LIMIT_BYTES as u64 + 3;
    stdin.lock().take(limit).read_to_end(&mut bytes).context("standard input could not be read")?;
    let text = String::from_utf8(bytes)
        .map_err(|_| failure::usage("the secret is not UTF-8\n  help: give it as text"))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(Value::new(line.strip_suffix('\r').unwrap_or(line)))
}
