use gatefold_core::Digest;
use serde_json::{Map, Value};

/// One skill, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    pub license: Option<String>,
    pub compatibility: Option<String>,
    /// The tools that it says it uses, as it writes them.
    pub allowed_tools: Vec<String>,
    /// The domains that it is for, as it writes them (`for` below `metadata`).
    pub domains: Vec<String>,
    /// Its front matter as JSON, as it was written.
    pub front_matter: Map<String, Value>,
    /// The headings of its text.
    pub headings: Vec<String>,
    /// Its main file first, then the others by their paths.
    pub files: Vec<SkillFile>,
    pub(crate) place: SkillPlace,
}

/// Where a skill lies below the configured folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillPlace {
    /// The folder, part by part: of a skill that is a single file the one that it lies in.
    pub(crate) folder: Vec<String>,
    /// The name of the main file there.
    pub(crate) main: String,
}

/// One file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Relative to the skill, with `/` between its parts. The main file is always `SKILL.md`.
    pub path: String,
    pub size: u64,
    pub digest: Digest,
    /// Whether it is UTF-8.
    pub is_text: bool,
}

/// A skill's own text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillText {
    /// Everything behind the front matter.
    pub body: String,
}

impl Skill {
    /// The path of its main file below the configured folder.
    pub fn path(&self) -> String {
        let folder = self.place.folder.iter().map(String::as_str);
        folder.chain([self.place.main.as_str()]).collect::<Vec<_>>().join("/")
    }

    /// The file of this path, exactly.
    pub fn file(&self, path: &str) -> Option<&SkillFile> {
        self.files.iter().find(|file| file.path == path)
    }
}
