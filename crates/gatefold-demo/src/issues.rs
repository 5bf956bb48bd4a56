//! `issues`: an issue tracker in `{scratch}/issues.db`.

mod changes;
mod comments;
mod labels;
mod queries;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, Row, SqliteExecutor, sqlite::SqliteRow};

use crate::{
    DemoError,
    arguments::Id,
    database,
    error::{ToolError, refuse},
    toolbox::{Effect, Tool, Toolbox},
};

pub(crate) async fn open(scratch: &Path) -> Result<Vec<Tool>, DemoError> {
    let db = database::open(scratch, "issues.db", include_str!("issues/first.sql")).await?;
    Ok(Toolbox::new(db)
        .waiting("create_issue", Effect::Adds, changes::create_issue)
        .waiting("get_issue", Effect::Reads, queries::get_issue)
        .waiting("list_issues", Effect::Reads, queries::list_issues)
        .waiting("search_issues", Effect::Reads, queries::search_issues)
        .waiting("count_issues", Effect::Reads, queries::count_issues)
        .waiting("update_issue", Effect::Overwrites, changes::update_issue)
        .waiting("assign_issue", Effect::Sets, changes::assign_issue)
        .waiting("close_issue", Effect::Sets, changes::close_issue)
        .waiting("reopen_issue", Effect::Sets, changes::reopen_issue)
        .waiting("delete_issue", Effect::Removes, changes::delete_issue)
        .waiting("add_comment", Effect::Adds, comments::add_comment)
        .waiting("list_comments", Effect::Reads, comments::list_comments)
        .waiting("add_labels", Effect::Sets, labels::add_labels)
        .waiting("remove_labels", Effect::Removes, labels::remove_labels)
        .into_tools())
}

#[derive(Debug, Serialize, JsonSchema)]
struct Issue {
    id: i64,
    title: String,
    body: String,
    /// "open" or "closed".
    state: String,
    /// Why it was closed; absent while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// "low", "medium", "high" or "urgent".
    priority: String,
    /// Who works on it; absent when nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee: Option<String>,
    labels: Vec<String>,
    comment_count: i64,
    /// RFC 3339 in UTC.
    created_at: String,
    /// RFC 3339 in UTC.
    updated_at: String,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum State {
    Open,
    Closed,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Priority {
    Low,
    Medium,
    High,
    Urgent,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

impl Priority {
    fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Urgent => "urgent",
        }
    }
}

impl FromRow<'_, SqliteRow> for Issue {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let labels: String = row.try_get("labels")?;
        Ok(Self {
            id: row.try_get("id")?,
            title: row.try_get("title")?,
            body: row.try_get("body")?,
            state: row.try_get("state")?,
            reason: row.try_get("reason")?,
            priority: row.try_get("priority")?,
            assignee: row.try_get("assignee")?,
            labels: serde_json::from_str(&labels)
                .map_err(|error| sqlx::Error::Decode(error.into()))?,
            comment_count: row.try_get("comment_count")?,
            created_at: row.try_get("created_at")?,
            updated_at: row.try_get("updated_at")?,
        })
    }
}

/// Reads one issue; that it is missing is the caller's mistake.
async fn fetch(db: impl SqliteExecutor<'_>, id: Id) -> Result<Issue, ToolError> {
    sqlx::query_as("SELECT * FROM issue_details WHERE id = ?1")
        .bind(id.get())
        .fetch_optional(db)
        .await?
        .ok_or_else(|| missing(id))
}

fn missing(id: Id) -> ToolError {
    refuse(format!("there is no issue {}", id.get()), "list_issues and search_issues give the ids")
}
