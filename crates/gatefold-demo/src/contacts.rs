//! `contacts`: a contacts book in `{scratch}/contacts.db`.

mod changes;
mod duplicates;
mod groups;
mod queries;
mod vcard;

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use sqlx::{FromRow, Row, SqliteExecutor, sqlite::SqliteRow};

use crate::{
    DemoError,
    arguments::Id,
    database,
    error::{ToolError, refuse},
    toolbox::{Effect, Tool, Toolbox},
};

pub(crate) async fn open(scratch: &Path) -> Result<Vec<Tool>, DemoError> {
    let db = database::open(scratch, "contacts.db", include_str!("contacts/first.sql")).await?;
    Ok(Toolbox::new(db)
        .waiting("create_contact", Effect::Adds, changes::create_contact)
        .waiting("get_contact", Effect::Reads, queries::get_contact)
        .waiting("list_contacts", Effect::Reads, queries::list_contacts)
        .waiting("search_contacts", Effect::Reads, queries::search_contacts)
        .waiting("update_contact", Effect::Overwrites, changes::update_contact)
        .waiting("delete_contact", Effect::Removes, changes::delete_contact)
        .waiting("find_duplicate_contacts", Effect::Reads, duplicates::find_duplicate_contacts)
        .waiting("merge_contacts", Effect::Removes, duplicates::merge_contacts)
        .waiting("list_groups", Effect::Reads, groups::list_groups)
        .waiting("add_to_group", Effect::Sets, groups::add_to_group)
        .waiting("remove_from_group", Effect::Removes, groups::remove_from_group)
        .waiting("export_vcard", Effect::Reads, vcard::export_vcard)
        .into_tools())
}

#[derive(Debug, Serialize, JsonSchema)]
struct Contact {
    id: i64,
    name: String,
    /// Empty when unknown, as are the other fields.
    email: String,
    phone: String,
    organisation: String,
    notes: String,
    groups: Vec<String>,
    /// RFC 3339 in UTC.
    created_at: String,
    /// RFC 3339 in UTC.
    updated_at: String,
}

impl FromRow<'_, SqliteRow> for Contact {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let groups: String = row.try_get("groups")?;
        Ok(Self {
            id: row.try_get("id")?,
            name: row.try_get("name")?,
            email: row.try_get("email")?,
            phone: row.try_get("phone")?,
            organisation: row.try_get("organisation")?,
            notes: row.try_get("notes")?,
            groups: serde_json::from_str(&groups)
                .map_err(|error| sqlx::Error::Decode(error.into()))?,
            created_at: row.try_get("created_at")?,
            updated_at: row.try_get("updated_at")?,
        })
    }
}

/// Reads one contact; that it is missing is the caller's mistake.
async fn fetch(db: impl SqliteExecutor<'_>, id: Id) -> Result<Contact, ToolError> {
    sqlx::query_as("SELECT * FROM contact_details WHERE id = ?1")
        .bind(id.get())
        .fetch_optional(db)
        .await?
        .ok_or_else(|| missing(id))
}

fn missing(id: Id) -> ToolError {
    refuse(
        format!("there is no contact {}", id.get()),
        "list_contacts and search_contacts give the ids",
    )
}
