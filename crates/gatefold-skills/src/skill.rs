use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use gatefold_core::Digest;
use serde_json::{Map, Value};

use crate::folder::{FolderPlace, ReadError};
use crate::front_matter;
use crate::limits::MAIN_BYTES;

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
    pub(crate) place: FilePlace,
}

/// Where a file lies, once links were followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePlace {
    pub(crate) folder: Arc<FolderPlace>,
    pub(crate) name: OsString,
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

    /// Its own text as it is now. This waits for the disk.
    pub fn text(&self) -> io::Result<SkillText> {
        let text = String::from_utf8(self.files[0].content(MAIN_BYTES)?);
        let text = text.map_err(io::Error::other)?;
        let parts = front_matter::split(&text).map_err(|error| io::Error::other(error.1))?;
        Ok(SkillText { body: parts.body.trim().to_owned() })
    }
}

impl SkillFile {
    /// Its content as it is now, if it has at most `limit` bytes.
    ///
    /// This waits for the disk. Whatever became of its folder since it was read, nothing outside the
    /// folders that a person named is read.
    pub fn content(&self, limit: u64) -> io::Result<Vec<u8>> {
        let FilePlace { folder, name } = &self.place;
        let content = folder.open().and_then(|folder| folder.read(name, limit));
        content.map_err(|error| match error {
            ReadError::Io(error) => error,
            error => io::Error::other(error.to_string()),
        })
    }
}
