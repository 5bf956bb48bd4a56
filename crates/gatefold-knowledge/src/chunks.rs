//! A document in chunks of about 200 tokens, which end where its blocks do.

use std::ops::Range;

use gatefold_documents::{Block, BlockKind, Document, Place};

use crate::limits::{CHUNK, HEADING, PATH_HEADING, PATH_HEADINGS, TABLE_HEAD};
use crate::sentences::marker_length;

/// A part of a document that is found as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// In the document's text, without blanks at its ends.
    pub(crate) span: Range<usize>,
    /// The head of the table that the chunk goes on with.
    pub(crate) head: Option<Range<usize>>,
    /// The headings that it is under, the highest first.
    pub(crate) headings: Vec<String>,
    pub(crate) place: Option<Place>,
}

/// The chunks of a sound document, in order. They cover all of its text but blanks, and none overlaps another.
pub(crate) fn chunks(document: &Document) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut places = PlaceCursor::new(document);
    let mut open: Option<OpenChunk> = None;
    for piece in pieces(document) {
        match &mut open {
            Some(chunk) if chunk.takes(&piece) => chunk.add(&piece),
            _ => {
                chunks.extend(open.take().map(|chunk| chunk.close(document, &mut places)));
                open = Some(OpenChunk::new(&piece));
            }
        }
    }
    chunks.extend(open.map(|chunk| chunk.close(document, &mut places)));
    chunks
}

/// Whether a document's parts are in its text and in order, and its headings above what is under them.
/// A document comes from another process, which read bytes of somebody who may mean harm.
pub(crate) fn is_sound(document: &Document) -> bool {
    let is_in_text = |span: &Range<usize>| document.text.get(span.clone()).is_some();
    let mut end = 0;
    let mut is_block_sound = |(index, block): (usize, &Block)| {
        let is_in_order = block.span.start >= end && is_in_text(&block.span);
        end = block.span.end;
        let is_above = |heading: u32| {
            let above = document.blocks.get(heading as usize);
            let is_heading = |block: &Block| matches!(block.kind, BlockKind::Heading(_));
            (heading as usize) < index && above.is_some_and(is_heading)
        };
        is_in_order && block.heading.is_none_or(is_above)
    };
    document.blocks.iter().enumerate().all(&mut is_block_sound)
        && document.places.is_sorted_by_key(|(start, _)| *start)
        && document.hidden.iter().all(is_in_text)
}

/// A block, or a part of one that is too long.
#[derive(Debug)]
struct Piece {
    span: Range<usize>,
    is_heading: bool,
    head: Option<Range<usize>>,
    /// Which page or slide it is on, by its number among the document's places.
    page: usize,
}

struct OpenChunk {
    span: Range<usize>,
    head: Option<Range<usize>>,
    page: usize,
    has_only_headings: bool,
}

impl OpenChunk {
    fn new(piece: &Piece) -> Self {
        Self {
            span: piece.span.clone(),
            head: piece.head.clone(),
            page: piece.page,
            has_only_headings: piece.is_heading,
        }
    }

    fn takes(&self, piece: &Piece) -> bool {
        if piece.page != self.page || piece.head.is_some() {
            return false;
        }
        let (length, total) = (self.span.len(), piece.span.end - self.span.start);
        if self.has_only_headings {
            // A heading alone finds its words and shows nothing.
            return length <= HEADING && total <= CHUNK + HEADING;
        }
        let is_crumb = piece.span.len() < CHUNK / 4;
        !piece.is_heading && (total <= CHUNK || is_crumb && total <= CHUNK + CHUNK / 4)
    }

    fn add(&mut self, piece: &Piece) {
        self.span.end = piece.span.end;
        self.has_only_headings &= piece.is_heading;
    }

    fn close(self, document: &Document, places: &mut PlaceCursor<'_>) -> Chunk {
        let path = document.heading_path(self.span.start);
        let cut = |heading: &&str| heading[..heading.floor_char_boundary(PATH_HEADING)].to_owned();
        // The nearest headings say most.
        let nearest = &path[path.len().saturating_sub(PATH_HEADINGS)..];
        Chunk {
            headings: nearest.iter().map(cut).collect(),
            place: places.place(self.span.start),
            span: self.span,
            head: self.head,
        }
    }
}

/// Places of a document one after the other. Lines are counted once, where [`Document::place`] counts
/// them from the last place each time.
struct PlaceCursor<'d> {
    document: &'d Document,
    next: usize,
    counted: usize,
    lines: u32,
}

