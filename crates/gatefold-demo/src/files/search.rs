//! Searching names and contents, with progress.

use std::{
    fs::Metadata,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    arguments::{Limit, Text},
    error::ToolError,
    files::{
        MAX_FILE_BYTES,
        listing::walk,
        path::{RelativePath, Root},
    },
    toolbox::{Answer, Progress},
};

/// How many matches a search gives when the call does not say.
const MATCHES_DEFAULT: usize = 20;
/// How much of a matching line is shown.
const MAX_LINE_CHARS: usize = 200;
/// How many times a search reports progress.
const PROGRESS_STEPS: usize = 20;

/// Find files whose name or content holds a text, ignoring case, and show the matching lines.
/// Files that are not UTF-8 or larger than 256 KiB match by name only. Reports progress.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchFiles {
    /// Text to look for; not a pattern.
    query: Text<1, 200>,
    /// Directory to search, relative to the scratch folder. Default: the folder itself.
    path: Option<RelativePath>,
    /// Most matches to return. Default 20.
    limit: Option<Limit>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Found {
    matches: Vec<Match>,
    /// How many files were searched.
    files_searched: usize,
    /// Whether there was more than the limit allowed.
    truncated: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Match {
    /// Path relative to the scratch folder.
    path: String,
    /// Line number, counted from 1; absent when the name matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The line, cut after 200 characters, or the name.
    text: String,
}

pub(crate) async fn search_files(
    root: Root,
    arguments: SearchFiles,
    progress: Progress,
) -> Result<Answer<Found>, ToolError> {
    let path = arguments.path.unwrap_or_else(RelativePath::root);
    let top = root.directory(&path)?;
    let found = tokio::task::spawn_blocking(move || walk(&top, &path))
        .await
        .map_err(|_| ToolError::Stopped)??;
    let files: Vec<_> = found.into_iter().filter(|(_, metadata)| metadata.is_file()).collect();
    let query = arguments.query.to_lowercase();
    let limit = arguments.limit.map_or(MATCHES_DEFAULT, Limit::size);
    let mut matches = Vec::new();
    let mut files_searched = 0;
    for (path, metadata) in &files {
        if matches.len() > limit {
            break;
        }
        find(&mut matches, &query, &root.name(path), read(path, metadata).await.as_deref());
        files_searched += 1;
        tell(&progress, files_searched, &files).await;
    }
    let truncated = matches.len() > limit;
    matches.truncate(limit);
    Ok(Answer::from(Found { matches, files_searched, truncated }))
}

async fn tell(progress: &Progress, done: usize, files: &[(PathBuf, Metadata)]) {
    if done.is_multiple_of(files.len().div_ceil(PROGRESS_STEPS)) || done == files.len() {
        let count = |size| u32::try_from(size).unwrap_or(u32::MAX);
        progress.report(count(done), count(files.len()), "searching files").await;
    }
}

async fn read(path: &Path, metadata: &Metadata) -> Option<String> {
    if metadata.len() > MAX_FILE_BYTES {
        return None;
    }
    tokio::fs::read_to_string(path).await.ok()
}

fn find(matches: &mut Vec<Match>, query: &str, name: &str, content: Option<&str>) {
    if name.to_lowercase().contains(query) {
        matches.push(Match { path: name.to_owned(), line: None, text: name.to_owned() });
    }
    let lines = content.unwrap_or_default().lines().enumerate();
    matches.extend(lines.filter(|(_, line)| line.to_lowercase().contains(query)).map(
        |(index, line)| Match {
            path: name.to_owned(),
            line: Some(index + 1),
            text: line.chars().take(MAX_LINE_CHARS).collect(),
        },
    ));
}
