use std::time::Duration;

use gatefold_core::{CallError, Principal};
use gatefold_dispatch::{Caller, Event, Limits, RequestMeta};
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::support::{Era, LONG, Upstream, Wire, trials_each_way};
use super::world::{World, WorldOptions, listening, text};

pub(crate) fn trials() -> Vec<Trial> {
    let each_way = [
        trials_each_way("arguments_arrive_letter_for_letter", arguments),
        trials_each_way("arguments_over_several_lines_arrive_whole", lines),
        trials_each_way("results_come_back_letter_for_letter", results),
        trials_each_way("a_tools_own_error_is_a_result", tool_errors),
        trials_each_way("an_error_of_the_protocol_is_a_refusal", refusals),
        trials_each_way("progress_reaches_a_caller_that_listens", progress),
        trials_each_way("a_flood_of_progress_costs_nothing_but_itself", flood),
        trials_each_way("a_request_says_what_its_era_needs_and_no_more", meta),
        trials_each_way("giving_up_reaches_the_server", cancellation),
        trials_each_way("a_call_that_never_ends_is_given_up_at_its_deadline", deadline),
        trials_each_way("a_huge_result_is_an_error_with_its_size", huge),
        trials_each_way("any_limit_of_a_result_will_do", boundless),
        trials_each_way("calls_do_not_wait_for_each_other", concurrency),
    ];
    let broken = trials_each_way("a_broken_exchange_harms_no_other_call_of_its_session", broken);
    let over_http = broken.into_iter().filter(|trial| !trial.name().contains("stdio"));
    each_way.into_iter().flatten().chain(over_http).collect()
}

const EXACT: &str =
    r#"{"big":9007199254740993,"huge":123456789012345678901234567890,"price":1.10,"s":"\u00e9\/"}"#;

async fn connected(wire: Wire, era: Era) -> (Upstream, World) {
    let upstream = Upstream::new("up", wire, era, &[]);
    let world = World::connected(&upstream.settings).await;
    (upstream, world)
}

async fn arguments(wire: Wire, era: Era) {
    let (_upstream, world) = connected(wire, era).await;
    assert_eq!(world.text("up__echo", EXACT).await, EXACT);
}

async fn lines(wire: Wire, era: Era) {
    let (_upstream, world) = connected(wire, era).await;
    let echoed = world.text("up__echo", "{\n  \"a\": 1,\r\n  \"b\": \"\\n\"\n}").await;
    let echoed: Value = serde_json::from_str(&echoed).unwrap();
    assert_eq!(echoed, json!({"a": 1, "b": "\n"}));
}

