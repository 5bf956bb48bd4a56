//! Checking the quotes and citations of an answer against the texts that it cites.
//!
//! No model is asked: a quote is compared byte by byte, and then in a form in which an honest copy is
//! equal to its source (`checking/normal.rs`).

mod characters;
mod judging;
mod marks;
mod matching;
mod normal;
mod pairing;
mod quotations;
mod regions;
mod texts;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use gatefold_documents::Place;

pub(crate) use self::characters::is_unspaced_script;
use self::judging::Judge;
pub use self::texts::{CitableText, CitedText, CitedTexts};
use crate::{Citation, Version};

/// The longest answer that is checked, in bytes.
pub const MAX_ANSWER: usize = 1024 * 1024;

/// The most quotes and citations of one answer that are checked.
pub const MAX_QUOTES: usize = 200;

/// What a check found in an answer.
#[derive(Debug, Default)]
pub struct CheckedAnswer {
    /// In the order in which they stand in the answer.
    pub quotes: Vec<CheckedQuote>,
    /// The bytes at the answer's end that were not read, since it is too long.
    pub unread: usize,
    /// The quotes that were found but not checked, since there are too many.
    pub unchecked: usize,
}

/// A quote of an answer, or a citation that stands alone.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedQuote {
    /// Where it is in the answer, in bytes.
    pub span: Range<usize>,
    /// Its words; empty for a citation that stands alone.
    pub quote: String,
    /// What the answer gives as its source.
    pub citation: Option<Citation>,
    /// The pages that the answer gives.
    pub pages: Option<RangeInclusive<u32>>,
    pub verdict: Verdict,
    /// Where these words are, or for a citation that stands alone what it cites.
    pub found: Option<FoundQuote>,
}

/// Where a quote was found.
#[derive(Debug, Clone)]
pub struct FoundQuote {
    pub text: Arc<CitableText>,
    /// In bytes of the text.
    pub span: Range<usize>,
    pub place: Option<Place>,
}

impl FoundQuote {
    pub fn citation(&self) -> Citation {
        self.text.cite(self.span.clone())
    }
}

impl PartialEq for FoundQuote {
    fn eq(&self, other: &Self) -> bool {
        self.citation() == other.citation()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The cited bytes have these words; without a citation, a text has them.
    Exact,
    /// The same, but for ligatures, hyphens, dashes, quotation marks, white space and omissions that
    /// the quote shows.
    Normalised,
    /// The words are somewhere else than the answer says.
    Elsewhere(Misattribution),
    /// No text has these words.
    Nowhere,
    /// The version that is cited is no longer kept.
    Gone {
        /// The version that the document has now.
        present: Option<Version>,
    },
    /// A citation that stands alone, and has something to cite.
    Unquoted,
}

/// What an answer says wrongly about where its quote is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misattribution {
    Page,
    /// The document is right.
    Place,
    Document,
}

impl Verdict {
    /// As one word, for an answer to a model or a person.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Normalised => "normalised",
            Self::Elsewhere(_) => "elsewhere",
            Self::Nowhere => "nowhere",
            Self::Gone { .. } => "gone",
            Self::Unquoted => "unquoted",
        }
    }

    /// Whether the answer may stand as it is.
    pub fn is_sound(self) -> bool {
        matches!(self, Self::Exact | Self::Normalised | Self::Unquoted)
    }
}

/// Checks the quotes and citations of an answer in Markdown or plain text.
///
/// A quote belongs to the first citation after it in its line, or else in its paragraph. One without
/// a citation is looked for everywhere; short ones are then taken for words that are not meant
/// literally.
pub fn check_citations(answer: &str, texts: &dyn CitedTexts) -> CheckedAnswer {
    let read = &answer[..answer.floor_char_boundary(MAX_ANSWER)];
    let mut claims = pairing::claims(read);
    let unchecked = claims.len().saturating_sub(MAX_QUOTES);
    claims.truncate(MAX_QUOTES);
    let mut judge = Judge::new(texts);
    let quotes = claims.into_iter().map(|claim| judge.check(claim)).collect();
    CheckedAnswer { quotes, unread: answer.len() - read.len(), unchecked }
}
