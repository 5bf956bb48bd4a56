//! `files`: text files in `{scratch}/files`, which no call can leave.

mod arrange;
mod content;
mod listing;
mod path;
mod search;

use std::{fs, io, path::Path};

use crate::{
    DemoError,
    error::ToolError,
    files::path::{RelativePath, Root},
    toolbox::{Effect, Tool, Toolbox},
};

/// The largest file that a tool reads or leaves behind.
const MAX_FILE_BYTES: u64 = 256 * 1024;
/// How many entries a tool walks before it gives up.
const MAX_WALK: usize = 2_000;

/// What lies in the folder on first start.
const SEEDS: [(&str, &str); 5] = [
    ("README.md", include_str!("files/seed/README.md")),
    ("notes/todo.md", include_str!("files/seed/todo.md")),
    ("notes/meeting.md", include_str!("files/seed/meeting.md")),
    ("data/rainfall.csv", include_str!("files/seed/rainfall.csv")),
    ("data/budget.csv", include_str!("files/seed/budget.csv")),
];

pub(crate) fn open(scratch: &Path) -> Result<Vec<Tool>, DemoError> {
    let folder = scratch.join("files");
    let root = prepare(&folder).map_err(|source| DemoError::Scratch { path: folder, source })?;
    Ok(Toolbox::new(root)
        .blocking("list_directory", Effect::Reads, listing::list_directory)
        .blocking("directory_tree", Effect::Reads, listing::directory_tree)
        .blocking("get_file_info", Effect::Reads, listing::get_file_info)
        .blocking("read_file", Effect::Reads, content::read_file)
        .blocking("write_file", Effect::Overwrites, content::write_file)
        .blocking("append_file", Effect::Adds, content::append_file)
        .blocking("edit_file", Effect::Alters, content::edit_file)
        .add("search_files", Effect::Reads, search::search_files)
        .blocking("create_directory", Effect::Sets, arrange::create_directory)
        .blocking("copy_file", Effect::Sets, arrange::copy_file)
        .blocking("move_file", Effect::Removes, arrange::move_file)
        .blocking("delete_file", Effect::Removes, arrange::delete_file)
        .into_tools())
}

fn prepare(folder: &Path) -> io::Result<Root> {
    let first_start = !folder.exists();
    fs::create_dir_all(folder)?;
    let root = Root::new(folder.canonicalize()?);
    if first_start {
        for (name, content) in SEEDS {
            let path = folder.join(name);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, content)?;
        }
    }
    Ok(root)
}

/// Puts what the system said about a path into words the caller can act on.
fn failed(action: &'static str, path: &RelativePath) -> impl FnOnce(io::Error) -> ToolError {
    let path = path.to_string();
    move |source| ToolError::File { action, path, source }
}
