//! The reference server. The conformance suite shows that it is correct; these tests cover what the
//! suite does not call.

use std::net::Ipv4Addr;

use gatefold_testkit::reference::{ServedEras, serve_http};
use gatefold_testkit::{Exchange, RawClient, StdioClient, reference_command};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::support::{Era, LONG, SHORT, Wire, trial, trials_each_way};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("reference::a_subscription_hears_of_growth_and_touch", subscription),
        trial("reference::a_session_hears_of_growth_and_touch", session),
        trial("reference::a_caller_that_goes_away_cancels_its_call", disconnect),
        trial("reference::a_cancelled_call_is_counted", cancel),
        trial("reference::a_session_sets_its_log_level", log_level),
        trial("reference::a_request_sets_its_log_level", request_log_level),
        trial("reference::the_handshake_era_knows_no_other", handshake_only),
        trial("reference::the_stateless_era_refuses_the_handshake", stateless_only),
        trial("reference::a_state_from_elsewhere_is_refused", foreign_state),
    ];
    trials.extend(trials_each_way("reference::questions_are_asked_as_the_era_does", questions));
    trials.extend(trials_each_way("reference::what_the_client_lacks_is_not_asked", lacking));
    trials.extend(trials_each_way("reference::progress_comes_before_the_result", progress));
    trials.extend(trials_each_way("reference::meta_arrives_whole", meta));
    trials
}

const ALL: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

/// Each tool that asks a question, the question, the client's answer, and the tool's result.
const QUESTIONS: [(&str, &str, &str, &str); 3] = [
    (
        "matrix_elicit",
        "elicitation/create",
        r#"{"action":"accept","content":{"name":"Ada"}}"#,
        r#"action=accept, content={"name":"Ada"}"#,
    ),
    (
        "matrix_sample",
        "sampling/createMessage",
        r#"{"role":"assistant","content":{"type":"text","text":"hello"},"model":"small"}"#,
        r#"model="small", text=hello"#,
    ),
    (
        "matrix_roots",
        "roots/list",
        r#"{"roots":[{"uri":"file:///garden"},{"uri":"file:///shed"}]}"#,
        "file:///garden\nfile:///shed",
    ),
];

enum Client {
    Stdio(Box<StdioClient>),
    Http { client: RawClient, _server: DropGuard },
}

