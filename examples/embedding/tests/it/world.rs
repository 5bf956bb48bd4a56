use std::sync::Arc;

use gatefold::App;
use gatefold_embedding_example::desk::Desk;
use gatefold_embedding_example::vault::Vault;
use gatefold_embedding_example::{gateway, routes};
use gatefold_mcp::serve_http;
use gatefold_store::{CallFilter, CallRecord};
use gatefold_testkit::{RawClient, RawResponse};
use http::HeaderMap;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

/// The example's gateway, served on a free port until this is dropped.
pub(crate) struct World {
    app: Arc<App>,
    pub(crate) desk: Arc<Desk>,
    url: String,
    _stop: DropGuard,
    _folder: TempDir,
}

impl World {
    pub(crate) async fn of(config: &str) -> Self {
        Self::with(config, Vault::default()).await
    }

    /// A gateway of this configuration, whose sources were all asked what they offer.
    pub(crate) async fn with(config: &str, vault: Vault) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gatefold.toml");
        std::fs::write(&file, config).unwrap();
        let (desk, state) = (Arc::<Desk>::default(), folder.path().join("state"));
        let app = gateway(&file, &state, desk.clone(), Arc::new(vault)).await.unwrap();
        let app = Arc::new(app);
        app.learn(&()).await;
        let (origin, stop) = serve(&app).await;
        let url = format!("{origin}/mcp");
        Self { app, desk, url, _stop: stop, _folder: folder }
    }

    /// The records of all calls, the latest first.
    pub(crate) async fn records(&self) -> Vec<Record> {
        let calls = self.app.store().recent_calls(100, &CallFilter::default()).await.unwrap();
        let record = |call: CallRecord| {
            (call.user, call.tool.unwrap_or_default(), call.decided_by, call.outcome)
        };
        calls.into_iter().map(record).collect()
    }

    /// Ann's client, who is shown tools by the usual disclosure.
    pub(crate) fn ann(&self) -> RawClient {
        self.client("").with_bearer("token-of-ann")
    }

    pub(crate) fn bob(&self) -> RawClient {
        self.client("").with_bearer("token-of-bob")
    }

    /// Where one source is shown by itself.
    pub(crate) fn url_of(&self, domain: &str) -> String {
        format!("{}/source/{domain}", self.url)
    }

    /// Where the gateway is.
    pub(crate) fn origin(&self) -> &str {
        self.url.trim_end_matches("/mcp")
    }

    /// A client that nobody knows. `query` goes behind the address.
    pub(crate) fn client(&self, query: &str) -> RawClient {
        RawClient::new(format!("{}{query}", self.url)).unwrap()
    }
}

/// Serves an app with the example's routes on a free port, until the guard is dropped.
pub(crate) async fn serve(app: &App) -> (String, DropGuard) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let stop = CancellationToken::new();
    let endpoint = app.endpoint().unwrap();
    tokio::spawn(serve_http(app.server(), listener, endpoint, routes::routes(), stop.clone()));
    (origin, stop.drop_guard())
}

/// What an address answers to whoever has a token, or to a stranger.
pub(crate) async fn answer(url: &str, token: Option<&str>) -> RawResponse {
    let client = RawClient::new(url).unwrap();
    let client = match token {
        Some(token) => client.with_bearer(token),
        None => client,
    };
    client.post_raw("", HeaderMap::new()).await.unwrap()
}

/// Arguments of `execute_tool` that greet somebody.
pub(crate) fn greet(tool: &str, name: &str) -> String {
    format!(r#"{{"tool_name":"{tool}","arguments":{{"name":"{name}"}}}}"#)
}

/// A record of a call: who made it, of which tool, who decided about it, and what it came to.
pub(crate) type Record = (String, String, Option<String>, String);
