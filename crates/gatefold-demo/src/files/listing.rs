//! What is in the folder.

use std::{
    fmt::Write,
    fs::{self, DirEntry, Metadata},
    io,
    path::{Path, PathBuf},
};

use jiff::{Timestamp, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    arguments::{Limit, Offset, Page},
    error::{ToolError, refuse},
    files::{
        MAX_WALK, failed,
        path::{RelativePath, Root},
    },
};

/// List the files and directories directly inside one directory, sorted by name, with their
/// sizes in bytes. Symbolic links are not listed. Use directory_tree for everything below it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDirectory {
    /// Directory relative to the scratch folder, such as "notes". Default: the folder itself.
    path: Option<RelativePath>,
    /// Most entries to return. Default 20.
    limit: Option<Limit>,
    /// Entries to skip, from next_offset of the page before.
    offset: Option<Offset>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Listing {
    entries: Vec<Entry>,
    /// Offset of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// Path relative to the scratch folder.
    path: String,
    kind: Kind,
    /// Size in bytes; 0 for a directory.
    size_bytes: u64,
    /// When the content last changed, RFC 3339 in UTC.
    modified: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    File,
    Directory,
}

/// Show everything below a directory as an indented tree, one entry a line, directories ending
/// in a slash. Fails when there are more than 2,000 entries below the directory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DirectoryTree {
    /// Directory relative to the scratch folder. Default: the folder itself.
    path: Option<RelativePath>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Outline {
    /// The tree as text, two spaces of indentation a level.
    tree: String,
    files: usize,
    directories: usize,
}

/// Tell the kind, the size in bytes and the time of the last change of one file or directory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetFileInfo {
    /// File or directory relative to the scratch folder.
    path: RelativePath,
}

pub(crate) fn list_directory(root: &Root, arguments: &ListDirectory) -> Result<Listing, ToolError> {
    let path = arguments.path.clone().unwrap_or_else(RelativePath::root);
    let found = children(&root.directory(&path)?).map_err(failed("list", &path))?;
    let page = Page::new(arguments.limit, arguments.offset);
    let mut entries: Vec<_> = found
        .iter()
        .skip(page.offset)
        .take(page.limit + 1)
        .map(|(path, metadata)| Entry::new(root.name(path), metadata))
        .collect();
    let next_offset = page.cut(&mut entries);
    Ok(Listing { entries, next_offset })
}

pub(crate) fn directory_tree(root: &Root, arguments: &DirectoryTree) -> Result<Outline, ToolError> {
    let path = arguments.path.clone().unwrap_or_else(RelativePath::root);
    let top = root.directory(&path)?;
    let found = walk(&top, &path)?;
    let depth_of_top = top.components().count() + 1;
    let mut tree = String::new();
    for (path, metadata) in &found {
        let depth = path.components().count() - depth_of_top;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let slash = if metadata.is_dir() { "/" } else { "" };
        writeln!(tree, "{:width$}{name}{slash}", "", width = depth * 2)
            .expect("writing to a string cannot fail");
    }
    let directories = found.iter().filter(|(_, metadata)| metadata.is_dir()).count();
    Ok(Outline { tree, files: found.len() - directories, directories })
}

pub(crate) fn get_file_info(root: &Root, arguments: &GetFileInfo) -> Result<Entry, ToolError> {
    let (path, metadata) = root.existing(&arguments.path)?;
    Ok(Entry::new(root.name(&path), &metadata))
}

/// Every file and directory below `top`, each directory before what is in it.
pub(crate) fn walk(top: &Path, name: &RelativePath) -> Result<Vec<(PathBuf, Metadata)>, ToolError> {
    let mut found = Vec::new();
    let mut waiting = children(top).map_err(failed("list", name))?;
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

impl Entry {
    pub(crate) fn new(path: String, metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
        let modified = modified.and_then(|time| time.round(Unit::Second).ok());
        Self {
            path: if path.is_empty() { ".".to_owned() } else { path },
            kind: if metadata.is_dir() { Kind::Directory } else { Kind::File },
            size_bytes: if metadata.is_dir() { 0 } else { metadata.len() },
            modified: modified.unwrap_or_default().to_string(),
        }
    }
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
