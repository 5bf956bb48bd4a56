//! Values in a media type: `content` parameters, and forms.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::action::{PartEncoding, Style};
use crate::media::MediaClass;

use super::error::RequestError;
use super::escape::Escape;
use super::values::{Writing, text};

/// A value in a media type that is text, before any encoding that its place needs.
pub(super) fn content_text(
    argument: &str,
    media_type: &str,
    value: &Value,
) -> Result<String, RequestError> {
    match (MediaClass::of(media_type), value) {
        (MediaClass::Json, value) => Ok(value.to_string()),
        (MediaClass::Form, Value::Object(members)) => form(argument, members, &BTreeMap::new()),
        (MediaClass::JsonLines, Value::Array(items)) => {
            let lines = items.iter().flat_map(|item| [item.to_string(), "\n".to_owned()]);
            Ok(lines.collect())
        }
        (_, value) => Ok(text(value).unwrap_or_default()),
    }
}

/// The text of an HTML form.
pub(super) fn form(
    argument: &str,
    members: &Map<String, Value>,
    encodings: &BTreeMap<String, PartEncoding>,
) -> Result<String, RequestError> {
    let mut pairs = Vec::new();
    for (name, value) in members {
        pairs.extend(member_pairs(argument, name, value, encodings.get(name))?);
    }
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(pairs.join("&"))
}

fn member_pairs(
    argument: &str,
    name: &str,
    value: &Value,
    encoding: Option<&PartEncoding>,
) -> Result<Vec<(String, String)>, RequestError> {
    if let Some(writing) = encoding.and_then(|encoding| styled(argument, name, encoding)) {
        return writing.pairs(value);
    }
    let pair = |text: String| {
        (Escape::Full.text(name).into_owned(), Escape::Full.text(&text).into_owned())
    };
    let media_type = encoding.and_then(|encoding| encoding.content_type.as_deref());
    match (media_type, value) {
        (_, Value::Null) => Ok(Vec::new()),
        (Some(media_type), value) => Ok(vec![pair(content_text(argument, media_type, value)?)]),
        // OpenAPI 3.2, "Encoding Object": each item on its own, and an object as JSON.
        (None, Value::Array(items)) => Ok(items.iter().filter_map(text).map(pair).collect()),
        (None, value) => Ok(text(value).map(pair).into_iter().collect()),
    }
}

/// How a member is written, if its encoding names a style or what goes with one.
pub(super) fn styled<'a>(
    argument: &'a str,
    name: &'a str,
    encoding: &PartEncoding,
) -> Option<Writing<'a>> {
    if encoding.style.is_none() && encoding.explode.is_none() && !encoding.allow_reserved {
        return None;
    }
    let style = encoding.style.unwrap_or(Style::Form);
    let escape = if encoding.allow_reserved { Escape::ReservedInQuery } else { Escape::Full };
    let explode = encoding.explode.unwrap_or(style == Style::Form);
    Some(Writing { argument, name, style, explode, escape })
}
