//! Prompts, resources and resource templates.

use gatefold_core::Digest;
use serde_json::value::RawValue;

use super::{Definition, EntryPlaces, PlacedDefinition};
use crate::address::MAX_URI;
use crate::fields::{
    ANNOTATIONS, Field, Kind, Rule, changeable, field, find, members, name, repair, repair_icons,
    repair_inside, text, to_json,
};
use crate::raw::object_fields;

const PROMPT: [Rule; 5] = [
    ("title", Kind::Text, None),
    ("description", Kind::Text, None),
    ("arguments", Kind::Array, None),
    ("icons", Kind::Array, None),
    ("_meta", Kind::Object, None),
];
const ARGUMENT: [Rule; 3] = [
    ("title", Kind::Text, None),
    ("description", Kind::Text, None),
    ("required", Kind::Bool, None),
];
const RESOURCE: [Rule; 8] = [
    ("name", Kind::Text, None),
    ("title", Kind::Text, None),
    ("description", Kind::Text, None),
    ("mimeType", Kind::Text, None),
    ("size", Kind::Number, None),
    ("annotations", Kind::Object, None),
    ("icons", Kind::Array, None),
    ("_meta", Kind::Object, None),
];
pub(super) fn read_prompt(raw: &str) -> Result<Definition<'_>, String> {
    let mut fields = members(raw)?;
    let key = name(&fields)?;
    let mut repairs = Vec::new();
    repair(&mut fields, &PROMPT, &mut repairs);
    repair_arguments(&mut fields, &mut repairs);
    repair_icons(&mut fields, &mut repairs);
    let raw = if repairs.is_empty() { raw.into() } else { to_json(&fields).into() };
    Ok(Definition { key, raw, repairs })
}

/// Reads a resource by its `uri`, or a template by its `uriTemplate`.
pub(super) fn read_resource<'a>(raw: &'a str, key: &str) -> Result<Definition<'a>, String> {
    let mut fields = members(raw)?;
    let uri = find(&fields, key).and_then(text).ok_or_else(|| format!("it has no `{key}`"))?;
    let uri = uri.into_owned();
    if uri.is_empty() || uri.chars().any(char::is_control) {
        return Err(format!("its `{key}` is empty or has control characters"));
    }
    if uri.len() > MAX_URI {
        return Err(format!("its `{key}` has more bytes than the limit: {MAX_URI}"));
    }
    let mut repairs = Vec::new();
    repair(&mut fields, &RESOURCE, &mut repairs);
    repair_inside(&mut fields, "annotations", &ANNOTATIONS, &mut repairs);
    repair_icons(&mut fields, &mut repairs);
    if find(&fields, "name").is_none() {
        repairs.push("it had no `name`".to_owned());
        fields.push(("name".into(), serde_json::Value::from(uri.as_str()).to_string().into()));
    }
    let raw = if repairs.is_empty() { raw.into() } else { to_json(&fields).into() };
    Ok(Definition { key: uri, raw, repairs })
}

/// Drops the arguments of a prompt that have no name: nobody could give them.
fn repair_arguments(fields: &mut [Field<'_>], repairs: &mut Vec<String>) {
    let Some((_, value)) = fields.iter_mut().find(|(key, _)| key == "arguments") else { return };
    let Ok(arguments) = serde_json::from_str::<Vec<&RawValue>>(value) else { return };
    let before = repairs.len();
    let mut kept = Vec::new();
    for argument in arguments {
        let members = changeable(argument.get());
        let named = members.filter(|members| find(members, "name").and_then(text).is_some());
        let Some(mut members) = named else {
            repairs.push("one of its `arguments` had no name".to_owned());
            continue;
        };
        let repaired = repair(&mut members, &ARGUMENT, repairs);
        kept.push(if repaired { to_json(&members) } else { argument.get().to_owned() });
    }
    if repairs.len() > before {
        *value = format!("[{}]", kept.join(",")).into();
    }
}

pub(super) fn place(
    arena: &mut String,
    raw: &str,
    key: &str,
    digest: Digest,
) -> Option<EntryPlaces> {
    let fields = object_fields(raw)?;
    let get = |name: &str| field(&fields, name);
    let mut placed = PlacedDefinition::new(arena, raw);
    let name = placed.decoded(get("name")?)?;
    Some(EntryPlaces {
        key: if key == "name" { name } else { placed.decoded(get(key)?)? },
        name,
        title: get("title").and_then(|token| placed.decoded(token)),
        description: get("description").and_then(|token| placed.decoded(token)),
        raw: placed.whole(raw)?,
        digest,
    })
}
