//! What is printed of a comparison.

use serde::Serialize;

use super::conversation::RunEnd;
use super::measures::{DisclosureRuns, MeasuredRun, Summary, Verdict};
use super::statistics::Share;
use super::tasks::Task;
use crate::cli::output::Output;
use crate::cli::table::{Table, grouped, number_of};

/// How many failures are shown to people, and how many `--json` has.
const SHOWN_FAILURES: usize = 10;
const LISTED_FAILURES: usize = 1000;

/// What `--json` prints.
#[derive(Serialize)]
pub(super) struct AgentReport<'a> {
    model: &'a str,
    tasks: usize,
    disclosures: Vec<Summary>,
    runs: Vec<ReportedRun<'a>>,
    /// The first of them.
    failures: &'a [FailedRun],
}

/// A run that is not measured.
#[derive(Debug, Serialize)]
pub(super) struct FailedRun {
    pub(super) line: usize,
    pub(super) disclosure: String,
    pub(super) reason: String,
}

#[derive(Serialize)]
struct ReportedRun<'a> {
    /// The line of its task.
    line: usize,
    disclosure: &'a str,
    ended: RunEnd,
    turns: usize,
    tokens: u64,
    #[serde(flatten)]
    verdict: Verdict,
    calls: Vec<ReportedCall<'a>>,
}

#[derive(Serialize)]
struct ReportedCall<'a> {
    tool: &'a str,
    is_known: bool,
    outcome: &'static str,
    undeclared: &'a [String],
}

impl<'a> AgentReport<'a> {
    pub(super) fn new(
        model: &'a str,
        tasks: &'a [Task],
        measured: &'a [DisclosureRuns],
        failures: &'a [FailedRun],
    ) -> Self {
        let first = measured.first();
        let disclosures = first.map(|first| measured.iter().map(|one| one.summary(first)));
        let runs = measured.iter().flat_map(|one| {
            let completed = tasks.iter().zip(&one.runs);
            let completed = completed.filter_map(|(task, run)| Some((task, run.as_ref()?)));
            completed.map(|(task, run)| ReportedRun::new(task, &one.disclosure, run))
        });
        Self {
            model,
            tasks: tasks.len(),
            disclosures: disclosures.into_iter().flatten().collect(),
            runs: runs.collect(),
            failures: &failures[..failures.len().min(LISTED_FAILURES)],
        }
    }
}

impl<'a> ReportedRun<'a> {
    fn new(task: &Task, disclosure: &'a str, measured: &'a MeasuredRun) -> Self {
        let MeasuredRun { run, verdict } = measured;
        let calls = run.calls.iter().map(|call| ReportedCall {
            tool: &call.tool,
            is_known: call.is_known,
            outcome: call.outcome.as_str(),
            undeclared: &call.undeclared,
        });
        Self {
            line: task.line,
            disclosure,
            ended: run.ended,
            turns: run.turns,
            tokens: run.tokens,
            verdict: *verdict,
            calls: calls.collect(),
        }
    }
}

/// A column of shares, which is left out where no task says anything about it.
type ShareColumn = (&'static str, fn(&Summary) -> Option<Share>);

const SHARES: [ShareColumn; 6] = [
    ("right tool", |one| one.right_tool),
    ("right arguments", |one| one.right_arguments),
    ("right answer", |one| one.right_answer),
    ("invented", |one| one.invented),
    ("overcalled", |one| one.overcalled),
    ("wrong number", |one| one.miscounted),
];

impl AgentReport<'_> {
    pub(super) fn print(&self, output: &Output) {
        let tasks = number_of(self.tasks, "task");
        output.line(&format!("{tasks}, model: {}", self.model));
        output.line("");
        output.lines(&self.table().lines(output.style()));
        output.line("");
        output.paragraph("", "Shares have their 95 % intervals.");
        if self.disclosures.len() > 1 {
            let first = &self.disclosures[0].disclosure;
            let what = format!(
                "p is how likely chance alone makes the right tool differ that much from `{first}` \
                 (McNemar's exact test)."
            );
            output.paragraph("", &what);
        }
        if self.disclosures.iter().any(|one| one.tokens_counted) {
            let what = "The endpoint did not report all tokens; the others were counted (o200k).";
            output.paragraph("", what);
        }
        self.print_failures(output);
    }

    fn table(&self) -> Table {
        let shown =
            |(_, share): &&ShareColumn| self.disclosures.iter().any(|one| share(one).is_some());
        let shares: Vec<_> = SHARES.iter().filter(shown).collect();
        let mut heads = vec!["disclosure", "runs"];
        heads.extend(shares.iter().map(|(head, _)| *head));
        heads.extend(["tokens", "turns", "p"]);
        let numbers: Vec<_> = (1..heads.len()).collect();
        let mut table = Table::new(&heads).numbers(&numbers);
        for one in &self.disclosures {
            let mut row = vec![one.disclosure.clone(), one.runs.to_string()];
            row.extend(shares.iter().map(|(_, share)| share(one).map_or_else(none, shown_share)));
            row.push(one.tokens.map_or_else(none, whole));
            row.push(one.turns.map_or_else(none, |turns| format!("{turns:.1}")));
            row.push(one.against_first.map_or_else(none, |other| format!("{:.3}", other.p)));
            table.row(row);
        }
        table
    }

    fn print_failures(&self, output: &Output) {
        let failed: usize = self.disclosures.iter().map(|one| one.failed).sum();
        if failed == 0 {
            return;
        }
        output.line("");
        output.line(&format!(
            "{} failed and {} not in the figures:",
            number_of(failed, "run"),
            if failed == 1 { "is" } else { "are" }
        ));
        let mut table = Table::new(&["line", "disclosure", "why"]).numbers(&[0]);
        for failure in self.failures.iter().take(SHOWN_FAILURES) {
            let FailedRun { line, disclosure, reason } = failure;
            table.row([line.to_string(), disclosure.clone(), reason.clone()]);
        }
        output.lines(&table.lines(output.style()));
        if failed > SHOWN_FAILURES {
            output.line("`--json` lists them");
        }
    }
}

fn none() -> String {
    "-".to_owned()
}

/// `83 % (66-93)`.
fn shown_share(share: Share) -> String {
    let Share { ratio, low, high, .. } = share;
    format!("{:.0} % ({:.0}-{:.0})", ratio * 100.0, low * 100.0, high * 100.0)
}

fn whole(number: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "means of tokens are positive and far below the limits of integers"
    )]
    grouped(number.round() as usize)
}
