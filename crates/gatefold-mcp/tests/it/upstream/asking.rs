//! Clients that can be asked, and servers that ask.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_dispatch::{
    Answer, AskError, Caller, ClientCapabilities, Peer, Question, QuestionMode,
};
use gatefold_mcp::{McpSettings, StdioSettings, Transport};
use gatefold_testkit::reference::{ServedEras, serve_http};
use gatefold_testkit::reference_command;
use libtest_mimic::Trial;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::support::{Era, Wire, http, settings, trial};

pub(crate) const ALL: &str = r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#;

type Reply = dyn Fn(&Question) -> Result<String, AskError> + Send + Sync;

/// A client whose answers a test chooses.
pub(crate) struct AskedClient {
    capabilities: ClientCapabilities,
    question_mode: QuestionMode,
    reply: Box<Reply>,
    heard: Mutex<Vec<(String, Value)>>,
    client: u64,
}

impl AskedClient {
    pub(crate) fn new(
        capabilities: &str,
        question_mode: QuestionMode,
        reply: impl Fn(&Question) -> Result<String, AskError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        static CLIENTS: AtomicU64 = AtomicU64::new(0);
        let capabilities = ClientCapabilities::read(&raw(capabilities));
        Arc::new(Self {
            capabilities,
            question_mode,
            reply: Box::new(reply),
            heard: Mutex::default(),
            client: CLIENTS.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// A client that is asked at once and always gives the same answer.
    pub(crate) fn saying(answer: &'static str) -> Arc<Self> {
        Self::new(ALL, QuestionMode::Live, move |_| Ok(answer.to_owned()))
    }

    pub(crate) fn caller(self: &Arc<Self>) -> Caller {
        Caller { peer: self.clone(), ..Caller::silent() }
    }

    /// What it was asked so far.
    pub(crate) fn heard(&self) -> Vec<(String, Value)> {
        self.heard.lock().unwrap().clone()
    }
}

impl Peer for AskedClient {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    fn question_mode(&self) -> QuestionMode {
        self.question_mode
    }

    fn client(&self) -> Option<u64> {
        Some(self.client)
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        Box::pin(async move {
            let params = serde_json::from_str(question.params.get()).unwrap();
            self.heard.lock().unwrap().push((question.method.clone(), params));
            match (self.reply)(&question) {
                Ok(answer) if answer == NEVER => std::future::pending().await,
                answer => answer.map(|answer| Answer(raw(&answer))),
            }
        })
    }
}

/// The answer of a client that never gives one.
pub(crate) const NEVER: &str = "never";

pub(crate) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// The reference server in one era, over standard input and output or over HTTP.
pub(crate) struct ReferenceUpstream {
    pub(crate) settings: McpSettings,
    address: Option<SocketAddr>,
    running: Option<(DropGuard, JoinHandle<()>)>,
}

impl ReferenceUpstream {
    pub(crate) async fn new(wire: Wire, era: Era) -> Self {
        if wire == Wire::Stdio {
            let (command, args) = reference_command(&["--stdio", "--era", era.flag()]);
            let command = command.to_str().unwrap().to_owned();
            let stdio = StdioSettings { command, args, ..StdioSettings::default() };
            let settings = settings("up", Transport::Stdio(stdio));
            return Self { settings, address: None, running: None };
        }
        let (address, running) = serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), era).await;
        let settings = http("up", &format!("http://{address}/mcp"));
        Self { settings, address: Some(address), running: Some(running) }
    }

    /// Ends a server over HTTP, and starts another one at its address.
    pub(crate) async fn replace(&mut self, era: Era) {
        let address = self.address.expect("the server has an address");
        if let Some((guard, task)) = self.running.take() {
            drop(guard);
            task.await.unwrap();
            // A call on a connection whose end is not read yet would be lost, as it should.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.running = Some(serve(address, era).await.1);
    }
}

async fn serve(address: SocketAddr, era: Era) -> (SocketAddr, (DropGuard, JoinHandle<()>)) {
    let listener = loop {
        // The previous server may not have released the address yet.
        match TcpListener::bind(address).await {
            Ok(listener) => break listener,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let address = listener.local_addr().unwrap();
    let token = CancellationToken::new();
    let served = match era {
        Era::Handshake => ServedEras::Handshake,
        Era::Stateless => ServedEras::Stateless,
    };
    let serving = serve_http(listener, served, token.clone());
    let task = tokio::spawn(async { serving.await.unwrap() });
    (address, (token.drop_guard(), task))
}

/// One test for each transport and era of the reference server.
pub(crate) fn trials_honestly<F: Future<Output = ()>>(
    name: &str,
    test: impl FnOnce(Wire, Era) -> F + Send + Copy + 'static,
) -> Vec<Trial> {
    let ways = [Wire::Stdio, Wire::Http].into_iter();
    let ways = ways.flat_map(|wire| [(wire, Era::Handshake), (wire, Era::Stateless)]);
    ways.map(|(wire, era)| {
        let way = format!("{wire:?}_{era:?}").to_lowercase();
        trial(format!("{name}::{way}"), move || test(wire, era))
    })
    .collect()
}
