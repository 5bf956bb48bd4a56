//! `issues`: an issue tracker in `{scratch}/issues.sqlite`.

use std::path::Path;

use crate::{
    DemoError,
    database::Database,
    fields::{Field, Kind, choice, id, integer, list, text},
    tool::{
        Effect::{Adds, Overwrites, Reads, Removes, Sets},
        Tool, tool,
    },
};

const STATES: &[&str] = &["open", "closed"];
const PRIORITIES: &[&str] = &["low", "medium", "high", "urgent"];
const REASONS: &[&str] = &["completed", "not_planned", "duplicate"];
const MAX_LABELS: usize = 20;

pub(crate) async fn open(scratch: &Path) -> Result<Vec<Tool>, DemoError> {
    let issues = Database::open(scratch, "issue", include_str!("issues.sql")).await?;
    let mut tools = changes(&issues);
    tools.extend(states(&issues));
    tools.extend(queries(&issues));
    tools.extend(searches(&issues));
    tools.extend(comments_and_labels(&issues));
    Ok(tools)
}

fn changes(issues: &Database) -> Vec<Tool> {
    let title = text("title", "One line that says what is wrong or wanted.").up_to(200);
    let body = text("body", "Details in Markdown; may be empty.").up_to(10_000).or_empty();
    let priority = choice("priority", PRIORITIES, "How soon it matters.");
    let assignee = text("assignee", "Short name of the person who should work on it.").up_to(60);
    vec![
        tool("create_issue", Adds, "Report a new issue. It starts open.")
            .takes([title.clone(), body.clone().or(""), priority.clone().or("medium")])
            .takes([assignee.clone().optional(), labels().optional()])
            .gives(issue())
            .runs(
                issues,
                "INSERT INTO issues (title, body, priority, assignee, labels)
                 VALUES (?1 ->> 'title', ?1 ->> 'body', ?1 ->> 'priority', ?1 ->> 'assignee',
                         (SELECT json_group_array(value) FROM
                           (SELECT DISTINCT value FROM json_each(?1, '$.labels') ORDER BY value)))
                 RETURNING *",
            ),
        tool(
            "update_issue",
            Overwrites,
            "Change an issue's title, body or priority. What is not given stays as it is; what is \
             given replaces the old value.",
        )
        .takes([the_id(), title.optional(), body.optional(), priority.optional()])
        .gives(issue())
        .runs(
            issues,
            "UPDATE issues SET title = coalesce(?1 ->> 'title', title),
                    body = coalesce(?1 ->> 'body', body),
                    priority = coalesce(?1 ->> 'priority', priority),
                    updated_at = strftime('%FT%TZ', 'now')
             WHERE id = ?1 ->> 'id' RETURNING *",
        ),
        tool("assign_issue", Sets, "Say who works on an issue, or that nobody does.")
            .takes([the_id(), assignee.optional()])
            .gives(issue())
            .runs(
                issues,
                "UPDATE issues SET assignee = ?1 ->> 'assignee', updated_at = strftime('%FT%TZ', 'now')
                 WHERE id = ?1 ->> 'id' RETURNING *",
            ),
    ]
}

fn states(issues: &Database) -> Vec<Tool> {
    vec![
        tool(
            "close_issue",
            Sets,
            "Close an issue, saying why. Closing a closed issue changes the reason.",
        )
        .takes([the_id(), choice("reason", REASONS, "Why it is closed.").or("completed")])
        .gives(issue())
        .runs(
            issues,
            "UPDATE issues SET state = 'closed', reason = ?1 ->> 'reason',
                    updated_at = strftime('%FT%TZ', 'now')
             WHERE id = ?1 ->> 'id' RETURNING *",
        ),
        tool(
            "reopen_issue",
            Sets,
            "Open a closed issue again. An open issue stays open.",
        )
        .takes([the_id()])
        .gives(issue())
        .runs(
            issues,
            "UPDATE issues SET state = 'open', reason = NULL WHERE id = ?1 ->> 'id' RETURNING *",
        ),
        tool(
            "delete_issue",
            Removes,
            "Delete an issue with its comments and labels. This cannot be undone; close_issue \
             keeps it.",
        )
        .takes([the_id()])
        .gives([integer("deleted", "Id of the issue that is no longer there.")])
        .runs(issues, "DELETE FROM issues WHERE id = ?1 ->> 'id' RETURNING id AS deleted"),
    ]
}

fn queries(issues: &Database) -> Vec<Tool> {
    vec![
        tool("get_issue", Reads, "Show one issue with its labels and the number of its comments.")
            .takes([the_id()])
            .gives(issue())
            .runs(issues, "SELECT * FROM issues WHERE id = ?1 ->> 'id'"),
        tool(
            "list_issues",
            Reads,
            "List issues, most urgent first, then most recently changed. All filters given must \
             match.",
        )
        .takes([state()])
        .takes([choice("priority", PRIORITIES, "Only issues of this priority.").optional()])
        .takes([text("assignee", "Only issues of this person.").up_to(60).optional()])
        .takes([text("label", "Only issues with this label.").up_to(40).optional()])
        .gives_page("issues", issue())
        .runs(
            issues,
            "SELECT * FROM issues
             WHERE state = coalesce(?1 ->> 'state', state)
               AND priority = coalesce(?1 ->> 'priority', priority)
               AND assignee IS coalesce(?1 ->> 'assignee', assignee)
               AND (?1 ->> 'label' IS NULL
                    OR EXISTS (SELECT 1 FROM json_each(labels) WHERE value = ?1 ->> 'label'))
             ORDER BY instr('urgent high medium low', priority), updated_at DESC, id
             LIMIT (?1 ->> 'limit') + 1 OFFSET ?1 ->> 'offset'",
        ),
    ]
}

