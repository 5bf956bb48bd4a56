//! Which format a document has by its bytes.

use crate::pdf::is_pdf;
use crate::{DocumentFault, Format, Hints};

/// What to do with a file of an older Office.
const SAVE_AS_OFFICE: &str = "save it as DOCX, PPTX, XLSX or PDF";

/// How much of a file is looked at to know what it is, in bytes.
const LOOKED_AT: usize = 8 * 1024;

/// What the first bytes say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sniffed {
    Format(Format),
    /// A ZIP archive: its members say what it is.
    Archive,
}

/// Whether bytes begin as documents do that are no text: PDF and the files of offices.
pub fn is_document(bytes: &[u8]) -> bool {
    is_pdf(bytes) || bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(COMPOUND)
}

/// How the files of older offices begin, and encrypted ones of today's.
const COMPOUND: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// What a document is by its bytes, and where they leave it open by its media type and its name.
pub(crate) fn sniff(bytes: &[u8], hints: &Hints<'_>) -> Result<Sniffed, DocumentFault> {
    let by_hints = hints.format();
    if bytes.starts_with(b"PK\x03\x04") {
        return Ok(Sniffed::Archive);
    }
    if bytes.starts_with(COMPOUND) {
        return Err(compound_fault(bytes, by_hints));
    }
    // Its header may come later in the file, which its reader finds.
    if is_pdf(bytes) || by_hints == Some(Format::Pdf) {
        return Ok(Sniffed::Format(Format::Pdf));
    }
    if let Some(format) = by_hints.filter(|format| !format.is_text()) {
        return Err(DocumentFault::OtherFormat(format));
    }
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    if let Some(known) = known_binary(head) {
        return Err(DocumentFault::Unknown(known, "only texts and documents are"));
    }
    let is_wide = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    if head.contains(&0) && !is_wide {
        return Err(DocumentFault::NotText);
    }
    let by_bytes = || if is_wide { Format::Text } else { text_format(head) };
    Ok(Sniffed::Format(by_hints.unwrap_or_else(by_bytes)))
}

/// An encrypted DOCX, PPTX or XLSX is a stream of that name in an old container.
fn compound_fault(bytes: &[u8], by_hints: Option<Format>) -> DocumentFault {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    if bytes.windows(name.len()).any(|window| window == name) {
        return DocumentFault::Encrypted(by_hints.unwrap_or(Format::Docx));
    }
    DocumentFault::Unknown("a file of an older Office (DOC, PPT, XLS, MSG)", SAVE_AS_OFFICE)
}

fn known_binary(head: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 10] = [
        (b"\x89PNG", "a picture (PNG)"),
        (b"\xff\xd8\xff", "a picture (JPEG)"),
        (b"GIF8", "a picture (GIF)"),
        (b"\x1f\x8b", "a compressed file (gzip)"),
        (b"BZh", "a compressed file (bzip2)"),
        (b"\xfd7zXZ", "a compressed file (xz)"),
        (b"7z\xbc\xaf", "an archive (7z)"),
        (b"Rar!", "an archive (RAR)"),
        (b"\x7fELF", "a program"),
        (b"{\\rtf", "RTF"),
    ];
    kinds.iter().find(|(begin, _)| head.starts_with(begin)).map(|(_, name)| *name)
}

/// Headers that mail has.
const OF_MAIL: [&str; 8] = [
    "from:",
    "to:",
    "date:",
    "subject:",
    "received:",
    "message-id:",
    "mime-version:",
    "return-path:",
];

/// What a text is that has neither a name nor a media type that says so.
fn text_format(head: &[u8]) -> Format {
    let text = String::from_utf8_lossy(head);
    let begin = text.trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    if begin.starts_with("<!doctype html") || begin.starts_with("<html") {
        return Format::Html;
    }
    let headers = begin.lines().take_while(|line| !line.trim().is_empty());
    let mut of_mail = 0;
    for line in headers {
        let is_header = line.starts_with([' ', '\t'])
            || line.split_once(':').is_some_and(|(name, _)| {
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic())
            });
        if !is_header {
            return Format::Text;
        }
        of_mail += usize::from(OF_MAIL.iter().any(|name| line.starts_with(name)));
    }
    if of_mail >= 3 { Format::Eml } else { Format::Text }
}
