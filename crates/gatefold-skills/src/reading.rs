//! Reading a folder of skills.

mod budget;
mod files;
mod headings;
mod links;
mod search;

use std::io;
use std::path::PathBuf;

use crate::folder::OpenFolder;
use crate::skill::Skill;
use crate::{Finding, Severity};
use links::Links;
use search::Search;

/// A folder of skills, as somebody names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFolder {
    pub path: PathBuf,
    /// The folders that links in it may lead into.
    pub link_targets: Vec<PathBuf>,
}

impl SkillFolder {
    /// A folder without links, or whose links are not followed.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), link_targets: Vec::new() }
    }
}

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
    left_out_links: usize,
}

impl SkillSet {
    /// Reads a folder: each skill in it, and each Markdown file with front matter. A folder with a
    /// `SKILL.md` is one skill. What is wrong with one costs no other.
    ///
    /// This waits for the disk.
    pub fn read(folder: &SkillFolder) -> Result<Self, SkillFolderError> {
        let failed = |source| SkillFolderError { path: folder.path.clone(), source };
        // The name of the last part has to be known: a folder with a `SKILL.md` is named by it.
        let root = folder.path.canonicalize().map_err(failed)?;
        let opened = OpenFolder::root(&root).map_err(failed)?;
        let (links, unusable) = Links::new(&root, &folder.link_targets);
        let mut search = Search::new(&root, &links);
        for finding in unusable {
            search.budget.note(finding);
        }
        search.run(opened).map_err(|error| failed(io::Error::other(error.to_string())))?;
        let Search { mut skills, folders, budget, .. } = search;
        let left_out_links = budget.left_out_links();
        let mut findings = budget.into_findings();
        skills.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.path().cmp(&b.path())));
        findings.extend(without_namesakes(&mut skills));
        Ok(Self { root, skills, findings, folders, left_out_links })
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

    /// How many skills lie where a link leads to.
    pub fn linked_skills(&self) -> usize {
        let is_linked = |skill: &&Skill| skill.files[0].place.folder.base() != self.root;
        self.skills.iter().filter(is_linked).count()
    }

    /// How many links were not followed.
    pub fn left_out_links(&self) -> usize {
        self.left_out_links
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
