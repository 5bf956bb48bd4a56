//! DOCX (ECMA-376, part 1, 17): the body, then the notes.

use super::package::Package;
use super::styles::{ParagraphStyle, Styles};
use super::tables::OpenTables;
use super::xml::{self, Clock, Element, Visitor};
use crate::DocumentFault;
use crate::document::{BlockKind, Part};
use crate::draft::{Draft, one_line};
use crate::limits::MAX_TEXT;

/// How deep a list is indented at most.
const MAX_INDENT: usize = 8;

pub(super) fn read(package: &mut Package<'_>, draft: &mut Draft) -> Result<(), DocumentFault> {
    let main = package.main_part()?;
    let references = package.references(&main)?;
    let styles = match references.of_kind("styles") {
        Some(part) => package.part(part)?.map(|xml| Styles::read(&xml)).transpose()?,
        None => None,
    };
    let styles = styles.unwrap_or_default();
    let xml = package.needed_part(&main)?;
    BodyReader::new(&styles, draft).read(&xml)?;
    for kind in ["footnotes", "endnotes"] {
        let Some(part) = references.of_kind(kind) else { continue };
        // Notes that cannot be read cost no more than themselves.
        let read = package.part(part).and_then(|xml| match xml {
            Some(xml) => BodyReader::new(&styles, draft).read(&xml),
            None => Ok(()),
        });
        if let Err(fault) = read {
            draft.add_fault(Part::Named(part.to_owned()), fault);
        }
    }
    Ok(())
}

struct BodyReader<'d> {
    draft: &'d mut Draft,
    clock: Clock,
    styles: &'d Styles,
    /// The paragraphs that are open: those of a text box are in another.
    paragraphs: Vec<OpenParagraph>,
    tables: OpenTables,
    /// The list or code that may go on.
    pending: Option<(BlockKind, String)>,
    is_in_text: bool,
    /// How many tags are open since one whose content is left out.
    skipped: usize,
    has_hidden: bool,
}

#[derive(Default)]
struct OpenParagraph {
    text: String,
    style: ParagraphStyle,
    is_listed: bool,
    indent: usize,
    is_in_run: bool,
    is_run_hidden: bool,
}

impl<'d> BodyReader<'d> {
    fn new(styles: &'d Styles, draft: &'d mut Draft) -> Self {
        Self {
            clock: Clock::of(draft),
            draft,
            styles,
            paragraphs: Vec::new(),
            tables: OpenTables::default(),
            pending: None,
            is_in_text: false,
            skipped: 0,
            has_hidden: false,
        }
    }

    fn read(mut self, xml: &str) -> Result<(), DocumentFault> {
        let read = xml::walk(xml, self.draft.format(), &mut self);
        // What came before a fault is kept, so that of a document that was cut most is read.
        while !self.paragraphs.is_empty() {
            self.close_paragraph()?;
        }
        self.tables.close_all(self.draft)?;
        self.flush()?;
        if self.has_hidden {
            self.draft.add_fault(Part::Rest, DocumentFault::HiddenText);
        }
        read
    }

