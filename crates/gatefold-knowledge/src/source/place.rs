//! Places in documents, as people and models say them.

use std::ops::Range;

use gatefold_documents::{BlockKind, Document, Place};

/// The most headings that are named where a place is unknown.
const NAMED_HEADINGS: usize = 20;

/// "page 4", "lines 10-14", "sheet 2, B3": the place of a part of a text that begins there.
pub fn place_words(place: Place, part: &str) -> String {
    match place {
        Place::Page(number) => format!("page {number}"),
        Place::Slide(number) => format!("slide {number}"),
        Place::Cell { sheet, row, column } => {
            format!("sheet {sheet}, {}{row}", column_letters(column))
        }
        Place::Line(first) => match line_breaks(part.trim_end()) {
            0 => format!("line {first}"),
            more => format!("lines {first}-{}", first.saturating_add(more)),
        },
        Place::MessagePart(number) => format!("part {number}"),
    }
}

fn line_breaks(text: &str) -> u32 {
    let count = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The letters of a column, `A` for the first.
fn column_letters(column: u32) -> String {
    let (mut rest, mut letters) = (column, Vec::new());
    while let Some(digit) = rest.checked_sub(1) {
        letters.push(char::from(b'A' + u8::try_from(digit % 26).unwrap_or_default()));
        rest = digit / 26;
    }
    letters.iter().rev().collect()
}

/// A place that somebody asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WantedPlace {
    Page(u32),
    Slide(u32),
    Sheet(u32),
    Part(u32),
    Lines { first: u32, last: u32 },
    Heading(String),
}

impl WantedPlace {
    /// Reads a place as [`place_words`] says it, or as people do. What is nothing else is a heading.
    pub(super) fn parse(text: &str) -> Self {
        let lower = text.trim().to_lowercase();
        let split = lower.find(|c: char| c.is_ascii_digit()).unwrap_or(lower.len());
        let (word, numbers) = lower.split_at(split);
        let mut digits =
            numbers.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        let first = digits.next().and_then(|digits| digits.parse().ok());
        let word = word.trim().trim_end_matches('.');
        match (word, first) {
            ("page" | "pages" | "p" | "pp" | "", Some(number)) => Self::Page(number),
            ("slide" | "slides", Some(number)) => Self::Slide(number),
            ("sheet" | "sheets", Some(number)) => Self::Sheet(number),
            ("part" | "message part", Some(number)) => Self::Part(number),
            ("line" | "lines" | "l", Some(first)) => {
                let last = digits.next().and_then(|digits| digits.parse().ok()).unwrap_or(first);
                Self::Lines { first, last: last.max(first) }
            }
            _ => Self::Heading(text.trim().to_owned()),
        }
    }

    /// Where it is in a document, in bytes.
    pub(super) fn span(&self, document: &Document) -> Option<Range<usize>> {
        let is_it = |place: &Place| match (self, place) {
            (Self::Page(wanted), Place::Page(number))
            | (Self::Slide(wanted), Place::Slide(number))
            | (Self::Part(wanted), Place::MessagePart(number))
            | (Self::Sheet(wanted), Place::Cell { sheet: number, .. }) => wanted == number,
            _ => false,
        };
        match self {
            Self::Lines { first, last } => lines(document, *first, *last),
            Self::Heading(words) => section(document, words),
            _ => {
                let places = &document.places;
                let at = places.iter().position(|(_, place)| is_it(place))?;
                let after = places[at..].iter().find(|(_, place)| !is_it(place));
                let end = after.map_or(document.text.len(), |(start, _)| *start);
                Some(places[at].0..end)
            }
        }
    }
}

fn lines(document: &Document, first: u32, last: u32) -> Option<Range<usize>> {
    let breaks = document.text.match_indices('\n').map(|(at, _)| at + 1);
    let starts: Vec<_> = std::iter::once(0).chain(breaks).collect();
    // A place is looked for, not counted: a table of a CSV has a line of its own here and there.
    let number = |at: usize| match document.place(at) {
        Some(Place::Line(line)) => Some(line),
        _ => None,
    };
    number(0)?;
    let before =
        |limit: u32| starts.partition_point(|at| number(*at).is_none_or(|line| line < limit));
    let start = *starts.get(before(first))?;
    let end = starts.get(before(last.saturating_add(1))).copied();
    Some(start..end.unwrap_or(document.text.len()))
}

