//! Adding, changing and deleting people.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use sqlx::SqlitePool;

use crate::{
    arguments::{Id, Text},
    contacts::{Contact, fetch, missing},
    database::now,
    error::ToolError,
};

const MAX_EMAIL_CHARS: usize = 254;
const MAX_PHONE_CHARS: usize = 32;
pub(super) const MAX_NOTES_CHARS: usize = 2_000;

type Name = Text<1, 120>;
type Organisation = Text<0, 120>;
type Notes = Text<0, MAX_NOTES_CHARS>;

/// Add a person to the contacts book. Only the name is needed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateContact {
    /// Full name.
    name: Name,
    /// E-mail address.
    email: Option<Email>,
    /// Phone number: digits, spaces, hyphens, brackets, with an optional leading +.
    phone: Option<Phone>,
    /// Company or society.
    organisation: Option<Organisation>,
    /// Anything worth remembering.
    notes: Option<Notes>,
}

/// Change what is known about a person. What is not given stays as it is; an empty text clears
/// the field, except the name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateContact {
    /// The contact's id.
    id: Id,
    /// New full name.
    name: Option<Name>,
    /// New e-mail address.
    email: Option<Email>,
    /// New phone number: digits, spaces, hyphens, brackets, with an optional leading +.
    phone: Option<Phone>,
    /// New company or society.
    organisation: Option<Organisation>,
    /// New notes, replacing the old ones.
    notes: Option<Notes>,
}

/// Delete a person from the contacts book and from all groups. This cannot be undone.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteContact {
    /// The contact's id.
    id: Id,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Deleted {
    /// Id of the contact that is no longer there.
    deleted: i64,
}

/// An e-mail address in outline (one `@` with something on both sides), or nothing.
struct Email(String);

/// A phone number as people write it, or nothing.
struct Phone(String);

pub(super) async fn create_contact(
    db: SqlitePool,
    arguments: CreateContact,
) -> Result<Contact, ToolError> {
    let mut transaction = db.begin_with("BEGIN IMMEDIATE").await?;
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO contacts (name, email, phone, organisation, notes, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) RETURNING id",
    )
    .bind(&*arguments.name)
    .bind(arguments.email.map(|email| email.0).unwrap_or_default())
    .bind(arguments.phone.map(|phone| phone.0).unwrap_or_default())
    .bind(arguments.organisation.as_deref().unwrap_or_default())
    .bind(arguments.notes.as_deref().unwrap_or_default())
    .bind(now())
    .fetch_one(&mut *transaction)
    .await?;
    let contact = sqlx::query_as("SELECT * FROM contact_details WHERE id = ?1")
        .bind(id)
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(contact)
}

pub(super) async fn update_contact(
    db: SqlitePool,
    arguments: UpdateContact,
) -> Result<Contact, ToolError> {
    sqlx::query(
        "UPDATE contacts SET name = coalesce(?2, name), email = coalesce(?3, email),
                phone = coalesce(?4, phone), organisation = coalesce(?5, organisation),
                notes = coalesce(?6, notes), updated_at = ?7
         WHERE id = ?1",
    )
    .bind(arguments.id.get())
    .bind(arguments.name.as_deref())
    .bind(arguments.email.map(|email| email.0))
    .bind(arguments.phone.map(|phone| phone.0))
    .bind(arguments.organisation.as_deref())
    .bind(arguments.notes.as_deref())
    .bind(now())
    .execute(&db)
    .await?;
    fetch(&db, arguments.id).await
}

pub(super) async fn delete_contact(
    db: SqlitePool,
    arguments: DeleteContact,
) -> Result<Deleted, ToolError> {
    let id = arguments.id;
    let done =
        sqlx::query("DELETE FROM contacts WHERE id = ?1").bind(id.get()).execute(&db).await?;
    if done.rows_affected() == 0 {
        return Err(missing(id));
    }
    Ok(Deleted { deleted: id.get() })
}

impl<'de> Deserialize<'de> for Email {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::<0, MAX_EMAIL_CHARS>::deserialize(deserializer)?;
        let parts: Vec<_> = text.split('@').collect();
        let plausible = matches!(parts.as_slice(), [user, host] if !user.is_empty() && !host.is_empty())
            && !text.contains(char::is_whitespace);
        if text.is_empty() || plausible {
            Ok(Self(text.to_string()))
        } else {
            Err(D::Error::custom("is not an e-mail address such as `mei@seedbank.example`"))
        }
    }
}

impl<'de> Deserialize<'de> for Phone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::<0, MAX_PHONE_CHARS>::deserialize(deserializer)?;
        let number = text.strip_prefix('+').unwrap_or(&text);
        let plausible = number.chars().all(|c| c.is_ascii_digit() || " -()".contains(c))
            && number.chars().any(|c| c.is_ascii_digit());
        if text.is_empty() || plausible {
            Ok(Self(text.to_string()))
        } else {
            Err(D::Error::custom("is not a phone number such as `+81 555 0121`"))
        }
    }
}

impl JsonSchema for Email {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Email".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MAX_EMAIL_CHARS })
    }
}

impl JsonSchema for Phone {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Phone".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MAX_PHONE_CHARS })
    }
}
