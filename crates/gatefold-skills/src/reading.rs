//! Reading a folder of skills.

mod budget;
mod files;
mod headings;
mod search;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::folder::{OpenFolder, ReadError};
use crate::front_matter;
use crate::limits::MAIN_BYTES;
use crate::skill::{Skill, SkillFile, SkillText};
use crate::uris::MAIN;
use crate::{Finding, Severity};
use search::Search;

/// Why a folder of skills cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[error("the folder `{}` cannot be read: {source}", path.display())]
pub struct SkillFolderError {
    path: PathBuf,
    source: io::Error,
}

/// The skills of a folder, as they were last read.
#[derive(Debug)]
pub struct SkillSet {
    root: PathBuf,
    skills: Vec<Skill>,
    findings: Vec<Finding>,
    folders: Vec<PathBuf>,
}

impl SkillSet {
    /// Reads a folder: each skill in it, and each Markdown file with front matter. A folder with a
    /// `SKILL.md` is one skill. What is wrong with one costs no other.
    ///
    /// This waits for the disk.
    pub fn read(root: &Path) -> Result<Self, SkillFolderError> {
        let failed = |source| SkillFolderError { path: root.to_owned(), source };
        // The name of the last part has to be known: a folder with a `SKILL.md` is named by it.
        let root = root.canonicalize().map_err(failed)?;
        let folder = OpenFolder::root(&root).map_err(failed)?;
        let mut search = Search::new(&root);
        search.run(folder).map_err(|error| failed(io::Error::other(error.to_string())))?;
        let Search { mut skills, folders, budget, .. } = search;
        let mut findings = budget.into_findings();
        skills.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.path().cmp(&b.path())));
        findings.extend(without_namesakes(&mut skills));
        Ok(Self { root, skills, findings, folders })
    }

    /// The skills that have no fault, by their names.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    pub fn skill(&self, name: &str) -> Option<&Skill> {
        let at = self.skills.binary_search_by(|skill| skill.name.as_str().cmp(name)).ok()?;
        Some(&self.skills[at])
    }

    /// What is wrong, in the order of reading.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub fn faults(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Fault)
    }

    /// The folders that were looked into, for whoever watches them.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// A file's content as it is now, if it has at most `limit` bytes.
    ///
    /// This waits for the disk. Whatever became of the folder since it was read, nothing outside it
    /// is read.
    pub fn content(&self, skill: &Skill, file: &SkillFile, limit: u64) -> io::Result<Vec<u8>> {
        let io = |error: ReadError| match error {
            ReadError::Io(error) => error,
            error => io::Error::other(error.to_string()),
        };
        let mut parts: Vec<_> = skill.place.folder.iter().map(String::as_str).collect();
        let path = if file.path == MAIN { &skill.place.main } else { &file.path };
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        parts.extend(folders.split('/').filter(|part| !part.is_empty()));
        let folder = OpenFolder::root(&self.root)?;
        let folder = folder.descend(parts.into_iter().map(OsStr::new)).map_err(io)?;
        folder.read(OsStr::new(name), limit).map_err(io)
    }

    /// A skill's own text as it is now. This waits for the disk.
    pub fn text(&self, skill: &Skill) -> io::Result<SkillText> {
        let content = self.content(skill, &skill.files[0], MAIN_BYTES)?;
        let text = String::from_utf8(content).map_err(io::Error::other)?;
        let parts = front_matter::split(&text).map_err(|error| io::Error::other(error.1))?;
        Ok(SkillText { body: parts.body.trim().to_owned() })
    }
}

/// Leaves the first of several skills with one name.
fn without_namesakes(skills: &mut Vec<Skill>) -> Vec<Finding> {
    let mut findings = Vec::new();
    skills.dedup_by(|later, first| {
        let is_same = later.name == first.name;
        if is_same {
            let message = format!("`{}` is also the name of `{}`", later.name, first.path());
            findings.push(Finding::fault(&later.path(), None, message));
        }
        is_same
    });
    findings
}
