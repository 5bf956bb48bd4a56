use std::sync::Arc;
use std::time::{Duration, Instant};

use gatefold_core::Principal;
use gatefold_dispatch::SourceState;
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;

use super::support::{Era, LONG, Upstream, Wire, trial, trials_each_way};
use super::world::World;

pub(crate) fn trials() -> Vec<Trial> {
    let each_way = [
        trials_each_way("a_list_in_pages_is_read_to_its_end", pages),
        trials_each_way("a_changed_list_is_taken_up", changes),
        trials_each_way("a_list_that_keeps_changing_is_asked_for_less_and_less", storm),
        trials_each_way("a_list_is_never_asked_for_again_for_a_call", calls),
        trials_each_way("a_malformed_tool_costs_only_itself", malformed),
    ];
    let more = vec![
        trial("a_list_without_an_end_is_refused", endless),
        trial("a_changed_definition_is_noticed", drift),
        trial("a_new_list_is_kept_and_an_old_one_not_again", kept),
        trial("a_server_without_tools_is_a_source_without_tools", bare),
        trial("a_list_in_another_order_changes_nothing", order),
        trial("what_a_source_last_said_is_known_before_it_runs", known),
    ];
    each_way.into_iter().flatten().chain(more).collect()
}

async fn pages(wire: Wire, era: Era) {
    let upstream = Upstream::new("up", wire, era, &["--tools", "250", "--page-size", "20"]);
    let world = World::connected(&upstream.settings).await;
    assert_eq!(world.tools().len(), 270);
    assert_eq!(upstream.count("tools/list"), 14 * clients_asked_as(era));
}

/// How many kinds of clients a server is asked for its tools as, if it lists the same to both.
fn clients_asked_as(era: Era) -> usize {
    if era == Era::Handshake { 1 } else { 2 }
}

async fn changes(wire: Wire, era: Era) {
    let upstream = Upstream::new("up", wire, era, &[]);
    let world = World::connected(&upstream.settings).await;
    if era == Era::Stateless {
        let listens = wait_until(LONG, || upstream.count("subscriptions/listen") == 1).await;
        assert!(listens, "a client of this era asks to be told");
    }
    let mut epochs = world.dispatcher.epochs();
    epochs.borrow_and_update();
    world.call("up__grow", "{}").await.unwrap();
    let grown = || world.tools().contains(&"up__grown_1".to_owned());
    assert!(wait_until(LONG, grown).await);
    assert!(epochs.has_changed().unwrap());
    assert_eq!(world.text("up__echo", "{}").await, "{}");
}

/// How often a list may be fetched in three seconds during which it keeps changing.
const LISTS_IN_A_STORM: usize = 8;

