//! Citations in an answer, and the pages that it names.

use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

use regex::Regex;
use rustc_hash::FxHashMap;

use super::regions::Region;
use crate::Citation;

/// The most citations that are read in one answer.
pub(super) const MAX_MARKS: usize = 1000;

/// A citation where it stands in an answer: its address, or a reference such as `[^1]` to one.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) span: Range<usize>,
    pub(super) citation: Citation,
    /// The footnote with the address, for a reference.
    pub(super) note: Option<Range<usize>>,
}

/// The citations of an answer in the order in which they stand there. Of a footnote that something
/// refers to, the references are the citations.
pub(super) fn marks(answer: &str, regions: &[Region]) -> Vec<Mark> {
    let mut marks = addresses(answer);
    let notes = notes(answer, regions, &marks);
    let references = references(answer, &notes, &marks);
    let is_note_of_reference = |mark: &Mark| {
        let mut referred = references.iter().filter_map(|it| it.note.as_ref());
        referred.any(|note| note.contains(&mark.span.start))
    };
    marks.retain(|mark| !is_note_of_reference(mark));
    marks.extend(references);
    marks.sort_by_key(|mark| mark.span.start);
    marks.truncate(MAX_MARKS);
    marks
}

fn addresses(answer: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut read_to = 0;
    for (colon, _) in answer.match_indices("://") {
        let start = colon.saturating_sub("gatefold".len());
        if start < read_to || !answer.is_char_boundary(start) || marks.len() == MAX_MARKS {
            continue;
        }
        if let Some((citation, length)) = Citation::parse_start(&answer[start..]) {
            read_to = start + length;
            marks.push(Mark { span: start..read_to, citation, note: None });
        }
    }
    marks
}

/// How a footnote, or an entry of a list of sources, begins.
static NOTE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*(?:\[\^?([\w-]{1,32})\]:?\s|(\d{1,3})[.)]\s)"));

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[\^?([\w-]{1,32})\]"));

/// Pages as answers name them, in some languages.
static PAGES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:pages?|pp?\.?|seiten?|(?-i:S\.)|páginas?|págs?\.|slides?|folien?)\s*(\d{1,6})(?:\s*[-\u2013]\s*(\d{1,6}))?\b",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

/// Footnotes by their labels, each with its region and its citation.
fn notes<'answer>(
    answer: &'answer str,
    regions: &[Region],
    addresses: &[Mark],
) -> FxHashMap<&'answer str, (Range<usize>, Citation)> {
    let mut notes = FxHashMap::default();
    for region in regions.iter().filter(|region| !region.is_block_quote) {
        let first = addresses.partition_point(|mark| mark.span.start < region.span.start);
        let Some(address) = addresses.get(first).filter(|it| it.span.start < region.span.end)
        else {
            continue;
        };
        let Some(label) = NOTE.captures(&answer[region.span.clone()]) else { continue };
        if let Some(label) = label.get(1).or_else(|| label.get(2)) {
            let note = (region.span.clone(), address.citation.clone());
            notes.entry(label.as_str()).or_insert(note);
        }
    }
    notes
}

fn references(
    answer: &str,
    notes: &FxHashMap<&str, (Range<usize>, Citation)>,
    addresses: &[Mark],
) -> Vec<Mark> {
    if notes.is_empty() {
        return Vec::new();
    }
    let is_in_address = |at: usize| {
        let after = addresses.partition_point(|mark| mark.span.start <= at);
        after.checked_sub(1).is_some_and(|index| addresses[index].span.contains(&at))
    };
    let references = REFERENCE.captures_iter(answer).filter_map(|captures| {
        let (whole, label) = (captures.get(0)?, captures.get(1)?);
        let (note, citation) = notes.get(label.as_str())?;
        let is_reference = !note.contains(&whole.start()) && !is_in_address(whole.start());
        is_reference.then(|| Mark {
            span: whole.range(),
            citation: citation.clone(),
            note: Some(note.clone()),
        })
    });
    references.take(MAX_MARKS).collect()
}

/// The pages that a part of an answer names: the first, outside of addresses.
pub(super) fn named_pages(
    answer: &str,
    part: Range<usize>,
    marks: &[Mark],
) -> Option<RangeInclusive<u32>> {
    let text = answer.get(part.clone())?;
    PAGES.captures_iter(text).find_map(|captures| {
        let whole = captures.get(0)?;
        let at = part.start + whole.start();
        let after = marks.partition_point(|mark| mark.span.start <= at);
        let before = after.checked_sub(1).and_then(|index| marks.get(index));
        if before.is_some_and(|mark| mark.span.contains(&at)) {
            return None;
        }
        let first: u32 = captures.get(1)?.as_str().parse().ok()?;
        let last = captures.get(2).and_then(|last| last.as_str().parse().ok());
        Some(first..=last.filter(|last| *last >= first).unwrap_or(first))
    })
}

#[cfg(test)]
mod tests {
    use super::super::regions::regions;
    use super::*;

    fn check(answer: &str, expected: &[(&str, &str)]) {
        let regions = regions(answer);
        let found = marks(answer, &regions);
        let found: Vec<_> = found
            .iter()
            .map(|mark| (&answer[mark.span.clone()], mark.citation.document.as_str()))
            .collect();
        assert_eq!(found, expected, "{answer}");
    }

    #[test]
    fn addresses_and_references_to_them_are_citations() {
        let a = "gatefold://d/kb/a.md@0123456789ab#0-9";
        check(&format!("x [{a}], <{a}>."), &[(a, "a.md"), (a, "a.md")]);
        check(&format!("x[^1] y[^2]\n\n[^1]: A {a}\n[^2]: none"), &[("[^1]", "a.md")]);
        check(&format!("x [1].\n\nSources:\n1. A, {a}\n2. {a}"), &[("[1]", "a.md"), (a, "a.md")]);
        check("gatefold://d/kb/a.md http://example.org [1]", &[]);
    }

    #[test]
    fn pages_are_named_in_some_languages() {
        for (text, expected) in [
            ("(p. 4)", Some(4..=4)),
            ("pp. 4\u{2013}6", Some(4..=6)),
            ("auf Seite 12.", Some(12..=12)),
            ("Page 3 of it", Some(3..=3)),
            ("step 4, 5 p", None),
            ("it\u{2019}s. 4 of them", None),
            ("p. 4th", None),
        ] {
            assert_eq!(named_pages(text, 0..text.len(), &[]), expected, "{text}");
        }
    }
}
