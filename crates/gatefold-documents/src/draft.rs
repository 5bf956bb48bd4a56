//! A document that is being read.

use std::ops::Range;
use std::time::Instant;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use crate::document::{Block, BlockKind, Document, Part, PartFault, Place, line_breaks};
use crate::limits::{MAX_BLOCKS, MAX_FAULTS, MAX_MARKS, MAX_TEXT, MAX_TITLE};
use crate::{DocumentFault, Format};

/// What a reader has made so far. Blocks begin and end lines, so that each line can be normalized by itself.
pub(crate) struct Draft {
    format: Format,
    until: Instant,
    title: Option<String>,
    text: String,
    blocks: Vec<Block>,
    places: Vec<(usize, Place)>,
    faults: Vec<PartFault>,
}

/// One cell of a table, and where it is if its format says so.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableCell {
    pub(crate) text: String,
    pub(crate) place: Option<Place>,
}

impl Draft {
    pub(crate) fn new(format: Format, until: Instant) -> Self {
        Self {
            format,
            until,
            title: None,
            text: String::new(),
            blocks: Vec::new(),
            places: Vec::new(),
            faults: Vec::new(),
        }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn has_text(&self) -> bool {
        self.text.chars().any(|c| !c.is_whitespace())
    }

    pub(crate) fn until(&self) -> Instant {
        self.until
    }

    pub(crate) fn check_time(&self) -> Result<(), DocumentFault> {
        if Instant::now() >= self.until {
            return Err(DocumentFault::TooLong(self.format));
        }
        Ok(())
    }

    /// The first title holds.
    pub(crate) fn set_title(&mut self, title: &str) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title: String =
            title.chars().filter(|c| !c.is_control()).take(MAX_TITLE).nfc().collect();
        if self.title.is_none() && !title.is_empty() {
            self.title = Some(title);
        }
    }

