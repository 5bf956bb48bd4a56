//! From an API's answer to a result.

mod blocks;
mod charset;
mod extract;
mod failure;
mod notes;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use gatefold_core::{Payload, Timestamp};
use gatefold_egress::FirstRedirect;
use gatefold_secrecy::KnownSecrets;
use http::{HeaderMap, Method, StatusCode, header};
use serde_json::value::RawValue;
use url::Url;

use crate::action::{Action, ResultShape};
use crate::media::{MediaClass, essence};

use blocks::{Block, StructuredContent, ToolResult};
pub use extract::{EXTRACT_TASK, check_extract};
pub(crate) use extract::{ExtractedValues, extract};

/// The longest text of all headers, in bytes.
const MAX_HEADER_TEXT: usize = 4 * 1024;

/// What an API answered, its body read, limited and decompressed.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedAnswer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Where its body was cut, if it was.
    pub(crate) cut: Option<StreamCut>,
}

/// Why a stream was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamCut {
    /// It did not end within this time.
    Time(Duration),
    /// It did not end within the limit of bytes.
    Size,
    /// The connection broke.
    Broken,
}

/// What a result depends on, besides the answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerReading<'a> {
    pub(crate) action: &'a Action,
    /// The URL as it was sent: links are relative to it.
    pub(crate) url: &'a Url,
    /// What the action's program made of [`ReceivedAnswer::extractable`], if it has one.
    pub(crate) extracted: Option<&'a Result<ExtractedValues, String>>,
    /// Which credential is configured, or what would configure one: told where the API wants another. Never
    /// its value.
    pub(crate) credential: &'a str,
    pub(crate) secrets: &'a KnownSecrets,
    pub(crate) now: Timestamp,
}

impl StreamCut {
    fn note(self) -> String {
        match self {
            Self::Time(time) => {
                format!(
                    "the answer is a stream that went on: this is what came in {} s",
                    time.as_secs_f32()
                )
            }
            Self::Size => "the answer is a stream that went on: this is its beginning".to_owned(),
            Self::Broken => "the answer is a stream that broke off: this is what came".to_owned(),
        }
    }
}

impl ReceivedAnswer {
    /// The answer to a call that was carried out and is sent on to read what came of it.
    pub(crate) fn of_redirect(redirect: &FirstRedirect) -> Self {
        let path = redirect.path.as_ref().and_then(|path| path.expose().parse().ok());
        let headers = path.map(|path| (header::LOCATION, path)).into_iter().collect();
        Self { status: redirect.status, headers, body: Bytes::new(), cut: None }
    }

