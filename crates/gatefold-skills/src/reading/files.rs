//! The files of one skill.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use gatefold_core::Digest;
use sha2::{Digest as _, Sha256};

use super::budget::ReadingBudget;
use super::links::{LinkTarget, Links};
use crate::folder::{EntryShape, FolderEntry, OpenFolder, ReadError};
use crate::limits::{FILE_DEPTH, FILES, FOLDERS, SKILL_BYTES, TOTAL_BYTES};
use crate::names::{is_left_out, shown, unseen};
use crate::skill::{FilePlace, SkillFile};
use crate::uris::MAIN;
use crate::{Finding, Severity};

/// Collects the files of one skill.
pub(super) struct FileWalk<'a> {
    files: Vec<SkillFile>,
    budget: &'a mut ReadingBudget,
    links: &'a Links,
    /// The skill's path, for findings.
    path: &'a str,
    /// The folders that were looked into, each once.
    folders: HashSet<PathBuf>,
    bytes: u64,
}

/// The files of one skill, and its folders.
pub(super) struct CollectedFiles {
    pub(super) files: Vec<SkillFile>,
    /// Those that were looked into, and those in which linked files lie.
    pub(super) folders: HashSet<PathBuf>,
}

/// A skill has more than one may have. The reason is noted.
pub(super) struct TooMuch;

impl<'a> FileWalk<'a> {
    /// A walk that has the skill's main file already.
    pub(super) fn new(
        budget: &'a mut ReadingBudget,
        links: &'a Links,
        path: &'a str,
        main: FilePlace,
        text: &str,
    ) -> Self {
        let folders = HashSet::from([main.folder.path()]);
        let mut walk = Self { files: Vec::new(), budget, links, path, folders, bytes: 0 };
        walk.add(MAIN.to_owned(), text.as_bytes(), main);
        walk
    }

    pub(super) fn finish(self) -> CollectedFiles {
        let Self { mut files, mut folders, .. } = self;
        files[1..].sort_by(|a, b| a.path.cmp(&b.path));
        // A linked file lies in a folder of its own, which has to be watched too.
        folders.extend(files.iter().map(|file| file.place.folder.path()));
        CollectedFiles { files, folders }
    }

    /// Collects everything below a folder of the skill. Whatever cannot be given is left out, and
    /// named.
    pub(super) fn folder(
        &mut self,
        folder: &OpenFolder,
        entries: Vec<FolderEntry>,
        below: &str,
        depth: usize,
    ) -> Result<(), TooMuch> {
        for entry in entries {
            if is_left_out(&entry.name) {
                continue;
            }
            let path = format!("{below}{}", shown(&entry.name));
            let Some(name) = entry.name.to_str().filter(|name| unseen(name).is_none()) else {
                self.leave_out(
                    &path,
                    "its name has characters that people do not see, or is not UTF-8",
                );
                continue;
            };
            if name.contains('\\') || name.chars().any(char::is_control) {
                self.leave_out(&path, "its name has characters that no path may have");
                continue;
            }
            match entry.kind {
                EntryShape::Link => self.link(folder, &entry, path, depth)?,
                EntryShape::Special => self.leave_out(&path, "it is no ordinary file"),
                EntryShape::Folder => {
                    self.inner(folder.folder(&entry.name), &path, depth)?;
                }
                EntryShape::File { .. } => self.file(folder, entry.name, path)?,
            }
        }
        Ok(())
    }

    fn link(
        &mut self,
        folder: &OpenFolder,
        entry: &FolderEntry,
        path: String,
        depth: usize,
    ) -> Result<(), TooMuch> {
        match self.links.follow(folder, &entry.name) {
            Ok(LinkTarget::Folder(inner)) => self.inner(Ok(inner), &path, depth),
            Ok(LinkTarget::File(folder, name)) => self.file(&folder, name, path),
            Err(fault) => {
                let path = format!("{}/{path}", self.path);
                let path = path.trim_start_matches('/');
                self.budget.leave_out_link(path, &fault, Severity::Warning);
                Ok(())
            }
        }
    }

    fn inner(
        &mut self,
        folder: Result<OpenFolder, ReadError>,
        path: &str,
        depth: usize,
    ) -> Result<(), TooMuch> {
        if depth == FILE_DEPTH {
            return self.too_much(format!("folders nest deeper than {FILE_DEPTH} in `{path}`"));
        }
        if !self.budget.has_folder() {
            return self.too_much(format!("the source has more than {FOLDERS} folders"));
        }
        match self.budget.look_into(folder) {
            // Two links to one folder would only repeat it, and two that lead to each other never end.
            Ok((inner, _)) if !self.folders.insert(inner.place().path()) => {
                self.leave_out(path, "a link leads to its folder, which was read already");
                Ok(())
            }
            Ok((inner, entries)) => self.folder(&inner, entries, &format!("{path}/"), depth + 1),
            Err(error) => {
                self.leave_out(path, &error.to_string());
                Ok(())
            }
        }
    }

    fn file(&mut self, folder: &OpenFolder, name: OsString, path: String) -> Result<(), TooMuch> {
        if self.files.len() == FILES {
            return self.too_much(format!("it has more than {FILES} files"));
        }
        let (own, all) = (SKILL_BYTES.saturating_sub(self.bytes), self.budget.bytes_left);
        match folder.read(&name, own.min(all)) {
            Ok(content) => {
                let place = FilePlace { folder: folder.place().clone(), name };
                self.add(path, &content, place);
            }
            Err(ReadError::TooLarge(_)) if all < own => {
                return self.too_much(format!("the source has more than {TOTAL_BYTES} bytes"));
            }
            Err(ReadError::TooLarge(_)) => {
                return self.too_much(format!("its files have more than {SKILL_BYTES} bytes"));
            }
            Err(error) => self.leave_out(&path, &error.to_string()),
        }
        Ok(())
    }

    fn add(&mut self, path: String, content: &[u8], place: FilePlace) {
        let size = content.len() as u64;
        self.bytes += size;
        self.budget.bytes_left = self.budget.bytes_left.saturating_sub(size);
        self.files.push(SkillFile {
            path,
            size,
            digest: Digest::new(Sha256::digest(content).into()),
            is_text: std::str::from_utf8(content).is_ok(),
            place,
        });
    }

    fn leave_out(&mut self, path: &str, why: &str) {
        let message = format!("left out: {why}");
        let path = format!("{}/{path}", self.path);
        self.budget.note(Finding::warning(path.trim_start_matches('/'), None, message));
    }

    fn too_much(&mut self, why: String) -> Result<(), TooMuch> {
        self.budget.note(Finding::fault(self.path, None, why));
        Err(TooMuch)
    }
}
