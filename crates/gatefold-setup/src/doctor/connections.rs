//! Every source connected once, as a client's first call would.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use gatefold::config::kinds::Need;
use gatefold::config::{Config, IdlePattern, SourceConfig, SourceSection};
use gatefold::{App, AwaitedOfClients, ConnectOutcome, Environment, build};
use gatefold_core::{CallError, Domain};
use gatefold_dispatch::{SourceReport, SourceState};
use tokio::time::{Instant, timeout};

use super::remote::{self, ProbeOutcome};
use super::texts::TextsFile;
use super::{Finding, Level, Section, clock, programs};
use crate::source_reach;

/// A source that takes longer than its deadline divided by this is worth a note.
const SLOW_SHARE: u32 = 2;

/// The time for all sources, which connect at the same time, in multiples of one source's limit:
/// for the handshake, for the list of tools, and one in reserve.
const LIMITS: u32 = 3;

/// The beginning of the message about a server that takes too long.
const LATE: &str = "it did not answer within";

/// What is known before any source is connected.
pub(super) struct KnownFacts<'a> {
    /// What was found about the sources: one that has a fault is not blamed twice.
    pub(super) found: &'a [Finding],
    /// What was written for the sources' tools.
    pub(super) texts: Option<&'a TextsFile>,
}

/// No source is waited for longer than `limit`, except that one that was never reached may download
/// first.
pub(super) async fn look(
    config: Config,
    state_dir: Option<&Path>,
    known: &KnownFacts<'_>,
    limit: Duration,
    environment: &Environment,
) -> Vec<Finding> {
    let is_blamed = |source: &SourceConfig| {
        let place = source.origin.to_string();
        known
            .found
            .iter()
            .any(|one| one.level == Level::Fault && one.place.as_deref() == Some(&*place))
    };
    let mut fit = config;
    let configured = fit.sources.len();
    fit.sources.retain(|source| !is_blamed(source));
    let is_all = fit.sources.len() == configured;
    let Some(state_dir) = state_dir else {
        // No gateway can be made, but addresses can be asked.
        let asked = join_all(fit.sources.iter().map(|source| asked(source, environment)))
            .await
            .into_iter()
            .flatten();
        let fault =
            |asked| if let ProbeOutcome::Fault(finding) = asked { Some(finding) } else { None };
        return asked.filter_map(fault).collect();
    };
    let sources = fit.sources.clone();
    let reach = source_reach(&fit, state_dir).await.unwrap_or_default();
    let mut longest_install = Duration::ZERO;
    for source in &mut fit.sources {
        source.connect_deadline = source.connect_deadline.min(limit);
        if reach.includes(&source.domain) {
            source.install_deadline = source.install_deadline.min(limit);
        } else {
            // It may have to download, and stopping it midway could break the download for
            // everybody.
            longest_install = longest_install.max(source.install_deadline);
        }
    }
    let app = match build(fit, state_dir, clock()).await {
        Ok(app) => app,
        Err(error) => {
            let text = error.to_string();
            let (what, fix) = text.split_once("; ").unwrap_or((&text, "see `gatefold check`"));
            let what = format!("no gateway can be built from this: {what}");
            return vec![Finding::new(Section::State, Level::Fault, what).fix(fix)];
        }
    };
    let mut connected: HashMap<Domain, ConnectOutcome> = HashMap::new();
    let in_time = timeout(limit * LIMITS + longest_install, app.connect(&())).await;
    // A text may be for a tool of a source that did not connect.
    let is_whole = in_time.as_ref().is_ok_and(|all| all.iter().all(|one| one.result.is_ok()));
    for one in in_time.unwrap_or_default() {
        connected.insert(one.source.domain.clone(), one);
    }
    let judged = sources.iter().map(|source| {
        let report = app.reports().into_iter().find(|report| report.domain == source.domain);
        fared(&app, source, connected.remove(&source.domain), report, limit, environment)
    });
    let judged: Vec<_> = judged.collect();
    let mut findings = join_all(judged).await.concat();
    findings.extend(sources.iter().filter_map(|source| concealing(source, &app)));
    // One that is about any source may be about one that was not even tried.
    let idle_patterns = app.idle_patterns();
    let judged = idle_patterns.iter().filter(|own| is_all || own.domain.is_some());
    findings.extend(judged.map(idle));
    if let Some(texts) = known.texts {
        findings.extend(texts.judged(app.pin().view(), is_whole));
    }
    app.close().await;
    findings
}

