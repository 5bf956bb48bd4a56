use std::collections::HashMap;
use std::process::ExitCode;

use gatefold::config::{Connection, SourceConfig};
use gatefold::{App, Connected, Environment};
use gatefold_core::Domain;
use gatefold_dispatch::{SourceReport, SourceState};
use serde::Serialize;

use super::arguments::Shared;
use super::output::Output;
use super::progress::Progress;
use super::table::{Table, grouped};
use super::{session, stop, tokens};

/// What `check --json` prints.
#[derive(Serialize)]
struct Findings {
    ok: bool,
    sources: Vec<Finding>,
    tools: usize,
    /// What all definitions would cost a model that is given every tool.
    tokens: usize,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Finding {
    #[serde(flatten)]
    report: SourceReport,
    origin: String,
    tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    took_ms: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

/// Connects every source, says how each fared, and fails if one of them did.
pub(super) async fn run(
    shared: &Shared,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        let app = session::open(shared, environment).await?.app;
        let connected = app.connect(&Progress::new(output, "connecting")).await;
        let findings = findings(&app, connected).await?;
        app.close().await;
        if output.is_json() {
            output.json(&findings);
        } else {
            print(&findings, output);
        }
        Ok(if findings.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
    .await
}

async fn findings(app: &App, connected: Vec<Connected>) -> anyhow::Result<Findings> {
    let tokens = tokens::of_definitions(app).await?;
    let mut connected: HashMap<Domain, Connected> =
        connected.into_iter().map(|one| (one.source.domain.clone(), one)).collect();
    let config = app.config();
    let origins: HashMap<_, _> =
        config.sources.iter().map(|source| (&source.domain, &source.origin)).collect();
    let finding = |mut report: SourceReport| {
        let connected = connected.remove(&report.domain);
        let failure = connected.as_ref().and_then(|one| one.result.as_ref().err());
        report.status.error = failure.map(|error| reason(error, &report.domain));
        Finding {
            origin: origins.get(&report.domain).map(ToString::to_string).unwrap_or_default(),
            tokens: tokens.get(&report.domain).copied().unwrap_or_default(),
            took_ms: connected.as_ref().map(|one| one.took.as_millis()),
            hint: connected.filter(|one| one.result.is_err()).and_then(|one| hint(&one.source)),
            report,
        }
    };
    let sources: Vec<_> = app.reports().into_iter().map(finding).collect();
    Ok(Findings {
        ok: sources.iter().all(|source| source.report.status.error.is_none()),
        tools: app.pin().view().tool_count(),
        tokens: tokens.values().sum(),
        warnings: warnings(app),
        sources,
    })
}

/// The reason without the domain, which stands beside it.
fn reason(error: &gatefold_core::CallError, domain: &Domain) -> String {
    let text = error.to_string();
    let known = format!("`{domain}` is unavailable: ");
    text.strip_prefix(&known).map_or(text.clone(), str::to_owned)
}

/// What the source's own words do not say.
fn hint(source: &SourceConfig) -> Option<&'static str> {
    match &source.connection {
        Connection::Stdio { command, args, .. } if args.is_empty() && command.contains(' ') => {
            Some("`command` is the program alone; put its arguments in `args`")
        }
        _ => None,
    }
}

/// What is configured and has no effect.
fn warnings(app: &App) -> Vec<String> {
    let pinned = app.pin();
    let config = app.config();
    let is_idle = |pattern: &&gatefold_catalog::Pattern| {
        !pinned.view().tools().any(|tool| pattern.matches(tool.id().as_str()))
    };
    let idle = config.disclosure.pinned.iter().filter(is_idle);
    idle.map(|pattern| format!("`disclosure.pinned` matches no tool: {pattern}")).collect()
}

fn print(findings: &Findings, output: &Output) {
    let style = output.style();
    let heads = ["domain", "state", "protocol", "tools", "tokens", "took"];
    let mut table = Table::new(&heads).numbers(&[3, 4, 5]);
    for finding in &findings.sources {
        let report = &finding.report;
        let state = match (&report.status.error, report.status.state) {
            (Some(_), _) => style.bad("failed"),
            (None, SourceState::Disabled) => style.faint("disabled"),
            (None, _) => style.good("ok"),
        };
        let took = finding.took_ms.map(|took| format!("{took} ms"));
        table.row([
            style.strong(report.domain.as_str()),
            state,
            report.status.protocol.clone().unwrap_or_default(),
            grouped(report.tools),
            grouped(finding.tokens),
            took.unwrap_or_default(),
        ]);
    }
    for line in table.lines(style) {
        output.line(&line);
    }
    let (tools, tokens) = (grouped(findings.tools), grouped(findings.tokens));
    output.line("");
    output.line(&format!(
        "{tools} tools, which cost a model {tokens} tokens if it is shown them all"
    ));
    print_details(findings, output);
}

fn print_details(findings: &Findings, output: &Output) {
    let style = output.style();
    for Finding { report, hint, origin, .. } in &findings.sources {
        if let Some(failure) = &report.status.error {
            output.line("");
            output.line(&format!("{} {}: {failure}", style.bad("failed"), report.domain));
            if let Some(hint) = hint {
                output.line(&format!("  help: {hint}"));
            }
            output.line(&style.faint(&format!("  configured in {origin}")));
        }
        if !report.alterations.is_empty() {
            output.line("");
            output.line(&format!("{}: some definitions were not as MCP has them", report.domain));
        }
        for alteration in &report.alterations {
            output.line(&format!("  {alteration}"));
        }
    }
    for warning in &findings.warnings {
        output.line("");
        output.line(&format!("{} {warning}", style.accent("note")));
    }
}
