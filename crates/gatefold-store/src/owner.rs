//! Which running process holds a record.
//!
//! Each store that is open keeps a lock (`flock`) on a file of its own. The system lets go of the
//! lock when the process ends, however it ends, so a lock that can be taken means a dead owner.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

const DIRECTORY: &str = "owners";
const EXTENSION: &str = "lock";

/// One open store among those that share a state directory.
pub(crate) struct Owner {
    pub(crate) id: i64,
    path: PathBuf,
    _lock: File,
}

impl Owner {
    /// Takes a place under an id that nobody had before: 63 random bits.
    pub(crate) fn register(state_dir: &Path, id: i64) -> io::Result<Self> {
        let directory = state_dir.join(DIRECTORY);
        fs::create_dir_all(&directory)?;
        let path = path_of(state_dir, id);
        // Locked before it bears the name by which others find it.
        let unlisted = path.with_extension("new");
        let lock = File::create_new(&unlisted)?;
        lock.try_lock().map_err(io::Error::from)?;
        fs::rename(&unlisted, &path)?;
        Ok(Self { id, path, _lock: lock })
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A file left behind is found unlocked and removed by the next process.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the process behind an id has ended.
pub(crate) fn is_gone(state_dir: &Path, id: i64) -> bool {
    is_unlocked(&path_of(state_dir, id))
}

/// Removes the files of owners that are gone. Their records must have been seen to before.
pub(crate) fn sweep(state_dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(state_dir.join(DIRECTORY))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) && is_unlocked(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
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
            // When in doubt, the owner lives.
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
        },
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn path_of(state_dir: &Path, id: i64) -> PathBuf {
    state_dir.join(DIRECTORY).join(format!("{id:016x}.{EXTENSION}"))
}
