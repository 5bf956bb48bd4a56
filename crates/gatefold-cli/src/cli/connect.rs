mod report;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gatefold::Environment;
use gatefold::config::{AuthenticationMode, Config, Inputs, ServerConfig, default_state_dir, load};
use gatefold_clients::{Client, ConfigFile, Entry, Launch, Machine, Scope, config_files};
use gatefold_setup::doctor::is_gateway_running;
use gatefold_setup::{
    self as setup, ConnectReport, Connector, Records, RequiredVariables, ServedSources,
    ServerOverlap, WriteMode,
};
use http::uri::Authority;
use serde_json::json;

use self::report::ConnectSummary;
use super::arguments::{Connect, SharedOptions};
use super::output::Output;
use super::prompt::PromptMode;
use super::table::Table;
use super::{failure, import, loopback, paths, session, visible};

/// The port of HTTPS addresses that name none (RFC 9110, section 4.2.2).
const HTTPS_PORT: u16 = 443;

/// Puts Gatefold into clients' files, or shows where it is.
pub(super) async fn run(
    connect: &Connect,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let machine = setup::machine(environment)?;
    if connect.clients.is_empty() {
        let config = shared.inputs().located(environment);
        let config = config.and_then(|inputs| load(&inputs, environment)).unwrap_or_default();
        list(&machine, config.server.listen, environment, output);
        return Ok(ExitCode::SUCCESS);
    }
    let clients = clients(&connect.clients)?;
    if !Entry::is_name(&connect.name) {
        return Err(failure::usage(format!(
            "`{}` cannot name a server\n  help: use letters, digits, `-` and `_`, at most 64",
            visible::on_one_line(&connect.name)
        )));
    }
    let inputs = shared.inputs().located(environment)?;
    let config = load(&inputs, environment)?;
    let connector = connector(shared, &config, environment)?;
    let required = setup::required_variables(&inputs, environment);
    let variables = required.names.clone();
    let launch = launch(connect, shared, &inputs, &config, variables, environment);
    let entry = Entry { name: connect.name.clone(), launch };
    let state_dir = session::state_dir(shared, &config, environment)?;
    let reach = session::reach(&config, &state_dir).await;
    let mut plans = Vec::new();
    for client in clients {
        let file = place(&machine, client, connect.project, environment)?;
        let hands_on = connect.http || client.refers_to_variables();
        let unmet = if hands_on { &RequiredVariables::default() } else { &required };
        let served = ServedSources { config: &config, unmet, reach: &reach, environment };
        let overlap = setup::overlap(&file, &served)?;
        let overlap = if connect.keep { ServerOverlap::default() } else { overlap };
        let result = connector.connect(&file, &entry, &overlap.names, WriteMode::DryRun)?;
        plans.push(Plan {
            client,
            file,
            overlap,
            result,
            is_wanted: true,
            outcome: Outcome::Unwritten,
        });
    }
    let is_dry = connect.caution.dry_run;
    if !is_dry && plans.iter().any(|plan| !plan.result.is_unchanged) {
        let asking = PromptMode::new(&connect.caution, output.is_json())?;
        if !ask(asking, &mut plans, environment)? {
            output.line("nothing was written");
            return Ok(ExitCode::SUCCESS);
        }
    }
    // If one client fails, the report about the others must still be printed.
    for plan in plans.iter_mut().filter(|plan| !is_dry && plan.is_to_be_written()) {
        match connector.connect(&plan.file, &entry, &plan.overlap.names, WriteMode::Write) {
            Ok(result) => plan.result = result,
            Err(error) => {
                plan.outcome = Outcome::Failed(error.to_string());
                continue;
            }
        }
        plan.outcome = unseen(&connector, plan).map_or(Outcome::Written, Outcome::Unseen);
    }
    let is_running = connect.http && is_gateway_running(config.server.listen).await;
    let told = ConnectSummary { connect, shared, entry: &entry, is_running, environment, output };
    told.all(&plans);
    warn_of_tokens(connect, &config, output);
    let is_well = plans.iter().all(|plan| plan.outcome.error().is_none());
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Says what an entry for a running gateway lacks.
fn warn_of_tokens(connect: &Connect, config: &Config, output: &Output) {
    if connect.http && config.server.authentication == Some(AuthenticationMode::Token) {
        output.warning(
            "the gateway requires tokens, and the entry has none: make one with `gatefold token create`, \
             and add the header `Authorization: Bearer gf_...` to the entry",
        );
    }
}

/// The plan for one client.
struct Plan {
    client: Client,
    file: ConfigFile,
    /// Servers that Gatefold serves too.
    overlap: ServerOverlap,
    result: ConnectReport,
    is_wanted: bool,
    outcome: Outcome,
}

/// The outcome for a client's file.
enum Outcome {
    Unwritten,
    Written,
    /// It was written, but it is not as it should be.
    Unseen(String),
    Failed(String),
}

impl Outcome {
    fn error(&self) -> Option<&str> {
        match self {
            Self::Unwritten | Self::Written => None,
            Self::Unseen(error) | Self::Failed(error) => Some(error),
        }
    }

    fn is_written(&self) -> bool {
        matches!(self, Self::Written | Self::Unseen(_))
    }
}

impl Plan {
    fn is_to_be_written(&self) -> bool {
        self.is_wanted && !self.result.is_unchanged
    }

    /// Whether the file lies in the project, where others may have it too. A list for a project in a
    /// user's own file is only the user's.
    fn is_shared(&self) -> bool {
        self.file.scope == Scope::Project
            && self.file.servers.first().is_none_or(|outermost| outermost != "projects")
    }
}

/// The clients of these names, each once.
pub(super) fn clients(names: &[String]) -> anyhow::Result<Vec<Client>> {
    let mut clients = Vec::new();
    for client in import::clients(names)? {
        if !clients.contains(&client) {
            clients.push(client);
        }
    }
    Ok(clients)
}

/// The editor of clients' files. Records are in the user's own state directory; older versions kept
/// them with the rest of the state.
pub(super) fn connector<'a>(
    shared: &SharedOptions,
    config: &Config,
    environment: &'a Environment,
) -> anyhow::Result<Connector<'a>> {
    let records = Records::new(&default_state_dir(environment)?).or(&session::state_dir(
        shared,
        config,
        environment,
    )?);
    Ok(Connector { environment, listen: config.server.listen, records })
}

