//! The files that a base is made from: which there are, and which of them changed.
//!
//! No symbolic link below a root is followed, neither when folders are listed nor when a file is read,
//! so that nobody who may write there shows us other files of this machine.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use gatefold_core::Timestamp;
use gatefold_documents::Format;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};

use crate::KnowledgeError;
use crate::limits::{MAX_DEPTH, MAX_ENTRIES, MAX_FILES, MAX_NAME};
use crate::storage::DocumentSummary;

mod patterns;

use patterns::NamePatterns;

/// Folders, and single files, whose documents make a base.
#[derive(Debug)]
pub struct Folder {
    roots: Vec<FolderRoot>,
    include: NamePatterns,
    exclude: NamePatterns,
}

#[derive(Debug)]
struct FolderRoot {
    path: PathBuf,
    /// What stands in front of its documents' names, with a slash; empty for the only root.
    prefix: String,
}

/// A file that may be a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOnDisk {
    /// What the document is called: its path below its root.
    pub name: String,
    pub size: u64,
    pub modified: Timestamp,
    root: PathBuf,
    /// Below the root; empty where the root is the file.
    path: String,
}

/// What was found of a folder.
#[derive(Debug, Default)]
pub struct FileListing {
    /// By name.
    pub files: Vec<FileOnDisk>,
    /// Beginnings of names where something may be that could not be listed. Nothing there is known to
    /// be gone.
    pub unread: Vec<String>,
    /// Whether there is more than is listed of a base.
    pub is_cut: bool,
}

/// What differs between files and documents.
#[derive(Debug, Default)]
pub struct FileChanges {
    /// New, or of another size or time than the document says. The bytes may still be the same.
    pub changed: Vec<FileOnDisk>,
    /// Names of documents whose files are gone.
    pub removed: Vec<String>,
}

/// Compares files with the documents that were made of them.
pub fn plan(listing: FileListing, known: &[DocumentSummary]) -> FileChanges {
    let by_name: HashMap<&str, &DocumentSummary> =
        known.iter().map(|document| (&document.name[..], document)).collect();
    let listed: HashSet<&str> = listing.files.iter().map(|file| &file.name[..]).collect();
    let may_be_there = |name: &str| {
        listing.is_cut || listing.unread.iter().any(|prefix| name.starts_with(&prefix[..]))
    };
    let is_gone = |name: &&str| !listed.contains(name) && !may_be_there(name);
    let names = known.iter().map(|document| &document.name[..]);
    let removed = names.filter(is_gone).map(str::to_owned).collect();
    let differs = |file: &FileOnDisk| {
        by_name.get(&file.name[..]).is_none_or(|document| {
            document.bytes != file.size || document.modified != file.modified
        })
    };
    FileChanges { removed, changed: listing.files.into_iter().filter(differs).collect() }
}

impl Folder {
    /// Patterns are of names: `*` and `?` stay between slashes, `**` spans folders, and one without a
    /// slash is of the last part. Without `include` all that can be read is listed.
    pub fn new(
        roots: &[PathBuf],
        include: &[String],
        exclude: &[String],
    ) -> Result<Self, KnowledgeError> {
        let mut named: Vec<FolderRoot> = Vec::new();
        for path in roots {
            let own = path.file_name().and_then(OsStr::to_str).unwrap_or("root");
            let is_taken = |prefix: &str| named.iter().any(|root| root.prefix == prefix);
            let mut prefix = if roots.len() > 1 { format!("{own}/") } else { String::new() };
            let mut number = 2;
            while is_taken(&prefix) {
                prefix = format!("{own}-{number}/");
                number += 1;
            }
            named.push(FolderRoot { path: path.clone(), prefix });
        }
        let (include, exclude) = (NamePatterns::new(include)?, NamePatterns::new(exclude)?);
        Ok(Self { roots: named, include, exclude })
    }

    /// Lists the files. A root that cannot be read is among what is unread.
    pub fn list(&self) -> FileListing {
        let mut listing = FileListing::default();
        let mut looked_at = 0;
        for root in &self.roots {
            let walk = FolderWalk { folder: self, root, listing: &mut listing, looked_at };
            looked_at = walk.run();
        }
        listing.files.sort_by(|one, other| one.name.cmp(&other.name));
        listing
    }

    /// Whether a file that appears under a name would be listed.
    fn takes(&self, name: &str) -> bool {
        if name.len() > MAX_NAME || name.contains(char::is_control) || self.exclude.match_name(name)
        {
            return false;
        }
        if self.include.is_empty() {
            return is_readable(name);
        }
        // Who asks for an ending by name wants it read, whatever it is.
        self.include.match_ending(name) || self.include.match_name(name) && is_readable(name)
    }
}

impl FileOnDisk {
    /// The file's bytes, at most so many and one more.
    pub fn read(&self, most: u64) -> Result<Vec<u8>, KnowledgeError> {
        let path = self.root.join(&self.path);
        let read = || -> io::Result<Vec<u8>> {
            let file = open_file(&self.root, &self.path)?;
            let mut bytes = Vec::new();
            File::from(file).take(most.saturating_add(1)).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|source| KnowledgeError::Folder { path, source })
    }
}

