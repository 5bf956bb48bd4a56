//! What one run shows, and what all runs under a disclosure show together.

use serde::Serialize;
use serde_json::Value;

use super::call_log::{CallOutcome, InnerCall};
use super::conversation::Run;
use super::statistics::{Share, mcnemar};
use super::tasks::Task;

/// What one run shows of its model. A claim that the task says nothing about is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Verdict {
    /// An acceptable tool was called.
    pub(super) right_tool: Option<bool>,
    /// It was called with the wanted arguments.
    pub(super) right_arguments: Option<bool>,
    /// The last answer passes the task's check.
    pub(super) right_answer: Option<bool>,
    /// A parameter was made up, or arguments were refused as invalid.
    pub(super) invented: bool,
    /// A tool was called though the task needs none.
    pub(super) overcalled: Option<bool>,
    /// Not as many calls were made as the task takes.
    pub(super) miscounted: Option<bool>,
}

impl Verdict {
    /// `reads_on` tells the tool that reads on in a large result: such a call is a part of the call
    /// that gave the result.
    pub(super) fn of(task: &Task, run: &Run, reads_on: impl Fn(&str) -> bool) -> Self {
        let is_wanted = |call: &&InnerCall| task.tools.contains(&call.tool);
        let counts =
            |call: &&InnerCall| call.is_known && (is_wanted(call) || !reads_on(&call.tool));
        let (needs_tool, made) = (!task.tools.is_empty(), run.calls.iter().filter(counts).count());
        let mut wanted = run.calls.iter().filter(is_wanted);
        let invents = |call: &InnerCall| {
            !call.undeclared.is_empty() || call.outcome == CallOutcome::InvalidArguments
        };
        Self {
            right_tool: needs_tool.then(|| wanted.clone().next().is_some()),
            right_arguments: task.arguments.as_ref().map(|arguments| {
                wanted.any(|call| {
                    arguments.iter().all(|(name, value)| {
                        call.arguments.get(name).is_some_and(|given| is_same(given, value))
                    })
                })
            }),
            right_answer: task
                .check
                .as_ref()
                .map(|check| run.answer.as_ref().is_some_and(|answer| check.holds(answer))),
            invented: run.calls.iter().any(invents),
            overcalled: (!needs_tool).then_some(made > 0),
            miscounted: needs_tool.then_some(made != task.calls),
        }
    }
}

/// Whether two values are equal, numbers by their value: `1` is `1.0`.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let has_same = |(name, a)| b.get(name).is_some_and(|b| is_same(a, b));
            a.len() == b.len() && a.iter().all(has_same)
        }
        (one, other) => one == other,
    }
}

/// One run with its verdict.
#[derive(Debug)]
pub(super) struct MeasuredRun {
    pub(super) run: Run,
    pub(super) verdict: Verdict,
}

/// The runs under one disclosure, in the order of the tasks. A run that failed is `None`.
pub(super) struct DisclosureRuns {
    pub(super) disclosure: String,
    pub(super) runs: Vec<Option<MeasuredRun>>,
}

/// The shares and means of one disclosure.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) disclosure: String,
    /// The runs that were measured.
    pub(super) runs: usize,
    pub(super) failed: usize,
    pub(super) right_tool: Option<Share>,
    pub(super) right_arguments: Option<Share>,
    pub(super) right_answer: Option<Share>,
    pub(super) invented: Option<Share>,
    pub(super) overcalled: Option<Share>,
    pub(super) miscounted: Option<Share>,
    /// The means of a run.
    pub(super) tokens: Option<f64>,
    pub(super) turns: Option<f64>,
    /// Whether tokens were counted here, at least in part.
    pub(super) tokens_counted: bool,
    /// The comparison with the first disclosure, on the right tool.
    pub(super) against_first: Option<PairedResult>,
}

/// A comparison of two disclosures over the tasks that both completed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct PairedResult {
    pub(super) pairs: usize,
    /// Right here and wrong under the first.
    pub(super) better: usize,
    pub(super) worse: usize,
    /// Of McNemar's exact test, two-sided.
    pub(super) p: f64,
}

impl DisclosureRuns {
    pub(super) fn summary(&self, first: &Self) -> Summary {
        let measured: Vec<_> = self.runs.iter().flatten().collect();
        let share = |claim: fn(&Verdict) -> Option<bool>| {
            let claims: Vec<_> = measured.iter().filter_map(|one| claim(&one.verdict)).collect();
            Share::of(claims.iter().filter(|is_so| **is_so).count(), claims.len())
        };
        Summary {
            disclosure: self.disclosure.clone(),
            runs: measured.len(),
            failed: self.runs.len() - measured.len(),
            right_tool: share(|verdict| verdict.right_tool),
            right_arguments: share(|verdict| verdict.right_arguments),
            right_answer: share(|verdict| verdict.right_answer),
            invented: share(|verdict| Some(verdict.invented)),
            overcalled: share(|verdict| verdict.overcalled),
            miscounted: share(|verdict| verdict.miscounted),
            tokens: mean(measured.iter().map(|one| one.run.tokens)),
            turns: mean(measured.iter().map(|one| one.run.turns as u64)),
            tokens_counted: measured.iter().any(|one| one.run.is_counted),
            against_first: (self.disclosure != first.disclosure).then(|| self.against(first)),
        }
    }

