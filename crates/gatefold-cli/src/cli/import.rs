mod destination;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gatefold::Environment;
use gatefold::secrets::SecretError;
use gatefold_clients::{Client, Machine, Scope, config_files};
use gatefold_setup::{
    self as setup, FailedImport, ImportFault, ImportPlan, PlannedSource, SecretStyle,
};

use self::destination::SecretDestination;
use super::arguments::{Import, SecretsFile, SharedOptions};
use super::output::Output;
use super::prompt::PromptMode;
use super::{failure, paths, visible};

/// Reads clients' files, shows the servers in them, asks, and writes sources.
pub(super) fn run(
    import: &Import,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let (names, secrets_file) = client_or_file(import);
    let clients = clients(&names)?;
    let machine = setup::machine(environment)?;
    let found = setup::find(&machine, &clients, environment);
    if found.is_empty() {
        return Err(nothing_found(&machine, &clients, environment));
    }
    let asking = PromptMode::new(&import.caution, output.is_json())?;
    let target = target(shared, environment)?;
    let existing = setup::read(&target)?;
    let destination =
        SecretDestination::chosen(import.secrets, secrets_file.as_ref(), &target, environment)?;
    let environment = &destination.environment(environment);
    let style = destination.style();
    let mut plan = setup::plan(&found, existing.as_deref(), style, environment);
    plan.secrets_file = destination.new_key();
    only(&mut plan, import, asking)?;
    if !output.is_json() {
        report::show(&found, &plan, environment, output);
        // If secrets become variables without a question, they are listed with their values'
        // places.
        if asking == PromptMode::Person || import.caution.dry_run || style == SecretStyle::Keyring {
            report::secrets(&plan, &destination.whither(environment), output);
        }
    }
    let is_dry = import.caution.dry_run || plan.sources.is_empty();
    if !is_dry && !ask(&mut plan, import, asking, &target, environment)? {
        output.line("nothing was written");
        return Ok(ExitCode::SUCCESS);
    }
    let text = setup::append(existing.as_deref(), &plan, &target)?;
    let added = text.strip_prefix(existing.as_deref().unwrap_or_default()).unwrap_or(&text);
    if !is_dry {
        let write = || setup::write(&target, existing.as_deref(), &text);
        match destination.place(environment) {
            Some(place) => setup::keep(&plan.secrets, &*place.keyring, write)
                .map_err(|failed| unwritten(failed, &place.title))?,
            None => write()?,
        }
    }
    if output.is_json() {
        output.json(&report::as_json(&found, &plan, &target, environment, is_dry));
    } else if import.caution.dry_run && !plan.sources.is_empty() {
        output.line(&format!("would write to {}:\n", paths::shown(&target, environment)));
        output.line(added.trim_matches('\n'));
    } else {
        report::told(&plan, &target, added, environment, output);
    }
    let is_whole = found.iter().all(|file| file.servers.is_ok());
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The clients' names, and the file of secrets. A client's name after `--secrets-file` counts as a
/// client, not as the option's value: a file of that name has to be written `./cursor`.
fn client_or_file(import: &Import) -> (Vec<String>, Option<SecretsFile>) {
    let mut names = import.clients.clone();
    match &import.secrets_file {
        Some(SecretsFile::Named(path)) if path.to_str().and_then(Client::parse).is_some() => {
            names.push(path.display().to_string());
            (names, Some(SecretsFile::Usual))
        }
        file => (names, file.clone()),
    }
}

/// The clients of these names, or all.
pub(super) fn clients(names: &[String]) -> anyhow::Result<Vec<Client>> {
    if names.is_empty() {
        return Ok(Client::ALL.to_vec());
    }
    names.iter().map(|name| client(name)).collect()
}

/// The client of this name.
pub(super) fn client(name: &str) -> anyhow::Result<Client> {
    Client::parse(name).ok_or_else(|| {
        let ids = Client::ALL.map(|client| format!("`{}`", client.id())).join(", ");
        failure::usage(format!("there is no client `{name}`\n  help: use one of {ids}"))
    })
}

fn nothing_found(
    machine: &Machine,
    clients: &[Client],
    environment: &Environment,
) -> anyhow::Error {
    let files = clients.iter().flat_map(|client| config_files(machine, *client));
    let mut paths: Vec<_> = files.map(|file| paths::shown(&file.path, environment)).collect();
    paths.sort();
    paths.dedup();
    failure::with_help(
        format!("no MCP servers found, in none of these files:\n  {}", paths.join("\n  ")),
        "pass a client's file as it is: `gatefold serve --mcp-config FILE`, or write a configuration: \
         `gatefold init`",
    )
}

/// The file to write sources to: the command line's, otherwise the user's own configuration.
fn target(shared: &SharedOptions, environment: &Environment) -> anyhow::Result<PathBuf> {
    match &shared.config {
        Some(chosen) => Ok(environment.directory().join(chosen)),
        None => Ok(setup::user_config_file(environment)?),
    }
}

/// Keeps the servers that the command line asks for. A person decides about a project's.
fn only(plan: &mut ImportPlan, import: &Import, asking: PromptMode) -> anyhow::Result<()> {
    let names = &import.only;
    let is_called =
        |one: &PlannedSource, name: &String| *name == one.key || *name == one.server.name;
    let is_known = |name: &&String| plan.sources.iter().any(|one| is_called(one, name));
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        let keys: Vec<_> = plan.sources.iter().map(|source| format!("`{}`", source.key)).collect();
        let help = if keys.is_empty() {
            "there is nothing new to import".to_owned()
        } else {
            format!("use one of {}", keys.join(", "))
        };
        return Err(failure::usage(format!(
            "no server `{unknown}` can be imported\n  help: {help}"
        )));
    }
    let is_named = |one: &PlannedSource| names.iter().any(|name| is_called(one, name));
    if !names.is_empty() {
        plan.retain(is_named);
    } else if !import.project && asking == PromptMode::Yes {
        plan.leave_projects(is_named);
    }
    Ok(())
}

