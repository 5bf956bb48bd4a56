//! What is in the folder: one level, by names, by contents.

use std::collections::VecDeque;

use regex::Regex;
use rustix::fs::{AtFlags, Dir, FileType};
use serde::{Deserialize, Serialize};

use super::folder::Folder;
use super::path::FolderPath;
use super::{fault, reading};
use crate::compute::StopSign;
use crate::text::compiled;
use crate::{BuiltinAnswer, BuiltinError, arguments};

/// The most entries of one answer, and how many without a wish.
pub(super) const MAX_RESULTS: usize = 1000;
const RESULTS: usize = 200;

/// How many entries one call looks at in all.
const MAX_SEEN: usize = 100_000;

/// How many entries of one folder are read.
const MAX_ENTRIES: usize = 20_000;

/// The largest file whose text is searched, in bytes. Larger ones are left out and counted.
const MAX_SEARCHED: u64 = 2 * 1024 * 1024;

/// How much of a line is shown, in bytes.
const SHOWN_LINE: usize = 400;

/// The longest pattern for paths, in bytes.
const MAX_GLOB: usize = 300;

/// Folders that hold no work of people, unless they are asked for.
const SKIPPED: [&str; 1] = [".git"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    #[serde(default)]
    path: String,
    after: Option<String>,
    max_results: Option<usize>,
}

#[derive(Serialize)]
struct ListAnswer {
    path: String,
    entries: Vec<FolderEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_after: Option<String>,
}

#[derive(Serialize, Clone)]
struct FolderEntry {
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindArguments {
    pattern: String,
    #[serde(default)]
    path: String,
    max_results: Option<usize>,
}

#[derive(Serialize)]
struct FindAnswer {
    paths: Vec<String>,
    complete: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    pattern: String,
    #[serde(default)]
    path: String,
    files: Option<String>,
    max_results: Option<usize>,
}

#[derive(Serialize)]
struct SearchAnswer {
    matches: Vec<LineMatch>,
    files_searched: usize,
    files_left_out: usize,
    complete: bool,
}

#[derive(Serialize)]
struct LineMatch {
    path: String,
    line: usize,
    text: String,
}

pub(super) fn list(folder: &Folder, arguments: &str) -> Result<BuiltinAnswer, BuiltinError> {
    let asked: ListArguments = arguments::read(arguments)?;
    let path = FolderPath::read(&asked.path)?;
    let most = asked.max_results.unwrap_or(RESULTS).clamp(1, MAX_RESULTS);
    let mut entries = entries(folder, &path)?;
    if let Some(after) = &asked.after {
        entries.retain(|entry| entry.name > *after);
    }
    let more = entries.len() > most;
    entries.truncate(most);
    let next_after = entries.last().filter(|_| more).map(|last| last.name.clone());
    let line = |entry: &FolderEntry| match (entry.kind, entry.size) {
        ("folder", _) => format!("{}/", entry.name),
        ("file", Some(size)) => format!("{}\t{size}", entry.name),
        (kind, _) => format!("{}\t({kind})", entry.name),
    };
    let mut lines: Vec<_> = entries.iter().map(line).collect();
    if lines.is_empty() {
        lines.push("(nothing)".to_owned());
    }
    if let Some(after) = &next_after {
        lines.push(format!("[there are more; go on with after={after:?}]"));
    }
    let answer = ListAnswer { path: path.to_string(), entries, next_after };
    Ok(BuiltinAnswer::new(lines.join("\n"), &answer))
}

pub(super) fn find(
    folder: &Folder,
    arguments: &str,
    sign: &StopSign,
) -> Result<BuiltinAnswer, BuiltinError> {
    let asked: FindArguments = arguments::read(arguments)?;
    let pattern = glob(&asked.pattern)?;
    let most = asked.max_results.unwrap_or(RESULTS).clamp(1, MAX_RESULTS);
    let mut paths = Vec::new();
    let from = FolderPath::read(&asked.path)?;
    let walked = walk(folder, &from, sign, |path, _| {
        let shown = path.to_string();
        if pattern.is_match(&shown) {
            if paths.len() == most {
                return WalkStep::Stop;
            }
            paths.push(shown);
        }
        WalkStep::GoOn
    })?;
    let complete = walked == WalkEnd::Complete;
    let mut text = if paths.is_empty() { "no file matches".to_owned() } else { paths.join("\n") };
    text.push_str(walked.note());
    Ok(BuiltinAnswer::new(text, &FindAnswer { paths, complete }))
}

pub(super) fn search(
    folder: &Folder,
    arguments: &str,
    sign: &StopSign,
) -> Result<BuiltinAnswer, BuiltinError> {
    let asked: SearchArguments = arguments::read(arguments)?;
    let pattern = compiled(&asked.pattern)?;
    let files = asked.files.as_deref().map(glob).transpose()?;
    let most = asked.max_results.unwrap_or(RESULTS).clamp(1, MAX_RESULTS);
    let from = FolderPath::read(&asked.path)?;
    let mut search =
        FileSearch { folder, pattern, most, matches: Vec::new(), searched: 0, left_out: 0 };
    let walked = if is_file(folder, &from) {
        search.file(&from);
        WalkEnd::Complete
    } else {
        walk(folder, &from, sign, |path, size| {
            if files.as_ref().is_some_and(|files| !files.is_match(&path.to_string())) {
                return WalkStep::GoOn;
            }
            if size > MAX_SEARCHED {
                search.left_out += 1;
                return WalkStep::GoOn;
            }
            search.file(path)
        })?
    };
    let FileSearch { matches, searched, left_out, .. } = search;
    let lines = matches.iter().map(|one| format!("{}:{}: {}", one.path, one.line, one.text));
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if matches.is_empty() {
        text = format!("no match in {searched} files");
    }
    text.push_str(walked.note());
    let complete = walked == WalkEnd::Complete;
    let answer =
        SearchAnswer { matches, files_searched: searched, files_left_out: left_out, complete };
    Ok(BuiltinAnswer::new(text, &answer))
}

struct FileSearch<'f> {
    folder: &'f Folder,
    pattern: Regex,
    most: usize,
    matches: Vec<LineMatch>,
    searched: usize,
    left_out: usize,
}

