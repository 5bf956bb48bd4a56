//! Fixtures for both transports and both eras.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gatefold_core::{Digest, Domain, Secret};
use gatefold_mcp::{EraChoice, HttpSettings, McpSettings, StdioSettings, Transport};
use gatefold_testkit::fixture::{Kind, ReceivedMessage};
use gatefold_testkit::{Fixture, HttpFixture, fixture, fixture_command, serve_http};
use libtest_mimic::Trial;

/// How long a test waits for something that takes a moment on a quiet machine.
pub(crate) const LONG: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Handshake,
    Stateless,
}

impl Era {
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Stateless => "stateless",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Stdio,
    /// Answers over HTTP are JSON where they can be.
    Http,
    /// Every answer over HTTP is a stream of events.
    Sse,
}

pub(crate) const WIRES: [Wire; 3] = [Wire::Stdio, Wire::Http, Wire::Sse];

/// A test that runs on a runtime of its own.
pub(crate) fn trial<F: Future<Output = ()>>(
    name: impl Into<String>,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(format!("upstream::{}", name.into()), move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(test());
        Ok(())
    })
}

/// One test for each transport and era.
pub(crate) fn trials_each_way<F: Future<Output = ()>>(
    name: &str,
    test: impl FnOnce(Wire, Era) -> F + Send + Copy + 'static,
) -> Vec<Trial> {
    let ways = WIRES.iter().flat_map(|&wire| [(wire, Era::Handshake), (wire, Era::Stateless)]);
    ways.map(|(wire, era)| {
        let way = format!("{wire:?}_{era:?}").to_lowercase();
        trial(format!("{name}::{way}"), move || test(wire, era))
    })
    .collect()
}

/// A fixture as a source's server, its log, and what keeps it alive.
pub(crate) struct Upstream {
    pub(crate) settings: McpSettings,
    log: PathBuf,
    _directory: tempfile::TempDir,
    _server: Option<HttpFixture>,
}

impl Upstream {
    /// A fixture that speaks only one era.
    pub(crate) fn new(domain: &str, wire: Wire, era: Era, behaviour: &[&str]) -> Self {
        Self::behaving(domain, wire, &[&["--era", era.flag()], behaviour].concat())
    }

    pub(crate) fn behaving(domain: &str, wire: Wire, behaviour: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let mut behaviour = behaviour.to_vec();
        behaviour.extend(["--log", log.to_str().unwrap()]);
        if wire == Wire::Sse {
            behaviour.push("--sse");
        }
        let (settings, server) = match wire {
            Wire::Stdio => (stdio(domain, &behaviour), None),
            Wire::Http | Wire::Sse => {
                let server = serve_http(Fixture::new(&behaviour).unwrap()).unwrap();
                (http(domain, &server.url), Some(server))
            }
        };
        Self { settings, log, _directory: directory, _server: server }
    }

    /// What the fixture has received so far.
    pub(crate) fn received(&self) -> Vec<ReceivedMessage> {
        read(&self.log)
    }

    /// How many requests or notifications of this method it has received.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.received().iter().filter(|received| received.method == method).count()
    }

    /// The processes that have received anything, in order.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mut processes = Vec::new();
        for ReceivedMessage { pid, .. } in self.received() {
            if !processes.contains(&pid) {
                processes.push(pid);
            }
        }
        processes
    }

    /// The messages of this method.
    pub(crate) fn messages(&self, method: &str) -> Vec<serde_json::Value> {
        let own =
            |received: ReceivedMessage| (received.method == method).then_some(received.message);
        self.received().into_iter().filter_map(own).collect()
    }

    /// The tools that ended before they were done.
    pub(crate) fn stopped(&self) -> Vec<String> {
        let events = self.received().into_iter().filter(|received| received.kind == Kind::Event);
        events.map(|event| event.message["tool"].as_str().unwrap().to_owned()).collect()
    }
}

fn read(log: &Path) -> Vec<ReceivedMessage> {
    fixture::read_log(log)
}

pub(crate) fn settings(domain: &str, transport: Transport) -> McpSettings {
    McpSettings {
        domain: Domain::parse(domain).unwrap(),
        transport,
        era: EraChoice::default(),
        connect_deadline: LONG,
        install_deadline: LONG,
        idle_stop: Duration::from_mins(10),
        config_digest: Digest::new([5; 32]),
    }
}

pub(crate) fn stdio(domain: &str, behaviour: &[&str]) -> McpSettings {
    let (command, args) = fixture_command(behaviour);
    let command = command.to_str().unwrap().to_owned();
    settings(domain, Transport::Stdio(StdioSettings { command, args, ..StdioSettings::default() }))
}

pub(crate) fn http(domain: &str, url: &str) -> McpSettings {
    settings(domain, Transport::Http(HttpSettings { url: url.to_owned(), headers: Vec::new() }))
}

/// The same with a header.
pub(crate) fn with_header(mut settings: McpSettings, name: &str, value: &str) -> McpSettings {
    if let Transport::Http(http) = &mut settings.transport {
        http.headers.push((name.to_owned(), Secret::new(value)));
    }
    settings
}