/// Asks which servers to take. False if none are wanted.
fn ask(
    plan: &mut ImportPlan,
    import: &Import,
    asking: PromptMode,
    target: &Path,
    environment: &Environment,
) -> anyhow::Result<bool> {
    let item = |one: &PlannedSource| {
        let whose = if one.scope == Scope::Project { ", of this project" } else { "" };
        visible::on_one_line(&format!("{}  ({}{whose})", one.key, one.client))
    };
    let items: Vec<_> = plan.sources.iter().map(item).collect();
    // A project may be anybody's, so its servers are imported only on request.
    let is_named = import.project || !import.only.is_empty();
    let is_ticked = |at: &usize| is_named || plan.sources[*at].scope == Scope::User;
    let ticked = (0..plan.sources.len()).filter(is_ticked).collect();
    let question = "Which servers should become sources?";
    let Some(chosen) = asking.choose(question, items, ticked)? else {
        return Ok(false);
    };
    let keys: Vec<_> = chosen.iter().map(|at| plan.sources[*at].key.clone()).collect();
    plan.retain(|one| keys.contains(&one.key));
    if plan.sources.is_empty() {
        return Ok(false);
    }
    let s = if plan.sources.len() == 1 { "" } else { "s" };
    let path = paths::shown(target, environment);
    let question = format!("Write {} source{s} to {path}?", plan.sources.len());
    Ok(asking.confirm(&question)? == Some(true))
}

/// `title` names where the secrets are stored.
fn unwritten(FailedImport { fault, left }: FailedImport, title: &str) -> anyhow::Error {
    let error = match fault {
        ImportFault::NameTaken(name) => failure::with_help(
            format!("{title} already has a different secret `{name}`; nothing was written"),
            format!("import again, or remove it: `gatefold secret remove {name}`"),
        ),
        ImportFault::NotStored(name, error) => storing_failed(&name, &error),
        ImportFault::NotWritten(error) => error.into(),
    };
    if left.is_empty() {
        return error;
    }
    let left: Vec<_> = left.iter().map(|name| format!("`gatefold secret remove {name}`")).collect();
    let also = format!("these secrets are still in {title}: {}", left.join(", "));
    anyhow::anyhow!("{error}; {also}")
}

fn storing_failed(name: &str, error: &SecretError) -> anyhow::Error {
    let help = match error {
        SecretError::NoKeyring(_) => {
            "import with `--secrets-file`, or with `--secrets variables`".to_owned()
        }
        SecretError::Refused | SecretError::Slow(_) | SecretError::Failed(_) => {
            format!("{}, or import with `--secrets variables`", error.hint(None))
        }
        _ => format!("import without that server, or keep it as a variable: {}", error.hint(None)),
    };
    let fault = format!("the secret `{name}` could not be stored: {error}; no source was written");
    failure::with_help(fault, help)
}
