//! The chunks whose words fit a query best, and how well.

use tantivy::collector::TopDocs;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::Postings as _;
use tantivy::query::{BooleanQuery, BoostQuery, FuzzyTermQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet as _, Searcher, SegmentReader, Term};

use super::{ChunkIndex, DIGEST, DOCUMENT, Fields, KEY};
use crate::KnowledgeError;
use crate::limits::{CANDIDATES, COMMON_SHARE, QUERY_WORDS};
use crate::words::{exact_analyzer, stemming_analyzer, words};

/// What a word is worth in the title, the headings and the body, and how much of its worth a long text
/// takes from it. BM25F: Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), 3.6.
const WEIGHTS: [f32; 3] = [1.6, 1.2, 1.0];
const LENGTHS: [f32; 3] = [0.3, 0.3, 0.6];
const SATURATION: f32 = 1.2;

/// A chunk that has words of the query.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) document: i64,
    pub(crate) key: u64,
    pub(crate) digest: u64,
    /// As in [`crate::ranking::Evidence`].
    pub(crate) coverage: f32,
    pub(crate) exactness: f32,
    pub(crate) strength: f32,
}

/// A word of a query.
#[derive(Debug)]
struct QueryWord {
    stemmed: String,
    exact: String,
    /// What it weighs: more, the rarer it is.
    weight: f32,
    is_common: bool,
    is_known: bool,
}

/// The chunks that have most of a query's words, at most [`CANDIDATES`].
pub(crate) fn find(index: &ChunkIndex, query: &str) -> Result<Vec<Candidate>, KnowledgeError> {
    let searcher = index.searcher();
    let words = query_words(&searcher, &index.fields, query)?;
    let Some(selection) = selection(&index.fields, &words) else { return Ok(Vec::new()) };
    let collector = TopDocs::with_limit(CANDIDATES).order_by_score();
    let mut chosen: Vec<DocAddress> =
        searcher.search(&selection, &collector)?.into_iter().map(|(_, address)| address).collect();
    chosen.sort_unstable();
    let means = mean_lengths(&searcher, &index.fields)?;
    let total: f32 = words.iter().map(|word| word.weight).sum();
    let mut candidates = Vec::with_capacity(chosen.len());
    for of_segment in chosen.chunk_by(|left, right| left.segment_ord == right.segment_ord) {
        let segment = searcher.segment_reader(of_segment[0].segment_ord);
        let documents: Vec<DocId> = of_segment.iter().map(|address| address.doc_id).collect();
        let lookup = SegmentLookup { segment, documents: &documents, fields: &index.fields };
        lookup.add_candidates(&words, total, &means, &mut candidates)?;
    }
    Ok(candidates)
}

/// Documents whose title has a word that is spelled nearly as one of the query.
pub(crate) fn find_by_title(
    index: &ChunkIndex,
    query: &str,
    most: usize,
) -> Result<Vec<i64>, KnowledgeError> {
    /// A shorter word is near too many.
    const SHORTEST: usize = 4;
    let [title, headings, _] = index.fields.texts;
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    let long = words(&mut exact_analyzer(), query);
    for word in long.iter().filter(|word| word.chars().count() >= SHORTEST).take(QUERY_WORDS) {
        for field in [title.exact, headings.exact] {
            let term = Term::from_field_text(field, word);
            clauses.push((Occur::Should, Box::new(FuzzyTermQuery::new_prefix(term, 1, true))));
        }
    }
    if clauses.is_empty() {
        return Ok(Vec::new());
    }
    let searcher = index.searcher();
    let collector = TopDocs::with_limit(CANDIDATES).order_by_score();
    let mut documents = Vec::new();
    for (_, address) in searcher.search(&BooleanQuery::new(clauses), &collector)? {
        let segment = searcher.segment_reader(address.segment_ord);
        let document = number(segment, DOCUMENT, address.doc_id)?.cast_signed();
        if documents.len() < most && !documents.contains(&document) {
            documents.push(document);
        }
    }
    Ok(documents)
}

/// The words of a query, each once: the rarest, if there are many.
fn query_words(
    searcher: &Searcher,
    fields: &Fields,
    query: &str,
) -> Result<Vec<QueryWord>, KnowledgeError> {
    let chunks: u64 = searcher.segment_readers().iter().map(|one| u64::from(one.max_doc())).sum();
    let exact = words(&mut exact_analyzer(), query);
    let stemmed = words(&mut stemming_analyzer(), query);
    let mut found: Vec<QueryWord> = Vec::new();
    // Both have as many words: they are split alike.
    for (exact, stemmed) in exact.into_iter().zip(stemmed) {
        if found.iter().any(|word| word.stemmed == stemmed) {
            continue;
        }
        let mut with_word = 0;
        for field in &fields.texts {
            let term = Term::from_field_text(field.stemmed, &stemmed);
            with_word = searcher.doc_freq(&term)?.max(with_word);
        }
        found.push(QueryWord {
            stemmed,
            exact,
            weight: inverse_frequency(with_word, chunks),
            is_common: with_word > chunks / COMMON_SHARE,
            is_known: with_word > 0,
        });
    }
    found.sort_by(|left, right| right.weight.total_cmp(&left.weight));
    found.truncate(QUERY_WORDS);
    Ok(found)
}

