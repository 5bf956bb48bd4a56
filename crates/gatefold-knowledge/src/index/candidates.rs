//! The chunks whose words fit a query best, and how well.

use std::iter::once;

use tantivy::collector::TopDocs;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::Postings as _;
use tantivy::query::{BooleanQuery, BoostQuery, FuzzyTermQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet as _, Searcher, SegmentReader, Term};

use super::{ChunkIndex, DIGEST, DOCUMENT, Fields, KEY};
use crate::KnowledgeError;
use crate::limits::{CANDIDATES, COMMON_SHARE, QUERY_WORDS};
use crate::words::{exact_analyzer, is_stop_word, stemming_analyzer, word_parts, words};

/// What a word is worth in the title and the headings, if in the body it is worth 1, and how much of that
/// their lengths take from it. BM25F: Robertson and Zaragoza, "The Probabilistic Relevance Framework"
/// (2009), 3.6. These and what weighs candidates were chosen on half of the questions of SciFact and of
/// Chroma's chunking study.
const FRONT_WEIGHTS: [f32; BODY] = [TITLE_WEIGHT, 1.3];
const TITLE_WEIGHT: f32 = 1.3;
const FRONT_LENGTH: f32 = 0.3;
const BODY: usize = 2;

/// What a word in title, headings and body is worth when candidates are chosen. The index adds up what it
/// finds in each of them, so that a word that is in all of them counts for more than it should.
const SELECTING_WEIGHTS: [f32; 3] = [0.6, 0.6, 1.0];

/// What a word in the file's name is worth when candidates are chosen: as much as in their scores,
/// where it counts about as much as the best that the texts can say of it.
const NAME_WEIGHT: f32 = 2.0;

/// The chunks that have words of a query.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) chunks: Vec<Candidate>,
    /// Which share of the query's weight each of its known words has.
    pub(crate) shares: Vec<f32>,
    /// How many words the body of a chunk has in the mean.
    pub(crate) mean_body: f32,
}

#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) document: i64,
    pub(crate) key: u64,
    pub(crate) digest: u64,
    /// How many words its body has.
    pub(crate) body: f32,
    /// What it has of each known word of the query.
    pub(crate) words: Vec<WordCounts>,
}

/// What a chunk has of a word.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WordCounts {
    /// How often its body has it.
    pub(crate) body: f32,
    /// How often title and headings have it, by their weights and lengths.
    pub(crate) front: f32,
    /// Whether the file's name has it, or a part of it, or it and the next word as one.
    pub(crate) is_named: bool,
    /// Whether any has it as it is written in the query.
    pub(crate) is_exact: bool,
}

/// A word of a query.
#[derive(Debug)]
struct QueryWord {
    stemmed: String,
    exact: String,
    /// What names of files may have instead.
    variants: Vec<String>,
    /// What it weighs: more, the rarer it is.
    weight: f32,
    is_common: bool,
    /// Whether texts have it.
    is_in_texts: bool,
    /// It and its variants, as far as names of files have them.
    in_names: Vec<Term>,
}

impl QueryWord {
    fn is_known(&self) -> bool {
        self.is_in_texts || !self.in_names.is_empty()
    }
}