impl<'d> PlaceCursor<'d> {
    fn new(document: &'d Document) -> Self {
        Self { document, next: 0, counted: 0, lines: 0 }
    }

    /// The place of a byte after the ones that were asked for.
    fn place(&mut self, at: usize) -> Option<Place> {
        let places = &self.document.places;
        while let Some((start, _)) = places.get(self.next).filter(|(start, _)| *start <= at) {
            (self.counted, self.lines) = (*start, 0);
            self.next += 1;
        }
        let (_, place) = *places.get(self.next.checked_sub(1)?)?;
        match place {
            Place::Line(line) if self.document.format.has_lines() => {
                let passed = self.document.text.get(self.counted..at)?;
                let lines = passed.bytes().filter(|byte| *byte == b'\n').count();
                self.lines = self.lines.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
                self.counted = at;
                Some(Place::Line(line.saturating_add(self.lines)))
            }
            place => Some(place),
        }
    }
}

fn pieces(document: &Document) -> Vec<Piece> {
    let text = &document.text[..];
    let mut pieces = Vec::new();
    let mut pages = Pages::new(document);
    let mut from = 0;
    for block in &document.blocks {
        pages.part(from..block.span.start, &mut |span, page| {
            add_pieces(text, span, page, BlockKind::Paragraph, &mut pieces);
        });
        pages.part(block.span.clone(), &mut |span, page| {
            add_pieces(text, span, page, block.kind, &mut pieces);
        });
        from = block.span.end;
    }
    pages.part(from..text.len(), &mut |span, page| {
        add_pieces(text, span, page, BlockKind::Paragraph, &mut pieces);
    });
    pieces
}

/// Where pages and slides begin. A chunk that is on one page can be cited with it.
struct Pages {
    starts: Vec<usize>,
    passed: usize,
}

impl Pages {
    fn new(document: &Document) -> Self {
        let is_page = |place: &Place| matches!(place, Place::Page(_) | Place::Slide(_));
        let pages = document.places.iter().filter(|(_, place)| is_page(place));
        let starts = pages.map(|(start, _)| *start);
        Self {
            starts: starts.filter(|at| document.text.is_char_boundary(*at)).collect(),
            passed: 0,
        }
    }

    /// Parts a span at pages. Spans come in order.
    fn part(&mut self, span: Range<usize>, hand: &mut dyn FnMut(Range<usize>, usize)) {
        let mut start = span.start;
        while let Some(page) = self.starts.get(self.passed).filter(|page| **page < span.end) {
            if *page > start {
                hand(start..*page, self.passed);
                start = *page;
            }
            self.passed += 1;
        }
        if start < span.end {
            hand(start..span.end, self.passed);
        }
    }
}

fn add_pieces(
    text: &str,
    span: Range<usize>,
    page: usize,
    kind: BlockKind,
    pieces: &mut Vec<Piece>,
) {
    let Some(span) = trimmed(text, span) else { return };
    let is_heading = matches!(kind, BlockKind::Heading(_));
    if span.len() <= CHUNK {
        pieces.push(Piece { span, is_heading, head: None, page });
        return;
    }
    let head = if kind == BlockKind::Table { table_head(text, &span) } else { None };
    let target = CHUNK - head.as_ref().map_or(0, ExactSizeIterator::len);
    let mut from = span.start;
    while let Some(rest) = trimmed(text, from..span.end) {
        let end = cut_end(text, &rest, target, kind);
        let head = head.clone().filter(|head| rest.start >= head.end);
        // The rest begins with a character that is not blank, and `end` is after it.
        pieces.extend(trimmed(text, rest.start..end).map(|span| Piece {
            span,
            is_heading,
            head,
            page,
        }));
        from = end;
    }
}