fn searches(issues: &Database) -> Vec<Tool> {
    vec![
        tool(
            "search_issues",
            Reads,
            "Find issues in whose title, body or comments every word of the query occurs. Most \
             recently changed first.",
        )
        .takes([text("query", "Words to look for.").up_to(200), state()])
        .gives_page("issues", issue())
        .runs(
            issues,
            "SELECT * FROM issues
             WHERE state = coalesce(?1 ->> 'state', state)
               AND NOT EXISTS (
                 SELECT 1 FROM json_each(?2) AS word
                 WHERE instr(lower(title || ' ' || body), word.value) = 0
                   AND NOT EXISTS (SELECT 1 FROM comments
                                   WHERE issue_id = issues.id
                                     AND instr(lower(comments.body), word.value) > 0))
             ORDER BY updated_at DESC, id
             LIMIT (?1 ->> 'limit') + 1 OFFSET ?1 ->> 'offset'",
        ),
        tool(
            "count_issues",
            Reads,
            "Count the issues of the tracker by one property, largest count first.",
        )
        .takes([choice("by", &["state", "priority", "assignee", "label"], "Property to count by.")])
        .takes([state()])
        .gives_all(
            "counts",
            vec![
                text("value", "The property's value; empty for issues without one."),
                integer("issues", "How many issues have it."),
            ],
        )
        .runs(
            issues,
            "SELECT coalesce(label.value, '') AS value, count(*) AS issues
             FROM issues LEFT JOIN json_each(CASE ?1 ->> 'by'
                 WHEN 'label' THEN labels
                 WHEN 'state' THEN json_array(state)
                 WHEN 'priority' THEN json_array(priority)
                 ELSE json_array(assignee) END) AS label
             WHERE state = coalesce(?1 ->> 'state', state)
             GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100",
        ),
    ]
}

fn comments_and_labels(issues: &Database) -> Vec<Tool> {
    let issue_id = || id("issue_id", "The issue's id.");
    vec![
        tool("add_comment", Adds, "Add a comment to an issue.")
            .takes([issue_id(), text("author", "Short name of who says it.").up_to(60)])
            .takes([text("body", "What there is to say, in Markdown.").up_to(10_000)])
            .gives(comment())
            .runs(
                issues,
                "INSERT INTO comments (issue_id, author, body)
                 SELECT id, ?1 ->> 'author', ?1 ->> 'body' FROM issues WHERE id = ?1 ->> 'issue_id'
                 RETURNING *",
            ),
        tool("list_comments", Reads, "Show the comments on an issue, the oldest first.")
            .takes([issue_id()])
            .gives_page("comments", comment())
            .runs(
                issues,
                "SELECT * FROM comments WHERE issue_id = ?1 ->> 'issue_id' ORDER BY id
                 LIMIT (?1 ->> 'limit') + 1 OFFSET ?1 ->> 'offset'",
            ),
        tool(
            "add_labels",
            Sets,
            "Put labels on an issue. Labels that it has already stay.",
        )
        .takes([the_id(), labels()])
        .gives(issue())
        .runs(
            issues,
            "UPDATE issues SET labels = (
                 SELECT json_group_array(value) FROM
                   (SELECT value FROM json_each(labels) UNION SELECT value FROM json_each(?1, '$.labels')))
             WHERE id = ?1 ->> 'id' RETURNING *",
        ),
        tool(
            "remove_labels",
            Removes,
            "Take labels off an issue. Labels that it does not have are passed over.",
        )
        .takes([the_id(), labels()])
        .gives(issue())
        .runs(
            issues,
            "UPDATE issues SET labels = (
                 SELECT json_group_array(value) FROM
                   (SELECT value FROM json_each(labels) EXCEPT SELECT value FROM json_each(?1, '$.labels')))
             WHERE id = ?1 ->> 'id' RETURNING *",
        ),
    ]
}

fn the_id() -> Field {
    id("id", "The issue's id.")
}

fn state() -> Field {
    choice("state", STATES, "Only issues in this state. Default: both.").optional()
}

fn labels() -> Field {
    list("labels", Kind::Word, "Labels such as \"bug\" or \"greenhouse\".").up_to(MAX_LABELS)
}

fn issue() -> Vec<Field> {
    vec![
        integer("id", "Number to name it by."),
        text("title", "What is wrong or wanted."),
        text("body", "Details in Markdown."),
        text("state", "\"open\" or \"closed\"."),
        text("reason", "Why it was closed; absent while it is open.").optional(),
        text("priority", "\"low\", \"medium\", \"high\" or \"urgent\"."),
        text("assignee", "Who works on it; absent when nobody does.").optional(),
        list("labels", Kind::Text(None), "Its labels, in alphabetical order."),
        integer("comment_count", "How many comments it has."),
        text("created_at", "When it was reported, RFC 3339 in UTC."),
        text("updated_at", "When it was last changed, RFC 3339 in UTC."),
    ]
}

fn comment() -> Vec<Field> {
    vec![
        integer("id", "Number of the comment."),
        integer("issue_id", "The issue that it is about."),
        text("author", "Who said it."),
        text("body", "What was said, in Markdown."),
        text("created_at", "When it was said, RFC 3339 in UTC."),
    ]
}
