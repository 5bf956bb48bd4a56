//! Multipart bodies (RFC 7578).
//!
//! They are small enough to be written here. reqwest's own form chooses its boundary when it is sent, so the
//! body could neither be measured nor recorded before.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::action::{BodyMedia, PartEncoding};
use crate::media::{MediaClass, essence};

use super::encoded::{EncodedBody, OCTETS};
use super::error::RequestError;
use super::escape::Escape;
use super::files::FileContent;
use super::forms::{content_text, styled};
use super::values::{Writing, text};

/// How often a boundary is drawn before we give up. The first one is new, but for a broken source of randomness.
const DRAWS: usize = 4;

/// One part of a body.
struct Part {
    name: String,
    filename: Option<String>,
    content_type: Option<String>,
    bytes: Vec<u8>,
}

pub(super) fn encoded(
    argument: &str,
    media: &BodyMedia,
    members: &Map<String, Value>,
) -> Result<EncodedBody, RequestError> {
    let mut parts = Vec::new();
    for (name, value) in members {
        // Servers differ in how they read such a name, and some then read on into what follows.
        if name.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
            let name = name.escape_debug();
            let fault = format!("has the member `{name}`, and no part can have this name");
            return Err(RequestError::argument(argument, fault));
        }
        let encoding = media.encoding.get(name);
        if media.files.iter().any(|file| file == name) {
            let content_type = encoding.and_then(|encoding| encoding.content_type.as_deref());
            files(name, value, content_type, &mut parts)?;
        } else {
            values(argument, name, value, encoding, &mut parts)?;
        }
    }
    let boundary = boundary(&parts)
        .ok_or_else(|| RequestError::argument(argument, "cannot be sent: no boundary was found"))?;
    let content_type = format!("{}; boundary={boundary}", essence(&media.media_type));
    EncodedBody::new(argument, &content_type, joined(&parts, &boundary))
}

/// A file, or each of a list of files.
fn files(
    name: &str,
    value: &Value,
    content_type: Option<&str>,
    parts: &mut Vec<Part>,
) -> Result<(), RequestError> {
    let one = std::slice::from_ref(value);
    let list = value.as_array().map_or(one, Vec::as_slice);
    for file in list.iter().filter(|file| !file.is_null()) {
        let file = FileContent::new(name, file)?;
        let own = file.media_type.as_ref().and_then(|own| own.to_str().ok());
        // An encoding may list several types, or a range, which a part cannot have.
        let fixed = content_type.filter(|fixed| !fixed.contains([',', '*']));
        parts.push(Part {
            name: name.to_owned(),
            // Servers know a file by having a name.
            filename: Some(file.filename.map_or_else(|| name.to_owned(), |own| bare(&own))),
            content_type: own.or(fixed).or(Some(OCTETS)).map(str::to_owned),
            bytes: file.bytes.into(),
        });
    }
    Ok(())
}

fn values(
    argument: &str,
    name: &str,
    value: &Value,
    encoding: Option<&PartEncoding>,
    parts: &mut Vec<Part>,
) -> Result<(), RequestError> {
    let part = |name: String, content_type: Option<&str>, text: String| Part {
        name,
        filename: None,
        content_type: content_type.map(str::to_owned),
        bytes: text.into_bytes(),
    };
    if let Some(writing) = encoding.and_then(|encoding| styled(argument, name, encoding)) {
        let pairs = Writing { escape: Escape::Nothing, ..writing }.pairs(value)?;
        parts.extend(pairs.into_iter().map(|(name, value)| part(name, None, value)));
        return Ok(());
    }
    let fixed = encoding.and_then(|encoding| encoding.content_type.as_deref());
    let fixed = fixed.filter(|fixed| !fixed.contains([',', '*']));
    let is_json = fixed.is_some_and(|fixed| MediaClass::of(fixed) == MediaClass::Json);
    match value {
        Value::Null => {}
        // OpenAPI 3.2, "Encoding Object": a list is a part for each item, unless it is JSON as a whole.
        Value::Array(items) if !is_json => {
            for item in items {
                values(argument, name, item, encoding, parts)?;
            }
        }
        value => {
            let is_compound = value.is_object() || value.is_array();
            let media_type = fixed.or(is_compound.then_some("application/json"));
            let text = match media_type {
                Some(media_type) => content_text(argument, media_type, value)?,
                None => text(value).unwrap_or_default(),
            };
            parts.push(part(name.to_owned(), media_type, text));
        }
    }
    Ok(())
}

/// A random boundary that no part contains.
fn boundary(parts: &[Part]) -> Option<String> {
    (0..DRAWS).find_map(|_| {
        let mut random = [0; 16];
        getrandom::fill(&mut random).ok()?;
        let boundary = format!("gatefold-{:032x}", u128::from_be_bytes(random));
        let is_in = |part: &Part| {
            part.bytes.windows(boundary.len()).any(|bytes| bytes == boundary.as_bytes())
        };
        (!parts.iter().any(is_in)).then_some(boundary)
    })
}

fn joined(parts: &[Part], boundary: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        let mut head = format!("--{boundary}\r\n");
        let name = quoted(&part.name);
        write!(head, "Content-Disposition: form-data; name={name}").expect("a String takes all");
        if let Some(filename) = &part.filename {
            write!(head, "; filename={}", quoted(filename)).expect("a String takes all");
        }
        if let Some(content_type) = &part.content_type {
            let legal: String = content_type.chars().filter(|c| !c.is_control()).collect();
            write!(head, "\r\nContent-Type: {legal}").expect("a String takes all");
        }
        head.push_str("\r\n\r\n");
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(&part.bytes);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    out
}

/// The name of a file, of which servers use neither a path nor what is no text.
fn bare(filename: &str) -> String {
    let last = filename.rsplit(['/', '\\']).next().unwrap_or_default();
    last.chars().filter(|c| !c.is_control()).collect()
}

/// A name in quotes, escaped as browsers do (HTML, "Multipart form data").
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "%22"))
}
