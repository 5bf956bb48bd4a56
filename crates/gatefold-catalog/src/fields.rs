//! The members of an object, checked for the kinds of values that clients insist on.

use std::borrow::Cow;

use gatefold_core::ToolName;
use serde_json::value::RawValue;

use crate::raw::object_fields;

/// The longest name of a tool or a prompt, in bytes: an id made from it and any domain must be a
/// valid name.
const MAX_NAME: usize = ToolName::MAX_LENGTH / 2;

/// A field's key and its value's text.
pub(crate) type Field<'a> = (Cow<'a, str>, Cow<'a, str>);

/// A member, the kind its value must have, and the replacement for a value of another kind.
pub(crate) type Rule = (&'static str, Kind, Option<&'static str>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Object,
    Array,
    Bool,
    Number,
    /// A number between 0 and 1.
    Share,
    /// A list of the protocol's roles.
    Roles,
}

/// The annotations of resources and of the parts of an answer.
pub(crate) const ANNOTATIONS: [Rule; 3] = [
    ("audience", Kind::Roles, None),
    ("priority", Kind::Share, None),
    ("lastModified", Kind::Text, None),
];

impl Kind {
    fn fits(self, raw: &str) -> bool {
        match self {
            Self::Text => text(raw).is_some(),
            Self::Object => raw.starts_with('{'),
            Self::Array => raw.starts_with('['),
            Self::Bool => matches!(raw, "true" | "false"),
            Self::Number => raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()),
            Self::Share => raw.parse().is_ok_and(|share: f64| (0.0..=1.0).contains(&share)),
            Self::Roles => {
                let roles = serde_json::from_str::<Vec<&RawValue>>(raw);
                let is_role =
                    |role: &RawValue| matches!(role.get(), r#""user""# | r#""assistant""#);
                roles.is_ok_and(|roles| roles.into_iter().all(is_role))
            }
        }
    }
}

/// The members of an object, for editing; the error says that it is no object.
pub(crate) fn members(raw: &str) -> Result<Vec<Field<'_>>, String> {
    changeable(raw).ok_or_else(|| "it is not an object".to_owned())
}

/// The name that identifies a tool or a prompt at its source.
pub(crate) fn name(fields: &[Field<'_>]) -> Result<String, String> {
    let name = find(fields, "name").and_then(text).ok_or("it has no name")?.into_owned();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err("its name is empty or has control characters".to_owned());
    }
    if name.len() > MAX_NAME {
        return Err(format!("its name has more bytes than the limit: {MAX_NAME}"));
    }
    Ok(name)
}

pub(crate) fn find<'a>(fields: &'a [Field<'_>], key: &str) -> Option<&'a str> {
    fields.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_ref())
}

/// Like [`find`], for fields that are not edited.
pub(crate) fn field<'a>(fields: &[(Cow<'_, str>, &'a str)], key: &str) -> Option<&'a str> {
    fields.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
}

/// Replaces or drops fields of the wrong kind. Returns whether there were any.
pub(crate) fn repair(
    fields: &mut Vec<Field<'_>>,
    rules: &[Rule],
    repairs: &mut Vec<String>,
) -> bool {
    let before = repairs.len();
    fields.retain_mut(|(key, value)| {
        let Some((_, kind, cure)) = rules.iter().find(|(name, _, _)| name == key) else {
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

/// Like [`repair`], inside the object that is the value of one of the fields.
pub(crate) fn repair_inside(
    fields: &mut [Field<'_>],
    key: &str,
    rules: &[Rule],
    repairs: &mut Vec<String>,
) {
    if let Some((_, value)) = fields.iter_mut().find(|(name, _)| name == key)
        && let Some(mut inner) = changeable(value)
        && repair(&mut inner, rules, repairs)
    {
        let repaired = to_json(&inner);
        *value = repaired.into();
    }
}

/// Drops icons that have no address: nobody could show them.
pub(crate) fn repair_icons(fields: &mut [Field<'_>], repairs: &mut Vec<String>) {
    const ICON: [Rule; 2] = [("mimeType", Kind::Text, None), ("sizes", Kind::Array, None)];
    let Some((_, value)) = fields.iter_mut().find(|(key, _)| key == "icons") else { return };
    let Ok(icons) = serde_json::from_str::<Vec<&RawValue>>(value) else { return };
    let before = repairs.len();
    let mut kept = Vec::new();
    for icon in icons {
        let members = changeable(icon.get());
        let placed = members.filter(|members| find(members, "src").and_then(text).is_some());
        let Some(mut members) = placed else {
            repairs.push("one of its `icons` had no `src`".to_owned());
            continue;
        };
        let repaired = repair(&mut members, &ICON, repairs);
        kept.push(if repaired { to_json(&members) } else { icon.get().to_owned() });
    }
    if repairs.len() > before {
        *value = format!("[{}]", kept.join(",")).into();
    }
}

pub(crate) fn changeable(object: &str) -> Option<Vec<Field<'_>>> {
    let fields = object_fields(object)?;
    Some(fields.into_iter().map(|(key, value)| (key, value.into())).collect())
}

pub(crate) fn to_json(fields: &[Field<'_>]) -> String {
    let field =
        |(key, value): &Field<'_>| format!("{}:{value}", serde_json::Value::from(key.as_ref()));
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
}

/// A JSON text token's content.
pub(crate) fn text(token: &str) -> Option<Cow<'_, str>> {
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(token).ok().map(Cow::Owned)
    } else {
        Some(inner.into())
    }
}
