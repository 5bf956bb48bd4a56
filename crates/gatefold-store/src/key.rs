use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{fs, io::ErrorKind};

use gatefold_dispatch::SealKey;
use tempfile::NamedTempFile;

use crate::StoreError;

const FILE: &str = "seal.key";

/// Reads the key that seals suspended calls; creates it if there is none.
///
/// When several processes create one at the same time, the first wins and all use that one.
pub(crate) fn load_or_create(state_dir: &Path) -> Result<SealKey, StoreError> {
    let path = state_dir.join(FILE);
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let mut key = [0; 32];
            getrandom::fill(&mut key).map_err(StoreError::Random)?;
            create(&path, &key).and_then(|()| fs::read(&path))
        }
        read => read,
    };
    read(path, bytes).map(SealKey::new)
}

/// Whether the key can be used, if there is one.
pub(crate) fn check(state_dir: &Path) -> Result<(), StoreError> {
    let path = state_dir.join(FILE);
    match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        bytes => read(path, bytes).map(drop),
    }
}

fn read(path: PathBuf, bytes: io::Result<Vec<u8>>) -> Result<[u8; 32], StoreError> {
    let bytes = bytes.map_err(|source| StoreError::unusable(&path, source))?;
    bytes.try_into().map_err(|_| StoreError::Damaged { path, source: None })
}

/// Writes a new key, unless another process was first.
pub(crate) fn create(path: &Path, key: &[u8]) -> io::Result<()> {
    match temporary(path, key)?.persist_noclobber(path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    }
}

/// Writes a key in the place of another one.
pub(crate) fn replace(path: &Path, key: &[u8]) -> io::Result<()> {
    temporary(path, key)?.persist(path).map(drop).map_err(|error| error.error)
}

/// A file beside its later place that only its owner can read, as `tempfile` makes them.
fn temporary(path: &Path, key: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    file.write_all(key)?;
    file.as_file().sync_all()?;
    Ok(file)
}
