//! The demonstration's folders: procedures of the garden as skills, and its handbook.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::DemoError;

/// Files by their paths in a folder.
type Files = [(&'static str, &'static str)];

const SKILLS: &Files = &[
    ("report-a-fault/SKILL.md", include_str!("skills/report-a-fault/SKILL.md")),
    (
        "report-a-fault/references/priorities.md",
        include_str!("skills/report-a-fault/references/priorities.md"),
    ),
    ("welcome-a-colleague/SKILL.md", include_str!("skills/welcome-a-colleague/SKILL.md")),
];

const HANDBOOK: &Files = &[
    ("garden.md", include_str!("handbook/garden.md")),
    ("machines.txt", include_str!("handbook/machines.txt")),
    ("working-here.md", include_str!("handbook/working-here.md")),
];

/// Writes the files of a folder on first start, and returns the folder. What somebody changed there
/// stays.
pub fn create_folder(name: &str, scratch: &Path) -> Result<PathBuf, DemoError> {
    let files = match name {
        "skills" => SKILLS,
        "handbook" => HANDBOOK,
        other => return Err(DemoError::UnknownServer(other.to_owned())),
    };
    let folder = scratch.join(name);
    for (path, text) in files {
        let path = folder.join(path);
        if !path.exists() {
            write(&path, text).map_err(|source| DemoError::Scratch { path, source })?;
        }
    }
    Ok(folder)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}
