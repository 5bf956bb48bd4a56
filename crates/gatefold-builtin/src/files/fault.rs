//! What a caller is told of the system's errors.

use rustix::io::Errno;

use super::path::FolderPath;
use crate::BuiltinError;

pub(super) fn of_path(path: &FolderPath, error: Errno) -> BuiltinError {
    let what = match error {
        Errno::NOENT => "does not exist",
        Errno::NOTDIR => "is no folder, or leads through a file",
        Errno::ISDIR => "is a folder",
        Errno::LOOP | Errno::XDEV => "leads through a symbolic link, which is not followed",
        Errno::ACCESS | Errno::PERM => "may not be used by Gatefold's own user",
        Errno::EXIST => "exists already",
        Errno::NAMETOOLONG => "has too long a name",
        Errno::NOSPC | Errno::DQUOT => "does not fit on the disk",
        Errno::ROFS => "is on a disk that cannot be written",
        Errno::NOTEMPTY => "is a folder that is not empty",
        Errno::AGAIN => "was changed meanwhile; try again",
        _ => return BuiltinError::arguments(format!("`{path}` cannot be used: {error}")),
    };
    BuiltinError::arguments(format!("`{path}` {what}"))
}

pub(super) fn wrong(path: &FolderPath, what: &str) -> BuiltinError {
    BuiltinError::arguments(format!("`{path}` {what}"))
}
