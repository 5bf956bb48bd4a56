//! A search: candidates by their words, graded, put together to passages.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use super::KnowledgeBase;
use super::encoding::{SentenceEncoder, TextKind, TouchedChunk};
use super::repair::{IndexState, index_state};
use crate::KnowledgeError;
use crate::evidence::{Neighbours, WordEvidence, weigh};
use crate::index::candidates::{self, Candidate};
use crate::limits::{MAX_QUERY, MAX_TOP, NEAREST_TITLES, PASSAGE};
use crate::passage::Passage;
use crate::ranking::{Evidence, FITS, grade};
use crate::storage::vectors;
use crate::storage::{self, StoredDocument};

/// A chunk joins a passage that it touches if its score is at least this share of the passage's. Less
/// finds more and shows much more that does not answer.
const JOINING_SHARE: f32 = 0.75;

/// A document that is so many times as good as every other is the one that is meant: all passages may be of it.
const OUTSTANDING: f32 = 2.0;

#[derive(Debug, Clone, Copy)]
pub struct Query<'q> {
    pub text: &'q str,
    /// The most passages.
    pub top: usize,
    /// The most passages of one document, unless it is far better than all others.
    pub per_document: usize,
}

/// What a search found.
#[derive(Debug, Default)]
pub struct Found {
    /// The best first, also those that hardly fit: look at their scores.
    pub passages: Vec<Passage>,
    /// Titles of documents that may be meant, if no passage fits.
    pub nearest_titles: Vec<String>,
}

/// A candidate with its score.
#[derive(Debug)]
struct GradedChunk {
    document: i64,
    /// Its number among the chunks of its document.
    at: usize,
    score: f32,
}

/// The documents of the candidates, by their numbers.
type CandidateDocuments = FxHashMap<i64, StoredDocument>;

impl KnowledgeBase {
    pub fn search(&self, query: &Query<'_>) -> Result<Found, KnowledgeError> {
        let text = &query.text[..query.text.floor_char_boundary(MAX_QUERY)];
        let encoder = self.see_index()?;
        let mut found = candidates::find(&self.index, text)?;
        let is_needed = !found.chunks.is_empty();
        let vector = is_needed.then(|| self.query_vector(text, &encoder)).flatten();
        self.storage.read(|connection| {
            let documents = documents_of(connection, &found.chunks)?;
            let places = locate(&mut found.chunks, &documents);
            let weighed = weigh(&found, &neighbours(&found.chunks, &places, &documents));
            let cosines = self.cosines(connection, &found.chunks, vector.as_deref())?;
            let graded = graded(&found.chunks, &places, &weighed, &cosines);
            let passages = self.passages(connection, query, &graded, &documents)?;
            let fits = passages.first().is_some_and(|best| best.score >= FITS);
            let nearest_titles =
                if fits { Vec::new() } else { self.nearest_titles(connection, text, &graded)? };
            Ok(Found { passages, nearest_titles })
        })
    }

    /// Has searches see what another process wrote. Says which encoder made the vectors.
    fn see_index(&self) -> Result<String, KnowledgeError> {
        let stored_state = self.storage.read(storage::state)?;
        let stored = IndexState::of(&stored_state);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.as_ref() != Some(&stored) {
            // First the state and then the index: what is read twice does no harm.
            let state = index_state(&self.index)?;
            if *seen != state {
                self.index.reload()?;
                *seen = state;
            }
        }
        Ok(stored_state.encoder)
    }

    /// The vector of a query, by the encoder that made those of the chunks. Where none did yet, a search still
    /// says which chunks are to be encoded first.
    fn query_vector(&self, text: &str, name: &str) -> Option<Vec<f32>> {
        let is_same =
            |encoder: &Arc<dyn SentenceEncoder>| name.is_empty() || encoder.name() == name;
        let encoder = (self.settings.encoder)().filter(is_same)?;
        encoder.embed(&[text], TextKind::Query)?.into_iter().next().flatten()
    }

    /// How near each candidate is to the query, as far as an encoder has read it.
    fn cosines(
        &self,
        connection: &Connection,
        found: &[Candidate],
        query: Option<&[f32]>,
    ) -> Result<Vec<Option<f32>>, KnowledgeError> {
        let mut cosines = vec![None; found.len()];
        let Some(query) = query else { return Ok(cosines) };
        let mut without = Vec::new();
        for (cosine, candidate) in cosines.iter_mut().zip(found) {
            match vectors::find(connection, candidate.digest)? {
                Some(vector) => *cosine = vector.cosine(query),
                None => without
                    .push(TouchedChunk { document: candidate.document, digest: candidate.digest }),
            }
        }
        self.touched.add(without.into_iter());
        Ok(cosines)
    }

