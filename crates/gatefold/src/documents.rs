//! The text of documents that people give, and of those of knowledge bases, read in a worker.

#[cfg(feature = "knowledge")]
mod fetched;
#[cfg(feature = "knowledge")]
mod whole;

use std::time::{Duration, Instant};

use gatefold_documents::{Hints, READING_TIME, read_document};
use gatefold_worker::{Conversation, Job, Message, Task, WorkerError, WorkerPool};

#[cfg(feature = "knowledge")]
pub(crate) use fetched::AddressDocuments;
#[cfg(feature = "knowledge")]
pub(crate) use whole::{WHOLE_DOCUMENT_TASK, WorkerDocumentReader};

/// How long a worker has to end by itself, with what it has read, before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// What a worker does to read a document, which is the message's body. Its head is the document's name.
pub(crate) const DOCUMENT_TASK: Task = Task { name: "document", run: read_message };

/// The head of an answer whose body says why there is no text. Any other is the name of the document's
/// format, and the body is its text.
const FAULT: &str = "fault";

/// A document as a text.
#[derive(Debug)]
pub struct ReadDocument {
    /// The name of its format, such as `PDF`.
    pub format: String,
    pub text: String,
}

/// Why a document gives no text.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("{0}")]
    Fault(String),
    #[error("reading it {0}")]
    Worker(#[from] WorkerError),
}

/// The text of a document, for the owner of its bytes.
pub(crate) async fn read_in_worker(
    workers: &WorkerPool,
    owner: &[u8],
    name: &str,
    document: &[u8],
) -> Result<ReadDocument, DocumentError> {
    let time = READING_TIME + GRACE;
    let job = Job { owner, task: DOCUMENT_TASK.name, head: name, body: document, time };
    let Message { head, body } = workers.run(&job).await?;
    let text = String::from_utf8_lossy(&body).into_owned();
    if head == FAULT {
        return Err(DocumentError::Fault(text));
    }
    Ok(ReadDocument { format: head, text })
}

fn read_message(message: &Message, _: &mut Conversation<'_>) -> Message {
    let hints = Hints { name: Some(&message.head), ..Hints::default() };
    match read_document(&message.body, &hints, Instant::now() + READING_TIME) {
        Ok(document) => {
            let (format, text) = (document.format.name(), document.annotated_text());
            match document.title {
                // Many documents begin with their title.
                Some(title) if text.lines().next() != Some(&format!("# {title}")) => {
                    Message::new(format, format!("# {title}\n\n{text}"))
                }
                _ => Message::new(format, text),
            }
        }
        Err(fault) => Message::new(FAULT, fault.to_string()),
    }
}
