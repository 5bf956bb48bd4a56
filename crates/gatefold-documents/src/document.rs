//! What is read of a document.

use std::fmt::{self, Display};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{DocumentFault, Format};

/// A document that was read.
///
/// Spans are in bytes of `text`, and begin and end between characters. The text is in Unicode's
/// normalization form C, its lines end in `\n`, and it has no control characters but that and tabs.
/// Headings, lists, tables and code are written as Markdown writes them; a row of a table is one line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub format: Format,
    pub title: Option<String>,
    pub text: String,
    /// In order, none within another.
    pub blocks: Vec<Block>,
    /// Where the text changes its place: from there on it is at this one.
    pub places: Vec<(usize, Place)>,
    /// Runs of characters that people do not see or that turn the direction of writing. They stay
    /// in the text, since what a quote says has to be what the document says.
    pub hidden: Vec<Range<usize>>,
    /// What is missing of it. Whoever hands a document on says this in words.
    #[serde(skip)]
    pub faults: Vec<PartFault>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub kind: BlockKind,
    pub span: Range<usize>,
    /// The heading that it is under, by its position among the blocks; of a heading the next higher one.
    pub heading: Option<u32>,
}

impl Block {
    pub(crate) fn new(kind: BlockKind, span: Range<usize>) -> Self {
        Self { kind, span, heading: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockKind {
    /// Of a level from 1, the highest.
    Heading(u8),
    Paragraph,
    List,
    Table,
    Code,
}

/// Where in a document something is, as people find it there. All numbers begin at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    Page(u32),
    Slide(u32),
    Cell {
        sheet: u32,
        row: u32,
        column: u32,
    },
    Line(u32),
    /// A message, or a part of one, in the order of its bytes.
    MessagePart(u32),
}

/// A part that is missing, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFault {
    pub part: Part,
    pub fault: DocumentFault,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Page(u32),
    Pages {
        first: usize,
        last: usize,
    },
    /// So many characters, here and there.
    Characters(usize),
    /// A part of the file that has a name.
    Named(String),
    /// What comes after the text, or is somewhere in it.
    Rest,
}

impl Document {
    /// Where a byte of the text is.
    pub fn place(&self, at: usize) -> Option<Place> {
        let next = self.places.partition_point(|(start, _)| *start <= at);
        let (start, place) = *self.places.get(next.checked_sub(1)?)?;
        match place {
            Place::Line(line) if self.format.has_lines() => {
                let more = line_breaks(self.text.get(start..at)?);
                Some(Place::Line(line.saturating_add(more)))
            }
            place => Some(place),
        }
    }

    /// The headings that a byte of the text is under, the highest first. A heading is its own last one.
    pub fn heading_path(&self, at: usize) -> Vec<&str> {
        let after = self.blocks.partition_point(|block| block.span.start <= at);
        let own = after.checked_sub(1).map(|index| &self.blocks[index]);
        let is_heading = |block: &&Block| matches!(block.kind, BlockKind::Heading(_));
        let above = |block: &Block| block.heading.and_then(|index| self.blocks.get(index as usize));
        let first = own.filter(is_heading).or_else(|| own.and_then(above));
        let mut path: Vec<_> = std::iter::successors(first, |heading| above(heading))
            .map(|heading| heading_words(&self.text[heading.span.clone()]))
            .collect();
        path.reverse();
        path
    }

    /// The text for reading, with its pages' numbers and what is missing of it.
    pub fn annotated_text(&self) -> String {
        let mut shown = String::new();
        let mut from = 0;
        for (index, (start, place)) in self.places.iter().enumerate() {
            let (Place::Page(number) | Place::Slide(number)) = *place else { continue };
            push_paragraph(&mut shown, &self.text[from..*start]);
            let name = if matches!(place, Place::Page(_)) { "Page" } else { "Slide" };
            push_paragraph(&mut shown, &format!("## {name} {number}"));
            from = *start;
            let end = self.places.get(index + 1).map_or(self.text.len(), |(next, _)| *next);
            if self.text[from..end].trim().is_empty() {
                let missing = self.faults.iter().find(|fault| fault.part == Part::Page(number));
                let note = missing.map_or("[no text]".to_owned(), ToString::to_string);
                push_paragraph(&mut shown, &note);
            }
        }
        push_paragraph(&mut shown, &self.text[from..]);
        let mut parting = "\n\n";
        for fault in self.faults.iter().filter(|fault| !matches!(fault.part, Part::Page(_))) {
            shown.push_str(parting);
            shown.push_str(&fault.to_string());
            parting = "\n";
        }
        shown
    }
}

pub(crate) fn line_breaks(text: &str) -> u32 {
    let count = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn push_paragraph(text: &mut String, paragraph: &str) {
    let paragraph = paragraph.trim_matches('\n');
    if !paragraph.is_empty() {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(paragraph);
    }
}

/// The words of a heading without the marks of Markdown, in front or below.
fn heading_words(heading: &str) -> &str {
    let line = heading.lines().next().unwrap_or_default();
    let words = line.trim_start_matches('#');
    if words.len() == line.len() { line.trim() } else { words.trim().trim_end_matches('#').trim() }
}

/// As a note in the text for reading.
impl Display for PartFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = &self.fault;
        match &self.part {
            Part::Page(_) => write!(f, "[this page is left out: {why}]"),
            Part::Pages { first, last } => {
                write!(f, "[pages {first} to {last} are left out: {why}]")
            }
            Part::Characters(count) => write!(f, "[{count} characters are left out: {why}]"),
            Part::Named(name) => write!(f, "[`{name}` is left out: {why}]"),
            Part::Rest => write!(f, "[parts are left out: {why}]"),
        }
    }
}
