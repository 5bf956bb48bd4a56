//! Whether a quote is where its answer says.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use gatefold_documents::Place;

use super::matching::{Hit, Needle};
use super::pairing::QuoteClaim;
use super::texts::{CitableText, CitedText, CitedTexts};
use super::{CheckedQuote, FoundQuote, Misattribution, Verdict};
use crate::{Citation, Version};

/// How many texts that may have a quote are read.
const MAX_CANDIDATES: usize = 8;

/// The most words' bytes that are searched for.
const MAX_SEARCH: usize = 400;

/// The most texts that one answer may have looked at again without asking for them again.
const MAX_TEXTS: usize = 16;

pub(super) struct Judge<'texts> {
    texts: &'texts dyn CitedTexts,
    /// What was read last, so that its normal form is made once.
    read: Vec<Arc<CitableText>>,
}

/// What one source says of a quote.
struct Judgment {
    verdict: Verdict,
    found: Option<FoundQuote>,
}

impl<'texts> Judge<'texts> {
    pub(super) fn new(texts: &'texts dyn CitedTexts) -> Self {
        Self { texts, read: Vec::new() }
    }

    pub(super) fn check(&mut self, claim: QuoteClaim) -> CheckedQuote {
        let QuoteClaim { span, quote, citations, pages } = claim;
        let (citation, judgment) = match Needle::new(&quote) {
            None => {
                let citation = citations.into_iter().next();
                let judgment = citation.as_ref().map_or_else(nowhere, |it| self.resolve(it));
                (citation, judgment)
            }
            Some(needle) => self.judge(&needle, citations, pages.as_ref()),
        };
        let Judgment { verdict, found } = judgment;
        CheckedQuote { span, quote, citation, pages, verdict, found }
    }

    /// What a citation that stands alone cites.
    fn resolve(&mut self, citation: &Citation) -> Judgment {
        match self.text(citation) {
            CitedText::Present(text) => match cited_span(&text, citation) {
                Some(span) => {
                    Judgment { verdict: Verdict::Unquoted, found: Some(found(&text, span)) }
                }
                None => nowhere(),
            },
            CitedText::Gone { present } => gone(present, None),
            CitedText::Unknown => nowhere(),
        }
    }

    /// The best that any of the citations says, and which.
    fn judge(
        &mut self,
        needle: &Needle<'_>,
        citations: Vec<Citation>,
        pages: Option<&RangeInclusive<u32>>,
    ) -> (Option<Citation>, Judgment) {
        let mut first = None;
        for citation in citations {
            let judgment = self.judge_cited(needle, &citation, pages);
            if judgment.verdict.is_sound() {
                return (Some(citation), judgment);
            }
            first = first.or(Some((citation, judgment)));
        }
        match first {
            Some((citation, judgment)) => (Some(citation), judgment),
            None => (None, self.judge_alone(needle, pages)),
        }
    }

    fn judge_cited(
        &mut self,
        needle: &Needle<'_>,
        citation: &Citation,
        pages: Option<&RangeInclusive<u32>>,
    ) -> Judgment {
        let text = match self.text(citation) {
            CitedText::Present(text) => text,
            CitedText::Gone { present } => {
                let hit = self.search(needle, None);
                return gone(present, hit.map(|(text, hit)| found(&text, hit.span)));
            }
            CitedText::Unknown => return self.judge_elsewhere(needle, None),
        };
        let hits = cited_span(&text, citation).map(|span| needle.hits(&text, span));
        if let Some(judgment) = judge_hits(&text, &hits.unwrap_or_default(), pages) {
            return judgment;
        }
        if let Some(hit) = needle.hits(&text, 0..text.text.len()).into_iter().next() {
            let verdict = Verdict::Elsewhere(Misattribution::Place);
            return Judgment { verdict, found: Some(found(&text, hit.span)) };
        }
        self.judge_elsewhere(needle, Some(&text))
    }

    /// Of a quote that the text it is ascribed to does not have.
    fn judge_elsewhere(&mut self, needle: &Needle<'_>, cited: Option<&CitableText>) -> Judgment {
        let Some((text, hit)) = self.search(needle, cited) else { return nowhere() };
        let is_other_version =
            cited.is_some_and(|it| it.domain == text.domain && it.document == text.document);
        let misattribution =
            if is_other_version { Misattribution::Place } else { Misattribution::Document };
        let verdict = Verdict::Elsewhere(misattribution);
        Judgment { verdict, found: Some(found(&text, hit.span)) }
    }

