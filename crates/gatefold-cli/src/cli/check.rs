use std::borrow::Cow;
use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use futures::future::join_all;
use gatefold::config::SourceConfig;
use gatefold::config::kinds::Need;
use gatefold::{App, ConnectOutcome, Environment, SignInFault, TlsWarning, examine_tls};
use gatefold_core::{CallError, Domain};
use gatefold_dispatch::{SourceReport, SourceState};
use gatefold_operations::{NO_SOURCE, without_domain};
use serde::Serialize;
use tokio::time::Instant;

use super::arguments::{Check, SharedOptions};
#[cfg(feature = "knowledge")]
use super::knowledge;
use super::output::{Output, Style};
use super::progress::Progress;
use super::table::{Table, grouped, number_of};
use super::tokens::ChildCounter;
use super::{session, stop, surface, visible};

/// How long sources may take to say where to sign in.
const SIGN_IN_DEADLINE: Duration = Duration::from_secs(15);

/// The most definitions with invisible characters to list for one source.
const HIDDEN_TEXTS: usize = 20;

/// What `check --json` prints.
#[derive(Serialize)]
struct Findings {
    ok: bool,
    sources: Vec<Finding>,
    tools: usize,
    /// What all definitions would cost a model that is given every tool.
    tokens: usize,
    /// What is wrong beside the sources, so that nothing could be served.
    faults: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Finding {
    #[serde(flatten)]
    report: SourceReport,
    /// Definitions with invisible characters, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hidden_texts: Vec<String>,
    origin: String,
    /// How many of its tools this user sees.
    visible_tools: usize,
    tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    took_ms: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<Cow<'static, str>>,
}

/// Connects every source, reports each outcome, and fails if one of them failed.
pub(super) async fn run(
    check: &Check,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        // Their documents are read before, so that what they offer is whole.
        #[cfg(feature = "knowledge")]
        let of_bases = knowledge::read_all(shared, environment, output).await;
        #[cfg(not(feature = "knowledge"))]
        let of_bases = Vec::<String>::new();
        let app = session::open(shared, environment).await?.app;
        let connected = app.connect(&Progress::new(output, "connecting")).await;
        let is_of_clients = !shared.mcp_config.is_empty();
        let mut findings = findings(&app, connected, is_of_clients).await?;
        findings.warnings.extend(of_bases);
        app.close().await;
        if output.is_json() {
            output.json(&findings);
        } else {
            output.lines(&lines(&findings, check.verbose, output.style()));
        }
        Ok(if findings.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
    .await
}

/// With `is_of_clients`, the sources are servers of clients' files, which each command has to be given.
async fn findings(
    app: &App,
    connected: Vec<ConnectOutcome>,
    is_of_clients: bool,
) -> anyhow::Result<Findings> {
    let tokens = app.count_definitions(&ChildCounter).await?;
    let awaited: Vec<_> = connected.iter().filter_map(awaited).collect();
    let mut sign_ins = sign_in_faults(app, &connected).await;
    let mut connected: HashMap<Domain, ConnectOutcome> =
        connected.into_iter().map(|one| (one.source.domain.clone(), one)).collect();
    let config = app.config();
    let origins: HashMap<_, _> =
        config.sources.iter().map(|source| (&source.domain, &source.origin)).collect();
    let pinned = app.pin();
    let hidden = |domain: &Domain| -> Vec<String> {
        let entry = pinned.view().domain(domain.as_str());
        let texts = entry.and_then(|entry| entry.manifest()).map(|known| known.hidden_texts());
        texts.iter().flatten().map(ToString::to_string).collect()
    };
    let visible = |domain: &Domain| {
        let (view, entry) = (pinned.view(), pinned.view().domain(domain.as_str()));
        entry.map_or(0, |entry| view.tools_in(entry).count())
    };
    let finding = |mut report: SourceReport| {
        let connected = connected.remove(&report.domain);
        let awaits_clients = |one: &&ConnectOutcome| one.awaited_of_clients().is_some();
        let failed = connected.as_ref().filter(|one| !awaits_clients(one));
        let failure = failed.and_then(|one| one.result.as_ref().err());
        report.status.error =
            failure.map(|error| without_domain(&error.to_string(), &report.domain));
        let sign_in = sign_ins.remove(&report.domain);
        if let Some(fault) = &sign_in {
            report.status.error = Some(fault.to_string());
        }
        Finding {
            hidden_texts: hidden(&report.domain),
            visible_tools: visible(&report.domain),
            origin: origins.get(&report.domain).map(ToString::to_string).unwrap_or_default(),
            tokens: tokens.get(&report.domain).copied().unwrap_or_default(),
            took_ms: connected.as_ref().map(|one| one.took.as_millis()),
            hint: match sign_in {
                Some(fault) => fault.fix.map(Cow::Owned),
                None => failed.and_then(|one| hint(one, is_of_clients)).map(Cow::Borrowed),
            },
            report,
        }
    };
    let sources: Vec<_> = app.reports().into_iter().map(finding).collect();
    let mut warnings = warnings(app).await;
    warnings.extend(awaited);
    let mut faults = Vec::new();
    match examine_tls(&config) {
        None => {}
        Some(Ok(of_tls)) => {
            warnings.extend(of_tls.iter().map(|TlsWarning { what, fix }| format!("{what}: {fix}")));
        }
        Some(Err(error)) => faults.push(format!("{error}\n  help: {}", error.fix())),
    }
    Ok(Findings {
        ok: !app.config().sources.is_empty()
            && faults.is_empty()
            && sources.iter().all(|source| source.report.status.error.is_none()),
        tools: app.pin().view().tool_count(),
        tokens: tokens.values().sum(),
        faults,
        warnings,
        sources,
    })
}

/// What a source that was not listed waits for, if its clients have it.
fn awaited(one: &ConnectOutcome) -> Option<String> {
    let (awaited, name) = (one.awaited_of_clients()?, &one.source.origin.key);
    Some(format!("`{name}` lists its tools to clients that send {awaited}"))
}

/// Why nobody can sign in, at the sources that want it, so that nobody is sent to `gatefold login` in
/// vain.
async fn sign_in_faults(app: &App, connected: &[ConnectOutcome]) -> HashMap<Domain, SignInFault> {
    let needs = |one: &&ConnectOutcome| {
        matches!(one.result, Err(CallError::NeedsSignIn { .. }))
            && one.awaited_of_clients().is_none()
    };
    let deadline = Instant::now() + SIGN_IN_DEADLINE;
    let asked = connected.iter().filter(needs).map(async |one| {
        let fault = app.sign_in_fault(&one.source, deadline).await?;
        Some((one.source.domain.clone(), fault))
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// A hint that the source's own error does not give.
fn hint(one: &ConnectOutcome, is_of_clients: bool) -> Option<&'static str> {
    match &one.result {
        Ok(()) => return None,
        Err(CallError::NeedsSignIn { .. }) if is_of_clients => {
            return Some("give that command the same `--mcp-config`");
        }
        Err(_) => {}
    }
    let program = one.source.section.need().and_then(Need::program)?;
    (program.args.is_empty() && program.command.contains(' '))
        .then_some("`command` is only the program; put its arguments in `args`")
}

/// Settings that have no effect, and ways to show tools that some clients do not take.
async fn warnings(app: &App) -> Vec<String> {
    let config = app.config();
    let idle = app.idle_patterns().into_iter().map(|idle| idle.to_string());
    let encoder = app.encoder_fault().await;
    let encoder = encoder.map(|fault| format!("`search.encoder` cannot be used: {fault}"));
    let texts = app.texts_fault().map(|fault| format!("`search.texts`: {fault}"));
    let issuers = match gatefold::examine_issuers(&config.server).await {
        Ok(faults) => {
            faults.into_iter().map(|own| format!("`{}`: {}", own.key, own.fault)).collect()
        }
        Err(error) => vec![format!("`server.issuers`: {error}")],
    };
    let sources = config.sources.iter().flat_map(SourceConfig::warnings);
    let sources = sources.map(|warning| visible::on_one_line(&warning));
    idle.chain(sources)
        .chain(config.idle_modes().iter().map(ToString::to_string))
        .chain(encoder)
        .chain(texts)
        .chain(issuers)
        .chain(surface::warnings_of_excess(app))
        .collect()
}

/// What is printed for people.
fn lines(findings: &Findings, is_verbose: bool, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    if findings.sources.is_empty() {
        lines.extend(style.sentence(NO_SOURCE, 2));
    } else {
        lines.extend(table(findings, style).lines(style));
        lines.push(String::new());
        lines.extend(style.sentence(&costs(findings.tools, findings.tokens), 2));
    }
    lines.extend(findings.sources.iter().flat_map(|finding| details(finding, is_verbose, style)));
    for fault in &findings.faults {
        lines.push(String::new());
        let (what, fix) = fault.split_once('\n').unwrap_or((fault, ""));
        lines.extend(style.sentence(&format!("{} {what}", style.bad("failed")), 2));
        lines.extend(fix.lines().flat_map(|line| style.sentence(line, 4)));
    }
    for warning in &findings.warnings {
        lines.push(String::new());
        lines.extend(style.sentence(&format!("{} {warning}", style.accent("note")), 2));
    }
    lines
}

fn costs(tools: usize, tokens: usize) -> String {
    let what = match tools {
        0 => return "no tools".to_owned(),
        1 => "it",
        _ => "them all",
    };
    let (tools, tokens) = (number_of(tools, "tool"), number_of(tokens, "token"));
    format!("{tools}: {tokens} if a model is shown {what}")
}

fn table(findings: &Findings, style: Style) -> Table {
    let heads = ["domain", "state", "protocol", "tools", "tokens", "took"];
    let mut table = Table::new(&heads).numbers(&[3, 4, 5]).spare(&[2, 5, 4, 3]);
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
            tools(finding),
            grouped(finding.tokens),
            took.unwrap_or_default(),
        ]);
    }
    table
}

/// How many tools a source has, and that none is left where its rules leave none.
fn tools(finding: &Finding) -> String {
    let tools = grouped(finding.report.tools);
    if finding.visible_tools == 0 && finding.report.tools > 0 {
        return format!("0 of {tools}");
    }
    tools
}

/// What is wrong with a source, and with what it offers.
fn details(finding: &Finding, is_verbose: bool, style: Style) -> Vec<String> {
    let Finding { report, hint, origin, .. } = finding;
    let mut lines = Vec::new();
    if let Some(failure) = &report.status.error {
        lines.push(String::new());
        let text = format!("{} {}: {failure}", style.bad("failed"), report.domain);
        lines.extend(style.sentence(&text, 2));
        if let Some(hint) = hint {
            lines.extend(style.sentence(&format!("  help: {hint}"), 4));
        }
        for line in report.last_lines.iter().filter(|_| is_verbose) {
            lines.extend(style.sentence(&format!("  | {}", visible::on_one_line(line)), 4));
        }
        let place = style.sentence(&format!("  configured in {origin}"), 4);
        lines.extend(place.iter().map(|line| style.faint(line)));
    }
    if !report.alterations.is_empty() {
        lines.push(String::new());
        let text = format!("{}: notes on what it offers", report.domain);
        lines.extend(style.sentence(&text, 2));
    }
    for alteration in &report.alterations {
        lines.extend(style.sentence(&format!("  {alteration}"), 4));
    }
    lines.extend(concealments(finding, style));
    lines
}

/// What a source's definitions hide from people but show to models.
fn concealments(finding: &Finding, style: Style) -> Vec<String> {
    let texts = &finding.hidden_texts;
    if texts.is_empty() {
        return Vec::new();
    }
    let text =
        format!("{}: some definitions hold characters that nobody sees", finding.report.domain);
    let mut lines = vec![String::new()];
    lines.extend(style.sentence(&text, 2));
    for text in texts.iter().take(HIDDEN_TEXTS) {
        lines.extend(style.sentence(&format!("  {text}"), 4));
    }
    let more = texts.len().saturating_sub(HIDDEN_TEXTS);
    if more > 0 {
        lines.extend(style.sentence(&format!("  and {more} more; `--json` has all"), 4));
    }
    lines
}

#[cfg(test)]
mod tests {
    use gatefold_core::Timestamp;
    use gatefold_dispatch::{BreakerState, SourceStatus, TrafficReport};

