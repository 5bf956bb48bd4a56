//! PPTX (ECMA-376, part 1, 19): its slides in order, each with its notes.

use super::package::Package;
use super::tables::OpenTables;
use super::xml::{self, Clock, Element, Visitor};
use crate::DocumentFault;
use crate::document::{BlockKind, Part, Place};
use crate::draft::{Draft, one_line};
use crate::limits::MAX_TEXT;

/// The most slides that are read.
const MAX_SLIDES: usize = 2000;

/// How deep a list is indented at most.
const MAX_INDENT: usize = 8;

pub(super) fn read(package: &mut Package<'_>, draft: &mut Draft) -> Result<(), DocumentFault> {
    let main = package.main_part()?;
    let references = package.references(&main)?;
    let mut list = SlideList::default();
    xml::walk(&package.needed_part(&main)?, draft.format(), &mut list)?;
    for (number, id) in (1_u32..).zip(&list.ids) {
        let Some(part) = references.target(id) else { continue };
        draft.mark(Place::Slide(number));
        // A slide that cannot be read costs no more than itself.
        if let Err(fault) = read_slide(package, part, draft) {
            if matches!(fault, DocumentFault::TooLong(_)) {
                return Err(fault);
            }
            draft.add_fault(Part::Named(part.to_owned()), fault);
        }
    }
    if list.ids.len() == MAX_SLIDES {
        return Err(DocumentFault::TooLarge(draft.format()));
    }
    Ok(())
}

fn read_slide(
    package: &mut Package<'_>,
    part: &str,
    draft: &mut Draft,
) -> Result<(), DocumentFault> {
    let slide = package.needed_part(part)?;
    SlideReader::new(draft, false).read(&slide)?;
    let references = package.references(part)?;
    let Some(notes) = references.of_kind("notesSlide") else { return Ok(()) };
    let Some(notes) = package.part(notes)? else { return Ok(()) };
    SlideReader::new(draft, true).read(&notes)
}

/// The slides' ids, in the order in which they are shown.
#[derive(Default)]
struct SlideList {
    ids: Vec<String>,
}

impl Visitor for SlideList {
    fn open(&mut self, name: &str, element: &Element<'_>) -> Result<(), DocumentFault> {
        if name == "sldId" && self.ids.len() < MAX_SLIDES {
            // It has a number of its own besides, `id` without a prefix.
            self.ids.extend(element.prefixed_attribute("id").map(String::from));
        }
        Ok(())
    }
}

/// What a shape is for (19.7.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShapeRole {
    Title,
    Body,
    /// Numbers, dates and footers, which each slide repeats.
    Furniture,
    Other,
}

struct SlideReader<'d> {
    draft: &'d mut Draft,
    clock: Clock,
    are_notes: bool,
    role: ShapeRole,
    /// The paragraphs of the open shape, and how they are indented if they are of a list.
    paragraphs: Vec<(String, Option<usize>)>,
    length: usize,
    text: String,
    indent: usize,
    has_bullet: Option<bool>,
    tables: OpenTables,
    is_in_text: bool,
    skipped: usize,
}

impl<'d> SlideReader<'d> {
    fn new(draft: &'d mut Draft, are_notes: bool) -> Self {
        Self {
            clock: Clock::of(draft),
            draft,
            are_notes,
            role: ShapeRole::Other,
            paragraphs: Vec::new(),
            length: 0,
            text: String::new(),
            indent: 0,
            has_bullet: None,
            tables: OpenTables::default(),
            is_in_text: false,
            skipped: 0,
        }
    }

    fn read(mut self, xml: &str) -> Result<(), DocumentFault> {
        let read = xml::walk(xml, self.draft.format(), &mut self);
        self.close_paragraph();
        self.close_shape()?;
        self.tables.close_all(self.draft)?;
        read
    }

    fn close_paragraph(&mut self) {
        let text = std::mem::take(&mut self.text);
        if self.tables.is_in_cell() {
            self.tables.add_text(&one_line(&text));
        } else if !text.trim().is_empty() {
            let is_listed =
                self.has_bullet.unwrap_or(self.role == ShapeRole::Body && !self.are_notes);
            self.paragraphs.push((text, is_listed.then_some(self.indent)));
        }
    }

    fn close_shape(&mut self) -> Result<(), DocumentFault> {
        let paragraphs = std::mem::take(&mut self.paragraphs);
        let role = std::mem::replace(&mut self.role, ShapeRole::Other);
        if role == ShapeRole::Furniture || (self.are_notes && role != ShapeRole::Body) {
            return Ok(());
        }
        if role == ShapeRole::Title {
            let words: Vec<_> = paragraphs.iter().map(|(text, _)| one_line(text)).collect();
            return self.draft.add_heading(1, &words.join(" "));
        }
        let mut list = String::new();
        for (text, indent) in paragraphs {
            let Some(indent) = indent else {
                self.draft.add(BlockKind::List, &std::mem::take(&mut list))?;
                let mark = if self.are_notes { "Notes: " } else { "" };
                self.draft.add(BlockKind::Paragraph, &format!("{mark}{}", text.trim()))?;
                continue;
            };
            list.push_str(&"  ".repeat(indent.min(MAX_INDENT)));
            list.push_str("- ");
            list.push_str(&one_line(&text));
            list.push('\n');
        }
        self.draft.add(BlockKind::List, &list)
    }
}

fn role(element: &Element<'_>) -> ShapeRole {
    match element.attribute("type").as_deref() {
        Some("title" | "ctrTitle") => ShapeRole::Title,
        Some("sldNum" | "dt" | "ftr" | "hdr") => ShapeRole::Furniture,
        Some("subTitle" | "sldImg") => ShapeRole::Other,
        _ => ShapeRole::Body,
    }
}

impl Visitor for SlideReader<'_> {
    fn open(&mut self, name: &str, element: &Element<'_>) -> Result<(), DocumentFault> {
        self.clock.tick()?;
        if self.skipped > 0 || name == "Fallback" {
            self.skipped += 1;
            return Ok(());
        }
        match name {
            "sp" => self.role = ShapeRole::Other,
            "ph" => self.role = role(element),
            "p" => (self.indent, self.has_bullet) = (0, None),
            "pPr" => self.indent = element.number("lvl").unwrap_or_default() as usize,
            "buNone" => self.has_bullet = Some(false),
            "buChar" | "buAutoNum" | "buBlip" => self.has_bullet = Some(true),
            "t" => self.is_in_text = true,
            "br" => self.text.push('\n'),
            "tbl" => self.tables.open_table(),
            // Cells that another one covers are there as well.
            "tc" => self.tables.open_cell(self.draft)?,
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), DocumentFault> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return Ok(());
        }
        match name {
            "p" => self.close_paragraph(),
            "t" => self.is_in_text = false,
            "sp" => self.close_shape()?,
            "tc" => self.tables.close_cell(),
            "tr" => self.tables.close_row(),
            "tbl" => self.tables.close_table(self.draft)?,
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), DocumentFault> {
        if self.is_in_text && self.skipped == 0 && self.length + text.len() <= MAX_TEXT {
            self.length += text.len();
            self.text.push_str(text);
        }
        Ok(())
    }
}