    pub(crate) fn add_fault(&mut self, part: Part, fault: DocumentFault) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(PartFault { part, fault });
        }
    }

    pub(crate) fn first_fault(&self) -> Option<DocumentFault> {
        self.faults.first().map(|part| part.fault)
    }

    /// What is added from here on is at this place.
    pub(crate) fn mark(&mut self, place: Place) {
        self.part_blocks();
        self.mark_here(place);
    }

    fn mark_here(&mut self, place: Place) {
        // A place that nothing was added at stays: an empty page is a page.
        if self.places.len() < MAX_MARKS {
            self.places.push((self.text.len(), place));
        }
    }

    /// Adds a block. An error says that nothing more is wanted.
    pub(crate) fn add(&mut self, kind: BlockKind, text: &str) -> Result<(), DocumentFault> {
        let text = text.trim_matches('\n').trim_end();
        if text.trim().is_empty() {
            return Ok(());
        }
        self.make_room(text.len())?;
        self.part_blocks();
        let start = self.text.len();
        self.text.push_str(text);
        self.blocks.push(Block::new(kind, start..self.text.len()));
        Ok(())
    }

    /// Adds a heading, written as Markdown writes it.
    #[cfg(feature = "readers")]
    pub(crate) fn add_heading(&mut self, level: u8, words: &str) -> Result<(), DocumentFault> {
        let words = one_line(words);
        if words.is_empty() {
            return Ok(());
        }
        let level = level.clamp(1, 6);
        self.add(BlockKind::Heading(level), &format!("{} {words}", "#".repeat(usize::from(level))))
    }

    /// Adds a table of so many columns, a row in a line, the first of them as its head.
    pub(crate) fn add_table(
        &mut self,
        columns: usize,
        rows: impl IntoIterator<Item = Vec<TableCell>>,
    ) -> Result<(), DocumentFault> {
        self.make_room(0)?;
        self.part_blocks();
        let start = self.text.len();
        let mut is_cut = Ok(());
        for (index, row) in rows.into_iter().enumerate() {
            let length: usize = row.iter().map(|cell| cell.text.len() + 3).sum();
            is_cut = self.make_room(length + 3 * columns);
            if is_cut.is_err() {
                break;
            }
            if index > 0 {
                self.text.push('\n');
            }
            self.text.push('|');
            for column in 0..columns {
                let Some(cell) = row.get(column) else {
                    self.text.push_str("  |");
                    continue;
                };
                self.text.push(' ');
                if let Some(place) = cell.place {
                    self.mark_here(place);
                }
                self.text.push_str(&one_line(&cell.text));
                self.text.push_str(" |");
            }
            if index == 0 {
                self.text.push_str("\n|");
                self.text.push_str(&" --- |".repeat(columns));
            }
        }
        self.blocks.push(Block::new(BlockKind::Table, start..self.text.len()));
        is_cut
    }

    /// Adds a text whose blocks are known. They begin and end lines of it.
    pub(crate) fn append(&mut self, text: &str, blocks: Vec<Block>) -> Result<(), DocumentFault> {
        self.make_room(text.len())?;
        self.part_blocks();
        let start = self.text.len();
        self.text.push_str(text);
        let moved = blocks
            .into_iter()
            .map(|Block { kind, span, .. }| Block::new(kind, span.start + start..span.end + start));
        self.blocks.extend(moved);
        Ok(())
    }

    fn part_blocks(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push_str("\n\n");
        }
    }

    fn make_room(&self, length: usize) -> Result<(), DocumentFault> {
        self.check_time()?;
        let is_full = self.text.len() + length + 2 > MAX_TEXT || self.blocks.len() >= MAX_BLOCKS;
        if is_full || self.places.len() >= MAX_MARKS {
            return Err(DocumentFault::TooLarge(self.format));
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Document {
        let is_canonical = is_nfc_quick(self.text.chars()) == IsNormalized::Yes
            && !self.text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        if !is_canonical {
            self.normalize();
        }
        // An empty page at the end is where the text ends.
        self.text.truncate(self.text.trim_end().len());
        for (at, _) in &mut self.places {
            *at = (*at).min(self.text.len());
        }
        let text = &self.text;
        self.blocks.retain(|block| !text[block.span.clone()].trim().is_empty());
        put_under_headings(&mut self.blocks);
        if self.format.has_lines() {
            self.places = lines_of_blocks(&self.text, &self.blocks);
        }
        Document {
            hidden: hidden_runs(&self.text),
            format: self.format,
            title: self.title,
            text: self.text,
            blocks: self.blocks,
            places: self.places,
            faults: self.faults,
        }
    }

    /// Normalizes the text between one boundary and the next. Each boundary is at the beginning or end of a line or
    /// cell, and nothing composes with the white space that is there.
    fn normalize(&mut self) {
        let spans = self.blocks.iter().flat_map(|block| [block.span.start, block.span.end]);
        let mut cuts: Vec<usize> = spans.chain(self.places.iter().map(|(at, _)| *at)).collect();
        cuts.push(self.text.len());
        cuts.sort_unstable();
        cuts.dedup();
        let (mut text, mut moved) = (String::with_capacity(self.text.len()), Vec::new());
        let mut from = 0;
        for cut in cuts {
            text.push_str(&canonical_text(&self.text[from..cut]));
            moved.push((cut, text.len()));
            from = cut;
        }
        let new = |old: usize| {
            if old == 0 {
                return 0;
            }
            let index = moved.partition_point(|(cut, _)| *cut < old);
            moved.get(index).map_or(text.len(), |(_, new)| *new)
        };
        for block in &mut self.blocks {
            block.span = new(block.span.start)..new(block.span.end);
        }
        for (at, _) in &mut self.places {
            *at = new(*at);
        }
        self.text = text;
    }
}

/// The line at which each block begins.
fn lines_of_blocks(text: &str, blocks: &[Block]) -> Vec<(usize, Place)> {
    let (mut line, mut at) = (1_u32, 0);
    let starts = blocks.iter().map(|block| {
        let start = block.span.start;
        line = line.saturating_add(line_breaks(&text[at..start]));
        at = start;
        (start, Place::Line(line))
    });
    starts.collect()
}

/// Says of each block which heading it is under.
fn put_under_headings(blocks: &mut [Block]) {
    let mut open: Vec<(u8, u32)> = Vec::new();
    for (index, block) in (0_u32..).zip(blocks) {
        if let BlockKind::Heading(level) = block.kind {
            open.retain(|(above, _)| *above < level);
            block.heading = open.last().map(|(_, heading)| *heading);
            open.push((level, index));
        } else {
            block.heading = open.last().map(|(_, heading)| *heading);
        }
    }
}

/// A text in the form that documents have: NFC, lines that end in `\n`, and no control characters.
pub(crate) fn canonical_text(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    lines.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).nfc().collect()
}

/// White space as single spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn hidden_runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| is_hidden(*c)) {
        let end = at + c.len_utf8();
        if let Some(run) = runs.last_mut().filter(|run| run.end == at) {
            run.end = end;
        } else if runs.len() < MAX_MARKS {
            runs.push(at..end);
        } else {
            break;
        }
    }
    runs
}

/// Whether a character is invisible or changes the direction of writing: those that Unicode calls
/// default ignorable (UAX 44, section 5.3), line and paragraph separators, and the marks of UAX 9.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}
