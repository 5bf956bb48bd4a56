//! Reads the two pipes that a local server writes to.

use std::sync::Arc;

use tokio::io::BufReader;
use tokio::process::{ChildStderr, ChildStdout};

use super::super::lines::{Line, Lines};
use super::super::message::{own_number, without_secrets};
use super::super::reading_pace::ReadingPace;
use super::super::request::WireError;
use super::{LineKind, STDERR_LINE_BYTES, StdioConnection};

/// The longest line that is kept, in bytes. Lists of tools of several megabytes are real.
const LINE_BYTES: usize = 16 * 1024 * 1024;

/// Reads the answers and whatever else the server writes to its standard output.
pub(super) async fn read(shared: Arc<StdioConnection>, stdout: ChildStdout) {
    let mut lines = Lines::new(BufReader::with_capacity(64 * 1024, stdout), LINE_BYTES);
    let mut pace = ReadingPace::new();
    while let Some(line) = lines.next_admitted(|begun| shared.admitted(begun)).await {
        match line {
            Line::Whole(line) => match shared.take_line(&without_secrets(&line, &shared.secrets)) {
                LineKind::Answer => {}
                LineKind::Message => pace.after_message(line.len()).await,
                LineKind::Noise => pace.after(line.len()).await,
            },
            Line::TooLong { bytes, id } => {
                if shared.log.admits(0) {
                    tracing::warn!(domain = %shared.domain, bytes, "dropped a line over the limit");
                }
                let id = id.as_deref().and_then(own_number);
                let waiting = id.and_then(|id| shared.lock().waiting.remove(&id));
                if let Some(waiting) = waiting {
                    let _ = waiting.answer.send(Err(WireError::TooLarge(bytes)));
                }
            }
        }
    }
}

/// Takes the lines of standard error to wherever they are shown.
pub(super) async fn log_stderr(shared: Arc<StdioConnection>, stderr: ChildStderr) {
    let mut lines = Lines::new(BufReader::new(stderr), STDERR_LINE_BYTES);
    let mut pace = ReadingPace::new();
    while let Some(line) = lines.next().await {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong { bytes, .. } => {
                pace.after(usize::try_from(bytes).unwrap_or(usize::MAX)).await;
                continue;
            }
        };
        pace.after(line.len()).await;
        let line = String::from_utf8_lossy(&line);
        let line = shared.secrets.mask(line.trim_end()).into_owned();
        if line.is_empty() {
            continue;
        }
        if shared.log.admits(line.len()) {
            tracing::info!(target: "gatefold::upstream", domain = %shared.domain, "{line}");
        }
        if let Some(log) = &shared.notices.log {
            log.take_stderr(&line);
        }
        shared.lock().last_words.take(line);
    }
}