    fn passages(
        &self,
        connection: &Connection,
        query: &Query<'_>,
        graded: &[GradedChunk],
        documents: &CandidateDocuments,
    ) -> Result<Vec<Passage>, KnowledgeError> {
        let top = query.top.min(MAX_TOP);
        let outstanding = outstanding(graded);
        let mut runs: Vec<ChunkRun> = Vec::new();
        for chunk in graded {
            if runs.len() >= top {
                break;
            }
            let GradedChunk { document: id, at, score } = *chunk;
            let Some(stored) = documents.get(&id) else { continue };
            if let Some(run) = runs.iter_mut().find(|run| run.takes(id, stored, at, score)) {
                run.add(at);
                continue;
            }
            let of_document = runs.iter().filter(|run| run.document == id).count();
            if of_document < query.per_document || outstanding == Some(id) {
                runs.push(ChunkRun { document: id, chunks: at..at + 1, score });
            }
        }
        join_runs(&mut runs, documents);
        let passages = runs.iter().filter_map(|run| Some((run, documents.get(&run.document)?)));
        passages.map(|(run, stored)| self.passage(connection, run, stored)).collect()
    }

    fn passage(
        &self,
        connection: &Connection,
        run: &ChunkRun,
        stored: &StoredDocument,
    ) -> Result<Passage, KnowledgeError> {
        let first = &stored.chunks[run.chunks.start].chunk;
        Ok(Passage {
            document: Arc::clone(&stored.name),
            title: Arc::clone(&stored.title),
            version: stored.version,
            text: self.text_within(connection, &stored.name, stored.version)?,
            span: run.span(stored),
            headings: first.headings.clone(),
            place: first.place,
            score: run.score,
        })
    }

    /// Titles of the best candidates, and those that are spelled nearly as words of the query.
    fn nearest_titles(
        &self,
        connection: &Connection,
        query: &str,
        graded: &[GradedChunk],
    ) -> Result<Vec<String>, KnowledgeError> {
        let spelled = candidates::find_by_title(&self.index, query, NEAREST_TITLES)?;
        let of_candidates = graded.iter().map(|chunk| chunk.document);
        let mut titles: Vec<String> = Vec::new();
        for document in spelled.into_iter().chain(of_candidates) {
            if titles.len() == NEAREST_TITLES {
                break;
            }
            titles.extend(
                storage::title(connection, document)?.filter(|title| !titles.contains(title)),
            );
        }
        Ok(titles)
    }
}

fn documents_of(
    connection: &Connection,
    found: &[Candidate],
) -> Result<CandidateDocuments, KnowledgeError> {
    let mut ids: Vec<i64> = found.iter().map(|candidate| candidate.document).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut documents = CandidateDocuments::default();
    for id in ids {
        documents.extend(storage::stored_document(connection, id)?.map(|stored| (id, stored)));
    }
    Ok(documents)
}

/// The numbers of the candidates among the chunks of their documents. What is gone since the index was
/// read is not found.
fn locate(found: &mut Vec<Candidate>, documents: &CandidateDocuments) -> Vec<usize> {
    let mut places = Vec::with_capacity(found.len());
    found.retain(|candidate| {
        let chunks = documents.get(&candidate.document).map(|stored| &stored.chunks[..]);
        let mut chunks = chunks.unwrap_or_default().iter();
        let place = chunks.position(|record| record.key == candidate.key);
        places.extend(place);
        place.is_some()
    });
    places
}

fn neighbours(
    found: &[Candidate],
    places: &[usize],
    documents: &CandidateDocuments,
) -> Vec<Neighbours> {
    let located = found.iter().zip(places).map(|(candidate, at)| (candidate.document, *at));
    let numbers: FxHashMap<(i64, usize), usize> =
        located.clone().enumerate().map(|(number, place)| (place, number)).collect();
    let beside = |(document, at): (i64, usize)| {
        let chunks = documents.get(&document).map(|stored| &stored.chunks[..]).unwrap_or_default();
        let length = |at: usize| chunks.get(at).map(|record| record.chunk.span.len());
        let mut neighbours = Neighbours::default();
        let mut bytes = 0;
        for (side, at) in [at.checked_sub(1), at.checked_add(1)].into_iter().enumerate() {
            let Some((at, length)) = at.and_then(|at| Some((at, length(at)?))) else { continue };
            neighbours.count += 1;
            neighbours.candidates[side] = numbers.get(&(document, at)).copied();
            bytes += length;
        }
        neighbours.relative_length = ratio(bytes, length(at).unwrap_or_default());
        neighbours
    };
    located.map(beside).collect()
}