/// Where a part that begins at the start of `rest` ends: such that parts are about as long as one
/// another, each at most `target`.
fn cut_end(text: &str, rest: &Range<usize>, target: usize, kind: BlockKind) -> usize {
    if rest.len() <= target {
        return rest.end;
    }
    let parts = rest.len().div_ceil(target);
    let goal = rest.len().div_ceil(parts);
    let latest = text.floor_char_boundary(rest.start + target);
    let earliest = text.floor_char_boundary(rest.start + goal / 2);
    let window = &text[earliest..latest];
    let near_goal = |at: &usize| at.abs_diff(rest.start + goal);
    let line_ends = || window.match_indices('\n').map(|(at, _)| earliest + at + 1);
    let line_end = || line_ends().min_by_key(near_goal);
    let sentence_end = || sentence_ends(window).map(|at| earliest + at).min_by_key(near_goal);
    let is_item = |at: &usize| marker_length(text[*at..rest.end].trim_start()) > 0;
    let item_end = || line_ends().filter(is_item).min_by_key(near_goal);
    let blank = || window.rfind(char::is_whitespace).map(|at| earliest + at + 1);
    let end = match kind {
        BlockKind::Table | BlockKind::Code => None,
        // The lines of an item may be those of one sentence.
        BlockKind::List => item_end().or_else(sentence_end),
        _ => sentence_end(),
    };
    let end = end.or_else(line_end).or_else(blank).unwrap_or(latest);
    // A character is at most four bytes, so the first boundary after the start is before `latest`.
    text.ceil_char_boundary(end.max(rest.start + 1))
}

/// Where sentences end within a text, as far as punctuation says so.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    let ends = text.match_indices(['.', '!', '?', '。', '！', '？', '\n']);
    ends.filter_map(|(at, mark)| {
        let after = &text[at + mark.len()..];
        let is_end = match mark {
            "\n" => after.starts_with('\n'),
            "." | "!" | "?" => after.starts_with(char::is_whitespace),
            _ => true,
        };
        is_end.then_some(at + mark.len())
    })
}

/// The first line of a table, with the line below that parts it from the rows.
fn table_head(text: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let table = &text[span.clone()];
    let first = table.find('\n')? + 1;
    let second =
        &table[first..table[first..].find('\n').map_or(table.len(), |end| first + end + 1)];
    let parts = |char: char| matches!(char, '|' | '-' | ':' | ' ' | '\n');
    let is_rule = second.contains('-') && second.chars().all(parts);
    let length = if is_rule { first + second.len() } else { first };
    (length <= TABLE_HEAD).then_some(span.start..span.start + length)
}

