//! What belongs where in a state directory.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::{StoreError, key};

/// Files of the store, including SQLite's two side files.
const FILES: [&str; 6] =
    ["gatefold.db", "gatefold.db-wal", "gatefold.db-shm", "seal.key", "root.key", "startup.lock"];

const FOLDERS: [&str; 4] = ["owners", "manifests", "results", "containers"];

/// The files among them whose content is a secret by itself.
const KEYS: [&str; 2] = ["seal.key", "root.key"];

/// The bits of a mode that are about others than the owner.
const OF_OTHERS: u32 = 0o077;

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

/// Takes from others what an earlier version, or a backup that was put back, has left open to them. Names in there
/// are digests and numbers, but the key in a file that others could read is no secret any more.
pub(crate) fn close_to_others(state_dir: &Path) {
    #[cfg(unix)]
    for name in FILES.iter().chain(&FOLDERS) {
        use std::os::unix::fs::PermissionsExt as _;

        let path = state_dir.join(name);
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        let mode = found.permissions().mode();
        if found.is_symlink() || mode & OF_OTHERS == 0 {
            continue;
        }
        let is_closed =
            fs::set_permissions(&path, fs::Permissions::from_mode(mode & !OF_OTHERS)).is_ok();
        let path = path.display();
        if KEYS.contains(name) {
            tracing::warn!(
                %path,
                is_closed,
                "others on this machine could use a key: if there are any, stop Gatefold and delete it for a new one"
            );
        } else if !is_closed {
            tracing::warn!(%path, "others on this machine can use a part of the state directory");
        }
    }
    #[cfg(not(unix))]
    let _ = state_dir;
}

/// Opens a file for appending that only its owner may access, and creates it if necessary. A link is not followed:
/// it would lead to a file of somebody else's.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        options.mode(0o600).custom_flags(no_link);
    }
    options.append(true).create(true).open(path)
}

/// Creates a directory, and those above it, that only its owner may access. An existing directory
/// is left as it is.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}
