//! What is in a file.

use std::{fs, io::Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    arguments::{Integer, Text},
    error::{ToolError, refuse},
    files::{
        MAX_FILE_BYTES, failed,
        path::{RelativePath, Root, make_parent},
    },
};

/// How many lines `read_file` gives when the call does not say.
const LINES_DEFAULT: usize = 500;
const MAX_CONTENT_CHARS: usize = 60_000;

type Content = Text<0, MAX_CONTENT_CHARS>;

/// Read a text file, or some of its lines. The file must be UTF-8 and at most 256 KiB.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFile {
    /// File relative to the scratch folder, such as "notes/todo.md".
    path: RelativePath,
    /// First line to return, counted from 1. Default 1.
    first_line: Option<Integer<1, 300_000>>,
    /// Most lines to return. Default 500.
    max_lines: Option<Integer<1, 5_000>>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Passage {
    /// The lines asked for, with their line ends.
    content: String,
    /// Lines in the whole file.
    total_lines: usize,
    /// Line to go on from; absent when the end was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_line: Option<usize>,
}

/// Write a text file, replacing all of what it held. Missing directories are made. At most
/// 60,000 characters a call; use append_file for more, edit_file to change a part.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFile {
    /// File relative to the scratch folder.
    path: RelativePath,
    /// The whole new content.
    content: Content,
}

/// Add text to the end of a file, making the file when it is missing. The file may grow to
/// 256 KiB. No line end is added.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AppendFile {
    /// File relative to the scratch folder.
    path: RelativePath,
    /// Text to add.
    content: Content,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Written {
    /// Path relative to the scratch folder.
    path: String,
    /// Size of the file afterwards, in bytes.
    size_bytes: usize,
    /// Whether the call made the file.
    created: bool,
}

/// Replace one passage of a text file. The old text must occur exactly once, letter for letter,
/// unless replace_all is true.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFile {
    /// File relative to the scratch folder.
    path: RelativePath,
    /// Text to replace, exactly as the file has it.
    old_text: Text<1, MAX_CONTENT_CHARS>,
    /// Text to put in its place; empty to delete.
    new_text: Content,
    /// Replace every occurrence instead of exactly one. Default false.
    #[serde(default)]
    replace_all: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Edited {
    /// Path relative to the scratch folder.
    path: String,
    /// How many passages were replaced.
    replacements: usize,
    /// Size of the file afterwards, in bytes.
    size_bytes: usize,
}

pub(crate) fn read_file(root: &Root, arguments: &ReadFile) -> Result<Passage, ToolError> {
    let content = load(root, &arguments.path)?;
    let lines: Vec<_> = content.split_inclusive('\n').collect();
    let first = arguments.first_line.map_or(1, Integer::size);
    if first > lines.len().max(1) {
        return Err(refuse(
            format!("`first_line` is {first}, but `{}` has {} lines", arguments.path, lines.len()),
            "start further up",
        ));
    }
    let end = lines.len().min(first - 1 + arguments.max_lines.map_or(LINES_DEFAULT, Integer::size));
    Ok(Passage {
        content: lines[first - 1..end].concat(),
        total_lines: lines.len(),
        next_line: (end < lines.len()).then_some(end + 1),
    })
}

pub(crate) fn write_file(root: &Root, arguments: &WriteFile) -> Result<Written, ToolError> {
    let path = &arguments.path;
    let place = root.resolve(path)?;
    let created = place.metadata.is_none();
    if !created {
        root.file(path)?;
    }
    make_parent(&place.path).map_err(failed("make the directory of", path))?;
    fs::write(&place.path, &*arguments.content).map_err(failed("write", path))?;
    Ok(Written { path: path.to_string(), size_bytes: arguments.content.len(), created })
}

pub(crate) fn append_file(root: &Root, arguments: &AppendFile) -> Result<Written, ToolError> {
    let path = &arguments.path;
    let place = root.resolve(path)?;
    let created = place.metadata.is_none();
    let before = if created { 0 } else { root.file(path)?.1.len() };
    let before = usize::try_from(before).unwrap_or(usize::MAX);
    let size_bytes = within_limit(path, before.saturating_add(arguments.content.len()))?;
    make_parent(&place.path).map_err(failed("make the directory of", path))?;
    fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&place.path)
        .and_then(|mut file| file.write_all(arguments.content.as_bytes()))
        .map_err(failed("append to", path))?;
    Ok(Written { path: path.to_string(), size_bytes, created })
}

pub(crate) fn edit_file(root: &Root, arguments: &EditFile) -> Result<Edited, ToolError> {
    let path = &arguments.path;
    let content = load(root, path)?;
    let old = &*arguments.old_text;
    let replacements = content.matches(old).count();
    match replacements {
        0 => {
            return Err(refuse(
                format!("`old_text` does not occur in `{path}`"),
                "read_file shows the text to copy, spaces and line ends included",
            ));
        }
        1 => {}
        _ if arguments.replace_all => {}
        _ => {
            return Err(refuse(
                format!("`old_text` occurs {replacements} times in `{path}`"),
                "give more of the text around it, or set `replace_all`",
            ));
        }
    }
    let removed = old.len() * replacements;
    let added = arguments.new_text.len().saturating_mul(replacements);
    let size_bytes = within_limit(path, (content.len() - removed).saturating_add(added))?;
    let edited = content.replace(old, &arguments.new_text);
    let (target, _) = root.file(path)?;
    fs::write(target, edited).map_err(failed("write", path))?;
    Ok(Edited { path: path.to_string(), replacements, size_bytes })
}

fn load(root: &Root, path: &RelativePath) -> Result<String, ToolError> {
    let (file, metadata) = root.file(path)?;
    if metadata.len() > MAX_FILE_BYTES {
        return Err(refuse(
            format!("`{path}` has {} bytes, more than {MAX_FILE_BYTES}", metadata.len()),
            "it is too large for these tools",
        ));
    }
    let bytes = fs::read(file).map_err(failed("read", path))?;
    String::from_utf8(bytes).map_err(|_| {
        refuse(format!("`{path}` is not UTF-8 text"), "only text files can be read here")
    })
}

fn within_limit(path: &RelativePath, size_bytes: usize) -> Result<usize, ToolError> {
    if u64::try_from(size_bytes).is_ok_and(|size| size <= MAX_FILE_BYTES) {
        Ok(size_bytes)
    } else {
        Err(refuse(
            format!("`{path}` would have {size_bytes} bytes, more than {MAX_FILE_BYTES}"),
            "write the rest to another file",
        ))
    }
}
