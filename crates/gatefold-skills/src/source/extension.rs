//! The skills extension of MCP (SEP-2640, `io.modelcontextprotocol/skills`).

use std::collections::BTreeMap;

use gatefold_core::{CallError, Payload, Target};
use serde_json::{Value, json};

use super::payload;
use crate::uris::{self, MAIN};
use crate::{Skill, SkillSet, media_type};

/// The size of a page after which no further skill is added, in bytes.
const PAGE_BYTES: usize = 256 << 10;

/// The media type of a folder (SEP-2640, Directory Resources).
const FOLDER_TYPE: &str = "inode/directory";

/// Skills from the one that the cursor names, as many as fit.
pub(super) fn list(set: &SkillSet, cursor: Option<&str>) -> Payload {
    let from = cursor.unwrap_or_default();
    let mut rest = set.skills().iter().filter(|skill| skill.name.as_str() >= from).peekable();
    let (mut skills, mut bytes) = (Vec::new(), 0);
    while bytes < PAGE_BYTES
        && let Some(skill) = rest.next()
    {
        let entry = entry(skill);
        bytes += entry.to_string().len();
        skills.push(entry);
    }
    let mut page = json!({ "skills": skills });
    if let Some(next) = rest.peek() {
        page["nextCursor"] = next.name.as_str().into();
    }
    payload(&page)
}

pub(super) fn get(set: &SkillSet, target: &Target) -> Result<Payload, CallError> {
    let address = uris::read(&target.name).filter(|address| address.path == MAIN);
    let skill = address.and_then(|address| set.skill(&address.name));
    let skill =
        skill.ok_or_else(|| refused(target, format!("no skill is served at {}", target.name)))?;
    Ok(payload(&json!({ "skill": entry(skill) })))
}

/// What lies in one folder of a skill.
pub(super) fn directory(set: &SkillSet, target: &Target) -> Result<Payload, CallError> {
    let address = uris::read(&target.name);
    let skill = address.as_ref().and_then(|address| set.skill(&address.name));
    let children = address.zip(skill).map(|(address, skill)| children(skill, &address.path));
    match children {
        Some(resources) if !resources.is_empty() => Ok(payload(&json!({ "resources": resources }))),
        _ => Err(refused(target, format!("{} is no folder of a skill", target.name))),
    }
}

/// Empty for what is no folder: folders without files are not known.
fn children(skill: &Skill, path: &str) -> Vec<Value> {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut children = BTreeMap::new();
    for file in &skill.files {
        let Some(rest) = file.path.strip_prefix(&prefix) else { continue };
        let (name, media_type) = match rest.split_once('/') {
            Some((folder, _)) => (folder, FOLDER_TYPE),
            None => (rest, media_type(&file.path, file.is_text)),
        };
        let uri = uris::uri(&skill.name, &format!("{prefix}{name}"));
        let resource = json!({ "uri": uri, "name": name, "mimeType": media_type });
        children.insert(name, resource);
    }
    children.into_values().collect()
}

fn entry(skill: &Skill) -> Value {
    let files = skill.files.iter().map(|file| {
        let digest = format!("sha256:{}", file.digest);
        json!({ "uri": uris::of_file(skill, file), "digest": digest, "size": file.size })
    });
    json!({
        "uri": uris::of_skill(skill),
        "frontmatter": skill.front_matter,
        "resources": files.collect::<Vec<_>>(),
    })
}

fn refused(target: &Target, message: String) -> CallError {
    CallError::InvalidArguments { tool: target.id.clone(), message, data: None }
}
