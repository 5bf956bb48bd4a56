//! Groups of people. A group exists while it has members.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use crate::{
    arguments::{Id, Limit, Offset, Page, Text},
    contacts::{Contact, fetch},
    error::{ToolError, refuse},
};

/// The most groups that one person can be in.
pub(super) const MAX_GROUPS: usize = 20;

type GroupName = Text<1, 40>;

/// List the groups that have members, by name, with the number of members.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListGroups {
    /// Most groups to return. Default 20.
    limit: Option<Limit>,
    /// Groups to skip, from next_offset of the page before.
    offset: Option<Offset>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Groups {
    groups: Vec<Group>,
    /// Offset of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Group {
    name: String,
    members: i64,
}

/// Put a person into a group, which comes into being with its first member. A person is in at
/// most 20 groups.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddToGroup {
    /// The contact's id.
    id: Id,
    /// The group's name.
    group: GroupName,
}

/// Take a person out of a group. A group without members is gone.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveFromGroup {
    /// The contact's id.
    id: Id,
    /// The group's name.
    group: GroupName,
}

pub(super) async fn list_groups(
    db: SqlitePool,
    arguments: ListGroups,
) -> Result<Groups, ToolError> {
    let page = Page::new(arguments.limit, arguments.offset);
    let rows: Vec<(String, i64)> = sqlx::query_as(
        "SELECT group_name, count(*) FROM members GROUP BY 1 ORDER BY 1 LIMIT ?1 OFFSET ?2",
    )
    .bind(page.fetch())
    .bind(page.skip())
    .fetch_all(&db)
    .await?;
    let mut groups = rows.into_iter().map(|(name, members)| Group { name, members }).collect();
    let next_offset = page.cut(&mut groups);
    Ok(Groups { groups, next_offset })
}

pub(super) async fn add_to_group(
    db: SqlitePool,
    arguments: AddToGroup,
) -> Result<Contact, ToolError> {
    let mut transaction = db.begin_with("BEGIN IMMEDIATE").await?;
    fetch(&mut *transaction, arguments.id).await?;
    sqlx::query("INSERT OR IGNORE INTO members (group_name, contact_id) VALUES (?1, ?2)")
        .bind(&*arguments.group)
        .bind(arguments.id.get())
        .execute(&mut *transaction)
        .await?;
    let contact = fetch(&mut *transaction, arguments.id).await?;
    if contact.groups.len() > MAX_GROUPS {
        return Err(refuse(
            format!("contact {} is in {MAX_GROUPS} groups already", contact.id),
            "take it out of one with remove_from_group",
        ));
    }
    transaction.commit().await?;
    Ok(contact)
}

pub(super) async fn remove_from_group(
    db: SqlitePool,
    arguments: RemoveFromGroup,
) -> Result<Contact, ToolError> {
    let before = fetch(&db, arguments.id).await?;
    let done = sqlx::query("DELETE FROM members WHERE group_name = ?1 AND contact_id = ?2")
        .bind(&*arguments.group)
        .bind(arguments.id.get())
        .execute(&db)
        .await?;
    if done.rows_affected() == 0 {
        return Err(refuse(
            format!("contact {} is not in the group `{}`", before.id, &*arguments.group),
            format!("it is in: {}", before.groups.join(", ")),
        ));
    }
    fetch(&db, arguments.id).await
}