    /// Of a quote that nothing is cited for: any text may have it.
    fn judge_alone(
        &mut self,
        needle: &Needle<'_>,
        pages: Option<&RangeInclusive<u32>>,
    ) -> Judgment {
        let mut first = None;
        for text in self.candidates(needle) {
            let hits = needle.hits(&text, 0..text.text.len());
            let Some(judgment) = judge_hits(&text, &hits, pages) else { continue };
            if judgment.verdict == Verdict::Exact {
                return judgment;
            }
            if first.as_ref().is_none_or(|it: &Judgment| !it.verdict.is_sound()) {
                first = Some(judgment);
            }
        }
        first.unwrap_or_else(nowhere)
    }

    /// The first text but this one that has the quote.
    fn search(
        &mut self,
        needle: &Needle<'_>,
        except: Option<&CitableText>,
    ) -> Option<(Arc<CitableText>, Hit)> {
        self.candidates(needle).into_iter().find_map(|text| {
            if except.is_some_and(|except| is_same(except, &text)) {
                return None;
            }
            let hit = needle.hits(&text, 0..text.text.len()).into_iter().next()?;
            Some((text, hit))
        })
    }

    fn candidates(&mut self, needle: &Needle<'_>) -> Vec<Arc<CitableText>> {
        let words = needle.words();
        let words = &words[..words.floor_char_boundary(MAX_SEARCH)];
        let found = self.texts.find(words);
        found.into_iter().take(MAX_CANDIDATES).map(|text| self.remember(text)).collect()
    }

    fn text(&mut self, citation: &Citation) -> CitedText {
        let known = self.read.iter().find(|text| {
            *text.domain == *citation.domain
                && *text.document == *citation.document
                && text.version == citation.version
        });
        if let Some(text) = known {
            return CitedText::Present(Arc::clone(text));
        }
        match self.texts.text(citation) {
            CitedText::Present(text) => CitedText::Present(self.remember(text)),
            absent => absent,
        }
    }

    /// The same text as it was read before, if it was.
    fn remember(&mut self, text: Arc<CitableText>) -> Arc<CitableText> {
        if let Some(known) = self.read.iter().find(|known| is_same(known, &text)) {
            return Arc::clone(known);
        }
        if self.read.len() == MAX_TEXTS {
            self.read.remove(0);
        }
        self.read.push(Arc::clone(&text));
        text
    }
}

fn is_same(one: &CitableText, other: &CitableText) -> bool {
    one.domain == other.domain && one.document == other.document && one.version == other.version
}

fn nowhere() -> Judgment {
    Judgment { verdict: Verdict::Nowhere, found: None }
}

fn gone(present: Option<Version>, found: Option<FoundQuote>) -> Judgment {
    Judgment { verdict: Verdict::Gone { present }, found }
}

/// The bytes that a citation is of, if the text has them.
fn cited_span(text: &CitableText, citation: &Citation) -> Option<Range<usize>> {
    if citation.span == Citation::WHOLE {
        return Some(0..text.text.len());
    }
    text.text.get(citation.span.clone()).map(|_| citation.span.clone())
}

fn found(text: &Arc<CitableText>, span: Range<usize>) -> FoundQuote {
    let after = text.places.partition_point(|(start, _)| *start <= span.start);
    let place: Option<Place> = after.checked_sub(1).map(|index| text.places[index].1);
    FoundQuote { text: Arc::clone(text), span, place }
}

/// Of a quote that is in the right text: whether one of its places is on a page that the answer gives.
fn judge_hits(
    text: &Arc<CitableText>,
    hits: &[Hit],
    pages: Option<&RangeInclusive<u32>>,
) -> Option<Judgment> {
    let is_on_page = |hit: &&Hit| {
        let Some(pages) = pages else { return true };
        let last = text.page(hit.span.end.saturating_sub(1));
        match text.page(hit.span.start).zip(last) {
            Some((first, last)) => first <= *pages.end() && *pages.start() <= last,
            None => true,
        }
    };
    let first = hits.first()?;
    let right = hits.iter().find(is_on_page);
    let verdict = match right {
        Some(hit) if hit.is_exact => Verdict::Exact,
        Some(_) => Verdict::Normalised,
        None => Verdict::Elsewhere(Misattribution::Page),
    };
    let span = right.unwrap_or(first).span.clone();
    Some(Judgment { verdict, found: Some(found(text, span)) })
}
