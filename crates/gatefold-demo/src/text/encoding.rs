//! A text as bytes and back.

use std::fmt::Write;

use base64::{
    Engine,
    engine::{
        DecodePaddingMode,
        general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD, URL_SAFE_NO_PAD},
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256, Sha512};

use crate::{
    arguments::Text,
    error::{ToolError, refuse},
    text::Input,
};

/// Enough for 50,000 characters of UTF-8 at four bytes each.
const MAX_BASE64_CHARS: usize = 270_000;

/// Encode a text as Base64 of its UTF-8 bytes (RFC 4648).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EncodeBase64 {
    /// Text to encode.
    text: Input,
    /// Use the alphabet for web addresses and no padding. Default false.
    #[serde(default)]
    url_safe: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Encoded {
    base64: String,
}

/// Decode Base64, either alphabet, padded or not, into a text. Fails when the bytes are not
/// UTF-8.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DecodeBase64 {
    /// Base64 to decode; white space is ignored.
    base64: Text<0, MAX_BASE64_CHARS>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Decoded {
    text: String,
}

/// Compute the SHA-256 or SHA-512 digest of a text's UTF-8 bytes, in hexadecimal.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HashText {
    /// Text to digest.
    text: Input,
    /// Default "sha256".
    algorithm: Option<Algorithm>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Algorithm {
    Sha256,
    Sha512,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Hashed {
    /// Lower-case hexadecimal.
    digest: String,
    bytes_hashed: usize,
}

pub(super) fn encode_base64(arguments: &EncodeBase64) -> Encoded {
    let engine = if arguments.url_safe { &URL_SAFE_NO_PAD } else { &STANDARD };
    Encoded { base64: engine.encode(arguments.text.as_bytes()) }
}

pub(super) fn decode_base64(arguments: &DecodeBase64) -> Result<Decoded, ToolError> {
    let lenient = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let standard: String = arguments
        .base64
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    let bytes = lenient.decode(standard).map_err(|error| {
        refuse(format!("`base64` cannot be decoded: {error}"), "check that it was copied whole")
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        refuse("the bytes are not UTF-8 text", "only encoded text can be shown here")
    })?;
    Ok(Decoded { text })
}

pub(super) fn hash_text(arguments: &HashText) -> Hashed {
    let bytes = arguments.text.as_bytes();
    let digest = match arguments.algorithm.unwrap_or(Algorithm::Sha256) {
        Algorithm::Sha256 => hexadecimal(&Sha256::digest(bytes)),
        Algorithm::Sha512 => hexadecimal(&Sha512::digest(bytes)),
    };
    Hashed { digest, bytes_hashed: bytes.len() }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}
