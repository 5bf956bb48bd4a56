//! What a search finds.

use std::ops::Range;
use std::sync::Arc;

use gatefold_documents::Place;

use crate::Version;

/// A part of a document that was found.
#[derive(Debug, Clone)]
pub struct Passage {
    /// The document's name in its base: a path relative to the base's folder, or an address.
    pub document: Arc<str>,
    pub title: Arc<str>,
    pub version: Version,
    /// The canonical text of the whole document.
    pub text: Arc<str>,
    /// Where the passage is in `text`, in bytes.
    pub span: Range<usize>,
    /// The headings that it begins under, the highest first.
    pub headings: Vec<String>,
    /// Where it begins.
    pub place: Option<Place>,
    /// How well it fits, from 0 to 1; comparable between bases.
    pub score: f32,
}

impl Passage {
    /// The words of the passage.
    pub fn excerpt(&self) -> &str {
        self.text.get(self.span.clone()).unwrap_or_default()
    }
}
