//! Which running process holds a record.
//!
//! Each open store holds a lock (`flock`) on a file of its own. The system releases the lock when
//! the process ends, however it ends, so a lock that can be taken means that its owner is dead.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::layout::create_private_directory;

const DIRECTORY: &str = "owners";
const EXTENSION: &str = "lock";

/// The extension of the files with the ends of a process's calls.
const ENDS: &str = "ends";

/// One open store among those that share a state directory.
pub(crate) struct Owner {
    pub(crate) id: i64,
    path: PathBuf,
    _lock: File,
}

impl Owner {
    /// Registers under a new id: 63 random bits.
    pub(crate) fn register(state_dir: &Path, id: i64) -> io::Result<Self> {
        let directory = state_dir.join(DIRECTORY);
        create_private_directory(&directory)?;
        let path = path_of(state_dir, id);
        // Locked before it gets the name under which others look for it.
        let unlisted = path.with_extension("new");
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let lock = options.write(true).create_new(true).open(&unlisted)?;
        lock.try_lock().map_err(io::Error::from)?;
        fs::rename(&unlisted, &path)?;
        Ok(Self { id, path, _lock: lock })
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // If the file stays behind, the next process finds it unlocked and removes it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the process behind an id has ended.
pub(crate) fn is_gone(state_dir: &Path, id: i64) -> bool {
    is_unlocked(&path_of(state_dir, id))
}

/// The files that dead owners have left behind.
///
/// List them before closing their owners' records, and remove them after. An owner that dies in
/// between still has ends in its files that nobody has read.
pub(crate) fn left_behind(state_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for entry in fs::read_dir(state_dir.join(DIRECTORY))? {
        let path = entry?.path();
        let is_left = match path.extension().and_then(OsStr::to_str) {
            Some(EXTENSION) => is_unlocked(&path),
            Some(ENDS) => is_unlocked(&path.with_extension("").with_extension(EXTENSION)),
            _ => false,
        };
        if is_left {
            left.push(path);
        }
    }
    Ok(left)
}

/// Removes what [`left_behind`] found. Another process may have done so already.
pub(crate) fn remove(left: &[PathBuf]) -> io::Result<()> {
    for path in left {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Where an owner writes the ends of its calls before they are in the database.
pub(crate) fn ending_files(state_dir: &Path, id: i64) -> [PathBuf; 2] {
    let directory = state_dir.join(DIRECTORY);
    [0, 1].map(|number| directory.join(format!("{id:016x}.{number}.{ENDS}")))
}

/// How many stores are open on this directory.
pub(crate) fn holders(state_dir: &Path) -> usize {
    let entries = fs::read_dir(state_dir.join(DIRECTORY)).into_iter().flatten().flatten();
    let locks = entries.map(|entry| entry.path());
    let locks = locks.filter(|path| path.extension().is_some_and(|it| it == EXTENSION));
    locks.filter(|path| !is_unlocked(path)).count()
}

fn is_unlocked(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => match file.try_lock() {
            Ok(()) => true,
            // When in doubt, the owner is alive.
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
        },
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn path_of(state_dir: &Path, id: i64) -> PathBuf {
    state_dir.join(DIRECTORY).join(format!("{id:016x}.{EXTENSION}"))
}
