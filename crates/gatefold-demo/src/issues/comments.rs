//! What people say about an issue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use crate::{
    arguments::{Id, Limit, Offset, Page, Text},
    database::now,
    error::ToolError,
    issues::fetch,
};

/// Add a comment to an issue, open or closed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddComment {
    /// The issue's id.
    issue_id: Id,
    /// Who says it.
    author: Text<1, 60>,
    /// What is said, in Markdown.
    body: Text<1, 10_000>,
}

/// List an issue's comments, oldest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListComments {
    /// The issue's id.
    issue_id: Id,
    /// Most comments to return. Default 20.
    limit: Option<Limit>,
    /// Comments to skip, from next_offset of the page before.
    offset: Option<Offset>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Comments {
    comments: Vec<Comment>,
    /// Offset of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Comment {
    id: i64,
    issue_id: i64,
    author: String,
    body: String,
    /// RFC 3339 in UTC.
    created_at: String,
}

pub(super) async fn add_comment(
    db: SqlitePool,
    arguments: AddComment,
) -> Result<Comment, ToolError> {
    let mut transaction = db.begin_with("BEGIN IMMEDIATE").await?;
    fetch(&mut *transaction, arguments.issue_id).await?;
    let issue_id = arguments.issue_id.get();
    let created_at = now();
    let id = sqlx::query_scalar(
        "INSERT INTO comments (issue_id, author, body, created_at) VALUES (?1, ?2, ?3, ?4)
         RETURNING id",
    )
    .bind(issue_id)
    .bind(&*arguments.author)
    .bind(&*arguments.body)
    .bind(&created_at)
    .fetch_one(&mut *transaction)
    .await?;
    sqlx::query("UPDATE issues SET updated_at = ?2 WHERE id = ?1")
        .bind(issue_id)
        .bind(&created_at)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(Comment {
        id,
        issue_id,
        author: arguments.author.to_string(),
        body: arguments.body.to_string(),
        created_at,
    })
}

pub(super) async fn list_comments(
    db: SqlitePool,
    arguments: ListComments,
) -> Result<Comments, ToolError> {
    fetch(&db, arguments.issue_id).await?;
    let page = Page::new(arguments.limit, arguments.offset);
    let rows: Vec<(i64, i64, String, String, String)> = sqlx::query_as(
        "SELECT id, issue_id, author, body, created_at FROM comments WHERE issue_id = ?1
         ORDER BY id LIMIT ?2 OFFSET ?3",
    )
    .bind(arguments.issue_id.get())
    .bind(page.fetch())
    .bind(page.skip())
    .fetch_all(&db)
    .await?;
    let mut comments = rows
        .into_iter()
        .map(|(id, issue_id, author, body, created_at)| Comment {
            id,
            issue_id,
            author,
            body,
            created_at,
        })
        .collect();
    let next_offset = page.cut(&mut comments);
    Ok(Comments { comments, next_offset })
}
