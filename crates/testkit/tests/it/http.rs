//! What only HTTP has: sessions, headers, streams, statuses.

use gatefold_testkit::fixture::{Kind, read_log};
use gatefold_testkit::{Error, HttpProcess, RawClient, process_alive, wait_until};
use http::{HeaderMap, HeaderName, HeaderValue};
use libtest_mimic::Trial;

use crate::support::{LONG, SHORT, http, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_session_lasts_until_it_is_deleted", session),
        trial("a_request_outside_a_session_is_refused", no_session),
        trial("get_is_not_allowed", get),
        trial("stateless_answers_have_no_session", no_session_header),
        trial("headers_have_to_mirror_the_body", mirror),
        trial("statuses_tell_what_is_wrong_in_the_stateless_era", statuses),
        trial("answers_are_json_unless_asked_otherwise", kinds),
        trial("sse_answers_every_request_with_events", sse),
        trial("a_token_is_required", bearer),
        trial("a_caller_that_goes_away_stops_its_call", disconnect),
        trial("a_subscription_streams_changes", subscription),
        trial("a_cancelled_call_ends_without_an_answer", cancel),
        trial("die_breaks_the_connection_only", die),
        trial("die_ends_a_process_of_its_own", die_process),
        trial("hang_and_garbage_work_over_http", hang_and_garbage),
        trial("shutdown_closes_every_connection", shutdown),
        trial("the_log_has_headers", log_headers),
    ]
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let entry = |(name, value): &(&'static str, &str)| {
        let value = HeaderValue::from_str(value).expect("a printable value");
        (HeaderName::from_static(name), value)
    };
    pairs.iter().map(entry).collect()
}

/// A stateless request whose body matches the headers of [`mirrored`].
fn stateless(method: &str, params: &str) -> String {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{meta}{params}}}}}"#)
}

async fn session() {
    let (mut client, _fixture) = http(&[]);
    client.initialize().await.expect("it answers");
    assert!(client.session().is_some());
    assert_eq!(client.call("echo", "{}").await.expect("it answers").text(), "{}");
    assert_eq!(client.delete().await.expect("it answers"), 204);
    let refused = client.list().await.expect("it answers");
    assert_eq!((refused.status, refused.error_code()), (404, Some(-32600)));
}

async fn no_session() {
    let (client, _fixture) = http(&[]);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let refused = client.post_raw(body, HeaderMap::new()).await.expect("it answers");
    assert_eq!(refused.status, 400);
}

async fn get() {
    let (client, _fixture) = http(&[]);
    assert_eq!(client.get().await.expect("it answers"), 405);
}

async fn no_session_header() {
    let (client, _fixture) = http(&[]);
    let sent = headers(&[("mcp-method", "tools/list")]);
    let answer = client.post_raw(&stateless("tools/list", ""), sent).await.expect("it answers");
    assert_eq!((answer.status, answer.headers.get("mcp-session-id")), (200, None));
}

