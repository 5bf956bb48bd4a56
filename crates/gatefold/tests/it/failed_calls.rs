//! What a call of an HTTP API is told that has no result, and what that does to the calls of others.

use std::fmt::Write as _;
use std::sync::Arc;

use gatefold::App;
use gatefold_core::{CallError, Operation, Outcome, Payload, SystemClock, ToolName};
use gatefold_dispatch::{BreakerState, Caller, SourceReport};
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::scratch::{Scratch, toml};

/// More failures than pause a source.
const ROUNDS: usize = 3;

/// An API that fails as its paths say.
async fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(answer(stream));
        }
    });
    format!("http://{address}")
}

async fn answer(mut stream: TcpStream) {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read_buf(&mut head).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let redirect = |status: &str, to: &str| {
        format!(
            "HTTP/1.1 {status}\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
    };
    let body = |kind: &str, more: &str, body: &str| {
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n{more}connection: close\r\n\r\n{body}")
    };
    let text = match &*path {
        "/well" => body("text/plain", "content-length: 2\r\n", "ok"),
        "/found" => redirect("302 Found", "/things/7?by=me"),
        "/elsewhere" => redirect("302 Found", "http://192.0.2.1/s3cret"),
        "/other" => redirect("303 See Other", "http://192.0.2.1/s3cret"),
        "/signin" => redirect("302 Found", "/account/login?next=x"),
        "/moved" => redirect("301 Moved Permanently", "/things"),
        "/temporarily" => redirect("307 Temporary Redirect", "http://192.0.2.1/s3cret"),
        "/circle" => redirect("302 Found", "/circle"),
        "/cut" => body("application/json", "content-length: 100\r\n", "{\"id\":"),
        "/coding" => body("text/plain", "content-encoding: zstd\r\ncontent-length: 2\r\n", "ok"),
        "/broken" => "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 9\r\n\r\n{".to_owned(),
        "/silent" => String::new(),
        "/slow" => body("application/json", "", "{\"id\":7,"),
        "/events" => body("text/event-stream", "", "data: 1\n\ndata: 2\n\ndata: hal"),
        "/lines" => body("application/x-ndjson", "", "{\"n\":1}\n{\"n\":2}\n{\"n"),
        "/flood" => body("application/x-ndjson", "", ""),
        "/brokenlines" => body("application/x-ndjson", "content-length: 99\r\n", "{\"n\":1}\n{"),
        _ => panic!("{path}"),
    };
    let _ = stream.write_all(text.as_bytes()).await;
    match &*path {
        "/slow" | "/events" | "/lines" => std::future::pending().await,
        "/flood" => while stream.write_all(&b"{\"n\":1}\n".repeat(4096)).await.is_ok() {},
        _ => {}
    }
}

struct FailingApi {
    app: App,
    _scratch: Scratch,
}

impl FailingApi {
    async fn new() -> Self {
        Self::at(&serve().await, "").await
    }

    async fn at(url: &str, more: &str) -> Self {
        let mut text = format!(
            "[limits]\nbreaker_failures = {ROUNDS}\nbreaker_pause = '10m'\ncall_deadline = '2s'\n\
             stored_result = '1MiB'\n[sources.crm]\nbase_url = '{url}'\n{more}\n"
        );
        for name in [
            "well",
            "found",
            "elsewhere",
            "other",
            "signin",
            "moved",
            "temporarily",
            "circle",
            "cut",
            "coding",
            "broken",
            "silent",
            "slow",
            "events",
            "lines",
            "flood",
            "brokenlines",
        ] {
            for method in ["GET", "POST"] {
                let tool = format!("{}_{name}", method.to_lowercase());
                writeln!(
                    text,
                    "[[sources.crm.actions]]\nname = '{tool}'\nmethod = '{method}'\npath = '/{name}'"
                )
                .unwrap();
            }
        }
        let scratch = Scratch::new();
        let config = toml(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let state = scratch.path().join("state");
        let app = gatefold::build(config, &state, Arc::new(SystemClock)).await.unwrap();
        assert_eq!(app.learn(&()).await, []);
        Self { app, _scratch: scratch }
    }

    async fn call(&self, tool: &str) -> Result<Payload, CallError> {
        let arguments = RawValue::from_string("{}".to_owned()).unwrap();
        let name = ToolName::parse(&format!("crm__{tool}")).unwrap();
        let operation = Operation::Tool { name, arguments };
        match self.app.pin().call(operation, None, Caller::silent()).await? {
            Outcome::Done(payload) => Ok(payload),
            other => panic!("{other:?}"),
        }
    }

    fn report(&self) -> SourceReport {
        let mut reports = self.app.reports().into_iter();
        reports.find(|report| report.domain.as_str() == "crm").unwrap()
    }

    fn breaker(&self) -> BreakerState {
        self.report().breaker
    }

    /// What a model is told: the text of the result, or the error without what only the operator sees.
    async fn told(&self, tool: &str) -> String {
        match self.call(tool).await {
            Ok(payload) => {
                let result: serde_json::Value = serde_json::from_str(payload.json.get()).unwrap();
                let blocks = result["content"].as_array().unwrap().iter();
                let texts: Vec<_> = blocks.map(|block| block["text"].as_str().unwrap()).collect();
                format!("{}{}", if payload.is_error { "error: " } else { "" }, texts.join(" | "))
            }
            Err(error) => error.for_caller(),
        }
    }
}

/// What is told of a tool, as often as would pause the source if it counted, and that the source
/// still serves.
async fn check(tool: &str, expected: &str) {
    let api = FailingApi::new().await;
    for _ in 0..ROUNDS {
        let told = api.told(tool).await;
        assert_eq!(told, expected, "{tool}");
        assert!(!told.contains("192.0.2.1") && !told.contains("s3cret"), "{told}");
    }
    assert_eq!(api.breaker(), BreakerState::Closed, "{tool}");
    assert_eq!(api.told("get_well").await, "ok", "after {tool}");
    api.app.close().await;
}

const CERTAIN: &str = "it took effect, so do not call it again";
const POSSIBLE: &str = "it may have taken effect, so find out before you call it again";
const HARMLESS: &str = "it was delivered, and calling it again does no harm";

#[tokio::test]
async fn a_redirect_of_a_call_that_was_carried_out_is_its_answer() {
    check("post_found", "302 Found: it took effect, see /things/7?by=me").await;
    let hidden = "it took effect; what came of it is at another address, which is not read";
    check("post_elsewhere", &format!("302 Found: {hidden}")).await;
    check("post_other", &format!("303 See Other: {hidden}")).await;
}

#[tokio::test]
async fn a_redirect_that_is_not_followed_is_told_as_one() {
    let redirect = "`crm` answered with a redirect that is not followed; ";
    check("post_moved", &format!("{redirect}{POSSIBLE}")).await;
    check("post_temporarily", &format!("{redirect}nothing was done")).await;
    check("get_circle", &format!("{redirect}{HARMLESS}")).await;
    let elsewhere = "`crm` answered with a redirect, and nothing was answered there; ";
    check("get_elsewhere", &format!("{elsewhere}{HARMLESS}")).await;
    check(
        "post_signin",
        "error: the API answered 302 Found and leads to its sign-in page, so nothing was done\n\
         the source has no `auth` in its configuration",
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_says_what_the_call_did() {
    check("get_cut", &format!("`crm` ended its answer early; {HARMLESS}")).await;
    check("post_cut", &format!("`crm` ended its answer early; {CERTAIN}")).await;
    check("get_coding", &format!("`crm` sent an answer that cannot be read; {HARMLESS}")).await;
    check("post_coding", &format!("`crm` sent an answer that cannot be read; {CERTAIN}")).await;
    check("post_broken", "error: the API answered 500 Internal Server Error").await;
}

#[tokio::test]
async fn an_answer_without_end_is_no_deadline() {
    check("get_slow", &format!("`crm` did not end its answer in time; {HARMLESS}")).await;
    check("post_slow", &format!("`crm` did not end its answer in time; {CERTAIN}")).await;
}

#[tokio::test]
async fn a_stream_without_end_gives_what_came_and_is_marked() {
    let api = FailingApi::new().await;
    for (tool, start) in [
        ("get_events", "data: 1\n\ndata: 2\n\n | "),
        ("post_lines", "{\"n\":1}\n{\"n\":2}\n | "),
        ("get_lines", "{\"n\":1}\n{\"n\":2}\n | "),
    ] {
        let told = api.told(tool).await;
        let note = told.strip_prefix(start).unwrap_or_else(|| panic!("{tool}: {told}"));
        assert!(
            note.starts_with("the answer is a stream that went on: this is what came"),
            "{told}"
        );
    }
    let told = api.told("get_brokenlines").await;
    assert_eq!(told, "{\"n\":1}\n | the answer is a stream that broke off: this is what came");
    let told = api.told("get_flood").await;
    assert!(told.ends_with(" | the answer is a stream that went on: this is its beginning"));
    assert!(told.len() < 1024 * 1024, "{} bytes", told.len());
    assert_eq!(api.breaker(), BreakerState::Closed);
    api.app.close().await;
}

#[tokio::test]
async fn only_where_nothing_is_answered_a_source_is_unavailable_and_pauses() {
    let api = FailingApi::new().await;
    for _ in 0..ROUNDS {
        let told = api.told("get_silent").await;
        assert_eq!(told, "`crm` is temporarily unavailable: it is unreachable");
    }
    assert_eq!(api.breaker(), BreakerState::Open);
    let held_back = api.call("get_well").await.unwrap_err();
    assert!(matches!(held_back, CallError::CircuitOpen { .. }), "{held_back}");
    api.app.close().await;
    let api = FailingApi::new().await;
    let lost = api.told("post_silent").await;
    assert_eq!(
        lost,
        "the connection ended while `crm__post_silent` was under way; it may have taken effect"
    );
    api.app.close().await;
}

#[tokio::test]
async fn the_operator_gets_the_whole_chain() {
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let api = FailingApi::at(&format!("http://{unused}"), "").await;
    let error = api.call("get_well").await.unwrap_err();
    let told = error.for_operator().unwrap();
    assert_eq!(told, error.to_string(), "a person at a terminal reads as much");
    assert!(told.contains(&unused.to_string()) && told.contains("refused"), "{told}");
    let last = api.report().traffic.last_error.unwrap();
    assert!(last.message.contains("refused"), "{}", last.message);
    api.app.close().await;
}

#[tokio::test]
async fn a_token_endpoint_that_refuses_is_no_failure_of_the_api() {
    let url = serve().await;
    for (path, fault) in
        [("broken", "500"), ("found", "redirects to"), ("coding", "cannot be decoded")]
    {
        let auth = format!(
            "auth = {{ client_credentials = {{ token_url = '{url}/{path}', client_id = 'a', client_secret = 'b' }} }}"
        );
        let api = FailingApi::at(&url, &auth).await;
        for _ in 0..=ROUNDS {
            let error = api.call("post_well").await.unwrap_err();
            assert_eq!(
                error.for_caller(),
                "`crm` was not called: the gateway got no credentials for it; try again in a \
                 minute, and tell the user if that does not help"
            );
            assert!(error.to_string().contains(fault), "{error}");
        }
        assert_eq!(api.breaker(), BreakerState::Closed, "{path}");
        api.app.close().await;
    }
}
