//! The tags and texts of one part.

use std::borrow::Cow;
use std::time::Instant;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::draft::Draft;
use crate::{DocumentFault, Format};

/// How deep tags may be in tags.
const MAX_DEPTH: usize = 256;

/// The most attributes of one tag that are looked at.
const MAX_ATTRIBUTES: usize = 64;

/// An opening tag. Names are without their prefixes: no two that are read here differ in these alone.
pub(super) struct Element<'x>(&'x BytesStart<'x>);

impl<'x> Element<'x> {
    pub(super) fn attribute(&self, name: &str) -> Option<Cow<'x, str>> {
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        let mut attributes = attributes.take(MAX_ATTRIBUTES).flatten();
        let found = attributes.find(|attribute| attribute.key.local_name().as_ref() == name)?;
        found
            .normalized_value(XmlVersion::Explicit1_0)
            .ok()
            .map(|value| Cow::Owned(value.into_owned()))
    }

    /// An attribute whose name has a prefix.
    pub(super) fn prefixed_attribute(&self, name: &str) -> Option<Cow<'x, str>> {
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        let mut attributes = attributes.take(MAX_ATTRIBUTES).flatten();
        let found = attributes.find(|attribute| {
            attribute.key.prefix().is_some() && attribute.key.local_name().as_ref() == name
        })?;
        found
            .normalized_value(XmlVersion::Explicit1_0)
            .ok()
            .map(|value| Cow::Owned(value.into_owned()))
    }

    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.attribute(name)?.parse().ok()
    }

    /// A switch, which is on when its attribute is missing (ECMA-376, part 1, 22.9.2.7).
    pub(super) fn is_on(&self) -> bool {
        !self.attribute("val").is_some_and(|value| matches!(&value[..], "0" | "false" | "off"))
    }
}

pub(super) trait Visitor {
    fn open(&mut self, name: &str, element: &Element<'_>) -> Result<(), DocumentFault>;

    fn close(&mut self, _name: &str) -> Result<(), DocumentFault> {
        Ok(())
    }

    fn text(&mut self, _text: &str) -> Result<(), DocumentFault> {
        Ok(())
    }
}

/// Goes through a part from its beginning to its end. There is no document type in these formats
/// (ECMA-376, part 2, 6.2.5), so no entity of a document's own is ever known.
pub(super) fn walk(
    xml: &str,
    format: Format,
    visitor: &mut impl Visitor,
) -> Result<(), DocumentFault> {
    let damaged = DocumentFault::Damaged(format, "a part of it is not well-formed XML");
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut depth = 0_usize;
    loop {
        match reader.read_event().map_err(|_| damaged)? {
            Event::Start(tag) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(DocumentFault::TooLarge(format));
                }
                visitor.open(tag.local_name().as_ref(), &Element(&tag))?;
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                visitor.close(tag.local_name().as_ref())?;
            }
            Event::Text(text) => visitor.text(&text.xml10_content())?,
            Event::CData(text) => visitor.text(&text.xml10_content())?,
            Event::GeneralRef(reference) => {
                let character = reference.resolve_char_ref().map_err(|_| damaged)?;
                match (character, &reference.xml10_content()[..]) {
                    (Some(character), _) => visitor.text(character.encode_utf8(&mut [0; 4]))?,
                    (None, "amp") => visitor.text("&")?,
                    (None, "lt") => visitor.text("<")?,
                    (None, "gt") => visitor.text(">")?,
                    (None, "quot") => visitor.text("\"")?,
                    (None, "apos") => visitor.text("'")?,
                    _ => return Err(DocumentFault::Declarations(format)),
                }
            }
            Event::DocType(_) => return Err(DocumentFault::Declarations(format)),
            Event::Eof if depth == 0 => return Ok(()),
            Event::Eof => return Err(DocumentFault::Damaged(format, "a part of it is cut off")),
            _ => {}
        }
    }
}

/// The text in the first tag of a name. Empty if there is none.
pub(super) fn text_of_first(xml: &str, name: &str, draft: &Draft) -> String {
    let mut reader = FirstText { name, text: String::new(), is_open: false };
    let _ = walk(xml, draft.format(), &mut reader);
    reader.text
}

struct FirstText<'n> {
    name: &'n str,
    text: String,
    is_open: bool,
}

impl Visitor for FirstText<'_> {
    fn open(&mut self, name: &str, _: &Element<'_>) -> Result<(), DocumentFault> {
        self.is_open |= name == self.name && self.text.is_empty();
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), DocumentFault> {
        self.is_open &= name != self.name;
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), DocumentFault> {
        if self.is_open {
            self.text.push_str(text);
        }
        Ok(())
    }
}

/// Looks at the time every so many events.
pub(super) struct Clock {
    until: Instant,
    format: Format,
    events: usize,
}

impl Clock {
    const EVERY: usize = 1024;

    pub(super) fn of(draft: &Draft) -> Self {
        Self { until: draft.until(), format: draft.format(), events: 0 }
    }

    pub(super) fn tick(&mut self) -> Result<(), DocumentFault> {
        self.events += 1;
        if self.events.is_multiple_of(Self::EVERY) && Instant::now() >= self.until {
            return Err(DocumentFault::TooLong(self.format));
        }
        Ok(())
    }
}
