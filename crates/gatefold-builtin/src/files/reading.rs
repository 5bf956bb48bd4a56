//! Reading a file, and lines of it.

use std::fmt::Write as _;
use std::io::Read as _;

use serde::{Deserialize, Serialize};

use super::fault;
use super::folder::Folder;
use super::path::FolderPath;
use crate::{BuiltinAnswer, BuiltinError, arguments};

/// The largest file that is read, in bytes.
pub(super) const MAX_FILE: u64 = 10 * 1024 * 1024;

/// The most lines of one answer, and how many without a wish.
pub(super) const MAX_LINES: usize = 5000;
const LINES: usize = 1000;

/// The most text of one answer, and of one line, in bytes.
const MAX_TEXT: usize = 256 * 1024;
const MAX_LINE: usize = 4000;

/// How much of a file is looked at to see whether it is text.
const LOOKED_AT: usize = 8000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    path: String,
    start_line: Option<usize>,
    lines: Option<usize>,
}

#[derive(Serialize)]
struct ReadAnswer {
    path: String,
    text: String,
    start_line: usize,
    total_lines: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_line: Option<usize>,
    size: u64,
}

pub(super) fn answer(folder: &Folder, arguments: &str) -> Result<BuiltinAnswer, BuiltinError> {
    let asked: ReadArguments = arguments::read(arguments)?;
    let path = FolderPath::read(&asked.path)?;
    let (bytes, text) = whole(folder, &path)?;
    let total_lines = text.lines().count();
    let start_line = asked.start_line.unwrap_or(1).max(1);
    if start_line > total_lines.max(1) {
        let message = format!("`{path}` has only {total_lines} lines");
        return Err(BuiltinError::Arguments(message));
    }
    let most = asked.lines.unwrap_or(LINES).clamp(1, MAX_LINES);
    let (mut shown, mut count) = (String::new(), 0);
    for line in text.lines().skip(start_line - 1).take(most) {
        if shown.len() + line.len().min(MAX_LINE) > MAX_TEXT {
            break;
        }
        push_line(&mut shown, line);
        count += 1;
    }
    let next = start_line + count;
    let next_line = (next <= total_lines).then_some(next);
    let mut answer = ReadAnswer {
        path: path.to_string(),
        text: shown,
        start_line,
        total_lines,
        next_line,
        size: bytes,
    };
    // A file without a line break at its end is shown as it is.
    if next_line.is_none() && !text.ends_with('\n') {
        answer.text.pop();
    }
    let mut shown = answer.text.clone();
    if let Some(next) = next_line {
        let _ = write!(shown, "[{total_lines} lines in all; go on with start_line={next}]");
    }
    Ok(BuiltinAnswer::new(shown, &answer))
}

fn push_line(shown: &mut String, line: &str) {
    let end = line.floor_char_boundary(MAX_LINE);
    shown.push_str(&line[..end]);
    if end < line.len() {
        let _ = write!(shown, " [{} more bytes]", line.len() - end);
    }
    shown.push('\n');
}

/// A file's size and text. What is not UTF-8 in it is replaced.
pub(super) fn whole(folder: &Folder, path: &FolderPath) -> Result<(u64, String), BuiltinError> {
    let bytes = bytes(folder, path, MAX_FILE)?;
    let size = bytes.len() as u64;
    if is_binary(&bytes) {
        let message = format!("`{path}` is no text: it has {size} bytes and a zero among them");
        return Err(BuiltinError::Arguments(message));
    }
    let text = String::from_utf8(bytes);
    Ok((size, text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())))
}

pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0)
}

/// What is in a file, if it is at most this many bytes. It may grow while it is read.
pub(super) fn bytes(
    folder: &Folder,
    path: &FolderPath,
    limit: u64,
) -> Result<Vec<u8>, BuiltinError> {
    let (file, _) = folder.file(path)?;
    let mut bytes = Vec::new();
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    if let Err(error) = read {
        return Err(fault::wrong(path, &format!("cannot be read: {error}")));
    }
    if bytes.len() as u64 > limit {
        return Err(fault::wrong(path, &format!("is larger than the limit: {limit} bytes")));
    }
    Ok(bytes)
}
