//! The file with texts that were written so that tools are found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use gatefold_catalog::{RetrievalTexts, ToolTexts};
use gatefold_core::Digest;
use serde::{Deserialize, Serialize};

use crate::files;

/// The largest file, in bytes.
const FILE_BYTES: u64 = 16 * 1024 * 1024;

const HEAD: &str = "\
# Texts by which searches find tools, beside what the tools' sources say. They are for people to read
# and edit; `gatefold index describe` writes those that are missing. A digest is that of the definition
# that the texts were written for: they do not count for a tool that has changed since.
";

/// Why a file of texts cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextsError {
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("{0}")]
    Malformed(String),
    #[error("the texts of `{tool}` are not possible: {reason}")]
    Impossible { tool: String, reason: String },
}

/// The file, as it is written.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTexts {
    #[serde(default)]
    tools: BTreeMap<String, WrittenTool>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTool {
    digest: Digest,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    summary: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    requests: Vec<String>,
}

/// Reads a file of texts, as it is written and what it means. `None` if there is no such file.
pub fn read_texts(path: &Path) -> Result<Option<(String, RetrievalTexts)>, TextsError> {
    match files::read_text(path, FILE_BYTES) {
        Ok(text) => {
            let texts = parse(&text)?;
            Ok(Some((text, texts)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TextsError::Unreadable(error)),
    }
}

/// The text of a file with these texts, the same each time.
pub fn texts_file(texts: &RetrievalTexts) -> String {
    let mut text = HEAD.to_owned();
    for (tool, ToolTexts { digest, summary, requests }) in texts.iter() {
        let written =
            WrittenTool { digest: *digest, summary: summary.clone(), requests: requests.clone() };
        let written = WrittenTexts { tools: BTreeMap::from([(tool.to_owned(), written)]) };
        let written = toml::to_string_pretty(&written).expect("tables of texts are TOML");
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{written}");
    }
    text
}

fn parse(text: &str) -> Result<RetrievalTexts, TextsError> {
    let malformed = |error: toml::de::Error| TextsError::Malformed(error.to_string());
    let WrittenTexts { tools } = toml::from_str(text).map_err(malformed)?;
    let mut texts = RetrievalTexts::default();
    for (tool, WrittenTool { digest, summary, requests }) in tools {
        if let Some(reason) = fault(&summary, &requests) {
            return Err(TextsError::Impossible { tool, reason });
        }
        if !texts.insert(tool.clone(), ToolTexts { digest, summary, requests }) {
            let reason = format!("a file has those of {} tools at most", RetrievalTexts::TOOLS);
            return Err(TextsError::Impossible { tool, reason });
        }
    }
    Ok(texts)
}

fn fault(summary: &str, requests: &[String]) -> Option<String> {
    let is_long = |text: &str| text.chars().count() > ToolTexts::LENGTH;
    if requests.len() > ToolTexts::REQUESTS {
        return Some(format!("`requests` has at most {} of them", ToolTexts::REQUESTS));
    }
    let texts = requests.iter().map(String::as_str).chain([summary]);
    let long = texts.into_iter().any(is_long);
    long.then(|| format!("a text has at most {} characters", ToolTexts::LENGTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(byte: u8) -> Digest {
        Digest::new([byte; 32])
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut texts = RetrievalTexts::default();
        let requests = vec!["say \"hi\" to bob".to_owned(), "greet\nbob".to_owned()];
        let greeting = ToolTexts { digest: digest(1), summary: "Greets.".to_owned(), requests };
        texts.insert("chat__greet", greeting);
        texts.insert(
            "a.b",
            ToolTexts { digest: digest(2), summary: String::new(), requests: vec![] },
        );
        assert_eq!(parse(&texts_file(&texts)).unwrap(), texts);
        assert!(parse("").unwrap().is_empty());
    }

    #[test]
    fn a_file_is_easy_to_read() {
        let mut texts = RetrievalTexts::default();
        let requests = vec!["say hi to bob".to_owned()];
        texts.insert(
            "chat__greet",
            ToolTexts { digest: digest(1), summary: "Greets.".to_owned(), requests },
        );
        let written = texts_file(&texts);
        let (_, written) = written.split_once("\n\n").unwrap();
        assert_eq!(
            written,
            format!(
                "[tools.chat__greet]\ndigest = \"{}\"\nsummary = \"Greets.\"\nrequests = [\"say hi to bob\"]\n",
                digest(1)
            )
        );
    }

    #[test]
    fn a_wrong_file_says_what_is_wrong() {
        let head = format!("[tools.a]\ndigest = \"{}\"\n", digest(1));
        let long = "x".repeat(301);
        for (text, fault) in [
            ("tools = 7".to_owned(), "invalid type"),
            ("[tools.a]\nsummary = ''".to_owned(), "missing field `digest`"),
            ("[tools.a]\ndigest = 'abc'".to_owned(), "64 hexadecimal digits"),
            (format!("{head}request = []"), "unknown field `request`"),
            (
                format!("{head}summary = '{long}'"),
                "the texts of `a` are not possible: a text has at most 300",
            ),
            (format!("{head}requests = ['{long}']"), "a text has at most 300 characters"),
            (format!("{head}requests = ['', '', '', '', '', '']"), "`requests` has at most 5"),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.contains(fault), "{text}: {error}");
        }
    }
}
