//! What follows from each event.

use gatefold_agent::{AgentEvent, AgentRun, CALLS_PER_ANSWER, RunLimits, Shortage};
use gatefold_model::{StopReason, ToolResult};

use crate::{answer, asking, call, calls, results, returned, shown, words};

fn begin(limits: RunLimits) -> AgentRun {
    let (run, effects) = AgentRun::begin(asking("Go."), limits);
    assert_eq!(shown(&effects), ["ask"]);
    run
}

#[track_caller]
fn step(run: &mut AgentRun, event: AgentEvent, expected: &[&str]) {
    assert_eq!(shown(&run.step(event)), expected);
}

const ANSWERED: &str = r#"{"end":"answered"}"#;

#[test]
fn a_greeting_costs_one_answer() {
    let mut run = begin(RunLimits::default());
    step(&mut run, words("Hello."), &[ANSWERED]);
    assert_eq!((run.answers(), run.tokens(), run.answer().as_deref()), (1, 10, Some("Hello.")));
}

#[test]
fn calls_run_at_once_up_to_a_limit_and_their_results_keep_the_order_of_the_calls() {
    let mut run = begin(RunLimits { calls_at_once: 2, ..RunLimits::default() });
    let three = [("a", "{}"), ("b", "{}"), ("c", "{}")];
    step(&mut run, calls(&three), &["0 a", "1 b"]);
    step(&mut run, returned(1, "of b"), &["2 c"]);
    // Again, and for a call that has not begun or does not exist.
    for call in [1, 3, 99] {
        step(&mut run, returned(call, "no"), &[]);
    }
    step(&mut run, returned(2, "of c"), &[]);
    step(&mut run, returned(0, "of a"), &["ask"]);
    assert_eq!(results(&run), ["of a", "of b", "of c"]);
    step(&mut run, words("Done."), &[ANSWERED]);
    step(&mut run, words("More."), &[]);
}

#[test]
fn nothing_is_called_with_arguments_that_are_not_an_object() {
    let mut run = begin(RunLimits::default());
    step(&mut run, calls(&[("a", "{\"x\":"), ("b", "{}")]), &["1 b"]);
    step(&mut run, returned(1, "of b"), &["ask"]);
    let results = results(&run);
    assert!(results[0].contains("nothing was called"), "{results:?}");
    assert_eq!(results[1], "of b");
    let mut run = begin(RunLimits::default());
    step(&mut run, calls(&[("a", "[1]")]), &["ask"]);
}

#[test]
fn calls_beyond_those_of_one_answer_are_not_made() {
    let mut run = begin(RunLimits { calls_at_once: 1000, ..RunLimits::default() });
    let all = vec![call("a", "{}"); CALLS_PER_ANSWER + 1];
    let effects = run.step(answer(all, StopReason::Calls));
    assert_eq!(effects.len(), CALLS_PER_ANSWER);
    for call in 0..CALLS_PER_ANSWER {
        run.step(returned(call, &call.to_string()));
    }
    assert!(results(&run)[CALLS_PER_ANSWER].starts_with("Not called"));
}

