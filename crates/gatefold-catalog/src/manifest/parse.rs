//! Reading a listing tool by tool, so that one bad tool costs only itself.

use std::borrow::Cow;
use std::collections::HashSet;

use gatefold_core::{Hints, ToolName};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Alteration, Change, Places, Span};
use crate::canonical;
use crate::raw::object_fields;

/// The longest name a tool may have, in bytes: an id made of it and any domain can be asked for.
const MAX_NAME: usize = ToolName::MAX_LENGTH / 2;
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

pub(super) struct Listing {
    pub(super) tools: Vec<Places>,
    pub(super) text: String,
    pub(super) alterations: Vec<Alteration>,
}

pub(super) fn listing(pages: &[Box<RawValue>]) -> Listing {
    let size = pages.iter().map(|page| page.get().len()).sum();
    let mut listing =
        Listing { tools: Vec::new(), text: String::with_capacity(size), alterations: Vec::new() };
    let mut seen = HashSet::new();
    for (number, page) in pages.iter().enumerate() {
        let Some(tools) = tools_of(page.get()) else {
            listing.note(format!("page {}", number + 1), left_out("it holds no list of tools"));
            continue;
        };
        for (place, raw) in tools.into_iter().enumerate() {
            match read(raw.get()) {
                Ok(tool) => listing.take(tool, &mut seen),
                Err(why) => {
                    let place = format!("tool {} of page {}", place + 1, number + 1);
                    listing.note(name_in(raw.get()).unwrap_or(place), Change::LeftOut(why));
                }
            }
        }
    }
    listing
}

impl Listing {
    fn note(&mut self, tool: String, what: Change) {
        self.alterations.push(Alteration { tool, what });
    }

    fn take(&mut self, tool: Tool<'_>, seen: &mut HashSet<(String, gatefold_core::Digest)>) {
        for repair in tool.repairs {
            self.note(tool.name.clone(), Change::Repaired(repair));
        }
        let digest = canonical::digest(&tool.raw);
        if !seen.insert((tool.name.clone(), digest)) {
            return self.note(tool.name, left_out("it is listed twice"));
        }
        let room = u32::try_from(self.text.len() + 2 * tool.raw.len()).is_ok();
        let Some(places) = room.then(|| place(&mut self.text, &tool.raw, digest)).flatten() else {
            return self.note(tool.name, left_out("the listing is too large"));
        };
        self.tools.push(places);
    }
}

fn left_out(why: &str) -> Change {
    Change::LeftOut(why.to_owned())
}

struct Tool<'a> {
    name: String,
    raw: Cow<'a, str>,
    repairs: Vec<String>,
}

/// The kinds that clients insist on, and what stands in for a value of another kind.
const FIELDS: [(&str, Kind, Option<&str>); 8] = [
    ("title", Kind::Text, None),
    ("description", Kind::Text, None),
    ("inputSchema", Kind::Object, Some(ANY_OBJECT)),
    ("outputSchema", Kind::Object, None),
    ("annotations", Kind::Object, None),
    ("execution", Kind::Object, None),
    ("icons", Kind::Array, None),
    ("_meta", Kind::Object, None),
];
const ANNOTATIONS: [(&str, Kind, Option<&str>); 5] = [
    ("title", Kind::Text, None),
    ("readOnlyHint", Kind::Bool, None),
    ("destructiveHint", Kind::Bool, None),
    ("idempotentHint", Kind::Bool, None),
    ("openWorldHint", Kind::Bool, None),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Object,
    Array,
    Bool,
}

impl Kind {
    fn fits(self, raw: &str) -> bool {
        match self {
            Self::Text => text(raw).is_some(),
            Self::Object => raw.starts_with('{'),
            Self::Array => raw.starts_with('['),
            Self::Bool => matches!(raw, "true" | "false"),
        }
    }
}