async fn results(wire: Wire, era: Era) {
    let (_upstream, world) = connected(wire, era).await;
    for (tool, part) in [
        (
            "up__unknown_block",
            r#""content":[{"type":"hologram","frames":[1.10,9007199254740993],"depth":{"unit":"m","value":0.50},"x-future":null}"#,
        ),
        (
            "up__structured",
            r#""structuredContent":{"big":9007199254740993,"huge":123456789012345678901234567890,"price":1.10,"ok":true}"#,
        ),
        ("up__meta", r#""fixture/kept":{"big":9007199254740993,"price":1.10}"#),
    ] {
        let result = world.call(tool, "{}").await.unwrap();
        assert!(result.json.get().contains(part), "{tool}: {}", result.json);
        assert!(!result.is_error);
    }
}

async fn tool_errors(wire: Wire, era: Era) {
    let (_upstream, world) = connected(wire, era).await;
    let result = world.call("up__fail", r#"{"message":"no paper"}"#).await.unwrap();
    assert!(result.is_error);
    assert_eq!(text(&result), "no paper");
}

async fn refusals(wire: Wire, era: Era) {
    let (_upstream, world) = connected(wire, era).await;
    let error = world.call("up__protocol_error", r#"{"code":-32602,"message":"`a` is missing"}"#);
    let error = error.await.unwrap_err();
    assert!(matches!(error, CallError::InvalidArguments { .. }), "{error:?}");
    assert_eq!(error.to_string(), "`up__protocol_error` refused the call: `a` is missing");
}

async fn progress(wire: Wire, era: Era) {
    let (upstream, world) = connected(wire, era).await;
    let (caller, mut events) = listening();
    let result = world.call_with("up__progress", r#"{"n":3}"#, &Principal::local(), caller).await;
    assert_eq!(text(&result.unwrap()), "did 3 steps");
    let mut heard = Vec::new();
    while let Some(Event::Progress(said)) = events.recv().await {
        let said: Value = serde_json::from_str(said.get()).unwrap();
        heard.push((said["progress"].clone(), said["total"].clone(), said["message"].clone()));
    }
    let step = |n: u64| (json!(n), json!(3), json!(format!("step {n}")));
    assert_eq!(heard, [step(1), step(2), step(3)]);

    assert_eq!(world.text("up__progress", r#"{"n":3}"#).await, "did 3 steps");
    let calls = upstream.messages("tools/call");
    let token = |call: &Value| call["params"]["_meta"].get("progressToken").cloned();
    assert!(token(&calls[0]).is_some());
    assert_eq!(token(&calls[1]), None, "no token if nobody listens");
}

async fn flood(wire: Wire, era: Era) {
    let upstream = Upstream::new("up", wire, era, &[]);
    let limits = Limits { result_bytes: 1024, ..Limits::default() };
    let world = World::connected_as(
        &upstream.settings,
        &WorldOptions { limits, ..WorldOptions::default() },
    )
    .await;
    // Far more progress than the size limit for a result, to a listener that reads none of it.
    let (caller, events) = listening();
    let flooded =
        world.call_with("up__progress", r#"{"n":10000}"#, &Principal::local(), caller).await;
    assert_eq!(text(&flooded.unwrap()), "did 10000 steps");
    drop(events);
}

async fn meta(wire: Wire, era: Era) {
    let (_upstream, world) = connected(wire, era).await;
    let received = world.text("up__meta", "{}").await;
    let received: Value = serde_json::from_str(&received).unwrap();
    match era {
        Era::Handshake => assert_eq!(received, json!({})),
        Era::Stateless => {
            let part = |name: &str| &received[format!("io.modelcontextprotocol/{name}")];
            assert_eq!(part("protocolVersion"), "2026-07-28");
            assert_eq!(part("clientInfo")["name"], "gatefold");
            assert_eq!(part("clientCapabilities"), &json!({}));
        }
    }
    let meta = RequestMeta {
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
        tracestate: Some("a=1".to_owned()),
        ..RequestMeta::default()
    };
    let caller = Caller { meta: meta.clone().into(), ..Caller::silent() };
    let traced = world.call_with("up__meta", "{}", &Principal::local(), caller).await;
    let traced: Value = serde_json::from_str(&text(&traced.unwrap())).unwrap();
    assert_eq!(traced["traceparent"], meta.traceparent.unwrap());
    assert_eq!(traced["tracestate"], "a=1");
}

async fn cancellation(wire: Wire, era: Era) {
    let (upstream, world) = connected(wire, era).await;
    let caller = Caller::silent();
    let cancel = caller.cancel.clone();
    let call = world.start("up__slow", r#"{"ms":600000}"#, caller);
    assert!(wait_until(LONG, || upstream.count("tools/call") == 1).await);
    cancel.cancel();
    assert!(matches!(call.await.unwrap(), Err(CallError::Cancelled)));
    assert!(wait_until(LONG, || upstream.stopped() == ["slow"]).await, "the server was told");
    assert_eq!(world.text("up__echo", "{}").await, "{}", "the session goes on");
    assert_eq!(upstream.count("initialize") + upstream.count("server/discover"), greetings(era));
}

/// How many greetings a fixture in this era hears for one session: the stateless one is tried
/// first.
fn greetings(era: Era) -> usize {
    match era {
        Era::Handshake => 2,
        Era::Stateless => 1,
    }
}

async fn deadline(wire: Wire, era: Era) {
    let upstream = Upstream::new("up", wire, era, &[]);
    let limits = Limits { call_deadline: Duration::from_secs(2), ..Limits::default() };
    let world = World::connected_as(
        &upstream.settings,
        &WorldOptions { limits, ..WorldOptions::default() },
    )
    .await;
    assert_eq!(world.error("up__never", "{}").await, "`up__never` did not answer within 2 s");
    assert!(wait_until(LONG, || upstream.stopped() == ["never"]).await, "the server was told");
    assert_eq!(world.text("up__echo", "{}").await, "{}");
}

async fn huge(wire: Wire, era: Era) {
    let (upstream, world) = connected(wire, era).await;
    for bytes in [20_000_000_u64, 2_000_000] {
        let arguments = json!({"bytes": bytes}).to_string();
        let error = world.call("up__huge", &arguments).await.unwrap_err();
        let CallError::TooLarge { size, limit, .. } = error else { panic!("{error:?}") };
        assert_eq!(limit, 1024 * 1024);
        // A stream does not announce its size, and is not read to its end.
        let least = if wire == Wire::Sse { limit } else { bytes };
        assert!(size >= least && size < bytes + 1000, "{size} bytes of {bytes}");
    }
    assert_eq!(world.text("up__huge", r#"{"bytes":1000000}"#).await.len(), 1_000_000);
    if wire == Wire::Stdio {
        assert_eq!(upstream.processes().len(), 1, "the session goes on");
    }
}

async fn boundless(wire: Wire, era: Era) {
    let upstream = Upstream::new("up", wire, era, &[]);
    let limits = Limits { result_bytes: u64::MAX, ..Limits::default() };
    let world = World::connected_as(
        &upstream.settings,
        &WorldOptions { limits, ..WorldOptions::default() },
    )
    .await;
    assert_eq!(world.text("up__echo", "{}").await, "{}");
}

async fn concurrency(wire: Wire, era: Era) {
    let (upstream, world) = connected(wire, era).await;
    let stuck: Vec<_> = (0..10).map(|_| world.start("up__never", "{}", Caller::silent())).collect();
    assert!(wait_until(LONG, || upstream.count("tools/call") == 10).await);
    for n in 0..20 {
        let arguments = json!({"n": n}).to_string();
        assert_eq!(world.text("up__echo", &arguments).await, arguments);
    }
    stuck.iter().for_each(tokio::task::JoinHandle::abort);
}

async fn broken(wire: Wire, era: Era) {
    let (upstream, world) = connected(wire, era).await;
    let slow = world.start("up__slow", r#"{"ms":1500}"#, Caller::silent());
    assert!(wait_until(LONG, || upstream.count("tools/call") == 1).await);
    let error = world.call("up__die", "{}").await.unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error}");
    assert_eq!(text(&slow.await.unwrap().unwrap()), "slept 1500 ms");
    assert_eq!(upstream.count("tools/call"), 2, "neither was sent twice");
    assert_eq!(upstream.count("initialize") + upstream.count("server/discover"), greetings(era));
}
