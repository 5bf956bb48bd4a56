//! Ranking of tools for a request: which texts of a tool are searched, how texts become terms, the
//! index, scores by keywords and by meaning, and measures of how good a ranking is.
//!
//! Everything here is a function of its input and bounded: any text may be a query, and any text
//! may occur in a tool. This crate must not know what a tool is beyond its texts, who asks, where
//! tools come from, files, a clock or the environment.

mod abbreviations;
mod asked;
mod document;
mod embedding;
mod fit;
mod index;
mod lexicon;
pub mod measure;
mod names;
mod passage;
mod past;
mod query;
mod ranking;
mod schema;
mod services;
mod sources;
mod synonyms;
mod text;
mod tuning;
pub mod words;

pub use document::{Analysis, Document, PAST_QUERIES};
pub use embedding::TableError;
pub use fit::Fit;
pub use index::{Entry, Index};
pub use names::NameMatch;
pub use passage::passage;
pub use past::{PastIndex, PastJudge, PastQuery};
pub use ranking::{Findings, Match, Mode, SearchEvidence, SimilarityFn};
pub use schema::Parameters;
pub use services::{Service, SourceNames};
pub use tuning::Tuning;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
