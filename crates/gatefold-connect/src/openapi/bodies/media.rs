//! The media types in which a description offers a body.

use std::collections::BTreeMap;

use super::super::library::Node;
use super::super::parameters::collection;
use super::super::schema::Schemas;
use super::super::value::DocumentValue;
use super::BodySource;
use super::members::{Member, members};
use crate::action::{ParameterPlace, PartEncoding, Style};

/// How a body of a media type is written. The order is the one of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::openapi) enum MediaKind {
    Json,
    Form,
    Multipart,
    Text,
    Raw,
}

impl MediaKind {
    pub(in crate::openapi) fn of(media_type: &str) -> Self {
        let bare = bare(media_type);
        match bare.as_str() {
            "application/json" | "text/json" | "*/*" | "application/*" => Self::Json,
            "application/x-www-form-urlencoded" => Self::Form,
            _ if bare.ends_with("+json") => Self::Json,
            _ if bare.starts_with("multipart/") => Self::Multipart,
            _ if bare.starts_with("text/") => Self::Text,
            _ => Self::Raw,
        }
    }
}

fn bare(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// What a body consists of.
#[derive(Debug, Clone)]
pub(super) enum MediaFields<'a> {
    Schema(Node<'a>),
    /// The parameters of a form in Swagger 2, which are their own schemas.
    Parameters(Vec<Node<'a>>),
    Unknown,
}

/// A body in one media type.
#[derive(Debug, Clone)]
pub(in crate::openapi) struct MediaSource<'a> {
    pub(super) media_type: &'a str,
    pub(super) fields: MediaFields<'a>,
    /// What OpenAPI 3 says of single members.
    encoding: Option<Node<'a>>,
}

impl<'a> MediaSource<'a> {
    pub(super) fn kind(&self) -> MediaKind {
        MediaKind::of(self.media_type)
    }

    pub(super) fn schema(&self) -> Option<Node<'a>> {
        if let MediaFields::Schema(schema) = &self.fields { Some(*schema) } else { None }
    }

    /// The media type that goes out: what stands for several becomes the likeliest one.
    pub(super) fn sent_as(&self, is_file: bool) -> String {
        match bare(self.media_type).as_str() {
            "*/*" | "application/*" if is_file => "application/octet-stream".to_owned(),
            "*/*" | "application/*" => "application/json".to_owned(),
            "text/*" => "text/plain".to_owned(),
            "multipart/*" => "multipart/form-data".to_owned(),
            other => match other.strip_prefix("application/*+") {
                Some(suffix) => format!("application/{suffix}"),
                None => self.media_type.to_owned(),
            },
        }
    }

    /// Whether two media types have the same schema.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        match (&self.fields, &other.fields) {
            (MediaFields::Schema(one), MediaFields::Schema(two)) => {
                one.document == two.document && one.value == two.value
            }
            (MediaFields::Parameters(_), MediaFields::Parameters(_))
            | (MediaFields::Unknown, MediaFields::Unknown) => true,
            _ => false,
        }
    }

    /// The members, if the body is a plain object in a media type that has members.
    pub(super) fn members(&self, schemas: &Schemas<'a>) -> Option<Vec<Member<'a>>> {
        match &self.fields {
            _ if matches!(self.kind(), MediaKind::Text | MediaKind::Raw) => None,
            MediaFields::Schema(schema) => members(schemas, *schema),
            MediaFields::Parameters(fields) => {
                let named = fields.iter().filter_map(|node| Some((node.text("name")?, *node)));
                let member = |(name, node): (&'a str, Node<'a>)| Member {
                    name,
                    node,
                    is_required: node.flag("required"),
                };
                Some(named.map(member).collect())
            }
            MediaFields::Unknown => None,
        }
    }

    /// The media type of one part.
    pub(super) fn content_type_of(&self, member: &str) -> Option<&'a str> {
        self.encoding
            .and_then(|encoding| encoding.get(member))
            .and_then(|one| one.text("contentType"))
    }

    /// How single members are written, where the description says so.
    pub(super) fn encoding(&self) -> BTreeMap<String, PartEncoding> {
        let mut all = BTreeMap::new();
        if !matches!(self.kind(), MediaKind::Form | MediaKind::Multipart) {
            return all;
        }
        for (name, node) in self.encoding.into_iter().flat_map(Node::members) {
            let style = node.value.get("style").map(DocumentValue::to_json);
            let style: Option<Style> = style.and_then(|style| serde_json::from_value(style).ok());
            let encoding = PartEncoding {
                content_type: node.text("contentType").map(str::to_owned),
                style,
                explode: node.value.get("explode").and_then(DocumentValue::as_bool),
                allow_reserved: node.flag("allowReserved"),
            };
            if encoding != PartEncoding::default() {
                all.insert(name.to_owned(), encoding);
            }
        }
        if let MediaFields::Parameters(fields) = &self.fields {
            for node in fields {
                let (style, explode) = collection(*node, ParameterPlace::Query);
                if let Some(name) =
                    node.text("name").filter(|_| style.is_some() || explode.is_some())
                {
                    let encoding = PartEncoding { style, explode, ..PartEncoding::default() };
                    all.insert(name.to_owned(), encoding);
                }
            }
        }
        all
    }
}

