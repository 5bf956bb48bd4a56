//! Which parts of a body are files.

use serde_json::{Value, json};

use super::super::library::Node;
use super::super::schema::Schemas;
use super::media::{MediaKind, MediaSource};
use super::members::Member;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileUse {
    One,
    Many,
}

/// A media type with parameters, none of them in quotes.
const MEDIA_TYPE: &str = r"^[\w.+-]+/[\w.+-]+(; ?[\w-]+=[\w.+-]+)*$";

/// What a file is as an argument. Its media type goes into a header, so the schema says what one is.
pub(super) fn file_schema(description: Option<&str>) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": {
            "filename": { "type": "string" },
            "media_type": { "type": "string", "pattern": MEDIA_TYPE },
            "base64": { "type": "string", "contentEncoding": "base64" },
        },
        "required": ["base64"],
        "additionalProperties": false,
    });
    if let Some(description) = description {
        schema["description"] = description.into();
    }
    schema
}

/// Whether a member of a multipart body is a file or a list of them.
pub(super) fn of_member<'a>(
    schemas: &Schemas<'a>,
    media: &MediaSource<'a>,
    member: &Member<'a>,
) -> Option<FileUse> {
    let node = schemas.library().resolve(member.node).ok()?;
    let encoded = media.content_type_of(member.name).is_some_and(is_binary_type);
    if is_binary(node) || encoded && is_text_or_untyped(node) {
        return Some(FileUse::One);
    }
    let items = node.get("items").filter(|_| node.text("type") == Some("array"))?;
    let items = schemas.library().resolve(items).ok()?;
    (is_binary(items) || encoded && is_text_or_untyped(items)).then_some(FileUse::Many)
}

/// Whether a body that is neither JSON, nor a form, nor text, is a file.
pub(super) fn is_raw_file<'a>(schemas: &Schemas<'a>, media: &MediaSource<'a>) -> bool {
    if !matches!(media.kind(), MediaKind::Raw | MediaKind::Text | MediaKind::Json) {
        return false;
    }
    let schema = media.schema().and_then(|schema| schemas.library().resolve(schema).ok());
    let is_said = schema.is_some_and(is_binary);
    is_said && media.kind() != MediaKind::Json
        || media.kind() == MediaKind::Raw && is_binary_type(media.media_type)
}

fn is_binary(node: Node<'_>) -> bool {
    match node.text("type") {
        Some("file") => true,
        Some("string") | None => {
            let is_encoded = node.get("contentEncoding").is_some();
            let media_type = node.text("contentMediaType");
            node.text("format") == Some("binary")
                || !is_encoded && media_type.is_some_and(is_binary_type)
        }
        _ => false,
    }
}

fn is_text_or_untyped(node: Node<'_>) -> bool {
    matches!(node.text("type"), None | Some("string"))
        && node.get("$ref").is_none()
        && node.get("properties").is_none()
}

/// Whether values of a media type are bytes and not text.
fn is_binary_type(media_type: &str) -> bool {
    const BINARY: [&str; 10] = [
        "application/octet-stream",
        "application/pdf",
        "application/zip",
        "application/gzip",
        "application/x-gzip",
        "application/x-tar",
        "application/x-zip-compressed",
        "binary/octet-stream",
        "application/vnd.ms-excel",
        "application/msword",
    ];
    let bare = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_svg = bare == "image/svg+xml";
    let class = bare.split('/').next().unwrap_or_default();
    let is_class = matches!(class, "image" | "audio" | "video" | "font") && !is_svg;
    is_class
        || BINARY.contains(&bare.as_str())
        || bare.starts_with("application/vnd.openxmlformats")
}
