//! A provider that signs people in, and the MCP server and the HTTP API whose users they are, on one
//! port.
//!
//! It is strict where the standards are: a code and a refresh token are good once, and using a
//! refresh token twice ends the whole sign-in. What it does wrong on purpose is told by
//! [`ProviderRules`]. Whoever comes to its page is signed in at once.

mod api;
mod pages;
mod server;
mod state;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use self::state::ProviderState;
use crate::Error;
use crate::client::http_client;

/// How a provider behaves. A test changes it at any time.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub struct ProviderRules {
    /// How long an access token is good. None is never said.
    pub lifetime_s: Option<u64>,
    /// Whether each refresh gives a new refresh token and ends the old one.
    pub rotates: bool,
    /// Whether refresh tokens are given at all.
    pub refreshes: bool,
    /// The status of every answer of the token endpoint, if it fails.
    pub token_failure: Option<u16>,
    /// How long the token endpoint takes.
    pub token_delay_ms: u64,
    /// What the redirect names as its issuer. `{issuer}` stands for the right one.
    pub iss: Option<String>,
    /// The scopes that a call needs, at most `KEPT`. Others need none.
    pub call_scopes: Vec<String>,
    /// Members of the provider's metadata to replace, or to remove if they are null.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// The same for the server's metadata.
    pub resource_metadata: serde_json::Map<String, serde_json::Value>,
    /// Whether a person at another device signs in at once.
    pub device_signs_in: bool,
    /// Whether clients are registered only without scopes.
    pub refuses_scopes: bool,
    /// A scope that the page refuses.
    pub phantom_scope: Option<String>,
    /// How the only redirect addresses of the client `configured` begin and end.
    pub redirects: (String, String),
    /// The secret that every request for a token needs.
    pub client_secret: Option<String>,
    /// Whether the token endpoint knows clients by its body alone.
    pub secret_in_body: bool,
    /// Whether the token endpoint refuses what is newer than itself: the parameter `resource`.
    pub refuses_resource: bool,
    /// Where `/api/moved` leads.
    pub moved_to: String,
}

impl Default for ProviderRules {
    fn default() -> Self {
        Self {
            lifetime_s: Some(3600),
            rotates: true,
            refreshes: true,
            token_failure: None,
            token_delay_ms: 0,
            iss: Some("{issuer}".to_owned()),
            call_scopes: Vec::new(),
            metadata: serde_json::Map::new(),
            resource_metadata: serde_json::Map::new(),
            device_signs_in: true,
            refuses_scopes: false,
            phantom_scope: None,
            redirects: ("http://127.0.0.1:".to_owned(), String::new()),
            client_secret: None,
            secret_in_body: false,
            refuses_resource: false,
            moved_to: String::new(),
        }
    }
}

/// What a provider has done so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderCounts {
    pub registrations: usize,
    pub sign_ins: usize,
    pub refreshes: usize,
    /// Refresh tokens that came a second time. Each ended a sign-in.
    pub reuses: usize,
    /// Requests for tokens that were answered with `token_failure`.
    pub failures: usize,
    pub revocations: usize,
    pub calls: usize,
    /// Requests to the server with a token that is not good.
    pub refused: usize,
}

/// A running provider. Dropping it stops it.
pub struct Provider {
    address: SocketAddr,
    state: Arc<Mutex<ProviderState>>,
    _server: AbortOnDropHandle<()>,
}

impl Provider {
    pub async fn start() -> Result<Self, Error> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(Error::io("listening"))?;
        let address = listener.local_addr().map_err(Error::io("listening"))?;
        let state = Arc::new(Mutex::new(ProviderState::new(format!("http://{address}"))));
        let router =
            server::routes().merge(api::routes()).merge(pages::routes()).with_state(state.clone());
        let server = tokio::spawn(async move {
            // It ends with the test.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, state, _server: AbortOnDropHandle::new(server) })
    }

    /// The address of the server.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The address of the API.
    pub fn api_url(&self) -> String {
        format!("http://{}/api", self.address)
    }

    pub fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn change(&self, change: impl FnOnce(&mut ProviderRules)) {
        let rules = &mut self.lock().rules;
        change(rules);
        assert!(rules.call_scopes.len() <= KEPT, "a test wants too many scopes");
    }

    pub fn counts(&self) -> ProviderCounts {
        self.lock().counts.clone()
    }

    /// Every secret that it gave out or was given: codes, verifiers, tokens, clients' secrets.
    pub fn secrets(&self) -> Vec<String> {
        self.lock().secrets.clone()
    }

    /// Whether a header `Authorization` would be let in.
    pub fn admits(&self, header: &str) -> bool {
        let token = header.strip_prefix("Bearer ");
        token.is_some_and(|token| self.lock().scopes_of(token).is_some())
    }

    /// Ends every access token, as if its time had come.
    pub fn expire(&self) {
        self.lock().access.clear();
    }

    /// Ends every sign-in.
    pub fn end_all(&self) {
        let mut state = self.lock();
        state.access.clear();
        state.refresh.clear();
    }

    fn lock(&self) -> MutexGuard<'_, ProviderState> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<ProviderState>) -> MutexGuard<'_, ProviderState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Goes where a person's browser goes, from page to page. Returns the last page's status and text.
pub async fn browse(url: &str) -> Result<(u16, String), Error> {
    let page = http_client()?.get(url).send().await?;
    Ok((page.status().as_u16(), page.text().await?))
}

/// The most of everything that a provider keeps. A test ends long before.
const KEPT: usize = 1_000_000;

type SharedState = Arc<Mutex<ProviderState>>;
