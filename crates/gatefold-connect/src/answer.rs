//! From an API's answer to a result.

mod blocks;
mod charset;
mod extract;
mod failure;
mod notes;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use bytes::Bytes;
use gatefold_core::{Payload, Timestamp};
use gatefold_policy::secrecy::KnownSecrets;
use http::{HeaderMap, Method, StatusCode, header};
use serde_json::value::RawValue;
use url::Url;

use crate::action::{Action, ResultShape};
use crate::media::{MediaClass, essence};

use blocks::{Block, StructuredContent, ToolResult};
pub use extract::Extract;
use extract::ExtractedValues;

/// The longest text of all headers, in bytes.
const MAX_HEADER_TEXT: usize = 4 * 1024;

/// What an API answered, its body read, limited and decompressed.
#[derive(Debug, Clone)]
pub struct ReceivedAnswer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// What a result depends on, besides the answer.
#[derive(Debug, Clone, Copy)]
pub struct AnswerReading<'a> {
    pub action: &'a Action,
    /// The URL as it was sent: links are relative to it.
    pub url: &'a Url,
    pub extract: Option<&'a Extract>,
    /// Which credential is configured, or what would configure one: told where the API wants another. Never
    /// its value.
    pub credential: &'a str,
    pub secrets: &'a KnownSecrets,
    pub now: Timestamp,
}

impl ReceivedAnswer {
    /// The result for the model. An API's failure is a result too, one that says how to mend the call.
    pub fn payload(&self, reading: &AnswerReading<'_>) -> Payload {
        let text = self.text().map(|text| self.masked(text, reading.secrets));
        let result = if is_failure(self.status) {
            failure::result(self, text.as_deref(), reading)
        } else {
            self.success(text.as_deref(), reading)
        };
        // Headers were not masked before, nor what is in base64.
        result.payload(reading.secrets)
    }

    fn success<'t>(&self, text: Option<&'t str>, reading: &AnswerReading<'_>) -> ToolResult<'t> {
        let mut result = match (text, reading.extract) {
            _ if self.body.is_empty() => ToolResult::text(self.empty_text(reading.action)),
            (Some(text), Some(extract)) => match extract.run(text) {
                Ok(values) => extracted(values, reading.action.result),
                Err(fault) => {
                    let status = status_text(self.status);
                    return ToolResult::error(format!("the API answered {status}, but {fault}"));
                }
            },
            (Some(text), None) => self.text_result(text, reading.action.result),
            (None, _) => self.media_result(reading),
        };
        let notes = notes::of(self, reading);
        result.content.extend((!notes.is_empty()).then(|| Block::text(notes.join("; "))));
        result
    }

    /// The body, if people can read it.
    fn text(&self) -> Option<Cow<'_, str>> {
        let class = match self.media_type() {
            Some(media_type) => MediaClass::of(&media_type),
            None if std::str::from_utf8(&self.body).is_ok() => MediaClass::Text,
            None => MediaClass::Bytes,
        };
        let is_text = matches!(
            class,
            MediaClass::Json | MediaClass::JsonLines | MediaClass::Form | MediaClass::Text
        );
        is_text.then(|| charset::decoded(&self.body))
    }

    fn masked<'t>(&self, text: Cow<'t, str>, secrets: &KnownSecrets) -> Cow<'t, str> {
        if !secrets.may_be_in(text.as_bytes()) {
            return text;
        }
        // Escapes in JSON must not hide a secret.
        let is_json = self.may_be_json() && serde_json::from_str::<&RawValue>(&text).is_ok();
        let masked = if is_json { secrets.mask_json(&text) } else { secrets.mask(&text) };
        Cow::Owned(masked.into_owned())
    }

    /// Whether the body may be read as JSON: servers often do not say that it is.
    fn may_be_json(&self) -> bool {
        self.media_type().is_none_or(|media_type| MediaClass::of(&media_type) == MediaClass::Json)
    }

    fn text_result<'t>(&self, text: &'t str, shape: ResultShape) -> ToolResult<'t> {
        let json = self.may_be_json().then(|| serde_json::from_str::<&RawValue>(text).ok());
        let mut result = ToolResult::text(text);
        result.structured_content = match (json.flatten(), shape) {
            (Some(json), ResultShape::Wrapped) => {
                Some(StructuredContent::Wrapped { result: Cow::Borrowed(json) })
            }
            (Some(json), ResultShape::Plain) if json.get().starts_with('{') => {
                Some(StructuredContent::Plain(Cow::Borrowed(json)))
            }
            (None, ResultShape::Wrapped) => {
                let text = serde_json::value::to_raw_value(text).expect("a text is JSON");
                Some(StructuredContent::Wrapped { result: Cow::Owned(text) })
            }
            (_, ResultShape::Plain) => None,
        };
        result
    }

    fn media_result(&self, reading: &AnswerReading<'_>) -> ToolResult<'static> {
        let media_type = self.media_type().unwrap_or_else(|| "application/octet-stream".to_owned());
        let essence = essence(&media_type);
        match MediaClass::of(&media_type) {
            MediaClass::Image => ToolResult::of(Block::image(&self.body, essence)),
            MediaClass::Audio => ToolResult::of(Block::audio(&self.body, essence)),
            _ => {
                let disposition = self.header("content-disposition");
                let filename = blocks::filename(disposition.as_deref(), reading.url);
                // It is encoded in an address, where a secret would not be found.
                let filename = reading.secrets.mask(&filename);
                let said = format!("{filename}: {essence}, {} bytes", self.body.len());
                let mut result = ToolResult::text(said);
                result.content.push(Block::file(&self.body, &filename, essence));
                result
            }
        }
    }

    fn empty_text(&self, action: &Action) -> String {
        let status = status_text(self.status);
        if action.method == Method::HEAD.as_str() {
            return format!("{status}\n{}", self.header_lines());
        }
        match self.header("location") {
            Some(location) => format!("{status}: done, see {location}"),
            None => format!("{status}: done"),
        }
    }

    /// The headers, which are all that there is to an answer without a body.
    fn header_lines(&self) -> String {
        let lines = self.headers.iter().filter(|(name, _)| *name != header::SET_COOKIE);
        let lines = lines
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())));
        let mut text = lines.collect::<Vec<_>>().join("\n");
        text.truncate(text.floor_char_boundary(MAX_HEADER_TEXT));
        text
    }

    fn media_type(&self) -> Option<String> {
        self.header(header::CONTENT_TYPE.as_str()).filter(|media_type| !media_type.is_empty())
    }

    /// A header as text, whatever its bytes are.
    fn header(&self, name: &str) -> Option<String> {
        let value = self.headers.get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
    }
}

/// What asks for another request is a failure here, since redirects were followed already.
fn is_failure(status: StatusCode) -> bool {
    status.as_u16() >= 400 || (status.is_redirection() && status != StatusCode::NOT_MODIFIED)
}

/// `404 Not Found`.
fn status_text(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn extracted(values: ExtractedValues, shape: ResultShape) -> ToolResult<'static> {
    let mut result = ToolResult::text(values.text());
    let Some(json) = values.json() else { return result };
    result.structured_content = match shape {
        ResultShape::Wrapped => Some(StructuredContent::Wrapped { result: Cow::Owned(json) }),
        ResultShape::Plain if json.get().starts_with('{') => {
            Some(StructuredContent::Plain(Cow::Owned(json)))
        }
        ResultShape::Plain => None,
    };
    result
}
