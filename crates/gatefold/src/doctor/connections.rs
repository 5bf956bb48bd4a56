//! Every source connected once, as a client's first call would.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use gatefold_core::Domain;
use gatefold_dispatch::{SourceReport, SourceState};
use tokio::time::timeout;

use super::{CONNECT_DEADLINE, Finding, Level, Section, clock, programs, remote};
use crate::config::{Config, Connection, SourceConfig};
use crate::{App, Connected, build};

/// How much of its deadline a source may take before that is worth a note.
const SLOW_SHARE: u32 = 2;

/// How the words for a server that takes too long begin.
const LATE: &str = "it did not answer within";

/// `known` is what was found about the sources before; a source with a fault is not blamed twice.
pub(super) async fn look(
    config: Config,
    state_dir: Option<&Path>,
    known: &[Finding],
) -> Vec<Finding> {
    let is_blamed = |source: &SourceConfig| {
        let place = source.origin.to_string();
        known.iter().any(|one| one.level == Level::Fault && one.place.as_deref() == Some(&*place))
    };
    let mut fit = config;
    fit.sources.retain(|source| !is_blamed(source));
    let Some(state_dir) = state_dir else {
        // No gateway can be made, but addresses can be asked.
        return join_all(fit.sources.iter().map(asked)).await.into_iter().flatten().collect();
    };
    let pinned = fit.disclosure.pinned.clone();
    let sources = fit.sources.clone();
    let app = match build(fit, state_dir, clock()).await {
        Ok(app) => app,
        Err(error) => {
            let text = error.to_string();
            let (what, fix) = text.split_once("; ").unwrap_or((&text, "see `gatefold check`"));
            let what = format!("no gateway can be made of this: {what}");
            return vec![Finding::new(Section::State, Level::Fault, what).fix(fix)];
        }
    };
    let mut connected: HashMap<Domain, Connected> = HashMap::new();
    let in_time = timeout(CONNECT_DEADLINE, app.connect(&())).await;
    let is_whole = in_time.is_ok();
    for one in in_time.unwrap_or_default() {
        connected.insert(one.source.domain.clone(), one);
    }
    let judged = sources.iter().map(|source| {
        let report = app.reports().into_iter().find(|report| report.domain == source.domain);
        fared(source, connected.remove(&source.domain), report)
    });
    let judged: Vec<_> = judged.collect();
    let mut findings = join_all(judged).await.concat();
    if is_whole {
        findings.extend(pinned.iter().filter(|pattern| is_idle(pattern, &app)).map(|pattern| {
            let what = format!("`disclosure.pinned` matches no tool: {pattern}");
            Finding::new(Section::Configuration, Level::Warning, what)
                .fix("correct it: `gatefold tools list` has the ids")
        }));
    }
    app.close().await;
    findings
}

fn is_idle(pattern: &gatefold_catalog::Pattern, app: &App) -> bool {
    !app.pin().view().tools().any(|tool| pattern.matches(tool.id().as_str()))
}

async fn asked(source: &SourceConfig) -> Option<Finding> {
    let Connection::Http { url, headers } = &source.connection else {
        return None;
    };
    remote::diagnose(source, url, headers).await
}

/// `connected` is none for all sources where one of them took longer than the doctor waits.
async fn fared(
    source: &SourceConfig,
    connected: Option<Connected>,
    report: Option<SourceReport>,
) -> Vec<Finding> {
    match &source.connection {
        Connection::Disabled => return vec![found(source, Level::Ok, "disabled")],
        Connection::Unusable(_) => return Vec::new(),
        Connection::Stdio { .. } | Connection::Http { .. } => {}
    }
    let took = connected.as_ref().map(|one| one.took);
    let state = report.as_ref().map(|report| report.status.state);
    let error = match connected.map(|one| one.result) {
        Some(Ok(())) => None,
        Some(Err(error)) => Some(error.to_string()),
        None if matches!(state, Some(SourceState::Running | SourceState::Idle)) => None,
        None => {
            let told = report.as_ref().and_then(|report| report.status.error.clone());
            let limit = CONNECT_DEADLINE.as_secs();
            Some(told.unwrap_or_else(|| format!("it did not answer within {limit} s")))
        }
    };
    match (error, report) {
        (Some(error), _) => vec![failed(source, &error).await],
        (None, Some(report)) => healthy(source, &report, took),
        (None, None) => Vec::new(),
    }
}

fn found(source: &SourceConfig, level: Level, what: impl fmt::Display) -> Finding {
    Finding::new(Section::Sources, level, format!("{}: {what}", source.domain)).at(&source.origin)
}

async fn failed(source: &SourceConfig, error: &str) -> Finding {
    if let Some(finding) = asked(source).await {
        return finding;
    }
    let known = format!("`{}` is unavailable: ", source.domain);
    let why = error.strip_prefix(&known).unwrap_or(error);
    if why.starts_with(LATE) && programs::may_download(&source.connection) {
        let what = why.split("; ").next().unwrap_or(why);
        let what = format!("{what}; its first start may be downloading it");
        let fix = "start it once in a shell, wait, and try again; or raise its `connect_deadline`";
        return found(source, Level::Warning, what).fix(fix);
    }
    let fix = match &source.connection {
        Connection::Stdio { .. } => "run its command in a shell and see what it says",
        _ => "see that server's log; `gatefold check --log debug` says more",
    };
    found(source, Level::Fault, format!("no connection: {why}")).fix(fix)
}

fn healthy(source: &SourceConfig, report: &SourceReport, took: Option<Duration>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let protocol = report.status.protocol.as_deref().unwrap_or_default();
    let within = took.map(|took| format!(", connected in {} ms", took.as_millis()));
    let what = format!("{} tools over {protocol}{}", report.tools, within.unwrap_or_default());
    findings.push(found(source, Level::Ok, what));
    if !report.alterations.is_empty() {
        let what = format!("{} definitions were not as MCP has them", report.alterations.len());
        findings.push(found(source, Level::Note, what).fix("see which: gatefold check"));
    }
    if report.tools == 0 {
        let what = "it offers no tools that may be called";
        findings.push(found(source, Level::Warning, what).fix("check its `allow` and `deny`"));
    }
    if let Some(took) = took.filter(|took| *took > source.connect_deadline / SLOW_SHARE) {
        let limit = source.connect_deadline.as_secs_f32();
        let what = format!("connecting took {} ms of {limit} s", took.as_millis());
        findings.push(found(source, Level::Note, what).fix("raise its `connect_deadline`"));
    }
    findings
}
