//! Files among the arguments: `{filename, media_type, base64}`, or base64 alone.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use http::HeaderValue;
use serde_json::Value;

use super::error::RequestError;

/// Models and programs leave out the padding as they please.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// The member of a file that is its content.
pub(super) const BASE64: &str = "base64";

/// A file that is sent.
#[derive(Debug)]
pub(super) struct FileContent {
    pub(super) filename: Option<String>,
    pub(super) media_type: Option<HeaderValue>,
    pub(super) bytes: Bytes,
}

impl FileContent {
    pub(super) fn new(argument: &str, value: &Value) -> Result<Self, RequestError> {
        let base64 = match value {
            Value::String(base64) => base64,
            Value::Object(file) => match file.get(BASE64) {
                Some(Value::String(base64)) => base64,
                _ => return Err(RequestError::argument(argument, NOT_A_FILE)),
            },
            _ => return Err(RequestError::argument(argument, NOT_A_FILE)),
        };
        let own = |name: &str| value.get(name).and_then(Value::as_str);
        let media_type = own("media_type").map(|text| {
            let is_legal =
                |text: &&str| text.contains('/') && text.bytes().all(|b| matches!(b, b' '..=b'~'));
            let value =
                Some(text).filter(is_legal).and_then(|text| HeaderValue::from_str(text).ok());
            value.ok_or_else(|| {
                RequestError::argument(
                    argument,
                    "has a `media_type` that is none, like `image/png`",
                )
            })
        });
        Ok(Self {
            filename: own("filename").map(str::to_owned),
            media_type: media_type.transpose()?,
            bytes: decoded(argument, base64)?,
        })
    }
}

const NOT_A_FILE: &str =
    "is no file: give `{\"filename\": ..., \"media_type\": ..., \"base64\": ...}`";

fn decoded(argument: &str, base64: &str) -> Result<Bytes, RequestError> {
    let dense: String = base64.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let engine = if dense.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let bytes = engine.decode(&dense).map_err(|error| {
        let fault = format!("is not base64, which is what a file's content has to be: {error}");
        RequestError::argument(argument, fault)
    })?;
    Ok(bytes.into())
}
