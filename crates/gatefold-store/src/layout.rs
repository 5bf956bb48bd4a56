//! What belongs where in a state directory.

use std::fs;
use std::path::Path;

use crate::{StoreError, key};

/// Files of the store, including SQLite's two side files.
const FILES: [&str; 5] =
    ["gatefold.db", "gatefold.db-wal", "gatefold.db-shm", "seal.key", "startup.lock"];

const FOLDERS: [&str; 2] = ["owners", "manifests"];

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
