//! Looking for skills in a folder.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::budget::ReadingBudget;
use super::files::{CollectedFiles, FileWalk};
use super::headings;
use super::links::{LinkTarget, Links};
use crate::folder::{EntryShape, FolderEntry, OpenFolder, ReadError};
use crate::front_matter::{self, FrontMatter};
use crate::limits::{FOLDERS, FRONT_MATTER_BYTES, MAIN_BYTES, SEARCH_DEPTH, SKILLS};
use crate::names::{is_left_out, shown, unseen, visible};
use crate::skill::{FilePlace, Skill, SkillPlace};
use crate::uris::MAIN;
use crate::{Finding, Severity};

/// What is found in a folder of skills.
pub(super) struct Search<'a> {
    root: &'a Path,
    links: &'a Links,
    pub(super) skills: Vec<Skill>,
    pub(super) folders: Vec<PathBuf>,
    /// The folders in which skills were looked for. A link may lead to one of them again.
    searched: HashSet<PathBuf>,
    pub(super) budget: ReadingBudget,
    /// Whether it was noted that there is more than one source may have.
    is_full: bool,
}

/// A skill's text, and where it was found.
struct MainText {
    text: String,
    place: FilePlace,
    /// Its path below the configured folder, for findings.
    path: String,
}

impl<'a> Search<'a> {
    pub(super) fn new(root: &'a Path, links: &'a Links) -> Self {
        Self {
            root,
            links,
            skills: Vec::new(),
            folders: vec![root.to_owned()],
            searched: HashSet::from([root.to_owned()]),
            budget: ReadingBudget::new(),
            is_full: false,
        }
    }

