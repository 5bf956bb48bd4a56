//! A task: what its client is told, and what only the test knows.

use serde_json::Value;

/// One task of one or two steps.
pub(super) struct Task {
    pub(super) mistake: Mistake,
    pub(super) steps: Vec<Step>,
}

/// What the client gets wrong at first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mistake {
    None,
    /// It misspells the name that it saw.
    Name,
    /// It leaves out the first argument.
    Missing,
    /// It calls the first argument by another name.
    Misnamed,
}

/// One call to make.
pub(super) struct Step {
    pub(super) goal: Goal,
    pub(super) wanted: Wanted,
}

/// All that the client knows of a step.
pub(super) struct Goal {
    pub(super) words: &'static str,
    pub(super) given: Vec<Given>,
}

/// An argument by what it means. Which one that is says only the schema.
pub(super) struct Given {
    pub(super) meaning: &'static str,
    pub(super) value: Meant,
}

/// A value for an argument.
pub(super) enum Meant {
    Is(Value),
    /// The one of the schema's choices that these words are about.
    Chosen(&'static str),
    /// A text in which `{}` stands for what the step before found, in the field that these words are
    /// about.
    Found {
        text: &'static str,
        field: &'static str,
    },
}

/// What the test expects of a step. The client never sees it.
pub(super) struct Wanted {
    pub(super) tool: &'static str,
    /// The arguments in the order in which the goal gives them.
    pub(super) arguments: Value,
    /// A part of the result.
    pub(super) result: &'static str,
}

/// A task of one call without a mistake.
pub(super) fn plain(words: &'static str, given: Vec<Given>, wanted: Wanted) -> Task {
    mistaken(Mistake::None, words, given, wanted)
}

pub(super) fn mistaken(
    mistake: Mistake,
    words: &'static str,
    given: Vec<Given>,
    wanted: Wanted,
) -> Task {
    Task { mistake, steps: vec![step(words, given, wanted)] }
}

/// A task whose second call takes a value from the answer of the first.
pub(super) fn chained(first: Step, second: Step) -> Task {
    Task { mistake: Mistake::None, steps: vec![first, second] }
}

pub(super) fn step(words: &'static str, given: Vec<Given>, wanted: Wanted) -> Step {
    Step { goal: Goal { words, given }, wanted }
}

pub(super) fn is(meaning: &'static str, value: impl Into<Value>) -> Given {
    Given { meaning, value: Meant::Is(value.into()) }
}

pub(super) fn chosen(meaning: &'static str, words: &'static str) -> Given {
    Given { meaning, value: Meant::Chosen(words) }
}

pub(super) fn found(meaning: &'static str, text: &'static str, field: &'static str) -> Given {
    Given { meaning, value: Meant::Found { text, field } }
}

pub(super) fn wanted(tool: &'static str, arguments: Value, result: &'static str) -> Wanted {
    Wanted { tool, arguments, result }
}