struct FolderWalk<'w> {
    folder: &'w Folder,
    root: &'w FolderRoot,
    listing: &'w mut FileListing,
    looked_at: usize,
}

impl FolderWalk<'_> {
    fn run(mut self) -> usize {
        match rustix::fs::stat(&self.root.path) {
            Ok(stat) if is_kind(&stat, FileType::RegularFile) => {
                let own = self.root.path.file_name().and_then(OsStr::to_str).unwrap_or_default();
                let name = match self.root.prefix.trim_end_matches('/') {
                    "" => own,
                    prefix => prefix,
                };
                self.add(name.to_owned(), String::new(), &stat);
            }
            Ok(_) => self.walk(),
            Err(_) => self.listing.unread.push(self.root.prefix.clone()),
        }
        self.looked_at
    }

    /// Goes through the folders, those near the root first.
    fn walk(&mut self) {
        let mut waiting = VecDeque::from([(String::new(), 0)]);
        while let Some((path, depth)) = waiting.pop_front() {
            if self.listing.is_cut {
                return;
            }
            match self.folders_in(&path) {
                Ok(folders) if depth < MAX_DEPTH => {
                    waiting.extend(folders.into_iter().map(|folder| (folder, depth + 1)));
                }
                Ok(folders) => self.listing.is_cut |= !folders.is_empty(),
                Err(_) => self.listing.unread.push(format!("{}{path}", self.root.prefix)),
            }
        }
    }

    /// Lists the files of a folder, and returns the folders in it.
    fn folders_in(&mut self, path: &str) -> io::Result<Vec<String>> {
        let at = open_below(&self.root.path, path, OFlags::DIRECTORY)?;
        let mut folders = Vec::new();
        for entry in Dir::read_from(&at)? {
            let entry = entry?;
            self.looked_at += 1;
            if self.looked_at > MAX_ENTRIES || self.listing.files.len() >= MAX_FILES {
                self.listing.is_cut = true;
                break;
            }
            let Ok(own) = entry.file_name().to_str() else { continue };
            if own.starts_with('.') || VERSION_CONTROL.contains(&own) {
                continue;
            }
            let Ok(stat) = rustix::fs::statat(&at, own, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            let child = if path.is_empty() { own.to_owned() } else { format!("{path}/{own}") };
            let name = format!("{}{child}", self.root.prefix);
            if is_kind(&stat, FileType::Directory) {
                if !self.folder.exclude.match_name(&name) {
                    folders.push(child);
                }
            } else if is_kind(&stat, FileType::RegularFile) {
                self.add(name, child, &stat);
            }
        }
        folders.sort_unstable();
        Ok(folders)
    }

    fn add(&mut self, name: String, path: String, stat: &Stat) {
        if self.folder.takes(&name) {
            let root = self.root.path.clone();
            let size = u64::try_from(stat.st_size).unwrap_or_default();
            self.listing.files.push(FileOnDisk {
                name,
                size,
                modified: modified(stat),
                root,
                path,
            });
        }
    }
}

fn is_kind(stat: &Stat, kind: FileType) -> bool {
    FileType::from_raw_mode(stat.st_mode) == kind
}

fn modified(stat: &Stat) -> Timestamp {
    // The types of these differ between systems.
    let (seconds, nanoseconds) = (i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec));
    let millis = seconds * 1000 + nanoseconds / 1_000_000;
    Timestamp::from_millis(u64::try_from(millis).unwrap_or_default())
}

fn open_file(root: &Path, path: &str) -> io::Result<OwnedFd> {
    // Opening a pipe would wait for who writes to it.
    let file = open_below(root, path, OFlags::NONBLOCK)?;
    if is_kind(&rustix::fs::fstat(&file)?, FileType::RegularFile) {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))
    }
}

/// Opens what is below a root, part by part. The root itself may be a link: it is configured.
fn open_below(root: &Path, path: &str, last: OFlags) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let Some((file, folders)) = parts.split_last() else {
        return Ok(rustix::fs::openat(CWD, root, flags | last, Mode::empty())?);
    };
    let mut at = rustix::fs::openat(CWD, root, flags | OFlags::DIRECTORY, Mode::empty())?;
    for (part, kind) in folders.iter().map(|part| (part, OFlags::DIRECTORY)).chain([(file, last)]) {
        at = rustix::fs::openat(&at, *part, flags | OFlags::NOFOLLOW | kind, Mode::empty())?;
    }
    Ok(at)
}

/// Folders of version control whose names do not say that they are hidden.
const VERSION_CONTROL: [&str; 4] = ["CVS", "RCS", "SCCS", "_darcs"];

/// Names without an ending that texts have.
const TEXTS: [&str; 12] = [
    "authors",
    "changelog",
    "changes",
    "contributing",
    "copying",
    "dockerfile",
    "history",
    "license",
    "makefile",
    "news",
    "notice",
    "readme",
];

fn is_readable(name: &str) -> bool {
    let own = name.rsplit('/').next().unwrap_or(name);
    let is_text = |text: &&str| own.eq_ignore_ascii_case(text);
    Format::of_name(own).is_some() || TEXTS.iter().any(is_text)
}