async fn storm(wire: Wire, era: Era) {
    let upstream = Upstream::new("up", wire, era, &[]);
    let world = World::connected(&upstream.settings).await;
    let (began, mut grown) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(3) {
        world.call("up__grow", "{}").await.unwrap();
        grown += 1;
        // Often enough, but slower than the fixture can grow.
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    let lists = upstream.count("tools/list");
    let most = LISTS_IN_A_STORM * clients_asked_as(era);
    assert!((2..=most).contains(&lists), "{lists} lists, {grown} changes");
    let last = format!("up__grown_{grown}");
    assert!(wait_until(LONG, || world.tools().contains(&last)).await, "the last is not missed");
}

async fn calls(wire: Wire, era: Era) {
    let upstream = Upstream::new("up", wire, era, &[]);
    let world = World::connected(&upstream.settings).await;
    for _ in 0..5 {
        world.text("up__echo", "{}").await;
    }
    assert_eq!(upstream.count("tools/list"), clients_asked_as(era));
}

async fn malformed(wire: Wire, era: Era) {
    for (kind, alteration, tools) in [
        ("no-name", "was left out: it has no name", 20),
        ("string-schema", "`malformed` was repaired: `inputSchema` was not of the right kind", 21),
        (
            "number-description",
            "`malformed` was repaired: `description` was not of the right kind",
            21,
        ),
    ] {
        let upstream = Upstream::new("up", wire, era, &["--malformed-tool", kind]);
        let world = World::connected(&upstream.settings).await;
        assert_eq!(world.tools().len(), tools, "{kind}");
        let report = world.report("up");
        assert_eq!(report.alterations.len(), 1);
        assert!(report.alterations[0].ends_with(alteration), "{:?}", report.alterations);
        assert_eq!(world.text("up__echo", "{}").await, "{}");
    }
}

async fn endless() {
    for (flag, error) in [
        ("--endless-pages", "`up` is unavailable: `tools/list` gave more than 1000 pages"),
        ("--repeat-cursor", "`up` is unavailable: `tools/list` gave the cursor it was asked with"),
    ] {
        let upstream = Upstream::new("up", Wire::Stdio, Era::Stateless, &[flag]);
        let world = World::new(&[&upstream.settings]);
        let refreshed = world.refresh().await;
        assert_eq!(refreshed, [("up".to_owned(), Err(error.to_owned()))]);
        assert!(world.tools().is_empty());
    }
}

async fn drift() {
    let upstream = Upstream::new("up", Wire::Stdio, Era::Stateless, &["--drift"]);
    let world = World::connected(&upstream.settings).await;
    let before = *world.dispatcher.epochs().borrow();
    world.refresh().await;
    assert_eq!(*world.dispatcher.epochs().borrow(), before + 1);
    world.refresh().await;
    assert_eq!(*world.dispatcher.epochs().borrow(), before + 1, "the third list changes nothing");
    let kept = world.keeper.kept();
    assert_eq!(kept.len(), 2);
    assert_ne!(kept[0].2.digest(), kept[1].2.digest());
}

async fn kept() {
    let upstream = Upstream::new("up", Wire::Stdio, Era::Handshake, &[]);
    let world = World::connected(&upstream.settings).await;
    world.refresh().await;
    assert_eq!(upstream.count("tools/list"), 2);
    let kept = world.keeper.kept();
    assert_eq!(kept.len(), 1);
    let (domain, config, manifest) = &kept[0];
    assert_eq!((domain, config), (&upstream.settings.domain, &upstream.settings.config_digest));
    let server = manifest.server().unwrap();
    assert_eq!(server.name, "gatefold-fixture");
    assert_eq!(server.protocol, "2025-11-25");
    assert_eq!(server.instructions.as_deref(), Some("A fixture for tests."));
    let raw = manifest.tools().iter().find(|tool| tool.name() == "unknown_block").unwrap().raw();
    assert!(raw.contains(r#""x-future":{"kept":[1.10,9007199254740993]}"#), "{raw}");
}

async fn bare() {
    let upstream = Upstream::new("up", Wire::Stdio, Era::Stateless, &["--bare"]);
    let world = World::connected(&upstream.settings).await;
    assert!(world.tools().is_empty());
    assert_eq!(world.state("up"), SourceState::Running);
}

async fn known() {
    let upstream = Upstream::new("up", Wire::Stdio, Era::Stateless, &[]);
    let first = World::connected(&upstream.settings).await;
    let (known, greeted) = (Some(first.keeper.last()), upstream.count("server/discover"));
    let made = super::world::WorldOptions { known, ..Default::default() };
    let world = World::made(&[&upstream.settings], &made);
    assert_eq!(world.tools(), first.tools());
    assert_eq!(world.state("up"), SourceState::Known);
    assert_eq!(upstream.count("server/discover"), greeted, "nothing was started for it");
    assert_eq!(world.text("up__echo", "{}").await, "{}", "the first call starts it");
    assert_eq!(world.state("up"), SourceState::Running);
}

async fn order() {
    let listed = async |seed: &str, known| {
        let made = super::world::WorldOptions { known, ..Default::default() };
        let upstream = Upstream::behaving("up", Wire::Stdio, &["--shuffle", seed]);
        let world = World::connected_as(&upstream.settings, &made).await;
        let view = world.dispatcher.pin(Arc::new(Principal::local()));
        let mut tools: Vec<_> = view.view().tools().collect();
        tools.sort_by_key(|tool| tool.definition().listed_at());
        let own: Vec<_> = tools.iter().map(|tool| tool.target().name.clone()).collect();
        (own, world.keeper.kept().pop().map(|(.., manifest)| manifest))
    };
    let (first, known) = listed("1", None).await;
    let (other, _) = listed("2", None).await;
    assert_ne!(first, other);
    let (still, _) = listed("2", known).await;
    assert_eq!(still, first);
}