/// The chunks that have most of a query's words, at most [`CANDIDATES`].
pub(crate) fn find(index: &ChunkIndex, query: &str) -> Result<Candidates, KnowledgeError> {
    let searcher = index.searcher();
    let words = query_words(&searcher, &index.fields, query)?;
    let total: f32 = words.iter().map(|word| word.weight).sum();
    let known: Vec<QueryWord> = words.into_iter().filter(QueryWord::is_known).collect();
    let Some(selection) = selection(&index.fields, &known) else {
        return Ok(Candidates::default());
    };
    let collector = TopDocs::with_limit(CANDIDATES).order_by_score();
    let mut chosen: Vec<DocAddress> =
        searcher.search(&selection, &collector)?.into_iter().map(|(_, address)| address).collect();
    chosen.sort_unstable();
    let means = mean_lengths(&searcher, &index.fields)?;
    let mut chunks = Vec::with_capacity(chosen.len());
    for of_segment in chosen.chunk_by(|left, right| left.segment_ord == right.segment_ord) {
        let segment = searcher.segment_reader(of_segment[0].segment_ord);
        let documents: Vec<DocId> = of_segment.iter().map(|address| address.doc_id).collect();
        let lookup = SegmentLookup { segment, documents: &documents, fields: &index.fields };
        lookup.add_candidates(&known, &means, &mut chunks)?;
    }
    let shares = known.iter().map(|word| word.weight / total).collect();
    Ok(Candidates { chunks, shares, mean_body: means[BODY] })
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
    let mut found = distinct_words(query);
    for word in &mut found {
        let mut with_word = 0;
        let texts = fields.texts.iter().map(|text| text.stemmed);
        for field in texts.chain([fields.name]) {
            let term = Term::from_field_text(field, &word.stemmed);
            with_word = searcher.doc_freq(&term)?.max(with_word);
        }
        word.weight = inverse_frequency(&word.exact, with_word, chunks);
        // In a small base they cost nothing.
        word.is_common = with_word > (chunks / COMMON_SHARE).max(CANDIDATES as u64);
        word.is_in_texts = with_word > 0;
    }
    found.sort_by(|left, right| right.weight.total_cmp(&left.weight));
    found.truncate(QUERY_WORDS);
    for word in &mut found {
        for variant in once(&word.stemmed).chain(&word.variants) {
            let term = Term::from_field_text(fields.name, variant);
            if searcher.doc_freq(&term)? > 0 {
                word.in_names.push(term);
            }
        }
    }
    Ok(found)
}

fn distinct_words(query: &str) -> Vec<QueryWord> {
    let mut stemming = stemming_analyzer();
    let exact = words(&mut exact_analyzer(), query);
    let stemmed = words(&mut stemming, query);
    let mut found: Vec<QueryWord> = Vec::new();
    // Both have as many words: they are split alike.
    for (at, (word, stemmed)) in exact.iter().zip(stemmed).enumerate() {
        let before = at.checked_sub(1).map(|before| format!("{}{word}", exact[before]));
        let after = exact.get(at + 1).map(|after| format!("{word}{after}"));
        let parts = word_parts(word).into_iter().map(str::to_owned);
        let texts: Vec<String> = before.into_iter().chain(after).chain(parts).collect();
        let variants = words(&mut stemming, &texts.join(" "));
        match found.iter_mut().find(|word| word.stemmed == stemmed) {
            Some(known) => known.variants.extend(variants),
            None => found.push(QueryWord {
                stemmed,
                exact: word.clone(),
                variants,
                weight: 0.0,
                is_common: false,
                is_in_texts: false,
                in_names: Vec::new(),
            }),
        }
    }
    found
}

/// How many chunks of ordinary prose are counted besides those of the base, and which share of them has a
/// word that means little, and any other. In a base of few chunks counts say nothing: without these, the
/// words of a question that the base does not have would weigh more than those that it has.
const PRIOR_CHUNKS: f32 = 30.0;
const PRIOR_STOP_WORD: f32 = 0.5;
const PRIOR_WORD: f32 = 0.005;

#[expect(clippy::cast_precision_loss, reason = "counts of chunks; a weight needs few digits")]
fn inverse_frequency(word: &str, with_word: u64, chunks: u64) -> f32 {
    let share = if is_stop_word(word) { PRIOR_STOP_WORD } else { PRIOR_WORD };
    let with_word = with_word.min(chunks) as f32 + PRIOR_CHUNKS * share;
    let chunks = chunks as f32 + PRIOR_CHUNKS;
    (1.0 + (chunks - with_word + 0.5) / (with_word + 0.5)).ln()
}

