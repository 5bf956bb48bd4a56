//! Opening what lies in a folder, and nothing else.
//!
//! Every name is opened relative to the descriptor of its folder, one name at a time, and a link is
//! never followed. So whatever somebody swaps while we look, what is opened lies in the folder that was
//! opened before. Only the folders that a person named may be reached through links: the configured
//! one, and those that links may lead into.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, open, openat, statat};

/// A folder, open.
#[derive(Debug, Clone)]
pub(crate) struct OpenFolder {
    descriptor: Arc<OwnedFd>,
    place: Arc<FolderPlace>,
}

/// Where a folder lies: plain names below a folder that a person named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FolderPlace {
    base: Arc<Path>,
    below: PathBuf,
}

impl FolderPlace {
    /// Opens it again, if no name in it has become a link.
    pub(crate) fn open(&self) -> Result<OpenFolder, ReadError> {
        OpenFolder::root(&self.base)?.descend(&self.below)
    }

    /// The folder that a person named.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.base.join(&self.below)
    }
}

/// One entry of a folder.
#[derive(Debug)]
pub(crate) struct FolderEntry {
    pub(crate) name: OsString,
    pub(crate) kind: EntryShape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryShape {
    Folder,
    File {
        size: u64,
    },
    Link,
    /// A device, a pipe or a socket.
    Special,
}

/// Why something in a folder was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("it has more than {0} entries")]
    Crowded(usize),
    /// It became one since its folder was listed.
    #[error("it is a link, and links are not followed")]
    Link,
    #[error("it is no ordinary file")]
    Special,
    /// The other name may be outside of the folder, and nothing tells.
    #[error("it has a second name (a hard link), which may be outside of the folder")]
    SecondName,
    #[error("it has more than {0} bytes")]
    TooLarge(u64),
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
}

impl From<rustix::io::Errno> for ReadError {
    fn from(error: rustix::io::Errno) -> Self {
        match error {
            // What `O_NOFOLLOW` answers for a link; with `O_DIRECTORY` it is the other one.
            rustix::io::Errno::LOOP => Self::Link,
            error => Self::Io(error.into()),
        }
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl OpenFolder {
    pub(crate) fn root(path: &Path) -> io::Result<Self> {
        let place = FolderPlace { base: path.into(), below: PathBuf::new() };
        Ok(Self {
            descriptor: Arc::new(open(path, FOLDER, Mode::empty())?),
            place: Arc::new(place),
        })
    }

    pub(crate) fn place(&self) -> &Arc<FolderPlace> {
        &self.place
    }

    /// All entries by their names, without `.` and `..`, if there are at most `limit`.
    pub(crate) fn entries(&self, limit: usize) -> Result<Vec<FolderEntry>, ReadError> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if entries.len() == limit {
                return Err(ReadError::Crowded(limit));
            }
            // One that went away meanwhile is not there.
            if let Ok(kind) = self.shape(name) {
                entries.push(FolderEntry { name: name.to_owned(), kind });
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    pub(crate) fn folder(&self, name: &OsStr) -> Result<Self, ReadError> {
        if self.shape(name)? == EntryShape::Link {
            return Err(ReadError::Link);
        }
        let flags = FOLDER | OFlags::NOFOLLOW;
        let descriptor = Arc::new(openat(&self.descriptor, name, flags, Mode::empty())?);
        let FolderPlace { base, below } = &*self.place;
        let place = FolderPlace { base: base.clone(), below: below.join(name) };
        Ok(Self { descriptor, place: Arc::new(place) })
    }

    /// A file's content, if it is an ordinary file of at most `limit` bytes.
    pub(crate) fn read(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError> {
        let mut content = Vec::new();
        let mut file = self.file(name, limit)?.take(limit + 1);
        file.read_to_end(&mut content)?;
        if content.len() as u64 > limit {
            // It grew while it was read.
            return Err(ReadError::TooLarge(limit));
        }
        Ok(content)
    }

    /// The first bytes of an ordinary file, whatever its size.
    pub(crate) fn start(&self, name: &OsStr, length: u64) -> Result<Vec<u8>, ReadError> {
        let mut content = Vec::new();
        self.file(name, u64::MAX)?.take(length).read_to_end(&mut content)?;
        Ok(content)
    }

    fn file(&self, name: &OsStr, limit: u64) -> Result<File, ReadError> {
        // Opening a device may do something, so it is asked about first, and again once it is open.
        match self.shape(name)? {
            EntryShape::File { size } if size > limit => return Err(ReadError::TooLarge(limit)),
            EntryShape::File { .. } => {}
            EntryShape::Link => return Err(ReadError::Link),
            EntryShape::Folder | EntryShape::Special => return Err(ReadError::Special),
        }
        // Without `O_NONBLOCK` a pipe that took the file's place would hold us up.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = openat(&self.descriptor, name, flags | OFlags::CLOEXEC, Mode::empty())?;
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(ReadError::Special);
        }
        if stat.st_nlink != 1 {
            return Err(ReadError::SecondName);
        }
        Ok(file.into())
    }

    fn shape(&self, name: &OsStr) -> Result<EntryShape, ReadError> {
        let stat = statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => EntryShape::Folder,
            FileType::RegularFile => {
                EntryShape::File { size: u64::try_from(stat.st_size).unwrap_or(u64::MAX) }
            }
            FileType::Symlink => EntryShape::Link,
            _ => EntryShape::Special,
        })
    }

    /// The folder that a path of plain names leads to from here.
    pub(crate) fn descend(self, path: &Path) -> Result<Self, ReadError> {
        path.components().try_fold(self, |folder, part| match part {
            Component::Normal(name) => folder.folder(name),
            _ => Err(ReadError::Special),
        })
    }
}
