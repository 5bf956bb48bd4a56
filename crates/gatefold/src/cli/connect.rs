use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gatefold::Environment;
use gatefold::config::{Config, Inputs, default_state_dir, load};
use gatefold::setup::{self, Act, Connected, Disconnected, SetupError};
use gatefold_clients::{Client, ConfigFile, Entry, Launch, Machine, Scope, config_files};
use serde_json::{Value, json};

use super::arguments::{Connect, Disconnect, Shared};
use super::output::Output;
use super::prompt::Asking;
use super::table::Table;
use super::{failure, import, loopback, paths};

/// Puts Gatefold into clients' files, or says where it is.
pub(super) fn run(
    connect: &Connect,
    shared: &Shared,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let machine = setup::machine(environment)?;
    if connect.clients.is_empty() {
        list(&machine, environment, output);
        return Ok(ExitCode::SUCCESS);
    }
    let inputs = shared.inputs().located(environment)?;
    let config = load(&inputs, environment)?;
    let state_dir = state_dir(shared, &config, environment)?;
    let entry = Entry {
        name: connect.name.clone(),
        launch: launch(connect, shared, &inputs, &config, environment),
    };
    let mut done = Vec::new();
    for name in &connect.clients {
        let client = import::client(name)?;
        let file = place(&machine, client, connect.project, environment)?;
        let held = setup::held(&file, &config, environment)?;
        let take_out = if connect.keep { Vec::new() } else { held };
        let act = Act::Try;
        let planned = setup::connect(&file, &entry, &take_out, &state_dir, act)?;
        let connected = if connect.caution.dry_run || planned.is_unchanged {
            planned
        } else {
            let asking = Asking::new(connect.caution.yes || output.is_json())?;
            let take_out =
                if wants_out(asking, client, &take_out)? { take_out } else { Vec::new() };
            setup::connect(&file, &entry, &take_out, &state_dir, Act::Write)?
        };
        if !output.is_json() {
            tell_connected(client, &connected, connect, environment, output);
        }
        done.push(connected_json(client, &connected, connect.caution.dry_run));
    }
    if output.is_json() {
        output.json(&json!({ "connected": done }));
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes Gatefold out of clients' files.
pub(super) fn undo(
    disconnect: &Disconnect,
    shared: &Shared,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let machine = setup::machine(environment)?;
    // A configuration that is broken or gone must not keep anybody from getting out.
    let inputs = shared.inputs().located(environment);
    let config = inputs.and_then(|inputs| load(&inputs, environment)).unwrap_or_default();
    let state_dir = state_dir(shared, &config, environment)?;
    let act = if disconnect.dry_run { Act::Try } else { Act::Write };
    let mut done = Vec::new();
    for name in &disconnect.clients {
        let client = import::client(name)?;
        let file = connected_place(&machine, client, disconnect.project, environment)?;
        let undone = setup::disconnect(&file, &state_dir, environment, act)?;
        if !output.is_json() {
            tell_disconnected(client, &undone, disconnect.dry_run, environment, output);
        }
        done.push(disconnected_json(client, &undone, disconnect.dry_run));
    }
    if output.is_json() {
        output.json(&json!({ "disconnected": done }));
    }
    Ok(ExitCode::SUCCESS)
}

fn state_dir(
    shared: &Shared,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<PathBuf> {
    match shared.state_dir.as_ref().or(config.state_dir.as_ref()) {
        Some(chosen) => Ok(environment.directory().join(chosen)),
        None => Ok(default_state_dir(environment)?),
    }
}

/// The file that a new entry goes into: the first that has servers, else the first of all.
fn place(
    machine: &Machine,
    client: Client,
    in_project: bool,
    environment: &Environment,
) -> anyhow::Result<ConfigFile> {
    let scope = if in_project { Scope::Project } else { Scope::User };
    let mut files = config_files(machine, client);
    files.retain(|file| file.scope == scope);
    let has_servers = |file: &ConfigFile| {
        file.path.exists()
            && setup::servers_of(file, environment).is_ok_and(|servers| !servers.is_empty())
    };
    let at = files.iter().position(has_servers).unwrap_or(0);
    if files.is_empty() {
        return Err(failure::usage(format!(
            "{client} has no configuration for a single project\n  help: leave `--project` out"
        )));
    }
    Ok(files.swap_remove(at))
}

/// The file that Gatefold is in, among all that a client has.
fn connected_place(
    machine: &Machine,
    client: Client,
    in_project: bool,
    environment: &Environment,
) -> anyhow::Result<ConfigFile> {
    let first = place(machine, client, in_project, environment)?;
    let scope = first.scope;
    let mut files = config_files(machine, client).into_iter().filter(|file| file.scope == scope);
    let holds = |file: &ConfigFile| matches!(setup::connected(file, environment), Ok(Some(_)));
    Ok(files.find(holds).unwrap_or(first))
}

/// What the client is to start, or where it is to connect.
fn launch(
    connect: &Connect,
    shared: &Shared,
    inputs: &Inputs,
    config: &Config,
    environment: &Environment,
) -> Launch {
    if connect.http {
        let address = loopback::reachable(config.server.listen);
        return Launch::Http { url: format!("http://{address}/mcp") };
    }
    let whole = |path: &PathBuf| environment.directory().join(path).display().to_string();
    let mut args = vec!["stdio".to_owned()];
    let files = inputs.config.iter().map(|path| ("--config", path));
    let files = files.chain(inputs.mcp_configs.iter().map(|path| ("--mcp-config", path)));
    let folders = shared.state_dir.iter().map(|path| ("--state-dir", path));
    for (option, path) in files.chain(folders) {
        args.extend([option.to_owned(), whole(path)]);
    }
    Launch::Stdio { command: own_program(environment), args }
}

/// This program as `PATH` has it, since that path survives an update; else where it lies.
fn own_program(environment: &Environment) -> String {
    let Ok(own) = std::env::current_exe() else {
        return "gatefold".to_owned();
    };
    let real = |path: &Path| fs::canonicalize(path).ok();
    let folders = environment.get("PATH").unwrap_or_default();
    let named = std::env::split_paths(folders).map(|folder| folder.join("gatefold"));
    let mut absolute = named.filter(|path| path.is_absolute());
    let found = absolute.find(|path| real(path).is_some() && real(path) == real(&own));
    found.unwrap_or(own).display().to_string()
}

fn wants_out(asking: Asking, client: Client, held: &[String]) -> anyhow::Result<bool> {
    if held.is_empty() {
        return Ok(true);
    }
    asking.confirm(&format!(
        "{client} starts {} itself, which Gatefold offers too. Take {} out of its file?",
        held.join(", "),
        if held.len() == 1 { "it" } else { "them" },
    ))
}

fn tell_connected(
    client: Client,
    connected: &Connected,
    connect: &Connect,
    environment: &Environment,
    output: &Output,
) {
    let paint = output.style();
    let path = paths::shown(&connected.path, environment);
    let taken = match connected.taken_out.as_slice() {
        [] => String::new(),
        names => format!(", {} taken out", names.join(", ")),
    };
    let name = &connected.name;
    if connected.is_unchanged {
        output.line(&format!("{client} has `{name}` in {path} already"));
    } else if connect.caution.dry_run {
        output.line(&format!("would put `{name}` into {path}{taken}"));
    } else {
        output.line(&format!("{} {client}: `{name}` is in {path}{taken}", paint.good("connected")));
        output.line(&format!("restart {client}, or have it read its servers again"));
        let project = if connect.project { " --project" } else { "" };
        let undo = format!("undo with `gatefold disconnect {}{project}`", client.id());
        output.line(&paint.faint(&undo));
    }
}

fn connected_json(client: Client, connected: &Connected, is_dry: bool) -> Value {
    json!({
        "client": client.id(),
        "file": connected.path,
        "name": connected.name,
        "taken_out": connected.taken_out,
        "written": !is_dry && !connected.is_unchanged,
        "backup": connected.backup,
    })
}

fn tell_disconnected(
    client: Client,
    undone: &Disconnected,
    is_dry: bool,
    environment: &Environment,
    output: &Output,
) {
    let paint = output.style();
    let path = paths::shown(&undone.path, environment);
    let how = match (undone.is_removed, undone.is_exact) {
        (true, _) => "is gone, as before",
        (false, true) => "is what it was before, to the byte",
        (false, false) => "has its own servers again; what was changed in it since stays",
    };
    let act = if is_dry { "would disconnect".to_owned() } else { paint.good("disconnected") };
    output.line(&format!("{act} {client}: {path} {how}"));
    if let Some(backup) = &undone.backup {
        output.line(&format!(
            "not put back, because others of their names are there: {}",
            undone.not_restored.join(", ")
        ));
        output.line(&format!("the file as it was is kept in {}", backup.display()));
    }
}

fn disconnected_json(client: Client, undone: &Disconnected, is_dry: bool) -> Value {
    json!({
        "client": client.id(),
        "file": undone.path,
        "exact": undone.is_exact,
        "removed": undone.is_removed,
        "not_restored": undone.not_restored,
        "written": !is_dry,
        "backup": undone.backup,
    })
}

/// Every client's files, with what is in them.
fn list(machine: &Machine, environment: &Environment, output: &Output) {
    let mut table = Table::new(&["client", "file", "servers", "gatefold"]).numbers(&[2]);
    let mut rows = Vec::new();
    let places = Client::ALL.iter().flat_map(|client| config_files(machine, *client));
    for file in places {
        if !file.path.exists() {
            continue;
        }
        let servers = setup::servers_of(&file, environment);
        let name = servers.as_ref().ok().and_then(|servers| {
            servers.iter().find(|server| setup::is_gatefold(server)).map(|s| s.name.clone())
        });
        let count = servers.as_ref().map(Vec::len).ok();
        if count == Some(0) && file.scope == Scope::Project {
            continue;
        }
        let state = match (&servers, &name) {
            (Err(_), _) => "cannot be read".to_owned(),
            (_, Some(name)) => format!("as `{name}`"),
            (_, None) => "no".to_owned(),
        };
        table.row([
            file.client.id().to_owned(),
            paths::shown(&file.path, environment),
            count.map(|count| count.to_string()).unwrap_or_default(),
            state,
        ]);
        rows.push(json!({
            "client": file.client.id(),
            "file": file.path,
            "servers": count,
            "gatefold": name,
            "error": servers.err().map(|error| error.to_string()),
        }));
    }
    if output.is_json() {
        output.json(&json!({ "clients": rows }));
    } else if rows.is_empty() {
        output.line("no client of those that Gatefold knows has a file here");
    } else {
        for line in table.lines(output.style()) {
            output.line(&line);
        }
    }
}

/// An error of a set-up that the command line or a file is to blame for is the user's to mend.
pub(super) fn is_usage(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<SetupError>(),
        Some(SetupError::Config(_) | SetupError::NoHome | SetupError::NotAppendable { .. })
    )
}
