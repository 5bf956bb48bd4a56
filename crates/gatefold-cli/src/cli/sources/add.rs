//! `gatefold add`.

use std::process::ExitCode;

use clap::Args;
use gatefold::Environment;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::config::{SourceFindings, check_source};
use gatefold_setup::{self as setup, NewConnection, NewSource};
use serde_json::json;

use super::description::SourceDescription;
use super::next::{self, FollowingGateway};
use super::target::{ScopeName, Target};
use super::trial::{self, SourceTrial};
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

/// Adds a source to the configuration, which is created if there is none.
pub(super) async fn run(
    add: &Add,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let target = Target::chosen(add.scope, shared, environment)?;
    if let Some(fault) = setup::name_fault(&add.source.name, target.text()) {
        return Err(failure::usage(fault.to_string()));
    }
    let source = add.source.source(&target.path, environment)?;
    refuse_plain_secrets(&source)?;
    let text = setup::add_source(target.before.as_deref(), &source, &target.path)?;
    let findings = check_source(&source.name, &text, &target.path, environment);
    refuse_faults(&findings)?;
    if !add.dry_run {
        target.write(&text)?;
    }
    let trial = if add.dry_run || findings.absent.is_some() {
        None
    } else if !matches!(source.connection, NewConnection::Mcp(_)) {
        Some(trial::of_source(&source.name, &target.path, shared, environment).await?)
    } else {
        None
    };
    let report = AddReport {
        source: &source,
        target: &target,
        findings: &findings,
        trial: trial.as_ref(),
        gateway: next::gateway(&target.path, shared, environment).await,
        is_dry: add.dry_run,
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
    /// What an API's description gave.
    trial: Option<&'a SourceTrial>,
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
                "trial": self.trial,
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
        if let Some(trial) = self.trial {
            let is_api = matches!(source.connection, NewConnection::Api(_));
            let noun = if is_api { "operation" } else { "tool" };
            trial.lines(noun).iter().for_each(|line| output.paragraph("", line));
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
