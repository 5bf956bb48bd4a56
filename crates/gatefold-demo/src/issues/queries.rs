//! Reading issues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use crate::{
    arguments::{Id, Limit, Offset, Page, Text},
    database,
    error::ToolError,
    issues::{Issue, Priority, State, fetch},
};

/// Show one issue with its labels and the number of its comments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetIssue {
    /// The issue's id.
    id: Id,
}

/// List issues, most urgent first, then most recently changed. All filters given must match.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListIssues {
    /// Only issues in this state. Default: both.
    state: Option<State>,
    /// Only issues of this priority.
    priority: Option<Priority>,
    /// Only issues that this person works on.
    assignee: Option<Text<1, 60>>,
    /// Only issues with this label.
    label: Option<Text<1, 40>>,
    /// Most issues to return. Default 20.
    limit: Option<Limit>,
    /// Issues to skip, from next_offset of the page before.
    offset: Option<Offset>,
}

/// Find issues in whose title, body or comments every word of the query occurs. Upper and lower
/// case are the same for the letters A to Z. Most recently changed first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchIssues {
    /// Words to look for.
    query: Text<1, 200>,
    /// Only issues in this state. Default: both.
    state: Option<State>,
    /// Most issues to return. Default 20.
    limit: Option<Limit>,
    /// Issues to skip, from next_offset of the page before.
    offset: Option<Offset>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Issues {
    issues: Vec<Issue>,
    /// Offset of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

/// Count the issues of the tracker by one property, largest count first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CountIssues {
    /// Property to count by.
    by: CountBy,
    /// Only issues in this state. Default: both.
    state: Option<State>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CountBy {
    State,
    Priority,
    Assignee,
    Label,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Counts {
    counts: Vec<Count>,
}

#[derive(Serialize, JsonSchema)]
struct Count {
    /// The property's value; empty for issues without one.
    value: String,
    issues: i64,
}

pub(super) async fn get_issue(db: SqlitePool, arguments: GetIssue) -> Result<Issue, ToolError> {
    fetch(&db, arguments.id).await
}

pub(super) async fn list_issues(
    db: SqlitePool,
    arguments: ListIssues,
) -> Result<Issues, ToolError> {
    let page = Page::new(arguments.limit, arguments.offset);
    let mut issues = sqlx::query_as(
        "SELECT * FROM issue_details
         WHERE (?1 IS NULL OR state = ?1)
           AND (?2 IS NULL OR priority = ?2)
           AND (?3 IS NULL OR assignee = ?3)
           AND (?4 IS NULL OR EXISTS (SELECT 1 FROM labels WHERE issue_id = issue_details.id AND label = ?4))
         ORDER BY CASE priority WHEN 'urgent' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END,
                  updated_at DESC, id
         LIMIT ?5 OFFSET ?6",
    )
    .bind(arguments.state.map(State::as_str))
    .bind(arguments.priority.map(Priority::as_str))
    .bind(arguments.assignee.as_deref())
    .bind(arguments.label.as_deref())
    .bind(page.fetch())
    .bind(page.skip())
    .fetch_all(&db)
    .await?;
    let next_offset = page.cut(&mut issues);
    Ok(Issues { issues, next_offset })
}

pub(super) async fn search_issues(
    db: SqlitePool,
    arguments: SearchIssues,
) -> Result<Issues, ToolError> {
    let page = Page::new(arguments.limit, arguments.offset);
    let mut issues = sqlx::query_as(
        "SELECT * FROM issue_details
         WHERE (?2 IS NULL OR state = ?2)
           AND NOT EXISTS (
             SELECT 1 FROM json_each(?1) AS word
             WHERE instr(lower(title || ' ' || body), word.value) = 0
               AND NOT EXISTS (
                 SELECT 1 FROM comments
                 WHERE issue_id = issue_details.id AND instr(lower(comments.body), word.value) > 0))
         ORDER BY updated_at DESC, id
         LIMIT ?3 OFFSET ?4",
    )
    .bind(database::words(&arguments.query))
    .bind(arguments.state.map(State::as_str))
    .bind(page.fetch())
    .bind(page.skip())
    .fetch_all(&db)
    .await?;
    let next_offset = page.cut(&mut issues);
    Ok(Issues { issues, next_offset })
}

pub(super) async fn count_issues(
    db: SqlitePool,
    arguments: CountIssues,
) -> Result<Counts, ToolError> {
    let query = match arguments.by {
        CountBy::State => {
            "SELECT state, count(*) FROM issues WHERE ?1 IS NULL OR state = ?1
             GROUP BY 1 ORDER BY 2 DESC, 1"
        }
        CountBy::Priority => {
            "SELECT priority, count(*) FROM issues WHERE ?1 IS NULL OR state = ?1
             GROUP BY 1 ORDER BY 2 DESC, 1"
        }
        CountBy::Assignee => {
            "SELECT coalesce(assignee, ''), count(*) FROM issues WHERE ?1 IS NULL OR state = ?1
             GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100"
        }
        CountBy::Label => {
            "SELECT coalesce(label, ''), count(*) FROM issues
             LEFT JOIN labels ON issue_id = issues.id WHERE ?1 IS NULL OR state = ?1
             GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100"
        }
    };
    let rows: Vec<(String, i64)> =
        sqlx::query_as(query).bind(arguments.state.map(State::as_str)).fetch_all(&db).await?;
    let counts = rows.into_iter().map(|(value, issues)| Count { value, issues }).collect();
    Ok(Counts { counts })
}
