//! Tools for files and directories as such.

use std::{
    fs::{self, DirEntry, Metadata},
    io,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    MAX_WALK, failed,
    path::{RelativePath, Root},
};
use crate::{
    caller::Answer,
    error::{ToolError, refuse},
    fields::Arguments,
};

pub(super) fn list_directory(root: &Root, arguments: &Arguments) -> Result<Answer, ToolError> {
    let path = RelativePath::parse(arguments.text("path"))?;
    let found = children(&root.directory(&path)?).map_err(failed("list", &path))?;
    let (limit, offset) = (arguments.size("limit"), arguments.size("offset"));
    let shown = found.iter().skip(offset).take(limit);
    let entries: Vec<_> = shown.map(|(path, metadata)| entry(root, path, metadata)).collect();
    let mut listing = json!({ "entries": entries });
    if found.len() > offset + limit {
        listing["next_offset"] = json!(offset + limit);
    }
    Ok(listing.into())
}

pub(super) fn create_directory(root: &Root, arguments: &Arguments) -> Result<Answer, ToolError> {
    let path = RelativePath::parse(arguments.text("path"))?;
    let place = root.resolve(&path)?;
    if place.metadata.is_none() {
        fs::create_dir_all(&place.path).map_err(failed("make", &path))?;
    }
    root.directory(&path)?;
    info(root, &path)
}

pub(super) fn move_file(root: &Root, arguments: &Arguments) -> Result<Answer, ToolError> {
    let source = RelativePath::parse(arguments.text("source"))?;
    let destination = RelativePath::parse(arguments.text("destination"))?;
    refuse_root(&source)?;
    let (from, _) = root.existing(&source)?;
    if root.resolve(&destination)?.path.starts_with(&from) {
        return Err(refuse(
            format!("`{destination}` lies inside `{source}`"),
            "choose a destination outside what is moved",
        ));
    }
    let to = root.vacant(&destination)?;
    fs::rename(from, to).map_err(failed("move", &source))?;
    info(root, &destination)
}

pub(super) fn delete_file(root: &Root, arguments: &Arguments) -> Result<Answer, ToolError> {
    let path = RelativePath::parse(arguments.text("path"))?;
    refuse_root(&path)?;
    let (target, metadata) = root.existing(&path)?;
    if metadata.is_dir() {
        let mut entries = fs::read_dir(&target).map_err(failed("list", &path))?;
        if entries.next().is_some() {
            return Err(refuse(
                format!("the directory `{path}` is not empty"),
                "delete what is in it first; list_directory shows it",
            ));
        }
        fs::remove_dir(&target).map_err(failed("delete", &path))?;
    } else {
        fs::remove_file(&target).map_err(failed("delete", &path))?;
    }
    Ok(json!({ "deleted": path.to_string() }).into())
}

/// Every file and directory below `name`, each directory before its content.
pub(super) fn walk(
    root: &Root,
    name: &RelativePath,
) -> Result<Vec<(PathBuf, Metadata)>, ToolError> {
    let mut found = Vec::new();
    let mut waiting = children(&root.directory(name)?).map_err(failed("list", name))?;
    waiting.reverse();
    while let Some((path, metadata)) = waiting.pop() {
        if found.len() == MAX_WALK {
            return Err(refuse(
                format!("there are more than {MAX_WALK} entries below `{name}`"),
                "name a directory further down",
            ));
        }
        if metadata.is_dir() {
            let below = children(&path).map_err(failed("list", name))?;
            waiting.extend(below.into_iter().rev());
        }
        found.push((path, metadata));
    }
    Ok(found)
}

fn info(root: &Root, path: &RelativePath) -> Result<Answer, ToolError> {
    let (found, metadata) = root.existing(path)?;
    Ok(entry(root, &found, &metadata).into())
}

fn entry(root: &Root, path: &Path, metadata: &Metadata) -> Value {
    let name = root.name(path);
    json!({
        "path": if name.is_empty() { "." } else { &name },
        "kind": if metadata.is_dir() { "directory" } else { "file" },
        "size_bytes": if metadata.is_dir() { 0 } else { metadata.len() },
    })
}

/// The regular files and directories in `directory`, sorted by name.
fn children(directory: &Path) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<DirEntry>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    let mut found = Vec::with_capacity(entries.len());
    for entry in entries {
        // `DirEntry::metadata` does not follow links.
        let metadata = entry.metadata()?;
        if metadata.is_file() || metadata.is_dir() {
            found.push((entry.path(), metadata));
        }
    }
    Ok(found)
}

fn refuse_root(path: &RelativePath) -> Result<(), ToolError> {
    if path.is_root() {
        return Err(refuse(
            "the scratch folder itself stays where it is",
            "name a file or a directory in it",
        ));
    }
    Ok(())
}
