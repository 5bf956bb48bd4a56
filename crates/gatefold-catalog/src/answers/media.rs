//! Pictures and sounds by their bytes: model providers refuse a picture whose type is not what its bytes
//! are, and with it every later turn of the conversation.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, PAD};
use serde_json::json;

/// How many letters of base64 are read to say what its bytes are: a multiple of four.
const HEAD: usize = 1024;

/// As browsers read it: encoders may leave bits behind the last byte.
const READER: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, PAD.with_decode_allow_trailing_bits(true));

pub(super) struct Media<'a> {
    /// `image` or `audio`.
    pub(super) kind: &'a str,
    pub(super) data: Option<Cow<'a, str>>,
    /// The type that its source states.
    pub(super) stated: Option<Cow<'a, str>>,
}

pub(super) enum Repair {
    Members {
        data: String,
        media_type: String,
    },
    /// Something else in its place.
    Block(String),
}

impl Media<'_> {
    /// What is to be done about it. `None` if it is as it says.
    pub(super) fn repair(&self) -> Option<Repair> {
        let data = self.data.as_deref().unwrap_or_default();
        let Some(base64) = base64(data).filter(|base64| !base64.is_empty()) else {
            let fault =
                if data.trim().is_empty() { "without data" } else { "whose data is broken" };
            return Some(self.say(fault));
        };
        let head = &base64[..base64.len().min(HEAD)];
        let head = READER.decode(head).unwrap_or_default();
        let is_as_written = base64 == data;
        let stated = self.stated.as_deref().unwrap_or_default();
        match media_type(&head) {
            Some(found) if found.starts_with(self.kind) => {
                self.members(base64, found, is_as_written)
            }
            // There are more kinds of sounds than are known here.
            None if self.kind == "audio" && stated.starts_with("audio/") => {
                self.members(base64, stated, is_as_written)
            }
            found => Some(self.embed(&head, &base64, found)),
        }
    }

    fn members(&self, data: Cow<'_, str>, media_type: &str, is_as_written: bool) -> Option<Repair> {
        if is_as_written && self.stated.as_deref() == Some(media_type) {
            return None;
        }
        Some(Repair::Members { data: data.into_owned(), media_type: media_type.to_owned() })
    }

    fn say(&self, fault: &str) -> Repair {
        let stated =
            self.stated.as_deref().map(|stated| format!(" ({stated})")).unwrap_or_default();
        let text = format!("[{}{stated} {fault}]", self.kind);
        Repair::Block(json!({ "type": "text", "text": text }).to_string())
    }

    /// A file that no model can look at, as what it is. Its bytes stay encoded: a secret in them would not
    /// be found before they are read.
    fn embed(&self, head: &[u8], base64: &str, found: Option<&str>) -> Repair {
        let stated = self.stated.as_deref().unwrap_or_default().to_ascii_lowercase();
        let essence = stated.split(';').next().unwrap_or_default().trim().to_owned();
        // The last character may be cut.
        let text = match std::str::from_utf8(head) {
            Ok(text) => Some(text),
            Err(cut) if cut.error_len().is_none() => {
                std::str::from_utf8(&head[..cut.valid_up_to()]).ok()
            }
            Err(_) => None,
        };
        let media_type = match found {
            Some(found) => found.to_owned(),
            None if text.is_some_and(|text| text.contains("<svg")) => "image/svg+xml".to_owned(),
            None if text.is_some_and(|text| text.trim_start().starts_with('<')) => {
                "text/html".to_owned()
            }
            None if text.is_some_and(|text| !text.contains('\0')) => "text/plain".to_owned(),
            // It says that it is what its bytes are not.
            None if essence.is_empty() || is_known(&essence) => {
                "application/octet-stream".to_owned()
            }
            None => essence,
        };
        let uri = format!("attachment:{}", self.kind);
        let resource = json!({ "uri": uri, "mimeType": media_type, "blob": base64 });
        Repair::Block(json!({ "type": "resource", "resource": resource }).to_string())
    }
}

/// Data as base64 in the standard alphabet, with padding: without the start of a `data:` address, line
/// breaks, and the letters of the alphabet for addresses. `None` if it is none.
pub(super) fn base64(data: &str) -> Option<Cow<'_, str>> {
    let data = match data.trim().strip_prefix("data:") {
        Some(address) => address.split_once(',').filter(|(head, _)| head.ends_with(";base64"))?.1,
        None => data,
    };
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut base64 = Cow::Borrowed(data);
    if !data.bytes().all(|byte| is_letter(byte) || byte == b'=') {
        let letters = data.chars().filter(|c| !c.is_ascii_whitespace());
        let letter = |c| match c {
            '-' => '+',
            '_' => '/',
            c => c,
        };
        base64 = letters.map(letter).collect::<String>().into();
    }
    if base64.len() % 4 > 1 && !base64.ends_with('=') {
        let missing = 4 - base64.len() % 4;
        base64.to_mut().extend(std::iter::repeat_n('=', missing));
    }
    let letters = base64.strip_suffix("==").or(base64.strip_suffix('=')).unwrap_or(&base64);
    let is_whole = base64.len().is_multiple_of(4) && letters.bytes().all(is_letter);
    is_whole.then_some(base64)
}

/// Types that are recognized by their first bytes (WHATWG MIME Sniffing).
const TYPES: [(&str, &[u8]); 12] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF87a"),
    ("image/gif", b"GIF89a"),
    ("audio/ogg", b"OggS\0"),
    ("audio/flac", b"fLaC"),
    ("audio/mpeg", b"ID3"),
    ("audio/mpeg", b"\xff\xfb"),
    ("audio/mpeg", b"\xff\xf3"),
    ("audio/mpeg", b"\xff\xf2"),
    ("application/pdf", b"%PDF-"),
    ("application/zip", b"PK\x03\x04"),
];

/// The type that bytes begin as, of those that are known here.
pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let found = TYPES.iter().find(|(_, start)| bytes.starts_with(start));
    let riff = match (bytes.starts_with(b"RIFF"), bytes.get(8..12)) {
        (true, Some(b"WEBP")) => Some("image/webp"),
        (true, Some(b"WAVE")) => Some("audio/wav"),
        _ => None,
    };
    found.map(|(media_type, _)| *media_type).or(riff)
}

fn is_known(media_type: &str) -> bool {
    let is_riff = matches!(media_type, "image/webp" | "audio/wav");
    is_riff || media_type == "image/jpg" || TYPES.iter().any(|(known, _)| *known == media_type)
}
