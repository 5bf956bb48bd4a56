//! Lists that are refused or malformed: they change nothing, and are told as what they were.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use gatefold::App;
use gatefold_catalog::UnlistedState;
use gatefold_core::{AnswerFault, CallError, Digest, Operation, Outcome, SystemClock, ToolName};
use gatefold_dispatch::Caller;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::scratch::{Scratch, toml};

/// What a server of the stateless era answers by method: a result, an error, or a status.
type Answers = Arc<Mutex<HashMap<&'static str, Value>>>;

struct ScriptedServer {
    url: String,
    answers: Answers,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ScriptedServer {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let answers = Answers::default();
        let own = answers.clone();
        let router = Router::new().fallback(async move |body: Bytes| answer(&body, &own));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let server = Self { url, answers, task };
        server.set(
            "server/discover",
            json!({ "result": {
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {}, "prompts": {}, "resources": {} },
            } }),
        );
        server.set(
            "tools/list",
            json!({ "result": { "tools": [
            { "name": "echo", "inputSchema": { "type": "object" } },
        ] } }),
        );
        server.set("prompts/list", json!({ "result": { "prompts": [{ "name": "greet" }] } }));
        let resource = json!({ "uri": "x://a", "name": "a" });
        server.set("resources/list", json!({ "result": { "resources": [resource] } }));
        let template = json!({ "uriTemplate": "x://{a}", "name": "b" });
        let templates = json!({ "result": { "resourceTemplates": [template] } });
        server.set("resources/templates/list", templates);
        server
    }

    fn set(&self, method: &'static str, answer: Value) {
        self.answers.lock().unwrap().insert(method, answer);
    }
}

fn answer(body: &[u8], answers: &Answers) -> Response {
    let Ok(request) = serde_json::from_slice::<Value>(body) else {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    };
    let method = request["method"].as_str().unwrap_or_default();
    let Some(mut answer) = answers.lock().unwrap().get(method).cloned() else {
        return StatusCode::ACCEPTED.into_response();
    };
    if let Some(status) = answer.as_u64() {
        let status = StatusCode::from_u16(u16::try_from(status).unwrap()).unwrap();
        return (status, [(header::RETRY_AFTER, "7")]).into_response();
    }
    answer["jsonrpc"] = json!("2.0");
    answer["id"] = request["id"].clone();
    if answer["result"].is_object() {
        answer["result"]["resultType"] = json!("complete");
    }
    axum::Json(answer).into_response()
}

/// A gateway with this server as its source, called `up`.
struct Gateway {
    app: App,
    scratch: Scratch,
}

impl Gateway {
    async fn new(server: &ScriptedServer) -> Self {
        Self::of(server, Scratch::new()).await
    }

    async fn of(server: &ScriptedServer, scratch: Scratch) -> Self {
        let config = toml(&format!("[sources.up]\nurl = '{}'", server.url)).unwrap();
        let state = scratch.path().join("state");
        let app = gatefold::build(config, &state, Arc::new(SystemClock)).await.unwrap();
        Self { app, scratch }
    }

    /// Asks for the lists, and says whether that went well.
    async fn refresh(&self) -> bool {
        let refreshed = self.app.dispatcher().refresh().await;
        let own = refreshed.iter().find(|(domain, _)| domain.as_str() == "up");
        own.unwrap().1.is_ok()
    }

    fn digest(&self) -> Option<Digest> {
        let pinned = self.app.pin();
        pinned.view().domain("up").unwrap().manifest().map(|manifest| manifest.digest())
    }

    /// What the status says is wrong with the source.
    fn status_error(&self) -> Option<String> {
        let mut reports = self.app.dispatcher().reports().into_iter();
        reports.find(|report| report.domain.as_str() == "up").unwrap().status.error
    }

    /// What models are told of the source, which has listed nothing.
    fn unlisted(&self) -> UnlistedState {
        let pinned = self.app.pin();
        let source = pinned.view().unlisted().find(|source| source.domain.as_str() == "up");
        source.unwrap().state.clone()
    }

    async fn error(&self) -> CallError {
        let arguments = RawValue::from_string("{}".to_owned()).unwrap();
        let operation = Operation::Tool { name: ToolName::parse("up__echo").unwrap(), arguments };
        match self.app.pin().call(operation, None, Caller::silent()).await {
            Err(error) => error,
            Ok(Outcome::Done(payload)) => panic!("{}", payload.json),
            Ok(other) => panic!("{other:?}"),
        }
    }

    async fn close(self) -> Scratch {
        self.app.close().await;
        self.scratch
    }
}

