//! Writing a file, whole, by replacing texts in it, or by a diff.
//!
//! A file is written beside its place and then takes it, so it is never half there. What is in its
//! place at that moment is replaced and never followed.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::diff::{FileDiff, MAX_CONTENT};
use super::folder::{self, Folder};
use super::path::FolderPath;
use super::{fault, reading};
use crate::compute::StopSign;
use crate::{BuiltinAnswer, BuiltinError, arguments};

/// The most replacements of one call.
pub(super) const MAX_EDITS: usize = 100;

/// How often a free name for the new file is looked for.
const DRAWS: usize = 8;

/// What the names of files that are being written begin with.
const TEMPORARY: &str = ".gatefold-";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteArguments {
    path: String,
    content: String,
    #[serde(default)]
    overwrite: bool,
}

#[derive(Serialize)]
struct WriteAnswer {
    path: String,
    size: usize,
    created: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatchArguments {
    path: String,
    edits: Option<Vec<TextEdit>>,
    diff: Option<String>,
}

/// One text in the place of another.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextEdit {
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

#[derive(Serialize)]
struct PatchAnswer {
    path: String,
    replaced: usize,
    size: usize,
}

/// What may be in the place of the new file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FormerFile {
    Refused,
    Replaced,
}

pub(super) fn write(folder: &Folder, arguments: &str) -> Result<BuiltinAnswer, BuiltinError> {
    let asked: WriteArguments = arguments::read(arguments)?;
    arguments::bounded("content", &asked.content, MAX_CONTENT)?;
    let path = FolderPath::read(&asked.path)?;
    let former = if asked.overwrite { FormerFile::Replaced } else { FormerFile::Refused };
    let created = put(folder, &path, asked.content.as_bytes(), former)?;
    let size = asked.content.len();
    let verb = if created { "created" } else { "replaced" };
    let text = format!("{verb} `{path}`, {size} bytes");
    Ok(BuiltinAnswer::new(text, &WriteAnswer { path: path.to_string(), size, created }))
}

pub(super) fn patch(
    folder: &Folder,
    arguments: &str,
    sign: &StopSign,
) -> Result<BuiltinAnswer, BuiltinError> {
    let asked: PatchArguments = arguments::read(arguments)?;
    let path = FolderPath::read(&asked.path)?;
    match (asked.edits, asked.diff) {
        (Some(edits), None) => edit(folder, &path, &edits),
        (None, Some(diff)) => apply(folder, &path, &diff, sign),
        _ => Err(BuiltinError::arguments("give either `edits` or `diff`")),
    }
}

/// Replaces texts.
fn edit(
    folder: &Folder,
    path: &FolderPath,
    edits: &[TextEdit],
) -> Result<BuiltinAnswer, BuiltinError> {
    if edits.is_empty() || edits.len() > MAX_EDITS {
        let message = format!("`edits` has to have 1 to {MAX_EDITS} items");
        return Err(BuiltinError::Arguments(message));
    }
    let mut text = text_of(folder, path)?;
    let mut replaced = 0;
    for (number, edit) in (1..).zip(edits) {
        replaced += edit.apply(&mut text, number)?;
    }
    put(folder, path, text.as_bytes(), FormerFile::Replaced)?;
    Ok(changed(path, replaced, text.len()))
}

/// Applies a unified diff.
fn apply(
    folder: &Folder,
    path: &FolderPath,
    diff: &str,
    sign: &StopSign,
) -> Result<BuiltinAnswer, BuiltinError> {
    let diff = FileDiff::read(diff)?;
    if diff.makes_file {
        let text = diff.apply("", sign)?;
        put(folder, path, text.as_bytes(), FormerFile::Refused)?;
        let said = format!("created `{path}`, {} bytes", text.len());
        let answer = PatchAnswer { path: path.to_string(), replaced: 1, size: text.len() };
        return Ok(BuiltinAnswer::new(said, &answer));
    }
    let former = text_of(folder, path)?;
    let text = diff.apply(&former, sign)?;
    if text.len() > MAX_CONTENT.max(former.len()) {
        let message =
            format!("the file would have more than {MAX_CONTENT} bytes; nothing was changed");
        return Err(BuiltinError::Arguments(message));
    }
    put(folder, path, text.as_bytes(), FormerFile::Replaced)?;
    Ok(changed(path, diff.hunks(), text.len()))
}

