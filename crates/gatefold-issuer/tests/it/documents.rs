//! A site with clients' metadata documents.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::http::header::LOCATION;
use axum::http::{Response, StatusCode};
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::ask::REDIRECT;

pub(crate) struct DocumentSite {
    pub(crate) address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

impl DocumentSite {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let document = move |Path(name): Path<String>| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move { answer(address, &name) }
        };
        let router = Router::new().route("/{name}", get(document));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, asked }
    }

    /// The id of a client with a document of a kind.
    pub(crate) fn client(&self, kind: &str) -> String {
        format!("http://{}/{kind}", self.address)
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn document(address: SocketAddr, name: &str) -> Value {
    json!({
        "client_id": format!("http://{address}/{name}"),
        "client_name": "Notebook",
        "redirect_uris": ["http://127.0.0.1/callback", "https://app.example/cb"],
        "token_endpoint_auth_method": "none",
    })
}

fn answer(address: SocketAddr, name: &str) -> Response<Body> {
    let own = document(address, name);
    let with = |key: &str, value: Value| {
        let mut changed = own.clone();
        changed[key] = value;
        changed.to_string()
    };
    let body = match name {
        "about-another" => with("client_id", document(address, "good")["client_id"].clone()),
        "landed" => with("client_id", document(address, "moved")["client_id"].clone()),
        "html" => with("client_name", json!("<script>alert(1)</script>\"><img src=x>")),
        "no-name" => with("client_name", Value::Null),
        "secret" => with("token_endpoint_auth_method", json!("client_secret_post")),
        "large" => with("client_uri", json!("x".repeat(20_000))),
        "hostile" => with("redirect_uris", json!(["javascript:alert(1)", "http://evil.example/"])),
        "other" => with("redirect_uris", json!([REDIRECT])),
        "not-json" => "<html>".to_owned(),
        "moved" => {
            let to = format!("http://{address}/landed");
            let moved = Response::builder().status(StatusCode::FOUND).header(LOCATION, to);
            return moved.body(Body::empty()).unwrap();
        }
        "gone" => {
            let gone = Response::builder().status(StatusCode::NOT_FOUND);
            return gone.body(Body::from(own.to_string())).unwrap();
        }
        _ => own.to_string(),
    };
    Response::new(Body::from(body))
}
