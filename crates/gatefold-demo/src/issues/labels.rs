//! The labels on an issue.

use schemars::JsonSchema;
use serde::Deserialize;
use sqlx::{SqliteExecutor, SqlitePool};

use crate::{
    arguments::{Id, List, Text},
    database::now,
    error::{ToolError, refuse},
    issues::{Issue, fetch},
};

/// The most labels that one issue can carry.
pub(super) const MAX_LABELS: usize = 20;

pub(super) type Label = Text<1, 40>;

/// Put labels on an issue. Labels it already has are left alone. An issue has at most 20 labels.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddLabels {
    /// The issue's id.
    id: Id,
    /// Lower-case words of letters, digits and hyphens, such as "bug".
    labels: List<Label, MAX_LABELS>,
}

/// Take labels off an issue. Labels it does not have are ignored.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveLabels {
    /// The issue's id.
    id: Id,
    /// Labels to take off.
    labels: List<Label, MAX_LABELS>,
}

pub(super) async fn add_labels(db: SqlitePool, arguments: AddLabels) -> Result<Issue, ToolError> {
    let mut transaction = db.begin_with("BEGIN IMMEDIATE").await?;
    fetch(&mut *transaction, arguments.id).await?;
    for label in arguments.labels.iter() {
        attach(&mut *transaction, arguments.id.get(), label).await?;
    }
    touch(&mut *transaction, arguments.id).await?;
    let issue = fetch(&mut *transaction, arguments.id).await?;
    if issue.labels.len() > MAX_LABELS {
        return Err(refuse(
            format!("issue {} would have {} labels", issue.id, issue.labels.len()),
            format!("it can have {MAX_LABELS}; take some off with remove_labels"),
        ));
    }
    transaction.commit().await?;
    Ok(issue)
}

pub(super) async fn remove_labels(
    db: SqlitePool,
    arguments: RemoveLabels,
) -> Result<Issue, ToolError> {
    let mut transaction = db.begin_with("BEGIN IMMEDIATE").await?;
    for label in arguments.labels.iter() {
        sqlx::query("DELETE FROM labels WHERE issue_id = ?1 AND label = ?2")
            .bind(arguments.id.get())
            .bind(&**label)
            .execute(&mut *transaction)
            .await?;
    }
    touch(&mut *transaction, arguments.id).await?;
    let issue = fetch(&mut *transaction, arguments.id).await?;
    transaction.commit().await?;
    Ok(issue)
}

/// Puts one label on an issue that exists.
pub(super) async fn attach(
    db: impl SqliteExecutor<'_>,
    issue_id: i64,
    label: &Label,
) -> Result<(), ToolError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !label.chars().all(plain) {
        return Err(refuse(
            format!("`{}` is not a label", &**label),
            "use lower-case letters, digits and hyphens, such as `good-first-issue`",
        ));
    }
    sqlx::query("INSERT OR IGNORE INTO labels (issue_id, label) VALUES (?1, ?2)")
        .bind(issue_id)
        .bind(&**label)
        .execute(db)
        .await?;
    Ok(())
}

async fn touch(db: impl SqliteExecutor<'_>, id: Id) -> Result<(), ToolError> {
    sqlx::query("UPDATE issues SET updated_at = ?2 WHERE id = ?1")
        .bind(id.get())
        .bind(now())
        .execute(db)
        .await?;
    Ok(())
}
