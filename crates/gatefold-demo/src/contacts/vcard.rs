//! Contacts as vCard 4.0 (RFC 6350).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use crate::{
    arguments::Id,
    contacts::{Contact, fetch},
    error::ToolError,
};

/// Give one contact as a vCard 4.0 that address books can import. Long lines are not folded.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportVcard {
    /// The contact's id.
    id: Id,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Vcard {
    /// The card, with CRLF line ends.
    vcard: String,
}

pub(super) async fn export_vcard(
    db: SqlitePool,
    arguments: ExportVcard,
) -> Result<Vcard, ToolError> {
    let contact = fetch(&db, arguments.id).await?;
    Ok(Vcard { vcard: render(&contact) })
}

fn render(contact: &Contact) -> String {
    let groups: Vec<_> = contact.groups.iter().map(|group| escape(group)).collect();
    let lines = [
        ("FN", escape(&contact.name)),
        ("EMAIL", escape(&contact.email)),
        ("TEL", escape(&contact.phone)),
        ("ORG", escape(&contact.organisation)),
        ("NOTE", escape(&contact.notes)),
        ("CATEGORIES", groups.join(",")),
    ];
    let mut card = "BEGIN:VCARD\r\nVERSION:4.0\r\n".to_owned();
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        card.extend([name, ":", value, "\r\n"]);
    }
    card + "END:VCARD\r\n"
}

/// Escapes a value as RFC 6350, section 3.4 asks.
fn escape(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace(',', "\\,").replace(';', "\\;");
    value.replace("\r\n", "\\n").replace(['\r', '\n'], "\\n")
}
