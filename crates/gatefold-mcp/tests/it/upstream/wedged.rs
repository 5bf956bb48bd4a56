//! Local servers that stop working without ending, and those whose answers nobody can read.

use std::time::{Duration, Instant};

use gatefold_dispatch::Limits;
use gatefold_mcp::{StdioSettings, Transport};
use gatefold_testkit::{process_alive, wait_until};
use libtest_mimic::Trial;
use rustix::process::{Pid, Signal, kill_process};

use super::support::{Era, LONG, Upstream, Wire, settings, trial};
use super::world::{World, WorldOptions};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("a_server_that_answers_pings_outlives_calls_that_do_not_end", alive),
        trial("an_answer_that_cannot_be_read_fails_its_call_at_once", unreadable),
    ];
    for era in [Era::Handshake, Era::Stateless] {
        let name = format!("a_process_that_hangs_is_replaced::{era:?}").to_lowercase();
        trials.push(trial(name, move || hangs(era)));
    }
    trials
}

async fn with_deadline(upstream: &Upstream, call_deadline: Duration) -> World {
    let limits = Limits { call_deadline, ..Limits::default() };
    let options = WorldOptions { limits, ..WorldOptions::default() };
    World::connected_as(&upstream.settings, &options).await
}

async fn hangs(era: Era) {
    let upstream = Upstream::new("up", Wire::Stdio, era, &[]);
    let world = with_deadline(&upstream, Duration::from_secs(1)).await;
    let [first] = upstream.processes()[..] else { panic!("one process") };
    let pid = Pid::from_raw(first.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    for _ in 0..2 {
        assert_eq!(world.error("up__echo", "{}").await, "`up__echo` did not answer within 1 s");
    }
    assert!(wait_until(LONG, || !process_alive(first)).await, "it is ended");
    let reason = world.report("up").status.error.unwrap_or_default();
    assert!(reason.starts_with("the server hung"), "{reason}");
    let began = Instant::now();
    while let Err(error) = world.call("up__echo", "{}").await {
        assert!(began.elapsed() < LONG, "{error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(upstream.processes().len(), 2);
}

async fn alive() {
    let upstream = Upstream::new("up", Wire::Stdio, Era::Handshake, &[]);
    let world = with_deadline(&upstream, Duration::from_secs(1)).await;
    for _ in 0..3 {
        assert_eq!(world.error("up__never", "{}").await, "`up__never` did not answer within 1 s");
    }
    assert!(wait_until(LONG, || upstream.count("ping") >= 1).await, "it was pinged");
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert_eq!(upstream.processes().len(), 1);
}

/// A server in a few lines of shell. Its tool answers with the text in `$ANSWER`, in which `ID`
/// stands for the request's id.
const SHELL: &str = r#"
while read -r line; do
    id=${line#*\"id\":}; id=${id%%[!0-9]*}
    answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
    case $line in
    *server/discover*) answer '"error":{"code":-32601,"message":"no such method"}' ;;
    *'"initialize"'*) answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"sh","version":"1"}}' | tr -d '\n'; echo ;;
    *tools/list*) answer '"result":{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}' ;;
    *tools/call*good*) answer '"result":{"content":[{"type":"text","text":"well"}]}' ;;
    *tools/call*) printf "${ANSWER}\n" | sed "s/ID/$id/" ;;
    esac
done
"#;

async fn unreadable() {
    for (answer, reason) in [
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"x":NaN}}"#, "its answer is not JSON"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"content":["#, "its answer is not JSON"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"x":"\377"}}"#, "is not UTF-8"),
        (r#"[{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}]"#, "its answer is in a batch"),
    ] {
        let shell = StdioSettings {
            command: "sh".to_owned(),
            args: vec!["-c".to_owned(), format!("ANSWER='{answer}'\n{SHELL}")],
            ..StdioSettings::default()
        };
        let world = World::connected(&settings("up", Transport::Stdio(shell))).await;
        let began = Instant::now();
        let error = world.error("up__say", "{}").await;
        assert!(error.contains(reason), "{answer}: {error}");
        assert!(began.elapsed() < LONG, "no deadline was waited for");
        assert_eq!(world.text("up__say", r#"{"good":true}"#).await, "well", "the session goes on");
    }
}
