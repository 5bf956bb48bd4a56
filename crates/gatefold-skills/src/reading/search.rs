//! Looking for skills in a folder.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::budget::ReadingBudget;
use super::files::{CollectedFiles, FileWalk, is_left_out};
use super::headings;
use crate::Finding;
use crate::folder::{EntryShape, FolderEntry, OpenFolder, ReadError};
use crate::front_matter::{self, FrontMatter};
use crate::limits::{FOLDERS, FRONT_MATTER_BYTES, MAIN_BYTES, SEARCH_DEPTH, SKILLS};
use crate::names::{shown, unseen, visible};
use crate::skill::{Skill, SkillPlace};
use crate::uris::MAIN;

/// What is found in a folder of skills.
pub(super) struct Search<'a> {
    root: &'a Path,
    pub(super) skills: Vec<Skill>,
    pub(super) folders: Vec<PathBuf>,
    pub(super) budget: ReadingBudget,
    /// Whether it was noted that there is more than one source may have.
    is_full: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self {
            root,
            skills: Vec::new(),
            folders: vec![root.to_owned()],
            budget: ReadingBudget::new(),
            is_full: false,
        }
    }

    pub(super) fn run(&mut self, folder: OpenFolder) -> Result<(), ReadError> {
        let (folder, entries) = self.budget.look_into(Ok(folder))?;
        let name = self.root.file_name().map(shown).unwrap_or_default();
        self.visit(&folder, entries, &mut Vec::new(), &name);
        Ok(())
    }

    /// Looks into one folder: a skill, or one in which skills lie.
    fn visit(
        &mut self,
        folder: &OpenFolder,
        entries: Vec<FolderEntry>,
        place: &mut Vec<String>,
        name: &str,
    ) {
        if entries.iter().any(|entry| entry.name == MAIN) {
            self.skill(folder, entries, place, name);
            return;
        }
        let path = place.join("/");
        let alike = |entry: &&FolderEntry| entry.name.eq_ignore_ascii_case(MAIN);
        if let Some(entry) = entries.iter().find(alike) {
            let message = format!("it must be called `{MAIN}`, in capitals");
            self.fault(&below(&path, &shown(&entry.name)), message);
        }
        for entry in entries {
            self.entry(folder, &entry, place, &path);
        }
    }

    fn entry(
        &mut self,
        folder: &OpenFolder,
        entry: &FolderEntry,
        place: &mut Vec<String>,
        path: &str,
    ) {
        if is_left_out(&entry.name) {
            return;
        }
        let path = below(path, &shown(&entry.name));
        let is_markdown = Path::new(&entry.name).extension().is_some_and(|ending| ending == "md");
        match entry.kind {
            EntryShape::Folder => self.folder(folder, entry, place, &path),
            EntryShape::File { .. } if is_markdown && place.is_empty() => {
                self.single_file(folder, entry, &path);
            }
            EntryShape::Link => {
                let message = "left out: it is a link, and links are not followed; name the folder that \
                               it leads to as a source of its own";
                self.warn(&path, message);
            }
            EntryShape::Special if is_markdown => {
                self.warn(&path, "left out: it is no ordinary file");
            }
            EntryShape::File { .. } | EntryShape::Special => {}
        }
    }

    fn folder(
        &mut self,
        folder: &OpenFolder,
        entry: &FolderEntry,
        place: &mut Vec<String>,
        path: &str,
    ) {
        let Some(name) = entry.name.to_str().filter(|name| unseen(name).is_none()) else {
            let message = "its name has characters that people do not see, or is not UTF-8";
            return self.fault(path, message);
        };
        if place.len() == SEARCH_DEPTH {
            let message = format!("skills are looked for in {SEARCH_DEPTH} levels of folders only");
            return self.warn(path, message);
        }
        if !self.budget.has_folder() {
            return self.full(path, &format!("more than {FOLDERS} folders are not looked into"));
        }
        match self.budget.look_into(folder.folder(&entry.name)) {
            Ok((inner, entries)) => {
                place.push(name.to_owned());
                self.folders.push(self.root.join(place.iter().collect::<PathBuf>()));
                self.visit(&inner, entries, place, name);
                place.pop();
            }
            Err(error) => self.fault(path, error.to_string()),
        }
    }

    /// A folder with a `SKILL.md`.
    fn skill(
        &mut self,
        folder: &OpenFolder,
        mut entries: Vec<FolderEntry>,
        place: &[String],
        folder_name: &str,
    ) {
        let path = place.join("/");
        let main = below(&path, MAIN);
        if self.skills.len() >= SKILLS {
            return self.full(&main, &format!("a source has at most {SKILLS} skills"));
        }
        let Some(content) = self.main_text(folder, OsStr::new(MAIN), &main) else { return };
        let Some((front, body)) = self.checked(&content, &main) else { return };
        let Some(name) = front.name.clone() else {
            let message = format!("its front matter has no `name`: write `name: {folder_name}`");
            return self.fault_at(&main, 2, message);
        };
        let line = line_of(&content, "name");
        if let Some(fault) = front_matter::name_fault(&name) {
            return self.fault_at(&main, line, fault);
        }
        if name != folder_name {
            let message = format!(
                "the name `{name}` is not that of its folder, `{}`: make them the same",
                visible(folder_name)
            );
            return self.fault_at(&main, line, message);
        }
        entries.retain(|entry| entry.name != MAIN);
        let mut walk = FileWalk::new(&mut self.budget, &path, &content);
        let walked = walk.folder(folder, entries, "", 0);
        let CollectedFiles { files, folders } = walk.finish();
        let own = self.root.join(place.iter().collect::<PathBuf>());
        self.folders.extend(folders.iter().map(|folder| own.join(folder)));
        if walked.is_err() {
            return;
        }
        let place = SkillPlace { folder: place.to_vec(), main: MAIN.to_owned() };
        self.skills.push(made(front, name, body, files, place));
    }

    /// A Markdown file beside the folders. One without front matter is no skill, but a file for
    /// people, such as a readme.
    fn single_file(&mut self, folder: &OpenFolder, entry: &FolderEntry, path: &str) {
        let start = folder.start(&entry.name, FRONT_MATTER_BYTES as u64);
        let is_skill = start
            .is_ok_and(|start| front_matter::has_front_matter(&String::from_utf8_lossy(&start)));
        if !is_skill {
            return;
        }
        if self.skills.len() >= SKILLS {
            return self.full(path, &format!("a source has at most {SKILLS} skills"));
        }
        let Some(content) = self.main_text(folder, &entry.name, path) else { return };
        let Some((front, body)) = self.checked(&content, path) else { return };
        let stem = Path::new(&entry.name).file_stem().and_then(OsStr::to_str).unwrap_or_default();
        let name = front.name.clone().unwrap_or_else(|| stem.to_owned());
        let line = line_of(&content, "name");
        if let Some(fault) = front_matter::name_fault(&name) {
            return self.fault_at(path, line, fault);
        }
        if name != stem {
            let message =
                format!("the name `{name}` is not that of its file: call the file `{name}.md`");
            return self.fault_at(path, line, message);
        }
        let CollectedFiles { files, .. } = FileWalk::new(&mut self.budget, path, &content).finish();
        let place = SkillPlace { folder: Vec::new(), main: format!("{stem}.md") };
        self.skills.push(made(front, name, body, files, place));
    }

    fn main_text(&mut self, folder: &OpenFolder, name: &OsStr, path: &str) -> Option<String> {
        let content = match folder.read(name, MAIN_BYTES.min(self.budget.bytes_left)) {
            Ok(content) => content,
            Err(error) => {
                self.fault(path, error.to_string());
                return None;
            }
        };
        let text = String::from_utf8(content).ok();
        if text.is_none() {
            self.fault(path, "it is not UTF-8");
        }
        text
    }

    /// The front matter and the body of a text that has no fault.
    fn checked<'t>(&mut self, text: &'t str, path: &str) -> Option<(FrontMatter, &'t str)> {
        match front_matter::split(text) {
            Ok(parts) => {
                let mut findings = Vec::new();
                let front = front_matter::read(parts.front, path, &mut findings);
                for finding in findings {
                    self.budget.note(finding);
                }
                let front = front?;
                if let Some(number) = unseen(parts.body) {
                    let message =
                        format!("its text has a character that people do not see: {number}");
                    self.warn(path, message);
                }
                Some((front, parts.body))
            }
            Err(error) => {
                self.fault_at(path, error.0, error.1);
                None
            }
        }
    }

    fn fault(&mut self, path: &str, message: impl Into<String>) {
        self.budget.note(Finding::fault(path, None, message));
    }

    fn fault_at(&mut self, path: &str, line: usize, message: String) {
        self.budget.note(Finding::fault(path, Some(line), message));
    }

    fn warn(&mut self, path: &str, message: impl Into<String>) {
        self.budget.note(Finding::warning(path, None, message));
    }

    /// Notes once that there is more than one source may have.
    fn full(&mut self, path: &str, message: &str) {
        if !std::mem::replace(&mut self.is_full, true) {
            self.fault(path, format!("{message}; this one and what follows are left out"));
        }
    }
}

fn made(
    front: FrontMatter,
    name: String,
    body: &str,
    files: Vec<crate::SkillFile>,
    place: SkillPlace,
) -> Skill {
    let mut front_matter = front.json;
    front_matter.entry("name").or_insert_with(|| name.as_str().into());
    Skill {
        name,
        description: front.description,
        license: front.license,
        compatibility: front.compatibility,
        allowed_tools: front.allowed_tools,
        domains: front.domains,
        front_matter,
        headings: headings::of(body),
        files,
        place,
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// The line that sets a key of the front matter.
fn line_of(text: &str, key: &str) -> usize {
    let sets =
        |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'));
    text.lines().position(sets).map_or(1, |at| at + 1)
}
