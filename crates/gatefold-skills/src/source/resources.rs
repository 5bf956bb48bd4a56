//! Files of skills as resources.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use gatefold_core::{CallError, Payload, Target};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::payload;
use crate::{SkillFile, SkillSet, media_type, uris};

/// The file with an address.
pub(super) fn find<'s>(set: &'s SkillSet, uri: &str) -> Option<&'s SkillFile> {
    let address = uris::read(uri)?;
    set.skill(&address.name)?.file(&address.path)
}

/// The content as it is: whoever reads a resource may compare it with its digest.
pub(super) fn answer(uri: &str, file: &SkillFile, content: &[u8]) -> Payload {
    let text = std::str::from_utf8(content).ok();
    let mut contents = json!({ "uri": uri, "mimeType": media_type(&file.path, text.is_some()) });
    match text {
        Some(text) => contents["text"] = text.into(),
        None => contents["blob"] = BASE64_STANDARD.encode(content).into(),
    }
    payload(&json!({ "contents": [contents] }))
}

pub(super) fn missing(target: &Target) -> CallError {
    CallError::MissingResource {
        tool: target.id.clone(),
        message: format!("no file of a skill is served at {}", target.name),
        data: to_raw_value(&json!({ "uri": &*target.name })).ok(),
    }
}
