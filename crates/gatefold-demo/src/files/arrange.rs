//! Where files and directories are.

use std::fs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{ToolError, refuse},
    files::{
        MAX_FILE_BYTES, failed,
        listing::Entry,
        path::{RelativePath, Root},
    },
};

/// Make a directory and any missing directories above it. Succeeds when it is already there.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateDirectory {
    /// Directory relative to the scratch folder.
    path: RelativePath,
}

/// Copy one file of at most 256 KiB. The destination must not exist; missing directories above
/// it are made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CopyFile {
    /// File to copy, relative to the scratch folder.
    source: RelativePath,
    /// Path of the copy, relative to the scratch folder.
    destination: RelativePath,
}

/// Move or rename a file or a directory. The destination must not exist; missing directories
/// above it are made. Nothing remains at the source.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoveFile {
    /// File or directory to move, relative to the scratch folder.
    source: RelativePath,
    /// Its new path, relative to the scratch folder.
    destination: RelativePath,
}

/// Delete one file or one empty directory. This cannot be undone.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteFile {
    /// File or empty directory relative to the scratch folder.
    path: RelativePath,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Deleted {
    /// The path that is no longer there.
    deleted: String,
}

pub(crate) fn create_directory(
    root: &Root,
    arguments: &CreateDirectory,
) -> Result<Entry, ToolError> {
    let path = &arguments.path;
    let place = root.resolve(path)?;
    if place.metadata.is_none() {
        fs::create_dir_all(&place.path).map_err(failed("make", path))?;
    }
    root.directory(path)?;
    entry(root, path)
}

pub(crate) fn copy_file(root: &Root, arguments: &CopyFile) -> Result<Entry, ToolError> {
    let (source, metadata) = root.file(&arguments.source)?;
    if metadata.len() > MAX_FILE_BYTES {
        return Err(refuse(
            format!("`{}` has more than {MAX_FILE_BYTES} bytes", arguments.source),
            "it is too large to copy",
        ));
    }
    let destination = root.vacant(&arguments.destination)?;
    fs::copy(source, destination).map_err(failed("copy", &arguments.source))?;
    entry(root, &arguments.destination)
}

pub(crate) fn move_file(root: &Root, arguments: &MoveFile) -> Result<Entry, ToolError> {
    not_root(&arguments.source)?;
    let (source, _) = root.existing(&arguments.source)?;
    let inside = root.resolve(&arguments.destination)?.path.starts_with(&source);
    if inside {
        return Err(refuse(
            format!("`{}` lies inside `{}`", arguments.destination, arguments.source),
            "choose a destination outside what is moved",
        ));
    }
    let destination = root.vacant(&arguments.destination)?;
    fs::rename(source, destination).map_err(failed("move", &arguments.source))?;
    entry(root, &arguments.destination)
}

pub(crate) fn delete_file(root: &Root, arguments: &DeleteFile) -> Result<Deleted, ToolError> {
    let path = &arguments.path;
    not_root(path)?;
    let (target, metadata) = root.existing(path)?;
    if metadata.is_dir() {
        let mut entries = fs::read_dir(&target).map_err(failed("list", path))?;
        if entries.next().is_some() {
            return Err(refuse(
                format!("the directory `{path}` is not empty"),
                "delete what is in it first; list_directory shows it",
            ));
        }
        fs::remove_dir(&target).map_err(failed("delete", path))?;
    } else {
        fs::remove_file(&target).map_err(failed("delete", path))?;
    }
    Ok(Deleted { deleted: path.to_string() })
}

fn entry(root: &Root, path: &RelativePath) -> Result<Entry, ToolError> {
    let (found, metadata) = root.existing(path)?;
    Ok(Entry::new(root.name(&found), &metadata))
}

fn not_root(path: &RelativePath) -> Result<(), ToolError> {
    if path.is_root() {
        return Err(refuse(
            "the scratch folder itself stays where it is",
            "name a file or a directory in it",
        ));
    }
    Ok(())
}