#[test]
fn what_runs_short_leads_to_one_last_answer_without_tools() {
    let mut run = begin(RunLimits { iterations: 1, ..RunLimits::default() });
    step(&mut run, calls(&[("a", "{}")]), &["0 a"]);
    step(&mut run, returned(0, "of a"), &["last"]);
    step(&mut run, words("What I know."), &[r#"{"end":"short","of":"iterations"}"#]);
    assert_eq!(run.answer().as_deref(), Some("What I know."));

    let mut run = begin(RunLimits::default());
    step(&mut run, AgentEvent::RanShort { of: Shortage::Tokens }, &[]);
    step(&mut run, calls(&[("a", "{}")]), &["0 a"]);
    step(&mut run, returned(0, "of a"), &["last"]);
    // Calls in the last answer are not made.
    step(&mut run, calls(&[("a", "{}")]), &[r#"{"end":"short","of":"tokens"}"#]);

    let mut run = begin(RunLimits::default());
    step(&mut run, calls(&[("a", "{}")]), &["0 a"]);
    step(&mut run, AgentEvent::RanShort { of: Shortage::Time }, &[]);
    step(&mut run, returned(0, "of a"), &["last"]);

    let mut run = begin(RunLimits { history_bytes: 100, ..RunLimits::default() });
    step(&mut run, calls(&[("a", "{}")]), &["0 a"]);
    step(&mut run, returned(0, &"x".repeat(101)), &["last"]);
}

#[test]
fn a_run_that_may_call_nothing_is_asked_for_an_answer() {
    let limits = RunLimits { iterations: 0, ..RunLimits::default() };
    let (run, effects) = AgentRun::begin(asking("Go."), limits);
    assert_eq!(shown(&effects), ["last"]);
    assert_eq!(run.history().turns().len(), 1);
}

#[test]
fn the_same_call_with_the_same_result_is_noted_and_then_ends_the_run() {
    let mut run = begin(RunLimits::default());
    for times in 1..=5 {
        step(&mut run, calls(&[("a", r#"{"q":1}"#)]), &["0 a"]);
        let next = if times == 5 { "last" } else { "ask" };
        step(&mut run, returned(0, ""), &[next]);
        let noted = results(&run)[0].contains(&format!("{times} times"));
        assert_eq!(noted, times >= 3, "{times}: {:?}", results(&run));
    }
    let mut run = begin(RunLimits::default());
    for other in 0..10 {
        step(&mut run, calls(&[("a", r#"{"q":1}"#)]), &["0 a"]);
        step(&mut run, returned(0, &other.to_string()), &["ask"]);
    }
}

#[test]
fn an_empty_result_is_worded_as_a_fact() {
    for (result, expected) in [
        (ToolResult::text(" \n"), "Its result is empty"),
        (ToolResult { parts: Vec::new(), is_error: false }, "Its result is empty"),
        (ToolResult::error(""), "failed"),
    ] {
        let mut run = begin(RunLimits::default());
        run.step(calls(&[("a", "{}")]));
        step(&mut run, AgentEvent::Returned { call: 0, result }, &["ask"]);
        assert!(results(&run)[0].contains(expected), "{:?}", results(&run));
    }
}

#[test]
fn an_empty_answer_is_asked_for_once_more() {
    let mut run = begin(RunLimits::default());
    step(&mut run, words(" "), &["ask"]);
    step(&mut run, words("Hello."), &[ANSWERED]);
    let mut run = begin(RunLimits::default());
    step(&mut run, words(""), &["ask"]);
    let failed = r#"{"end":"failed","reason":"the model answered nothing","is_final":false}"#;
    step(&mut run, words(""), &[failed]);
}

#[test]
fn a_refusal_ends_the_run() {
    let mut run = begin(RunLimits::default());
    step(&mut run, answer(Vec::new(), StopReason::Refusal), &[r#"{"end":"refused"}"#]);
}

#[test]
fn a_cancelled_run_leaves_whole_rounds() {
    let mut run = begin(RunLimits::default());
    step(&mut run, calls(&[("a", "{}"), ("b", "{}")]), &["0 a", "1 b"]);
    step(&mut run, returned(0, "of a"), &[]);
    step(&mut run, AgentEvent::Cancelled, &[r#"{"end":"cancelled"}"#]);
    assert_eq!(results(&run), ["of a", "The call was cancelled."]);
    step(&mut run, returned(1, "too late"), &[]);
    step(&mut run, AgentEvent::Cancelled, &[]);
}

#[test]
fn a_model_that_fails_ends_the_run_with_its_reason() {
    let mut run = begin(RunLimits::default());
    let event = AgentEvent::NotAnswered { reason: "no".to_owned(), is_final: true };
    step(&mut run, event, &[r#"{"end":"failed","reason":"no","is_final":true}"#]);
}
