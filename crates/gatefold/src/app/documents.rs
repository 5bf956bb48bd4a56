//! The text of documents that people give.

use std::time::{Duration, Instant};

use gatefold_core::Principal;
use gatefold_dispatch::DataOwner;
use gatefold_documents::{DocumentText, PDF_TIME, is_pdf, pdf_text};
use gatefold_worker::{Conversation, Job, Message, Task, WorkerError};

use super::App;

/// How long a worker has to end by itself, with the pages that it has read, before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// What a worker does to read a PDF, which is the message's body.
pub(crate) const PDF_TASK: Task = Task { name: "pdf", run: read_pdf };

/// The heads of its answers: the body is the text, or says why there is none.
const TEXT: &str = "text";
const FAULT: &str = "fault";

/// Why a document gives no text.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("{0}")]
    Fault(String),
    #[error("reading it {0}")]
    Worker(#[from] WorkerError),
}

impl App {
    /// The text of a PDF, for somebody. `None` if these bytes are no PDF.
    pub async fn pdf_text(
        &self,
        principal: &Principal,
        bytes: &[u8],
    ) -> Option<Result<String, DocumentError>> {
        if !is_pdf(bytes) {
            return None;
        }
        let (owner, time) = (DataOwner::lasting(principal), PDF_TIME + GRACE);
        let owner = owner.as_bytes();
        let job = Job { owner, task: PDF_TASK.name, head: "", body: bytes, time };
        Some(match self.factory.workers().run(&job).await {
            Ok(Message { head, body }) => {
                let text = String::from_utf8_lossy(&body).into_owned();
                if head == TEXT { Ok(text) } else { Err(DocumentError::Fault(text)) }
            }
            Err(error) => Err(error.into()),
        })
    }
}

fn read_pdf(message: &Message, _: &mut Conversation<'_>) -> Message {
    match pdf_text(&message.body, Instant::now() + PDF_TIME) {
        Ok(DocumentText { title: Some(title), text }) => {
            Message::new(TEXT, format!("# {title}\n\n{text}"))
        }
        Ok(DocumentText { title: None, text }) => Message::new(TEXT, text),
        Err(fault) => Message::new(FAULT, fault.to_string()),
    }
}