    fn against(&self, first: &Self) -> PairedResult {
        let right = |one: &Option<MeasuredRun>| one.as_ref()?.verdict.right_tool;
        let pairs = self.runs.iter().zip(&first.runs);
        let pairs: Vec<_> =
            pairs.filter_map(|(own, other)| Some((right(own)?, right(other)?))).collect();
        let count = |pair| pairs.iter().filter(|other| **other == pair).count();
        let (better, worse) = (count((true, false)), count((false, true)));
        PairedResult { pairs: pairs.len(), better, worse, p: mcnemar(better, worse) }
    }
}

/// The mean, as exact as a table needs it.
fn mean(values: impl Iterator<Item = u64>) -> Option<f64> {
    let (sum, count) = values.fold((0_u64, 0_u32), |(sum, count), value| {
        (sum.saturating_add(value), count.saturating_add(1))
    });
    #[expect(clippy::cast_precision_loss, reason = "a mean of tokens needs no 53 bits")]
    (count > 0).then(|| sum as f64 / f64::from(count))
}

#[cfg(test)]
mod tests {
    use gatefold_model::{History, UserMessage};
    use serde_json::json;

    use super::super::conversation::RunEnd;
    use super::*;

    fn task(tools: &[&str], calls: usize) -> Task {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        let request = "r".to_owned();
        let conversation = History::new(UserMessage::text(&request).unwrap());
        Task { line: 1, request, conversation, tools, arguments: None, check: None, calls }
    }

    fn called(tool: &str, arguments: &Value) -> InnerCall {
        InnerCall {
            tool: tool.to_owned(),
            is_known: true,
            arguments: arguments.as_object().unwrap().clone(),
            undeclared: Vec::new(),
            outcome: CallOutcome::Done,
        }
    }

    fn run(calls: Vec<InnerCall>) -> Run {
        let answer = Some("It is Done.".to_owned());
        Run { calls, answer, ended: RunEnd::Answered, turns: 2, tokens: 10, is_counted: false }
    }

    fn verdict(task: &Task, calls: Vec<InnerCall>) -> Verdict {
        Verdict::of(task, &run(calls), |tool| tool == "results__read_result")
    }

    #[test]
    fn calls_are_judged_by_what_was_called() {
        let reading_on = called("results__read_result", &json!({}));
        let unknown = InnerCall { is_known: false, ..called("a__gone", &json!({})) };
        let calls = vec![called("a__b", &json!({})), reading_on.clone(), unknown];
        let right = verdict(&task(&["a__b"], 1), calls.clone());
        assert_eq!((right.right_tool, right.miscounted), (Some(true), Some(false)));
        assert_eq!((right.overcalled, right.invented), (None, false));
        let other = verdict(&task(&["a__c"], 2), calls.clone());
        assert_eq!((other.right_tool, other.miscounted), (Some(false), Some(true)));
        assert_eq!(verdict(&task(&[], 0), calls).overcalled, Some(true));
        assert_eq!(verdict(&task(&[], 0), vec![reading_on]).overcalled, Some(false));
    }

    #[test]
    fn wanted_arguments_are_equal_in_one_call_of_a_wanted_tool() {
        let wanted = json!({ "n": 1, "at": { "x": [2.0] } });
        let task = Task { arguments: wanted.as_object().cloned(), ..task(&["a__b"], 1) };
        let more = json!({ "n": 1.0, "at": { "x": [2] }, "more": true });
        for (tool, arguments, expected) in [
            ("a__b", &more, true),
            ("a__c", &more, false),
            ("a__b", &json!({ "n": 1 }), false),
            ("a__b", &json!({ "n": "1", "at": { "x": [2] } }), false),
        ] {
            let found = verdict(&task, vec![called(tool, arguments)]);
            assert_eq!(found.right_arguments, Some(expected), "{tool} {arguments}");
        }
    }

    #[test]
    fn parameters_are_invented_if_the_schema_or_the_source_says_so() {
        let mut made_up = called("a__b", &json!({}));
        made_up.undeclared.push("x".to_owned());
        let refused =
            InnerCall { outcome: CallOutcome::InvalidArguments, ..called("a__b", &json!({})) };
        let failed = InnerCall { outcome: CallOutcome::ToolError, ..refused.clone() };
        for (call, expected) in [(made_up, true), (refused, true), (failed, false)] {
            assert_eq!(verdict(&task(&["a__b"], 1), vec![call]).invented, expected);
        }
    }

    #[test]
    fn pairs_are_those_that_both_completed() {
        let task = task(&["a__b"], 1);
        let runs = |tools: [Option<&str>; 4]| {
            let measured = |tool: &str| {
                let run = run(vec![called(tool, &json!({}))]);
                MeasuredRun { verdict: Verdict::of(&task, &run, |_| false), run }
            };
            let runs = tools.map(|tool| tool.map(measured)).into_iter().collect();
            DisclosureRuns { disclosure: format!("{tools:?}"), runs }
        };
        let first = runs([Some("a__c"), Some("a__b"), None, Some("a__c")]);
        let other = runs([Some("a__b"), Some("a__b"), Some("a__b"), None]);
        let summary = other.summary(&first);
        assert_eq!((summary.runs, summary.failed), (3, 1));
        assert_eq!(summary.right_tool.unwrap().count, 3);
        assert_eq!((summary.tokens, summary.turns), (Some(10.0), Some(2.0)));
        let expected = PairedResult { pairs: 2, better: 1, worse: 0, p: 1.0 };
        assert_eq!(summary.against_first, Some(expected));
        assert_eq!(first.summary(&first).against_first, None);
    }
}