fn text_of(folder: &Folder, path: &FolderPath) -> Result<String, BuiltinError> {
    let bytes = reading::bytes(folder, path, reading::MAX_FILE)?;
    String::from_utf8(bytes).map_err(|_| fault::wrong(path, "is no UTF-8 text"))
}

fn changed(path: &FolderPath, replaced: usize, size: usize) -> BuiltinAnswer {
    let noun = if replaced == 1 { "place" } else { "places" };
    let said = format!("changed `{path}` in {replaced} {noun}");
    BuiltinAnswer::new(said, &PatchAnswer { path: path.to_string(), replaced, size })
}

impl TextEdit {
    /// Makes one replacement and says in how many places.
    fn apply(&self, text: &mut String, number: usize) -> Result<usize, BuiltinError> {
        let wrong = |what: &str| {
            BuiltinError::arguments(format!("edit {number}: {what}; nothing was changed"))
        };
        if self.old.is_empty() {
            return Err(wrong("`old` is empty"));
        }
        let count = text.matches(&self.old).count();
        match count {
            0 => return Err(wrong("`old` is not in the file; it has to match to the letter")),
            2.. if !self.all => {
                let what = format!(
                    "`old` is in the file {count} times; write more of what is around it, or `all`"
                );
                return Err(wrong(&what));
            }
            _ => {}
        }
        let grown = count.saturating_mul(self.new.len().saturating_sub(self.old.len()));
        if text.len().saturating_add(grown) > MAX_CONTENT.max(text.len()) {
            return Err(wrong(&format!("the file would have more than {MAX_CONTENT} bytes")));
        }
        *text = text.replace(&self.old, &self.new);
        Ok(count)
    }
}

/// Puts a file in its place and says whether there was none.
fn put(
    folder: &Folder,
    path: &FolderPath,
    content: &[u8],
    former: FormerFile,
) -> Result<bool, BuiltinError> {
    let Some((parent, name)) = path.parent() else {
        return Err(fault::wrong(path, "is a folder"));
    };
    if name.starts_with(TEMPORARY) {
        return Err(fault::wrong(path, &format!("begins with `{TEMPORARY}`, which is kept free")));
    }
    let failed = |error| fault::of_path(path, error);
    let at = folder.made_directory(&parent)?;
    let mode = match rustix::fs::statat(&at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) if former == FormerFile::Refused => {
            return Err(fault::wrong(
                path,
                "exists already; set `overwrite`, or change a part of it instead",
            ));
        }
        Ok(stat) => {
            folder::plain(path, &stat)?;
            Some(Mode::from_raw_mode(stat.st_mode) & Mode::from_raw_mode(0o777))
        }
        Err(Errno::NOENT) => None,
        Err(error) => return Err(failed(error)),
    };
    let (mut file, temporary) = new_file(&at).map_err(failed)?;
    let written = file
        .write_all(content)
        .and_then(|()| mode.map_or(Ok(()), |mode| Ok(rustix::fs::fchmod(&file, mode)?)))
        .and_then(|()| file.sync_all());
    let placed = match written {
        Ok(()) => place(&at, &temporary, name, former),
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
    };
    if placed.is_err() {
        let _ = rustix::fs::unlinkat(&at, &temporary, AtFlags::empty());
    }
    placed.map_err(failed)?;
    Ok(mode.is_none())
}

/// Gives a finished file its name. One that takes no other's place fails if there is one by now.
fn place(at: &OwnedFd, temporary: &str, name: &str, former: FormerFile) -> Result<(), Errno> {
    if former == FormerFile::Refused {
        match rustix::fs::linkat(at, temporary, at, name, AtFlags::empty()) {
            Ok(()) => return rustix::fs::unlinkat(at, temporary, AtFlags::empty()),
            Err(Errno::EXIST) => return Err(Errno::EXIST),
            // Not every disk has hard links.
            Err(_) => {}
        }
    }
    rustix::fs::renameat(at, temporary, at, name)
}

/// A file of its own in a folder, under a name that nobody knows before.
fn new_file(at: &OwnedFd) -> Result<(File, String), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..DRAWS {
        let number = getrandom::u64().map_err(|_| Errno::IO)?;
        let name = format!("{TEMPORARY}{number:016x}");
        match rustix::fs::openat(at, &name, flags, Mode::from_raw_mode(0o666)) {
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
            Ok(opened) => return Ok((File::from(opened), name)),
        }
    }
    Err(Errno::EXIST)
}
