//! The demonstration's skills: procedures of the garden, as files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::DemoError;

/// The files, by their paths in the folder.
const FILES: [(&str, &str); 3] = [
    ("report-a-fault/SKILL.md", include_str!("skills/report-a-fault/SKILL.md")),
    (
        "report-a-fault/references/priorities.md",
        include_str!("skills/report-a-fault/references/priorities.md"),
    ),
    ("welcome-a-colleague/SKILL.md", include_str!("skills/welcome-a-colleague/SKILL.md")),
];

/// Writes the skills on first start, and returns their folder. What somebody changed there stays.
pub fn create_skills(name: &str, scratch: &Path) -> Result<PathBuf, DemoError> {
    let folder = scratch.join(name);
    for (path, text) in FILES {
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
