//! What an import reports: what it found, what it did, and what comes next.

use std::path::Path;

use gatefold::Environment;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::config::{ClientServer, FILE_NAME};
use gatefold_clients::Scope;
use gatefold_setup::{
    self as setup, FoundFile, ImportPlan, PlannedSource, SkipReason, SkippedServer,
};
use serde_json::{Value, json};

use crate::cli::output::Output;
use crate::cli::paths;
use crate::cli::table::Table;

/// Lists every server under its file.
pub(super) fn show(
    found: &[FoundFile],
    plan: &ImportPlan,
    environment: &Environment,
    output: &Output,
) {
    let paint = output.style();
    for file in found {
        let path = paths::shown(&file.file.path, environment);
        let place = match file.file.servers.as_slice() {
            [projects, project, _] if projects == "projects" => {
                format!("{path}, for {}", paths::shown(Path::new(project), environment))
            }
            _ => path,
        };
        let title = paint.strong(file.file.client.title());
        output.line(&format!("{title}  {}", paint.faint(&place)));
        if let Err(error) = &file.servers {
            output.line(&format!("  {} {error}", paint.bad("cannot be read:")));
        }
        let mut table = Table::new(&["server", "what it is"]);
        for row in rows(file, plan, environment, output) {
            table.row(row);
        }
        let inner = paint.width().map_or(paint, |width| paint.within(width.saturating_sub(2)));
        for line in table.lines(inner).into_iter().skip(1) {
            output.line(&format!("  {line}"));
        }
        output.line("");
    }
    if plan.sources.is_empty() {
        let has_project = plan.skipped.iter().any(|one| one.reason == SkipReason::Project);
        let more = if has_project { " without `--project`" } else { "" };
        output.line(&format!("nothing new to import{more}"));
    }
}

/// Lists the secrets that are stored elsewhere.
pub(super) fn secrets(plan: &ImportPlan, whither: &str, output: &Output) {
    if plan.secrets.is_empty() {
        return;
    }
    output.line(&format!("secrets, which {whither}:"));
    for secret in &plan.secrets {
        output.line(&format!("  {}", secret.name));
    }
    output.line("");
}

/// Name and outcome of every server of a file, in the file's order.
fn rows(
    file: &FoundFile,
    plan: &ImportPlan,
    environment: &Environment,
    output: &Output,
) -> Vec<[String; 2]> {
    let paint = output.style();
    let is_here = |client, scope, origin: &gatefold::config::Origin| {
        (client, scope) == (file.file.client, file.file.scope) && origin.file == file.file.path
    };
    let sources = plan.sources.iter();
    let sources = sources.filter(|one| is_here(one.client, one.scope, &one.server.origin));
    let skipped = plan.skipped.iter();
    let skipped = skipped.filter(|one| is_here(one.client, one.scope, &one.server.origin));
    let sources = sources.map(|one| {
        let what = described(one) + absent(one, environment);
        [one.server.name.clone(), what]
    });
    let skipped = skipped.map(|one| {
        let why = paint.faint(&format!("left out: {}", why(one, environment)));
        [one.server.name.clone(), why]
    });
    let mut rows: Vec<_> = sources.chain(skipped).collect();
    let servers = file.servers.as_deref().unwrap_or_default();
    rows.sort_by_key(|[name, _]| servers.iter().position(|server| server.name == *name));
    rows
}

/// The message about a program that does not exist.
fn absent(one: &PlannedSource, environment: &Environment) -> &'static str {
    let Ok(McpConnection::Stdio { command, env, cwd, .. }) = &one.server.connection else {
        return "";
    };
    // A variable's value is not known yet, so the program cannot be looked for.
    let own_path = env.iter().any(|(name, _)| name == "PATH");
    if command.contains("${") || own_path {
        return "";
    }
    let folder = cwd.as_deref().unwrap_or(environment.directory());
    let found = which::which_in(command, environment.get("PATH"), folder);
    match found {
        Ok(_) => "",
        Err(_) if command.contains(['/', '\\']) => " (no such program)",
        Err(_) => " (not installed here)",
    }
}

fn described(one: &PlannedSource) -> String {
    let what = match &one.server.connection {
        Ok(McpConnection::Stdio { command, args, .. }) => {
            std::iter::once(command).chain(args).cloned().collect::<Vec<_>>().join(" ")
        }
        Ok(McpConnection::Http { url, .. }) => url.clone(),
        Err(_) => String::new(),
    };
    let name =
        if one.key == one.server.name { String::new() } else { format!(" (as `{}`)", one.key) };
    let off = if one.server.is_enabled { "" } else { " (switched off)" };
    let left: Vec<_> = one.server.not_taken_over().map(|key| format!("`{key}`")).collect();
    let without = (!left.is_empty()).then(|| format!("without {}", left.join(", ")));
    let mut text = format!("{what}{name}{off}");
    for note in without.iter().chain(&one.server.notes) {
        text.extend([" (", note, ")"]);
    }
    text
}

