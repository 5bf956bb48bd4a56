//! The body of a request: its media types and the arguments that it is made of.

use serde_json::{Value, json};

use super::parameters::{described, free_name};
use super::schema::{Direction, Schemas};
use crate::action::{BodyArguments, BodyMedia, RequestBody};

mod files;
mod media;
mod members;

pub(super) use media::{MediaKind, MediaSource, openapi, swagger};

use files::{FileUse, file_schema};
use media::MediaFields;
use members::Member;

/// How many media types a body is offered in.
const MEDIA_LIMIT: usize = 8;

/// A body as a description has it, whatever the edition.
#[derive(Debug)]
pub(super) struct BodySource<'a> {
    pub(super) is_required: bool,
    pub(super) description: Option<&'a str>,
    pub(super) media: Vec<MediaSource<'a>>,
}

/// A body as it is sent, and the arguments that it needs.
#[derive(Debug)]
pub(super) struct BodyPlan {
    pub(super) body: RequestBody,
    pub(super) arguments: Vec<BodyArgument>,
}

#[derive(Debug)]
pub(super) struct BodyArgument {
    pub(super) name: String,
    pub(super) schema: Value,
    pub(super) is_required: bool,
}

/// One media type, translated.
struct MediaPlan<'a> {
    media: BodyMedia,
    schema: Value,
    members: Option<Vec<Member<'a>>>,
}

/// Plans a body. `is_taken` says whether a parameter has a name already.
pub(super) fn plan<'a>(
    schemas: &mut Schemas<'a>,
    source: BodySource<'a>,
    is_taken: &dyn Fn(&str) -> bool,
) -> Option<BodyPlan> {
    let BodySource { is_required, description, media } = source;
    let mut plans: Vec<MediaPlan<'a>> = Vec::new();
    for one in chosen(schemas, media) {
        plans.push(media_plan(schemas, &one));
    }
    if let [only] = &plans[..]
        && let Some(plan) = flattened(schemas, only, is_required, is_taken)
    {
        return Some(plan);
    }
    whole(plans, is_required, description, is_taken)
}

/// The media types that say something of their own, the preferred one first.
fn chosen<'a>(schemas: &mut Schemas<'a>, mut media: Vec<MediaSource<'a>>) -> Vec<MediaSource<'a>> {
    media.sort_by_key(MediaSource::kind);
    let mut kept: Vec<MediaSource<'a>> = Vec::new();
    for one in media {
        let is_new = match kept.first() {
            None => true,
            Some(first) => {
                let is_same = first.says_the_same(&one);
                !is_same || has_files(schemas, first) || has_files(schemas, &one)
            }
        };
        if is_new && kept.len() < MEDIA_LIMIT {
            kept.push(one);
        }
    }
    kept
}

fn has_files<'a>(schemas: &Schemas<'a>, media: &MediaSource<'a>) -> bool {
    match media.kind() {
        MediaKind::Multipart => {
            let found = media.members(schemas).unwrap_or_default();
            found.iter().any(|member| files::of_member(schemas, media, member).is_some())
        }
        MediaKind::Raw => files::is_raw_file(schemas, media),
        _ => false,
    }
}

fn media_plan<'a>(schemas: &mut Schemas<'a>, source: &MediaSource<'a>) -> MediaPlan<'a> {
    let mut media = BodyMedia {
        media_type: source.sent_as(files::is_raw_file(schemas, source)),
        encoding: source.encoding(),
        files: Vec::new(),
    };
    let members = source.members(schemas);
    let schema = match source.kind() {
        MediaKind::Multipart => match &members {
            Some(members) => {
                for member in members {
                    if files::of_member(schemas, source, member).is_some() {
                        media.files.push(member.name.to_owned());
                    }
                }
                object_of(schemas, source, members)
            }
            None => any_schema(schemas, source),
        },
        MediaKind::Json | MediaKind::Form => match (&source.fields, &members) {
            (MediaFields::Parameters(_), Some(members)) => object_of(schemas, source, members),
            _ => any_schema(schemas, source),
        },
        MediaKind::Text | MediaKind::Raw => {
            if files::is_raw_file(schemas, source) {
                media.files.push("*".to_owned());
                file_schema(None)
            } else {
                text_schema(schemas, source)
            }
        }
    };
    MediaPlan { media, schema, members }
}

fn any_schema<'a>(schemas: &mut Schemas<'a>, source: &MediaSource<'a>) -> Value {
    match source.schema() {
        Some(schema) => schemas.translate(schema, Direction::Request),
        None => json!({}),
    }
}