    use super::*;
    use crate::cli::table::tests::across_widths;

    fn finding(domain: &str, error: Option<&str>) -> Finding {
        let status = SourceStatus {
            state: if error.is_some() { SourceState::Failing } else { SourceState::Running },
            since: Timestamp::from_millis(0),
            error: error.map(str::to_owned),
            protocol: error.is_none().then(|| "2026-07-28".to_owned()),
            downloading: None,
            sessions: 1,
        };
        let report = SourceReport {
            domain: Domain::parse(domain).unwrap(),
            status,
            last_lines: Vec::new(),
            breaker: BreakerState::Closed,
            tools: 14,
            prompts: 0,
            resources: 0,
            documents: None,
            alterations: Vec::new(),
            calls_in_flight: 0,
            calls_waiting: 0,
            traffic: TrafficReport::default(),
        };
        let hint = "`command` is only the program; put its arguments in `args`";
        let hint = error.map(|_| Cow::Borrowed(hint));
        Finding {
            report,
            hidden_texts: Vec::new(),
            origin: "gatefold.toml:9".into(),
            visible_tools: 14,
            tokens: 6540,
            took_ms: Some(35),
            hint,
        }
    }

    #[test]
    fn a_check_counts_tools_as_people_do() {
        for (tools, expected) in [
            (0, "no tools"),
            (1, "1 tool: 1,234 tokens if a model is shown it"),
            (2, "2 tools: 1,234 tokens if a model is shown them all"),
        ] {
            assert_eq!(costs(tools, 1234), expected);
        }
        let nothing = Findings {
            ok: false,
            sources: Vec::new(),
            tools: 0,
            tokens: 0,
            faults: Vec::new(),
            warnings: Vec::new(),
        };
        assert_eq!(lines(&nothing, false, Style::plain()), [NO_SOURCE]);
    }

