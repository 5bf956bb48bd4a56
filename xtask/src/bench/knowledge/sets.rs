//! Sets of documents and questions, each in two halves: constants are chosen by the one, and the documents
//! show the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use gatefold_core::Timestamp;
use gatefold_documents::{Hints, read_document};
use gatefold_knowledge::{FileFacts, NewDocument, Version};
use serde::Deserialize;

/// How long reading one document may take. The sets are trusted.
const READING: Duration = Duration::from_mins(5);

/// The sets that `tests/knowledge/sets` makes.
pub(super) const NAMES: [&str; 3] = ["scifact", "chroma", "finance"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Half {
    /// What constants are chosen by.
    Fit,
    /// What is reported.
    Tell,
}

#[derive(Deserialize)]
pub(super) struct Question {
    #[serde(rename = "question")]
    pub(super) text: String,
    pub(super) answers: Vec<Answer>,
    half: Half,
}

/// Where a question is answered.
#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) document: String,
    #[serde(flatten)]
    pub(super) place: AnswerPlace,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum AnswerPlace {
    /// In bytes of the document.
    Span {
        start: usize,
        end: usize,
        text: String,
    },
    Page {
        page: u32,
    },
    Anywhere {},
}

pub(super) struct KnowledgeSet {
    pub(super) name: &'static str,
    pub(super) documents: BTreeMap<String, NewDocument>,
    /// Those of one half.
    pub(super) questions: Vec<Question>,
    /// How long reading the documents took.
    pub(super) reading: Duration,
}

impl KnowledgeSet {
    pub(super) fn read(folder: &Path, name: &'static str, half: Half) -> Result<Self> {
        let lines = std::fs::read_to_string(folder.join("questions.jsonl"));
        let lines =
            lines.context("the questions cannot be read: make them by `tests/knowledge/sets`")?;
        let questions =
            lines.lines().map(serde_json::from_str).collect::<Result<Vec<Question>, _>>();
        let mut questions = questions.context("a question cannot be read")?;
        questions.retain(|question| question.half == half);
        let start = Instant::now();
        let mut documents = BTreeMap::new();
        for entry in std::fs::read_dir(folder.join("documents"))? {
            let path = entry?.path();
            let document = read(&path).with_context(|| path.display().to_string())?;
            documents.insert(document.file.name.clone(), document);
        }
        let reading = start.elapsed();
        let set = Self { name, documents, questions, reading };
        set.check_answers()?;
        Ok(set)
    }

    /// What the text of a document is has to be what its file is, or spans would mean something else.
    fn check_answers(&self) -> Result<()> {
        for answer in self.questions.iter().flat_map(|question| &question.answers) {
            let document = self.documents.get(&answer.document);
            let document = document.with_context(|| format!("`{}` is missing", answer.document))?;
            if let AnswerPlace::Span { start, end, text } = &answer.place {
                let found = document.document.text.get(*start..*end);
                ensure!(found == Some(text), "{}: `{text}` is elsewhere", answer.document);
            }
        }
        Ok(())
    }
}

fn read(path: &PathBuf) -> Result<NewDocument> {
    let bytes = std::fs::read(path)?;
    let name = path.file_name().and_then(|name| name.to_str()).context("it has no name")?;
    let hints = Hints { name: Some(name), ..Hints::default() };
    let document = read_document(&bytes, &hints, Instant::now() + READING)?;
    let file = FileFacts {
        name: name.to_owned(),
        digest: Version::of(&document.text).as_bytes().to_vec(),
        bytes: bytes.len() as u64,
        modified: Timestamp::from_millis(0),
    };
    Ok(NewDocument { file, title_hint: None, note: String::new(), document })
}
