use std::time::Duration;

use gatefold_dispatch::QuestionMode;
use gatefold_mcp::EraChoice;
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use serde_json::Value;

use super::asking::{ALL, AskedClient};
use super::support::{Era, LONG, Upstream, Wire, trial};
use super::world::{World, WorldOptions, tool_call};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = LADDER
        .iter()
        .flat_map(|(behaviour, protocol)| {
            [Wire::Stdio, Wire::Http].map(|wire| {
                let way = format!("{wire:?}_{}", behaviour.join("_")).to_lowercase();
                let name = format!("any_server_is_met_in_its_own_era::{way}");
                trial(name, move || met(wire, behaviour, protocol))
            })
        })
        .collect();
    trials.extend([
        trial("a_server_that_dies_of_an_unknown_request_is_started_once_more", dies),
        trial("a_server_that_ignores_an_unknown_request_is_not_started_twice", ignores),
        trial("a_server_that_is_slow_to_start_is_not_started_twice", slow),
        trial("a_slow_server_that_holds_to_its_first_question_is_asked_it_again", slow_stateless),
        trial("the_era_is_remembered", remembered),
        trial("a_server_that_dies_of_its_old_era_is_started_once_more", outgrown),
        trial("the_era_of_the_configuration_is_kept_to::stdio", || chosen(Wire::Stdio)),
        trial("the_era_of_the_configuration_is_kept_to::http", || chosen(Wire::Http)),
        trial("a_change_of_era_is_noticed::stdio", || changed(Wire::Stdio)),
        trial("a_change_of_era_is_noticed::http", || changed(Wire::Http)),
        trial("a_local_server_that_dies_of_a_handshake_goes_on_without", || {
            untaken(Wire::Stdio, &["--exit-on-initialize"])
        }),
        trial("a_handshake_that_begins_no_session_is_not_used", sessionless),
    ]);
    for wire in [Wire::Stdio, Wire::Http] {
        let way = format!("{wire:?}").to_lowercase();
        trials
            .push(trial(format!("a_server_without_a_handshake_is_tried_once::{way}"), move || {
                untaken(wire, &[])
            }));
        for (named, behaviour) in [("", BOTH), ("_unnamed", UNNAMED)] {
            trials.extend([
                trial(
                    format!("a_server_of_both_eras_is_called_in_its_clients::{way}{named}"),
                    move || follows(wire, behaviour),
                ),
                trial(
                    format!("everything_is_asked_in_the_era_of_an_only_client::{way}{named}"),
                    move || alone(wire, behaviour),
                ),
            ]);
        }
    }
    trials
}

const BOTH: &[&str] = &["--era", "both"];
/// Both, and nothing says so, as with the servers of the official SDKs.
const UNNAMED: &[&str] = &["--era", "both", "--unnamed-handshake"];

const LADDER: &[(&[&str], &str)] = &[
    (&["--old", "2024-11-05"], "2024-11-05"),
    (&["--old", "2025-03-26"], "2025-03-26"),
    (&["--old", "2025-06-18"], "2025-06-18"),
    (&["--era", "handshake"], "2025-11-25"),
    (&["--era", "stateless"], "2026-07-28"),
    (&["--era", "both"], "2026-07-28"),
];

async fn met(wire: Wire, behaviour: &[&str], protocol: &str) {
    let upstream = Upstream::behaving("up", wire, behaviour);
    let world = World::connected(&upstream.settings).await;
    assert_eq!(world.report("up").status.protocol.as_deref(), Some(protocol));
    assert_eq!(world.text("up__echo", "{}").await, "{}");
}

async fn dies() {
    let upstream = Upstream::behaving("up", Wire::Stdio, &["--exit-on-discover"]);
    let world = World::connected(&upstream.settings).await;
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert_eq!(world.report("up").status.protocol.as_deref(), Some("2025-11-25"));
    assert_eq!(upstream.processes().len(), 2);
}

async fn ignores() {
    let mut upstream = Upstream::behaving("up", Wire::Stdio, &["--ignore-discover"]);
    upstream.settings.connect_deadline = Duration::from_secs(9);
    let world = World::connected(&upstream.settings).await;
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert_eq!(world.report("up").status.protocol.as_deref(), Some("2025-11-25"));
    assert_eq!(upstream.processes().len(), 1);
}

async fn slow() {
    // Longer than the part of the deadline that an unknown server gets for its first answer.
    let mut upstream = Upstream::behaving("up", Wire::Stdio, &["--slow-start", "3500"]);
    upstream.settings.connect_deadline = Duration::from_secs(9);
    let world = World::connected(&upstream.settings).await;
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert_eq!(upstream.processes().len(), 1);
    assert_eq!(upstream.count("server/discover"), 1);
}