/// Asks about every file before any is written. False if the person gave up, or wants none.
fn ask(asking: PromptMode, plans: &mut [Plan], environment: &Environment) -> anyhow::Result<bool> {
    for plan in plans.iter_mut().filter(|plan| !plan.result.is_unchanged) {
        let path = paths::shown(&plan.result.path, environment);
        let whose = if plan.is_shared() { ", which others may share" } else { "" };
        let Some(is_wanted) = asking.confirm(&format!("Add Gatefold to {path}{whose}?"))? else {
            return Ok(false);
        };
        plan.is_wanted = is_wanted;
        if !is_wanted || plan.overlap.names.is_empty() {
            continue;
        }
        let Some(goes) = asking.confirm(&format!(
            "Remove {} from {}{}, now that Gatefold serves {}?",
            plan.overlap.names.join(", "),
            plan.client,
            if plan.is_shared() { ", for all who share the file" } else { "" },
            if plan.overlap.names.len() == 1 { "it" } else { "them" },
        ))?
        else {
            return Ok(false);
        };
        if !goes {
            plan.overlap.names.clear();
        }
    }
    Ok(plans.iter().any(Plan::is_to_be_written))
}

/// Reads the client's file again, as its next reader will, and returns what is wrong if it lacks
/// the entry.
fn unseen(connector: &Connector<'_>, plan: &Plan) -> Option<String> {
    match connector.connected(&plan.file) {
        Ok(names) if names.contains(&plan.result.name) => None,
        Ok(_) => Some(format!(
            "{}: was written, but Gatefold is not in it\n  help: look at its entry `{}`",
            plan.result.path.display(),
            plan.result.name
        )),
        Err(error) => Some(error.to_string()),
    }
}

/// The file for a new entry: the first that has servers, otherwise the first of all.
pub(super) fn place(
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

/// What the client should start, or where it should connect.
fn launch(
    connect: &Connect,
    shared: &SharedOptions,
    inputs: &Inputs,
    config: &Config,
    variables: Vec<String>,
    environment: &Environment,
) -> Launch {
    if connect.http {
        return Launch::Http { url: served_url(&config.server) };
    }
    let whole = |path: &PathBuf| environment.directory().join(path).display().to_string();
    let mut args = vec!["stdio".to_owned()];
    let files = inputs.config.iter().map(|path| ("--config", path));
    let files = files.chain(inputs.mcp_configs.iter().map(|path| ("--mcp-config", path)));
    let folders = shared.state_dir.iter().map(|path| ("--state-dir", path));
    for (option, path) in files.chain(folders) {
        args.extend([option.to_owned(), whole(path)]);
    }
    Launch::Stdio { command: own_program(environment), args, variables }
}

/// Where a client on this machine finds the gateway. A certificate is for a name, so there a name
/// that it answers to goes before its address.
fn served_url(server: &ServerConfig) -> String {
    let address = loopback::reachable(server.listen);
    let name = server.public_url.as_ref().and_then(|url| url.url().host_str());
    let name = name.or(server.allowed_hosts.first().map(String::as_str));
    match name.filter(|_| server.tls.is_some()).and_then(|name| name.parse::<Authority>().ok()) {
        Some(name) if address.port() == HTTPS_PORT => format!("https://{}/mcp", name.host()),
        Some(name) => format!("https://{}:{}/mcp", name.host(), address.port()),
        None => loopback::mcp_url(address, server.tls.is_some()),
    }
}

/// This program by its path in `PATH`, which survives an update; otherwise its actual path.
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

/// Names from a file, each on one line.
pub(super) fn shown_names(names: &[String]) -> String {
    names.iter().map(|name| visible::on_one_line(name)).collect::<Vec<_>>().join(", ")
}

/// Every client's files, and what is in them.
fn list(machine: &Machine, listen: SocketAddr, environment: &Environment, output: &Output) {
    let mut table = Table::new(&["client", "file", "servers", "gatefold"]).numbers(&[2]);
    let mut rows = Vec::new();
    for file in setup::existing(machine, &Client::ALL) {
        let servers = setup::servers_of(&file, environment);
        let name = servers.as_ref().ok().and_then(|servers| {
            let ours = servers.iter().find(|server| setup::is_gatefold(server, listen));
            ours.map(|server| server.name.clone())
        });
        let count = servers.as_ref().map(Vec::len).ok();
        if count == Some(0) && file.scope == Scope::Project {
            continue;
        }
        let state = match (&servers, &name) {
            (Err(_), _) => "cannot be read".to_owned(),
            (_, Some(name)) => format!("as `{}`", visible::on_one_line(name)),
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
        output.line("none of the clients that Gatefold knows has a file here");
    } else {
        for line in table.lines(output.style()) {
            output.line(&line);
        }
    }
}
