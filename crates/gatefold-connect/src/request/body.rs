//! The bodies of requests.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::action::{BodyArguments, BodyMedia, RequestBody};
use crate::media::MediaClass;

use super::encoded::{EncodedBody, OCTETS};
use super::error::RequestError;
use super::files::{BASE64, FileContent};
use super::forms::{content_text, form};
use super::multipart;
use super::template::filled;

/// The name in [`BodyMedia::files`] that stands for the whole body.
const WHOLE: &str = "*";

/// What stands for the body in a message where it is made of several arguments.
const THE_BODY: &str = "body";

/// The body that the arguments make. None where nothing is to be sent.
pub(super) fn encoded(
    body: &RequestBody,
    arguments: &Map<String, Value>,
) -> Result<Option<EncodedBody>, RequestError> {
    let (argument, value) = match &body.arguments {
        BodyArguments::Whole(name) => (name.as_str(), arguments.get(name).map(Cow::Borrowed)),
        BodyArguments::Members { names, required } => {
            (THE_BODY, members(names, arguments, *required).map(Cow::Owned))
        }
        BodyArguments::Template(template) => {
            (THE_BODY, filled(template, arguments).map(Cow::Owned))
        }
    };
    let Some(value) = value else { return Ok(None) };
    let media = chosen(body, arguments, &value)?;
    // Only JSON has a way to write it.
    if value.is_null() && MediaClass::of(&media.media_type) != MediaClass::Json {
        return Ok(None);
    }
    written(argument, media, &value).map(Some)
}

fn members(names: &[String], arguments: &Map<String, Value>, required: bool) -> Option<Value> {
    let given = |name: &String| Some((name.clone(), arguments.get(name)?.clone()));
    let members: Map<_, _> = names.iter().filter_map(given).collect();
    (required || !members.is_empty()).then_some(Value::Object(members))
}

/// The media type that the arguments choose, else the preferred one. A file is sent as one where that is
/// possible.
fn chosen<'a>(
    body: &'a RequestBody,
    arguments: &Map<String, Value>,
    value: &Value,
) -> Result<&'a BodyMedia, RequestError> {
    let choice = body.choice.as_ref().and_then(|argument| {
        Some((argument, arguments.get(argument).filter(|choice| !choice.is_null())?))
    });
    let Some((argument, choice)) = choice else {
        let is_file = value.get(BASE64).is_some_and(Value::is_string);
        let of_files = body.media.iter().find(|media| is_file && takes_files(media));
        return Ok(of_files.or(body.media.first()).expect("a body has a media type"));
    };
    let mut types = body.media.iter();
    types.find(|media| choice.as_str() == Some(&media.media_type)).ok_or_else(|| {
        let types = body.media.iter().map(|media| format!("`{}`", media.media_type));
        let types = types.collect::<Vec<_>>().join(", ");
        RequestError::argument(argument, format!("has to be one of {types}"))
    })
}

fn takes_files(media: &BodyMedia) -> bool {
    media.files.iter().any(|name| name == WHOLE)
}

fn written(argument: &str, media: &BodyMedia, value: &Value) -> Result<EncodedBody, RequestError> {
    let class = MediaClass::of(&media.media_type);
    if takes_files(media) || is_file(class, value) {
        return file(argument, media, class, value);
    }
    let text = match (class, value) {
        (MediaClass::Multipart, Value::Object(members)) => {
            return multipart::encoded(argument, media, members);
        }
        (MediaClass::Form, Value::Object(members)) => form(argument, members, &media.encoding)?,
        // A form may come as the text that it is.
        (MediaClass::Form, Value::String(text)) => text.clone(),
        (MediaClass::Multipart | MediaClass::Form, _) => {
            return Err(RequestError::argument(argument, "has to be an object"));
        }
        (MediaClass::Any, value) => {
            let media_type = if value.is_string() { "text/plain" } else { "application/json" };
            let text = content_text(argument, media_type, value)?;
            return EncodedBody::new(argument, media_type, text);
        }
        (MediaClass::Text, Value::Object(_) | Value::Array(_)) => {
            let fault = format!("has to be a text, written as `{}`", media.media_type);
            return Err(RequestError::argument(argument, fault));
        }
        (_, value) => content_text(argument, &media.media_type, value)?,
    };
    EncodedBody::new(argument, &media.media_type, text)
}

/// Whether a value is a file although the description does not say so.
fn is_file(class: MediaClass, value: &Value) -> bool {
    let may_be_bytes = matches!(
        class,
        MediaClass::Any | MediaClass::Bytes | MediaClass::Image | MediaClass::Audio
    );
    may_be_bytes && value.get(BASE64).is_some_and(Value::is_string)
}

fn file(
    argument: &str,
    media: &BodyMedia,
    class: MediaClass,
    value: &Value,
) -> Result<EncodedBody, RequestError> {
    let file = FileContent::new(argument, value)?;
    // `image/*` says what an API takes. A file has one type.
    let is_range = class == MediaClass::Any || media.media_type.contains('*');
    match file.media_type {
        Some(content_type) if is_range || media.media_type == OCTETS => {
            Ok(EncodedBody { content_type, bytes: file.bytes })
        }
        _ if is_range => EncodedBody::new(argument, OCTETS, file.bytes),
        _ => EncodedBody::new(argument, &media.media_type, file.bytes),
    }
}
