//! Questions to the person at the terminal.

use std::io::{IsTerminal as _, stdin, stdout};

use anyhow::Context as _;
use inquire::{Confirm, InquireError, MultiSelect};

use super::failure;

/// Whether a question may be asked, or what the answer is without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    /// Every question counts as answered with yes.
    Yes,
    Person,
}

impl Asking {
    /// A person is asked unless `--yes` stands in for them. With neither, nothing is done.
    pub(super) fn new(is_yes: bool) -> anyhow::Result<Self> {
        if is_yes {
            return Ok(Self::Yes);
        }
        if stdin().is_terminal() && stdout().is_terminal() {
            return Ok(Self::Person);
        }
        Err(failure::usage(
            "nobody can be asked: this is not a terminal\n  help: add `--yes` to answer every question \
             with yes, or `--dry-run` to see what would be done",
        ))
    }

    /// Asks, with yes as the answer of whoever just presses Enter.
    pub(super) fn confirm(self, question: &str) -> anyhow::Result<bool> {
        match self {
            Self::Yes => Ok(true),
            Self::Person => {
                let answer = Confirm::new(question).with_default(true).prompt();
                Ok(answered(answer)?.unwrap_or(false))
            }
        }
    }

    /// Asks which of these, all of them chosen at first. `None` when the person gave up.
    pub(super) fn choose(
        self,
        question: &str,
        items: Vec<String>,
    ) -> anyhow::Result<Option<Vec<usize>>> {
        let all: Vec<_> = (0..items.len()).collect();
        match self {
            Self::Yes => Ok(Some(all)),
            Self::Person => {
                let chosen = MultiSelect::new(question, items).with_default(&all).raw_prompt();
                let chosen = answered(chosen)?;
                Ok(chosen.map(|chosen| chosen.into_iter().map(|option| option.index).collect()))
            }
        }
    }
}

/// An answer, or none when the person pressed Escape or Ctrl-C.
fn answered<T>(answer: Result<T, InquireError>) -> anyhow::Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => Ok(None),
        Err(error) => Err(error).context("the question could not be asked"),
    }
}