impl Client {
    async fn connect(wire: Wire, era: Era, capabilities: &str, answer: &str) -> Self {
        let mut client = match wire {
            Wire::Stdio => {
                let client = stdio(ServedEras::Both).with_capabilities(capabilities);
                Self::Stdio(Box::new(client.with_answer(answer)))
            }
            Wire::Http => {
                let (client, server) = http(ServedEras::Both).await;
                let client = client.with_capabilities(capabilities).with_answer(answer);
                Self::Http { client, _server: server }
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

    /// Calls a tool; `rest` are members that follow its name.
    async fn call(&mut self, tool: &str, rest: &str) -> Exchange {
        let params = format!(r#"{{"name":"{tool}"{rest}}}"#);
        match self {
            Self::Stdio(client) => client.request("tools/call", &params).await,
            Self::Http { client, .. } => client.request_named("tools/call", tool, &params).await,
        }
        .expect("the call is answered")
    }
}

fn stdio(served: ServedEras) -> StdioClient {
    let era = match served {
        ServedEras::Both => "both",
        ServedEras::Handshake => "handshake",
        ServedEras::Stateless => "stateless",
    };
    let command = reference_command(&["--stdio", "--era", era]);
    StdioClient::spawn(command).expect("the server starts")
}

async fn http(served: ServedEras) -> (RawClient, DropGuard) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let stop = CancellationToken::new();
    tokio::spawn(serve_http(listener, served, stop.clone()));
    let client = RawClient::new(format!("http://{address}/mcp")).expect("the client is made");
    (client, stop.drop_guard())
}

/// The methods of the messages before an answer.
fn methods(notices: &[String]) -> Vec<String> {
    let method = |notice: &String| {
        let notice: Value = serde_json::from_str(notice).ok()?;
        notice["method"].as_str().map(str::to_owned)
    };
    notices.iter().filter_map(method).collect()
}

async fn questions(wire: Wire, era: Era) {
    for (tool, method, answer, said) in QUESTIONS {
        let mut client = Client::connect(wire, era, ALL, answer).await;
        let first = client.call(tool, "").await;
        if era == Era::Handshake {
            assert_eq!((methods(&first.notices), first.text()), (vec![method.into()], said.into()));
            continue;
        }
        let asked = first.result();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        assert_eq!(asked["inputRequests"][tool]["method"], method);
        let second =
            client.call(tool, &format!(r#","inputResponses":{{"{tool}":{answer}}}"#)).await;
        assert_eq!((methods(&second.notices), second.text()), (vec![], said.into()));
    }
}

async fn lacking(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, "{}", "{}").await;
    for (tool, ..) in QUESTIONS {
        let refused = client.call(tool, "").await;
        match era {
            Era::Handshake => assert_eq!(refused.result()["isError"], true, "{tool}"),
            Era::Stateless => assert_eq!(refused.error_code(), Some(-32021), "{tool}"),
        }
    }
}

async fn progress(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, ALL, "{}").await;
    let rest = r#","arguments":{"steps":4},"_meta":{"progressToken":"p"}"#;
    let called = client.call("matrix_progress", rest).await;
    let steps = called.notices.iter().filter_map(|notice| {
        let notice: Value = serde_json::from_str(notice).ok()?;
        let params = &notice["params"];
        assert_eq!((&params["progressToken"], &params["total"]), (&json!("p"), &json!(4.0)));
        params["progress"].as_f64()
    });
    assert_eq!(steps.collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(called.text(), "took 4 steps");
}

async fn meta(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, ALL, "{}").await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let rest = format!(r#","_meta":{{"traceparent":"{parent}","example.org/own":[1,{{}}]}}"#);
    let called = client.call("matrix_meta", &rest).await;
    let meta: Value = serde_json::from_str(&called.text()).expect("the text is JSON");
    assert_eq!((&meta["traceparent"], &meta["example.org/own"]), (&json!(parent), &json!([1, {}])));
}

async fn subscription() {
    let (client, _server) = http(ServedEras::Both).await;
    let wanted = r#"{"notifications":{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["test://watched-resource"]}}"#;
    let mut stream = client.open("subscriptions/listen", wanted).await.expect("it streams");
    let mut heard = vec![stream.next().await.expect("it is acknowledged")];
    let grown = client.call("matrix_grow", "{}").await.expect("it answers");
    assert_eq!(grown.text(), "matrix_grown_1 was added, 2 notices were sent");
    for uri in ["test://static-text", "test://watched-resource"] {
        let touch = json!({ "uri": uri }).to_string();
        client.call("matrix_touch", &touch).await.expect("it answers");
    }
    for _ in 0..3 {
        heard.push(stream.next().await.expect("it is told"));
    }
    assert_eq!(
        methods(&heard),
        [
            "notifications/subscriptions/acknowledged",
            "notifications/tools/list_changed",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
        ]
    );
    assert!(heard[3].contains("test://watched-resource"), "{}", heard[3]);
    let listed = client.list().await.expect("it answers").tool_names();
    assert_eq!(listed.last().map(String::as_str), Some("matrix_grown_1"));
    let called = client.call("matrix_grown_1", "{}").await.expect("it answers");
    assert_eq!(called.text(), "matrix_grown_1 was added later");
}

async fn session() {
    let mut client = stdio(ServedEras::Both);
    client.initialize().await.expect("it answers");
    let watched = r#"{"uri":"test://watched-resource"}"#;
    client.request("resources/subscribe", watched).await.expect("it answers");
    let grown = client.call("matrix_grow", "{}").await.expect("it answers");
    assert_eq!(
        methods(&grown.notices),
        [
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
        ]
    );
    let touched = client.call("matrix_touch", watched).await.expect("it answers");
    assert_eq!(methods(&touched.notices), ["notifications/resources/updated"]);
    client.request("resources/unsubscribe", watched).await.expect("it answers");
    let touched = client.call("matrix_touch", watched).await.expect("it answers");
    assert_eq!((methods(&touched.notices), touched.text()), (vec![], "told 0".to_owned()));
}

async fn disconnect() {
    let (client, _server) = http(ServedEras::Both).await;
    let client = client.with_limit(SHORT);
    client.call("matrix_wait", "{}").await.expect_err("it waits");
    let client = client.with_limit(LONG);
    let counted = async {
        while client.call("matrix_cancelled", "{}").await.expect("it answers").text() != "1" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, counted).await.expect("it is counted");
}

async fn cancel() {
    let mut client = stdio(ServedEras::Both);
    client.initialize().await.expect("it answers");
    let id = client.start("tools/call", r#"{"name":"matrix_wait"}"#).await.expect("it is sent");
    // Requests are taken in order, so once this is answered the call has begun.
    client.list().await.expect("it answers");
    let params = json!({ "requestId": id }).to_string();
    client.notify("notifications/cancelled", &params).await.expect("it is sent");
    let counted = async {
        while client.call("matrix_cancelled", "{}").await.expect("it answers").text() != "1" {}
    };
    tokio::time::timeout(LONG, counted).await.expect("it is counted");
}

async fn log_level() {
    let mut client = stdio(ServedEras::Both);
    client.initialize().await.expect("it answers");
    for (level, heard) in [("debug", 8), ("warning", 5), ("emergency", 1)] {
        let params = json!({ "level": level }).to_string();
        client.request("logging/setLevel", &params).await.expect("it answers");
        let logged = client.call("matrix_log", "{}").await.expect("it answers");
        assert_eq!(methods(&logged.notices), vec!["notifications/message"; heard], "{level}");
    }
}

async fn request_log_level() {
    let (client, _server) = http(ServedEras::Both).await;
    for (meta, heard) in [("", 0), (r#","_meta":{"io.modelcontextprotocol/logLevel":"error"}"#, 4)]
    {
        let params = format!(r#"{{"name":"matrix_log"{meta}}}"#);
        let logged = client.request_named("tools/call", "matrix_log", &params).await;
        let notices = logged.expect("it answers").notices;
        assert_eq!(methods(&notices), vec!["notifications/message"; heard], "{meta}");
    }
}

async fn handshake_only() {
    let (mut client, _server) = http(ServedEras::Handshake).await;
    for method in ["server/discover", "tools/list", "subscriptions/listen"] {
        let refused = client.request(method, r#"{"notifications":{}}"#).await.expect("it answers");
        assert_eq!(refused.error_code(), Some(-32601), "{method}");
    }
    let opened = client.initialize().await.expect("it answers");
    assert_eq!(opened.result()["protocolVersion"], "2025-11-25");

    let mut client = stdio(ServedEras::Handshake);
    let refused = client.request("server/discover", "{}").await.expect("it answers");
    assert_eq!(refused.error_code(), Some(-32601));
    client.initialize().await.expect("it answers");
    let called = client.call("test_simple_text", "{}").await.expect("it answers");
    assert!(called.text().starts_with("This is a simple text"), "{}", called.text());
}

async fn stateless_only() {
    let (client, _server) = http(ServedEras::Stateless).await;
    let discovered = client.request("server/discover", "{}").await.expect("it answers");
    assert_eq!(discovered.result()["supportedVersions"], json!(["2026-07-28"]));
    let called = client.call("test_simple_text", "{}").await.expect("it answers");
    assert!(called.text().starts_with("This is a simple text"), "{}", called.text());
    let mut client = client;
    let refused = client.initialize().await;
    assert!(!matches!(&refused, Ok(opened) if opened.error_code().is_none()), "{refused:?}");

    let mut client = stdio(ServedEras::Stateless);
    let called = client.call("test_simple_text", "{}").await.expect("it answers");
    assert!(called.text().starts_with("This is a simple text"), "{}", called.text());
    let mut client = stdio(ServedEras::Stateless);
    let refused = client.initialize().await.expect("it answers");
    assert_eq!(refused.error_code(), Some(-32022));
}

async fn foreign_state() {
    let mut client = Client::connect(Wire::Http, Era::Stateless, ALL, "{}").await;
    let asked = client.call("test_input_required_result_multi_round", "").await.result();
    let state = json!({ "requestState": asked["requestState"] }).to_string();
    let rest = format!(",{}", state.trim_matches(['{', '}']));
    let again = client.call("test_input_required_result_multi_round", &rest).await;
    assert_eq!(again.result()["resultType"], "input_required");
    let elsewhere = client.call("test_input_required_result_request_state", &rest).await;
    assert_eq!(elsewhere.error_code(), Some(-32602));
}
