//! A handshake-era server over HTTP whose every message a test chooses.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use futures::StreamExt as _;
use gatefold_core::{Operation, Uri};
use gatefold_dispatch::{Caller, QuestionMode, RequestMeta};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::DropGuard;

use super::asking::{ALL, AskedClient};
use super::support::{LONG, http as at, trial};
use super::world::{World, text, tool_call};
use crate::serving::serve_router;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_list_that_fails_costs_only_itself", lists),
        trial("a_list_that_fails_once_it_was_had_stays_as_it_was", kept),
        trial("a_server_that_does_not_let_go_of_a_resource_holds_nobody_up", unheard),
        trial("a_server_that_will_not_log_as_wanted_is_asked_once", levels),
        trial("a_question_beside_the_answers_finds_the_one_call_under_way", beside),
        trial("an_answer_beside_the_answers_finds_its_call", elsewhere),
        trial("a_question_beside_the_answers_that_may_be_anybodys_is_refused", anybodys),
        trial("a_malformed_question_is_refused_and_reaches_nobody", malformed),
    ]
}

/// A server whose questions come on the stream that belongs to no request.
struct Server {
    questions: mpsc::Sender<String>,
    stream: Mutex<Option<mpsc::Receiver<String>>>,
    /// The answers to its questions.
    answers: watch::Sender<Vec<Value>>,
    /// Calls that wait until enough of them are under way.
    together: tokio::sync::Barrier,
    /// How often each kind of list was requested.
    listed: [AtomicUsize; 2],
    /// How often it was asked to change its log level.
    levels: AtomicUsize,
}

impl Server {
    /// Returns the list only the first time, and the error from then on.
    fn once(&self, list: usize, result: &Value, code: i64) -> Value {
        match self.listed[list].fetch_add(1, Ordering::Relaxed) {
            0 => json!({ "result": result }),
            _ => json!({"error": {"code": code, "message": "not any more"}}),
        }
    }
}

async fn serve(together: usize) -> (String, DropGuard) {
    let (questions, stream) = mpsc::channel(8);
    let server = Arc::new(Server {
        questions,
        stream: Mutex::new(Some(stream)),
        answers: watch::Sender::new(Vec::new()),
        together: tokio::sync::Barrier::new(together),
        listed: Default::default(),
        levels: AtomicUsize::default(),
    });
    let router = Router::new().route("/mcp", post(take).get(stand)).with_state(server);
    serve_router(router).await
}

fn respond(status: u16, kind: &str, body: impl Into<Body>) -> Response {
    let response = Response::builder().status(status).header("content-type", kind);
    response.header("mcp-session-id", "one").body(body.into()).unwrap()
}

async fn stand(State(server): State<Arc<Server>>) -> Response {
    let Some(stream) = server.stream.lock().await.take() else {
        return respond(409, "text/plain", "");
    };
    let events = futures::stream::unfold(stream, async |mut stream| {
        let question = stream.recv().await?;
        Some((Ok::<_, Infallible>(format!("data: {question}\n\n")), stream))
    });
    respond(200, "text/event-stream", Body::from_stream(events.boxed()))
}

async fn take(State(server): State<Arc<Server>>, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let answer = match message["method"].as_str() {
        None => {
            server.answers.send_modify(|answers| answers.push(message));
            return respond(202, "text/plain", "");
        }
        Some("initialize") => json!({"result": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "logging": {}},
            "serverInfo": {"name": "raw", "version": "1"},
        }}),
        Some("tools/list") => {
            let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
            json!({"result": {"tools": [tool("ask"), tool("elsewhere"), tool("levels")]}})
        }
        Some("prompts/list") => json!({"error": {"code": -32603, "message": "not today"}}),
        Some("resources/list") => {
            server.once(0, &json!({"resources": [{"uri": "raw://1", "name": "one"}]}), -32603)
        }
        Some("resources/templates/list") => {
            let template = json!({"uriTemplate": "raw://{n}", "name": "any"});
            server.once(1, &json!({"resourceTemplates": [template]}), -32601)
        }
        Some("logging/setLevel") => {
            server.levels.fetch_add(1, Ordering::Relaxed);
            json!({"error": {"code": -32603, "message": "not today"}})
        }
        Some("tools/call") if message["params"]["name"] == "levels" => {
            let told = server.levels.load(Ordering::Relaxed).to_string();
            json!({"result": {"content": [{"type": "text", "text": told}]}})
        }
        Some("resources/subscribe") => json!({"result": {}}),
        Some("resources/unsubscribe") => std::future::pending().await,
        Some("tools/call") if message["params"]["name"] == "elsewhere" => {
            let result = json!({"content": [{"type": "text", "text": "from elsewhere"}]});
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            server.questions.send(answer.to_string()).await.unwrap();
            return respond(200, "text/event-stream", "id: e1\nretry: 60000\ndata: \n\n");
        }
        Some("tools/call") => {
            let told = ask(&server, &message["id"], &message["params"]["arguments"]).await;
            json!({"result": {"content": [{"type": "text", "text": told}]}})
        }
        Some(_) if message["id"].is_null() => return respond(202, "text/plain", ""),
        Some(_) => json!({"error": {"code": -32601, "message": "unknown"}}),
    };
    let mut answer = answer;
    answer["jsonrpc"] = "2.0".into();
    answer["id"] = message["id"].clone();
    respond(200, "application/json", answer.to_string())
}

