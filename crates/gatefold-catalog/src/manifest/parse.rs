//! Reading a listing entry by entry, so that one bad entry costs only itself.

use std::borrow::Cow;
use std::collections::HashSet;

use gatefold_core::Digest;
use serde_json::value::RawValue;

use super::{Alteration, Change, EntryPlaces, Index, Listing, Places, Span};
use crate::canonical;
use crate::one_line;
use crate::raw::object_fields;

mod entry;
mod fields;
mod tool;

use fields::{field, text};

/// How much of a name or URI a note repeats, in characters.
const NOTED: usize = 256;

pub(super) struct Parsed {
    pub(super) index: Index,
    pub(super) text: String,
    pub(super) alterations: Vec<Alteration>,
}

pub(super) fn listing(listing: &Listing<'_>) -> Parsed {
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
    Parsed { index, text: reader.text, alterations: reader.alterations }
}

/// One of the protocol's lists, and how its entries are read.
struct List<P> {
    /// The member of a page that holds the entries.
    member: &'static str,
    /// What an entry is called.
    noun: &'static str,
    /// The member of an entry that it is asked for by.
    key: &'static str,
    read: fn(&str) -> Result<Definition<'_>, String>,
    /// Puts a well-formed definition into the text and notes where its parts are.
    place: fn(&mut String, &str, Digest) -> Option<P>,
}

const TOOLS: List<Places> =
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

/// A definition that is well-formed, if need be by repairs.
struct Definition<'a> {
    /// What it is asked for by.
    key: String,
    raw: Cow<'a, str>,
    repairs: Vec<String>,
}

struct Reader {
    text: String,
    alterations: Vec<Alteration>,
}

impl Reader {
    fn list<P>(&mut self, pages: &[Box<RawValue>], list: &List<P>) -> Vec<P> {
        let List { member, noun, key, .. } = list;
        let (mut taken, mut seen) = (Vec::new(), HashSet::new());
        for (number, page) in (1..).zip(pages) {
            let Some(entries) = entries_of(page.get(), member) else {
                let why = format!("it holds no list of {noun}s");
                self.note(format!("page {number} of the {noun}s"), Change::LeftOut(why));
                continue;
            };
            for (place, raw) in (1..).zip(entries) {
                match (list.read)(raw.get()) {
                    Ok(definition) => taken.extend(self.take(definition, list, &mut seen)),
                    Err(why) => {
                        let entry = match key_in(raw.get(), key) {
                            Some(key) => format!("{noun} `{key}`"),
                            None => format!("{noun} {place} of page {number}"),
                        };
                        self.note(entry, Change::LeftOut(why));
                    }
                }
            }
        }
        taken
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
        // Decoded parts come behind the definition, and none has more bytes than its source.
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

/// A definition in the arena, whose parts are noted down.
struct Placed<'a> {
    arena: &'a mut String,
    raw: &'a str,
    start: usize,
}

impl<'a> Placed<'a> {
    fn new(arena: &'a mut String, raw: &'a str) -> Self {
        let start = arena.len();
        arena.push_str(raw);
        Self { arena, raw, start }
    }

    /// Where a part of the definition lies.
    fn whole(&self, part: &str) -> Option<Span> {
        let offset = part.as_ptr() as usize - self.raw.as_ptr() as usize;
        span_at(self.start + offset, part.len())
    }

    /// Where the content of a text token lies. One without escapes is read where it stands; one
    /// with escapes is kept decoded behind.
    fn decoded(&mut self, token: &str) -> Option<Span> {
        match text(token)? {
            Cow::Borrowed(inner) => self.whole(inner),
            Cow::Owned(inner) => {
                self.arena.push_str(&inner);
                span_at(self.arena.len() - inner.len(), inner.len())
            }
        }
    }
}

fn span_at(start: usize, length: usize) -> Option<Span> {
    Some((u32::try_from(start).ok()?, u32::try_from(start + length).ok()?))
}
