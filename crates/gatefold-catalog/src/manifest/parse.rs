//! Reads a listing entry by entry, so that a bad entry costs only itself.

use std::borrow::Cow;
use std::collections::HashSet;

use gatefold_core::Digest;
use serde_json::value::RawValue;

use super::{Alteration, Change, EntryPlaces, Index, Listing, Span, ToolPlaces};
use crate::canonical;
use crate::fields::{field, text};
use crate::groups::is_group_name;
use crate::one_line;
use crate::raw::{object_fields, with_whole_pairs};

mod entry;
mod schema;
mod tool;

/// How much of a name or URI an alteration repeats, in characters.
const NOTED: usize = 256;

pub(super) struct ParsedListing {
    pub(super) index: Index,
    pub(super) text: String,
    pub(super) alterations: Vec<Alteration>,
}

pub(super) fn listing(listing: &Listing<'_>) -> ParsedListing {
    let Listing { tools, prompts, resources, templates } = listing;
    let pages = [tools, prompts, resources, templates].into_iter().copied().flatten();
    let size = pages.map(|page| page.get().len()).sum();
    let mut reader = Reader { text: String::with_capacity(size), alterations: Vec::new() };
    let index = Index {
        tools: reader.list(tools, &TOOLS),
        prompts: reader.list(prompts, &PROMPTS),
        resources: reader.list(resources, &RESOURCES),
        templates: reader.list(templates, &TEMPLATES),
    };
    ParsedListing { index, text: reader.text, alterations: reader.alterations }
}

/// Definitions that a builder made one by one, each as JSON text.
#[derive(Debug, Default)]
pub(super) struct DefinitionDrafts {
    pub(super) tools: ToolReader,
    pub(super) prompts: Vec<String>,
    pub(super) resources: Vec<String>,
    pub(super) templates: Vec<String>,
}

#[derive(Debug)]
pub(super) struct ToolDraft {
    pub(super) name: String,
    pub(super) definition: String,
    pub(super) group: Option<String>,
}

/// Tools that are read as soon as they are added: no definition is kept beside the text.
#[derive(Debug, Default)]
pub(super) struct ToolReader {
    reader: Reader,
    seen: HashSet<(String, Digest)>,
    added: usize,
    tools: Vec<ToolPlaces>,
}

impl ToolReader {
    pub(super) fn add(&mut self, draft: &ToolDraft) {
        let Self { reader, seen, added, tools } = self;
        *added += 1;
        let place = || format!("tool {added}");
        let Some(mut places) = reader.entry(&draft.definition, &TOOLS, seen, place) else { return };
        let group = draft.group.as_deref();
        places.group = group.and_then(|group| reader.group(&draft.name, group));
        tools.push(places);
    }
}

/// Reads the definitions of a builder by the same rules as a listing.
pub(super) fn drafts(drafts: DefinitionDrafts) -> ParsedListing {
    let DefinitionDrafts { tools, prompts, resources, templates } = drafts;
    let ToolReader { mut reader, tools, .. } = tools;
    let index = Index {
        tools,
        prompts: reader.entries(&prompts, &PROMPTS),
        resources: reader.entries(&resources, &RESOURCES),
        templates: reader.entries(&templates, &TEMPLATES),
    };
    ParsedListing { index, text: reader.text, alterations: reader.alterations }
}

/// One of the protocol's lists, and how its entries are read.
struct List<P> {
    /// The member of a page that holds the entries.
    member: &'static str,
    /// What an entry is called.
    noun: &'static str,
    /// The member that identifies an entry at the source.
    key: &'static str,
    read: fn(&str) -> Result<Definition<'_>, String>,
    /// Puts a well-formed definition into the text and records where its parts are.
    place: fn(&mut String, &str, Digest) -> Option<P>,
}

const TOOLS: List<ToolPlaces> =
    List { member: "tools", noun: "tool", key: "name", read: tool::read, place: tool::place };
const PROMPTS: List<EntryPlaces> = List {
    member: "prompts",
    noun: "prompt",
    key: "name",
    read: entry::read_prompt,
    place: |arena, raw, digest| entry::place(arena, raw, "name", digest),
};
const RESOURCES: List<EntryPlaces> = List {
    member: "resources",
    noun: "resource",
    key: "uri",
    read: |raw| entry::read_resource(raw, "uri"),
    place: |arena, raw, digest| entry::place(arena, raw, "uri", digest),
};
const TEMPLATES: List<EntryPlaces> = List {
    member: "resourceTemplates",
    noun: "resource template",
    key: "uriTemplate",
    read: |raw| entry::read_resource(raw, "uriTemplate"),
    place: |arena, raw, digest| entry::place(arena, raw, "uriTemplate", digest),
};

/// A definition that is well-formed, repaired if necessary.
struct Definition<'a> {
    /// What identifies it at the source.
    key: String,
    raw: Cow<'a, str>,
    repairs: Vec<String>,
}

#[derive(Debug, Default)]
struct Reader {
    text: String,
    alterations: Vec<Alteration>,
}

