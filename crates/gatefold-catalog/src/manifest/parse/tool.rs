use std::borrow::Cow;

use gatefold_core::{AbleClients, Digest, Hints};
use serde_json::value::RawValue;

use super::{Definition, PlacedDefinition, ToolPlaces, schema};
use crate::fields::{
    Kind, Rule, field, find, members, name, repair, repair_icons, repair_inside, text, to_json,
};
use crate::keys;
use crate::raw::object_fields;

const ANY_OBJECT: &str = r#"{"type":"object"}"#;

const RULES: [Rule; 8] = [
    ("title", Kind::Text, None),
    ("description", Kind::Text, None),
    ("inputSchema", Kind::Object, Some(ANY_OBJECT)),
    ("outputSchema", Kind::Object, None),
    ("annotations", Kind::Object, None),
    ("execution", Kind::Object, None),
    ("icons", Kind::Array, None),
    ("_meta", Kind::Object, None),
];
const ANNOTATIONS: [Rule; 5] = [
    ("title", Kind::Text, None),
    ("readOnlyHint", Kind::Bool, None),
    ("destructiveHint", Kind::Bool, None),
    ("idempotentHint", Kind::Bool, None),
    ("openWorldHint", Kind::Bool, None),
];

const EXECUTION: [Rule; 1] = [("taskSupport", Kind::Text, None)];

pub(super) fn read(raw: &str) -> Result<Definition<'_>, String> {
    let mut fields = members(raw)?;
    let key = name(&fields)?;
    let mut repairs = Vec::new();
    if find(&fields, "inputSchema").is_none() {
        repairs.push("it had no `inputSchema`".to_owned());
        fields.push(("inputSchema".into(), ANY_OBJECT.into()));
    }
    repair(&mut fields, &RULES, &mut repairs);
    repair_inside(&mut fields, "annotations", &ANNOTATIONS, &mut repairs);
    repair_inside(&mut fields, "execution", &EXECUTION, &mut repairs);
    for (member, value) in &mut fields {
        if matches!(&**member, "inputSchema" | "outputSchema")
            && let Some((schema, note)) = schema::repair(member, value)
        {
            *value = schema.into();
            repairs.push(note);
        }
    }
    repair_icons(&mut fields, &mut repairs);
    let raw = if repairs.is_empty() { raw.into() } else { to_json(&fields).into() };
    Ok(Definition { key, raw, repairs })
}

pub(super) fn place(arena: &mut String, raw: &str, digest: Digest) -> Option<ToolPlaces> {
    let fields = object_fields(raw)?;
    let get = |name: &str| field(&fields, name);
    let annotations = get("annotations");
    let annotated = annotations.and_then(object_fields).unwrap_or_default();
    let meta = get("_meta").and_then(object_fields).unwrap_or_default();
    let ui = field(&meta, "ui").and_then(object_fields).unwrap_or_default();
    let visibility = field(&ui, "visibility").or(field(&meta, "ui/visibility"));
    let ui_resource = field(&ui, "resourceUri").or(field(&meta, "ui/resourceUri"));
    let schema = get("inputSchema")?;
    let mut placed = PlacedDefinition::new(arena, raw);
    Some(ToolPlaces {
        name: placed.decoded(get("name")?)?,
        title: get("title").or(field(&annotated, "title")).and_then(|token| placed.decoded(token)),
        description: get("description").and_then(|token| placed.decoded(token)),
        raw: placed.whole(raw)?,
        input_schema: placed.whole(schema)?,
        output_schema: get("outputSchema").and_then(|part| placed.whole(part)),
        annotations: annotations.and_then(|part| placed.whole(part)),
        hints: annotations.map(hints).unwrap_or_default(),
        digest,
        ui_resource: ui_resource.and_then(|token| placed.decoded(token)),
        for_apps_only: visibility.is_some_and(leaves_out_models),
        group: None,
        listed_schema: keys::legal_schema(schema).and_then(|legal| placed.append(&legal)),
        clients: AbleClients::EVERYBODY,
    })
}

fn hints(annotations: &str) -> Hints {
    serde_json::from_str(annotations).unwrap_or_default()
}

/// Whether `visibility` is a list that does not name models. Anything but a list restricts nothing.
fn leaves_out_models(visibility: &str) -> bool {
    let named: Option<Vec<&RawValue>> = serde_json::from_str(visibility).ok();
    let is_model = |one: &&RawValue| text(one.get()) == Some(Cow::Borrowed("model"));
    named.is_some_and(|named| !named.iter().any(is_model))
}
