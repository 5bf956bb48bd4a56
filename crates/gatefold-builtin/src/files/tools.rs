//! The tools for files, as models read them.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::Hints;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::folder::{Folder, FolderSettings, FolderWrites};
use super::{diff, reading, walking, writing};
use crate::compute::{ComputePlaces, StopSign};
use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::workers::{CallerWork, WorkKind, Workers};
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError};

/// The tools for one folder.
pub(crate) fn tools(
    settings: &FolderSettings,
    places: &ComputePlaces,
    workers: &Workers,
) -> Vec<Box<dyn BuiltinTool>> {
    let reading = [FileAct::Read, FileAct::List, FileAct::Find];
    let writing = [FileAct::Write, FileAct::Patch];
    let writing = writing.into_iter().filter(|_| settings.writes == FolderWrites::Allow);
    let folder = Arc::new(Folder::new(settings.clone()));
    let tool = |act| -> Box<dyn BuiltinTool> {
        Box::new(FileTool { act, folder: folder.clone(), places: places.clone() })
    };
    let search: Box<dyn BuiltinTool> =
        Box::new(SearchFiles { folder: settings.clone(), workers: workers.clone() });
    reading.into_iter().map(&tool).chain([search]).chain(writing.map(&tool)).collect()
}

/// What one tool does with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileAct {
    Read,
    List,
    Find,
    Write,
    Patch,
}

struct FileTool {
    act: FileAct,
    folder: Arc<Folder>,
    places: ComputePlaces,
}

/// `search_files`, whose pattern may take long.
struct SearchFiles {
    folder: FolderSettings,
    workers: Workers,
}

/// A call of `search_files`, for a worker.
#[derive(Serialize, Deserialize)]
pub(crate) struct FileSearchJob {
    folder: FolderSettings,
    arguments: String,
}

impl FileSearchJob {
    pub(crate) fn answer(self, sign: &StopSign) -> Result<BuiltinAnswer, BuiltinError> {
        walking::search(&Folder::new(self.folder), &self.arguments, sign)
    }
}

fn act(
    act: FileAct,
    folder: &Folder,
    arguments: &str,
    sign: &StopSign,
) -> Result<BuiltinAnswer, BuiltinError> {
    match act {
        FileAct::Read => reading::answer(folder, arguments),
        FileAct::List => walking::list(folder, arguments),
        FileAct::Find => walking::find(folder, arguments, sign),
        FileAct::Write => writing::write(folder, arguments),
        FileAct::Patch => writing::patch(folder, arguments, sign),
    }
}

