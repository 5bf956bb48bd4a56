//! Sources that were never reached: how long answers wait for them, and what they say instead.

use std::sync::Arc;
use std::time::Duration;

use gatefold_exchange::{Exchange, List};
use tokio::time::Instant;

use crate::turns::{call, standard, text, turn};
use crate::world::{DOWNLOAD, SIGN_IN, World};

const CALL: &str = r#"{"tool_name":"up__echo","arguments":{"n":7}}"#;

fn exchange(start: Result<Duration, &'static str>) -> (World, Arc<Exchange>) {
    let world = World::unlisted(start);
    let exchange = Exchange::new(world.dispatcher.clone(), standard());
    (world, exchange)
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_waits_for_first_lists() {
    let (_world, exchange) = exchange(Ok(Duration::from_secs(2)));
    let began = Instant::now();
    let found = text(call(&turn(&exchange, "ann", "gateway"), "discover_tools", "{}").await);
    assert_eq!(began.elapsed().as_secs(), 2);
    assert!(found.contains(r#"\"tool_count\":1"#), "{found}");
    assert!(!found.contains("not_known_yet"), "{found}");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_takes_long_holds_up_one_answer_for_a_bounded_time() {
    let (_world, exchange) = exchange(Ok(Duration::from_secs(20)));
    let began = Instant::now();
    let first = turn(&exchange, "ann", "gateway");
    let search = r#"{"query":"echo"}"#;
    let found = text(call(&first, "discover_tools", search).await);
    assert_eq!(began.elapsed().as_secs(), 5);
    assert!(found.contains(r#"\"not_known_yet\":[\"up is starting\"]"#), "{found}");
    let again = turn(&exchange, "bob", "gateway");
    let found = text(call(&again, "discover_tools", r#"{"domain":"up"}"#).await);
    assert_eq!(began.elapsed().as_secs(), 5, "nobody waits again");
    assert!(found.contains("'up' is still starting. Try again in a few seconds."), "{found}");
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_tool_that_nobody_has_seen_yet_starts_its_source() {
    let (world, exchange) = exchange(Ok(Duration::from_secs(20)));
    let told = text(call(&turn(&exchange, "ann", "gateway"), "execute_tool", CALL).await);
    assert!(told.contains("up__echo") && told.contains('7'), "{told}");
    assert_eq!(world.calls(), 1);
    let other = CALL.replace("up__", "down__");
    let told = text(call(&turn(&exchange, "ann", "gateway"), "execute_tool", &other).await);
    assert!(told.contains("Unknown tool 'down__echo'."), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_downloads_is_named_with_how_long_it_has() {
    let (_world, exchange) = exchange(Ok(DOWNLOAD));
    let of = || turn(&exchange, "ann", "gateway");
    let found = text(call(&of(), "discover_tools", r#"{"query":"echo"}"#).await);
    let expected = r#"\"not_known_yet\":[\"up is downloading, 23 s so far\"]"#;
    assert!(found.contains(expected), "{found}");
    let began = Instant::now();
    let expected =
        "'up' is downloading what it needs to start, 23 s so far. Try again in a minute.";
    let found = text(call(&of(), "discover_tools", r#"{"domain":"up"}"#).await);
    assert!(found.contains(expected), "{found}");
    assert_eq!(began.elapsed(), Duration::ZERO, "nobody waits again");
    let told = text(call(&of(), "execute_tool", CALL).await);
    assert!(told.contains("Unknown tool 'up__echo'.") && told.contains(expected), "{told}");
    assert_eq!(began.elapsed().as_secs(), 60, "a call waits until its deadline");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_failed_is_named_without_what_only_people_may_know() {
    let (world, exchange) = exchange(Err("there is no program `/srv/up`"));
    let began = Instant::now();
    let of = || turn(&exchange, "ann", "gateway");
    let found = text(call(&of(), "discover_tools", "{}").await);
    assert!(found.contains(r#"\"not_known_yet\":[\"up is unreachable\"]"#), "{found}");
    for (name, arguments) in
        [("execute_tool", CALL), ("get_tool_schema", r#"{"tool_name":"up__echo"}"#)]
    {
        let told = text(call(&of(), name, arguments).await);
        let expected = "Unknown tool 'up__echo'. The tools of 'up' are not known yet: upstream \
                        server 'up' is unreachable.";
        assert!(told.contains(expected) && !told.contains("/srv"), "{told}");
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(world.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_waits_for_a_sign_in_says_how() {
    let (_world, exchange) = exchange(Err(SIGN_IN));
    let of = || turn(&exchange, "ann", "gateway");
    let found = text(call(&of(), "discover_tools", "{}").await);
    assert!(found.contains(&format!("up {SIGN_IN}")), "{found}");
    let told = text(call(&of(), "execute_tool", CALL).await);
    assert!(told.contains(&format!("server 'up' {SIGN_IN}. Tell the user.")), "{told}");
}

#[tokio::test(start_paused = true)]
async fn what_is_shown_at_first_does_not_depend_on_what_starts() {
    let lists = async |start| {
        let (_world, exchange) = exchange(start);
        let turn = turn(&exchange, "ann", "gateway");
        let before = turn.lists().get(List::Tools).to_owned();
        text(call(&turn, "discover_tools", "{}").await);
        (before, turn.lists().get(List::Tools).to_owned())
    };
    let (before, after) = lists(Ok(Duration::from_secs(20))).await;
    assert_eq!(before, after);
    assert_eq!(lists(Err("no such program")).await, (before, after));
}
