//! Runs whose process is killed: they are taken up again, and no call is made twice that must not be.
//!
//! The binary runs itself again as the process that begins a run.

#![expect(clippy::unwrap_used, reason = "tests may fail")]

mod commands;
mod hosted;
mod ledger;
#[path = "../it/process.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod process;
#[path = "../../../gatefold/tests/it/scratch/directory.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod scratch;
mod waits;

use std::process::ExitCode;
use std::time::Duration;

use gatefold_testkit::wait_until;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

use crate::ledger::{Ledger, Random};
use crate::process::{Gateway, LIMIT, run};
use crate::scratch::Scratch;

/// How many runs are killed, each at another point. `GATEFOLD_KILLS` says otherwise.
const KILLS: u64 = 20;

/// The longest that a process lives on after the model was asked for the last time before its end.
const MORE_MILLIS: u64 = 40;

type TestBody = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(hosted::COMMAND) {
        return hosted::begin_and_wait(&arguments.collect::<Vec<_>>());
    }
    #[expect(clippy::disallowed_methods, reason = "how long a run by hand takes")]
    let kills = std::env::var("GATEFOLD_KILLS").ok().and_then(|number| number.parse().ok());
    let mut trials: Vec<_> = (0..kills.unwrap_or(KILLS))
        .map(|seed| {
            let name = format!("a_killed_run_makes_no_unrepeatable_call_twice_{seed}");
            Trial::test(name, move || survive(seed))
        })
        .collect();
    let others: [(&str, TestBody); 9] = [
        (
            "a_run_waits_for_an_approval_without_its_process",
            waits::a_run_waits_for_an_approval_without_its_process,
        ),
        ("a_denied_call_is_not_made", waits::a_denied_call_is_not_made),
        ("a_run_is_cancelled_from_elsewhere", waits::a_run_is_cancelled_from_elsewhere),
        (
            "a_run_ends_that_needs_what_only_a_client_can_send",
            waits::a_run_ends_that_needs_what_only_a_client_can_send,
        ),
        (
            "no_approval_is_asked_for_what_only_a_client_can_send",
            waits::no_approval_is_asked_for_what_only_a_client_can_send,
        ),
        (
            "a_run_is_resumed_and_deleted_by_command",
            commands::a_run_is_resumed_and_deleted_by_command,
        ),
        (
            "a_reader_follows_a_run_over_the_end_of_its_process",
            commands::a_reader_follows_a_run_over_the_end_of_its_process,
        ),
        (
            "a_run_is_ended_that_processes_die_with",
            commands::a_run_is_ended_that_processes_die_with,
        ),
        (
            "a_chat_whose_window_is_closed_finishes_its_answer",
            commands::a_chat_whose_window_is_closed_finishes_its_answer,
        ),
    ];
    trials.extend(others.map(|(name, test)| Trial::test(name, test)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Begins a run of twenty calls, kills its process at some point, and has another one finish it: a gateway, or the chat
/// that goes on.
fn survive(seed: u64) -> Result<(), Failed> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let (scratch, mut random) = (Scratch::new(), Random::of(seed));
        let ledger = Ledger::start(&scratch, "");
        let is_chat = seed % 2 == 1;
        let mut first = if is_chat {
            Gateway::start(&scratch, &["chat", "-p", "Go"])
        } else {
            Gateway::of(hosted::command(&scratch, "Go"))
        };
        let asked = 1 + usize::try_from(random.below(10)).unwrap();
        let is_there = wait_until(LIMIT, || ledger.asked() >= asked).await;
        assert!(is_there, "seed {seed}: {}", first.log());
        tokio::time::sleep(Duration::from_millis(random.below(MORE_MILLIS))).await;
        first.signal("-KILL");
        first.ended().await;

        if is_chat {
            let ran = run(&scratch, &["chat", "--continue", "-p", "Go on"]);
            assert_eq!(ran.code, Some(0), "seed {seed}: {}", ran.stderr);
        } else {
            let gateway = Gateway::serve(&scratch).await;
            let is_done = wait_until(LIMIT, || state(&scratch) == "done").await;
            assert!(is_done, "seed {seed}: {}: {}", state(&scratch), gateway.log());
            follow_in_parts(&scratch, &mut random);
        }
        ledger.check(seed);
        Ok(())
    })
}

/// The state of the only run.
pub(crate) fn state(scratch: &Scratch) -> String {
    let runs = run(scratch, &["runs", "list", "--json"]).json();
    runs["runs"][0]["state"].as_str().unwrap_or_default().to_owned()
}

/// The id of the only run.
pub(crate) fn run_id(scratch: &Scratch) -> String {
    let runs = run(scratch, &["runs", "list", "--json"]).json();
    runs["runs"][0]["id"].as_str().unwrap().to_owned()
}

/// The numbers of the events that `runs follow --json` printed.
pub(crate) fn numbers_from(printed: &str) -> Vec<u64> {
    let events = printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.map(|event| event["number"].as_u64().unwrap()).collect()
}

/// A reader who leaves and comes back sees each event once.
fn follow_in_parts(scratch: &Scratch, random: &mut Random) {
    let id = run_id(scratch);
    let numbers = |from: u64| {
        let from = from.to_string();
        numbers_from(&run(scratch, &["runs", "follow", &id, "--from", &from, "--json"]).stdout)
    };
    let all = numbers(0);
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    let from = random.below(all.len() as u64);
    assert_eq!(numbers(from), all[usize::try_from(from).unwrap()..]);
}