/// The query that chooses candidates. Words that most chunks have would make it read the whole index
/// and choose nothing.
fn selection(fields: &Fields, known: &[QueryWord]) -> Option<BooleanQuery> {
    let has_rare = known.iter().any(|word| !word.is_common);
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    let mut add = |term: Term, weight: f32| {
        let of_term = TermQuery::new(term, IndexRecordOption::WithFreqs);
        clauses.push((Occur::Should, Box::new(BoostQuery::new(Box::new(of_term), weight))));
    };
    for word in known.iter().filter(|word| !(has_rare && word.is_common)) {
        for (field, weight) in
            fields.texts.iter().zip(SELECTING_WEIGHTS).filter(|_| word.is_in_texts)
        {
            add(Term::from_field_text(field.stemmed, &word.stemmed), weight);
        }
        for term in &word.in_names {
            add(term.clone(), NAME_WEIGHT);
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

#[expect(clippy::cast_precision_loss, reason = "a length needs few digits")]
fn length(norms: &FieldNormReader, document: DocId) -> f32 {
    norms.fieldnorm(document) as f32
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
        means: &[f32; 3],
        candidates: &mut Vec<Candidate>,
    ) -> Result<(), KnowledgeError> {
        let first = candidates.len();
        let body = self.segment.get_fieldnorms_reader(self.fields.texts[BODY].stemmed)?;
        for document in self.documents {
            candidates.push(Candidate {
                document: number(self.segment, DOCUMENT, *document)?.cast_signed(),
                key: number(self.segment, KEY, *document)?,
                digest: number(self.segment, DIGEST, *document)?,
                body: length(&body, *document),
                words: vec![WordCounts::default(); words.len()],
            });
        }
        let lengths = self.front_lengths(means)?;
        let candidates = &mut candidates[first..];
        for (number, word) in words.iter().enumerate() {
            for (index, field) in self.fields.texts.iter().enumerate() {
                self.for_each_with(field.stemmed, &word.stemmed, |at, count| {
                    let counts = &mut candidates[at].words[number];
                    if index == BODY {
                        counts.body = count;
                    } else {
                        counts.front += FRONT_WEIGHTS[index] * count / lengths[index][at];
                    }
                })?;
                self.for_each_with(field.exact, &word.exact, |at, _| {
                    candidates[at].words[number].is_exact = true;
                })?;
            }
            for term in &word.in_names {
                self.for_each_with_term(term, |at, _| {
                    let counts = &mut candidates[at].words[number];
                    counts.is_named = true;
                    // A name that says it in other words is a title as well.
                    counts.front = counts.front.max(TITLE_WEIGHT);
                })?;
            }
        }
        Ok(())
    }

    /// What the lengths of titles and headings divide the counts of words by.
    fn front_lengths(&self, means: &[f32; 3]) -> Result<[Vec<f32>; BODY], KnowledgeError> {
        let mut lengths = [const { Vec::new() }; BODY];
        for (index, field) in self.fields.texts.iter().enumerate().take(BODY) {
            let norms = self.segment.get_fieldnorms_reader(field.stemmed)?;
            let relative = |document: &DocId| {
                let relative = length(&norms, *document) / means[index];
                1.0 - FRONT_LENGTH + FRONT_LENGTH * relative
            };
            lengths[index] = self.documents.iter().map(relative).collect();
        }
        Ok(lengths)
    }

    /// Hands over which of the chunks have a word, and how often.
    fn for_each_with(
        &self,
        field: Field,
        word: &str,
        hand: impl FnMut(usize, f32),
    ) -> Result<(), KnowledgeError> {
        self.for_each_with_term(&Term::from_field_text(field, word), hand)
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of words in a chunk")]
    fn for_each_with_term(
        &self,
        term: &Term,
        mut hand: impl FnMut(usize, f32),
    ) -> Result<(), KnowledgeError> {
        let inverted = self.segment.inverted_index(term.field())?;
        let postings = inverted.read_postings(term, IndexRecordOption::WithFreqs);
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
