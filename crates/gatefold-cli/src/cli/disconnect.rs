use std::path::Path;
use std::process::ExitCode;

use gatefold::Environment;
use gatefold::config::load;
use gatefold_clients::{Client, ConfigFile, Machine, Scope, config_files};
use gatefold_setup::{
    self as setup, Connector, DisconnectReport, SetupError, UnrecordedEntry, WriteMode,
};
use serde_json::{Value, json};

use super::arguments::{Disconnect, SharedOptions};
use super::connect::{clients, connector, place, shown_names};
use super::output::Output;
use super::paths;

/// Takes Gatefold out of clients' files.
pub(super) fn run(
    disconnect: &Disconnect,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let clients = clients(&disconnect.clients)?;
    let machine = setup::machine(environment)?;
    // Removing Gatefold must work even with a broken or missing configuration.
    let inputs = shared.inputs().located(environment);
    let config = inputs.and_then(|inputs| load(&inputs, environment)).unwrap_or_default();
    let connector = connector(shared, &config, environment)?;
    let unrecorded =
        if disconnect.force { UnrecordedEntry::TakeOut } else { UnrecordedEntry::Refuse };
    let mut places = Vec::new();
    for client in clients {
        for file in connected_places(&connector, &machine, client, disconnect.project)? {
            let planned = connector.disconnect(&file, unrecorded, WriteMode::DryRun)?;
            places.push((file, planned));
        }
    }
    let is_dry = disconnect.dry_run;
    let mode = if is_dry { WriteMode::DryRun } else { WriteMode::Write };
    let mut is_well = true;
    let mut done = Vec::new();
    // If one client fails, the report about the others must still be printed.
    for (file, planned) in places {
        let undone = connector.disconnect(&file, unrecorded, mode);
        let error = match &undone {
            Ok(_) if is_dry => None,
            Ok(undone) => left(&connector, &file, undone),
            Err(error) => Some(error.to_string()),
        };
        if !output.is_json() {
            tell(
                file.client,
                undone.as_ref().map_err(|_| &*planned.path),
                is_dry,
                environment,
                output,
            );
            if let Some(error) = &error {
                output.error(error);
            }
        }
        is_well &= error.is_none();
        let is_written = !is_dry && undone.is_ok();
        done.push(as_json(
            file.client,
            undone.as_ref().unwrap_or(&planned),
            is_written,
            error.as_deref(),
        ));
    }
    if output.is_json() {
        output.json(&json!({ "disconnected": done }));
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The client's files in this scope that have or had Gatefold. At least one file, so that the
/// report can say why there is nothing to undo.
fn connected_places(
    connector: &Connector<'_>,
    machine: &Machine,
    client: Client,
    in_project: bool,
) -> anyhow::Result<Vec<ConfigFile>> {
    let first = place(machine, client, in_project, connector.environment)?;
    let mut files = config_files(machine, client);
    files.retain(|file| file.scope == first.scope);
    let is_recorded = |file: &ConfigFile| connector.records.has(file);
    let recorded = files.iter().find(|file| is_recorded(file)).cloned();
    files.retain(|file| {
        let holds = connector.connected(file).is_ok_and(|names| !names.is_empty());
        holds || is_recorded(file) && !is_undone(connector, file)
    });
    if files.is_empty() {
        files.push(recorded.unwrap_or(first));
    }
    Ok(files)
}

/// Whether somebody has already undone a recorded edit.
fn is_undone(connector: &Connector<'_>, file: &ConfigFile) -> bool {
    let tried = connector.disconnect(file, UnrecordedEntry::Refuse, WriteMode::DryRun);
    matches!(tried, Err(SetupError::NotConnected { .. }))
}

/// The problem if another entry still leads to Gatefold, unless `connect` had replaced it.
fn left(connector: &Connector<'_>, file: &ConfigFile, undone: &DisconnectReport) -> Option<String> {
    let mut left = match connector.connected(file) {
        Ok(left) => left,
        Err(error) => return Some(error.to_string()),
    };
    left.retain(|name| !undone.restored.contains(name));
    if left.is_empty() {
        return None;
    }
    let project = if file.scope == Scope::Project { " --project" } else { "" };
    Some(format!(
        "{}: another entry still leads to Gatefold: {}\n  help: `gatefold disconnect {}{project} \
         --force` removes it",
        file.path.display(),
        shown_names(&left),
        file.client.id()
    ))
}

fn tell(
    client: Client,
    undone: Result<&DisconnectReport, &Path>,
    is_dry: bool,
    environment: &Environment,
    output: &Output,
) {
    let paint = output.style();
    let undone = match undone {
        Ok(undone) => undone,
        Err(path) => {
            let path = paths::shown(path, environment);
            output.line(&format!("{} {client}: {path}", paint.bad("did not disconnect")));
            return;
        }
    };
    let path = paths::shown(&undone.path, environment);
    let act = if is_dry { "would disconnect".to_owned() } else { paint.good("disconnected") };
    output.line(&format!("{act} {client}: {path}"));
    let how = if !undone.is_recorded {
        "only the entry; servers that were removed for it earlier are not restored"
    } else if undone.is_removed {
        "the file is gone again, as before"
    } else if undone.is_exact {
        "the file is what it was before, byte for byte"
    } else {
        "the file has its own servers again; later changes to it are kept"
    };
    output.paragraph("  ", how);
    if let Some(backup) = &undone.backup {
        let names = shown_names(&undone.not_restored);
        let why = "not put back, because the file has other servers of these names";
        output.paragraph("  ", &format!("{why}: {names}"));
        output.line(&format!("  the original file is kept in {}", backup.display()));
    }
}

fn as_json(
    client: Client,
    undone: &DisconnectReport,
    is_written: bool,
    error: Option<&str>,
) -> Value {
    json!({
        "client": client.id(),
        "file": undone.path,
        "exact": undone.is_exact,
        "removed": undone.is_removed,
        "recorded": undone.is_recorded,
        "not_restored": undone.not_restored,
        "written": is_written,
        "backup": undone.backup,
        "error": error,
    })
}
