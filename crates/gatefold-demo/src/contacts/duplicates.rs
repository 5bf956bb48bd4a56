//! People who are in the book twice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use crate::{
    arguments::{Id, Limit},
    contacts::{Contact, changes::MAX_NOTES_CHARS, fetch, groups::MAX_GROUPS},
    database::now,
    error::{ToolError, refuse},
};

/// How many pairs are shown when the call does not say.
const PAIRS_DEFAULT: i64 = 20;

/// Find pairs of contacts with the same e-mail address or the same name, ignoring the case of
/// the letters A to Z. merge_contacts makes one of two.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindDuplicateContacts {
    /// Most pairs to return. Default 20.
    limit: Option<Limit>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Duplicates {
    pairs: Vec<Pair>,
}

#[derive(Serialize, JsonSchema)]
struct Pair {
    first_id: i64,
    first_name: String,
    second_id: i64,
    second_name: String,
    /// "email" or "name".
    same: String,
}

/// Merge two contacts into the first. What the first lacks is taken from the second, the groups
/// are joined, the notes put together, and the second is deleted. This cannot be undone.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MergeContacts {
    /// Id of the contact that stays.
    keep_id: Id,
    /// Id of the contact that is merged into it and deleted.
    remove_id: Id,
}

pub(super) async fn find_duplicate_contacts(
    db: SqlitePool,
    arguments: FindDuplicateContacts,
) -> Result<Duplicates, ToolError> {
    let rows: Vec<(i64, String, i64, String, String)> = sqlx::query_as(
        "SELECT a.id, a.name, b.id, b.name,
                CASE WHEN a.email <> '' AND lower(a.email) = lower(b.email)
                     THEN 'email' ELSE 'name' END
         FROM contacts AS a JOIN contacts AS b ON a.id < b.id
          AND ((a.email <> '' AND lower(a.email) = lower(b.email))
               OR lower(a.name) = lower(b.name))
         ORDER BY a.id, b.id LIMIT ?1",
    )
    .bind(arguments.limit.map_or(PAIRS_DEFAULT, Limit::get))
    .fetch_all(&db)
    .await?;
    let pairs = rows
        .into_iter()
        .map(|(first_id, first_name, second_id, second_name, same)| Pair {
            first_id,
            first_name,
            second_id,
            second_name,
            same,
        })
        .collect();
    Ok(Duplicates { pairs })
}

pub(super) async fn merge_contacts(
    db: SqlitePool,
    arguments: MergeContacts,
) -> Result<Contact, ToolError> {
    let (keep, remove) = (arguments.keep_id, arguments.remove_id);
    if keep.get() == remove.get() {
        return Err(refuse(
            "`keep_id` and `remove_id` are the same contact",
            "give the ids of two contacts; find_duplicate_contacts shows pairs",
        ));
    }
    let mut transaction = db.begin_with("BEGIN IMMEDIATE").await?;
    fetch(&mut *transaction, keep).await?;
    fetch(&mut *transaction, remove).await?;
    sqlx::query(
        "UPDATE contacts SET
           email = iif(contacts.email = '', other.email, contacts.email),
           phone = iif(contacts.phone = '', other.phone, contacts.phone),
           organisation = iif(contacts.organisation = '', other.organisation, contacts.organisation),
           notes = trim(contacts.notes || char(10) || other.notes, char(10)),
           updated_at = ?3
         FROM (SELECT * FROM contacts WHERE id = ?2) AS other
         WHERE contacts.id = ?1",
    )
    .bind(keep.get())
    .bind(remove.get())
    .bind(now())
    .execute(&mut *transaction)
    .await?;
    sqlx::query("UPDATE OR IGNORE members SET contact_id = ?1 WHERE contact_id = ?2")
        .bind(keep.get())
        .bind(remove.get())
        .execute(&mut *transaction)
        .await?;
    sqlx::query("DELETE FROM contacts WHERE id = ?1")
        .bind(remove.get())
        .execute(&mut *transaction)
        .await?;
    let merged = fetch(&mut *transaction, keep).await?;
    if merged.notes.chars().count() > MAX_NOTES_CHARS || merged.groups.len() > MAX_GROUPS {
        return Err(refuse(
            format!(
                "the merged contact would exceed {MAX_NOTES_CHARS} characters of notes or {MAX_GROUPS} groups"
            ),
            "shorten the notes with update_contact or use remove_from_group first",
        ));
    }
    transaction.commit().await?;
    Ok(merged)
}
