//! Paths that cannot leave the folder: checked when parsed, and again on the disk.

use std::{
    fmt,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::error::{ToolError, refuse};

pub(crate) const MAX_PATH_CHARS: usize = 300;
const MAX_PATH_DEPTH: usize = 12;
const HINT: &str = "give plain names with `/` between them, relative to the scratch folder";

/// The folder that the tools work in.
#[derive(Debug, Clone)]
pub(crate) struct Root(Arc<Path>);

/// A path below the root, in parts that each name an entry. No parts means the root itself.
#[derive(Debug, Clone)]
pub(crate) struct RelativePath(Vec<String>);

/// A path on the disk that is known to be inside the root.
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    /// `None` if nothing is there yet.
    pub(crate) metadata: Option<Metadata>,
}

impl Root {
    /// `folder` must be absolute and free of symbolic links, as `canonicalize` returns it.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self(folder.into())
    }

    /// Finds the place of `path`. A symbolic link anywhere on the way is refused.
    pub(crate) fn resolve(&self, path: &RelativePath) -> Result<Place, ToolError> {
        let mut place =
            Place { path: self.0.to_path_buf(), metadata: fs::symlink_metadata(&self.0).ok() };
        for part in &path.0 {
            if place.metadata.as_ref().is_some_and(|found| !found.is_dir()) {
                return Err(refuse(
                    format!("`{path}` goes through a file as if it were a directory"),
                    "list_directory shows which is which",
                ));
            }
            place.path.push(part);
            place.metadata = look(&place.path).map_err(super::failed("look at", path))?;
            if place.metadata.as_ref().is_some_and(Metadata::is_symlink) {
                return Err(refuse(
                    format!("`{path}` goes through the symbolic link `{part}`"),
                    "links are never followed; name the file itself",
                ));
            }
        }
        Ok(place)
    }

    /// Like [`Root::resolve`], for a path that must lead to a regular file.
    pub(crate) fn file(&self, path: &RelativePath) -> Result<(PathBuf, Metadata), ToolError> {
        match self.existing(path)? {
            (path, metadata) if metadata.is_file() => Ok((path, metadata)),
            _ => Err(refuse(
                format!("`{path}` is not a file"),
                "name a file; list_directory shows what is in a directory",
            )),
        }
    }

    /// Like [`Root::resolve`], for a path that must lead to a directory.
    pub(crate) fn directory(&self, path: &RelativePath) -> Result<PathBuf, ToolError> {
        match self.existing(path)? {
            (path, metadata) if metadata.is_dir() => Ok(path),
            _ => Err(refuse(
                format!("`{path}` is not a directory"),
                "name the directory that it is in, or use read_file",
            )),
        }
    }

    /// Like [`Root::resolve`], for a path that must exist.
    pub(crate) fn existing(&self, path: &RelativePath) -> Result<(PathBuf, Metadata), ToolError> {
        let place = self.resolve(path)?;
        match place.metadata {
            Some(metadata) => Ok((place.path, metadata)),
            None => Err(refuse(
                format!("there is no `{path}`"),
                "list_directory and search_files show what there is",
            )),
        }
    }

    /// Like [`Root::resolve`], for a path that must not exist; creates the directories above it.
    pub(crate) fn vacant(&self, path: &RelativePath) -> Result<PathBuf, ToolError> {
        let place = self.resolve(path)?;
        if place.metadata.is_some() {
            return Err(refuse(
                format!("`{path}` exists already"),
                "choose another name, or delete_file it first",
            ));
        }
        make_parent(&place.path).map_err(super::failed("make the directory of", path))?;
        Ok(place.path)
    }

    /// The name, for the caller, of a path below the root.
    pub(crate) fn name(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.0).unwrap_or(path);
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    }
}

impl RelativePath {
    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn parse(text: &str) -> Result<Self, ToolError> {
        let wrong = |reason: String| refuse(format!("`{text}` {reason}"), HINT);
        if text.chars().count() > MAX_PATH_CHARS {
            return Err(wrong(format!("has more than {MAX_PATH_CHARS} characters")));
        }
        if text.starts_with(['/', '~']) {
            return Err(wrong("is absolute".to_owned()));
        }
        if let Some(odd) = text.chars().find(|c| c.is_control() || "\\:".contains(*c)) {
            return Err(wrong(format!("holds {odd:?}")));
        }
        let parts: Vec<_> =
            text.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect();
        if parts.iter().any(|part| part == "..") {
            return Err(wrong("holds `..`, which could leave the scratch folder".to_owned()));
        }
        if parts.len() > MAX_PATH_DEPTH {
            return Err(wrong(format!("has more than {MAX_PATH_DEPTH} parts")));
        }
        Ok(Self(parts))
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { "" })?;
        f.write_str(&self.0.join("/"))
    }
}

/// Creates the directories above a path that [`Root::resolve`] has checked.
pub(crate) fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
