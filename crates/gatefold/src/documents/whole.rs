//! Documents of knowledge bases, with their blocks and places.

use std::fmt::Write as _;
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_documents::{Document, Hints, READING_TIME, read_document};
use gatefold_knowledge::{DocumentReader, ReadDocument, UnreadDocument};
use gatefold_worker::{Conversation, Job, Message, Task, WorkerError, WorkerPool};
use serde::{Deserialize, Serialize};

use super::GRACE;

/// The head of an answer with a document, as JSON. Any other head is the state of a document that
/// gives no text, and the body says why.
const DOCUMENT: &str = "document";

/// What a worker does to read a document whole. The message is that of [`super::DOCUMENT_TASK`].
pub(crate) const WHOLE_DOCUMENT_TASK: Task = Task { name: "whole_document", run: read_message };

/// The most faults of parts that are told one by one.
const NAMED_FAULTS: usize = 3;

#[derive(Serialize, Deserialize)]
struct Answer {
    document: Document,
    note: String,
}

fn read_message(message: &Message, _: &mut Conversation<'_>) -> Message {
    let hints = Hints { name: Some(&message.head), ..Hints::default() };
    let document = match read_document(&message.body, &hints, Instant::now() + READING_TIME) {
        Ok(document) => document,
        Err(fault) => return Message::new(fault.state(), fault.to_string()),
    };
    let answer = Answer { note: note(&document), document };
    match serde_json::to_vec(&answer) {
        Ok(json) => Message::new(DOCUMENT, json),
        Err(error) => Message::new("damaged", error.to_string()),
    }
}

/// What is missing of a document.
fn note(document: &Document) -> String {
    let faults = &document.faults;
    let named: Vec<_> = faults.iter().take(NAMED_FAULTS).map(ToString::to_string).collect();
    let mut note = named.join(" ");
    if let Some(more) = faults.len().checked_sub(NAMED_FAULTS).filter(|more| *more > 0) {
        let _ = write!(note, " and {more} more");
    }
    note
}

/// Reads documents in workers.
#[derive(Debug, Clone)]
pub(crate) struct WorkerDocumentReader {
    workers: WorkerPool,
    /// Whose jobs they are: a base has no more than its part of the workers.
    owner: Vec<u8>,
}

impl WorkerDocumentReader {
    pub(crate) fn new(workers: WorkerPool, owner: Vec<u8>) -> Self {
        Self { workers, owner }
    }

    async fn read_one(&self, name: &str, bytes: &[u8]) -> Result<ReadDocument, UnreadDocument> {
        let job = Job {
            owner: &self.owner,
            task: WHOLE_DOCUMENT_TASK.name,
            head: name,
            body: bytes,
            time: READING_TIME + GRACE,
        };
        let Message { head, body } =
            self.workers.run(&job).await.map_err(|error| unread(&error))?;
        if head != DOCUMENT {
            let reason = String::from_utf8_lossy(&body).into_owned();
            return Err(UnreadDocument::Fault { state: head, reason });
        }
        let damaged =
            |reason: String| UnreadDocument::Fault { state: "damaged".to_owned(), reason };
        // Whether its parts are in its text is for the base to check.
        let answer: Answer = serde_json::from_slice(&body)
            .map_err(|error| damaged(format!("what was read of it is not a document: {error}")))?;
        Ok(ReadDocument { document: answer.document, note: answer.note })
    }
}

/// Whether it is the document's fault, or there was no worker for it.
fn unread(error: &WorkerError) -> UnreadDocument {
    let state = match error {
        WorkerError::Absent | WorkerError::Busy | WorkerError::Start(_) => {
            return UnreadDocument::Later(format!("reading it {error}"));
        }
        WorkerError::Time(_) => "too_long",
        WorkerError::Memory(_) | WorkerError::Answer(_) => "too_large",
        WorkerError::Depth | WorkerError::Broken(_) => "damaged",
    };
    UnreadDocument::Fault { state: state.to_owned(), reason: format!("reading it {error}") }
}

impl DocumentReader for WorkerDocumentReader {
    fn read<'a>(
        &'a self,
        name: &'a str,
        bytes: &'a [u8],
    ) -> BoxFuture<'a, Result<ReadDocument, UnreadDocument>> {
        self.read_one(name, bytes).boxed()
    }
}
