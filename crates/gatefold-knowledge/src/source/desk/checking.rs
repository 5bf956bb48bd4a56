//! Checking the quotes of an answer.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use gatefold_catalog::{marked, one_line};
use serde::Serialize;

use super::super::arguments::CheckArguments;
use super::super::place::place_words;
use super::super::shown::answer;
use super::{Desk, DeskError, DeskResult};
use crate::{
    CheckedAnswer, CheckedQuote, CitableText, Citation, CitedText, CitedTexts, FoundQuote,
    KnowledgeError, MAX_ANSWER, Misattribution, Query, Verdict, Version, check_citations,
};

/// How many documents are looked at for a quote that is not where the answer says.
const CANDIDATES: usize = 5;

/// How many texts are kept while one answer is checked.
const TEXTS: usize = 32;

/// How much of a quote is repeated, in characters.
const QUOTED: usize = 100;

#[derive(Serialize)]
struct ShownCheck {
    /// Whether every quote may stand as it is.
    sound: bool,
    quotes: Vec<ShownVerdict>,
    #[serde(skip_serializing_if = "is_zero")]
    unchecked: usize,
    #[serde(skip_serializing_if = "is_zero")]
    unread_bytes: usize,
}

#[derive(Serialize)]
struct ShownVerdict {
    quote: String,
    verdict: &'static str,
    /// The verdict in words.
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    citation: Option<String>,
    /// The citation of what was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The texts of a base that one caller may see.
struct DeskTexts<'d> {
    desk: &'d Desk,
    /// At most [`TEXTS`]. They keep their normal forms, which take longest.
    texts: RefCell<HashMap<(String, Version), Arc<CitableText>>>,
}

impl Desk {
    /// The answer of `check_citations`.
    pub(in super::super) fn check(&self, arguments: &CheckArguments) -> DeskResult {
        if arguments.text.trim().is_empty() {
            let message = "'text' is blank; give the answer whose quotes are to be checked";
            return Err(DeskError::Arguments(message.to_owned()));
        }
        let texts = DeskTexts { desk: self, texts: RefCell::default() };
        let CheckedAnswer { quotes, unread, unchecked } = check_citations(&arguments.text, &texts);
        let is_sound = quotes.iter().all(|quote| quote.verdict.is_sound());
        let quotes: Vec<_> = quotes.iter().map(shown_verdict).collect();
        let mut text = match quotes.len() {
            0 => "There are no quotes or citations to check.".to_owned(),
            1 => "One quote or citation was checked".to_owned(),
            count => format!("{count} quotes and citations were checked"),
        };
        if !quotes.is_empty() {
            let rest = if is_sound {
                ": all are sound."
            } else {
                ". Mend or remove those that are not sound."
            };
            text.push_str(rest);
        }
        for quote in &quotes {
            let said = one_line(&quote.quote, QUOTED);
            let start = if said.is_empty() {
                quote.citation.clone().unwrap_or_default()
            } else {
                format!("\"{said}\"")
            };
            let _ = write!(text, "\n- {start}: {}", quote.says);
        }
        if unchecked > 0 {
            let _ = write!(text, "\n{unchecked} more were not checked: check the answer in parts.");
        }
        if unread > 0 {
            let limit = MAX_ANSWER / 1024;
            let _ =
                write!(text, "\nOnly the first {limit} KiB were read: check the answer in parts.");
        }
        let sound = is_sound && unchecked == 0 && unread == 0;
        Ok(answer(&text, &ShownCheck { sound, quotes, unchecked, unread_bytes: unread }))
    }

    fn citable(&self, name: &str, version: Version) -> Result<CitableText, KnowledgeError> {
        let document = self.base.document(name, version)?;
        Ok(CitableText::new(
            self.domain.as_str().into(),
            name.into(),
            version,
            document.text.into(),
            document.places.into(),
        ))
    }
}

impl DeskTexts<'_> {
    fn get(&self, name: &str, version: Version) -> Result<Arc<CitableText>, KnowledgeError> {
        let key = (name.to_owned(), version);
        if let Some(text) = self.texts.borrow().get(&key) {
            return Ok(Arc::clone(text));
        }
        let text = Arc::new(self.desk.citable(name, version)?);
        let mut texts = self.texts.borrow_mut();
        if texts.len() >= TEXTS {
            texts.clear();
        }
        texts.insert(key, Arc::clone(&text));
        Ok(text)
    }
}

impl CitedTexts for DeskTexts<'_> {
    fn text(&self, citation: &Citation) -> CitedText {
        let Citation { domain, document, version, .. } = citation;
        let is_own = *domain == self.desk.domain.as_str();
        if !is_own || !self.desk.access.sees(document, Some(*version)) {
            return CitedText::Unknown;
        }
        match self.get(document, *version) {
            Ok(text) => CitedText::Present(text),
            Err(KnowledgeError::Missing { present: Some(present), .. }) => {
                CitedText::Gone { present: Some(present) }
            }
            Err(KnowledgeError::Missing { .. }) => CitedText::Unknown,
            Err(error) => {
                tracing::warn!(%error, "a cited text could not be read");
                CitedText::Unknown
            }
        }
    }

    fn find(&self, words: &str) -> Vec<Arc<CitableText>> {
        let query = Query { text: words, top: CANDIDATES, per_document: 1 };
        let found = match self.desk.base.search(&query) {
            Ok(found) => found.passages,
            Err(error) => {
                tracing::warn!(%error, "a quote could not be looked for");
                return Vec::new();
            }
        };
        let seen =
            found.iter().filter(|own| self.desk.access.sees(&own.document, Some(own.version)));
        seen.filter_map(|own| self.get(&own.document, own.version).ok()).collect()
    }
}

fn shown_verdict(quote: &CheckedQuote) -> ShownVerdict {
    ShownVerdict {
        quote: marked(&quote.quote).into_owned(),
        verdict: quote.verdict.as_str(),
        says: verdict_words(quote),
        citation: quote.citation.as_ref().map(ToString::to_string),
        found: quote.found.as_ref().map(|found| found.citation().to_string()),
    }
}

fn verdict_words(quote: &CheckedQuote) -> String {
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
