//! The tools' answers, byte by byte.

use gatefold_testkit::fixture::read_log;
use gatefold_testkit::{process_alive, wait_until};
use libtest_mimic::Trial;
use serde_json::json;

use crate::support::{ANSWER, Client, Era, LONG, SHORT, Wire, stdio, trial, trials_each_way};

/// A call and the inside of its result, or its whole error.
struct Case {
    claim: &'static str,
    tool: &'static str,
    arguments: &'static str,
    expected: Result<&'static str, &'static str>,
}

const CASES: &[Case] = &[
    Case {
        claim: "echo_returns_the_bytes_of_its_arguments",
        tool: "echo",
        arguments: r#"{"z":9007199254740993, "a":1.10,"z":"\u00e9"}"#,
        expected: Ok(
            r#""content":[{"type":"text","text":"{\"z\":9007199254740993, \"a\":1.10,\"z\":\"\\u00e9\"}"}]"#,
        ),
    },
    Case {
        claim: "add_keeps_integers_exact",
        tool: "add",
        arguments: r#"{"a":9007199254740993,"b":1}"#,
        expected: Ok(r#""content":[{"type":"text","text":"9007199254740994"}]"#),
    },
    Case {
        claim: "add_without_a_number_is_refused",
        tool: "add",
        arguments: r#"{"a":1}"#,
        expected: Err(r#"{"code":-32602,"message":"`a` and `b` are required"}"#),
    },
    Case {
        claim: "an_unknown_tool_is_refused",
        tool: "nothing",
        arguments: "{}",
        expected: Err(r#"{"code":-32602,"message":"unknown tool `nothing`"}"#),
    },
    Case {
        claim: "a_failure_is_a_result",
        tool: "fail",
        arguments: r#"{"message":"no"}"#,
        expected: Ok(r#""content":[{"type":"text","text":"no"}],"isError":true"#),
    },
    Case {
        claim: "a_protocol_error_has_the_code_asked_for",
        tool: "protocol_error",
        arguments: r#"{"code":-32050,"message":"no"}"#,
        expected: Err(
            r#"{"code":-32050,"message":"no","data":{"why":"asked","big":9007199254740993}}"#,
        ),
    },
    Case {
        claim: "structured_content_keeps_its_digits",
        tool: "structured",
        arguments: "{}",
        expected: Ok(
            r#""content":[{"type":"text","text":"{\"big\":9007199254740993,\"huge\":123456789012345678901234567890,\"price\":1.10,\"ok\":true}"}],"structuredContent":{"big":9007199254740993,"huge":123456789012345678901234567890,"price":1.10,"ok":true}"#,
        ),
    },
    Case {
        claim: "a_block_from_the_future_has_unknown_fields",
        tool: "unknown_block",
        arguments: "{}",
        expected: Ok(
            r#""content":[{"type":"hologram","frames":[1.10,9007199254740993],"depth":{"unit":"m","value":0.50},"x-future":null},{"type":"text","text":"a hologram","x-future":{"kept":true}}],"x-future":["kept"]"#,
        ),
    },
    Case {
        claim: "a_resource_link_is_a_block",
        tool: "resource_link",
        arguments: "{}",
        expected: Ok(
            r#""content":[{"type":"resource_link","uri":"fixture://notes/1","name":"notes","mimeType":"text/plain","size":5}]"#,
        ),
    },
    Case {
        claim: "an_embedded_resource_is_a_block",
        tool: "embedded_resource",
        arguments: "{}",
        expected: Ok(
            r#""content":[{"type":"resource","resource":{"uri":"fixture://notes/1","mimeType":"text/plain","text":"hello"}}]"#,
        ),
    },
    Case {
        claim: "slow_answers_in_the_end",
        tool: "slow",
        arguments: r#"{"ms":5}"#,
        expected: Ok(r#""content":[{"type":"text","text":"slept 5 ms"}]"#),
    },
    Case {
        claim: "progress_is_not_reported_unasked",
        tool: "progress",
        arguments: r#"{"n":2}"#,
        expected: Ok(r#""content":[{"type":"text","text":"did 2 steps"}]"#),
    },
];

pub(crate) fn trials() -> Vec<Trial> {
    let cases = CASES
        .iter()
        .flat_map(|case| trials_each_way(case.claim, move |wire, era| check(wire, era, case)));
    let each_way = [
        trials_each_way("progress_is_reported_under_the_token", progress),
        trials_each_way("a_picture_and_a_sound_are_base64", picture_and_sound),
        trials_each_way("meta_goes_both_ways", meta),
        trials_each_way("huge_is_as_long_as_asked", huge),
        trials_each_way("a_question_is_answered", ask),
        trials_each_way("a_grown_tool_is_listed_and_callable", grow),
        trials_each_way("a_left_child_lives_on", leave_child),
    ];
    let stdio_only = [
        trial("a_cancelled_call_stops_without_an_answer::handshake", || cancel(Era::Handshake)),
        trial("a_cancelled_call_stops_without_an_answer::stateless", || cancel(Era::Stateless)),
        trial("die_exits_in_mid_call", die),
        trial("never_does_not_answer", never),
        trial("env_shows_names_and_one_value", environment),
        trial("a_subscriber_hears_of_a_grown_tool", subscribe),
        trial("a_retry_with_another_state_is_refused", wrong_state),
        trial("a_client_that_cannot_be_asked_is_told_so", cannot_be_asked),
    ];
    cases.chain(each_way.into_iter().flatten()).chain(stdio_only).collect()
}

async fn check(wire: Wire, era: Era, case: &Case) {
    let mut client = Client::connect(wire, era, &[]).await;
    let exchange = client.call(case.tool, case.arguments).await;
    // The handshake took the first id.
    let (id, kind) = match era {
        Era::Handshake => (2, ""),
        Era::Stateless => (1, r#""resultType":"complete","#),
    };
    let body = match case.expected {
        Ok(members) => format!(r#""result":{{{kind}{members}}}"#),
        Err(error) => format!(r#""error":{error}"#),
    };
    assert_eq!(exchange.response, format!(r#"{{"jsonrpc":"2.0","id":{id},{body}}}"#));
    assert_eq!(exchange.notices, [""; 0]);
}

async fn progress(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, &[]).await;
    let params = r#""arguments":{"n":2,"ms":1},"_meta":{"progressToken":"p/1"}"#;
    let exchange = client.call_with("progress", params).await;
    let notice = |step| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"p/1","progress":{step},"total":2,"message":"step {step}"}}}}"#
        )
    };
    assert_eq!(exchange.notices, [notice(1), notice(2)]);
    assert_eq!(exchange.text(), "did 2 steps");
}

async fn picture_and_sound(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, &[]).await;
    for (tool, mime_type, start) in
        [("image", "image/png", "iVBOR"), ("audio", "audio/wav", "UklG")]
    {
        let block = client.call(tool, "{}").await.result()["content"][0].take();
        assert_eq!((&block["type"], &block["mimeType"]), (&json!(tool), &json!(mime_type)));
        assert!(block["data"].as_str().is_some_and(|data| data.starts_with(start)));
    }
}

async fn meta(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, &[]).await;
    let params = r#""arguments":{},"_meta":{"com.example/kept":1.10}"#;
    let result = client.call_with("meta", params).await.result();
    let received = &result["_meta"]["fixture/received"];
    assert_eq!(received["com.example/kept"].to_string(), "1.10");
    assert_eq!(
        result["_meta"]["fixture/kept"].to_string(),
        r#"{"big":9007199254740993,"price":1.10}"#
    );
    let has_version = received.get("io.modelcontextprotocol/protocolVersion").is_some();
    assert_eq!(has_version, era == Era::Stateless);
}

async fn huge(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, &[]).await;
    assert_eq!(client.call("huge", r#"{"bytes":3000000}"#).await.text().len(), 3_000_000);
}

async fn ask(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, &[]).await;
    let exchange = client.call("ask", r#"{"question":"Who?"}"#).await;
    if era == Era::Handshake {
        assert_eq!(exchange.notices.len(), 1);
        assert!(exchange.notices[0].contains(r#""method":"elicitation/create""#));
        assert_eq!(exchange.text(), ANSWER);
        return;
    }
    let result = exchange.result();
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(result["inputRequests"]["answer"]["method"], "elicitation/create");
    assert_eq!(result["inputRequests"]["answer"]["params"]["message"], "Who?");
    let state = &result["requestState"];
    let retry = format!(
        r#""arguments":{{}},"inputResponses":{{"answer":{ANSWER}}},"requestState":{state}"#
    );
    assert_eq!(client.call_with("ask", &retry).await.text(), ANSWER);
}

async fn grow(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, &[]).await;
    let before = client.list().await.tool_names().len();
    let grown = client.call("grow", "{}").await;
    let told = grown.notices
        == [r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}"#];
    assert_eq!((told, grown.text().as_str()), (era == Era::Handshake, "grown_1"));
    let names = client.list().await.tool_names();
    assert_eq!((names.len(), names.last().map(String::as_str)), (before + 1, Some("grown_1")));
    assert_eq!(client.call("grown_1", r#"{"a":1}"#).await.text(), r#"{"a":1}"#);
}

async fn leave_child(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, &[]).await;
    let pid: u32 = client.call("sleep_forever_child", "{}").await.text().parse().expect("a pid");
    assert!(process_alive(pid));
    drop(client);
    assert!(process_alive(pid));
    let killed = std::process::Command::new("kill").arg(pid.to_string()).status();
    assert!(killed.is_ok_and(|status| status.success()));
    assert!(wait_until(LONG, || !process_alive(pid)).await);
}

async fn cancel(era: Era) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let log = scratch.path().join("log");
    let path = log.to_str().expect("a printable path");
    let Client::Stdio(mut client) = Client::connect(Wire::Stdio, era, &["--log", path]).await
    else {
        unreachable!("it was asked for stdio");
    };
    let params = r#"{"name":"slow","arguments":{"ms":60000}}"#;
    let id = client.start("tools/call", params).await.expect("the call is sent");
    let cancelled = format!(r#"{{"requestId":{id},"reason":"enough"}}"#);
    client.notify("notifications/cancelled", &cancelled).await.expect("the notice is sent");
    assert!(
        wait_until(LONG, || read_log(&log).last().is_some_and(|l| l.method == "stopped")).await
    );
    let exchange = client.call("echo", "{}").await.expect("the server lives on");
    assert_eq!(exchange.notices, [""; 0]);
    let seen = read_log(&log);
    let methods: Vec<_> = seen.iter().map(|line| line.method.as_str()).collect();
    let tail = ["tools/call", "notifications/cancelled", "stopped", "tools/call"];
    assert!(methods.ends_with(&tail), "{methods:?}");
    assert!((1..).zip(&seen).all(|(n, line)| line.n == n));
    assert!(seen.iter().all(|line| Some(line.pid) == client.pid()));
    assert_eq!(seen[seen.len() - 2].message, json!({"tool": "slow"}));
}

async fn die() {
    let mut client = stdio(&[]);
    let error = client.call("die", "{}").await.expect_err("nobody answers");
    assert_eq!(error.to_string(), "the peer closed the connection before it answered tools/call");
    assert_eq!(client.wait().await.expect("it exits").code(), Some(1));
}

async fn never() {
    let mut client = stdio(&[]).with_limit(SHORT);
    let error = client.call("never", "{}").await.expect_err("nobody answers");
    let expected = "nothing came within 300 ms while waiting for tools/call";
    assert_eq!(error.to_string(), expected);
    assert_eq!(client.call("echo", "{}").await.expect("it lives on").text(), "{}");
}

async fn environment() {
    let (program, args) = gatefold_testkit::fixture_command(&[]);
    let mut command = tokio::process::Command::new(program);
    command.args(args).env_clear().env("FIXTURE_B", "two").env("FIXTURE_A", "one");
    let mut client = gatefold_testkit::StdioClient::from_command(command).expect("it starts");
    let names = client.call("env", "{}").await.expect("it answers").text();
    assert_eq!(names, r#"["FIXTURE_A","FIXTURE_B"]"#);
    let value = client.call("env", r#"{"name":"FIXTURE_B"}"#).await.expect("it answers").text();
    assert_eq!(value, "two");
}

async fn subscribe() {
    let mut client = stdio(&[]);
    let wanted = r#"{"notifications":{"toolsListChanged":true,"promptsListChanged":true}}"#;
    let id = client.start("subscriptions/listen", wanted).await.expect("the request is sent");
    assert_eq!(
        client.receive().await.expect("it is acknowledged"),
        r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}}"#
    );
    let grown = client.call("grow", "{}").await.expect("it answers");
    assert_eq!(
        grown.notices,
        [
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
        ]
    );
    let cancelled = format!(r#"{{"requestId":{id}}}"#);
    client.notify("notifications/cancelled", &cancelled).await.expect("the notice is sent");
    // Messages that arrive together are handled concurrently, so an answer has to come between
    // them.
    client.call("echo", "{}").await.expect("it answers");
    let grown = client.call("grow", "{}").await.expect("it answers");
    assert_eq!(grown.notices, [""; 0]);
}

async fn wrong_state() {
    let mut client = stdio(&[]);
    let retry = format!(
        r#"{{"name":"ask","inputResponses":{{"answer":{ANSWER}}},"requestState":"another"}}"#
    );
    let exchange = client.request("tools/call", &retry).await.expect("it answers");
    assert_eq!(exchange.error_code(), Some(-32602));
}

async fn cannot_be_asked() {
    let mut client = stdio(&[]);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"ask",{meta}}}}}"#
    );
    client.send(&call).await.expect("the call is sent");
    assert_eq!(
        client.receive().await.expect("it answers"),
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32021,"message":"the client lacks `elicitation`","data":{"requiredCapabilities":{"elicitation":{}}}}}"#
    );
}
