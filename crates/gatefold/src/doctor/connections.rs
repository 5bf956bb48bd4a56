//! Every source connected once, as a client's first call would.

use std::collections::HashMap;
use std::path::Path;

use futures::future::join_all;
use gatefold_core::Domain;
use tokio::time::timeout;

use super::{CONNECT_DEADLINE, Finding, Level, Section, clock, remote};
use crate::config::{Config, Connection, SourceConfig};
use crate::{App, Connected, build};

/// How much of its deadline a source may take before that is worth a note.
const SLOW_SHARE: u32 = 2;

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
            let what = format!("no gateway can be made of this: {error}");
            return vec![Finding::new(Section::State, Level::Fault, what)];
        }
    };
    let mut connected: HashMap<Domain, Connected> = HashMap::new();
    let in_time = timeout(CONNECT_DEADLINE, app.connect(&())).await;
    let is_whole = in_time.is_ok();
    for one in in_time.unwrap_or_default() {
        connected.insert(one.source.domain.clone(), one);
    }
    let judged = sources.iter().map(|source| fared(source, connected.get(&source.domain), &app));
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

async fn fared(source: &SourceConfig, connected: Option<&Connected>, app: &App) -> Vec<Finding> {
    let found = |level, what: String| {
        Finding::new(Section::Sources, level, format!("{}: {what}", source.domain))
            .at(&source.origin)
    };
    let domain = &source.domain;
    match &source.connection {
        Connection::Disabled => return vec![found(Level::Ok, "disabled".to_owned())],
        Connection::Unusable(_) => return Vec::new(),
        Connection::Stdio { .. } | Connection::Http { .. } => {}
    }
    let error = match connected.map(|one| &one.result) {
        Some(Ok(())) => None,
        Some(Err(error)) => Some(error.to_string()),
        None => {
            let limit = CONNECT_DEADLINE.as_secs();
            Some(format!("it did not connect while the doctor waited ({limit} s)"))
        }
    };
    if let Some(error) = error {
        if let Some(finding) = asked(source).await {
            return vec![finding];
        }
        let known = format!("`{domain}` is unavailable: ");
        let why = error.strip_prefix(&known).unwrap_or(&error).to_owned();
        let fix = match &source.connection {
            Connection::Stdio { .. } => "run its command in a shell and see what it says",
            _ => "see that server's log; `gatefold check --log debug` says more",
        };
        return vec![found(Level::Fault, format!("no connection: {why}")).fix(fix)];
    }
    let report = app.reports().into_iter().find(|report| report.domain == *domain);
    let took = connected.map(|one| one.took).unwrap_or_default();
    let mut findings = Vec::new();
    if let Some(report) = report {
        let protocol = report.status.protocol.unwrap_or_default();
        let (tools, took_ms) = (report.tools, took.as_millis());
        let what = format!("{tools} tools over {protocol}, connected in {took_ms} ms");
        findings.push(found(Level::Ok, what));
        if !report.alterations.is_empty() {
            let what = format!("{} definitions were not as MCP has them", report.alterations.len());
            findings.push(found(Level::Note, what).fix("gatefold check lists them"));
        }
        if tools == 0 {
            let what = "it offers no tools that may be called".to_owned();
            findings.push(found(Level::Warning, what).fix("check its `allow` and `deny`"));
        }
    }
    if took > source.connect_deadline / SLOW_SHARE {
        let limit = source.connect_deadline.as_secs_f32();
        let what = format!("connecting took {} ms of {limit} s", took.as_millis());
        findings.push(found(Level::Note, what).fix("raise its `connect_deadline`"));
    }
    findings
}
