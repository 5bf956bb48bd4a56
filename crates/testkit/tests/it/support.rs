//! One client for both transports and both eras.

use std::time::Duration;

use gatefold_testkit::{
    Exchange, Fixture, HttpFixture, RawClient, StdioClient, fixture_command, serve_http,
};
use libtest_mimic::Trial;

/// The clients' answer to any question.
pub(crate) const ANSWER: &str = r#"{"action":"accept","content":{"name":"Ada","n":1.10}}"#;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Handshake,
    Stateless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Stdio,
    Http,
}

pub(crate) const WAYS: [(Wire, Era); 4] = [
    (Wire::Stdio, Era::Handshake),
    (Wire::Stdio, Era::Stateless),
    (Wire::Http, Era::Handshake),
    (Wire::Http, Era::Stateless),
];

pub(crate) enum Client {
    Stdio(StdioClient),
    Http { client: RawClient, _fixture: HttpFixture },
}

impl Client {
    /// Connects to a fixture of its own; in the handshake era including the handshake.
    pub(crate) async fn connect(wire: Wire, era: Era, behaviour: &[&str]) -> Self {
        let mut client = match wire {
            Wire::Stdio => Self::Stdio(stdio(behaviour)),
            Wire::Http => {
                let (client, fixture) = http(behaviour);
                Self::Http { client, _fixture: fixture }
            }
        };
        if era == Era::Handshake {
            match &mut client {
                Self::Stdio(client) => client.initialize().await,
                Self::Http { client, .. } => client.initialize().await,
            }
            .expect("the handshake is answered");
        }
        client
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: &str) -> Exchange {
        match self {
            Self::Stdio(client) => client.call(tool, arguments).await,
            Self::Http { client, .. } => client.call(tool, arguments).await,
        }
        .expect("the call is answered")
    }

    /// Calls a tool; `params` is what follows the name in the parameters.
    pub(crate) async fn call_with(&mut self, tool: &str, params: &str) -> Exchange {
        let params = format!(r#"{{"name":"{tool}",{params}}}"#);
        match self {
            Self::Stdio(client) => client.request("tools/call", &params).await,
            Self::Http { client, .. } => client.request_named("tools/call", tool, &params).await,
        }
        .expect("the call is answered")
    }

    pub(crate) async fn list(&mut self) -> Exchange {
        self.request("tools/list", "{}").await
    }

    pub(crate) async fn request(&mut self, method: &str, params: &str) -> Exchange {
        match self {
            Self::Stdio(client) => client.request(method, params).await,
            Self::Http { client, .. } => client.request(method, params).await,
        }
        .expect("the request is answered")
    }
}

pub(crate) fn stdio(behaviour: &[&str]) -> StdioClient {
    StdioClient::spawn(fixture_command(behaviour)).expect("the fixture starts").with_answer(ANSWER)
}

pub(crate) fn http(behaviour: &[&str]) -> (RawClient, HttpFixture) {
    let fixture = Fixture::new(behaviour).expect("the behaviour is known");
    let fixture = serve_http(fixture).expect("the fixture is served");
    let client = RawClient::new(&fixture.url).expect("the client is made").with_answer(ANSWER);
    (client, fixture)
}

/// How long a test waits for something that should not come.
pub(crate) const SHORT: Duration = Duration::from_millis(300);
/// How long a test waits for something that should come soon.
pub(crate) const LONG: Duration = Duration::from_secs(10);

/// A test with a runtime of its own.
pub(crate) fn trial<F: Future<Output = ()>>(
    name: impl Into<String>,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(name, move || {
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
    WAYS.iter()
        .map(|&(wire, era)| {
            let name = format!("{name}::{wire:?}_{era:?}").to_lowercase();
            trial(name, move || test(wire, era))
        })
        .collect()
}