fn idle(pattern: &IdlePattern) -> Finding {
    let fix = match &pattern.domain {
        Some(_) => {
            "correct it: `gatefold tools schema` has the names that the source gives its tools"
        }
        None => "correct it: `gatefold tools list` has the ids",
    };
    Finding::new(Section::Configuration, Level::Warning, pattern.to_string()).fix(fix)
}

/// Whether a source's definitions hide something from people that models read.
fn concealing(source: &SourceConfig, app: &App) -> Option<Finding> {
    let pinned = app.pin();
    let manifest = pinned.view().domain(source.domain.as_str())?.manifest()?;
    let texts = manifest.hidden_texts();
    let first = texts.first()?;
    let what = match texts.len() {
        1 => format!("a definition holds characters that nobody sees: {first}"),
        count => {
            format!("{count} definitions hold characters that nobody sees; the first: {first}")
        }
    };
    Some(
        found(source, Level::Warning, what)
            .fix("see all, and what they say: gatefold check, gatefold tools schema"),
    )
}

async fn asked(source: &SourceConfig, environment: &Environment) -> Option<ProbeOutcome> {
    let server = source.section.need().and_then(Need::server)?;
    remote::diagnose(source, server, environment).await
}

/// `connected` is `None` for every source if one of them exceeded the limit for all.
async fn fared(
    app: &App,
    source: &SourceConfig,
    connected: Option<ConnectOutcome>,
    report: Option<SourceReport>,
    limit: Duration,
    environment: &Environment,
) -> Vec<Finding> {
    match &source.section {
        SourceSection::Disabled => return vec![found(source, Level::Ok, "disabled")],
        SourceSection::Unusable(_) => return Vec::new(),
        SourceSection::Usable(_) => {}
    }
    match connected.as_ref().and_then(ConnectOutcome::awaited_of_clients) {
        Some(AwaitedOfClients::Header(header)) => {
            let what =
                format!("answers, and wants the credential that each client sends in `{header}`");
            return vec![found(source, Level::Ok, what)];
        }
        Some(AwaitedOfClients::Token) => {
            let what = "is called with tokens that its callers' own are exchanged for";
            return vec![found(source, Level::Ok, what)];
        }
        None => {}
    }
    if let Some(Err(CallError::NeedsSignIn { .. })) = connected.as_ref().map(|one| &one.result)
        && app.site(source).is_some()
    {
        return vec![unsigned(app, source, limit).await];
    }
    let took = connected.as_ref().map(|one| one.took);
    let state = report.as_ref().map(|report| report.status.state);
    let error = match connected.map(|one| one.result) {
        Some(Ok(())) => None,
        Some(Err(error)) => Some(error.to_string()),
        None if matches!(state, Some(SourceState::Running | SourceState::Idle)) => None,
        None => {
            let told = report.as_ref().and_then(|report| report.status.error.clone());
            Some(told.unwrap_or_else(|| format!("{LATE} {} s", (limit * LIMITS).as_secs_f32())))
        }
    };
    match (error, report) {
        (Some(_), _) if gave_up(source, took, limit) => vec![impatient(source, limit)],
        (Some(error), report) => {
            let last_lines = report.map(|report| report.last_lines).unwrap_or_default();
            vec![Finding { last_lines, ..failed(source, &error, environment).await }]
        }
        (None, Some(report)) => healthy(source, &report, took),
        (None, None) => Vec::new(),
    }
}