fn why(one: &SkippedServer, environment: &Environment) -> String {
    match &one.reason {
        SkipReason::AlreadyThere(key) => format!("it is already `sources.{key}`"),
        SkipReason::MayBeThere(key) => {
            format!(
                "it may already be `sources.{key}`, which refers to something that is not set here"
            )
        }
        SkipReason::SameAs(key) => format!("it is the same as `{key}`"),
        SkipReason::Gatefold => "it is Gatefold".to_owned(),
        SkipReason::Project => {
            let project = paths::shown(environment.directory(), environment);
            format!("it belongs to the project {project}; add it with `--project`")
        }
        // The list's heading already names the file.
        SkipReason::Unusable(fault) => format!("it {}; {}", fault.message, fault.hint),
    }
}

/// Reports what was done, what is left to do, and what comes next.
pub(super) fn told(
    plan: &ImportPlan,
    target: &Path,
    added: &str,
    environment: &Environment,
    output: &Output,
) {
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
            output.line(&format!("  {name}  {}", paint.faint(&whence(&name, plan))));
        }
    }
    let may_ask: Vec<_> = plan.sources.iter().filter(|one| may_need_sign_in(one)).collect();
    if !may_ask.is_empty() {
        output.line("");
        output.line("if one of these servers asks for a sign-in:");
        for source in may_ask {
            let command = format!("gatefold login {}", source.key);
            output.line(&format!("  {}", paint.accent(&command)));
        }
    }
    let mut next: Vec<_> = plan.sources.iter().map(|one| (one.client, one.scope)).collect();
    next.dedup();
    let config = config_flag(target, environment);
    output.line("");
    output.line("next:");
    output.line(&format!("  {}", paint.accent(&format!("gatefold check{config}"))));
    for (client, scope) in next {
        let project = if scope == Scope::Project { " --project" } else { "" };
        let command = format!("gatefold connect {}{project}{config}", client.id());
        output.line(&format!("  {}", paint.accent(&command)));
    }
}

/// Whether a source is a remote server for which nothing signs in.
fn may_need_sign_in(source: &PlannedSource) -> bool {
    let Ok(McpConnection::Http { headers, .. }) = &source.server.connection else { return false };
    !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
}

/// Where to find the value of a variable.
fn whence(name: &str, plan: &ImportPlan) -> String {
    if plan.secrets.iter().any(|secret| secret.name == name) {
        let source = plan.sources.iter().find(|one| one.secrets.iter().any(|own| own == name));
        let place =
            source.map(|one| format!("its value is in {}'s `{}`", one.client, one.server.name));
        return place.unwrap_or_else(|| "its value is where it was".to_owned());
    }
    if let Some(asks) = plan.sources.iter().find(|one| one.server.asked.iter().any(|a| a == name)) {
        return format!("{} asks for it", asks.client);
    }
    let has = plan.sources.iter().find(|one| refers(&one.server, name));
    has.map_or_else(
        || "the client has it".to_owned(),
        |one| format!("`{}` has it from {}", one.key, one.client),
    )
}

fn refers(server: &ClientServer, name: &str) -> bool {
    let reference = format!("${{{name}}}");
    let mut texts = server.connection.iter().flat_map(McpConnection::texts);
    texts.any(|text| text.contains(&reference))
}

/// The option that later commands need to read this configuration, or an empty text if they need
/// none.
fn config_flag(target: &Path, environment: &Environment) -> String {
    let here = environment.directory().join(FILE_NAME);
    let by_default =
        if here.is_file() { Some(here) } else { setup::user_config_file(environment).ok() };
    if by_default.is_some_and(|path| path == *target) {
        return String::new();
    }
    let path = target.strip_prefix(environment.directory()).unwrap_or(target);
    format!(" --config {}", paths::as_argument(path, environment))
}

pub(super) fn as_json(
    found: &[FoundFile],
    plan: &ImportPlan,
    target: &Path,
    environment: &Environment,
    is_dry: bool,
) -> Value {
    let sources = plan.sources.iter().map(|one| {
        json!({
            "name": one.key,
            "server": one.server.name,
            "client": one.client.id(),
            "file": one.server.origin.file,
            "line": one.server.origin.line,
            "enabled": one.server.is_enabled,
            "secrets": one.secrets,
            "not_taken_over": one.server.not_taken_over().collect::<Vec<_>>(),
            "notes": one.server.notes,
        })
    });
    let skipped = plan.skipped.iter().map(|one| {
        json!({
            "server": one.server.name,
            "client": one.client.id(),
            "file": one.server.origin.file,
            "line": one.server.origin.line,
            "reason": why(one, environment),
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
