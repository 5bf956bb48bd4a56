//! What is written to the standard input of a local server.

use std::sync::{Arc, Mutex, PoisonError};

use gatefold_dispatch::MemoryShare;
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::mpsc;

/// A message that waits to be written and can be taken back until then.
#[derive(Clone)]
pub(super) struct OutgoingLine(Arc<Mutex<Option<LineText>>>);

pub(super) struct LineText {
    text: String,
    _memory: Option<Arc<dyn MemoryShare>>,
}

impl OutgoingLine {
    pub(super) fn of(text: String) -> Self {
        Self::counted(text, None)
    }

    pub(super) fn counted(text: String, memory: Option<Arc<dyn MemoryShare>>) -> Self {
        let text = on_one_line(text);
        Self(Arc::new(Mutex::new(Some(LineText { text, _memory: memory }))))
    }

    pub(super) fn take(&self) -> Option<LineText> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A message must be one line. Outside of strings, JSON allows a space for a line break.
fn on_one_line(text: String) -> String {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
}

pub(super) async fn write(mut stdin: ChildStdin, mut lines: mpsc::Receiver<OutgoingLine>) {
    while let Some(line) = lines.recv().await {
        let Some(LineText { mut text, _memory }) = line.take() else { continue };
        text.push('\n');
        if stdin.write_all(text.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}
