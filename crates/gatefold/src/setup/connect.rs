//! Gatefold in a client's file, and out of it again.

use std::path::{Path, PathBuf};

use gatefold_clients::{ConfigFile, EditError, Entry};

use super::found::is_gatefold;
use super::{SetupError, files, servers_of, undo};
use crate::Environment;
use crate::config::{Config, ConfigError, Connection, servers_put_in};

/// What `connect` did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected {
    pub path: PathBuf,
    /// The name of the entry.
    pub name: String,
    /// Servers that were taken out.
    pub taken_out: Vec<String>,
    /// Whether the file says the same as before.
    pub is_unchanged: bool,
    /// Where the file as it was is kept.
    pub backup: PathBuf,
}

/// What `disconnect` did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disconnected {
    pub path: PathBuf,
    /// Whether the file is to the byte what it was before `connect`.
    pub is_exact: bool,
    /// Whether the file is gone, as it was before.
    pub is_removed: bool,
    /// Servers that could not be put back, because others of their names are there now.
    pub not_restored: Vec<String>,
    /// Where the file as it was is kept on, when something could not be put back.
    pub backup: Option<PathBuf>,
}

/// Whether to write, or only to find out what would be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Write,
    Try,
}

/// Puts `entry` into a client's file and takes `take_out` out of it. What is needed for the way
/// back is kept in the state directory before the file is written. Connecting again changes the
/// entry, and the way back still leads to the beginning.
pub fn connect(
    file: &ConfigFile,
    entry: &Entry,
    take_out: &[String],
    state_dir: &Path,
    act: Act,
) -> Result<Connected, SetupError> {
    let edit = |error| SetupError::Edit { path: file.path.clone(), error };
    let now = files::read(&file.path)?;
    let before = undo::load(state_dir, file)?;
    let again = match (&before, &now) {
        (Some(before), Some(now)) => Some(again(file, now, before, take_out).map_err(edit)?),
        _ => None,
    };
    let (start, take_out) = again.unwrap_or_else(|| (now.clone(), take_out.to_vec()));
    let change =
        gatefold_clients::connect(file, start.as_deref(), entry, &take_out).map_err(edit)?;
    let connected = Connected {
        path: file.path.clone(),
        name: entry.name.clone(),
        taken_out: change.undo.taken().map(str::to_owned).collect(),
        is_unchanged: now.as_deref() == Some(change.text.as_str()),
        backup: undo::path(state_dir, file),
    };
    if act == Act::Write && !connected.is_unchanged {
        undo::save(state_dir, file, &change.undo)?;
        let written = files::replace(&file.path, now.as_deref(), Some(&change.text));
        if written.is_err() {
            // The file is as it was, so the way back has to be as well.
            match &before {
                Some(before) => undo::save(state_dir, file, before)?,
                None => undo::forget(state_dir, file)?,
            }
        }
        written?;
    }
    Ok(connected)
}

/// The file as it would be without the connection there is, and what is to be taken out of it
/// then: what is out already stays out.
fn again(
    file: &ConfigFile,
    now: &str,
    before: &gatefold_clients::Undo,
    take_out: &[String],
) -> Result<(Option<String>, Vec<String>), EditError> {
    let undone = gatefold_clients::disconnect(file, now, before)?;
    let mut names: Vec<_> = before.taken().map(str::to_owned).collect();
    names.retain(|name| !undone.not_restored.contains(name));
    names.extend(take_out.iter().filter(|name| !before.taken().any(|old| old == *name)).cloned());
    Ok((undone.text, names))
}

/// Takes Gatefold out of a client's file and puts back what `connect` took out.
pub fn disconnect(
    file: &ConfigFile,
    state_dir: &Path,
    environment: &Environment,
    act: Act,
) -> Result<Disconnected, SetupError> {
    let edit = |error| SetupError::Edit { path: file.path.clone(), error };
    let not_connected = || SetupError::NotConnected { path: file.path.clone() };
    let before = undo::load(state_dir, file)?;
    let Some(now) = files::read(&file.path)? else {
        // Somebody removed the file; there is nothing to come back from.
        undo::forget(state_dir, file)?;
        return Err(not_connected());
    };
    let undone = if let Some(before) = &before {
        gatefold_clients::disconnect(file, &now, before).map_err(edit)?
    } else {
        let name = connected(file, environment)?.ok_or_else(not_connected)?;
        let text = gatefold_clients::remove(file, &now, &name).map_err(edit)?;
        gatefold_clients::Undone { text: Some(text), is_exact: false, not_restored: Vec::new() }
    };
    let keeps_backup = before.is_some() && !undone.not_restored.is_empty();
    if act == Act::Write {
        files::replace(&file.path, Some(&now), undone.text.as_deref())?;
        if !keeps_backup {
            undo::forget(state_dir, file)?;
        }
    }
    Ok(Disconnected {
        path: file.path.clone(),
        is_exact: undone.is_exact,
        is_removed: undone.text.is_none(),
        not_restored: undone.not_restored,
        backup: keeps_backup.then(|| undo::path(state_dir, file)),
    })
}

/// The name under which a client's file has Gatefold, if it has.
pub fn connected(
    file: &ConfigFile,
    environment: &Environment,
) -> Result<Option<String>, ConfigError> {
    if !file.path.exists() {
        return Ok(None);
    }
    let servers = servers_of(file, environment)?;
    Ok(servers.into_iter().find(is_gatefold).map(|server| server.name))
}

/// Names of the servers in a client's file that are sources of this configuration as well: same
/// program and arguments, or same address.
pub fn held(
    file: &ConfigFile,
    config: &Config,
    environment: &Environment,
) -> Result<Vec<String>, ConfigError> {
    if !file.path.exists() {
        return Ok(Vec::new());
    }
    let servers = servers_put_in(&file.path, &file.servers, environment)?;
    let is_source = |connection: &Connection| {
        config.sources.iter().any(|source| reaches_the_same(&source.connection, connection))
    };
    let held = servers.into_iter().filter(|server| is_source(&server.connection));
    Ok(held.map(|server| server.name).collect())
}

fn reaches_the_same(one: &Connection, other: &Connection) -> bool {
    match (one, other) {
        (
            Connection::Stdio { command, args, .. },
            Connection::Stdio { command: other, args: others, .. },
        ) => command == other && args == others,
        (Connection::Http { url, .. }, Connection::Http { url: other, .. }) => url == other,
        _ => false,
    }
}
