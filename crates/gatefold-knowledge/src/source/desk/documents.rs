//! Listing the documents of a base, and reading one.

use std::fmt::Write as _;
use std::ops::Range;

use gatefold_catalog::{marked, nearest_texts, one_line};
use gatefold_documents::{Document, Place};
use serde::Serialize;

use super::super::arguments::{ListArguments, ReadArguments};
use super::super::place::{WantedPlace, available_places, place_words};
use super::super::shown::{DATA_NOTE, answer};
use super::{Desk, DeskError, DeskResult};
use crate::{Citation, DocumentSummary, READY, Version};

/// How many documents a page lists.
const LISTED: usize = 100;

/// How much of a document a page has, in bytes of its text.
const PAGE: usize = 12 * 1024;

/// How much of a title, and of a reason, is shown, in characters.
const TITLE: usize = 120;
const REASON: usize = 160;

/// How much of a wrong name is repeated, in characters.
const REPEATED: usize = 120;

#[derive(Serialize)]
struct ListedDocuments {
    documents: Vec<ListedDocument>,
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize)]
struct ListedDocument {
    name: String,
    title: String,
    state: String,
    /// Why it has no text, or what of it is missing.
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
}

#[derive(Serialize)]
struct DocumentPage {
    document: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    text: String,
    citation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A part of a document that is to be read.
struct WantedPart {
    version: Version,
    document: Document,
    span: Range<usize>,
}

impl Desk {
    /// The answer of `list_documents`.
    pub(in super::super) fn list(&self, arguments: &ListArguments) -> DeskResult {
        let mut all = self.base.documents()?;
        all.retain(|document| self.access.sees(&document.name, document.version));
        let start = match arguments.cursor.as_deref() {
            None | Some("") => 0,
            Some(last) => all.partition_point(|document| document.name.as_str() <= last),
        };
        let page = &all[start..all.len().min(start + LISTED)];
        let listed: Vec<_> = page.iter().map(listed_document).collect();
        let next = page.last().filter(|_| start + page.len() < all.len());
        let next_cursor = next.map(|last| last.name.clone());
        let failed = all.iter().filter(|document| document.version.is_none()).count();
        let mut text = match all.len() {
            0 => "There are no documents.".to_owned(),
            1 => "One document".to_owned(),
            count => format!("{count} documents"),
        };
        if failed > 0 {
            let _ = write!(text, ", {failed} of them without text that could be read");
        }
        for document in &listed {
            let _ = write!(text, "\n- `{}`: {}", document.name, document.title);
            let state = match document.state.as_str() {
                READY => String::new(),
                state => state.replace('_', " "),
            };
            let said: Vec<_> = [state.as_str(), &document.reason]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect();
            if !said.is_empty() {
                let _ = write!(text, " ({})", said.join(": "));
            }
        }
        if let Some(cursor) = &next_cursor {
            let _ = write!(text, "\nThere are more: repeat the call with cursor '{cursor}'.");
        }
        for note in self.notes() {
            let _ = write!(text, "\n{note}");
        }
        Ok(answer(&text, &ListedDocuments { documents: listed, total: all.len(), next_cursor }))
    }

    /// The answer of `read_document`.
    pub(in super::super) fn read(&self, arguments: &ReadArguments) -> DeskResult {
        let (name, part) = self.wanted_part(arguments)?;
        let WantedPart { version, document, span } = part;
        let end = page_end(&document.text, &span);
        let shown = span.start..end;
        let text = &document.text[shown.clone()];
        let place = document.place(shown.start).map(|place| place_words(place, text));
        let citation = Citation {
            domain: self.domain.as_str().to_owned(),
            document: name.clone(),
            version,
            span: shown,
        };
        self.cited.add(&name.as_str().into(), version);
        let title = self.base.summary(&name)?.map_or_else(|| name.clone(), |own| own.title);
        let page = DocumentPage {
            title: one_line(&marked(&title), TITLE),
            place,
            text: marked(text).into_owned(),
            citation: citation.to_string(),
            next_cursor: (end < document.text.len()).then(|| format!("{end}@{version}")),
            document: name,
        };
        Ok(answer(&page_text(&page, &document, &citation.span), &page))
    }