fn trimmed(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let part = &text[span.clone()];
    let start = span.start + (part.len() - part.trim_start().len());
    let end = span.start + part.trim_end().len();
    (start < end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use gatefold_documents::Format;
    use proptest::prelude::*;

    use super::*;

    fn document(blocks: &[(BlockKind, &str)]) -> Document {
        let mut document = Document {
            format: Format::Markdown,
            title: None,
            text: String::new(),
            blocks: Vec::new(),
            places: Vec::new(),
            hidden: Vec::new(),
            faults: Vec::new(),
        };
        let mut heading = None;
        for (index, (kind, text)) in blocks.iter().enumerate() {
            let start = document.text.len();
            document.text.push_str(text);
            let span = start..document.text.len();
            document.text.push_str("\n\n");
            let is_heading = matches!(kind, BlockKind::Heading(_));
            let above = if is_heading { None } else { heading };
            document.blocks.push(Block { kind: *kind, span, heading: above });
            if is_heading {
                heading = u32::try_from(index).ok();
            }
        }
        document
    }

    fn texts<'d>(document: &'d Document, chunks: &[Chunk]) -> Vec<&'d str> {
        chunks.iter().map(|chunk| &document.text[chunk.span.clone()]).collect()
    }

    #[test]
    fn small_neighbours_under_one_heading_are_one_chunk() {
        use BlockKind::{Heading, List, Paragraph};
        let document = document(&[
            (Paragraph, "before"),
            (Heading(1), "# One"),
            (Paragraph, "a b c"),
            (List, "- d\n- e"),
            (Heading(1), "# Two"),
            (Paragraph, "f"),
        ]);
        let chunks = chunks(&document);
        let expected = ["before", "# One\n\na b c\n\n- d\n- e", "# Two\n\nf"];
        assert_eq!(texts(&document, &chunks), expected);
        assert_eq!(chunks[1].headings, ["One"]);
        assert!(chunks[0].headings.is_empty());
    }

    #[test]
    fn a_long_paragraph_is_cut_at_its_sentences() {
        let sentence = "Here is a sentence that is as long as the others are in this text. ";
        let document = document(&[(BlockKind::Paragraph, &sentence.repeat(40))]);
        let chunks = chunks(&document);
        assert!((3..=6).contains(&chunks.len()), "{}", chunks.len());
        for text in texts(&document, &chunks) {
            assert!(text.starts_with("Here") && text.ends_with("text."), "{text}");
        }
    }

    #[test]
    fn a_long_list_is_cut_between_its_items() {
        let item = "- An item whose sentence goes on\n  in the next line, as that of the others.\n";
        let whole = document(&[(BlockKind::List, &item.repeat(40))]);
        let chunks_of_items = chunks(&whole);
        assert!(chunks_of_items.len() > 2);
        for text in texts(&whole, &chunks_of_items) {
            assert!(text.starts_with("- An") && text.ends_with("others."), "{text}");
        }
        // One item that is longer than a chunk ends where its sentences do.
        let sentence = "A sentence\n  of two lines stands here. ";
        let long = document(&[(BlockKind::List, &format!("- {}", sentence.repeat(60)))]);
        for text in texts(&long, &chunks(&long)) {
            assert!(text.ends_with("here."), "{text}");
        }
    }

    #[test]
    fn chunks_of_a_table_repeat_its_head() {
        let rows: Vec<_> = (0..100).map(|row| format!("| {row} | a value |\n")).collect();
        let table = format!("| key | value |\n|---|---|\n{}", rows.concat());
        let document = document(&[(BlockKind::Table, &table)]);
        let chunks = chunks(&document);
        assert!(chunks.len() > 1);
        assert_eq!(chunks[0].head, None);
        for chunk in &chunks[1..] {
            let head = chunk.head.clone().unwrap();
            assert_eq!(&document.text[head], "| key | value |\n|---|---|\n");
            assert!(document.text[chunk.span.clone()].starts_with("| "));
            assert!(document.text[chunk.span.clone()].ends_with("value |"));
        }
    }

    #[test]
    fn a_chunk_is_on_one_page() {
        let mut document =
            document(&[(BlockKind::Paragraph, "one\ntwo"), (BlockKind::Paragraph, "x")]);
        document.places = vec![(0, Place::Page(1)), (4, Place::Page(2)), (9, Place::Page(3))];
        let chunks = chunks(&document);
        assert_eq!(texts(&document, &chunks), ["one", "two", "x"]);
        let places: Vec<_> = chunks.iter().filter_map(|chunk| chunk.place).collect();
        assert_eq!(places, [Place::Page(1), Place::Page(2), Place::Page(3)]);
    }

    fn kind() -> impl Strategy<Value = BlockKind> {
        prop_oneof![
            (1..4_u8).prop_map(BlockKind::Heading),
            Just(BlockKind::Paragraph),
            Just(BlockKind::List),
            Just(BlockKind::Table),
            Just(BlockKind::Code),
        ]
    }

    proptest! {
        #[test]
        fn chunks_cover_all_text_in_order_and_none_overlaps(
            blocks in prop::collection::vec((kind(), "[a.é東 |\n-]{0,40}", 1..200_usize), 0..12),
            shifts in prop::collection::vec((0..3_usize, 0..3_usize), 12),
            pages in prop::collection::vec(0..3000_usize, 0..5),
        ) {
            let long: Vec<_> = blocks.iter().map(|(kind, text, n)| (*kind, text.repeat(*n))).collect();
            let parts: Vec<_> = long.iter().map(|(kind, text)| (*kind, &text[..])).collect();
            let mut document = document(&parts);
            // Blocks leave gaps.
            for (block, (start, end)) in document.blocks.iter_mut().zip(shifts) {
                let from = document.text.ceil_char_boundary(block.span.start + start);
                let to = document.text.floor_char_boundary(block.span.end.saturating_sub(end));
                block.span = from..to.max(from);
            }
            prop_assert!(is_sound(&document));
            let mut pages = pages;
            pages.sort_unstable();
            document.places = pages.into_iter().map(|at| (at, Place::Page(1))).collect();
            let chunks = chunks(&document);
            let mut covered = 0;
            for chunk in &chunks {
                prop_assert!(chunk.span.start >= covered);
                let gap = document.text.get(covered..chunk.span.start);
                prop_assert!(gap.is_some_and(|gap| gap.trim().is_empty()));
                let text = document.text.get(chunk.span.clone());
                prop_assert!(text.is_some_and(|text| !text.is_empty() && text == text.trim()));
                prop_assert!(chunk.span.len() <= CHUNK + CHUNK / 2);
                prop_assert_eq!(chunk.place, document.place(chunk.span.start));
                covered = chunk.span.end;
            }
            prop_assert!(document.text[covered..].trim().is_empty());
        }
    }
}
