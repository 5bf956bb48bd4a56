//! `gatefold add`.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use gatefold::Environment;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::config::{SourceFindings, check_source};
use gatefold_setup::{self as setup, NewConnection, NewSource};
use serde_json::{Value, json};

use super::description::SourceDescription;
use super::next::{self, FollowingGateway};
use super::target::{ScopeName, Target};
use super::trial;
use crate::cli::arguments::{Format, SharedOptions};
use crate::cli::output::Output;
use crate::cli::{failure, paths};

#[derive(Debug, Args)]
pub(crate) struct Add {
    #[command(flatten)]
    source: SourceDescription,
    /// Whose configuration to write to [default: the one in force, else the user's]
    #[arg(long, short, value_enum)]
    scope: Option<ScopeName>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Which source to add, and where.
pub(in crate::cli) struct Addition<'a> {
    pub(in crate::cli) name: &'a str,
    pub(in crate::cli) scope: Option<ScopeName>,
    /// Nothing is written.
    pub(in crate::cli) is_dry: bool,
}

/// What a first look at a new source found.
pub(in crate::cli) struct FirstLook {
    pub(in crate::cli) json: Value,
    /// For people, a paragraph each.
    pub(in crate::cli) lines: Vec<String>,
}

pub(super) async fn run(
    add: &Add,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let Add { source, scope, dry_run, .. } = add;
    let addition = Addition { name: &source.name, scope: *scope, is_dry: *dry_run };
    let describe = |config: &Path| source.source(config, environment);
    let look = async |source: &NewSource, config: &Path| -> anyhow::Result<Option<FirstLook>> {
        if matches!(source.connection, NewConnection::Mcp(_)) {
            return Ok(None);
        }
        let trial = trial::of_source(&source.name, config, shared, environment).await?;
        let is_api = matches!(source.connection, NewConnection::Api(_));
        let lines = trial.lines(if is_api { "operation" } else { "tool" });
        Ok(Some(FirstLook { json: json!(trial), lines }))
    };
    add_source(&addition, describe, look, shared, environment, output).await
}

/// Adds a source to the configuration, which is created if there is none. `describe` makes the source for
/// a configuration at a path, and `look` looks at it once it is written.
pub(in crate::cli) async fn add_source(
    addition: &Addition<'_>,
    describe: impl FnOnce(&Path) -> anyhow::Result<NewSource>,
    look: impl AsyncFnOnce(&NewSource, &Path) -> anyhow::Result<Option<FirstLook>>,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let target = Target::chosen(addition.scope, shared, environment)?;
    if let Some(fault) = setup::name_fault(addition.name, target.text()) {
        return Err(failure::usage(fault.to_string()));
    }
    let source = describe(&target.path)?;
    refuse_plain_secrets(&source)?;
    let text = setup::add_source(target.before.as_deref(), &source, &target.path)?;
    let findings = check_source(&source.name, &text, &target.path, environment);
    refuse_faults(&findings)?;
    let mut first_look = None;
    if !addition.is_dry {
        target.write(&text)?;
        if findings.absent.is_none() {
            first_look = look(&source, &target.path).await?;
        }
    }
    let report = AddReport {
        source: &source,
        target: &target,
        findings: &findings,
        first_look: first_look.as_ref(),
        gateway: next::gateway(&target.path, shared, environment).await,
        is_dry: addition.is_dry,
        environment,
        output,
    };
    report.print();
    Ok(ExitCode::SUCCESS)
}

/// Many programs and people read a configuration, so no secret goes into it in plain text.
fn refuse_plain_secrets(source: &NewSource) -> anyhow::Result<()> {
    let names = setup::plain_secrets(source);
    let Some(first) = names.first() else { return Ok(()) };
    let what = if names.len() == 1 { "a secret" } else { "secrets" };
    let set: Vec<_> = names.iter().map(|name| format!("`gatefold secret set {name}`")).collect();
    Err(failure::usage(format!(
        "this would put {what} into the configuration in plain text; nothing was written\n  help: run \
         {}, and write '${{secret:{first}}}' instead, in single quotes; '${{{first}}}' takes a \
         variable, and what is no secret can be written into the file by hand",
        set.join(" and ")
    )))
}

/// Nobody wrote the line that a fault is on, so only the key is named.
fn refuse_faults(findings: &SourceFindings) -> anyhow::Result<()> {
    if findings.faults.is_empty() {
        return Ok(());
    }
    let line = |fault: &gatefold::config::Fault| {
        format!("`{}` {}\n  help: {}", fault.key, fault.message, fault.hint)
    };
    let lines: Vec<_> = findings.faults.iter().map(line).collect();
    Err(failure::usage(lines.join("\n")))
}

/// What was added, and what comes next.
struct AddReport<'a> {
    source: &'a NewSource,
    target: &'a Target,
    findings: &'a SourceFindings,
    first_look: Option<&'a FirstLook>,
    gateway: Option<FollowingGateway>,
    is_dry: bool,
    environment: &'a Environment,
    output: &'a Output,
}

impl AddReport<'_> {
    fn print(&self) {
        let Self { source, target, output, .. } = self;
        let absent = self.findings.absent.as_ref();
        if output.is_json() {
            output.json(&json!({
                "name": source.name,
                "file": target.path,
                "written": !self.is_dry,
                "text": setup::section(source),
                "absent": absent.map(|fault| json!({ "reason": fault.message, "help": fault.hint })),
                "other_faults": self.findings.elsewhere,
                "trial": self.first_look.map(|look| &look.json),
                "gateway": self.gateway,
            }));
            return;
        }
        let style = output.style();
        let path = paths::shown(&target.path, self.environment);
        if self.is_dry {
            output.line(&format!("would write to {path}:"));
        } else {
            output.line(&format!("{} `{}` to {path}:", style.good("added"), source.name));
        }
        output.line("");
        output.lines(&setup::section(source).lines().map(str::to_owned).collect::<Vec<_>>());
        output.line("");
        if self.is_missing_program() {
            output.paragraph("", "note: the program is not installed here");
        }
        if let Some(fault) = absent {
            output.paragraph("", &format!("note: it {}; {}", fault.message, fault.hint));
        }
        if self.findings.elsewhere > 0 {
            let text =
                "note: the configuration has other faults; `gatefold config check` lists them";
            output.paragraph("", text);
        }
        for line in self.first_look.iter().flat_map(|look| &look.lines) {
            output.paragraph("", line);
        }
        if self.is_dry {
            return;
        }
        next::taken_over(self.gateway.as_ref(), output);
        output.line("next:");
        let config = if target.is_usual(self.environment) {
            String::new()
        } else {
            let path = target.as_given(self.environment);
            format!(" --config {}", paths::as_argument(path, self.environment))
        };
        let then = if self.gateway.is_some() { "status" } else { "connect CLIENT" };
        for command in ["check", then] {
            output.line(&format!("  {}", style.accent(&format!("gatefold {command}{config}"))));
        }
        if self.gateway.is_none() {
            output.line(&format!("  {}", style.accent(&format!("gatefold serve{config}"))));
        }
    }

    fn is_missing_program(&self) -> bool {
        let NewConnection::Mcp(McpConnection::Stdio { command, env, cwd, .. }) =
            &self.source.connection
        else {
            return false;
        };
        // A variable's value is not known yet, so the program cannot be looked for.
        if command.contains("${") || env.iter().any(|(name, _)| name == "PATH") {
            return false;
        }
        let folder = cwd.as_deref().unwrap_or(self.environment.directory());
        which::which_in(command, self.environment.get("PATH"), folder).is_err()
    }
}
