//! Which format a document has.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

    pub(crate) fn is_text(self) -> bool {
        self.has_lines() || matches!(self, Self::Html | Self::Csv | Self::Eml)
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