    /// The name and the part of a document that a call asks for.
    fn wanted_part(&self, arguments: &ReadArguments) -> Result<(String, WantedPart), DeskError> {
        let citation: Option<Citation> = arguments.document.parse().ok();
        let citation = citation.filter(|citation| citation.domain == self.domain.as_str());
        let asked =
            citation.as_ref().map_or(arguments.document.trim(), |citation| &citation.document);
        let (name, present) = self.find(asked)?;
        let cursor = arguments.cursor.as_deref().filter(|cursor| !cursor.is_empty());
        if let Some(cursor) = cursor {
            let (start, version) = parse_cursor(cursor).ok_or_else(|| {
                DeskError::Arguments(
                    "'cursor' is not one of this tool; leave it out to begin anew".to_owned(),
                )
            })?;
            let document = self.base.document(&name, version)?;
            let start = document.text.floor_char_boundary(start);
            let span = start..document.text.len();
            return Ok((name, WantedPart { version, document, span }));
        }
        let cited = citation.as_ref().map(|citation| citation.version);
        let Some(version) = cited.or(present) else { return Err(self.without_text(&name)) };
        let document = self.base.document(&name, version)?;
        let whole = 0..document.text.len();
        let span = match (&arguments.place, citation) {
            (Some(place), _) if !place.trim().is_empty() => {
                WantedPlace::parse(place).span(&document).ok_or_else(|| {
                    let place: String = place.chars().take(REPEATED).collect();
                    DeskError::Arguments(format!(
                        "'{name}' has no place '{place}'; it has {}",
                        marked(&available_places(&document))
                    ))
                })?
            }
            (_, Some(citation)) if citation.span != Citation::WHOLE => {
                let start = line_start(&document.text, citation.span.start);
                start..document.text.len()
            }
            _ => whole,
        };
        Ok((name, WantedPart { version, document, span }))
    }

    /// The document that a name or a title means, with its present version if it has text.
    fn find(&self, asked: &str) -> Result<(String, Option<Version>), DeskError> {
        let is_visible = |own: &DocumentSummary| self.access.sees(&own.name, own.version);
        if let Some(own) = self.base.summary(asked)?.filter(is_visible) {
            return Ok((own.name, own.version));
        }
        let all = self.base.documents()?;
        let seen: Vec<_> = all.iter().filter(|own| is_visible(own)).collect();
        let lower = asked.to_lowercase();
        let is_meant = |own: &&&DocumentSummary| {
            own.title.to_lowercase() == lower || own.name.to_lowercase() == lower
        };
        let mut meant = seen.iter().filter(is_meant);
        if let (Some(own), None) = (meant.next(), meant.next()) {
            return Ok((own.name.clone(), own.version));
        }
        let near = nearest_texts(asked, seen.iter().map(|own| own.name.as_str()));
        let near: Vec<_> = near.into_iter().map(|name| format!("'{name}'")).collect();
        let shown: String = asked.chars().take(REPEATED).collect();
        let advice = match near.as_slice() {
            [] => format!("{}__list_documents lists all", self.domain),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        Err(DeskError::Arguments(format!("there is no document '{shown}'; {advice}")))
    }

    fn without_text(&self, name: &str) -> DeskError {
        let reason = self.base.summary(name).ok().flatten().map(|own| own.reason);
        let reason = reason.filter(|reason| !reason.is_empty());
        let reason = reason.unwrap_or_else(|| "its text could not be read".to_owned());
        DeskError::Arguments(format!(
            "'{name}' has no text: {}",
            one_line(&marked(&reason), REASON)
        ))
    }
}

fn listed_document(document: &DocumentSummary) -> ListedDocument {
    ListedDocument {
        name: document.name.clone(),
        title: one_line(&marked(&document.title), TITLE),
        state: document.state.clone(),
        reason: one_line(&marked(&document.reason), REASON),
    }
}

/// `{byte}@{version}`
fn parse_cursor(cursor: &str) -> Option<(usize, Version)> {
    let (start, version) = cursor.split_once('@')?;
    Some((start.parse().ok()?, version.parse().ok()?))
}

fn line_start(text: &str, at: usize) -> usize {
    let before = &text[..text.floor_char_boundary(at)];
    before.rfind('\n').map_or(0, |end| end + 1)
}

/// Where a page ends that begins with a span: at the end of a line, if one ends in its second half.
fn page_end(text: &str, span: &Range<usize>) -> usize {
    if span.len() <= PAGE {
        return span.end;
    }
    let end = text.floor_char_boundary(span.start + PAGE);
    let late = text[span.start..end].rfind('\n').map(|at| span.start + at + 1);
    late.filter(|at| at - span.start > PAGE / 2).unwrap_or(end)
}

/// A page as text, with the numbers of pages and slides where they begin.
fn page_text(page: &DocumentPage, document: &Document, span: &Range<usize>) -> String {
    let mut text = format!("{} (`{}`", page.title, page.document);
    if let Some(place) = &page.place {
        let _ = write!(text, ", from {place}");
    }
    let _ = writeln!(text, ")\n{DATA_NOTE}\n");
    let mut from = span.start;
    for (start, place) in &document.places {
        if !(span.start + 1..span.end).contains(start) {
            continue;
        }
        if let Place::Page(_) | Place::Slide(_) = place {
            push_part(&mut text, &document.text[from..*start]);
            let _ = writeln!(text, "[{}]", place_words(*place, ""));
            from = *start;
        }
    }
    push_part(&mut text, &document.text[from..span.end]);
    let _ = write!(text, "{}", page.citation);
    if let Some(cursor) = &page.next_cursor {
        let _ = write!(text, "\nIt goes on: repeat the call with cursor '{cursor}'.");
    }
    text
}

fn push_part(text: &mut String, part: &str) {
    super::super::shown::push_quoted(text, &marked(part.trim_matches('\n')));
}
