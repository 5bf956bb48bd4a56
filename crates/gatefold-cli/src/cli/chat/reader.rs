//! What the person says: typed at a terminal, or a line of standard input each.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use inquire::ui::{RenderConfig, Styled};
use inquire::{InquireError, Text};
use tokio::sync::mpsc;

use crate::cli::terminal::Terminal;

/// The longest line of standard input, in bytes.
const LINE_BYTES: u64 = 1024 * 1024;

/// What stands before what the person types.
const PROMPT: &str = ">";

/// Something that the person did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChatInput {
    Line(String),
    /// Ctrl-D, or Esc.
    Canceled,
    /// Ctrl-C.
    Interrupt,
    /// There is no more.
    End,
}

pub(super) enum Reader {
    Terminal,
    Lines(mpsc::Receiver<String>),
}

impl Reader {
    pub(super) fn of_stdin() -> Self {
        if io::stdin().is_terminal() && io::stdout().is_terminal() {
            return Self::Terminal;
        }
        // Reading blocks, so it has a thread of its own, which the end of the process leaves behind.
        let (sender, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut line = Vec::new();
                let read = (&mut stdin).take(LINE_BYTES).read_until(b'\n', &mut line);
                // What is not UTF-8 is shown as such to the model, and ends nothing.
                let line = String::from_utf8_lossy(&line).into_owned();
                if !read.is_ok_and(|bytes| bytes > 0) || sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self::Lines(lines)
    }

    /// Whether a person can be asked something.
    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal)
    }

    pub(super) async fn next(&mut self) -> ChatInput {
        match self {
            Self::Terminal => read_typed().await,
            Self::Lines(lines) => lines.recv().await.map_or(ChatInput::End, ChatInput::Line),
        }
    }
}

async fn read_typed() -> ChatInput {
    let _terminal = Terminal::kept();
    let typed = tokio::task::spawn_blocking(|| {
        let look = RenderConfig::empty()
            .with_prompt_prefix(Styled::new(PROMPT))
            .with_answered_prompt_prefix(Styled::new(PROMPT));
        Text::new("").with_render_config(look).prompt()
    });
    match typed.await {
        Ok(Ok(line)) => ChatInput::Line(line),
        // Ctrl-D, with which other programs end.
        Ok(Err(InquireError::OperationCanceled)) => ChatInput::Canceled,
        Ok(Err(InquireError::OperationInterrupted)) => ChatInput::Interrupt,
        Ok(Err(_)) | Err(_) => ChatInput::End,
    }
}
