//! Verdicts about quotes, in words.

use super::place::place_words;
use crate::{CheckedQuote, FoundQuote, Misattribution, Verdict};

/// What a check says of a quote: "exact, in `travel.pdf`, page 4: gatefold://...".
pub fn verdict_words(quote: &CheckedQuote) -> String {
    let at = quote.found.as_ref().map(found_words).unwrap_or_default();
    match quote.verdict {
        Verdict::Exact => format!("exact, {at}"),
        Verdict::Normalised => format!("the same but for its typography, {at}"),
        Verdict::Elsewhere(Misattribution::Page) => format!("wrong page: it is {at}"),
        Verdict::Elsewhere(Misattribution::Place) => {
            format!("not at the cited bytes but elsewhere in the document: it is {at}")
        }
        Verdict::Elsewhere(Misattribution::Document) => format!("wrong document: it is {at}"),
        Verdict::Nowhere => "in no document: do not present it as a quote".to_owned(),
        Verdict::Gone { present: Some(present) } => format!(
            "the cited version is gone; the document has version {present} now, read it again"
        ),
        Verdict::Gone { present: None } => "the cited version is gone".to_owned(),
        Verdict::Unquoted => "the citation exists, and no words are quoted from it".to_owned(),
    }
}

/// "in `travel.pdf`, page 4: gatefold://..."
fn found_words(found: &FoundQuote) -> String {
    let excerpt = found.text.text.get(found.span.clone()).unwrap_or_default();
    let place = found.place.map(|place| format!(", {}", place_words(place, excerpt)));
    format!("in `{}`{}: {}", found.text.document, place.unwrap_or_default(), found.citation())
}
