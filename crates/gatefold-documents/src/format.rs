//! Which format a document has.

use std::fmt::{self, Display};

use crate::DocumentFault;
use crate::pdf::is_pdf;

/// What is known of a document besides its bytes. Where bytes say what they are, these are not asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'h> {
    /// Its file name or path.
    pub name: Option<&'h str>,
    /// Its media type, with or without parameters.
    pub media_type: Option<&'h str>,
    /// Its address, from which its links are read.
    pub address: Option<&'h url::Url>,
}

impl Hints<'_> {
    pub(crate) fn format(&self) -> Option<Format> {
        let by_media_type = self.media_type.and_then(Format::of_media_type);
        by_media_type.or_else(|| self.name.and_then(Format::of_name))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Code,
    Markdown,
    Html,
    Csv,
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    Eml,
}

/// What to do with a file of an older Office.
const SAVE_AS_OFFICE: &str = "save it as DOCX, PPTX, XLSX or PDF";

/// How much of a file is looked at to know what it is, in bytes.
const LOOKED_AT: usize = 8 * 1024;

const CODE: [&str; 54] = [
    "asm", "bash", "bat", "c", "cc", "cfg", "clj", "cmake", "conf", "cpp", "cs", "css", "dart",
    "diff", "el", "erl", "ex", "exs", "go", "h", "hpp", "hs", "ini", "java", "jl", "js", "json",
    "jsonl", "jsx", "kt", "lisp", "lua", "m", "ml", "patch", "php", "pl", "proto", "ps1", "py",
    "r", "rb", "rs", "scala", "scm", "sh", "sql", "swift", "toml", "ts", "tsx", "xml", "yaml",
    "yml",
];

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Code => "code",
            Self::Markdown => "Markdown",
            Self::Html => "HTML",
            Self::Csv => "CSV",
            Self::Pdf => "PDF",
            Self::Docx => "DOCX",
            Self::Pptx => "PPTX",
            Self::Xlsx => "XLSX",
            Self::Eml => "mail",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Text | Self::Code => "text/plain",
            Self::Markdown => "text/markdown",
            Self::Html => "text/html",
            Self::Csv => "text/csv",
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pptx => {
                "application/vnd.openxmlformats-officedocument.presentationml.presentation"
            }
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Eml => "message/rfc822",
        }
    }

    /// The format of a media type that names one of these.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        let media_type = media_type.to_ascii_lowercase();
        match &media_type[..] {
            "text/markdown" | "text/x-markdown" => Some(Self::Markdown),
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "text/csv" | "text/tab-separated-values" => Some(Self::Csv),
            "application/json"
            | "application/xml"
            | "text/xml"
            | "application/yaml"
            | "application/javascript"
            | "text/javascript"
            | "text/css" => Some(Self::Code),
            other => [Self::Pdf, Self::Docx, Self::Pptx, Self::Xlsx, Self::Eml]
                .into_iter()
                .find(|format| format.media_type() == other),
        }
    }

    /// The format of a file name or a path whose ending says it.
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit(['/', '\\']).next()?.rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        Some(match &extension[..] {
            "md" | "markdown" | "mdx" => Self::Markdown,
            "html" | "htm" | "xhtml" => Self::Html,
            "csv" | "tsv" => Self::Csv,
            "pdf" => Self::Pdf,
            "docx" | "docm" | "dotx" => Self::Docx,
            "pptx" | "pptm" | "potx" | "ppsx" => Self::Pptx,
            "xlsx" | "xlsm" | "xltx" => Self::Xlsx,
            "eml" => Self::Eml,
            "txt" | "text" | "log" | "rst" | "adoc" | "tex" => Self::Text,
            code if CODE.contains(&code) => Self::Code,
            _ => return None,
        })
    }

    /// Whether its text has the lines of its file.
    pub fn has_lines(self) -> bool {
        matches!(self, Self::Text | Self::Code | Self::Markdown)
    }

    fn is_text(self) -> bool {
        self.has_lines() || matches!(self, Self::Html | Self::Csv | Self::Eml)
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