/// The part of a document under a heading: the one of these words, or else the first that has them.
fn section(document: &Document, words: &str) -> Option<Range<usize>> {
    let wanted = words.trim_start_matches('#').trim().to_lowercase();
    if wanted.is_empty() {
        return None;
    }
    let headings = || {
        document.blocks.iter().filter_map(|block| match block.kind {
            BlockKind::Heading(level) => {
                let own = document.heading_path(block.span.start).pop()?.to_lowercase();
                Some((block.span.start, level, own))
            }
            _ => None,
        })
    };
    let same = headings().find(|(_, _, own)| *own == wanted);
    let (start, level, _) =
        same.or_else(|| headings().find(|(_, _, own)| own.contains(&wanted)))?;
    let next = headings().find(|(at, other, _)| *at > start && *other <= level);
    Some(start..next.map_or(document.text.len(), |(at, _, _)| at))
}

/// What places a document has: "pages 1 to 12", or its headings.
pub(super) fn available_places(document: &Document) -> String {
    let numbered = |name: &str, number: fn(&Place) -> Option<u32>| {
        let numbers: Vec<_> =
            document.places.iter().filter_map(|(_, place)| number(place)).collect();
        let (first, last) = numbers.iter().min().zip(numbers.iter().max())?;
        Some(format!("{name} {first} to {last}"))
    };
    let paged = numbered("pages", |place| match place {
        Place::Page(number) => Some(*number),
        _ => None,
    });
    let paged = paged.or_else(|| {
        numbered("slides", |place| match place {
            Place::Slide(number) => Some(*number),
            _ => None,
        })
    });
    let paged = paged.or_else(|| {
        numbered("sheets", |place| match place {
            Place::Cell { sheet, .. } => Some(*sheet),
            _ => None,
        })
    });
    if let Some(paged) = paged {
        return paged;
    }
    let is_heading = |kind: BlockKind| matches!(kind, BlockKind::Heading(_));
    let headings = document.blocks.iter().filter(|block| is_heading(block.kind));
    let paths = headings.take(NAMED_HEADINGS).map(|block| document.heading_path(block.span.start));
    let named: Vec<_> =
        paths.filter_map(|mut path| path.pop().map(|own| format!("'{own}'"))).collect();
    if named.is_empty() { "no pages or headings".to_owned() } else { named.join(", ") }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use gatefold_documents::{Hints, read_document};

    use super::*;

    fn read(name: &str, text: &str) -> Document {
        let hints = Hints { name: Some(name), ..Hints::default() };
        let until = Instant::now() + Duration::from_mins(1);
        read_document(text.as_bytes(), &hints, until).unwrap()
    }

    #[test]
    fn places_are_said_as_people_find_them() {
        for (place, part, expected) in [
            (Place::Page(4), "a\nb", "page 4"),
            (Place::Cell { sheet: 2, row: 3, column: 28 }, "", "sheet 2, AB3"),
            (Place::Cell { sheet: 1, row: 1, column: 26 }, "", "sheet 1, Z1"),
            (Place::Line(10), "a\nb\nc\n", "lines 10-12"),
            (Place::Line(10), "a", "line 10"),
        ] {
            assert_eq!(place_words(place, part), expected);
        }
    }

    #[test]
    fn a_place_is_read_as_it_is_said() {
        for (text, expected) in [
            ("page 4", WantedPlace::Page(4)),
            ("p. 4", WantedPlace::Page(4)),
            ("4", WantedPlace::Page(4)),
            ("Slide 2", WantedPlace::Slide(2)),
            ("lines 10-14", WantedPlace::Lines { first: 10, last: 14 }),
            ("line 3", WantedPlace::Lines { first: 3, last: 3 }),
            ("sheet 2, B3", WantedPlace::Sheet(2)),
            ("Step 2", WantedPlace::Heading("Step 2".to_owned())),
            ("Hotels", WantedPlace::Heading("Hotels".to_owned())),
        ] {
            assert_eq!(WantedPlace::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn a_place_is_found_where_it_is() {
        let text = "# Travel\n\nAll.\n\n## Hotels\n\nAt most 140 euros.\n\n### Late\n\nCall.\n\n## Trains\n\nSecond class.";
        let document = read("a.md", text);
        for (place, expected) in [
            ("hotels", Some("## Hotels\n\nAt most 140 euros.\n\n### Late\n\nCall.\n\n")),
            ("lines 7-8", Some("At most 140 euros.\n\n")),
            ("line 15", Some("Second class.")),
            ("page 2", None),
            ("Planes", None),
        ] {
            let span = WantedPlace::parse(place).span(&document);
            assert_eq!(span.map(|span| &document.text[span]), expected, "{place}");
        }
        assert_eq!(available_places(&document), "'Travel', 'Hotels', 'Late', 'Trains'");
    }
}