/// The body of an operation of OpenAPI 3.
pub(in crate::openapi) fn openapi<'a>(
    schemas: &mut Schemas<'a>,
    operation: Node<'a>,
) -> Option<BodySource<'a>> {
    let node = operation.get("requestBody")?;
    let node = match schemas.library().resolve(node) {
        Ok(node) => node,
        Err(why) => {
            schemas.note(format!("its body was left out: {why}"));
            return None;
        }
    };
    let content = node.get("content").into_iter().flat_map(Node::members);
    let library = schemas.library();
    let media = content.filter_map(|(media_type, content)| {
        let content = library.resolve(content).ok()?;
        let fields = content.get("schema").map_or(MediaFields::Unknown, MediaFields::Schema);
        Some(MediaSource { media_type, fields, encoding: content.get("encoding") })
    });
    let media: Vec<MediaSource<'a>> = media.filter(|one| one.media_type.contains('/')).collect();
    if media.is_empty() {
        schemas.note("its body was left out: it has no media type");
        return None;
    }
    Some(BodySource {
        is_required: node.flag("required"),
        description: node.text("description"),
        media,
    })
}

/// The body of an operation of Swagger 2: one parameter, or those of a form.
pub(in crate::openapi) fn swagger<'a>(
    parameters: &[Node<'a>],
    root: Node<'a>,
    operation: Node<'a>,
) -> Option<BodySource<'a>> {
    let consumes = operation.get("consumes").or_else(|| root.get("consumes"));
    let types: Vec<&'a str> =
        consumes.into_iter().flat_map(Node::items).filter_map(|one| one.value.as_str()).collect();
    if let Some(body) = parameters.iter().find(|node| node.text("in") == Some("body")) {
        let fields = body.get("schema").map_or(MediaFields::Unknown, MediaFields::Schema);
        let types: Vec<&'a str> = types.into_iter().filter(|one| one.contains('/')).collect();
        let types = if types.is_empty() { vec!["application/json"] } else { types };
        let source =
            |media_type| MediaSource { media_type, fields: fields.clone(), encoding: None };
        let is_required = body.flag("required");
        let media = types.into_iter().map(source).collect();
        return Some(BodySource { is_required, description: body.text("description"), media });
    }
    let fields: Vec<Node<'a>> =
        parameters.iter().filter(|node| node.text("in") == Some("formData")).copied().collect();
    if fields.is_empty() {
        return None;
    }
    let has_files = fields.iter().any(|node| node.text("type") == Some("file"));
    let multipart = types.iter().find(|one| bare(one).starts_with("multipart/")).copied();
    let is_form = types.iter().any(|one| MediaKind::of(one) == MediaKind::Form);
    let media_type = match multipart {
        Some(multipart) if has_files || !is_form => multipart,
        None if has_files => "multipart/form-data",
        _ => "application/x-www-form-urlencoded",
    };
    let is_required = fields.iter().any(|node| node.flag("required"));
    let media = MediaSource { media_type, fields: MediaFields::Parameters(fields), encoding: None };
    Some(BodySource { is_required, description: None, media: vec![media] })
}