async fn slow_stateless() {
    let flags = &["--slow-start", "3500"];
    let mut upstream = Upstream::new("up", Wire::Stdio, Era::Stateless, flags);
    upstream.settings.connect_deadline = Duration::from_secs(9);
    let world = World::connected(&upstream.settings).await;
    assert_eq!(world.report("up").status.protocol.as_deref(), Some("2026-07-28"));
    assert_eq!((upstream.processes().len(), upstream.count("server/discover")), (1, 2));
}

async fn remembered() {
    let mut upstream = Upstream::behaving("up", Wire::Stdio, &["--era", "handshake"]);
    upstream.settings.idle_stop = Duration::from_millis(200);
    let first = World::connected(&upstream.settings).await;
    let gone = || first.state("up") == gatefold_dispatch::SourceState::Idle;
    assert!(wait_until(LONG, gone).await);
    assert_eq!(first.text("up__echo", "{}").await, "{}");
    assert_eq!(upstream.count("server/discover"), 1, "within one run");

    let made = WorldOptions { known: Some(first.keeper.last()), ..WorldOptions::default() };
    let second = World::made(&[&upstream.settings], &made);
    assert_eq!(second.text("up__echo", "{}").await, "{}");
    assert_eq!(upstream.count("server/discover"), 1, "from one run to the next");
}

async fn changed(wire: Wire) {
    for (before, after, protocol) in [
        (Era::Handshake, Era::Stateless, "2026-07-28"),
        (Era::Stateless, Era::Handshake, "2025-11-25"),
    ] {
        let first = World::connected(&Upstream::new("up", wire, before, &[]).settings).await;
        let made = WorldOptions { known: Some(first.keeper.last()), ..WorldOptions::default() };
        let upstream = Upstream::new("up", wire, after, &[]);
        let world = World::made(&[&upstream.settings], &made);
        assert_eq!(world.text("up__echo", "{}").await, "{}");
        assert_eq!(world.report("up").status.protocol.as_deref(), Some(protocol));
        let told = wait_until(LONG, || !world.keeper.kept().is_empty()).await;
        assert!(told, "the new version is kept");
        assert_eq!(world.keeper.last().server().unwrap().protocol, protocol);
    }
}