async fn mirror() {
    let (client, _fixture) = http(&[]);
    let call = stateless("tools/call", r#","name":"echo""#);
    let (method, name) = (("mcp-method", "tools/call"), ("mcp-name", "echo"));
    let cases: [(&[(&'static str, &str)], u16); 5] = [
        (&[method, name], 200),
        (&[method], 400),
        (&[method, ("mcp-name", "add")], 400),
        (&[("mcp-method", "tools/list"), name], 400),
        (&[method, name, ("mcp-protocol-version", "2025-11-25")], 400),
    ];
    for (sent, status) in cases {
        let answer = client.post_raw(&call, headers(sent)).await.expect("it answers");
        assert_eq!(answer.status, status, "{sent:?}");
        assert_eq!(answer.body.contains("-32020"), status == 400, "{}", answer.body);
    }
}

async fn statuses() {
    let (client, _fixture) = http(&[]);
    let unknown = client.request("prompts/list", "{}").await.expect("it answers");
    assert_eq!((unknown.status, unknown.error_code()), (404, Some(-32601)));
    let refused = client.call("protocol_error", "{}").await.expect("it answers");
    assert_eq!((refused.status, refused.error_code()), (200, Some(-32000)));
    let (old, _fixture) = http(&["--era", "handshake"]);
    let unknown = old.request("server/discover", "{}").await.expect("it answers");
    assert_eq!((unknown.status, unknown.error_code()), (200, Some(-32601)));
    let (mut new, _fixture) = http(&["--era", "stateless"]);
    let refused = client_initialize(&mut new).await;
    assert_eq!(refused, (400, Some(-32022)));
}

async fn client_initialize(client: &mut RawClient) -> (u16, Option<i64>) {
    let refused = client.initialize().await.expect("it answers");
    (refused.status, refused.error_code())
}

async fn kind_of(client: &RawClient) -> String {
    let sent = headers(&[("mcp-method", "tools/list")]);
    let answer = client.post_raw(&stateless("tools/list", ""), sent).await.expect("it answers");
    let kind = answer.headers["content-type"].to_str().expect("a printable value");
    kind.to_owned()
}

async fn kinds() {
    let (client, _fixture) = http(&[]);
    assert_eq!(kind_of(&client).await, "application/json");
}

async fn sse() {
    let (mut client, _fixture) = http(&["--sse"]);
    assert_eq!(kind_of(&client).await, "text/event-stream");
    client.initialize().await.expect("it answers");
    assert_eq!(client.call("echo", r#"{"a":1}"#).await.expect("it answers").text(), r#"{"a":1}"#);
    let huge = client.call("huge", r#"{"bytes":3000000}"#).await.expect("it answers");
    assert_eq!(huge.text().len(), 3_000_000);
}

async fn bearer() {
    let (client, fixture) = http(&["--bearer", "s3cret"]);
    let refused = client.post_raw("{}", HeaderMap::new()).await.expect("it answers");
    assert_eq!(
        (refused.status, &refused.headers["www-authenticate"]),
        (401, &"Bearer".parse().expect("a value"))
    );
    let client = RawClient::new(&fixture.url).expect("it is made").with_bearer("s3cret");
    client.list().await.expect("it answers");
}

async fn disconnect() {
    let (_scratch, log) = log_file();
    for behaviour in [&["--log", &log][..], &["--log", &log, "--sse"]] {
        let (client, _fixture) = http(behaviour);
        let client = client.with_limit(SHORT);
        let before = read_log(&log).len();
        let late = client.call("slow", r#"{"ms":60000}"#).await.expect_err("it is slow");
        assert!(matches!(late, Error::Late { .. }), "{late}");
        assert!(wait_until(LONG, || read_log(&log).len() == before + 2).await);
        let last = read_log(&log).pop().expect("there is a line");
        assert_eq!((last.kind, last.method.as_str()), (Kind::Event, "stopped"));
    }
}

async fn subscription() {
    let (client, _fixture) = http(&[]);
    let wanted = r#"{"notifications":{"toolsListChanged":true}}"#;
    let mut stream = client.open("subscriptions/listen", wanted).await.expect("it streams");
    let acknowledged = stream.next().await.expect("it is acknowledged");
    assert!(acknowledged.contains("notifications/subscriptions/acknowledged"), "{acknowledged}");
    assert_eq!(client.call("grow", "{}").await.expect("it answers").notices, [""; 0]);
    assert_eq!(
        stream.next().await.expect("it is told"),
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
    );
}

async fn cancel() {
    let (_scratch, log) = log_file();
    let (mut client, _fixture) = http(&["--sse", "--log", &log]);
    client.initialize().await.expect("it answers");
    let call = client.call("never", "{}");
    let cancel = async {
        assert!(wait_until(LONG, || has_seen(&log, "tools/call")).await);
        for id in [3, 2] {
            let params = format!(r#"{{"requestId":{id}}}"#);
            client.notify("notifications/cancelled", &params).await.expect("it is sent");
        }
    };
    let (called, ()) = tokio::join!(call, cancel);
    assert!(matches!(called, Err(Error::Closed { .. })));
}

/// A file for a log, which lives as long as its folder.
fn log_file() -> (tempfile::TempDir, String) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let path = scratch.path().join("log");
    let path = path.to_str().expect("a printable path").to_owned();
    (scratch, path)
}

fn has_seen(log: &str, method: &str) -> bool {
    read_log(log).iter().any(|line| line.method == method)
}

async fn die() {
    for behaviour in [&[][..], &["--sse"]] {
        let (client, _fixture) = http(behaviour);
        let error = client.call("die", "{}").await.expect_err("nobody answers");
        assert!(matches!(error, Error::Http(_) | Error::Closed { .. }), "{error}");
        client.list().await.expect("others are served");
    }
}

async fn die_process() {
    let process = HttpProcess::spawn(&["--tools", "30"]).await.expect("it starts");
    let client = RawClient::new(&process.url).expect("it is made");
    assert_eq!(client.list().await.expect("it answers").tool_names().len(), 50);
    let pid = process.pid().expect("it runs");
    client.call("die", "{}").await.expect_err("nobody answers");
    assert!(wait_until(LONG, || !process_alive(pid)).await);
    let process = HttpProcess::spawn(&[]).await.expect("it starts");
    let pid = process.pid().expect("it runs");
    drop(process);
    assert!(wait_until(LONG, || !process_alive(pid)).await);
}

async fn hang_and_garbage() {
    let (client, _fixture) = http(&["--hang"]);
    let hung = client.with_limit(SHORT).list().await;
    assert!(matches!(hung, Err(Error::Late { .. })));
    let (client, _fixture) = http(&["--garbage-only"]);
    let garbage = client.list().await;
    assert!(matches!(garbage, Err(Error::NotAnAnswer { status: 200, .. })));
}

async fn shutdown() {
    let (_scratch, log) = log_file();
    let (client, fixture) = http(&["--log", &log]);
    client.list().await.expect("it answers");
    let pending = client.call("never", "{}");
    let stop = async {
        assert!(wait_until(LONG, || has_seen(&log, "tools/call")).await);
        fixture.shutdown();
    };
    let (called, ()) = tokio::join!(pending, stop);
    assert!(matches!(called, Err(Error::Http(_))));
    assert!(matches!(client.list().await, Err(Error::Http(_))));
}

async fn log_headers() {
    let (_scratch, log) = log_file();
    let (client, _fixture) = http(&["--log", &log]);
    client.call("echo", "{}").await.expect("it answers");
    let line = read_log(&log).pop().expect("there is a line");
    assert_eq!(line.headers["mcp-name"], "echo");
    assert_eq!(line.message["params"]["name"], "echo");
}
