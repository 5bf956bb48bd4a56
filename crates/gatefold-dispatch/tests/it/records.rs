use std::sync::atomic::Ordering;

use gatefold_core::{CallError, Principal};
use gatefold_dispatch::{Caller, Discovery};
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::source::{FakeSource, raw};
use crate::world::{START, World, done, refused};

fn discovery(arguments: &RawValue, result_bytes: usize, is_error: bool) -> Discovery<'_> {
    let shown = vec!["mail__echo".to_owned()];
    Discovery { meta_tool: "discover_tools", arguments, result_bytes, is_error, shown }
}

#[tokio::test(start_paused = true)]
async fn every_call_leaves_one_record_and_is_counted() {
    for (tool, record, counted) in [
        ("mail__echo", "done", "done"),
        ("mail__fail", "tool_error", "tool_error"),
        ("mail__wait", "suspended", "suspended"),
        ("mail__refuse", "failed: refused", "refused"),
        ("mail__unplug", "failed: unavailable", "unavailable"),
        ("mail__rest", "failed: unavailable", "unavailable"),
        ("mail__lose", "failed: lost", "lost"),
        ("mail__garble", "failed: protocol", "protocol"),
        ("mail__hang", "failed: deadline", "deadline"),
        ("mail__big", "failed: too_large", "too_large"),
        ("mail__none", "failed: unknown", "unknown"),
    ] {
        let world = World::new(&[&FakeSource::new("mail")]);
        drop(world.call(tool, "{}").await);
        assert_eq!(world.log.ended(), [record], "{tool}");
        let counters = world.dispatcher.counters().snapshot();
        assert_eq!(counters.into_iter().collect::<Vec<_>>(), [(counted, 1)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_says_what_was_asked_and_never_the_arguments() {
    let world = World::new(&[&FakeSource::new("mail")]);
    done(world.call("echo", r#"{"password":"hunter2"}"#).await);
    let record = world.log.last();
    assert!(!format!("{record:?}").contains("hunter2"));
    let (opened, closed) = (record.opened, record.closed.unwrap());
    assert_eq!(opened.subject, "echo");
    assert_eq!(opened.tool.unwrap().as_str(), "mail__echo");
    assert_eq!(opened.domain.unwrap().as_str(), "mail");
    assert_eq!(opened.rule.unwrap().as_str(), "default");
    assert_eq!((opened.at, closed.at), (START, START));
    assert_eq!((opened.arguments_bytes, closed.result_bytes), (22, 22));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_when_the_record_cannot_be_opened() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    world.log.fails.store(true, Ordering::SeqCst);
    let refused = refused(world.call("mail__echo", "{}").await);
    assert_eq!(refused, "the call could not be recorded, so nothing was sent; try again shortly");
    assert_eq!((mail.calls(), world.counted("audit")), (0, 1));
    world.log.fails.store(false, Ordering::SeqCst);
    done(world.call("mail__echo", "{}").await);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_hangs_holds_a_call_no_longer_than_its_deadline() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    world.log.hangs.store(true, Ordering::SeqCst);
    let began = Instant::now();
    let result = world.call("mail__echo", "{}").await;
    assert!(matches!(result, Err(CallError::Audit(_))), "nothing was sent, and its caller knows");
    assert_eq!(began.elapsed(), world.limits.call_deadline);
    assert_eq!((mail.calls(), world.counted("audit")), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_log_that_hangs_holds_up_no_answer_for_long_that_sends_nothing() {
    let world = World::new(&[&FakeSource::new("mail")]);
    world.log.hangs.store(true, Ordering::SeqCst);
    let began = Instant::now();
    assert_eq!(refused(world.call("mail__none", "{}").await), "unknown tool `mail__none`");
    assert!(began.elapsed() < world.limits.call_deadline / 2);
    let pinned = world.dispatcher.pin(Principal::local().into());
    pinned.discovered(discovery(&raw("{}"), 42, false), &Caller::silent()).await;
    assert!(began.elapsed() < world.limits.call_deadline / 2);
    assert_eq!((world.counted("unknown"), world.counted("discovery")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_meta_call_that_only_discovers_leaves_its_own_record() {
    let world = World::new(&[&FakeSource::new("mail")]);
    let pinned = world.dispatcher.pin(Principal::local().into());
    let arguments = raw(r#"{"query":"hunter2"}"#);
    pinned.discovered(discovery(&arguments, 42, false), &Caller::silent()).await;
    pinned.discovered(discovery(&arguments, 7, true), &Caller::silent()).await;
    let kept = world.log.discoveries.lock().unwrap();
    assert!(!format!("{kept:?}").contains("hunter2"));
    let sizes: Vec<_> = kept.iter().map(|r| (r.result_bytes, r.is_error)).collect();
    assert_eq!(sizes, [(42, false), (7, true)]);
    assert!(kept.iter().all(|record| record.shown == ["mail__echo"]));
    assert_eq!(world.counted("discovery"), 1);
    assert_eq!(world.counted("discovery_error"), 1);
    assert!(world.log.records().is_empty());
}
