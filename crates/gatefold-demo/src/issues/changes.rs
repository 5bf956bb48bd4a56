//! Reporting, changing and deleting issues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use crate::{
    arguments::{Id, List, Text},
    database::now,
    error::ToolError,
    issues::{Issue, Priority, fetch, labels, missing},
};

type Title = Text<1, 200>;
type Body = Text<0, 10_000>;

/// Report a new issue. It starts open. Fails when a label is not a plain lower-case word.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateIssue {
    /// One line that says what is wrong or wanted.
    title: Title,
    /// Details in Markdown. Default: empty.
    body: Option<Body>,
    /// Default "medium".
    priority: Option<Priority>,
    /// Who should work on it.
    assignee: Option<Text<1, 60>>,
    /// Labels such as "bug" or "greenhouse".
    labels: Option<List<labels::Label, { labels::MAX_LABELS }>>,
}

/// Change an issue's title, body or priority. What is not given stays as it is; what is given
/// replaces the old value.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateIssue {
    /// The issue's id.
    id: Id,
    /// New title.
    title: Option<Title>,
    /// New body, in Markdown; an empty text clears it.
    body: Option<Body>,
    /// New priority.
    priority: Option<Priority>,
}

/// Say who works on an issue, or that nobody does.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AssignIssue {
    /// The issue's id.
    id: Id,
    /// The person's short name. Leave it out to unassign the issue.
    assignee: Option<Text<1, 60>>,
}

/// Close an issue, saying why. Closing a closed issue changes the reason.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CloseIssue {
    /// The issue's id.
    id: Id,
    /// Why it is closed. Default "completed".
    reason: Option<Reason>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Reason {
    Completed,
    NotPlanned,
    Duplicate,
}

/// Open a closed issue again. An open issue stays open.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReopenIssue {
    /// The issue's id.
    id: Id,
}

/// Delete an issue with its comments and labels. This cannot be undone; close_issue keeps it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteIssue {
    /// The issue's id.
    id: Id,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Deleted {
    /// Id of the issue that is no longer there.
    deleted: i64,
}

pub(super) async fn create_issue(
    db: SqlitePool,
    arguments: CreateIssue,
) -> Result<Issue, ToolError> {
    let mut transaction = db.begin_with("BEGIN IMMEDIATE").await?;
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO issues (title, body, priority, assignee, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5) RETURNING id",
    )
    .bind(&*arguments.title)
    .bind(arguments.body.as_deref().unwrap_or_default())
    .bind(arguments.priority.unwrap_or(Priority::Medium).as_str())
    .bind(arguments.assignee.as_deref())
    .bind(now())
    .fetch_one(&mut *transaction)
    .await?;
    for label in arguments.labels.iter().flat_map(|labels| labels.iter()) {
        labels::attach(&mut *transaction, id, label).await?;
    }
    let issue = sqlx::query_as("SELECT * FROM issue_details WHERE id = ?1")
        .bind(id)
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(issue)
}

pub(super) async fn update_issue(
    db: SqlitePool,
    arguments: UpdateIssue,
) -> Result<Issue, ToolError> {
    sqlx::query(
        "UPDATE issues SET title = coalesce(?2, title), body = coalesce(?3, body),
                priority = coalesce(?4, priority), updated_at = ?5
         WHERE id = ?1",
    )
    .bind(arguments.id.get())
    .bind(arguments.title.as_deref())
    .bind(arguments.body.as_deref())
    .bind(arguments.priority.map(Priority::as_str))
    .bind(now())
    .execute(&db)
    .await?;
    fetch(&db, arguments.id).await
}

pub(super) async fn assign_issue(
    db: SqlitePool,
    arguments: AssignIssue,
) -> Result<Issue, ToolError> {
    sqlx::query("UPDATE issues SET assignee = ?2, updated_at = ?3 WHERE id = ?1")
        .bind(arguments.id.get())
        .bind(arguments.assignee.as_deref())
        .bind(now())
        .execute(&db)
        .await?;
    fetch(&db, arguments.id).await
}

pub(super) async fn close_issue(db: SqlitePool, arguments: CloseIssue) -> Result<Issue, ToolError> {
    let reason = match arguments.reason.unwrap_or(Reason::Completed) {
        Reason::Completed => "completed",
        Reason::NotPlanned => "not_planned",
        Reason::Duplicate => "duplicate",
    };
    sqlx::query("UPDATE issues SET state = 'closed', reason = ?2, updated_at = ?3 WHERE id = ?1")
        .bind(arguments.id.get())
        .bind(reason)
        .bind(now())
        .execute(&db)
        .await?;
    fetch(&db, arguments.id).await
}

pub(super) async fn reopen_issue(
    db: SqlitePool,
    arguments: ReopenIssue,
) -> Result<Issue, ToolError> {
    sqlx::query(
        "UPDATE issues SET state = 'open', reason = NULL, updated_at = ?2
         WHERE id = ?1 AND state = 'closed'",
    )
    .bind(arguments.id.get())
    .bind(now())
    .execute(&db)
    .await?;
    fetch(&db, arguments.id).await
}

pub(super) async fn delete_issue(
    db: SqlitePool,
    arguments: DeleteIssue,
) -> Result<Deleted, ToolError> {
    let id = arguments.id;
    let done = sqlx::query("DELETE FROM issues WHERE id = ?1").bind(id.get()).execute(&db).await?;
    if done.rows_affected() == 0 {
        return Err(missing(id));
    }
    Ok(Deleted { deleted: id.get() })
}
