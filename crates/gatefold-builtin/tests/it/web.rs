use std::net::SocketAddr;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{any, get, post};
use gatefold_builtin::{SearchApi, SearchSettings, Toolbox};
use gatefold_core::Secret;
use gatefold_egress::PrivateNetworks;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::fixture::{answer, said, toolbox_with};

const PAGE: &str = "<title>A page</title><nav>x</nav><main><h1>Main</h1><p>Text.</p></main>";

/// A site on this machine.
async fn site() -> SocketAddr {
    let typed = |media_type: &'static str, body: &'static str| {
        get(move || async move { ([(header::CONTENT_TYPE, media_type)], body) })
    };
    let router = Router::new()
        .route("/page", typed("text/html; charset=utf-8", PAGE))
        .route("/text", typed("text/plain", "plain"))
        .route("/image", typed("image/png", "\u{89}PNG"))
        .route("/long", get(|| async { "x".repeat(5 * 1024 * 1024) }))
        .route("/away", get(|| async { Redirect::temporary("/page") }))
        .route("/metadata", get(|| async { Redirect::temporary("http://169.254.169.254/") }))
        .route("/missing", get(|| async { StatusCode::NOT_FOUND }))
        .route("/echo", any(echo))
        .route("/brave", get(brave))
        .route("/tavily", post(tavily));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

async fn echo(request: Request) -> Response {
    let (head, body) = request.into_parts();
    #[expect(clippy::disallowed_methods, reason = "it is capped here")]
    let body = axum::body::to_bytes(body, 1 << 21).await.unwrap();
    let own = head.headers.get("x-own").map(|value| value.to_str().unwrap().to_owned());
    let method = head.method.to_string();
    let shown = json!({ "method": method, "own": own, "body": String::from_utf8_lossy(&body) });
    (StatusCode::CREATED, [(header::CONTENT_TYPE, "application/json")], shown.to_string())
        .into_response()
}

async fn brave(request: Request) -> Response {
    let key = request.headers().get("x-subscription-token");
    if key.is_none_or(|key| key != "k3y") {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    let results = json!([
        { "title": "One", "url": "https://one.example/", "description": format!("<strong>{query}</strong>") },
        { "title": "No address" },
        { "title": "Two", "url": "https://two.example/", "description": "second" },
    ]);
    json!({ "web": { "results": results } }).to_string().into_response()
}

async fn tavily(body: String) -> String {
    let asked: Value = serde_json::from_str(&body).unwrap();
    let one = json!({ "title": asked["query"], "url": "https://t.example/", "content": "c" });
    json!({ "results": [one] }).to_string()
}

/// The tools, for which this machine is allowed.
fn tools() -> Toolbox {
    toolbox_with(|own| own.private = PrivateNetworks::All)
}

#[tokio::test]
async fn a_page_is_read_as_markdown() {
    let (tools, site) = (tools(), site().await);
    let fetched = answer(&tools, "fetch", &json!({ "url": format!("http://{site}/away") })).await;
    let fetched = fetched.unwrap();
    assert_eq!(fetched.text, "# A page\n\n# Main\n\nText.");
    assert_eq!(
        fetched.structured,
        json!({
            "url": format!("http://{site}/page"),
            "media_type": "text/html",
            "title": "A page",
            "text": "# Main\n\nText.",
            "total_length": 13,
        })
    );
    let raw = json!({ "url": format!("http://{site}/page"), "raw": true });
    assert_eq!(said(&tools, "fetch", &raw).await, PAGE);
    let part = json!({ "url": format!("http://{site}/page"), "start": 2, "max_length": 4 });
    let expected = "Main\n[13 characters in all; go on with start=6]";
    assert_eq!(said(&tools, "fetch", &part).await, expected);
}

#[tokio::test]
async fn what_cannot_be_shown_is_named() {
    let (tools, site) = (tools(), site().await);
    for (path, error) in [
        ("image", "this is `image/png` of 5 bytes, which cannot be shown as a text".to_owned()),
        ("missing", "the server answered 404 Not Found".to_owned()),
    ] {
        let arguments = json!({ "url": format!("http://{site}/{path}") });
        assert_eq!(said(&tools, "fetch", &arguments).await, format!("error: {error}"));
    }
    let long = said(&tools, "fetch", &json!({ "url": format!("http://{site}/long") })).await;
    assert!(long.starts_with("error: ") && long.contains("4194304"), "{long}");
}

#[tokio::test]
async fn nothing_private_is_reached_unless_it_is_allowed() {
    let site = site().await;
    let guarded = toolbox_with(|_| {});
    for tool in ["fetch", "http_request"] {
        for url in [
            format!("http://{site}/page"),
            format!("http://localhost:{}/page", site.port()),
            format!("http://[::ffff:127.0.0.1]:{}/page", site.port()),
            format!("http://2130706433:{}/page", site.port()),
            format!("http://0x7f.1:{}/page", site.port()),
            format!("http://0.0.0.0:{}/page", site.port()),
            "http://169.254.169.254/latest/meta-data/".to_owned(),
            "http://[fd00:ec2::254]/".to_owned(),
            "http://10.0.0.1/".to_owned(),
            "file:///etc/passwd".to_owned(),
            "ftp://host.example/".to_owned(),
            "data:text/plain,x".to_owned(),
            "gopher://127.0.0.1/".to_owned(),
            "http://user:password@127.0.0.1/".to_owned(),
            "//host.example".to_owned(),
            "http://".to_owned(),
            "http://\u{0}/".to_owned(),
            format!("http://host.example/{}", "x".repeat(5000)),
            String::new(),
        ] {
            let text = said(&guarded, tool, &json!({ "url": url })).await;
            assert!(text.starts_with("error: ") && !text.contains("Text."), "{tool} {url}: {text}");
        }
    }
    // What is allowed does not open the way to metadata services.
    let text = said(&tools(), "fetch", &json!({ "url": format!("http://{site}/metadata") })).await;
    assert!(text.starts_with("error: ") && text.contains("169.254.169.254"), "{text}");
}

#[tokio::test]
async fn a_request_is_sent_as_it_is_asked_for() {
    let (tools, site) = (tools(), site().await);
    let url = format!("http://{site}/echo");
    let arguments = json!({
        "url": url, "method": "post", "headers": { "X-Own": "1" }, "body": "{\"a\":1}",
    });
    let sent = answer(&tools, "http_request", &arguments).await.unwrap();
    let body: Value = serde_json::from_str(sent.structured["body"].as_str().unwrap()).unwrap();
    assert_eq!(body, json!({ "method": "POST", "own": "1", "body": "{\"a\":1}" }));
    assert_eq!(sent.structured["status"], 201);
    let redirect = json!({ "url": format!("http://{site}/away") });
    let redirected = answer(&tools, "http_request", &redirect).await.unwrap();
    assert_eq!(redirected.structured["status"], 307);
    for (arguments, error) in [
        (
            json!({ "url": url, "method": "TRACE" }),
            "`method` has to be one of GET, HEAD, POST, PUT, PATCH, DELETE",
        ),
        (
            json!({ "url": url, "headers": { "Host": "other" } }),
            "the header `Host` is set by the client; leave it out",
        ),
        (
            json!({ "url": url, "headers": { "a": "b\r\nc: d" } }),
            "the header `a` has no legal value",
        ),
        (json!({ "url": url, "headers": { "a b": "c" } }), "the header `a b` has no legal name"),
    ] {
        assert_eq!(said(&tools, "http_request", &arguments).await, format!("error: {error}"));
    }
}

#[tokio::test]
async fn search_engines_are_asked_in_their_own_ways() {
    let site = site().await;
    let searching = |api, key: Option<&str>| {
        let path = if api == SearchApi::Tavily { "tavily" } else { "brave" };
        let url = format!("http://{site}/{path}").parse().unwrap();
        let key = key.map(Secret::new);
        toolbox_with(|own| own.search = Some(SearchSettings { url, api, key }))
    };
    let query = json!({ "query": "a & b", "max_results": 2 });
    let brave = searching(SearchApi::Brave, Some("k3y"));
    assert_eq!(
        said(&brave, "web_search", &query).await,
        "1. One\n   https://one.example/\n   q=a+%26+b&count=2\n2. Two\n   https://two.example/\n   second"
    );
    let tavily = searching(SearchApi::Tavily, Some("k3y"));
    assert_eq!(said(&tavily, "web_search", &query).await, "1. a & b\n   https://t.example/\n   c");
    let wrong = searching(SearchApi::Brave, Some("s3cret"));
    let failed = said(&wrong, "web_search", &query).await;
    assert_eq!(failed, "error: the search engine answered 401 Unauthorized");
    let none = toolbox_with(|_| {});
    assert_eq!(said(&none, "web_search", &query).await, "error: there is no such tool");
    assert_eq!(
        said(&brave, "web_search", &json!({ "query": " " })).await,
        "error: `query` is empty"
    );
}
