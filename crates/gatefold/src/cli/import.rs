use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use gatefold::config::Connection;
use gatefold::setup::{self, FoundFile, Plan, Planned, SecretStyle, Skipped, Why};
use gatefold::{Environment, secrets};
use gatefold_clients::{Client, Scope};
use serde_json::{Value, json};

use super::arguments::{Import, SecretsTo, Shared};
use super::output::Output;
use super::prompt::Asking;
use super::table::Table;
use super::{failure, paths};

/// Reads clients' files, shows what is in them, asks, and writes sources.
pub(super) fn run(
    import: &Import,
    shared: &Shared,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let clients = clients(&import.clients)?;
    let machine = setup::machine(environment)?;
    let found = setup::find(&machine, &clients, environment);
    if found.is_empty() {
        return Err(nothing_found(&clients));
    }
    let target = target(shared, environment)?;
    let existing = setup::read(&target)?;
    let style = style(import.secrets);
    let mut plan = setup::plan(&found, existing.as_deref(), style, environment);
    only(&mut plan, &import.only)?;
    if !output.is_json() {
        show(&found, &plan, style, environment, output);
    }
    let is_dry = import.caution.dry_run || plan.sources.is_empty();
    if !is_dry
        && !ask(
            &mut plan,
            Asking::new(import.caution.yes || output.is_json())?,
            &target,
            environment,
        )?
    {
        output.line("nothing was written");
        return Ok(ExitCode::SUCCESS);
    }
    let text = setup::append(existing.as_deref(), &plan, &target)?;
    let added = text.strip_prefix(existing.as_deref().unwrap_or_default()).unwrap_or(&text);
    if !is_dry {
        keep(&plan, style)?;
        setup::write(&target, existing.as_deref(), &text)?;
    }
    if output.is_json() {
        output.json(&as_json(&found, &plan, &target, is_dry));
    } else if import.caution.dry_run {
        output.line(&format!("\nwould write to {}:\n", paths::shown(&target, environment)));
        output.line(added.trim_matches('\n'));
    } else {
        told(&plan, &target, added, environment, output);
    }
    let is_whole = found.iter().all(|file| file.servers.is_ok());
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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

fn nothing_found(clients: &[Client]) -> anyhow::Error {
    let titles: Vec<_> = clients.iter().map(|client| client.title()).collect();
    failure::with_help(
        format!("no MCP servers found in the files of {}", titles.join(", ")),
        "pass a client's file as it is: `gatefold serve --mcp-config FILE`, or write a configuration: \
         `gatefold init`",
    )
}

/// Where sources are written: where the command line says, else the user's own configuration.
fn target(shared: &Shared, environment: &Environment) -> anyhow::Result<PathBuf> {
    match &shared.config {
        Some(chosen) => Ok(environment.directory().join(chosen)),
        None => Ok(setup::user_config_file(environment)?),
    }
}

fn style(to: SecretsTo) -> SecretStyle {
    match to {
        SecretsTo::Keyring => SecretStyle::Keyring,
        SecretsTo::Auto if secrets::is_available() => SecretStyle::Keyring,
        SecretsTo::Auto | SecretsTo::Variables => SecretStyle::Variable,
    }
}

fn only(plan: &mut Plan, names: &[String]) -> anyhow::Result<()> {
    let is_known = |name: &&String| {
        plan.sources.iter().any(|source| source.key == **name || source.server.name == **name)
    };
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
    plan.retain(|one| {
        names.is_empty() || names.iter().any(|name| *name == one.key || *name == one.server.name)
    });
    Ok(())
}

/// Asks which servers to take. False when none are wanted.
fn ask(
    plan: &mut Plan,
    asking: Asking,
    target: &Path,
    environment: &Environment,
) -> anyhow::Result<bool> {
    let items: Vec<_> =
        plan.sources.iter().map(|one| format!("{}  ({})", one.key, one.client)).collect();
    let question = format!("Write these sources to {}?", paths::shown(target, environment));
    let Some(chosen) = asking.choose(&question, items)? else {
        return Ok(false);
    };
    let keys: Vec<_> = chosen.iter().map(|at| plan.sources[*at].key.clone()).collect();
    plan.retain(|one| keys.contains(&one.key));
    Ok(!plan.sources.is_empty())
}

/// Puts the secrets into the keyring, before anything refers to them.
fn keep(plan: &Plan, style: SecretStyle) -> anyhow::Result<()> {
    if style == SecretStyle::Variable {
        return Ok(());
    }
    for secret in &plan.secrets {
        let name = secrets::SecretName::parse(&secret.name)?;
        if let Err(error) = secrets::store(&name, &secret.value) {
            bail!(
                "the secret `{name}` could not be stored: {error}\n  help: {}, or import with `--secrets \
                 variables`",
                error.hint(Some(&name))
            );
        }
    }
    Ok(())
}

fn show(
    found: &[FoundFile],
    plan: &Plan,
    style: SecretStyle,
    environment: &Environment,
    output: &Output,
) {
    let paint = output.style();
    for file in found {
        let path = paths::shown(&file.file.path, environment);
        let place = match file.file.servers.as_slice() {
            [projects, project, _] if projects == "projects" => format!("{path}, for {project}"),
            _ => path,
        };
        output.line(&format!(
            "{}  {}",
            paint.strong(file.file.client.title()),
            paint.faint(&place)
        ));
        if let Err(error) = &file.servers {
            output.line(&format!("  {} {error}", paint.bad("cannot be read:")));
        }
        let mut table = Table::new(&["server", "what it is"]);
        let is_here = |origin: &gatefold::config::Origin| origin.file == file.file.path;
        let mut rows: Vec<_> = plan
            .sources
            .iter()
            .filter(|one| one.client == file.file.client && is_here(&one.server.origin))
            .map(|one| (one.server.origin.line, one.server.name.clone(), described(one)))
            .chain(
                plan.skipped
                    .iter()
                    .filter(|one| one.client == file.file.client && is_here(&one.server.origin))
                    .map(|one| {
                        let why = paint.faint(&format!("left out: {}", why(one)));
                        (one.server.origin.line, one.server.name.clone(), why)
                    }),
            )
            .collect();
        rows.sort_by_key(|(line, ..)| *line);
        for (_, name, what) in rows {
            table.row([name, what]);
        }
        let inner = paint.width().map_or(paint, |width| paint.within(width.saturating_sub(2)));
        for line in table.lines(inner).into_iter().skip(1) {
            output.line(&format!("  {line}"));
        }
        output.line("");
    }
    let names: Vec<_> = plan.secrets.iter().map(|secret| secret.name.as_str()).collect();
    let whither = match style {
        SecretStyle::Keyring => "go to the keyring",
        SecretStyle::Variable => "become references to variables",
    };
    if !names.is_empty() {
        output.line(&format!("secrets, which {whither}: {}", names.join(", ")));
    }
    if plan.sources.is_empty() {
        output.line("nothing new to import");
    }
}

fn described(one: &Planned) -> String {
    let what = match &one.server.connection {
        Connection::Stdio { command, args, .. } => {
            std::iter::once(command).chain(args).cloned().collect::<Vec<_>>().join(" ")
        }
        Connection::Http { url, .. } => url.clone(),
        Connection::Disabled | Connection::Unusable(_) => String::new(),
    };
    let name =
        if one.key == one.server.name { String::new() } else { format!(" (as `{}`)", one.key) };
    let off = if one.server.is_enabled { "" } else { " (switched off)" };
    format!("{what}{name}{off}")
}

fn why(one: &Skipped) -> String {
    match &one.why {
        Why::AlreadyThere(key) => format!("it is `sources.{key}` already"),
        Why::SameAs(key) => format!("it is the same as `{key}`"),
        Why::Gatefold => "it is Gatefold".to_owned(),
        // The file is named above the list.
        Why::Unusable(fault) => format!("it {}; {}", fault.message, fault.hint),
    }
}

/// Says what was done, what is left to do, and what comes next.
fn told(plan: &Plan, target: &Path, added: &str, environment: &Environment, output: &Output) {
    let paint = output.style();
    if plan.sources.is_empty() {
        return;
    }
    let count = plan.sources.len();
    let s = if count == 1 { "" } else { "s" };
    let path = paths::shown(target, environment);
    output.line(&format!("{} {count} source{s} to {path}", paint.good("wrote")));
    let mut unset = setup::variables_in(added);
    unset.retain(|name| environment.get(name).is_none());
    if !unset.is_empty() {
        output.line("");
        output.line(
            "set these variables where Gatefold runs; a source whose variable is missing fails:",
        );
        for name in unset {
            let was_here = plan.secrets.iter().any(|secret| secret.name == name);
            let hint = if was_here { "its value is where it was" } else { "the client has it" };
            output.line(&format!("  {name}  {}", paint.faint(hint)));
        }
    }
    let mut next: Vec<_> = plan.sources.iter().map(|one| (one.client, one.scope)).collect();
    next.dedup();
    output.line("");
    output.line("next:");
    output.line(&format!("  {}", paint.accent("gatefold check")));
    for (client, scope) in next {
        let project = if scope == Scope::Project { " --project" } else { "" };
        let command = format!("gatefold connect {}{project}", client.id());
        output.line(&format!("  {}", paint.accent(&command)));
    }
}

fn as_json(found: &[FoundFile], plan: &Plan, target: &Path, is_dry: bool) -> Value {
    let sources = plan.sources.iter().map(|one| {
        json!({
            "name": one.key,
            "server": one.server.name,
            "client": one.client.id(),
            "file": one.server.origin.file,
            "line": one.server.origin.line,
            "enabled": one.server.is_enabled,
            "secrets": one.secrets,
        })
    });
    let skipped = plan.skipped.iter().map(|one| {
        json!({
            "server": one.server.name,
            "client": one.client.id(),
            "file": one.server.origin.file,
            "line": one.server.origin.line,
            "reason": why(one),
        })
    });
    let unreadable = found.iter().filter_map(|file| {
        let error = file.servers.as_ref().err()?;
        Some(json!({ "client": file.file.client.id(), "file": file.file.path, "error": error.to_string() }))
    });
    json!({
        "file": target,
        "written": !is_dry,
        "sources": sources.collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
        "unreadable": unreadable.collect::<Vec<_>>(),
    })
}