/// A server that speaks both eras may still ask questions that only the handshake era allows.
async fn follows(wire: Wire, behaviour: &[&str]) {
    let upstream = Upstream::behaving("up", wire, behaviour);
    let world = World::connected(&upstream.settings).await;
    let eras = || upstream.messages("tools/call").iter().map(era_of).collect::<Vec<_>>();
    let retrying = AskedClient::new(ALL, QuestionMode::ByRetry, |_| panic!("it was asked"));
    world.done(tool_call("up__echo", "{}"), retrying.caller()).await;
    assert_eq!((eras(), upstream.count("initialize")), (vec![Era::Stateless], 0));

    let connected = AskedClient::saying(r#"{"action":"accept","content":{}}"#);
    world.done(tool_call("up__ask", "{}"), connected.caller()).await;
    world.done(tool_call("up__echo", "{}"), connected.caller()).await;
    assert_eq!(connected.heard().len(), 1);
    assert_eq!(eras()[1..], [Era::Handshake; 2]);
    assert_eq!(upstream.count("initialize"), 1);

    world.done(tool_call("up__echo", "{}"), retrying.caller()).await;
    match wire {
        // A second session would be a second process, with a state of its own.
        Wire::Stdio => assert_eq!((eras()[3], upstream.processes().len()), (Era::Handshake, 2)),
        _ => assert_eq!(eras()[3], Era::Stateless),
    }
}

async fn alone(wire: Wire, behaviour: &[&str]) {
    let client = AskedClient::saying(r#"{"action":"accept","content":{}}"#);
    let lists = |upstream: &Upstream| -> Vec<Era> {
        upstream.messages("tools/list").iter().map(era_of).collect()
    };

    let known = Upstream::behaving("up", wire, behaviour);
    let world = World::new(&[&known.settings]);
    world.dispatcher.meet(client.clone());
    assert_eq!(world.refresh().await[0].1, Ok(()));
    world.done(tool_call("up__echo", "{}"), client.caller()).await;
    assert_eq!(world.report("up").status.protocol.as_deref(), Some("2025-11-25"));
    assert_eq!(lists(&known).last(), Some(&Era::Handshake));
    if wire == Wire::Stdio && behaviour == BOTH {
        assert_eq!((lists(&known).len(), known.processes().len()), (1, 1));
    }

    let late = Upstream::behaving("up", wire, behaviour);
    let world = World::connected(&late.settings).await;
    assert_eq!(lists(&late), [Era::Stateless; 2]);
    world.dispatcher.meet(client.clone());
    assert!(wait_until(LONG, || lists(&late).last() == Some(&Era::Handshake)).await);
    world.done(tool_call("up__echo", "{}"), client.caller()).await;
    assert_eq!(world.report("up").status.sessions, 1);

    let stateless = Upstream::new("up", wire, Era::Stateless, &[]);
    let world = World::connected(&stateless.settings).await;
    world.dispatcher.meet(client.clone());
    world.done(tool_call("up__echo", "{}"), client.caller()).await;
    assert_eq!((lists(&stateless).len(), stateless.count("initialize")), (2, 1));
}

/// A server that speaks the stateless era alone keeps its session, and whatever it has in it.
async fn untaken(wire: Wire, behaviour: &[&str]) {
    let upstream = Upstream::new("up", wire, Era::Stateless, behaviour);
    let world = World::connected(&upstream.settings).await;
    for _ in 0..2 {
        let client = AskedClient::saying(r#"{"action":"accept","content":{}}"#);
        for _ in 0..2 {
            world.done(tool_call("up__ask", "{}"), client.caller()).await;
        }
        assert_eq!(client.heard().len(), 2);
    }
    let first = upstream.processes()[0];
    let calls = upstream.received().into_iter().filter(|one| one.method == "tools/call");
    assert!(
        calls
            .map(|call| (call.pid, era_of(&call.message)))
            .all(|own| own == (first, Era::Stateless))
    );
    assert_eq!((upstream.count("initialize"), upstream.count("tools/list")), (1, 2));
    let status = world.report("up").status;
    assert_eq!((status.error, status.protocol.as_deref()), (None, Some("2026-07-28")));
}

/// What it asks in the middle of a call could never be answered, so it is called as it is.
async fn sessionless() {
    let upstream = Upstream::behaving("up", Wire::Http, &[UNNAMED, &["--sessionless"]].concat());
    let world = World::connected(&upstream.settings).await;
    let client = AskedClient::saying(r#"{"action":"accept","content":{}}"#);
    for _ in 0..2 {
        world.done(tool_call("up__ask", "{}"), client.caller()).await;
    }
    assert_eq!(client.heard().len(), 2);
    let eras: Vec<_> = upstream.messages("tools/call").iter().map(era_of).collect();
    assert!(eras.iter().all(|era| *era == Era::Stateless), "{eras:?}");
    assert_eq!(upstream.count("initialize"), 1);
}

async fn chosen(wire: Wire) {
    let client = AskedClient::new(ALL, QuestionMode::Live, |_| panic!("it was asked"));
    let choices = [EraChoice::Handshake, EraChoice::Stateless];
    for (choice, protocol) in choices.into_iter().zip(["2025-11-25", "2026-07-28"]) {
        let mut upstream = Upstream::behaving("up", wire, UNNAMED);
        upstream.settings.era = choice;
        let world = World::connected(&upstream.settings).await;
        world.done(tool_call("up__echo", "{}"), client.caller()).await;
        assert_eq!(world.report("up").status.protocol.as_deref(), Some(protocol));
        let greetings = (upstream.count("initialize"), upstream.count("server/discover"));
        assert_eq!(greetings, if choice == EraChoice::Handshake { (1, 0) } else { (0, 1) });
    }
    let mut upstream = Upstream::new("up", wire, Era::Handshake, &[]);
    upstream.settings.era = EraChoice::Stateless;
    let refreshed = World::new(&[&upstream.settings]).refresh().await;
    assert!(refreshed[0].1.is_err(), "it does not speak that era");
    assert_eq!(upstream.count("initialize"), 0);
}

fn era_of(call: &Value) -> Era {
    match &call["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] {
        Value::Null => Era::Handshake,
        _ => Era::Stateless,
    }
}

async fn outgrown() {
    let before = Upstream::new("up", Wire::Stdio, Era::Handshake, &[]);
    let first = World::connected(&before.settings).await;
    let made = WorldOptions { known: Some(first.keeper.last()), ..WorldOptions::default() };
    let upstream = Upstream::new("up", Wire::Stdio, Era::Stateless, &["--exit-on-initialize"]);
    let world = World::made(&[&upstream.settings], &made);
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert_eq!(world.report("up").status.protocol.as_deref(), Some("2026-07-28"));
    assert_eq!(upstream.processes().len(), 2);
}
