use std::process::ExitCode;

use gatefold::Environment;
use gatefold::config::load;
use gatefold::setup::{self, Act, Connector, Disconnected, Unrecorded};
use gatefold_clients::{Client, ConfigFile, Machine, config_files};
use serde_json::{Value, json};

use super::arguments::{Disconnect, Shared};
use super::connect::{clients, connector, place, shown_names};
use super::output::Output;
use super::paths;

/// Takes Gatefold out of clients' files.
pub(super) fn run(
    disconnect: &Disconnect,
    shared: &Shared,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let clients = clients(&disconnect.clients)?;
    let machine = setup::machine(environment)?;
    // A configuration that is broken or gone must not keep anybody from getting out.
    let inputs = shared.inputs().located(environment);
    let config = inputs.and_then(|inputs| load(&inputs, environment)).unwrap_or_default();
    let connector = connector(shared, &config, environment)?;
    let unrecorded = if disconnect.force { Unrecorded::TakeOut } else { Unrecorded::Refuse };
    let mut files = Vec::new();
    for client in clients {
        let file = connected_place(&connector, &machine, client, disconnect.project)?;
        connector.disconnect(&file, unrecorded, Act::Try)?;
        files.push(file);
    }
    let act = if disconnect.dry_run { Act::Try } else { Act::Write };
    let mut is_well = true;
    let mut done = Vec::new();
    for file in files {
        let undone = connector.disconnect(&file, unrecorded, act)?;
        if !output.is_json() {
            tell(file.client, &undone, disconnect.dry_run, environment, output);
        }
        if act == Act::Write {
            is_well &= is_gone(&connector, &file, &undone, output)?;
        }
        done.push(as_json(file.client, &undone, disconnect.dry_run));
    }
    if output.is_json() {
        output.json(&json!({ "disconnected": done }));
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The file that Gatefold is in, or was, among all that a client has.
fn connected_place(
    connector: &Connector<'_>,
    machine: &Machine,
    client: Client,
    in_project: bool,
) -> anyhow::Result<ConfigFile> {
    let first = place(machine, client, in_project, connector.environment)?;
    let mut files = config_files(machine, client);
    files.retain(|file| file.scope == first.scope);
    let holds = |file: &&ConfigFile| connector.connected(file).is_ok_and(|names| !names.is_empty());
    let is_recorded = |file: &&ConfigFile| connector.records.has(file);
    let found = files.iter().find(holds).or_else(|| files.iter().find(is_recorded));
    Ok(found.cloned().unwrap_or(first))
}

/// Looks whether another entry leads to Gatefold still, and is not one that `connect` replaced.
fn is_gone(
    connector: &Connector<'_>,
    file: &ConfigFile,
    undone: &Disconnected,
    output: &Output,
) -> anyhow::Result<bool> {
    let mut left = connector.connected(file)?;
    left.retain(|name| !undone.restored.contains(name));
    if !left.is_empty() {
        output.complain(&format!(
            "{}: another entry still leads to Gatefold: {}\n  help: `gatefold disconnect {} --force` \
             takes it out",
            file.path.display(),
            shown_names(&left),
            file.client.id()
        ));
    }
    Ok(left.is_empty())
}

fn tell(
    client: Client,
    undone: &Disconnected,
    is_dry: bool,
    environment: &Environment,
    output: &Output,
) {
    let paint = output.style();
    let path = paths::shown(&undone.path, environment);
    let act = if is_dry { "would disconnect".to_owned() } else { paint.good("disconnected") };
    output.line(&format!("{act} {client}: {path}"));
    let how = if !undone.is_recorded {
        "the entry alone; servers that were taken out for it before are not restored"
    } else if undone.is_removed {
        "the file is gone, as before"
    } else if undone.is_exact {
        "the file is what it was before, to the byte"
    } else {
        "the file has its own servers again; what was changed in it since stays"
    };
    output.paragraph("  ", how);
    if let Some(backup) = &undone.backup {
        let names = shown_names(&undone.not_restored);
        let why = "not put back, because others of their names are there";
        output.paragraph("  ", &format!("{why}: {names}"));
        output.line(&format!("  the file as it was is kept in {}", backup.display()));
    }
}

fn as_json(client: Client, undone: &Disconnected, is_dry: bool) -> Value {
    json!({
        "client": client.id(),
        "file": undone.path,
        "exact": undone.is_exact,
        "removed": undone.is_removed,
        "recorded": undone.is_recorded,
        "not_restored": undone.not_restored,
        "written": !is_dry,
        "backup": undone.backup,
    })
}
