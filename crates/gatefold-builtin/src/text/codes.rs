//! Encodings and digests.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256, Sha512};

use crate::BuiltinError;

pub(super) const ENCODINGS: [&str; 5] = ["base64", "base64url", "hex", "url", "json"];
pub(super) const HASHES: [&str; 2] = ["sha256", "sha512"];

/// What a part of a URL may have as it is (RFC 3986, 2.3).
const URL_PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Reads base64 with and without padding.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

#[derive(Serialize, Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum TextEncoding {
    Base64,
    Base64url,
    Hex,
    Url,
    Json,
}

#[derive(Serialize, Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
pub(super) enum HashName {
    #[default]
    Sha256,
    Sha512,
}

pub(super) fn encoded(text: &str, encoding: TextEncoding) -> String {
    match encoding {
        TextEncoding::Base64 => STANDARD.encode(text),
        TextEncoding::Base64url => URL_SAFE_NO_PAD.encode(text),
        TextEncoding::Hex => hex(text.as_bytes()),
        TextEncoding::Url => utf8_percent_encode(text, URL_PART).to_string(),
        TextEncoding::Json => serde_json::Value::from(text).to_string(),
    }
}

pub(super) fn decoded(text: &str, encoding: TextEncoding) -> Result<String, BuiltinError> {
    let bytes = match encoding {
        TextEncoding::Base64 => from_base64(text, &base64::alphabet::STANDARD),
        TextEncoding::Base64url => from_base64(text, &base64::alphabet::URL_SAFE),
        TextEncoding::Hex => from_hex(text),
        TextEncoding::Url => Some(percent_decode_str(text).collect()),
        TextEncoding::Json => serde_json::from_str::<String>(text).ok().map(String::into_bytes),
    };
    let name = name(encoding);
    let bytes = bytes.ok_or_else(|| BuiltinError::arguments(format!("`text` is not {name}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let size = error.as_bytes().len();
        BuiltinError::arguments(format!("it decodes to {size} bytes that are no text"))
    })
}

pub(super) fn hashed(text: &str, algorithm: HashName) -> String {
    match algorithm {
        HashName::Sha256 => hex(&Sha256::digest(text)),
        HashName::Sha512 => hex(&Sha512::digest(text)),
    }
}

fn name(encoding: TextEncoding) -> &'static str {
    match encoding {
        TextEncoding::Base64 => "base64",
        TextEncoding::Base64url => "base64 for URLs",
        TextEncoding::Hex => "hex",
        TextEncoding::Url => "percent-encoded",
        TextEncoding::Json => "a JSON string",
    }
}

/// Line breaks and spaces in it are common, and mean nothing.
fn from_base64(text: &str, alphabet: &base64::alphabet::Alphabet) -> Option<Vec<u8>> {
    let bare: String = text.split_whitespace().collect();
    GeneralPurpose::new(alphabet, LENIENT).decode(bare).ok()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let bare: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let (pairs, rest) = bare.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