    fn push(&mut self, text: &str) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        if paragraph.is_run_hidden {
            self.has_hidden |= !text.trim().is_empty();
        } else if paragraph.text.len() + text.len() <= MAX_TEXT {
            paragraph.text.push_str(text);
        }
    }

    fn open_property(&mut self, name: &str, element: &Element<'_>) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        match name {
            "pStyle" => {
                let id = element.attribute("val").unwrap_or_default();
                let heading = paragraph.style.heading;
                paragraph.style = self.styles.style(&id);
                paragraph.style.heading = heading.or(paragraph.style.heading);
            }
            "outlineLvl" => {
                let level = element.number("val").filter(|level| *level < 9);
                paragraph.style.heading = level.and_then(|level| u8::try_from(level + 1).ok());
            }
            "numPr" => paragraph.is_listed = true,
            // No list: this takes away the one that the style gives.
            "numId" if element.number("val") == Some(0) => {
                (paragraph.is_listed, paragraph.style.is_list) = (false, false);
            }
            "ilvl" => {
                paragraph.indent = element.number("val").unwrap_or_default() as usize;
            }
            "vanish" if paragraph.is_in_run => {
                paragraph.is_run_hidden = element.is_on();
            }
            _ => {}
        }
    }

    fn close_paragraph(&mut self) -> Result<(), DocumentFault> {
        let Some(paragraph) = self.paragraphs.pop() else { return Ok(()) };
        if self.tables.is_in_cell() {
            self.tables.add_text(&one_line(&paragraph.text));
            return Ok(());
        }
        let OpenParagraph { text, style, is_listed, indent, .. } = paragraph;
        if text.trim().is_empty() {
            // An empty line of code is a line of it.
            if let Some((BlockKind::Code, code)) = self.pending.as_mut().filter(|_| style.is_code) {
                code.push('\n');
            }
            return Ok(());
        }
        if style.is_code {
            return self.go_on(BlockKind::Code, &text);
        }
        if let Some(level) = style.heading.or(style.is_title.then_some(1)) {
            self.flush()?;
            self.draft.add_heading(level, &text)?;
            if style.is_title {
                self.draft.set_title(&text);
            }
            return Ok(());
        }
        if is_listed || style.is_list {
            let indent = "  ".repeat(indent.min(MAX_INDENT));
            return self.go_on(BlockKind::List, &format!("{indent}- {}", one_line(&text)));
        }
        self.flush()?;
        self.draft.add(BlockKind::Paragraph, text.trim())
    }

    /// Adds a line to the block that is open if it is of this kind.
    fn go_on(&mut self, kind: BlockKind, line: &str) -> Result<(), DocumentFault> {
        match &mut self.pending {
            Some((open, text)) if *open == kind && text.len() + line.len() < MAX_TEXT => {
                text.push('\n');
                text.push_str(line);
                Ok(())
            }
            _ => {
                self.flush()?;
                self.pending = Some((kind, line.to_owned()));
                Ok(())
            }
        }
    }

    fn flush(&mut self) -> Result<(), DocumentFault> {
        match self.pending.take() {
            Some((BlockKind::Code, text)) => {
                self.draft.add(BlockKind::Code, &format!("```\n{}\n```", text.trim_matches('\n')))
            }
            Some((kind, text)) => self.draft.add(kind, &text),
            None => Ok(()),
        }
    }
}

impl Visitor for BodyReader<'_> {
    fn open(&mut self, name: &str, element: &Element<'_>) -> Result<(), DocumentFault> {
        self.clock.tick()?;
        // Old programs get a second version of what the first one draws, and what was moved is read where it is now.
        if self.skipped > 0 || matches!(name, "Fallback" | "moveFrom") {
            self.skipped += 1;
            return Ok(());
        }
        match name {
            "p" => self.paragraphs.push(OpenParagraph::default()),
            "r" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    (paragraph.is_in_run, paragraph.is_run_hidden) = (true, false);
                }
            }
            "t" => self.is_in_text = true,
            "tab" | "ptab" if self.is_in_run() => self.push("\t"),
            "br" | "cr" if self.is_in_run() => self.push("\n"),
            "noBreakHyphen" => self.push("\u{2011}"),
            "tbl" => {
                self.flush()?;
                self.tables.open_table();
            }
            "tc" => self.tables.open_cell(self.draft)?,
            "gridSpan" => self.tables.span_columns(element.number("val").unwrap_or(1)),
            _ => self.open_property(name, element),
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), DocumentFault> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return Ok(());
        }
        match name {
            "p" => self.close_paragraph()?,
            "r" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    (paragraph.is_in_run, paragraph.is_run_hidden) = (false, false);
                }
            }
            "t" => self.is_in_text = false,
            "tc" => self.tables.close_cell(),
            "tr" => self.tables.close_row(),
            "tbl" => self.tables.close_table(self.draft)?,
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), DocumentFault> {
        if self.is_in_text && self.skipped == 0 {
            self.push(text);
        }
        Ok(())
    }
}

impl BodyReader<'_> {
    fn is_in_run(&self) -> bool {
        self.paragraphs.last().is_some_and(|paragraph| paragraph.is_in_run)
    }
}
