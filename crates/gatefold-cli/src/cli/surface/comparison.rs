//! All ways to show tools in one table, and the one to choose.

use anyhow::Context as _;
use gatefold::{App, ShownTo};
use gatefold_disclose::{Rehearsal, typical_tools};
use gatefold_exchange::{Disclosures, Turn};
use serde_json::{Value, json};

use super::counted::CountedSurface;
use super::limits::excesses;
use crate::cli::output::Output;
use crate::cli::table::Table;
use crate::cli::tokens::{self, Tokens};

/// How many domains have a typical task: the largest.
const TASKS: usize = 8;
/// How many typical tasks count beside the tokens at rest when one way is chosen.
const SESSION_TASKS: usize = 10;

pub(super) struct Comparison {
    /// The ids of the tools that the typical tasks are to call.
    tools: Vec<String>,
    rows: Vec<Row>,
}

struct Row {
    surface: CountedSurface,
    exceeds: Vec<String>,
    /// `None` if no task was rehearsed, or if one leads nowhere.
    task: Option<TypicalTask>,
}

/// The means over the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TypicalTask {
    /// What a model reads on its way, beyond what is at rest.
    read: Tokens,
    /// Tenths of a call, the call of the tool itself included.
    call_tenths: usize,
}

impl TypicalTask {
    /// `None` without any task.
    fn mean(read: Tokens, calls: usize, tasks: usize) -> Option<Self> {
        let rounded = |sum: usize| (sum + tasks / 2).checked_div(tasks);
        let read = Tokens { o200k: rounded(read.o200k)?, cl100k: rounded(read.cl100k)? };
        Some(Self { read, call_tenths: rounded(calls * 10)? })
    }

    fn calls(self) -> String {
        format!("{}.{}", self.call_tenths / 10, self.call_tenths % 10)
    }
}

impl Comparison {
    /// All of Gatefold's ways, over what the configured sources offer.
    pub(super) async fn over(app: &App, whom: &ShownTo<'_>) -> anyhow::Result<Self> {
        let turns = Disclosures::OURS.map(|name| app.turn_for(Some(name), whom));
        let turns = turns.into_iter().collect::<Result<Vec<_>, _>>()?;
        let rehearsals: Vec<_> = turns.iter().map(rehearsals).collect();
        let mut texts = Vec::new();
        for (turn, rehearsals) in turns.iter().zip(&rehearsals) {
            texts.extend(CountedSurface::texts(turn));
            texts.extend(rehearsals.iter().flatten().flat_map(|one| one.read.iter().cloned()));
        }
        let mut counts = tokens::count_in_both(&texts).await?.into_iter();
        let mut rows = Vec::new();
        for (turn, rehearsals) in turns.iter().zip(&rehearsals) {
            rows.push(Row::new(turn, rehearsals.as_deref(), &mut counts)?);
        }
        let tools = turns.first().map(tool_ids).unwrap_or_default();
        Ok(Self { tools, rows })
    }

    pub(super) fn print(&self, output: &Output) {
        if output.is_json() {
            output.json(&self.json());
            return;
        }
        let heads = [
            "disclosure",
            "tools",
            "tokens at rest (cl100k)",
            "of a task (cl100k)",
            "calls of a task",
            "beyond what clients take",
        ];
        let mut table = Table::new(&heads).numbers(&[1, 2, 3, 4]);
        for Row { surface, exceeds, task } in &self.rows {
            let task_tokens = task.map(|task| task.read.in_brackets()).unwrap_or_default();
            table.row([
                output.style().strong(&surface.name),
                surface.tools.len().to_string(),
                surface.at_rest().in_brackets(),
                task_tokens,
                task.map(TypicalTask::calls).unwrap_or_default(),
                exceeds.join("; "),
            ]);
        }
        output.lines(&table.lines(output.style()));
        output.line("");
        for line in self.notes() {
            output.paragraph("", &line);
        }
    }

    fn notes(&self) -> Vec<String> {
        let Some(choice) = self.choice() else {
            return vec!["no tool is known, so no task was rehearsed".to_owned()];
        };
        let tools = self.tools.join(", ");
        vec![
            format!(
                "A task is to find a tool, to read its schema and to call it, without the call's \
                 result. These are the means over: {tools}"
            ),
            format!("choose `{}`: {}", choice.name, choice.why()),
        ]
    }

    fn choice(&self) -> Option<Choice<'_>> {
        let candidates = self.rows.iter().filter_map(|row| {
            Some(Choice {
                name: &row.surface.name,
                at_rest: row.surface.at_rest().o200k,
                of_a_task: row.task?.read.o200k,
                is_within: row.exceeds.is_empty(),
            })
        });
        best(candidates)
    }

    fn json(&self) -> Value {
        let rows = self.rows.iter().map(Row::json);
        let choice = self.choice().map(|choice| {
            json!({ "disclosure": choice.name, "tokens": choice.tokens(), "why": choice.why() })
        });
        json!({
            "disclosures": rows.collect::<Vec<_>>(),
            "tasks": self.tools,
            "choice": choice,
        })
    }
}

