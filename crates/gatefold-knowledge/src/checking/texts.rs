//! The texts that quotes are compared with.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gatefold_documents::Place;

use super::normal::NormalText;
use crate::{Citation, Version};

/// Where the texts are that an answer may quote, as one reader may see them.
pub trait CitedTexts {
    /// The text that a citation is of. Its span does not matter.
    fn text(&self, citation: &Citation) -> CitedText;

    /// Texts that may have these words, the likeliest first. Those after the first few are not read.
    fn find(&self, words: &str) -> Vec<Arc<CitableText>>;
}

/// What there is of a version that is cited.
#[derive(Debug)]
pub enum CitedText {
    Present(Arc<CitableText>),
    /// The version is no longer kept.
    Gone {
        /// The version that the document has now.
        present: Option<Version>,
    },
    /// No such document, or none that the reader may see.
    Unknown,
}

/// The canonical text of one version of a document.
///
/// It keeps its normal form once it was compared: whoever gives the same one again saves that work.
pub struct CitableText {
    pub domain: Arc<str>,
    pub document: Arc<str>,
    pub version: Version,
    pub text: Arc<str>,
    /// Where the text changes its place, as in [`gatefold_documents::Document::places`].
    pub places: Arc<[(usize, Place)]>,
    normal: OnceLock<NormalText>,
}

impl CitableText {
    pub fn new(
        domain: Arc<str>,
        document: Arc<str>,
        version: Version,
        text: Arc<str>,
        places: Arc<[(usize, Place)]>,
    ) -> Self {
        Self { domain, document, version, text, places, normal: OnceLock::new() }
    }

    pub(super) fn normal(&self) -> &NormalText {
        self.normal.get_or_init(|| NormalText::of(&self.text))
    }

    /// The citation of a part of it.
    pub fn cite(&self, span: Range<usize>) -> Citation {
        Citation {
            domain: self.domain.to_string(),
            document: self.document.to_string(),
            version: self.version,
            span,
        }
    }

    /// The page or slide of a byte, if it has such.
    pub(super) fn page(&self, at: usize) -> Option<u32> {
        let after = self.places.partition_point(|(start, _)| *start <= at);
        match self.places.get(after.checked_sub(1)?)?.1 {
            Place::Page(number) | Place::Slide(number) => Some(number),
            Place::Cell { .. } | Place::Line(_) | Place::MessagePart(_) => None,
        }
    }
}

impl fmt::Debug for CitableText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CitableText")
            .field("domain", &self.domain)
            .field("document", &self.document)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
