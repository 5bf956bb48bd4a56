//! An API that answers with what arrived, to the letter.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::{Multipart, Request};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatefold_connect::{Action, OutgoingRequest, RequestError};
use gatefold_egress::{Egress, HttpClient, HttpRequest, Reach, Redirects, Settings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::time::Instant;
use url::Url;

/// The longest body that the fixture takes, in bytes.
const MAX_BODY: usize = 8 << 20;

/// A request on the server's side, nothing decoded.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ArrivedRequest {
    pub(crate) method: String,
    /// The path and the query as they were in the request line.
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    /// As base64.
    body: String,
}

/// A part of a multipart body, as axum reads it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ArrivedPart {
    pub(crate) name: String,
    pub(crate) filename: Option<String>,
    pub(crate) media_type: Option<String>,
    /// As text, or as base64 where it is none.
    pub(crate) content: String,
}

impl ArrivedRequest {
    /// All values of a header.
    pub(crate) fn header(&self, name: &str) -> Vec<&str> {
        let own = self.headers.iter().filter(|(own, _)| own == name);
        own.map(|(_, value)| value.as_str()).collect()
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        STANDARD.decode(&self.body).unwrap()
    }
}

/// The API, and a client that may reach it.
pub(crate) struct FixtureApi {
    address: SocketAddr,
    client: HttpClient,
}

impl FixtureApi {
    pub(crate) async fn start() -> Self {
        let router = Router::new().route("/multipart", post(parts)).fallback(shown);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let egress = Egress::new(Settings::default()).unwrap().without_proxies();
        Self { address, client: egress.client_for(Reach::any()) }
    }

    /// Sends a call and gives what arrived, or why it was refused before.
    pub(crate) async fn call(
        &self,
        action: Value,
        arguments: &Value,
    ) -> Result<ArrivedRequest, RequestError> {
        let answer = self.answer(action, arguments).await?;
        Ok(serde_json::from_slice(&answer).unwrap())
    }

    /// The parts that a multipart body arrives in.
    pub(crate) async fn parts(&self, body: Value, arguments: &Value) -> Vec<ArrivedPart> {
        let action = serde_json::json!({ "method": "POST", "path": "/multipart", "body": body });
        serde_json::from_slice(&self.answer(action, arguments).await.unwrap()).unwrap()
    }

    async fn answer(&self, action: Value, arguments: &Value) -> Result<Vec<u8>, RequestError> {
        let action: Action = serde_json::from_value(action).unwrap();
        let arguments: Map<_, _> = arguments.as_object().unwrap().clone();
        let base = Url::parse(&format!("http://{}", self.address)).unwrap();
        let outgoing = OutgoingRequest::new(&action, &base, &arguments)?;
        let mut request =
            HttpRequest::new(outgoing.method, outgoing.url).redirects(Redirects::None);
        request.headers = outgoing.headers;
        request.body = outgoing.body.unwrap_or_default();
        let deadline = Instant::now() + Duration::from_secs(20);
        let response = self.client.send(request, deadline).await.unwrap();
        let status = response.status();
        let body = response.read_capped(4 * MAX_BODY as u64).await.unwrap();
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        Ok(body.to_vec())
    }
}

async fn shown(request: Request) -> String {
    let (head, body) = request.into_parts();
    let headers = head.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8(value.as_bytes().to_vec()).unwrap())
    });
    #[expect(clippy::disallowed_methods, reason = "it is capped here")]
    let body = axum::body::to_bytes(body, MAX_BODY).await.unwrap();
    let arrived = ArrivedRequest {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().map(str::to_owned),
        headers: headers.collect(),
        body: STANDARD.encode(body),
    };
    serde_json::to_string(&arrived).unwrap()
}

async fn parts(mut multipart: Multipart) -> String {
    let mut parts = Vec::new();
    while let Some(field) = multipart.next_field().await.unwrap() {
        let (name, filename) =
            (field.name().unwrap().to_owned(), field.file_name().map(str::to_owned));
        let media_type = field.content_type().map(str::to_owned);
        let bytes = field.bytes().await.unwrap();
        let content = String::from_utf8(bytes.to_vec()).unwrap_or_else(|_| STANDARD.encode(&bytes));
        parts.push(ArrivedPart { name, filename, media_type, content });
    }
    serde_json::to_string(&parts).unwrap()
}
