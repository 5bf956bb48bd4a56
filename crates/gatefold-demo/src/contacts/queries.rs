//! Looking people up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use crate::{
    arguments::{Id, Limit, Offset, Page, Text},
    contacts::{Contact, fetch},
    database,
    error::ToolError,
};

/// Show one contact with everything known and the groups it is in.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetContact {
    /// The contact's id.
    id: Id,
}

/// List contacts by name. All filters given must match.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListContacts {
    /// Only members of this group, such as "committee".
    group: Option<Text<1, 40>>,
    /// Only people of this organisation, spelled exactly.
    organisation: Option<Text<1, 120>>,
    /// Most contacts to return. Default 20.
    limit: Option<Limit>,
    /// Contacts to skip, from next_offset of the page before.
    offset: Option<Offset>,
}

/// Find contacts in whose name, e-mail address, phone number, organisation or notes every word
/// of the query occurs. Upper and lower case are the same for the letters A to Z.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchContacts {
    /// Words or parts of words to look for.
    query: Text<1, 200>,
    /// Most contacts to return. Default 20.
    limit: Option<Limit>,
    /// Contacts to skip, from next_offset of the page before.
    offset: Option<Offset>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Contacts {
    contacts: Vec<Contact>,
    /// Offset of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

pub(super) async fn get_contact(
    db: SqlitePool,
    arguments: GetContact,
) -> Result<Contact, ToolError> {
    fetch(&db, arguments.id).await
}

pub(super) async fn list_contacts(
    db: SqlitePool,
    arguments: ListContacts,
) -> Result<Contacts, ToolError> {
    let page = Page::new(arguments.limit, arguments.offset);
    let mut contacts = sqlx::query_as(
        "SELECT * FROM contact_details
         WHERE (?1 IS NULL OR EXISTS (
                 SELECT 1 FROM members WHERE contact_id = contact_details.id AND group_name = ?1))
           AND (?2 IS NULL OR organisation = ?2)
         ORDER BY name COLLATE NOCASE, id LIMIT ?3 OFFSET ?4",
    )
    .bind(arguments.group.as_deref())
    .bind(arguments.organisation.as_deref())
    .bind(page.fetch())
    .bind(page.skip())
    .fetch_all(&db)
    .await?;
    let next_offset = page.cut(&mut contacts);
    Ok(Contacts { contacts, next_offset })
}

pub(super) async fn search_contacts(
    db: SqlitePool,
    arguments: SearchContacts,
) -> Result<Contacts, ToolError> {
    let page = Page::new(arguments.limit, arguments.offset);
    let mut contacts = sqlx::query_as(
        "SELECT * FROM contact_details
         WHERE NOT EXISTS (
             SELECT 1 FROM json_each(?1) AS word
             WHERE instr(lower(name || ' ' || email || ' ' || phone || ' ' || organisation
                               || ' ' || notes), word.value) = 0)
         ORDER BY name COLLATE NOCASE, id LIMIT ?2 OFFSET ?3",
    )
    .bind(database::words(&arguments.query))
    .bind(page.fetch())
    .bind(page.skip())
    .fetch_all(&db)
    .await?;
    let next_offset = page.cut(&mut contacts);
    Ok(Contacts { contacts, next_offset })
}
