//! Resources that are listened to, and servers that change their era under an open session.

use std::path::Path;
use std::time::Duration;

use gatefold_core::{Operation, Uri};
use gatefold_dispatch::{Caller, SourceState};
use gatefold_mcp::Transport;
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use rustix::process::{Pid, Signal};
use tokio::time::timeout;

use super::asking::{ReferenceUpstream, trials_honestly};
use super::support::{Era, LONG, Wire, trial};
use super::world::{World, tool_call};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials_honestly("a_resource_is_heard_of_until_the_last_has_left", heard);
    trials.extend(trials_honestly("a_session_that_is_listened_to_is_not_stopped", kept));
    for era in [Era::Handshake, Era::Stateless] {
        let way = format!("{era:?}").to_lowercase();
        let name = format!("subscriptions_outlive_their_server::{way}");
        trials.push(trial(name, move || restarted(era)));
        let name = format!("subscriptions_outlive_their_process::{way}");
        trials.push(trial(name, move || killed(era)));
    }
    for (before, after) in [(Era::Handshake, Era::Stateless), (Era::Stateless, Era::Handshake)] {
        let way = format!("{before:?}_to_{after:?}").to_lowercase();
        let name = format!("a_server_replaced_by_one_of_another_era_is_met_at_once::{way}");
        trials.push(trial(name, move || replaced(before, after)));
    }
    trials
}

const WATCHED: &str = "test://watched-resource";

fn subscribe() -> Operation {
    Operation::Subscribe(Uri::new(format!("gatefold://up/{WATCHED}")))
}

fn unsubscribe() -> Operation {
    Operation::Unsubscribe(Uri::new(format!("gatefold://up/{WATCHED}")))
}

async fn touch(world: &World) -> String {
    let arguments = format!(r#"{{"uri":"{WATCHED}"}}"#);
    world.text("up__matrix_touch", &arguments).await
}

async fn heard(wire: Wire, era: Era) {
    let server = ReferenceUpstream::new(wire, era).await;
    let world = World::connected(&server.settings).await;
    let mut updates = world.dispatcher.updates();
    assert_eq!(touch(&world).await, "told 0");
    world.done(subscribe(), Caller::silent()).await;
    world.done(subscribe(), Caller::silent()).await;
    // Over HTTP, the stream of notifications is opened after the handshake.
    let update = timeout(LONG, async {
        loop {
            touch(&world).await;
            if let Ok(update) = timeout(LONG / 20, updates.recv()).await {
                return update.unwrap();
            }
        }
    });
    let update = update.await.expect("the update arrives");
    assert_eq!((update.domain.as_str(), &*update.uri), ("up", WATCHED));
    world.done(unsubscribe(), Caller::silent()).await;
    assert_eq!(touch(&world).await, "told 1", "one still listens");
    world.done(unsubscribe(), Caller::silent()).await;
    timeout(LONG, async { while touch(&world).await != "told 0" {} })
        .await
        .expect("nobody listens any more");
}

async fn kept(wire: Wire, era: Era) {
    let mut server = ReferenceUpstream::new(wire, era).await;
    server.settings.idle_stop = Duration::from_millis(100);
    let world = World::connected(&server.settings).await;
    world.done(subscribe(), Caller::silent()).await;
    let stopped = || world.state("up") == SourceState::Idle;
    assert!(!wait_until(Duration::from_secs(1), stopped).await);
    world.done(unsubscribe(), Caller::silent()).await;
    assert!(wait_until(LONG, stopped).await);
}

async fn restarted(era: Era) {
    let mut server = ReferenceUpstream::new(Wire::Http, era).await;
    let world = World::connected(&server.settings).await;
    world.done(subscribe(), Caller::silent()).await;
    let mut updates = world.dispatcher.updates();
    server.replace(era).await;
    // Nothing is called in the meantime. Whatever may have changed while nobody listened is
    // reported.
    let update = timeout(LONG, updates.recv()).await.expect("it is listened to again").unwrap();
    assert_eq!(&*update.uri, WATCHED);
    let told = timeout(LONG, async { while touch(&world).await != "told 1" {} });
    told.await.expect("the new server is listened to");
}

async fn killed(era: Era) {
    let mut server = ReferenceUpstream::new(Wire::Stdio, era).await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    tell_pid(&mut server, &file);
    let world = World::connected(&server.settings).await;
    world.done(subscribe(), Caller::silent()).await;
    let mut updates = world.dispatcher.updates();
    let pid = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    let update = timeout(LONG, updates.recv()).await.expect("it is listened to again").unwrap();
    assert_eq!(&*update.uri, WATCHED);
    assert_eq!(touch(&world).await, "told 1");
}

/// Has a server write its process's number to a file before it starts.
fn tell_pid(server: &mut ReferenceUpstream, file: &Path) {
    let Transport::Stdio(stdio) = &mut server.settings.transport else { panic!("not a process") };
    let program = std::mem::replace(&mut stdio.command, "sh".to_owned());
    let script = format!(r#"echo $$ > '{}'; exec "$0" "$@""#, file.display());
    let args = ["-c".to_owned(), script, program];
    stdio.args.splice(0..0, args);
}

async fn replaced(before: Era, after: Era) {
    let mut server = ReferenceUpstream::new(Wire::Http, before).await;
    let world = World::connected(&server.settings).await;
    server.replace(after).await;
    let meta = world.operate(tool_call("up__matrix_meta", "{}"), None, Caller::silent()).await;
    meta.expect("the call is answered all the same");
    let protocol = world.report("up").status.protocol;
    let expected = match after {
        Era::Handshake => "2025-11-25",
        Era::Stateless => "2026-07-28",
    };
    assert_eq!(protocol.as_deref(), Some(expected));
}
