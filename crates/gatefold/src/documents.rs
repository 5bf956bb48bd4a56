//! The text of documents that people give, read in a worker.

use std::time::{Duration, Instant};

use gatefold_documents::{DocumentText, PDF_TIME, pdf_text};
use gatefold_worker::{Conversation, Job, Message, Task, WorkerError, WorkerPool};

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

/// The text of a PDF, for the owner of these bytes.
pub(crate) async fn read_in_worker(
    workers: &WorkerPool,
    owner: &[u8],
    pdf: &[u8],
) -> Result<String, DocumentError> {
    let time = PDF_TIME + GRACE;
    let job = Job { owner, task: PDF_TASK.name, head: "", body: pdf, time };
    let Message { head, body } = workers.run(&job).await?;
    let text = String::from_utf8_lossy(&body).into_owned();
    if head == TEXT { Ok(text) } else { Err(DocumentError::Fault(text)) }
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