#[tokio::test]
async fn a_malformed_list_after_a_good_one_changes_nothing() {
    for (method, list) in [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let server = ScriptedServer::start().await;
        let gateway = Gateway::new(&server).await;
        assert!(gateway.refresh().await);
        let good = gateway.digest().unwrap();
        for result in [
            json!({ list: null }),
            json!({}),
            json!("a text"),
            json!([]),
            json!({ list: {} }),
            json!({ list: "echo" }),
        ] {
            server.set(method, json!({ "result": result }));
            assert_eq!(gateway.refresh().await, list != "tools", "{list}: {result}");
            assert_eq!(gateway.digest(), Some(good), "{list}: {result}");
        }
        server.set(method, json!({ "result": { list: [] } }));
        assert!(gateway.refresh().await);
        assert_ne!(gateway.digest(), Some(good), "{list}: an empty list is a list");
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_refused_list_after_a_good_one_changes_nothing_and_is_told() {
    for (method, list) in [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let server = ScriptedServer::start().await;
        let gateway = Gateway::new(&server).await;
        assert!(gateway.refresh().await);
        let good = gateway.digest().unwrap();
        let refusal = |code: i64| json!({ "error": { "code": code, "message": "not today" } });
        for (answer, told) in [
            (refusal(-32603), format!("`{method}` was refused: not today")),
            (json!(403), "it answered with HTTP status 403".to_owned()),
            (json!(500), "it answered with HTTP status 500".to_owned()),
        ] {
            server.set(method, answer);
            assert_eq!(gateway.refresh().await, list != "tools", "{method}: {told}");
            assert_eq!(gateway.digest(), Some(good), "{method}: {told}");
            let error = gateway.status_error().expect("it is told");
            assert!(error.starts_with("its list could not be taken up: "), "{method}: {error}");
            assert!(error.contains(&told), "{method}: {error}");
        }
        if list != "tools" {
            server.set(method, refusal(-32601));
            assert!(gateway.refresh().await);
            assert_ne!(gateway.digest(), Some(good), "{method}: it has none any more");
            assert_eq!(gateway.status_error(), None, "{method}");
        }
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_first_list_that_is_null_is_an_empty_one() {
    let server = ScriptedServer::start().await;
    server.set("tools/list", json!({ "result": { "tools": null } }));
    let gateway = Gateway::new(&server).await;
    assert!(gateway.refresh().await);
    assert!(gateway.digest().is_some(), "its prompts and resources are there");
    gateway.close().await;
}

#[tokio::test]
async fn a_refused_list_is_told_as_what_it_was() {
    let error = json!({ "error": { "code": -32603, "message": "not today" } });
    for (answer, fault) in [
        (json!(401), AnswerFault::Status(401)),
        (json!(403), AnswerFault::Status(403)),
        (json!(429), AnswerFault::Status(429)),
        (json!(500), AnswerFault::Status(500)),
        (json!(503), AnswerFault::Status(503)),
        (error, AnswerFault::RefusedList),
        (json!({ "result": "a text" }), AnswerFault::Unreadable),
    ] {
        let server = ScriptedServer::start().await;
        server.set("tools/list", answer);
        let gateway = Gateway::new(&server).await;
        assert!(!gateway.refresh().await);
        assert_eq!(gateway.unlisted(), UnlistedState::Answered(fault));
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_refused_greeting_is_told_as_what_it_was() {
    for status in [403, 429, 500, 503] {
        let server = ScriptedServer::start().await;
        let gateway = Gateway::new(&server).await;
        assert!(gateway.refresh().await);
        let scratch = gateway.close().await;
        server.set("server/discover", json!(status));
        server.set("initialize", json!(status));
        let fault = AnswerFault::Status(status);
        let unknown = Gateway::new(&server).await;
        assert!(!unknown.refresh().await);
        assert_eq!(unknown.unlisted(), UnlistedState::Answered(fault));
        unknown.close().await;
        let known = Gateway::of(&server, scratch).await;
        let error = known.error().await;
        let CallError::NoResult { fault: told, retry_after, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!((*told, retry_after.map(|wait| wait.as_secs())), (fault, Some(7)), "{error}");
        let error = known.error().await;
        // On a slow machine the pause may be over.
        let told = match &error {
            CallError::CircuitOpen { fault, .. } => *fault,
            CallError::NoResult { fault, .. } => Some(*fault),
            other => panic!("{other:?}"),
        };
        assert_eq!(told, Some(fault), "{error}");
        known.close().await;
    }
}

#[tokio::test]
async fn a_status_instead_of_a_result_is_told_and_pauses_nobody() {
    let server = ScriptedServer::start().await;
    let gateway = Gateway::new(&server).await;
    assert!(gateway.refresh().await);
    for (status, effect) in [
        (403, "nothing was done; it may be called again in 7 s"),
        (429, "nothing was done; it may be called again in 7 s"),
        (500, "it may have taken effect, so find out before you call it again in 7 s"),
    ] {
        server.set("tools/call", json!(status));
        for _ in 0..10 {
            let told = gateway.error().await.for_caller();
            assert!(told.starts_with(&format!("`up` answered with status {status}: ")), "{told}");
            assert!(told.ends_with(effect), "{told}");
        }
    }
    gateway.close().await;
}

#[tokio::test]
async fn an_error_without_text_has_one() {
    let server = ScriptedServer::start().await;
    let gateway = Gateway::new(&server).await;
    assert!(gateway.refresh().await);
    for error in [json!({ "code": -32000, "message": "" }), json!({ "code": -32000 })] {
        server.set("tools/call", json!({ "error": error }));
        let error = gateway.error().await.to_string();
        assert_eq!(error, "`up__echo` refused the call: no reason given (code -32000)");
    }
    gateway.close().await;
}