/// What is neither JSON nor a form is written by the caller.
fn text_schema<'a>(schemas: &mut Schemas<'a>, source: &MediaSource<'a>) -> Value {
    let is_text = source.schema().and_then(|schema| schemas.library().resolve(schema).ok());
    match is_text.filter(|schema| schema.text("type") == Some("string")) {
        Some(schema) => schemas.translate(schema, Direction::Request),
        None => {
            json!({ "type": "string", "description": format!("Text of type {}.", source.sent_as(false)) })
        }
    }
}

fn object_of<'a>(
    schemas: &mut Schemas<'a>,
    source: &MediaSource<'a>,
    members: &[Member<'a>],
) -> Value {
    let mut properties = serde_json::Map::new();
    for member in members {
        properties.insert(member.name.to_owned(), member_schema(schemas, source, member));
    }
    let required: Vec<&str> =
        members.iter().filter(|member| member.is_required).map(|member| member.name).collect();
    let mut object = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn member_schema<'a>(
    schemas: &mut Schemas<'a>,
    source: &MediaSource<'a>,
    member: &Member<'a>,
) -> Value {
    let file = match source.kind() {
        MediaKind::Multipart => files::of_member(schemas, source, member),
        _ => None,
    };
    let description = member.node.text("description");
    match file {
        Some(FileUse::One) => file_schema(description),
        Some(FileUse::Many) => {
            let mut schema = json!({ "type": "array", "items": file_schema(None) });
            if let Some(description) = description {
                schema["description"] = description.into();
            }
            schema
        }
        None => schemas.translate(member.node, Direction::Request),
    }
}

/// The members of an object as arguments of their own, where that loses nothing.
fn flattened<'a>(
    schemas: &mut Schemas<'a>,
    plan: &MediaPlan<'a>,
    is_required: bool,
    is_taken: &dyn Fn(&str) -> bool,
) -> Option<BodyPlan> {
    let members = plan.members.as_ref().filter(|members| !members.is_empty())?;
    if members.iter().any(|member| is_taken(member.name)) {
        return None;
    }
    if !is_required && members.iter().any(|member| member.is_required) {
        return None;
    }
    let mut arguments = Vec::new();
    for member in members {
        let is_file = plan.media.files.iter().any(|name| name == member.name);
        let schema = if is_file {
            plan.schema["properties"][member.name].clone()
        } else {
            schemas.translate(member.node, Direction::Request)
        };
        let schema = described(member.node, schema);
        arguments.push(BodyArgument {
            name: member.name.to_owned(),
            schema,
            is_required: member.is_required,
        });
    }
    let names = members.iter().map(|member| member.name.to_owned()).collect();
    let body = RequestBody {
        arguments: BodyArguments::Members { names, required: is_required },
        media: vec![plan.media.clone()],
        choice: None,
    };
    Some(BodyPlan { body, arguments })
}

/// One argument that is the whole body, and one that chooses among several media types.
fn whole(
    plans: Vec<MediaPlan<'_>>,
    is_required: bool,
    description: Option<&str>,
    is_taken: &dyn Fn(&str) -> bool,
) -> Option<BodyPlan> {
    let name = free_name("body", "request_body", is_taken);
    let mut arguments = Vec::new();
    let mut distinct: Vec<Value> = Vec::new();
    for plan in &plans {
        if !distinct.contains(&plan.schema) {
            distinct.push(plan.schema.clone());
        }
    }
    let mut schema = match distinct.len() {
        0 => return None,
        1 => distinct.remove(0),
        _ => json!({ "anyOf": distinct }),
    };
    if let (Some(description), Some(members)) = (description, schema.as_object_mut())
        && !description.trim().is_empty()
    {
        members.insert("description".to_owned(), description.into());
    }
    arguments.push(BodyArgument { name: name.clone(), schema, is_required });
    let types: Vec<&str> = plans.iter().map(|plan| plan.media.media_type.as_str()).collect();
    let choice = (types.len() > 1).then(|| {
        free_name("content_type", "body_content_type", |one| is_taken(one) || one == name)
    });
    if let Some(choice) = &choice {
        let schema = json!({
            "type": "string",
            "enum": types,
            "default": types[0],
            "description": format!("The media type of `{name}`."),
        });
        arguments.push(BodyArgument { name: choice.clone(), schema, is_required: false });
    }
    let media = plans.into_iter().map(|plan| plan.media).collect();
    let body = RequestBody { arguments: BodyArguments::Whole(name), media, choice };
    Some(BodyPlan { body, arguments })
}