/// A source that wants a sign-in: what to do, or why that would be in vain.
async fn unsigned(app: &App, source: &SourceConfig, limit: Duration) -> Finding {
    let fault = app.sign_in_fault(source, Instant::now() + limit).await;
    let login = || format!("sign in: `gatefold login {}`", source.origin.key);
    match fault {
        None => found(source, Level::Fault, "needs a sign-in").fix(login()),
        Some(fault) => {
            let text = fault.to_string();
            found(source, Level::Fault, text).fix(fault.fix.unwrap_or_else(login))
        }
    }
}

fn found(source: &SourceConfig, level: Level, what: impl fmt::Display) -> Finding {
    Finding::new(Section::Sources, level, format!("{}: {what}", source.domain)).at(&source.origin)
}

/// Whether a source that failed had time left by its own deadline.
fn gave_up(source: &SourceConfig, took: Option<Duration>, limit: Duration) -> bool {
    source.connect_deadline > limit && took.is_none_or(|took| took >= limit)
}

fn impatient(source: &SourceConfig, limit: Duration) -> Finding {
    let (limit, own) = (limit.as_secs_f32(), source.connect_deadline.as_secs_f32());
    let mut what = format!(
        "{LATE} {limit} s, and this command waits no longer; its own `connect_deadline` is {own} s"
    );
    if programs::may_download(source) {
        what.push_str("; its first start may be downloading it");
    }
    let fix = "wait for it with `gatefold check`, which gives up only at its `connect_deadline`";
    found(source, Level::Warning, what).fix(fix)
}

async fn failed(source: &SourceConfig, error: &str, environment: &Environment) -> Finding {
    let answer = match asked(source, environment).await {
        Some(ProbeOutcome::Fault(finding)) => return finding,
        Some(ProbeOutcome::Answer { host, status }) => Some((host, status)),
        None => None,
    };
    let known = format!("`{}` is unavailable: ", source.domain);
    let why = error.strip_prefix(&known).unwrap_or(error);
    if why.starts_with(LATE) && programs::may_download(source) {
        let what = why.split("; ").next().unwrap_or(why);
        let what = format!("{what}; its first start may be downloading it");
        let fix = "start it once in a shell, wait, and try again; or raise its `install_deadline`";
        return found(source, Level::Warning, what).fix(fix);
    }
    let fix = match (source.section.need(), answer) {
        (Some(Need::Program(_)), _) => {
            "run its command in a shell and see what it prints".to_owned()
        }
        (_, Some((host, status))) => {
            format!("see that server's log: `{host}` answered {status} to a single handshake")
        }
        (Some(Need::Server(_)), None) => "see that server's log".to_owned(),
        (None, None) => "correct that, then: gatefold check".to_owned(),
    };
    found(source, Level::Fault, format!("no connection: {why}")).fix(fix)
}

fn healthy(source: &SourceConfig, report: &SourceReport, took: Option<Duration>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let protocol = report.status.protocol.as_deref();
    let protocol = protocol.map(|version| format!(" over {version}")).unwrap_or_default();
    let within = took.map(|took| format!(", connected in {} ms", took.as_millis()));
    let documents = report.documents.map(|count| format!("{} documents, ", count.total));
    let (documents, within) = (documents.unwrap_or_default(), within.unwrap_or_default());
    let what = format!("{documents}{} tools{protocol}{within}", report.tools);
    findings.push(found(source, Level::Ok, what));
    // What is wrong with documents has been said.
    if !report.alterations.is_empty() && report.documents.is_none() {
        let what = format!("{} notes on what it offers", report.alterations.len());
        findings.push(found(source, Level::Note, what).fix("read them: gatefold check"));
    }
    if report.tools + report.prompts + report.resources == 0 {
        let what = "it offers nothing that is allowed";
        findings.push(found(source, Level::Warning, what).fix("check its `allow` and `deny`"));
    }
    if let Some(took) = took.filter(|took| *took > source.connect_deadline / SLOW_SHARE) {
        let limit = source.connect_deadline.as_secs_f32();
        let what = format!("connecting took {} ms of {limit} s", took.as_millis());
        findings.push(found(source, Level::Note, what).fix("raise its `connect_deadline`"));
    }
    findings
}