impl BuiltinTool for FileTool {
    fn face(&self) -> ToolFace {
        match self.act {
            FileAct::Read => read_file(),
            FileAct::List => list_files(),
            FileAct::Find => find_files(),
            FileAct::Write => write_file(),
            FileAct::Patch => patch_file(),
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        let (wanted, folder, arguments) = (self.act, self.folder.clone(), call.arguments.clone());
        async move { self.places.run(move |sign| act(wanted, &folder, &arguments, sign)).await? }
            .boxed()
    }
}

impl BuiltinTool for SearchFiles {
    fn face(&self) -> ToolFace {
        search_files()
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        let search =
            FileSearchJob { folder: self.folder.clone(), arguments: call.arguments.clone() };
        async move {
            let work = CallerWork::new(WorkKind::SearchFiles, &search)?;
            self.workers.run(&call.principal, &work, &[]).await
        }
        .boxed()
    }
}

const PATH: &str = "Below the folder, such as `docs/a.md`.";
const FROM: &str = "The folder to begin at. Everything if it is left out.";

fn writing_hints() -> Hints {
    Hints { read_only: Some(false), destructive: Some(true), ..face::reading() }
}

fn max_results() -> Value {
    face::count("How many to show at most.", walking::MAX_RESULTS)
}

fn face(
    name: &'static str,
    title: &'static str,
    description: &str,
    input: Value,
    output: Value,
) -> ToolFace {
    ToolFace {
        name,
        title,
        description: description.to_owned(),
        category: ToolCategory::Filesystem,
        hints: face::reading(),
        input,
        output,
    }
}

fn read_file() -> ToolFace {
    face(
        "read_file",
        "Read a file",
        "Read a text file, or some of its lines.",
        face::object(
            &json!({
                "path": face::text(PATH),
                "start_line": { "type": "integer", "minimum": 1, "description": "From 1." },
                "lines": face::count("How many lines at most.", reading::MAX_LINES),
            }),
            &["path"],
        ),
        face::object(
            &json!({
                "path": { "type": "string" },
                "text": { "type": "string" },
                "start_line": { "type": "integer" },
                "total_lines": { "type": "integer" },
                "next_line": { "type": "integer", "description": "Where to read on, if there is more." },
                "size": { "type": "integer", "description": "Of the whole file, in bytes." },
            }),
            &["path", "text", "start_line", "total_lines", "size"],
        ),
    )
}

fn list_files() -> ToolFace {
    let entry = face::object(
        &json!({
            "name": { "type": "string" },
            "kind": face::choice("Links are not followed.", &["file", "folder", "link", "special"]),
            "size": { "type": "integer", "description": "In bytes." },
        }),
        &["name", "kind"],
    );
    face(
        "list_files",
        "List a folder",
        "List the files and folders directly in a folder, with sizes.",
        face::object(
            &json!({
                "path": face::text("The folder. The one above all if it is left out."),
                "after": face::text("`next_after` of the page before."),
                "max_results": max_results(),
            }),
            &[],
        ),
        face::object(
            &json!({
                "path": { "type": "string" },
                "entries": { "type": "array", "items": entry },
                "next_after": { "type": "string" },
            }),
            &["path", "entries"],
        ),
    )
}

fn find_files() -> ToolFace {
    face(
        "find_files",
        "Find files",
        "Find files by a pattern for their names or paths, in all folders.",
        face::object(
            &json!({
                "pattern": face::text(
                    "`*.md` matches names anywhere, `docs/**/*.md` paths; `*` and `?` stay within a name.",
                ),
                "path": face::text(FROM),
                "max_results": max_results(),
            }),
            &["pattern"],
        ),
        face::object(
            &json!({
                "paths": { "type": "array", "items": { "type": "string" } },
                "complete": { "type": "boolean", "description": "Whether that is all." },
            }),
            &["paths", "complete"],
        ),
    )
}

fn search_files() -> ToolFace {
    let line = face::object(
        &json!({
            "path": { "type": "string" },
            "line": { "type": "integer" },
            "text": { "type": "string" },
        }),
        &["path", "line", "text"],
    );
    face(
        "search_files",
        "Search in files",
        "Find lines that match a regular expression in the texts of files.",
        face::object(
            &json!({
                "pattern": face::text("A regular expression for a line. `(?i)` ignores case."),
                "path": face::text("The file or folder to search. Everything if it is left out."),
                "files": face::text("Only files whose paths match, such as `*.rs`."),
                "max_results": max_results(),
            }),
            &["pattern"],
        ),
        face::object(
            &json!({
                "matches": { "type": "array", "items": line },
                "files_searched": { "type": "integer" },
                "files_left_out": {
                    "type": "integer",
                    "description": "Those that are no text, are too large or cannot be read.",
                },
                "complete": { "type": "boolean", "description": "Whether that is all." },
            }),
            &["matches", "files_searched", "files_left_out", "complete"],
        ),
    )
}

fn write_file() -> ToolFace {
    let input = face::object(
        &json!({
            "path": face::text(PATH),
            "content": face::bounded_text("The whole text.", diff::MAX_CONTENT),
            "overwrite": face::flag("Replace a file that is there. Otherwise that is an error."),
        }),
        &["path", "content"],
    );
    let output = face::object(
        &json!({
            "path": { "type": "string" },
            "size": { "type": "integer" },
            "created": { "type": "boolean", "description": "Whether there was none before." },
        }),
        &["path", "size", "created"],
    );
    let description = "Write a text file, whole. Missing folders are made.";
    ToolFace {
        hints: writing_hints(),
        ..face("write_file", "Write a file", description, input, output)
    }
}

fn patch_file() -> ToolFace {
    let edit = face::object(
        &json!({
            "old": face::text("The text to replace, to the letter. It has to be there once."),
            "new": face::text("What takes its place."),
            "all": face::flag("Replace it wherever it is."),
        }),
        &["old", "new"],
    );
    let input = face::object(
        &json!({
            "path": face::text(PATH),
            "edits": {
                "type": "array",
                "items": edit,
                "minItems": 1,
                "maxItems": writing::MAX_EDITS,
                "description": "Made one after the other. If one does not fit, nothing is changed.",
            },
            "diff": face::bounded_text(
                "Instead of `edits`: a unified diff of this file. Hunks are found by their old lines, \
                 and if one does not fit, nothing is changed. From `/dev/null` it makes the file.",
                diff::MAX_CONTENT,
            ),
        }),
        &["path"],
    );
    let output = face::object(
        &json!({
            "path": { "type": "string" },
            "replaced": { "type": "integer", "description": "In how many places." },
            "size": { "type": "integer" },
        }),
        &["path", "replaced", "size"],
    );
    let description = "Change a text file by replacing exact texts in it, or by a unified diff.";
    let hints = Hints { idempotent: Some(false), ..writing_hints() };
    ToolFace { hints, ..face("patch_file", "Change a file", description, input, output) }
}
