//! The files of one skill.

use std::ffi::OsStr;

use gatefold_core::Digest;
use sha2::{Digest as _, Sha256};

use super::budget::ReadingBudget;
use crate::Finding;
use crate::folder::{EntryShape, FolderEntry, OpenFolder, ReadError};
use crate::limits::{FILE_DEPTH, FILES, FOLDERS, SKILL_BYTES, TOTAL_BYTES};
use crate::names::{shown, unseen};
use crate::skill::SkillFile;
use crate::uris::MAIN;

/// Hidden entries, and what other programs keep for themselves, are no part of any skill: nobody who
/// lists a folder sees them, and what lies in a `.env` is nobody's business.
pub(super) fn is_left_out(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") || name == "node_modules" || name == "__pycache__"
}

/// Collects the files of one skill.
pub(super) struct FileWalk<'a> {
    files: Vec<SkillFile>,
    budget: &'a mut ReadingBudget,
    /// The skill's path, for findings.
    path: &'a str,
    /// The paths of the folders that were looked into, relative to the skill.
    folders: Vec<String>,
    bytes: u64,
}

/// The files of one skill, and its folders.
pub(super) struct CollectedFiles {
    pub(super) files: Vec<SkillFile>,
    pub(super) folders: Vec<String>,
}

/// A skill has more than one may have. The reason is noted.
pub(super) struct TooMuch;

impl<'a> FileWalk<'a> {
    /// A walk that has the skill's main file already.
    pub(super) fn new(budget: &'a mut ReadingBudget, path: &'a str, main: &str) -> Self {
        let (files, folders) = (Vec::new(), Vec::new());
        let mut walk = Self { files, budget, path, folders, bytes: 0 };
        walk.add(MAIN.to_owned(), main.as_bytes());
        walk
    }

    pub(super) fn finish(self) -> CollectedFiles {
        let Self { mut files, folders, .. } = self;
        files[1..].sort_by(|a, b| a.path.cmp(&b.path));
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
                EntryShape::Link => {
                    self.leave_out(&path, "it is a link, and links are not followed");
                }
                EntryShape::Special => self.leave_out(&path, "it is no ordinary file"),
                EntryShape::Folder => self.inner(folder, &entry, &path, depth)?,
                EntryShape::File { .. } => self.file(folder, &entry, path)?,
            }
        }
        Ok(())
    }

    fn inner(
        &mut self,
        folder: &OpenFolder,
        entry: &FolderEntry,
        path: &str,
        depth: usize,
    ) -> Result<(), TooMuch> {
        if depth == FILE_DEPTH {
            return self.too_much(format!("folders nest deeper than {FILE_DEPTH} in `{path}`"));
        }
        if !self.budget.has_folder() {
            return self.too_much(format!("the source has more than {FOLDERS} folders"));
        }
        self.folders.push(path.to_owned());
        match self.budget.look_into(folder.folder(&entry.name)) {
            Ok((inner, entries)) => self.folder(&inner, entries, &format!("{path}/"), depth + 1),
            Err(error) => {
                self.leave_out(path, &error.to_string());
                Ok(())
            }
        }
    }

    fn file(
        &mut self,
        folder: &OpenFolder,
        entry: &FolderEntry,
        path: String,
    ) -> Result<(), TooMuch> {
        if self.files.len() == FILES {
            return self.too_much(format!("it has more than {FILES} files"));
        }
        let (own, all) = (SKILL_BYTES.saturating_sub(self.bytes), self.budget.bytes_left);
        match folder.read(&entry.name, own.min(all)) {
            Ok(content) => self.add(path, &content),
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

    fn add(&mut self, path: String, content: &[u8]) {
        let size = content.len() as u64;
        self.bytes += size;
        self.budget.bytes_left = self.budget.bytes_left.saturating_sub(size);
        self.files.push(SkillFile {
            path,
            size,
            digest: Digest::new(Sha256::digest(content).into()),
            is_text: std::str::from_utf8(content).is_ok(),
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