/// Asks on the stream that belongs to no request, once for each call, and returns what came back. The
/// arguments of the call may say what is asked.
async fn ask(server: &Server, call: &Value, arguments: &Value) -> String {
    server.together.wait().await;
    let id = format!("question of {call}");
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let mut question = json!({
        "jsonrpc": "2.0",
        "id": id,
        "method": "elicitation/create",
        "params": {"message": "Who?", "requestedSchema": schema},
    });
    for (member, value) in arguments.as_object().into_iter().flatten() {
        question[member] = value.clone();
    }
    let mut answers = server.answers.subscribe();
    server.questions.send(question.to_string()).await.unwrap();
    loop {
        let own = answers.borrow_and_update().iter().find(|answer| answer["id"] == *id).cloned();
        if let Some(answer) = own {
            return answer.get("result").or(answer.get("error")).unwrap().to_string();
        }
        answers.changed().await.unwrap();
    }
}

async fn lists() {
    let (url, _server) = serve(1).await;
    let world = World::connected(&at("up", &url)).await;
    let manifest = world.keeper.last();
    assert_eq!((manifest.tools().len(), manifest.prompts().len()), (3, 0));
    let error = world.report("up").status.error.expect("the refusal is shown");
    assert_eq!(error, "its list could not be taken up: `prompts/list` was refused: not today");
    assert_eq!(manifest.resources()[0].key(), "raw://1");
    assert_eq!(manifest.templates().len(), 1);
}

async fn kept() {
    let (url, _server) = serve(1).await;
    let world = World::connected(&at("up", &url)).await;
    assert_eq!(world.refresh().await[0].1, Ok(()));
    let kept = world.keeper.kept();
    assert_eq!(kept.len(), 2, "the second list has no templates");
    let (first, last) = (&kept[0].2, &kept[1].2);
    assert_eq!(last.resources()[0].raw(), first.resources()[0].raw());
    assert!(last.templates().is_empty());
}

async fn unheard() {
    let (url, _server) = serve(1).await;
    let mut settings = at("up", &url);
    settings.connect_deadline = Duration::from_secs(1);
    let world = World::connected(&settings).await;
    let uri = Uri::new("gatefold://up/raw://1");
    world.done(Operation::Subscribe(uri.clone()), Caller::silent()).await;
    let left = world.operate(Operation::Unsubscribe(uri.clone()), None, Caller::silent());
    let again = async {
        drop(left.await);
        world.done(Operation::Subscribe(uri), Caller::silent()).await
    };
    timeout(LONG, again).await.expect("it is listened to again");
}

async fn levels() {
    let (url, _server) = serve(1).await;
    let world = World::connected(&at("up", &url)).await;
    for (level, times) in [("info", "1"), ("info", "1"), ("debug", "2"), ("warning", "2")] {
        let meta = RequestMeta { log_level: Some(level.to_owned()), ..RequestMeta::default() };
        let caller = Caller { meta: meta.into(), ..Caller::silent() };
        let result = world.done(tool_call("up__levels", "{}"), caller).await;
        assert_eq!(result["content"][0]["text"], times, "{level}");
    }
}

async fn beside() {
    let (url, _server) = serve(1).await;
    let world = World::connected(&at("up", &url)).await;
    let client = AskedClient::saying(r#"{"action":"accept","content":{"name":"Ada"}}"#);
    let result = world.done(tool_call("up__ask", "{}"), client.caller()).await;
    let told = result["content"][0]["text"].as_str().unwrap();
    assert!(told.contains("Ada"), "{told}");
    assert_eq!(client.heard().len(), 1);
}

async fn anybodys() {
    let (url, _server) = serve(2).await;
    let world = World::connected(&at("up", &url)).await;
    let calls = [(); 2].map(|()| {
        let client = AskedClient::new(ALL, QuestionMode::Live, |_| panic!("it was asked"));
        world.start("up__ask", "{}", client.caller())
    });
    for call in calls {
        let told = text(&call.await.unwrap().unwrap());
        assert!(told.contains("several requests"), "{told}");
    }
}

async fn malformed() {
    let (url, _server) = serve(1).await;
    let world = World::connected(&at("up", &url)).await;
    let client = AskedClient::new(ALL, QuestionMode::Live, |_| panic!("it was asked"));
    for question in [
        json!({"params": {}}),
        json!({"params": ["Who?"]}),
        json!({"params": {"message": "Who?", "requestedSchema": "a name"}}),
        json!({"method": "sampling/createMessage"}),
        json!({"method": "sampling/createMessage", "params": {"messages": "Hi", "maxTokens": 9}}),
        json!({"method": "roots/list", "params": "all"}),
    ] {
        let call = tool_call("up__ask", &question.to_string());
        let result = world.done(call, client.caller()).await;
        let told: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(told["code"], -32602, "{question}: {told}");
    }
}

async fn elsewhere() {
    let (url, _server) = serve(1).await;
    let world = World::connected(&at("up", &url)).await;
    assert_eq!(world.text("up__elsewhere", "{}").await, "from elsewhere");
}
