//! The folder, and how what is in it is opened.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::fault;
use super::path::FolderPath;
use crate::BuiltinError;

/// How a folder of files may be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderSettings {
    pub path: PathBuf,
    pub writes: FolderWrites,
    pub resolution: PathResolution,
}

/// Whether files may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FolderWrites {
    Refuse,
    Allow,
}

/// Who makes sure that a path stays in the folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathResolution {
    /// The kernel, in one call, where it can (Linux 5.6); elsewhere as below.
    #[default]
    Kernel,
    /// We do: every name is opened by itself, below the folder before it.
    Stepwise,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Not blocking, so that a pipe that takes the place of a file does not hold the call.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

pub(super) struct Folder(FolderSettings);

impl Folder {
    pub(super) fn new(mut settings: FolderSettings) -> Self {
        // A worker runs elsewhere.
        if let Ok(path) = std::path::absolute(&settings.path) {
            settings.path = path;
        }
        Self(settings)
    }

    /// The folder itself. Its own path comes from the configuration and may have links.
    fn root(&self) -> Result<OwnedFd, BuiltinError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(&self.0.path, flags, Mode::empty()).map_err(|error| {
            BuiltinError::Unavailable {
                reason: "its folder cannot be opened".to_owned(),
                source: Some(std::io::Error::from(error).into()),
            }
        })
    }

    /// Opens a folder in it.
    pub(super) fn directory(&self, path: &FolderPath) -> Result<OwnedFd, BuiltinError> {
        let root = self.root()?;
        self.open_at(root, path.names(), DIRECTORY).map_err(|error| fault::of_path(path, error))
    }

    /// Opens a folder in it, which is made if it is missing, as are those above it.
    pub(super) fn made_directory(&self, path: &FolderPath) -> Result<OwnedFd, BuiltinError> {
        let mut at = self.root()?;
        let failed = |error| fault::of_path(path, error);
        for name in path.names() {
            match rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(error)),
            }
            at = step(&at, name, DIRECTORY).map_err(failed)?;
        }
        Ok(at)
    }

    /// Opens a file in it for reading. Only a plain file with one name is opened: another name may
    /// be outside, and what is no file may wait, act or never end.
    pub(super) fn file(&self, path: &FolderPath) -> Result<(File, Stat), BuiltinError> {
        let Some((parent, name)) = path.parent() else {
            return Err(fault::wrong(path, "is a folder"));
        };
        let failed = |error| fault::of_path(path, error);
        let at = self.open_at(self.root()?, parent.names(), DIRECTORY).map_err(failed)?;
        // Opening a device can do something by itself, so it is looked at first.
        let before = rustix::fs::statat(&at, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        plain(path, &before)?;
        let opened = step(&at, name, FILE).map_err(failed)?;
        let stat = rustix::fs::fstat(&opened).map_err(failed)?;
        plain(path, &stat)?;
        Ok((File::from(opened), stat))
    }

    fn open_at(&self, root: OwnedFd, names: &[String], flags: OFlags) -> Result<OwnedFd, Errno> {
        if names.is_empty() {
            return Ok(root);
        }
        #[cfg(target_os = "linux")]
        if self.0.resolution == PathResolution::Kernel {
            use rustix::fs::ResolveFlags;
            let resolve =
                ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            let path = names.join("/");
            match rustix::fs::openat2(&root, path, flags, Mode::empty(), resolve) {
                // The kernel or a sandbox around us does not know the call.
                Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => {}
                opened => return opened,
            }
        }
        let mut at = root;
        let (last, before) = names.split_last().expect("it was looked at above");
        for name in before {
            at = step(&at, name, DIRECTORY)?;
        }
        step(&at, last, flags)
    }
}

/// Opens one name in a folder, which is no path and not followed if it is a link.
fn step(at: &OwnedFd, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let opened = rustix::fs::openat(at, name, flags, Mode::empty());
    // A link in the place of a folder is reported as no folder.
    if opened.as_ref().err() == Some(&Errno::NOTDIR) && is_link(at, name) {
        return Err(Errno::LOOP);
    }
    opened
}

fn is_link(at: &OwnedFd, name: &str) -> bool {
    rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// Refuses everything but a plain file with one name.
pub(super) fn plain(path: &FolderPath, stat: &Stat) -> Result<(), BuiltinError> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_nlink == 1 => Ok(()),
        FileType::RegularFile => {
            let what = "has a second name (a hard link), which may be outside of the folder";
            Err(fault::wrong(path, what))
        }
        FileType::Directory => Err(fault::wrong(path, "is a folder")),
        FileType::Symlink => Err(fault::of_path(path, Errno::LOOP)),
        _ => Err(fault::wrong(path, "is no plain file")),
    }
}
