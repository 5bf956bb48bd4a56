//! What belongs where in a state directory.

use std::path::Path;
use std::{fs, io};

use crate::{StoreError, key};

/// Files of the store, including SQLite's two side files.
const FILES: [&str; 6] =
    ["gatefold.db", "gatefold.db-wal", "gatefold.db-shm", "seal.key", "root.key", "startup.lock"];

const FOLDERS: [&str; 3] = ["owners", "manifests", "results"];

/// Checks that every entry is of the right type and that the key is intact. The first start creates
/// what does not exist yet.
pub(crate) fn check(state_dir: &Path) -> Result<(), StoreError> {
    for (names, expected) in [(&FILES[..], "file"), (&FOLDERS[..], "folder")] {
        for name in names {
            let path = state_dir.join(name);
            let is_other = |found: fs::Metadata| match expected {
                "file" => !found.is_file(),
                _ => !found.is_dir(),
            };
            if fs::metadata(&path).is_ok_and(is_other) {
                return Err(StoreError::Misplaced { path, expected });
            }
        }
    }
    key::check(state_dir)
}

/// Creates a directory, and those above it, that only its owner may access. An existing directory
/// is left as it is.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}
