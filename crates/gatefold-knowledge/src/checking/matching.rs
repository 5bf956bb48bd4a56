//! Finding a quote in a text.

use std::ops::Range;

use memchr::memmem;

use super::characters::ends_at_words;
use super::normal::NormalText;
use super::texts::CitableText;

/// The most places of one text in which a quote is looked at, and from which a quote with omissions
/// is tried. Sentences that occur more often are headers and footers.
const MAX_HITS: usize = 64;

/// How far apart two parts of a quote with an omission may be, in bytes of the normal form. Parts
/// that are further apart may be put together to say anything.
const MAX_OMISSION: usize = 1000;

/// The most parts of a quote with omissions.
const MAX_PARTS: usize = 16;

/// A quote, made ready to be looked for.
pub(super) struct Needle<'answer> {
    quote: &'answer str,
    normal: String,
    /// What is between its omissions, where it has any.
    parts: Vec<String>,
}

/// Where a quote is in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) span: Range<usize>,
    pub(super) is_exact: bool,
}

impl<'answer> Needle<'answer> {
    /// `None` where the quote has no letter and no digit.
    pub(super) fn new(quote: &'answer str) -> Option<Self> {
        let quote = quote.trim();
        let whole = NormalText::of(quote).text;
        let normal = bare(&whole).to_owned();
        if !normal.contains(char::is_alphanumeric) {
            return None;
        }
        let parts: Vec<_> = whole.split("...").map(bare).filter(|part| !part.is_empty()).collect();
        // A word alone may be picked from anywhere.
        let is_omission = whole.contains("...") && parts.len() <= MAX_PARTS;
        let is_fair = parts.len() == 1 || parts.iter().all(|part| part.len() >= 5);
        let parts = if is_omission && is_fair { parts } else { Vec::new() };
        let parts = parts.into_iter().map(str::to_owned).collect();
        Some(Self { quote, normal, parts })
    }

    /// Its words, for a search.
    pub(super) fn words(&self) -> &str {
        &self.normal
    }

    /// Where it is within a part of a text: copies of its bytes, or else of its normal form.
    pub(super) fn hits(&self, source: &CitableText, within: Range<usize>) -> Vec<Hit> {
        let exact = self.exact_hits(&source.text, within.clone());
        if !exact.is_empty() {
            return exact;
        }
        let normal = source.normal();
        let part = normal.normal_span(within);
        let mut spans = find_all(&normal.text, part.clone(), &self.normal);
        if spans.is_empty() && !self.parts.is_empty() {
            spans = self.omission_spans(&normal.text, &part);
        }
        let to_hit = |span| Hit { span: normal.source_span(&source.text, span), is_exact: false };
        spans.into_iter().map(to_hit).collect()
    }

    fn exact_hits(&self, text: &str, within: Range<usize>) -> Vec<Hit> {
        let spans = find_all(text, within, self.quote);
        spans.into_iter().map(|span| Hit { span, is_exact: true }).collect()
    }

    /// Where its parts follow each other.
    fn omission_spans(&self, text: &str, within: &Range<usize>) -> Vec<Range<usize>> {
        let Some((first, others)) = self.parts.split_first() else { return Vec::new() };
        let chain = |start: Range<usize>| {
            let end = others.iter().try_fold(start.end, |end, part| {
                let limit = text.floor_char_boundary((end + MAX_OMISSION).min(within.end));
                find_all(text, end..limit.max(end), part).first().map(|span| span.end)
            })?;
            Some(start.start..end)
        };
        find_all(text, within.clone(), first).into_iter().filter_map(chain).collect()
    }
}

/// A part of a quote without the punctuation and the brackets at its edges, which belong to the
/// answer as often as to the source.
fn bare(part: &str) -> &str {
    part.trim_matches(|c: char| c.is_whitespace() || ",.;:()[]'".contains(c))
}

/// Where a part of a text has these words, as whole words.
fn find_all(text: &str, within: Range<usize>, words: &str) -> Vec<Range<usize>> {
    let Some(part) = text.get(within.clone()) else { return Vec::new() };
    let starts = memmem::find_iter(part.as_bytes(), words.as_bytes());
    starts
        .map(|at| within.start + at..within.start + at + words.len())
        .filter(|span| ends_at_words(text, span.start, span.end))
        .take(MAX_HITS)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Version;

    fn check(text: &str, quote: &str, expected: Option<(&str, bool)>) {
        let source = CitableText::new(
            "base".into(),
            "a.md".into(),
            Version::of(text),
            text.into(),
            Arc::default(),
        );
        let hits = Needle::new(quote).map_or(Vec::new(), |it| it.hits(&source, 0..text.len()));
        let found = hits.first().map(|hit| (&text[hit.span.clone()], hit.is_exact));
        assert_eq!(found, expected, "{quote}");
    }

    #[test]
    fn a_quote_is_found_as_it_is_or_in_normal_form() {
        let text =
            "It often days 1,300 times. We of\u{fb01}ce-\nhour it, and then we go. Fine 4.5 %.";
        for (quote, expected) in [
            ("and then we go", Some(("and then we go", true))),
            ("and then we go.", Some(("and then we go.", true))),
            ("and then we go,", Some(("and then we go", false))),
            ("We officehour it", Some(("We of\u{fb01}ce-\nhour it", false))),
            ("ten days", None),
            ("300 times", None),
            ("Fine 4", None),
            ("then we", Some(("then we", true))),
            ("hen we", None),
            (
                "We officehour [...] we go",
                Some(("We of\u{fb01}ce-\nhour it, and then we go", false)),
            ),
            ("\u{2026} and then \u{2026}", Some(("and then", false))),
            ("and then we go\u{2026}It often", None),
            ("\u{2026}", None),
        ] {
            check(text, quote, expected);
        }
    }

    #[test]
    fn parts_that_are_far_apart_are_not_one_quote() {
        let between = "and so on ".repeat(MAX_OMISSION / 5);
        check(&format!("We never pay. {between}We do this."), "We never ... do this", None);
    }
}
