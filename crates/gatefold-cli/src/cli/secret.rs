//! `gatefold secret`: secrets in the keyring, for configurations.

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;

use anyhow::Context as _;
use gatefold::secrets::{SecretError, SecretName, VALUE_LIMIT_BYTES};
use gatefold_core::Secret as Value;
use gatefold_setup::secrets;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use serde_json::json;

use super::arguments::Secret;
use super::output::Output;
use super::{failure, stop};

pub(super) async fn run(secret: &Secret, output: &Output) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        match secret {
            Secret::Set { name } => set(legal(name)?, output).await,
            Secret::List { .. } => list(output),
            Secret::Remove { name } => remove(&legal(name)?, output),
        }
    })
    .await
}

async fn set(name: SecretName, output: &Output) -> anyhow::Result<ExitCode> {
    let asked = name.clone();
    let _terminal = Terminal::kept();
    // Nobody may ever answer, so the waiting thread is one that a signal can leave behind.
    let value = tokio::task::spawn_blocking(move || value_of(&asked)).await?;
    if value.as_ref().err().is_some_and(is_interruption) {
        // Ctrl-C at the prompt also sends the signal, which ends the command.
        return std::future::pending().await;
    }
    let value = value?;
    let stored = secrets::store(&name, &value);
    stored.map_err(|error| storing_failed(&error))?;
    output.line(&format!("stored `{name}` in the keyring"));
    output.line(&format!("  refer to it in `gatefold.toml` as `${{secret:{name}}}`"));
    Ok(ExitCode::SUCCESS)
}

/// The terminal's settings before a prompt hides what is typed. Dropping it restores them and
/// discards unread input, because the background reader may never return. If that reader restores
/// the settings later, they are the same.
struct Terminal(Option<Termios>);

impl Terminal {
    fn kept() -> Self {
        Self(tcgetattr(std::io::stdin()).ok())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, before);
        }
    }
}

/// Whether somebody pressed Ctrl-C at the prompt.
fn is_interruption(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::Interrupted)
}

fn list(output: &Output) -> anyhow::Result<ExitCode> {
    let names = secrets::names().map_err(|error| storing_failed(&error))?;
    let names: Vec<_> = names.iter().map(SecretName::as_str).collect();
    if output.is_json() {
        output.json(&json!({ "secrets": names }));
    } else if names.is_empty() {
        output.line("the keyring has no Gatefold secrets; add one: `gatefold secret set NAME`");
    } else {
        for name in names {
            output.line(name);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(name: &SecretName, output: &Output) -> anyhow::Result<ExitCode> {
    secrets::remove(name).map_err(|error| match error {
        SecretError::Missing(_) => {
            failure::with_help(&error, "`gatefold secret list` lists the existing ones")
        }
        other => storing_failed(&other),
    })?;
    output.line(&format!("removed `{name}` from the keyring"));
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