    /// The text that an action's program is given, without secrets. A failure, an empty body and a file have none.
    pub(crate) fn extractable(
        &self,
        action: &Action,
        secrets: &KnownSecrets,
    ) -> Option<Cow<'_, str>> {
        if self.body.is_empty() || is_failure(self.status) || self.follows_effect(action) {
            return None;
        }
        self.text().map(|text| self.masked(text, secrets))
    }

    /// The result for the model. An API's failure is a result too, one that says how to mend the call.
    pub(crate) fn payload(&self, reading: &AnswerReading<'_>) -> Payload {
        // What a program has read is not read again.
        let text = if reading.extracted.is_some() { None } else { self.text() };
        let text = text.map(|text| self.masked(text, reading.secrets));
        let result = if self.follows_effect(reading.action) {
            self.redirected(reading)
        } else if is_failure(self.status) {
            failure::result(self, text.as_deref(), reading)
        } else {
            self.success(text.as_deref(), reading)
        };
        // Headers were not masked before, nor what is in base64.
        result.payload(reading.secrets)
    }

    fn success<'t>(&self, text: Option<&'t str>, reading: &AnswerReading<'t>) -> ToolResult<'t> {
        let mut result = match (text, reading.extracted) {
            _ if self.body.is_empty() && self.cut.is_some() => ToolResult::text(""),
            _ if self.body.is_empty() => ToolResult::text(self.empty_text(reading.action)),
            (_, Some(Ok(values))) => extracted(values, reading.action.result),
            (_, Some(Err(fault))) => {
                let status = status_text(self.status);
                return ToolResult::error(format!("the API answered {status}, but {fault}"));
            }
            (Some(text), None) => self.text_result(text, reading.action.result),
            (None, _) => self.media_result(reading),
        };
        let mut notes = notes::of(self, reading);
        // A body may say where the result is as well.
        let has_place = matches!(self.status, StatusCode::CREATED | StatusCode::ACCEPTED);
        let place = self.result_place().filter(|_| has_place && !self.body.is_empty());
        let place = place.filter(|place| text.is_none_or(|text| !text.contains(place.as_str())));
        notes.extend(place.map(|place| format!("see {place}")));
        notes.extend(self.cut.map(StreamCut::note));
        result.content.extend((!notes.is_empty()).then(|| Block::text(notes.join("; "))));
        result
    }

    /// Whether it sends its client on to read what came of the call.
    fn follows_effect(&self, action: &Action) -> bool {
        let is_read = ["GET", "HEAD", "OPTIONS"].contains(&action.method.as_str());
        !is_read && matches!(self.status, StatusCode::FOUND | StatusCode::SEE_OTHER)
    }

    /// Browsers are also sent on where they have to sign in first, and then nothing was done.
    fn redirected(&self, reading: &AnswerReading<'_>) -> ToolResult<'static> {
        let status = status_text(self.status);
        match self.header(header::LOCATION.as_str()) {
            Some(location) if leads_to_sign_in(&location) => ToolResult::error(format!(
                "the API answered {status} and leads to its sign-in page, so nothing was done\n{}",
                reading.credential
            )),
            Some(location) => ToolResult::text(format!("{status}: it took effect, see {location}")),
            None => ToolResult::text(format!(
                "{status}: it took effect; what came of it is at another address, which is not read"
            )),
        }
    }

    /// The body, if people can read it.
    fn text(&self) -> Option<Cow<'_, str>> {
        let media_type = self.media_type();
        let class = match media_type.as_deref() {
            Some(media_type) => MediaClass::of(media_type),
            None if std::str::from_utf8(&self.body).is_ok() => MediaClass::Text,
            None => MediaClass::Bytes,
        };
        let is_text = matches!(
            class,
            MediaClass::Json | MediaClass::JsonLines | MediaClass::Form | MediaClass::Text
        );
        is_text.then(|| charset::decoded(&self.body, media_type.as_deref()))
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
        match self.result_place() {
            Some(place) => format!("{status}: done, see {place}"),
            None => format!("{status}: done"),
        }
    }

    /// Where what was made is, or will be (RFC 9110, sections 15.3.2 and 15.3.3). Some say of what goes on that it
    /// is an operation.
    fn result_place(&self) -> Option<String> {
        let location = self.header(header::LOCATION.as_str());
        let of_operation = || self.header("operation-location");
        location.or_else(of_operation).filter(|place| !place.is_empty() && self.status.is_success())
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

/// Whether a part of the path is one that pages to sign in have.
fn leads_to_sign_in(location: &str) -> bool {
    let path = location.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let plain = |part: &str| part.replace(['-', '_'], "");
    let names = ["login", "signin", "logon", "sso", "oauth", "authorize"];
    path.split(['/', '.']).any(|part| names.contains(&plain(part).as_str()))
}

/// `404 Not Found`.
fn status_text(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn extracted(values: &ExtractedValues, shape: ResultShape) -> ToolResult<'_> {
    let mut result = ToolResult::text(&values.text);
    let Some(json) = values.json.as_deref() else { return result };
    result.structured_content = match shape {
        ResultShape::Wrapped => Some(StructuredContent::Wrapped { result: Cow::Borrowed(json) }),
        ResultShape::Plain if json.get().starts_with('{') => {
            Some(StructuredContent::Plain(Cow::Borrowed(json)))
        }
        ResultShape::Plain => None,
    };
    result
}
