//! Links, which are followed only into folders that the configuration names.
//!
//! A link's target is found by its name, but opened from the folder that a person named, one plain
//! name at a time. So a link that is swapped in between leads nowhere else.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::Finding;
use crate::folder::{EntryShape, FolderEntry, OpenFolder, ReadError};
use crate::names::{is_left_out, shown};

/// The key that names the folders.
const KEY: &str = "follow_links_to";

/// How much of a link's target is repeated, in characters.
const SHOWN_TARGET: usize = 200;

/// Where links may lead.
pub(super) struct Links {
    root: PathBuf,
    /// The folders that were named, without links in their paths.
    targets: Vec<PathBuf>,
}

/// What a link leads to.
pub(super) enum LinkTarget {
    Folder(OpenFolder),
    /// The folder of a file, and the file's name in it.
    File(OpenFolder, OsString),
}

/// Why a link was not followed.
#[derive(Debug, thiserror::Error)]
pub(super) enum LinkFault {
    #[error("it is a link to `{target}`, which leads nowhere: {source}")]
    Dead { target: String, source: io::Error },
    #[error("it is a link to `{target}`, which holds the folder that the link lies in")]
    Around { target: String },
    #[error("it is a link to `{target}`, which is no ordinary file or folder")]
    Special { target: String },
    #[error("it is a link to `{target}`, and hidden files and folders are no part of a skill")]
    LeftOut { target: String },
    #[error(
        "it is a link to `{target}`, and links are not followed there; to follow it, write \
         `{KEY} = [\"{folder}\"]` for the source"
    )]
    Outside { target: String, folder: String },
    #[error("it is a link to `{target}`: {source}")]
    Unreadable { target: String, source: ReadError },
}

impl Links {
    /// Links may lead into `targets`. Those that do not exist are reported.
    pub(super) fn new(root: &Path, targets: &[PathBuf]) -> (Self, Vec<Finding>) {
        let (mut real, mut findings) = (Vec::new(), Vec::new());
        for target in targets {
            match target.canonicalize() {
                Ok(path) => real.push(path),
                Err(error) => {
                    let path = shown(target.as_os_str());
                    let message = format!("`{KEY}` names it, and it cannot be read: {error}");
                    findings.push(Finding::warning(&path, None, message));
                }
            }
        }
        (Self { root: root.to_owned(), targets: real }, findings)
    }

    /// What a link in a folder leads to.
    pub(super) fn follow(
        &self,
        folder: &OpenFolder,
        name: &OsStr,
    ) -> Result<LinkTarget, LinkFault> {
        let own = folder.place().path();
        let path = own.join(name);
        let written = fs::read_link(&path).unwrap_or_default();
        let target: String = shown(written.as_os_str()).chars().take(SHOWN_TARGET).collect();
        let dead = |target, source| LinkFault::Dead { target, source };
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) => return Err(dead(target, error)),
        };
        if self.root.starts_with(&real) || own.starts_with(&real) {
            return Err(LinkFault::Around { target });
        }
        let is_folder = match fs::metadata(&real) {
            Ok(found) if found.is_dir() => true,
            Ok(found) if found.is_file() => false,
            Ok(_) => return Err(LinkFault::Special { target }),
            Err(error) => return Err(dead(target, error)),
        };
        let Some(base) = self.targets.iter().find(|base| real.starts_with(base)) else {
            let folder = shown(real.parent().unwrap_or(&real).as_os_str());
            return Err(LinkFault::Outside { target, folder });
        };
        // What a folder keeps to itself, such as `.env` and `.git`, no link gives away.
        let below = real.strip_prefix(base).unwrap_or(Path::new(""));
        if below.iter().any(is_left_out) {
            return Err(LinkFault::LeftOut { target });
        }
        let followed = open(base, &real, is_folder);
        followed.map_err(|source| LinkFault::Unreadable { target, source })
    }

    /// A file of a folder, or the one that it is a link to: its folder, and its name there.
    pub(super) fn file(
        &self,
        folder: &OpenFolder,
        entry: &FolderEntry,
    ) -> Result<(OpenFolder, OsString), LinkFault> {
        if entry.kind != EntryShape::Link {
            return Ok((folder.clone(), entry.name.clone()));
        }
        match self.follow(folder, &entry.name)? {
            LinkTarget::File(folder, name) => Ok((folder, name)),
            LinkTarget::Folder(inner) => {
                let target = shown(inner.place().path().as_os_str());
                Err(LinkFault::Special { target })
            }
        }
    }
}

/// Opens what lies below a folder that was named.
fn open(base: &Path, real: &Path, is_folder: bool) -> Result<LinkTarget, ReadError> {
    let below = real.strip_prefix(base).unwrap_or(Path::new(""));
    // A file may be named itself, and then its folder is where it is opened from.
    let (base, below) = match (is_folder, base.parent()) {
        (false, Some(parent)) if below.as_os_str().is_empty() => (parent, Path::new("")),
        _ => (base, below),
    };
    if is_folder {
        return Ok(LinkTarget::Folder(OpenFolder::root(base)?.descend(below)?));
    }
    let folder = OpenFolder::root(base)?.descend(below.parent().unwrap_or(Path::new("")))?;
    Ok(LinkTarget::File(folder, real.file_name().unwrap_or_default().to_owned()))
}
