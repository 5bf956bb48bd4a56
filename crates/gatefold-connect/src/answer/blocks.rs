//! The result of a tool in the protocol's form (MCP, "Tool Result").

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatefold_core::Payload;
use gatefold_secrecy::KnownSecrets;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use url::Url;

use crate::media::parameter;

/// The longest name of a file, in characters.
const MAX_FILENAME: usize = 200;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolResult<'t> {
    pub(super) content: Vec<Block<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) structured_content: Option<StructuredContent<'t>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum StructuredContent<'t> {
    Plain(Cow<'t, RawValue>),
    Wrapped { result: Cow<'t, RawValue> },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Block<'t> {
    Text {
        text: Cow<'t, str>,
    },
    Image {
        data: String,
        #[serde(rename = "mimeType")]
        media_type: String,
    },
    Audio {
        data: String,
        #[serde(rename = "mimeType")]
        media_type: String,
    },
    Resource {
        resource: FileResource,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct FileResource {
    uri: String,
    #[serde(rename = "mimeType")]
    media_type: String,
    blob: String,
}

impl<'t> ToolResult<'t> {
    pub(super) fn of(block: Block<'t>) -> Self {
        Self { content: vec![block], structured_content: None, is_error: false }
    }

    pub(super) fn text(text: impl Into<Cow<'t, str>>) -> Self {
        Self::of(Block::text(text))
    }

    pub(super) fn error(text: impl Into<Cow<'t, str>>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    pub(super) fn payload(&self, secrets: &KnownSecrets) -> Payload {
        let json = to_raw_value(self).expect("a result is JSON");
        let is_error = self.is_error;
        let json = match secrets.mask_json(json.get()) {
            Cow::Borrowed(_) => json,
            Cow::Owned(masked) => RawValue::from_string(masked).expect("masking keeps JSON"),
        };
        Payload { json, is_error }
    }
}

impl<'t> Block<'t> {
    pub(super) fn text(text: impl Into<Cow<'t, str>>) -> Self {
        Self::Text { text: text.into() }
    }

    pub(super) fn image(bytes: &[u8], media_type: String) -> Self {
        Self::Image { data: STANDARD.encode(bytes), media_type }
    }

    pub(super) fn audio(bytes: &[u8], media_type: String) -> Self {
        Self::Audio { data: STANDARD.encode(bytes), media_type }
    }

    /// A file. Its address only carries its name: nothing can be read there.
    pub(super) fn file(bytes: &[u8], filename: &str, media_type: String) -> Self {
        let uri = format!("attachment:{}", utf8_percent_encode(filename, FILENAME));
        let blob = STANDARD.encode(bytes);
        Self::Resource { resource: FileResource { uri, media_type, blob } }
    }
}

const FILENAME: &percent_encoding::AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The name of an answer that is a file: its own (RFC 6266), else the last part of its address.
pub(super) fn filename(disposition: Option<&str>, url: &Url) -> String {
    let own = disposition.and_then(|disposition| {
        let extended = parameter(disposition, "filename*").and_then(|text| {
            let (_, encoded) = text.split_once("''")?;
            Some(percent_decode_str(encoded).decode_utf8_lossy().into_owned())
        });
        extended.or_else(|| parameter(disposition, "filename"))
    });
    let last = || url.path_segments().and_then(|mut segments| segments.next_back());
    let name = own.or_else(|| Some(percent_decode_str(last()?).decode_utf8_lossy().into_owned()));
    let name = name.unwrap_or_default();
    // A name is no path, whoever saves the file.
    let bare = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let bare: String = bare.chars().filter(|c| !c.is_control()).take(MAX_FILENAME).collect();
    let bare = bare.trim_matches([' ', '.']);
    if bare.is_empty() { "file".to_owned() } else { bare.to_owned() }
}
