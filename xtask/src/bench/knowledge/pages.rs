//! The pages of a set's documents by plain BM25, with titles as a field.

use anyhow::Result;
use gatefold_documents::Place;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::TokenStream as _;
use tantivy::{Index, TantivyDocument, TantivyError, Term};

use super::asking::QUESTIONS;
use super::figures::{mean, page_recall};
use super::sets::KnowledgeSet;

/// How many pages are found for a question.
const PAGES: usize = 5;

const TOKENIZER: &str = "en_stem";
const MEMORY: usize = 64 * 1024 * 1024;

/// The page recall of a set's questions.
pub(super) fn recall_by_words(set: &KnowledgeSet) -> Result<f64> {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs);
    let text = TextOptions::default().set_indexing_options(indexing);
    let mut schema = Schema::builder();
    let fields = ["title", "body"].map(|name| schema.add_text_field(name, text.clone()));
    let number = schema.add_u64_field("number", FAST);
    let index = Index::create_in_ram(schema.build());
    let mut writer = index.writer_with_num_threads(1, MEMORY)?;
    let mut pages: Vec<(&str, Option<Place>)> = Vec::new();
    for (name, document) in &set.documents {
        let document = &document.document;
        let title = format!("{}\n{name}", document.title.as_deref().unwrap_or_default());
        for (at, (start, place)) in document.places.iter().enumerate() {
            let end = document.places.get(at + 1).map_or(document.text.len(), |next| next.0);
            let mut page = TantivyDocument::default();
            page.add_text(fields[0], &title);
            page.add_text(fields[1], &document.text[*start..end]);
            page.add_u64(number, pages.len() as u64);
            writer.add_document(page)?;
            pages.push((name, Some(*place)));
        }
    }
    writer.commit()?;
    let searcher = index.reader()?.searcher();
    let mut tokenizer = index.tokenizer_for_field(fields[1])?;
    let mut find = |text: &str| -> Result<Vec<(&str, Option<Place>)>, TantivyError> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        tokenizer.token_stream(text).process(&mut |token| {
            for field in fields {
                let term = Term::from_field_text(field, &token.text);
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                clauses.push((Occur::Should, Box::new(query)));
            }
        });
        let best = TopDocs::with_limit(PAGES).order_by_score();
        let found = searcher.search(&BooleanQuery::new(clauses), &best)?;
        let page = |segment: u32, document| {
            let numbers = searcher.segment_reader(segment).fast_fields().u64("number")?;
            let number = numbers.first(document).and_then(|number| usize::try_from(number).ok());
            Ok(pages[number.expect("each page has a number")])
        };
        found.iter().map(|(_, address)| page(address.segment_ord, address.doc_id)).collect()
    };
    let mut recalls = Vec::new();
    for question in set.questions.iter().take(QUESTIONS) {
        recalls.push(page_recall(question, &find(&question.text)?));
    }
    Ok(mean(recalls.into_iter()))
}