impl FileSearch<'_> {
    /// Searches one file. What cannot be read, or is no text, is counted and left out.
    fn file(&mut self, path: &FolderPath) -> WalkStep {
        let bytes = reading::bytes(self.folder, path, MAX_SEARCHED);
        let Some(bytes) = bytes.ok().filter(|bytes| !reading::is_binary(bytes)) else {
            self.left_out += 1;
            return WalkStep::GoOn;
        };
        self.searched += 1;
        for (number, line) in (1..).zip(String::from_utf8_lossy(&bytes).lines()) {
            if !self.pattern.is_match(line) {
                continue;
            }
            if self.matches.len() == self.most {
                return WalkStep::Stop;
            }
            let text = line[..line.floor_char_boundary(SHOWN_LINE)].to_owned();
            self.matches.push(LineMatch { path: path.to_string(), line: number, text });
        }
        WalkStep::GoOn
    }
}

fn is_file(folder: &Folder, path: &FolderPath) -> bool {
    path.parent().is_some() && folder.directory(path).is_err() && folder.file(path).is_ok()
}

/// Whether a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WalkStep {
    GoOn,
    Stop,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WalkEnd {
    Complete,
    /// Enough was found.
    Stopped,
    /// There was too much to look at.
    Exhausted,
}

impl WalkEnd {
    fn note(self) -> &'static str {
        match self {
            Self::Complete => "",
            Self::Stopped => "\n[there are more; narrow the search, or raise max_results]",
            Self::Exhausted => "\n[not everything was looked at; choose a folder with `path`]",
        }
    }
}

/// Visits the files below a folder, the near ones first, by their paths and sizes. Folders that
/// cannot be opened, and those that are gone by now, are left out.
fn walk(
    folder: &Folder,
    from: &FolderPath,
    sign: &StopSign,
    mut visit: impl FnMut(&FolderPath, u64) -> WalkStep,
) -> Result<WalkEnd, BuiltinError> {
    let mut waiting = VecDeque::from([from.clone()]);
    let mut seen = 0;
    while let Some(path) = waiting.pop_front() {
        let found = match entries(folder, &path) {
            Err(error) if path == *from => return Err(error),
            found => found.unwrap_or_default(),
        };
        for entry in found {
            seen += 1;
            if seen > MAX_SEEN || sign.is_up() {
                return Ok(WalkEnd::Exhausted);
            }
            let Some(child) = path.child(&entry.name) else { continue };
            match entry.kind {
                "file" if visit(&child, entry.size.unwrap_or_default()) == WalkStep::Stop => {
                    return Ok(WalkEnd::Stopped);
                }
                "folder" if !SKIPPED.contains(&&*entry.name) => {
                    waiting.push_back(child);
                }
                _ => {}
            }
        }
    }
    Ok(WalkEnd::Complete)
}

/// What one folder has, sorted by name. Names that no path here can hold are left out.
fn entries(folder: &Folder, path: &FolderPath) -> Result<Vec<FolderEntry>, BuiltinError> {
    let failed = |error| fault::of_path(path, error);
    let at = folder.directory(path)?;
    let mut entries = Vec::new();
    for entry in Dir::read_from(&at).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if path.child(name).is_none() {
            continue;
        }
        if entries.len() == MAX_ENTRIES {
            let what = format!("has more than {MAX_ENTRIES} entries");
            return Err(fault::wrong(path, &what));
        }
        let Ok(stat) = rustix::fs::statat(&at, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let (kind, size) = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => ("file", u64::try_from(stat.st_size).ok()),
            FileType::Directory => ("folder", None),
            FileType::Symlink => ("link", None),
            _ => ("special", None),
        };
        entries.push(FolderEntry { name: name.to_owned(), kind, size });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// A pattern for whole paths: `*` and `?` stay within a name, `**` spans folders. One without `/`
/// matches names in every folder.
fn glob(pattern: &str) -> Result<Regex, BuiltinError> {
    arguments::bounded("pattern", pattern, MAX_GLOB)?;
    if pattern.is_empty() {
        return Err(BuiltinError::arguments("the pattern for paths is empty"));
    }
    let mut expression = String::from("(?s)^");
    if !pattern.contains('/') {
        expression.push_str("(?:.*/)?");
    }
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let (taken, part) = match first {
            _ if rest.starts_with("**/") => (3, "(?:.*/)?".to_owned()),
            _ if rest.starts_with("**") => (2, ".*".to_owned()),
            '*' => (1, "[^/]*".to_owned()),
            '?' => (1, "[^/]".to_owned()),
            other => (other.len_utf8(), regex::escape(&other.to_string())),
        };
        expression.push_str(&part);
        rest = &rest[taken..];
    }
    expression.push('$');
    compiled_glob(&expression)
}

fn compiled_glob(expression: &str) -> Result<Regex, BuiltinError> {
    Regex::new(expression).map_err(|_| BuiltinError::arguments("the pattern for paths is too long"))
}