    pub(super) fn run(&mut self, folder: OpenFolder) -> Result<(), ReadError> {
        let (folder, entries) = self.budget.look_into(Ok(folder))?;
        let name = self.root.file_name().map_or_else(|| "skills".to_owned(), shown);
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
        let path = place.join("/");
        if let Some(main) = self.main_entry(folder, &entries, &path) {
            self.skill(folder, entries, &main, place, name);
            return;
        }
        // A folder is read in its own place rather than through a link beside it.
        let (links, plain): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.kind == EntryShape::Link);
        for entry in plain.iter().chain(&links) {
            self.entry(folder, entry, place, &path);
        }
    }

    /// The name of the file that makes a folder a skill. One that is not in capitals needs front
    /// matter, because any file may be called so.
    fn main_entry(
        &mut self,
        folder: &OpenFolder,
        entries: &[FolderEntry],
        path: &str,
    ) -> Option<OsString> {
        if let Some(entry) = entries.iter().find(|entry| entry.name == MAIN) {
            return Some(entry.name.clone());
        }
        let is_alike = |entry: &&FolderEntry| entry.name.eq_ignore_ascii_case(MAIN);
        let entry = entries.iter().find(is_alike)?;
        let (at, name) = self.links.file(folder, entry).ok()?;
        if !begins_as_skill(&at, &name) {
            return None;
        }
        let message = format!("other clients may not find it: call it `{MAIN}`, in capitals");
        self.warn(&below(path, &shown(&entry.name)), message);
        Some(entry.name.clone())
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
        let is_single = is_markdown && place.is_empty();
        match entry.kind {
            EntryShape::Folder => {
                self.folder(folder.folder(&entry.name), &entry.name, place, &path);
            }
            EntryShape::File { .. } if is_single => self.single_file(folder, entry, path),
            EntryShape::Link => match self.links.follow(folder, &entry.name) {
                Ok(LinkTarget::Folder(inner)) => {
                    self.folder(Ok(inner), &entry.name, place, &path);
                }
                Ok(LinkTarget::File(..)) if is_single => self.single_file(folder, entry, path),
                Ok(LinkTarget::File(..)) => {}
                Err(fault) => self.budget.leave_out_link(&path, &fault, Severity::Warning),
            },
            EntryShape::Special if is_markdown => {
                self.warn(&path, "left out: it is no ordinary file");
            }
            EntryShape::File { .. } | EntryShape::Special => {}
        }
    }

    fn folder(
        &mut self,
        opened: Result<OpenFolder, ReadError>,
        name: &OsStr,
        place: &mut Vec<String>,
        path: &str,
    ) {
        let Some(name) = name.to_str().filter(|name| unseen(name).is_none()) else {
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
        match self.budget.look_into(opened) {
            Ok((inner, entries)) => {
                let own = inner.place().path();
                if !self.searched.insert(own.clone()) {
                    return self.warn(
                        path,
                        "left out: a link leads to its folder, which was read already",
                    );
                }
                self.folders.push(own);
                place.push(name.to_owned());
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
        main_name: &OsStr,
        place: &[String],
        folder_name: &str,
    ) {
        let path = place.join("/");
        let Some(at) = entries.iter().position(|entry| entry.name == *main_name) else { return };
        let main_path = below(&path, &shown(main_name));
        if self.skills.len() >= SKILLS {
            return self.full(&main_path, &format!("a source has at most {SKILLS} skills"));
        }
        let entry = entries.remove(at);
        let Some(main) = self.main_text(folder, &entry, main_path) else { return };
        let Some((front, body)) = self.checked(&main) else { return };
        let name = self.name_of(&front, folder_name, &main);
        if front.name.is_none() {
            let message = format!("its front matter has no `name`: write `name: {name}`");
            self.warn_at(&main.path, 2, message);
        }
        let text = &main.text;
        let mut walk = FileWalk::new(&mut self.budget, self.links, &path, main.place.clone(), text);
        let walked = walk.folder(folder, entries, "", 0);
        let CollectedFiles { files, folders } = walk.finish();
        self.folders.extend(folders);
        if walked.is_err() {
            return;
        }
        let place = SkillPlace { folder: place.to_vec(), main: shown(&entry.name) };
        self.skills.push(made(front, name, body, files, place));
    }

    /// A Markdown file beside the folders. One without front matter is no skill, but a file for
    /// people, such as a readme.
    fn single_file(&mut self, folder: &OpenFolder, entry: &FolderEntry, path: String) {
        let located = self.links.file(folder, entry);
        if !located.is_ok_and(|(at, name)| begins_as_skill(&at, &name)) {
            return;
        }
        if self.skills.len() >= SKILLS {
            return self.full(&path, &format!("a source has at most {SKILLS} skills"));
        }
        let Some(main) = self.main_text(folder, entry, path) else { return };
        let Some((front, body)) = self.checked(&main) else { return };
        let stem = Path::new(&entry.name).file_stem().map(shown).unwrap_or_default();
        let name = self.name_of(&front, &stem, &main);
        let (place, text) = (main.place.clone(), &main.text);
        let walk = FileWalk::new(&mut self.budget, self.links, &main.path, place, text);
        let CollectedFiles { files, folders } = walk.finish();
        self.folders.extend(folders);
        let place = SkillPlace { folder: Vec::new(), main: shown(&entry.name) };
        self.skills.push(made(front, name, body, files, place));
    }

    /// The name of a skill: the one that it gives itself, else that of its folder or file. What the
    /// format does not allow is noted, and costs nothing here: other clients read it too.
    fn name_of(&mut self, front: &FrontMatter, around: &str, main: &MainText) -> String {
        let Some(name) = &front.name else { return around.to_owned() };
        let line = line_of(&main.text, "name");
        if let Some(fault) = front_matter::name_fault(name) {
            self.warn_at(&main.path, line, format!("{fault}; other clients may refuse it"));
        }
        if name != around {
            let message = format!(
                "the name `{}` is not that of its folder or file, `{}`: make them the same",
                visible(name),
                visible(around)
            );
            self.warn_at(&main.path, line, message);
        }
        name.clone()
    }

    fn main_text(
        &mut self,
        folder: &OpenFolder,
        entry: &FolderEntry,
        path: String,
    ) -> Option<MainText> {
        let (at, name) = match self.links.file(folder, entry) {
            Ok(located) => located,
            Err(fault) => {
                self.budget.leave_out_link(&path, &fault, Severity::Fault);
                return None;
            }
        };
        let content = match at.read(&name, MAIN_BYTES.min(self.budget.bytes_left)) {
            Ok(content) => content,
            Err(error) => {
                self.fault(&path, error.to_string());
                return None;
            }
        };
        let Ok(text) = String::from_utf8(content) else {
            self.fault(&path, "it is not UTF-8");
            return None;
        };
        let place = FilePlace { folder: at.place().clone(), name };
        Some(MainText { text, place, path })
    }

    /// The front matter and the body of a text that has no fault.
    fn checked<'t>(&mut self, main: &'t MainText) -> Option<(FrontMatter, &'t str)> {
        match front_matter::split(&main.text) {
            Ok(parts) => {
                let mut findings = Vec::new();
                let front = front_matter::read(parts.front, &main.path, &mut findings);
                for finding in findings {
                    self.budget.note(finding);
                }
                let front = front?;
                if let Some(number) = unseen(parts.body) {
                    let message =
                        format!("its text has a character that people do not see: {number}");
                    self.warn(&main.path, message);
                }
                Some((front, parts.body))
            }
            Err(error) => {
                self.budget.note(Finding::fault(&main.path, Some(error.0), error.1));
                None
            }
        }
    }

    fn fault(&mut self, path: &str, message: impl Into<String>) {
        self.budget.note(Finding::fault(path, None, message));
    }

    fn warn_at(&mut self, path: &str, line: usize, message: String) {
        self.budget.note(Finding::warning(path, Some(line), message));
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

/// Whether a file begins with front matter.
fn begins_as_skill(folder: &OpenFolder, name: &OsStr) -> bool {
    let start = folder.start(name, FRONT_MATTER_BYTES as u64);
    start.is_ok_and(|start| front_matter::has_front_matter(&String::from_utf8_lossy(&start)))
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