impl Reader {
    fn list<P>(&mut self, pages: &[Box<RawValue>], list: &List<P>) -> Vec<P> {
        let List { member, noun, .. } = list;
        let (mut taken, mut seen) = (Vec::new(), HashSet::new());
        for (number, page) in (1..).zip(pages) {
            let Some(entries) = entries_of(page.get(), member) else {
                let why = format!("it holds no list of {noun}s");
                self.note(format!("page {number} of the {noun}s"), Change::LeftOut(why));
                continue;
            };
            for (place, raw) in (1..).zip(entries) {
                let place = || format!("{noun} {place} of page {number}");
                taken.extend(self.entry(raw.get(), list, &mut seen, place));
            }
        }
        taken
    }

    fn entries<P>(&mut self, definitions: &[String], list: &List<P>) -> Vec<P> {
        let mut seen = HashSet::new();
        let entries = (1..).zip(definitions).filter_map(|(number, raw)| {
            self.entry(raw, list, &mut seen, || format!("{} {number}", list.noun))
        });
        entries.collect()
    }

    /// Takes one entry. `place` names an entry that has no key to be named by.
    fn entry<P>(
        &mut self,
        raw: &str,
        list: &List<P>,
        seen: &mut HashSet<(String, Digest)>,
        place: impl FnOnce() -> String,
    ) -> Option<P> {
        let whole = with_whole_pairs(raw);
        match (list.read)(&whole) {
            Ok(mut definition) => {
                if matches!(whole, Cow::Owned(_)) {
                    definition.repairs.push("it had half of a surrogate pair".to_owned());
                }
                self.take(definition, list, seen)
            }
            Err(why) => {
                let key = key_in(&whole, list.key);
                let entry = key.map_or_else(place, |key| format!("{} `{key}`", list.noun));
                self.note(entry, Change::LeftOut(why));
                None
            }
        }
    }

    /// Writes a tool's group after its definition.
    fn group(&mut self, name: &str, group: &str) -> Option<Span> {
        let start = self.text.len();
        let span = span_at(start, group.len()).filter(|_| is_group_name(group));
        if span.is_some() {
            self.text.push_str(group);
        } else {
            let repair = Change::Repaired("its group was not a name for one".to_owned());
            self.note(format!("tool `{}`", one_line(name, NOTED)), repair);
        }
        span
    }

    fn take<P>(
        &mut self,
        definition: Definition<'_>,
        list: &List<P>,
        seen: &mut HashSet<(String, Digest)>,
    ) -> Option<P> {
        let Definition { key, raw, repairs } = definition;
        let entry = format!("{} `{}`", list.noun, one_line(&key, NOTED));
        for repair in repairs {
            self.note(entry.clone(), Change::Repaired(repair));
        }
        let digest = canonical::digest(&raw);
        if !seen.insert((key, digest)) {
            self.note(entry, left_out("it is listed twice"));
            return None;
        }
        // Decoded parts come after the definition, and none is longer than its encoded form.
        let room = u32::try_from(self.text.len() + 2 * raw.len()).is_ok();
        let places = room.then(|| (list.place)(&mut self.text, &raw, digest)).flatten();
        if places.is_none() {
            self.note(entry, left_out("the listing is too large"));
        }
        places
    }

    fn note(&mut self, entry: String, what: Change) {
        self.alterations.push(Alteration { entry, what });
    }
}

fn left_out(why: &str) -> Change {
    Change::LeftOut(why.to_owned())
}

fn entries_of<'a>(page: &'a str, member: &str) -> Option<Vec<&'a RawValue>> {
    let fields = object_fields(page)?;
    serde_json::from_str(field(&fields, member)?).ok()
}

fn key_in(raw: &str, key: &str) -> Option<String> {
    let fields = object_fields(raw)?;
    let key = text(field(&fields, key)?)?;
    Some(one_line(&key, NOTED)).filter(|key| !key.is_empty())
}

/// A definition in the text, while its parts are recorded.
struct PlacedDefinition<'a> {
    arena: &'a mut String,
    raw: &'a str,
    start: usize,
}

impl<'a> PlacedDefinition<'a> {
    fn new(arena: &'a mut String, raw: &'a str) -> Self {
        let start = arena.len();
        arena.push_str(raw);
        Self { arena, raw, start }
    }

    /// The span of a part of the definition.
    fn whole(&self, part: &str) -> Option<Span> {
        let offset = part.as_ptr() as usize - self.raw.as_ptr() as usize;
        span_at(self.start + offset, part.len())
    }

    /// The span of a string token's content. A token without escapes is used in place; one with
    /// escapes is decoded and appended.
    fn decoded(&mut self, token: &str) -> Option<Span> {
        match text(token)? {
            Cow::Borrowed(inner) => self.whole(inner),
            Cow::Owned(inner) => self.append(&inner),
        }
    }

    /// The span of a text that is written behind the definition.
    fn append(&mut self, text: &str) -> Option<Span> {
        self.arena.push_str(text);
        span_at(self.arena.len() - text.len(), text.len())
    }
}

fn span_at(start: usize, length: usize) -> Option<Span> {
    Some((u32::try_from(start).ok()?, u32::try_from(start + length).ok()?))
}
