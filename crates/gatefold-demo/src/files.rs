//! `files`: files in `{scratch}/files`, which no call can leave.

mod content;
mod folder;
mod path;

use std::{fs, io, path::Path};

use crate::{
    DemoError,
    error::ToolError,
    fields::{Field, Kind, flag, integer, list, text},
    files::path::{MAX_PATH_CHARS, RelativePath},
    tool::{
        Effect::{Overwrites, Reads, Removes, Sets},
        Tool, tool,
    },
};

pub(crate) use self::path::Root;

/// The largest file that a tool reads or writes.
const MAX_FILE_BYTES: u64 = 256 * 1024;
/// How many entries a tool visits before it gives up.
const MAX_WALK: usize = 2_000;
const MAX_CONTENT_CHARS: usize = 60_000;
/// The beginning of the files' URIs as resources.
const SCHEME: &str = "scratch:///";

/// The files in the folder on first start.
const SEEDS: [(&str, &[u8]); 6] = [
    ("README.md", include_bytes!("files/seed/README.md")),
    ("notes/todo.md", include_bytes!("files/seed/todo.md")),
    ("notes/meeting.md", include_bytes!("files/seed/meeting.md")),
    ("data/rainfall.csv", include_bytes!("files/seed/rainfall.csv")),
    ("data/budget.csv", include_bytes!("files/seed/budget.csv")),
    ("pictures/beds.png", include_bytes!("files/seed/beds.png")),
];

/// Opens the folder, and fills it on first start.
pub(crate) fn open(scratch: &Path) -> Result<Root, DemoError> {
    let folder = scratch.join("files");
    prepare(&folder).map_err(|source| DemoError::Scratch { path: folder, source })
}

pub(crate) fn tools(root: &Root) -> Vec<Tool> {
    let mut tools = reading(root);
    tools.extend(writing(root));
    tools.extend(arranging(root));
    tools
}

/// The URI and the path of each file, for the list of resources.
pub(crate) fn resources(root: &Root) -> Result<Vec<(String, String)>, ToolError> {
    let found = folder::walk(root, &RelativePath::parse("")?)?;
    let files = found.iter().filter(|(_, metadata)| metadata.is_file());
    let names = files.map(|(path, _)| root.name(path));
    Ok(names.map(|name| (format!("{SCHEME}{name}"), name)).collect())
}

/// The template of the files' URIs (RFC 6570).
pub(crate) fn template() -> String {
    format!("{SCHEME}{{+path}}")
}

/// The text of the file with this URI.
pub(crate) fn resource(root: &Root, address: &str) -> Result<String, ToolError> {
    content::load_text(root, &RelativePath::parse(address.strip_prefix(SCHEME).unwrap_or("/"))?)
}

fn reading(root: &Root) -> Vec<Tool> {
    let found = vec![
        text("path", "Path relative to the scratch folder."),
        integer("line", "Line number, counted from 1; absent when the name matched.").optional(),
        text("text", "The line, cut after 200 characters, or the name."),
    ];
    let searched = root.clone();
    vec![
        tool("list_directory", Reads, "List the files and directories in a directory by name.")
            .takes([directory()])
            .gives_page("entries", entry())
            .blocks(root, folder::list_directory),
        tool("read_file", Reads, "Read a text file, whole or a part of its lines.")
            .takes([path("path", "File")])
            .takes([integer("first_line", "Line to begin with.").within(1..=1_000_000).or(1)])
            .takes([integer("max_lines", "Most lines to return.").within(1..=5_000).or(1_000)])
            .gives([
                text("content", "The lines, line ends included."),
                integer("total_lines", "How many lines the file has."),
                integer("next_line", "Line to go on with; absent at the end.").optional(),
            ])
            .blocks(root, content::read_file),
        tool("read_picture", Reads, "Look at a picture, a PNG file of at most 256 KiB.")
            .takes([path("path", "File that ends in `.png`")])
            .gives([text("path", "Path of the picture."), integer("size_bytes", "Its size.")])
            .blocks(root, content::read_picture),
        tool(
            "search_files",
            Reads,
            "Find files whose name or content holds a text, ignoring case, and show the matching \
             lines. Files that are not UTF-8 or larger than 256 KiB match by name only. Reports \
             progress.",
        )
        .takes([text("query", "Text to look for; not a pattern.").up_to(200), directory()])
        .takes([integer("limit", "Most matches to return.").within(1..=100).or(20)])
        .gives([
            list("matches", Kind::Object(found), "What was found."),
            integer("files_searched", "How many files were searched."),
            flag("truncated", "Whether there was more than the limit allowed."),
        ])
        .waits(move |arguments, caller| content::search_files(searched.clone(), arguments, caller)),
    ]
}

fn writing(root: &Root) -> Vec<Tool> {
    let content = text("content", "Text to write.").up_to(MAX_CONTENT_CHARS).or_empty();
    let written = [
        text("path", "Path relative to the scratch folder."),
        integer("size_bytes", "Size of the file afterwards."),
        flag("created", "Whether the file is new."),
    ];
    vec![
        tool(
            "write_file",
            Overwrites,
            "Write a text file, replacing what was in it. Missing directories are made.",
        )
        .takes([path("path", "File"), content])
        .gives(written)
        .blocks(root, content::write_file),
    ]
}

fn arranging(root: &Root) -> Vec<Tool> {
    vec![
        tool(
            "create_directory",
            Sets,
            "Make a directory and any missing directories above it. Succeeds when it is already \
             there.",
        )
        .takes([path("path", "Directory")])
        .gives(entry())
        .blocks(root, folder::create_directory),
        tool(
            "move_file",
            Removes,
            "Move or rename a file or a directory. The destination must not exist; missing \
             directories above it are made. Nothing remains at the source.",
        )
        .takes([path("source", "File or directory to move"), path("destination", "Its new place")])
        .gives(entry())
        .blocks(root, folder::move_file),
        tool(
            "delete_file",
            Removes,
            "Delete one file or one empty directory. This cannot be undone.",
        )
        .takes([path("path", "File or empty directory")])
        .gives([text("deleted", "The path that is no longer there.")])
        .blocks(root, folder::delete_file),
    ]
}

fn path(name: &'static str, about: &'static str) -> Field {
    text(name, about).up_to(MAX_PATH_CHARS).or_empty()
}

fn directory() -> Field {
    path("path", "Directory relative to the scratch folder. Default: the folder itself.").or("")
}

fn entry() -> Vec<Field> {
    vec![
        text("path", "Path relative to the scratch folder."),
        text("kind", "\"file\" or \"directory\"."),
        integer("size_bytes", "Size of a file; 0 for a directory."),
    ]
}

fn prepare(folder: &Path) -> io::Result<Root> {
    let is_new = !folder.exists();
    fs::create_dir_all(folder)?;
    let root = Root::new(folder.canonicalize()?);
    if is_new {
        for (name, content) in SEEDS {
            let path = folder.join(name);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, content)?;
        }
    }
    Ok(root)
}

/// Turns the system's error about a path into a message that the caller can act on.
fn failed(action: &'static str, path: &RelativePath) -> impl FnOnce(io::Error) -> ToolError {
    let path = path.to_string();
    move |source| ToolError::File { action, path, source }
}
