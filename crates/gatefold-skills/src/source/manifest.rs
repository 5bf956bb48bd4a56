//! What a folder of skills offers.

use gatefold_catalog::{
    Alteration, Change, Manifest, ResourceSpec, ServerInfo, Supplement, TemplateSpec, ToolSpec,
    ToolTopic, TopicText, one_line,
};
use gatefold_core::{Hints, Timestamp};
use serde_json::{Value, json};

use super::SkillSourceSettings;
use super::answers::{HEADING, stub};
use crate::uris::{self, TEMPLATE};
use crate::{Skill, SkillSet};

/// The one tool of a folder of skills.
pub const READ_SKILL: &str = "read_skill";

/// How many bytes of stubs stand in the tool's description: with the rest it stays below the 2 KB
/// that clients show.
const STUBS_BYTES: usize = 1_500;
/// How many names stand in the tool's schema.
const ENUM_NAMES: usize = 100;
/// How many skills the source's own description names.
const NAMED_SKILLS: usize = 10;
/// How many findings are reported with the source.
const REPORTED: usize = 100;
/// How much of a skill's description a search knows, in characters.
const FOUND_TEXT: usize = 1024;

/// The longest skill whose text is in the catalogue, and all of them together, in bytes.
const TEXT_BYTES: usize = 32 * 1024;
const TEXTS_BYTES: usize = 256 * 1024;

/// The texts of skills that are short enough for the catalogue, in the order of the set. This waits
/// for the disk.
pub(super) fn texts(set: &SkillSet) -> Vec<Option<TopicText>> {
    let mut room = TEXTS_BYTES;
    let text = |skill: &Skill| {
        let main = skill.files.first().filter(|file| file.size <= TEXT_BYTES as u64)?;
        if main.size > room as u64 {
            return None;
        }
        let text = skill.text().ok()?.body;
        room = room.saturating_sub(text.len());
        Some(TopicText { text, is_all: skill.files.len() == 1 })
    };
    set.skills().iter().map(text).collect()
}

pub(super) fn of(
    settings: &SkillSourceSettings,
    set: &SkillSet,
    texts: Vec<Option<TopicText>>,
    now: Timestamp,
) -> Manifest {
    let seen = |skill: &&Skill| (settings.seen_by_all)(&uris::of_skill(skill));
    let open: Vec<_> = set.skills().iter().filter(seen).collect();
    let topics = std::iter::zip(set.skills(), texts);
    let topics = topics.map(|(skill, text)| ToolTopic { text, ..topic(settings, skill) }).collect();
    let mut builder = Manifest::builder(now)
        .server(server(set, &open))
        .tool(read_skill(set, &open))
        .supplement(Supplement { topics, attachment: String::new() });
    for skill in set.skills() {
        let resource = ResourceSpec::new(uris::of_skill(skill), skill.name.as_str());
        builder = builder
            .resource(resource.description(skill.description.as_str()).mime_type("text/markdown"));
    }
    if !set.skills().is_empty() {
        let template = TemplateSpec::new(TEMPLATE, "A file of a skill");
        builder = builder.template(template.description("The files that a skill lists."));
    }
    for finding in set.findings().iter().take(REPORTED) {
        let (entry, message) = (finding.path.clone(), finding.message.clone());
        let entry = finding.line.map_or(entry.clone(), |line| format!("{entry}:{line}"));
        let what =
            if finding.is_fault() { Change::LeftOut(message) } else { Change::Noted(message) };
        builder = builder.alteration(Alteration { entry, what });
    }
    builder.build()
}

fn server(set: &SkillSet, open: &[&Skill]) -> ServerInfo {
    let capabilities = json!({
        "tools": {},
        "resources": {},
        "extensions": { "io.modelcontextprotocol/skills": { "directoryRead": true } },
    });
    ServerInfo {
        name: "skills".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        title: None,
        description: Some(names(set, open)),
        instructions: None,
        protocol: String::new(),
        capabilities: Some(capabilities.to_string()),
        whole: None,
    }
}

/// "Skills: complaints, refunds, ..."
fn names(set: &SkillSet, open: &[&Skill]) -> String {
    let named: Vec<_> = open.iter().take(NAMED_SKILLS).map(|skill| skill.name.as_str()).collect();
    match named.as_slice() {
        [] => "Skills: procedures to follow".to_owned(),
        named if named.len() < set.skills().len() => format!("Skills: {}, ...", named.join(", ")),
        named => format!("Skills: {}", named.join(", ")),
    }
}

fn read_skill(set: &SkillSet, open: &[&Skill]) -> ToolSpec {
    let mut name =
        json!({ "type": "string", "description": "The skill. Without it, they are listed." });
    // With a skill left out, a client that checks arguments would refuse it to those who may have it.
    if open.len() == set.skills().len() && (1..=ENUM_NAMES).contains(&open.len()) {
        name["enum"] = open.iter().map(|skill| skill.name.as_str()).collect();
    }
    let file =
        json!({ "type": "string", "description": "One of its files, as the skill lists them." });
    ToolSpec::new(READ_SKILL)
        .description(description(set, open))
        .input_schema(json!({
            "type": "object",
            "properties": { "name": name, "file": file },
            "additionalProperties": false,
        }))
        .output_schema(output_schema())
        .hints(Hints {
            read_only: Some(true),
            destructive: None,
            idempotent: Some(true),
            open_world: Some(false),
        })
}

fn description(set: &SkillSet, open: &[&Skill]) -> String {
    let what = "Read a skill: a procedure to follow, with its files and the tools that it names. Scripts \
                are given, not run.";
    let mut length = 0;
    let stubs = open.iter().map(|skill| stub(skill));
    let stubs: Vec<_> = stubs
        .take_while(|stub| {
            length += stub.len() + 1;
            length <= STUBS_BYTES
        })
        .collect();
    if stubs.is_empty() {
        return format!("{what} Call it without a name to list them.");
    }
    let is_all = stubs.len() == set.skills().len();
    let more = if is_all { "" } else { "\nThere are more: call it without a name to list them." };
    format!("{what}\n\n{HEADING}\n{}{more}", stubs.join("\n"))
}

fn output_schema() -> Value {
    let text = json!({ "type": "string" });
    let list = |properties: Value| json!({ "type": "array", "items": { "type": "object", "properties": properties } });
    let file = json!({ "file": text, "size": { "type": "integer" }, "language": text });
    json!({
        "type": "object",
        "properties": {
            "name": text,
            "description": text,
            "license": text,
            "compatibility": text,
            "text": text,
            "file": text,
            "size": { "type": "integer" },
            "language": text,
            "files": list(file),
            "tools": list(json!({ "id": text, "signature": text })),
            "skills": list(json!({ "name": text, "description": text })),
        },
    })
}

/// A skill as a search finds it.
fn topic(settings: &SkillSourceSettings, skill: &Skill) -> ToolTopic {
    let all = settings.domains.iter().map(|domain| domain.as_str().to_owned());
    let mut domains: Vec<_> = all.chain(skill.domains.iter().cloned()).collect();
    domains.sort();
    domains.dedup();
    ToolTopic {
        tool: READ_SKILL.to_owned(),
        line: format!("skill: {}", skill.name),
        name: skill.name.clone(),
        description: one_line(&skill.description, FOUND_TEXT),
        parts: skill.headings.clone(),
        resource: Some(uris::of_skill(skill)),
        domains,
        text: None,
    }
}
