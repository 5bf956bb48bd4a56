//! Reading and replacing the files of other programs.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use gatefold::files;
use tempfile::NamedTempFile;

use super::SetupError;

/// The most symbolic links that are followed in a row, as on Linux.
const LINKS: usize = 40;

/// The text of a client's file, or nothing when there is no such file.
pub fn read(path: &Path) -> Result<Option<String>, SetupError> {
    read_limited(path, gatefold_clients::FILE_BYTES as u64)
}

/// The text of a file of at most this many bytes, or nothing if there is no such file.
pub(super) fn read_limited(path: &Path, limit: u64) -> Result<Option<String>, SetupError> {
    match files::read_text(path, limit) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SetupError::File { path: path.to_owned(), act: "read", error }),
    }
}

/// Replaces what was read with `text` in one step: readers see the old file or the new one, never a
/// part. A symbolic link stays a link, even if its target does not exist yet. Permissions stay, and
/// missing folders are created. `None` removes the file.
///
/// Fails if another program wrote the file in between, so as not to overwrite that.
pub(super) fn replace(
    path: &Path,
    read_before: Option<&str>,
    text: Option<&str>,
) -> Result<(), SetupError> {
    let failed = |error| SetupError::File { path: path.to_owned(), act: "written", error };
    let target = writable_target(path)?;
    let Some(text) = text else {
        unchanged(path, read_before)?;
        return match fs::remove_file(&target) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        };
    };
    let folder = target.parent().map_or_else(PathBuf::new, Path::to_owned);
    fs::create_dir_all(&folder).map_err(failed)?;
    let mut file = NamedTempFile::new_in(&folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    if let Ok(old) = fs::metadata(&target) {
        file.as_file().set_permissions(old.permissions()).map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    unchanged(path, read_before)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// The file that a path leads to through links, whether it exists or not. Refuses a file that
/// nobody may write, even where the permissions of its folder would allow replacing it. Refuses a
/// folder that takes no new file, because the replacement is made there.
pub(super) fn writable_target(path: &Path) -> Result<PathBuf, SetupError> {
    let failed = |error| SetupError::File { path: path.to_owned(), act: "written", error };
    let target = target(path).map_err(failed)?;
    let read_only = |path: &Path| SetupError::ReadOnly { path: path.to_owned() };
    if let Ok(old) = fs::metadata(&target) {
        // Opening a pipe may block forever.
        if !old.is_file() {
            return Err(failed(files::not_regular()));
        }
        let is_refused = || match File::options().append(true).open(&target) {
            Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
            Ok(_) => false,
        };
        if old.permissions().readonly() || is_refused() {
            return Err(read_only(&target));
        }
    }
    // Missing folders will be made inside the nearest one that exists.
    let folder = target.ancestors().skip(1).find(|folder| folder.exists());
    let Some(folder) = folder else {
        return Ok(target);
    };
    match tempfile::tempfile_in(folder) {
        Ok(_) => Ok(target),
        Err(error) => Err(match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                read_only(folder)
            }
            _ => failed(error),
        }),
    }
}

fn target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn unchanged(path: &Path, read_before: Option<&str>) -> Result<(), SetupError> {
    let limit = read_before.map_or(0, str::len) as u64;
    let now = match read_limited(path, limit) {
        Err(SetupError::File { error, .. }) if error.kind() == io::ErrorKind::FileTooLarge => None,
        now => Some(now?),
    };
    if now.as_ref().is_some_and(|now| now.as_deref() == read_before) {
        Ok(())
    } else {
        Err(SetupError::Changed { path: path.to_owned() })
    }
}
