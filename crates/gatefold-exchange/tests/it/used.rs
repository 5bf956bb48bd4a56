//! The tools that somebody used most, at the top level: whose they are, and when they change.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{Principal, UserId};
use gatefold_disclose::{Disclosure, Gateway, Pins};
use gatefold_exchange::{Audience, Disclosures, Exchange, List, Scope};

use crate::turns::{call, text};
use crate::world::World;

const DAY: Duration = Duration::from_hours(24);

fn exchange(world: &World) -> (Arc<Exchange>, Audience) {
    let pinned = Pins { most_used: true, ..Pins::default() };
    let gateway: Arc<dyn Disclosure> = Arc::new(Gateway { pinned, ..Gateway::default() });
    let exchange = world.learning_exchange(Disclosures::standard(&gateway));
    let audience = exchange.audience(Scope::Everything, None).unwrap();
    (exchange, audience)
}

fn someone(user: &str) -> Arc<Principal> {
    Arc::new(Principal::user(UserId::new(user)))
}

/// Whether somebody's list of tools has the tool `up__echo`.
async fn has_echo(exchange: &Exchange, audience: &Audience, user: &str) -> bool {
    let turn = exchange.informed_turn(audience, someone(user)).await.unwrap();
    turn.lists().get(List::Tools).contains(r#""name":"up__echo""#)
}

#[tokio::test]
async fn each_is_shown_what_it_used_itself_and_can_call_it_by_name() {
    let world = World::new();
    let (exchange, audience) = exchange(&world);
    world.used.set("ann", &["up__echo", "up__hidden"]);
    assert!(has_echo(&exchange, &audience, "ann").await);
    assert!(!has_echo(&exchange, &audience, "bob").await);
    assert!(has_echo(&exchange, &audience, "ann").await, "lists that are kept are told apart");
    assert_eq!(world.used.asked(), 2, "once each");
    let turn = exchange.informed_turn(&audience, someone("ann")).await.unwrap();
    assert_eq!(turn.lists().surface().tools.len(), 4, "nothing but what the view shows");
    let answer = text(call(&turn, "up__echo", r#"{"n":1.50}"#).await);
    assert!(answer.contains("1.50") && !answer.contains("tool_name"), "{answer}");
}

#[tokio::test]
async fn a_list_changes_with_the_first_turn_of_a_day_and_watchers_are_told() {
    let world = World::new();
    let (exchange, audience) = exchange(&world);
    let mut epochs = world.dispatcher.epochs();
    assert!(!has_echo(&exchange, &audience, "ann").await);
    world.used.set("ann", &["up__echo"]);
    world.clock.advance(DAY / 2);
    assert!(!has_echo(&exchange, &audience, "ann").await, "not in the midst of a day");
    let before = exchange.digests(&audience, &someone("ann"));
    assert!(!epochs.has_changed().unwrap());
    world.clock.advance(DAY);
    assert!(has_echo(&exchange, &audience, "ann").await);
    assert!(epochs.has_changed().unwrap());
    assert_ne!(exchange.digests(&audience, &someone("ann")), before);
    // The same tools on the next day are no change.
    epochs.mark_unchanged();
    world.clock.advance(DAY);
    assert!(has_echo(&exchange, &audience, "ann").await);
    assert!(!epochs.has_changed().unwrap());
}

#[tokio::test(start_paused = true)]
async fn what_takes_too_long_to_read_holds_nobody_up_and_comes_late() {
    let world = World::new();
    let (exchange, audience) = exchange(&world);
    world.used.set("ann", &["up__echo"]);
    world.used.take(Duration::from_secs(5));
    let mut epochs = world.dispatcher.epochs();
    let began = tokio::time::Instant::now();
    assert!(!has_echo(&exchange, &audience, "ann").await);
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    assert!(!has_echo(&exchange, &audience, "ann").await, "and nobody waits again");
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    epochs.changed().await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert!(has_echo(&exchange, &audience, "ann").await);
    assert_eq!(world.used.asked(), 1);
}

#[tokio::test]
async fn whoever_has_no_such_pins_is_not_looked_up() {
    let world = World::new();
    let (exchange, _) = exchange(&world);
    world.used.set("ann", &["up__echo"]);
    let flat = exchange.audience(Scope::Everything, Some("flat")).unwrap();
    exchange.informed_turn(&flat, someone("ann")).await.unwrap();
    assert_eq!(world.used.asked(), 0);
}
