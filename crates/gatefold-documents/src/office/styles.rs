//! What the styles of a DOCX say about its paragraphs.

use std::collections::HashMap;

use super::xml::{self, Element, Visitor};
use crate::{DocumentFault, Format};

/// How many styles one may be based on.
const MAX_HOPS: usize = 16;

/// The most styles.
const MAX_STYLES: usize = 10_000;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ParagraphStyle {
    pub(super) heading: Option<u8>,
    pub(super) is_title: bool,
    pub(super) is_code: bool,
    pub(super) is_list: bool,
}

#[derive(Default)]
pub(super) struct Styles {
    by_id: HashMap<String, Style>,
    open: Option<(String, Style)>,
}

#[derive(Default)]
struct Style {
    own: ParagraphStyle,
    based_on: Option<String>,
}

impl Styles {
    pub(super) fn read(xml: &str) -> Result<Self, DocumentFault> {
        let mut styles = Self::default();
        xml::walk(xml, Format::Docx, &mut styles)?;
        Ok(styles)
    }

    /// What a style says, or the first that it is based on.
    pub(super) fn style(&self, id: &str) -> ParagraphStyle {
        let (mut found, mut next) = (ParagraphStyle::default(), self.by_id.get(id));
        for _ in 0..MAX_HOPS {
            let Some(style) = next else { break };
            found.heading = found.heading.or(style.own.heading);
            found.is_title |= style.own.is_title;
            found.is_code |= style.own.is_code;
            found.is_list |= style.own.is_list;
            next = style.based_on.as_ref().and_then(|id| self.by_id.get(id));
        }
        found
    }
}

/// A style's name is the same in every language of the program, unlike its id.
fn by_name(name: &str) -> ParagraphStyle {
    let name = name.to_ascii_lowercase();
    let level = name.strip_prefix("heading ").and_then(|level| level.trim().parse().ok());
    ParagraphStyle {
        heading: level.filter(|level| (1..=9).contains(level)),
        is_title: name == "title",
        is_code: name.contains("source code") || name.contains("preformatted"),
        is_list: false,
    }
}

impl Visitor for Styles {
    fn open(&mut self, name: &str, element: &Element<'_>) -> Result<(), DocumentFault> {
        if name == "style" {
            let is_paragraph = element.attribute("type").is_none_or(|kind| kind == "paragraph");
            let id = element.attribute("styleId").filter(|_| is_paragraph);
            self.open = id.map(|id| (id.into_owned(), Style::default()));
            return Ok(());
        }
        let Some((_, style)) = &mut self.open else { return Ok(()) };
        match name {
            "name" => style.own = by_name(&element.attribute("val").unwrap_or_default()),
            "basedOn" => style.based_on = element.attribute("val").map(String::from),
            "outlineLvl" => {
                let level = element.number("val").filter(|level| *level < 9);
                let level = level.and_then(|level| u8::try_from(level + 1).ok());
                style.own.heading = style.own.heading.or(level);
            }
            "numPr" => style.own.is_list = true,
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), DocumentFault> {
        if name == "style"
            && let Some((id, style)) = self.open.take()
            && self.by_id.len() < MAX_STYLES
        {
            self.by_id.insert(id, style);
        }
        Ok(())
    }
}