#[expect(clippy::cast_precision_loss, reason = "lengths of chunks")]
fn ratio(of: usize, to: usize) -> f32 {
    of as f32 / to.max(1) as f32
}

/// The candidates, the best first.
fn graded(
    found: &[Candidate],
    places: &[usize],
    weighed: &[WordEvidence],
    cosines: &[Option<f32>],
) -> Vec<GradedChunk> {
    let mean_cosine = mean(cosines.iter().flatten().copied());
    let mut graded = Vec::with_capacity(found.len());
    for (((candidate, at), words), cosine) in found.iter().zip(places).zip(weighed).zip(cosines) {
        let WordEvidence { coverage, exactness, strength, unnamed } = *words;
        let cosine = *cosine;
        let evidence = Evidence { coverage, exactness, strength, unnamed, cosine, mean_cosine };
        graded.push(GradedChunk { document: candidate.document, at: *at, score: grade(&evidence) });
    }
    graded.sort_by(|left, right| {
        let order = |one: &GradedChunk| (one.document, one.at);
        right.score.total_cmp(&left.score).then_with(|| order(left).cmp(&order(right)))
    });
    graded
}

/// The document of the best chunk, if no other document has one that is nearly as good.
fn outstanding(graded: &[GradedChunk]) -> Option<i64> {
    let best = graded.first()?;
    let other = graded.iter().find(|chunk| chunk.document != best.document);
    let is_far = other.is_none_or(|other| best.score >= OUTSTANDING * other.score);
    is_far.then_some(best.document)
}

/// Chunks of a document that follow one another.
#[derive(Debug)]
struct ChunkRun {
    document: i64,
    chunks: Range<usize>,
    score: f32,
}

impl ChunkRun {
    fn span(&self, stored: &StoredDocument) -> Range<usize> {
        let span = |at: usize| &stored.chunks[at].chunk.span;
        span(self.chunks.start).start..span(self.chunks.end - 1).end
    }

    /// Whether a chunk touches the run, in the same section and on the same page.
    fn takes(&self, document: i64, stored: &StoredDocument, at: usize, score: f32) -> bool {
        let neighbour = if at == self.chunks.end {
            self.chunks.end - 1
        } else if at + 1 == self.chunks.start {
            self.chunks.start
        } else {
            return false;
        };
        document == self.document
            && score >= self.score * JOINING_SHARE
            && are_together(stored, neighbour, at)
            && self.span(stored).len() + stored.chunks[at].chunk.span.len() <= PASSAGE
    }

    fn add(&mut self, at: usize) {
        self.chunks = self.chunks.start.min(at)..self.chunks.end.max(at + 1);
    }
}

fn are_together(stored: &StoredDocument, one: usize, other: usize) -> bool {
    use gatefold_documents::Place::{Page, Slide};
    let (one, other) = (&stored.chunks[one].chunk, &stored.chunks[other].chunk);
    let is_paged = matches!(one.place, Some(Page(_) | Slide(_)));
    one.headings == other.headings && (!is_paged || one.place == other.place)
}

/// Joins runs that came to touch when the chunk between them was added.
fn join_runs(runs: &mut Vec<ChunkRun>, documents: &CandidateDocuments) {
    let mut at = 0;
    while at < runs.len() {
        let run = &runs[at];
        let stored = documents.get(&run.document);
        let touching = runs.iter().enumerate().skip(at + 1).find(|(_, other)| {
            let touch =
                other.chunks.start == run.chunks.end || other.chunks.end == run.chunks.start;
            let fits = |stored: &StoredDocument| {
                run.span(stored).len() + other.span(stored).len() <= PASSAGE
                    && are_together(stored, run.chunks.start, other.chunks.start)
            };
            other.document == run.document && touch && stored.is_some_and(fits)
        });
        match touching.map(|(index, _)| index) {
            Some(index) => {
                let other = runs.remove(index);
                let run = &mut runs[at];
                run.chunks =
                    run.chunks.start.min(other.chunks.start)..run.chunks.end.max(other.chunks.end);
                run.score = run.score.max(other.score);
            }
            None => at += 1,
        }
    }
    runs.sort_by_key(|run| Reverse(run.score.to_bits()));
}

#[expect(clippy::cast_precision_loss, reason = "at most as many as there are candidates")]
fn mean(values: impl Iterator<Item = f32>) -> Option<f32> {
    let (mut sum, mut count) = (0.0, 0_usize);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f32)
}
