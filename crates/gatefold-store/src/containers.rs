//! Notes of the containers that sources have started, so that those of a process that was killed can be
//! ended. What is in them is not known here.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::layout::create_private_directory;
use crate::{Store, owner};

const DIRECTORY: &str = "containers";
const EXTENSION: &str = "json";

/// The most notes of dead processes that are read at a time.
const NOTES: usize = 1024;
/// The longest note that is read, in bytes.
const NOTE_BYTES: u64 = 64 * 1024;

impl Store {
    /// Keeps a note until its file is removed. Returns the file.
    pub fn note_container(&self, text: &str) -> io::Result<PathBuf> {
        let directory = self.inner.state_dir.join(DIRECTORY);
        create_private_directory(&directory)?;
        let number = getrandom::u64().map_err(io::Error::other)?;
        let name = format!("{:016x}.{number:016x}.{EXTENSION}", self.inner.owner);
        let path = directory.join(name);
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.write(true).create_new(true).open(&path)?.write_all(text.as_bytes())?;
        Ok(path)
    }
}

/// The notes of processes that have ended, with their files.
pub fn containers_left_behind(state_dir: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(state_dir.join(DIRECTORY)).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let left = paths.filter(|path| owner_of(path).is_some_and(|id| owner::is_gone(state_dir, id)));
    left.take(NOTES).filter_map(|path| read(&path).ok().map(|text| (path, text))).collect()
}

fn owner_of(path: &Path) -> Option<i64> {
    let is_note = path.extension().and_then(OsStr::to_str) == Some(EXTENSION);
    let name = path.file_name()?.to_str().filter(|_| is_note)?;
    i64::from_str_radix(name.split('.').next()?, 16).ok()
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(NOTE_BYTES).read_to_string(&mut text)?;
    Ok(text)
}
