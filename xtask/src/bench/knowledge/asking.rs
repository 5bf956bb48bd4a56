//! Asks a base the questions of a set, as its tools do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use gatefold_knowledge::{
    Calibration, GROUNDING_PASSAGES, Grounded, GroundingSettings, KnowledgeBase, MAX_TOP,
    PASSAGES_PER_DOCUMENT, Passage, Query, ground, similarities,
};

use super::base::{self, BenchEncoder};
use super::sets::{KnowledgeSet, Question};

/// The most questions of a half that are asked.
pub(super) const QUESTIONS: usize = 200;

/// How many passages and quotes are asked for, which are the tools' defaults, and how many documents.
const PASSAGES: usize = 5;
const QUOTES: usize = 8;
const DOCUMENTS: usize = 10;

/// How many chunks are encoded after each question: at least all that its search met.
const MET: usize = 100;

/// A question and what was found.
pub(super) struct Answered<'q> {
    pub(super) question: &'q Question,
    pub(super) passages: Vec<Passage>,
    /// The best documents, each once.
    pub(super) documents: Vec<Arc<str>>,
    pub(super) grounded: Grounded,
    pub(super) searching: Duration,
    /// Of all of an answer in quotes: the search, too.
    pub(super) grounding: Duration,
}

pub(super) struct Asker<'b> {
    pub(super) set: &'b KnowledgeSet,
    pub(super) base: &'b KnowledgeBase,
    pub(super) encoder: Option<&'b BenchEncoder>,
}

impl<'b> Asker<'b> {
    /// Asks with all documents there.
    pub(super) fn ask_all(&self) -> Result<Vec<Answered<'b>>> {
        self.questions().map(|question| self.ask(question)).collect()
    }

    /// Asks each question while the documents that answer it are taken out.
    pub(super) fn ask_without_answers(&self) -> Result<Vec<Answered<'b>>> {
        let mut groups: BTreeMap<BTreeSet<&str>, Vec<&Question>> = BTreeMap::new();
        for question in self.questions() {
            let answers = question.answers.iter().map(|answer| &*answer.document);
            groups.entry(answers.collect()).or_default().push(question);
        }
        let mut answered = Vec::new();
        for (documents, questions) in groups {
            for document in &documents {
                self.base.remove(document)?;
            }
            self.base.commit()?;
            for question in questions {
                answered.push(self.ask(question)?);
            }
            base::put(self.base, documents.iter().map(|name| &self.set.documents[*name]))?;
        }
        Ok(answered)
    }

    fn questions(&self) -> impl Iterator<Item = &'b Question> {
        self.set.questions.iter().take(QUESTIONS)
    }

    fn ask(&self, question: &'b Question) -> Result<Answered<'b>> {
        if self.encoder.is_some() {
            // In a gateway that has run for a while all is encoded; what no search meets changes nothing.
            self.search(question, PASSAGES, PASSAGES)?;
            self.base.encode_some(MET)?;
        }
        let start = Instant::now();
        let passages = self.search(question, PASSAGES, PASSAGES_PER_DOCUMENT)?;
        let searching = start.elapsed();
        let start = Instant::now();
        let grounded = self.ground(question)?;
        let grounding = start.elapsed();
        let mut documents: Vec<Arc<str>> = Vec::new();
        for passage in self.search(question, MAX_TOP, 1)? {
            if documents.len() < DOCUMENTS && !documents.contains(&passage.document) {
                documents.push(passage.document);
            }
        }
        Ok(Answered { question, passages, documents, grounded, searching, grounding })
    }

    fn ground(&self, question: &Question) -> Result<Grounded> {
        let passages = self.search(question, GROUNDING_PASSAGES, GROUNDING_PASSAGES)?;
        let calibration = Calibration::default();
        let compare = |question: &str, texts: &[&str]| match self.encoder {
            Some(encoder) => similarities(encoder, question, texts),
            None => vec![None; texts.len()],
        };
        let settings = GroundingSettings {
            quotes: QUOTES,
            similarity: self.encoder.is_some().then_some(&compare),
            calibration: &calibration,
        };
        Ok(ground(&question.text, &passages, &settings))
    }

    fn search(&self, question: &Question, top: usize, per_document: usize) -> Result<Vec<Passage>> {
        let query = Query { text: &question.text, top, per_document };
        Ok(self.base.search(&query)?.passages)
    }
}
