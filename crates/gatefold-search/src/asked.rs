//! A request as a search reads it, once for all that looks at it.

use std::borrow::Cow;

use crate::embedding::RequestVector;
use crate::lexicon::Translation;
use crate::query::Query;

/// A request, in English as far as it could be translated.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) whole: Query,
    pub(crate) translation: Option<Translation>,
    /// Its meaning, where that counts.
    pub(crate) vector: Option<RequestVector>,
    /// The sources that it names, sorted.
    pub(crate) named: Vec<u32>,
}

impl<'a> Asked<'a> {
    /// Reads a request, its meaning too if that counts. `knows` says whether a tool has a term.
    pub(crate) fn new(
        request: &'a str,
        has_meaning: bool,
        named: Vec<u32>,
        knows: &dyn Fn(&str) -> bool,
    ) -> Self {
        let translation = Translation::of(request, knows);
        let whole = Query::translated(request, translation.as_ref());
        let translated = translation.as_ref().map(|one| one.text().to_owned());
        let text = translated.map_or(request.into(), Cow::Owned);
        let vector = has_meaning.then(|| RequestVector::of(&whole.meaning()));
        Self { text, whole, translation, vector, named }
    }
}