    #[test]
    fn definitions_with_characters_that_nobody_sees_are_named() {
        let mut evil = finding("evil", None);
        evil.hidden_texts = vec!["tool `x` hides <U+202E>".to_owned(); HIDDEN_TEXTS + 2];
        let lines = concealments(&evil, Style::plain());
        assert_eq!(lines[1], "evil: some definitions hold characters that nobody sees");
        assert_eq!(lines[2], "  tool `x` hides <U+202E>");
        assert_eq!(lines[lines.len() - 2], lines[2]);
        assert_eq!(lines.last().unwrap(), "  and 2 more; `--json` has all");
        assert_eq!(lines.len(), HIDDEN_TEXTS + 3);
        assert_eq!(concealments(&finding("good", None), Style::plain()), [""; 0]);
    }

    #[test]
    fn a_check_fits_every_width() {
        let mut odd = finding("odd", None);
        odd.report.alterations = vec![
            "`search`: its schema names a `$ref` that leads nowhere, so it is shown without that part"
                .to_owned(),
        ];
        let failed = "the server exited with code 3; it last wrote: 错误：找不到配置文件 \
                      /etc/a-rather-long-folder/another-one/config.json, giving up\u{1b}[31m";
        let long = "a_source_with_a_rather_long_name";
        let sources = vec![finding("issues", None), odd, finding(long, Some(failed))];
        let findings = Findings {
            ok: false,
            sources,
            tools: 28,
            tokens: 13_080,
            faults: vec!["`cert.pem` cannot be read\n  help: check the path".to_owned()],
            warnings: vec!["`disclosure.pinned` matches no tool: nothing__*".to_owned()],
        };
        insta::assert_snapshot!(across_widths(|style| lines(&findings, false, style)));
    }
}
