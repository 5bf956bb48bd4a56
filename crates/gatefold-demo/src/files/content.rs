//! Tools for the contents of files.

use std::fs;

use serde_json::{Value, json};

use super::{
    MAX_FILE_BYTES, failed,
    folder::walk,
    path::{RelativePath, Root, make_parent},
};
use crate::{
    caller::{Answer, Caller},
    error::{ToolError, refuse},
    fields::Arguments,
};

/// How much of a matching line is shown.
const MAX_LINE_CHARS: usize = 200;
/// How many times a search reports progress.
const PROGRESS_STEPS: usize = 20;
const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

pub(super) fn read_file(root: &Root, arguments: &Arguments) -> Result<Answer, ToolError> {
    let path = RelativePath::parse(arguments.text("path"))?;
    let content = load_text(root, &path)?;
    let lines: Vec<_> = content.split_inclusive('\n').collect();
    let first = arguments.size("first_line");
    if first > lines.len().max(1) {
        return Err(refuse(
            format!("`first_line` is {first}, but `{path}` has {} lines", lines.len()),
            "start further up",
        ));
    }
    let end = lines.len().min(first - 1 + arguments.size("max_lines"));
    let mut passage =
        json!({ "content": lines[first - 1..end].concat(), "total_lines": lines.len() });
    if end < lines.len() {
        passage["next_line"] = json!(end + 1);
    }
    Ok(passage.into())
}

pub(super) fn read_picture(root: &Root, arguments: &Arguments) -> Result<Answer, ToolError> {
    let path = RelativePath::parse(arguments.text("path"))?;
    let png = load(root, &path)?;
    if !png.starts_with(PNG_SIGNATURE) {
        return Err(refuse(format!("`{path}` is not a PNG file"), "read_file reads text files"));
    }
    let value = json!({ "path": path.to_string(), "size_bytes": png.len() });
    Ok(Answer::Picture { value, png })
}

pub(super) fn write_file(root: &Root, arguments: &Arguments) -> Result<Answer, ToolError> {
    let path = RelativePath::parse(arguments.text("path"))?;
    let content = arguments.text("content");
    let place = root.resolve(&path)?;
    let created = place.metadata.is_none();
    if !created {
        root.file(&path)?;
    }
    make_parent(&place.path).map_err(failed("make the directory of", &path))?;
    fs::write(&place.path, content).map_err(failed("write", &path))?;
    let path = path.to_string();
    Ok(json!({ "path": path, "size_bytes": content.len(), "created": created }).into())
}

pub(super) async fn search_files(
    root: Root,
    arguments: Arguments,
    caller: Caller,
) -> Result<Answer, ToolError> {
    let path = RelativePath::parse(arguments.text("path"))?;
    let found = walk(&root, &path)?;
    let files: Vec<_> = found.iter().filter(|(_, metadata)| metadata.is_file()).collect();
    let (query, limit) = (arguments.text("query").to_lowercase(), arguments.size("limit"));
    let step = files.len().div_ceil(PROGRESS_STEPS);
    let mut matches = Vec::new();
    let mut searched = 0;
    for (path, metadata) in &files {
        if matches.len() > limit {
            break;
        }
        let is_small = metadata.len() <= MAX_FILE_BYTES;
        let content = if is_small { fs::read_to_string(path).ok() } else { None };
        find(&mut matches, &query, &root.name(path), &content.unwrap_or_default());
        searched += 1;
        if searched % step == 0 || searched == files.len() {
            caller.report(searched, files.len(), "searching files").await;
        }
    }
    let truncated = matches.len() > limit;
    matches.truncate(limit);
    Ok(json!({ "matches": matches, "files_searched": searched, "truncated": truncated }).into())
}

pub(super) fn load_text(root: &Root, path: &RelativePath) -> Result<String, ToolError> {
    String::from_utf8(load(root, path)?).map_err(|_| {
        refuse(format!("`{path}` is not UTF-8 text"), "only text files can be read here")
    })
}

fn load(root: &Root, path: &RelativePath) -> Result<Vec<u8>, ToolError> {
    let (file, metadata) = root.file(path)?;
    if metadata.len() > MAX_FILE_BYTES {
        return Err(refuse(
            format!("`{path}` has {} bytes, more than {MAX_FILE_BYTES}", metadata.len()),
            "it is too large for these tools",
        ));
    }
    fs::read(file).map_err(failed("read", path))
}

fn find(matches: &mut Vec<Value>, query: &str, name: &str, content: &str) {
    if name.to_lowercase().contains(query) {
        matches.push(json!({ "path": name, "text": name }));
    }
    let lines = (1..).zip(content.lines());
    let lines = lines.filter(|(_, line)| line.to_lowercase().contains(query));
    matches.extend(lines.map(|(number, line)| {
        let text: String = line.chars().take(MAX_LINE_CHARS).collect();
        json!({ "path": name, "line": number, "text": text })
    }));
}
