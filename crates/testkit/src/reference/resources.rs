//! The resources and their template.

use rmcp::ErrorData;
use rmcp::model::{
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

use super::call::{Call, EarlyEnd};
use super::contents::PNG;
use super::elicitation::{ask_name, filled};
use super::shared::ServerState;
use super::skills;

const STATIC_TEXT: &str = "test://static-text";
const STATIC_BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";
const ASKING: &str = "user://asking";

pub(super) fn list(shared: &ServerState) -> Vec<Resource> {
    let text = |uri, name, description| {
        Resource::new(uri, name).with_description(description).with_mime_type("text/plain")
    };
    let mut resources = vec![
        text(STATIC_TEXT, "static-text", "A text that never changes"),
        Resource::new(STATIC_BINARY, "static-binary")
            .with_description("An image that never changes")
            .with_mime_type("image/png"),
        text(WATCHED, "watched-resource", "A text to subscribe to"),
        text(ASKING, "asking", "A text that asks for a name before it can be read"),
        skills::resource(),
    ];
    let grown = (1..=shared.grown()).map(|number| {
        Resource::new(grown_resource(number), format!("grown-{number}"))
            .with_description("Was added by `matrix_grow`")
            .with_mime_type("text/plain")
    });
    resources.extend(grown);
    resources
}

fn grown_resource(number: usize) -> String {
    format!("matrix://grown/{number}")
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new("test://template/{id}/data", "template")
        .with_description("The data of one number")
        .with_mime_type("application/json");
    vec![template]
}

pub(super) async fn read(call: &Call) -> Result<ReadResourceResponse, ErrorData> {
    match contents(call).await {
        Ok(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
        Err(EarlyEnd::Input(required)) => Ok((*required).into()),
        Err(EarlyEnd::Failure(text)) => Err(ErrorData::internal_error(text, None)),
        Err(EarlyEnd::Fault(error)) => Err(error),
    }
}

async fn contents(call: &Call) -> Result<ResourceContents, EarlyEnd> {
    let uri = call.name.as_str();
    let text = |text: &str| ResourceContents::text(text, uri).with_mime_type("text/plain");
    Ok(match uri {
        STATIC_TEXT => text("This is the content of the static text resource."),
        STATIC_BINARY => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        WATCHED => text("This is the content of the watched resource."),
        ASKING => {
            let answer = call.ask("user_name", ask_name("Who is reading?"), None).await?;
            text(&format!("Read by {}.", filled(&answer, "name")))
        }
        _ => {
            let found = skills::file(uri)
                .map(|file| ResourceContents::text(file.text, uri).with_mime_type(file.mime_type))
                .or_else(|| template_data(uri))
                .or_else(|| grown(uri, &call.server.shared).then(|| text("I was added later.")));
            found.ok_or_else(|| {
                ErrorData::resource_not_found("Resource not found", Some(json!({ "uri": uri })))
            })?
        }
    })
}

fn template_data(uri: &str) -> Option<ResourceContents> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    if id.is_empty() || id.contains('/') {
        return None;
    }
    let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
    Some(ResourceContents::text(data.to_string(), uri).with_mime_type("application/json"))
}

fn grown(uri: &str, shared: &ServerState) -> bool {
    (1..=shared.grown()).any(|number| grown_resource(number) == uri)
}
