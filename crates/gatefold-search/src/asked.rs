//! A request as a search reads it, once for all that looks at it.

use std::borrow::Cow;

use crate::embedding::RequestVector;
use crate::lexicon::Translation;
use crate::query::Query;
use crate::sources::{MissingService, Sources};

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
    /// The services that it names and no source has.
    pub(crate) missing: Vec<MissingService>,
}

impl<'a> Asked<'a> {
    /// Reads a request, its meaning too if that counts. `knows` says whether a tool has a term, and
    /// `shows` whether a source counts.
    pub(crate) fn new(
        request: &'a str,
        has_meaning: bool,
        sources: &Sources,
        shows: &dyn Fn(u32) -> bool,
        knows: &dyn Fn(&str) -> bool,
    ) -> Self {
        let named = sources.named(request);
        let translation = Translation::of(request, knows);
        let translated = translation.as_ref().map(|one| one.text().to_owned());
        let text: Cow<'a, str> = translated.map_or(request.into(), Cow::Owned);
        let missing = sources.missing(&text, shows, knows);
        let whole = Query::translated(request, translation.as_ref()).with_services(&missing);
        let vector = has_meaning.then(|| RequestVector::of(&whole.meaning()));
        Self { text, whole, translation, vector, named, missing }
    }
}