fn read(raw: &str) -> Result<Tool<'_>, String> {
    let Some(mut fields) = changeable(raw) else { return Err("it is not an object".to_owned()) };
    let name = fields.iter().find(|(key, _)| key == "name").and_then(|(_, name)| text(name));
    let name = name.ok_or("it has no name")?.into_owned();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err("its name is empty or has control characters".to_owned());
    }
    if name.len() > MAX_NAME {
        return Err(format!("its name has more bytes than the limit: {MAX_NAME}"));
    }
    let mut repairs = Vec::new();
    if !fields.iter().any(|(key, _)| key == "inputSchema") {
        repairs.push("it had no `inputSchema`".to_owned());
        fields.push(("inputSchema".into(), ANY_OBJECT.into()));
    }
    repair(&mut fields, &FIELDS, &mut repairs);
    if let Some((_, annotations)) = fields.iter_mut().find(|(key, _)| key == "annotations")
        && let Some(mut inner) = changeable(annotations)
        && repair(&mut inner, &ANNOTATIONS, &mut repairs)
    {
        let repaired = written(&inner);
        *annotations = repaired.into();
    }
    let raw = if repairs.is_empty() { raw.into() } else { written(&fields).into() };
    Ok(Tool { name, raw, repairs })
}

/// A field's key and its value's text.
type Field<'a> = (Cow<'a, str>, Cow<'a, str>);

fn changeable(object: &str) -> Option<Vec<Field<'_>>> {
    let fields = object_fields(object)?;
    Some(fields.into_iter().map(|(key, value)| (key, value.into())).collect())
}

/// Replaces or drops the fields of a wrong kind; whether there were any.
fn repair(
    fields: &mut Vec<Field<'_>>,
    kinds: &[(&str, Kind, Option<&'static str>)],
    repairs: &mut Vec<String>,
) -> bool {
    let before = repairs.len();
    fields.retain_mut(|(key, value)| {
        let Some((_, kind, cure)) = kinds.iter().find(|(name, _, _)| name == key) else {
            return true;
        };
        if kind.fits(value) {
            return true;
        }
        repairs.push(format!("`{key}` was not of the right kind"));
        cure.map(|cure| *value = cure.into()).is_some()
    });
    repairs.len() > before
}

fn written(fields: &[Field<'_>]) -> String {
    let field =
        |(key, value): &Field<'_>| format!("{}:{value}", serde_json::Value::from(key.as_ref()));
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
}

/// Puts a well-formed definition into the text and notes where its parts are.
fn place(arena: &mut String, raw: &str, digest: gatefold_core::Digest) -> Option<Places> {
    let fields = object_fields(raw)?;
    let get = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    let annotations = get("annotations");
    let annotated = annotations.and_then(object_fields);
    let annotated_title = annotated
        .as_ref()
        .and_then(|inner| inner.iter().find(|(key, _)| key == "title").map(|(_, value)| *value));
    let start = arena.len();
    arena.push_str(raw);
    let offset = |part: &str| start + (part.as_ptr() as usize - raw.as_ptr() as usize);
    let whole = |part: &str| span_at(offset(part), part.len());
    // A text without escapes is read where it lies; one with escapes is kept decoded behind.
    let mut decoded = |token: &str| match text(token)? {
        Cow::Borrowed(inner) => span_at(offset(inner), inner.len()),
        Cow::Owned(inner) => {
            arena.push_str(&inner);
            span_at(arena.len() - inner.len(), inner.len())
        }
    };
    Some(Places {
        name: decoded(get("name")?)?,
        title: get("title").or(annotated_title).and_then(&mut decoded),
        description: get("description").and_then(&mut decoded),
        raw: span_at(start, raw.len())?,
        input_schema: whole(get("inputSchema")?)?,
        output_schema: get("outputSchema").and_then(whole),
        annotations: annotations.and_then(whole),
        hints: annotations.map(hints).unwrap_or_default(),
        digest,
    })
}

fn span_at(start: usize, length: usize) -> Option<Span> {
    Some((u32::try_from(start).ok()?, u32::try_from(start + length).ok()?))
}

fn hints(annotations: &str) -> Hints {
    serde_json::from_str(annotations).unwrap_or_default()
}

/// A JSON text token's content.
fn text(token: &str) -> Option<Cow<'_, str>> {
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(token).ok().map(Cow::Owned)
    } else {
        Some(inner.into())
    }
}

fn name_in(raw: &str) -> Option<String> {
    let fields = object_fields(raw)?;
    let name = fields.iter().find(|(key, _)| key == "name").and_then(|(_, name)| text(name))?;
    Some(crate::one_line(&name, crate::LINE_LIMIT)).filter(|name| !name.is_empty())
}

fn tools_of(page: &str) -> Option<Vec<&RawValue>> {
    #[derive(Deserialize)]
    struct Page<'a> {
        #[serde(borrow)]
        tools: Vec<&'a RawValue>,
    }
    serde_json::from_str(page).ok().map(|Page { tools }| tools)
}