#[expect(clippy::cast_precision_loss, reason = "counts of chunks; a weight needs few digits")]
fn inverse_frequency(with_word: u64, chunks: u64) -> f32 {
    let with_word = with_word.min(chunks) as f32;
    (1.0 + (chunks as f32 - with_word + 0.5) / (with_word + 0.5)).ln()
}

/// The query that chooses candidates. Words that most chunks have would make it read the whole index
/// and choose nothing.
fn selection(fields: &Fields, words: &[QueryWord]) -> Option<BooleanQuery> {
    let known = || words.iter().filter(|word| word.is_known);
    let has_rare = known().any(|word| !word.is_common);
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for word in known().filter(|word| !(has_rare && word.is_common)) {
        for (field, weight) in fields.texts.iter().zip(WEIGHTS) {
            let term = Term::from_field_text(field.stemmed, &word.stemmed);
            let of_term = TermQuery::new(term, IndexRecordOption::WithFreqs);
            clauses.push((Occur::Should, Box::new(BoostQuery::new(Box::new(of_term), weight))));
        }
    }
    (!clauses.is_empty()).then(|| BooleanQuery::new(clauses))
}

/// How many words the fields of a chunk have in the mean.
#[expect(clippy::cast_precision_loss, reason = "a mean needs few digits")]
fn mean_lengths(searcher: &Searcher, fields: &Fields) -> Result<[f32; 3], KnowledgeError> {
    let mut means = [1.0; 3];
    for (mean, field) in means.iter_mut().zip(&fields.texts) {
        let (mut words, mut chunks) = (0, 0);
        for segment in searcher.segment_readers() {
            words += segment.inverted_index(field.stemmed)?.total_num_tokens();
            chunks += u64::from(segment.max_doc());
        }
        *mean = (words as f32 / chunks.max(1) as f32).max(1.0);
    }
    Ok(means)
}

fn number(segment: &SegmentReader, name: &str, document: DocId) -> Result<u64, KnowledgeError> {
    let first = segment.fast_fields().u64(name)?.first(document);
    first.ok_or(KnowledgeError::Damaged("the index lacks a chunk's number"))
}

/// Looks words up in some chunks of a segment.
struct SegmentLookup<'s> {
    segment: &'s SegmentReader,
    /// In order.
    documents: &'s [DocId],
    fields: &'s Fields,
}

impl SegmentLookup<'_> {
    fn add_candidates(
        &self,
        words: &[QueryWord],
        total: f32,
        means: &[f32; 3],
        candidates: &mut Vec<Candidate>,
    ) -> Result<(), KnowledgeError> {
        let first = candidates.len();
        for document in self.documents {
            candidates.push(Candidate {
                document: number(self.segment, DOCUMENT, *document)?.cast_signed(),
                key: number(self.segment, KEY, *document)?,
                digest: number(self.segment, DIGEST, *document)?,
                coverage: 0.0,
                exactness: 0.0,
                strength: 0.0,
            });
        }
        let lengths = self.relative_lengths(means)?;
        for word in words.iter().filter(|word| word.is_known) {
            let mut counts = vec![0.0; self.documents.len()];
            let mut exact = vec![false; self.documents.len()];
            for (index, field) in self.fields.texts.iter().enumerate() {
                self.for_each_with(field.stemmed, &word.stemmed, |at, count| {
                    counts[at] += WEIGHTS[index] * count / lengths[index][at];
                })?;
                self.for_each_with(field.exact, &word.exact, |at, _| exact[at] = true)?;
            }
            let share = word.weight / total;
            for (at, candidate) in candidates[first..].iter_mut().enumerate() {
                if counts[at] > 0.0 {
                    candidate.coverage += share;
                    candidate.strength += share * counts[at] / (counts[at] + SATURATION);
                }
                if exact[at] {
                    candidate.exactness += share;
                }
            }
        }
        Ok(())
    }

    /// What the lengths of the fields divide the counts of words by.
    #[expect(clippy::cast_precision_loss, reason = "a length needs few digits")]
    fn relative_lengths(&self, means: &[f32; 3]) -> Result<[Vec<f32>; 3], KnowledgeError> {
        let mut lengths = [const { Vec::new() }; 3];
        for (index, field) in self.fields.texts.iter().enumerate() {
            let norms: FieldNormReader = self.segment.get_fieldnorms_reader(field.stemmed)?;
            let relative = |document: &DocId| {
                let length = norms.fieldnorm(*document) as f32 / means[index];
                1.0 - LENGTHS[index] + LENGTHS[index] * length
            };
            lengths[index] = self.documents.iter().map(relative).collect();
        }
        Ok(lengths)
    }

    /// Hands over which of the chunks have a word, and how often.
    #[expect(clippy::cast_precision_loss, reason = "a count of words in a chunk")]
    fn for_each_with(
        &self,
        field: Field,
        word: &str,
        mut hand: impl FnMut(usize, f32),
    ) -> Result<(), KnowledgeError> {
        let term = Term::from_field_text(field, word);
        let inverted = self.segment.inverted_index(field)?;
        let postings = inverted.read_postings(&term, IndexRecordOption::WithFreqs);
        let Some(mut postings) = postings.map_err(tantivy::TantivyError::from)? else {
            return Ok(());
        };
        for (at, document) in self.documents.iter().enumerate() {
            let found =
                if postings.doc() < *document { postings.seek(*document) } else { postings.doc() };
            if found == *document {
                hand(at, postings.term_freq() as f32);
            }
        }
        Ok(())
    }
}
