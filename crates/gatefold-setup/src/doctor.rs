//! Everything that can be wrong between a configuration and a working gateway, each with its fix.
//!
//! Judgements are functions of what was read or answered; reading, asking and connecting happen
//! around them. Every question has a deadline, and independent ones are asked at the same time. No
//! finding holds a secret.

mod clients;
mod configuration;
mod connections;
mod disk;
#[cfg(feature = "knowledge")]
mod documents;
mod encoder;
mod issuers;
mod port;
mod programs;
mod proxy;
mod remote;
mod texts;
mod tls;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gatefold::Environment;
use gatefold::config::{Config, Inputs, default_state_dir};
use gatefold_core::SystemClock;
use serde::Serialize;

use crate::{SourceReach, shell};

/// How long a single question may take: a program's version, a name, one request.
const QUESTION_DEADLINE: Duration = Duration::from_secs(4);

/// How long a source may take to connect, and again to list its tools, if its own deadline is
/// longer. Sources' default deadline is shorter than this.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(20);

/// How bad a finding is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// In order.
    Ok,
    /// Worth knowing.
    Note,
    /// Works, but perhaps not for long or not safely.
    Warning,
    /// Does not work.
    Fault,
}

/// What a finding is about, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    Version,
    Configuration,
    Sources,
    Port,
    State,
    Clients,
}

impl Section {
    pub fn title(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Configuration => "configuration",
            Self::Sources => "sources",
            Self::Port => "port",
            Self::State => "state directory",
            Self::Clients => "clients",
        }
    }
}

/// One result of an examination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub section: Section,
    pub level: Level,
    pub what: String,
    /// The file and line, the source or the address.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// A command or an edit that puts it right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The last lines that a server wrote to its standard error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last_lines: Vec<String>,
}

impl Finding {
    fn new(section: Section, level: Level, what: impl Into<String>) -> Self {
        let (what, last_lines) = (what.into(), Vec::new());
        Self { section, level, what, place: None, fix: None, last_lines }
    }

    fn ok(section: Section, what: impl Into<String>) -> Self {
        Self::new(section, Level::Ok, what)
    }

    fn at(self, place: impl fmt::Display) -> Self {
        Self { place: Some(place.to_string()), ..self }
    }

    fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}

/// All findings by section, with the worst of each section first.
#[derive(Debug, Serialize)]
pub struct Diagnosis {
    /// Whether there is no fault.
    pub ok: bool,
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    fn of(mut findings: Vec<Finding>) -> Self {
        findings.sort_by_key(|finding| (finding.section, std::cmp::Reverse(finding.level)));
        // A broken file is found once for each list of servers in it, but shown only once.
        let mut seen: Vec<Finding> = Vec::with_capacity(findings.len());
        for finding in findings {
            if !seen.contains(&finding) {
                seen.push(finding);
            }
        }
        let findings = seen;
        Self { ok: findings.iter().all(|finding| finding.level < Level::Fault), findings }
    }

    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}

/// Whether sources are started and connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeScope {
    /// Every source is connected once, as a client's first call would.
    Connect,
    /// Nothing leaves this machine and no server is started.
    Offline,
}

/// What to look at.
#[derive(Debug, Clone)]
pub struct ExamineOptions {
    pub inputs: Inputs,
    /// The state directory that the command line chose.
    pub state_dir: Option<PathBuf>,
    /// The program that clients should start.
    pub program: Option<PathBuf>,
    pub reach: ProbeScope,
    /// The longest wait for one source, whatever its own deadline is.
    pub connect_limit: Duration,
    /// The running gateway of the state directory, if one answers and serves on an address.
    pub running: Option<ServingGateway>,
}

/// What a running gateway says about itself.
#[derive(Debug, Clone)]
pub struct ServingGateway {
    pub version: String,
    pub process: u32,
    /// An address at which this machine reaches it.
    pub address: SocketAddr,
}

/// Whether a gateway listens on this address, as far as can be told from outside.
pub async fn is_gateway_running(listen: SocketAddr) -> bool {
    port::look(listen, None).await.1
}

/// Looks at everything. Works without a configuration and with a broken one.
pub async fn examine(subject: &ExamineOptions, environment: &Environment) -> Diagnosis {
    let mut findings = vec![version()];
    let config = configuration::read(&subject.inputs, environment, &mut findings);
    let known = config.clone().unwrap_or_default();
    let state_dir = state_dir(subject, &known, environment);
    let (encoder, issuers, (texts, of_texts), on_disk, (port, is_running), programs) = tokio::join!(
        encoder::look(&known),
        issuers::look(&known, subject.reach),
        texts::look(&known),
        disk::look(state_dir.as_deref()),
        port::look(known.server.listen, subject.running.as_ref()),
        programs::look(&known.sources, subject.reach, environment),
    );
    let program = subject.program.as_deref();
    // What is wrong with the records is already found.
    let reach = match &state_dir {
        Some(state_dir) => crate::source_reach(&known, state_dir).await.unwrap_or_default(),
        None => SourceReach::default(),
    };
    let clients = clients::look(&clients::GatewayFacts {
        config: &known,
        inputs: &subject.inputs,
        options: options(subject),
        program,
        is_running,
        reach: &reach,
        environment,
    });
    let store_works = on_disk.iter().all(|finding| finding.level < Level::Fault);
    findings.extend(encoder);
    findings.extend(issuers);
    findings.extend(of_texts);
    findings.extend(tls::look(&known));
    findings.extend(on_disk);
    findings.extend(port);
    findings.extend(clients);
    let mut sources = programs;
    if subject.reach == ProbeScope::Connect
        && let Some(config) = config
    {
        let state_dir = state_dir.filter(|_| store_works);
        let beforehand = connections::KnownFacts { found: &sources, texts: texts.as_ref() };
        let limit = subject.connect_limit;
        #[cfg(feature = "knowledge")]
        if let Some(state_dir) = &state_dir {
            findings.extend(documents::look(&config, state_dir, limit).await);
        }
        let connected =
            connections::look(config, state_dir.as_deref(), &beforehand, limit, environment).await;
        sources.extend(connected);
    }
    findings.extend(sources);
    Diagnosis::of(findings)
}

/// The options that make another command use the same files.
fn options(subject: &ExamineOptions) -> String {
    let config = subject.inputs.config.as_deref().map(|path| ("--config", path));
    let clients = subject.inputs.mcp_configs.iter().map(|path| ("--mcp-config", path.as_path()));
    let state_dir = subject.state_dir.as_deref().map(|path| ("--state-dir", path));
    let mut options = String::new();
    for (option, path) in config.into_iter().chain(clients).chain(state_dir) {
        options.extend([" ", option, " ", &shell::quoted(path)]);
    }
    options
}

fn version() -> Finding {
    let build = if cfg!(debug_assertions) { ", a debug build" } else { "" };
    let (os, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    let version = env!("CARGO_PKG_VERSION");
    Finding::ok(Section::Version, format!("gatefold {version} for {os} on {machine}{build}"))
}

fn state_dir(
    subject: &ExamineOptions,
    config: &Config,
    environment: &Environment,
) -> Option<PathBuf> {
    match subject.state_dir.as_ref().or(config.state_dir.as_ref()) {
        Some(chosen) => Some(environment.directory().join(chosen)),
        None => default_state_dir(environment).ok(),
    }
}

fn clock() -> Arc<SystemClock> {
    Arc::new(SystemClock)
}