fn tool_ids(turn: &Turn) -> Vec<String> {
    typical_tools(turn.view(), TASKS).iter().map(|tool| tool.id().to_string()).collect()
}

/// The way to each typical tool. `None` if one leads nowhere.
fn rehearsals(turn: &Turn) -> Option<Vec<Rehearsal>> {
    typical_tools(turn.view(), TASKS).into_iter().map(|tool| turn.rehearse(tool)).collect()
}

impl Row {
    fn new(
        turn: &Turn,
        rehearsals: Option<&[Rehearsal]>,
        counts: &mut impl Iterator<Item = Tokens>,
    ) -> anyhow::Result<Self> {
        let surface = CountedSurface::new(turn, counts)?;
        let exceeds = excesses(&surface.shown, surface.limits);
        let task = match rehearsals {
            None => None,
            Some(rehearsals) => {
                let texts = rehearsals.iter().map(|one| one.read.len()).sum();
                let counted: Vec<_> = counts.by_ref().take(texts).collect();
                let is_whole = counted.len() == texts;
                is_whole.then_some(()).context("a count is missing")?;
                let calls = rehearsals.iter().map(|one| one.calls).sum();
                TypicalTask::mean(counted.into_iter().sum(), calls, rehearsals.len())
            }
        };
        Ok(Self { surface, exceeds, task })
    }

    fn json(&self) -> Value {
        let at_rest = self.surface.at_rest();
        let task = self.task.map(|task| {
            let tenths = u32::try_from(task.call_tenths).unwrap_or(u32::MAX);
            json!({
                "tokens": task.read.o200k,
                "cl100k": task.read.cl100k,
                "calls": f64::from(tenths) / 10.0,
            })
        });
        json!({
            "disclosure": self.surface.name,
            "tools": self.surface.tools.len(),
            "tokens": at_rest.o200k,
            "cl100k": at_rest.cl100k,
            "task": task,
            "exceeds": self.exceeds,
        })
    }
}

/// A way that may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice<'a> {
    name: &'a str,
    at_rest: usize,
    of_a_task: usize,
    /// Whether every known client takes it.
    is_within: bool,
}

impl Choice<'_> {
    /// What a session with some typical tasks costs.
    fn tokens(&self) -> usize {
        self.at_rest + SESSION_TASKS * self.of_a_task
    }

    fn why(&self) -> String {
        let Self { at_rest, of_a_task, is_within, .. } = self;
        let among = if *is_within {
            "those that all known clients take"
        } else {
            "all; none is taken by all known clients"
        };
        format!(
            "{at_rest} tokens at rest and {SESSION_TASKS} tasks of {of_a_task} are {}, the fewest of {among}",
            self.tokens()
        )
    }
}

/// The one with the fewest tokens of those that every known client takes, else of all. Among equals
/// the first, so that `auto` is never chosen before the one that it is.
fn best<'a>(candidates: impl Iterator<Item = Choice<'a>>) -> Option<Choice<'a>> {
    candidates.min_by_key(|choice| (!choice.is_within, choice.tokens()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(name: &str, at_rest: usize, of_a_task: usize, is_within: bool) -> Choice<'_> {
        Choice { name, at_rest, of_a_task, is_within }
    }

    #[test]
    fn the_fewest_tokens_of_a_session_are_chosen_within_what_clients_take() {
        let (gateway, flat) =
            (candidate("gateway", 600, 500, true), candidate("flat", 5000, 0, true));
        let huge = candidate("huge", 10, 0, false);
        for (candidates, expected) in [
            (vec![gateway, flat], Some("flat")),
            (vec![gateway, candidate("flat", 6000, 0, true)], Some("gateway")),
            (vec![gateway, candidate("auto", 600, 500, true)], Some("gateway")),
            (vec![gateway, huge], Some("gateway")),
            (vec![candidate("flat", 9000, 0, false), huge], Some("huge")),
            (vec![], None),
        ] {
            let chosen = best(candidates.clone().into_iter()).map(|choice| choice.name);
            assert_eq!(chosen, expected, "{candidates:?}");
        }
        assert_eq!(
            gateway.why(),
            "600 tokens at rest and 10 tasks of 500 are 5600, the fewest of those that all known clients take"
        );
        assert!(huge.why().ends_with("the fewest of all; none is taken by all known clients"));
    }

    #[test]
    fn the_mean_of_tasks_is_rounded_and_none_have_none() {
        let read = Tokens { o200k: 11, cl100k: 10 };
        let mean = TypicalTask::mean(read, 5, 2).unwrap();
        assert_eq!((mean.read, mean.calls().as_str()), (Tokens { o200k: 6, cl100k: 5 }, "2.5"));
        assert_eq!(TypicalTask::mean(Tokens::default(), 0, 0), None);
    }
}
