//! Questions to the person at the terminal.

use std::io::{IsTerminal as _, stdin, stdout};

use anyhow::Context as _;
use inquire::{Confirm, InquireError, MultiSelect};

use super::arguments::WriteOptions;
use super::failure::{self, Interruption};
use super::visible;

/// Whether questions may be asked, or are all answered with yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptMode {
    /// Every question counts as answered with yes.
    Yes,
    Person,
}

impl PromptMode {
    /// A person is asked unless `--yes` is given. With `--json` and without `--yes` nothing is
    /// done: a program has to say that it means it.
    pub(super) fn new(caution: &WriteOptions, is_json: bool) -> anyhow::Result<Self> {
        if caution.yes || caution.dry_run {
            return Ok(Self::Yes);
        }
        if is_json {
            return Err(failure::usage(
                "with `--json` nobody is asked\n  help: add `--yes` to write, or `--dry-run` to see \
                 what would be written",
            ));
        }
        if stdin().is_terminal() && stdout().is_terminal() {
            return Ok(Self::Person);
        }
        Err(failure::usage(
            "nobody can be asked: this is not a terminal\n  help: add `--yes` to answer every question \
             with yes, or `--dry-run` to see what would be done",
        ))
    }

    /// Asks; just pressing Enter means yes. `None` if the person gave up.
    pub(super) fn confirm(self, question: &str) -> anyhow::Result<Option<bool>> {
        match self {
            Self::Yes => Ok(Some(true)),
            Self::Person => {
                let question = visible::on_one_line(question);
                answered(Confirm::new(&question).with_default(true).prompt())
            }
        }
    }

    /// Asks which of these; `ticked` are selected at first. `None` if the person gave up.
    pub(super) fn choose(
        self,
        question: &str,
        items: Vec<String>,
        ticked: Vec<usize>,
    ) -> anyhow::Result<Option<Vec<usize>>> {
        match self {
            Self::Yes => Ok(Some(ticked)),
            Self::Person => {
                let question = visible::on_one_line(question);
                let items = items.into_iter().map(|item| visible::on_one_line(&item)).collect();
                let chosen = MultiSelect::new(&question, items)
                    .with_default(&ticked)
                    // Typing "n" means no here, and should not filter for servers with an "n".
                    .without_filtering()
                    .with_help_message(
                        "up and down to move, space to select, enter to continue, esc to cancel",
                    )
                    .raw_prompt();
                let chosen = answered(chosen)?;
                Ok(chosen.map(|chosen| chosen.into_iter().map(|option| option.index).collect()))
            }
        }
    }
}

/// Asks something that has to be answered with a written yes: pressing Enter means no.
pub(super) fn agree(question: &str) -> anyhow::Result<bool> {
    let question = visible::on_one_line(question);
    Ok(answered(Confirm::new(&question).with_default(false).prompt())?.unwrap_or(false))
}

/// An answer, or none if the person pressed Escape.
fn answered<T>(answer: Result<T, InquireError>) -> anyhow::Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(InquireError::OperationCanceled) => Ok(None),
        Err(InquireError::OperationInterrupted) => Err(Interruption.into()),
        Err(error) => Err(error).context("the question could not be asked"),
    }
}
