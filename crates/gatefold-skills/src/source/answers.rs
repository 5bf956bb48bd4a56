//! The answers of `read_skill`.

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use gatefold_catalog::{STUB_LENGTH, marked, topic_stub};
use gatefold_core::Payload;
use serde_json::{Map, Value, json};

use super::named_tools::NamedTool;
use super::payload;
use crate::kinds_of_files::is_script;
use crate::uris::{self, MAIN};
use crate::{Skill, SkillFile, language, media_type};

/// What stands above the skills. What a client calls this tool depends on how tools are shown to it, so no text here has
/// the tool's name.
pub(super) const HEADING: &str = "## Available Skills\n\
    Load the full content of one by its name before executing any of these:";

/// The most skills that one list names.
const LISTED: usize = 200;

/// The longest script that comes with its skill, in bytes. Longer ones are read by their name.
const SCRIPT_BYTES: u64 = 16 * 1024;

/// A skill in one line.
pub(super) fn stub(skill: &Skill) -> String {
    topic_stub(&skill.name, &skill.description, STUB_LENGTH)
}

/// The skills that a caller may see.
pub(super) fn list<'a>(skills: impl Iterator<Item = &'a Skill>) -> Payload {
    let skills: Vec<_> = skills.collect();
    let listed = &skills[..skills.len().min(LISTED)];
    let lines: Vec<_> = listed.iter().map(|skill| stub(skill)).collect();
    let mut text = match lines.as_slice() {
        [] => "No skills are available.".to_owned(),
        lines => format!("{HEADING}\n{}", lines.join("\n")),
    };
    if skills.len() > LISTED {
        let _ = write!(text, "\n+{} more: search for one", skills.len() - LISTED);
    }
    let named = |skill: &&Skill| json!({ "name": skill.name, "description": skill.description });
    let skills: Vec<_> = listed.iter().map(named).collect();
    answer(&text, &json!({ "skills": skills }))
}

/// The one script of a skill, with its text.
pub(super) struct EmbeddedScript<'a> {
    pub(super) file: &'a SkillFile,
    pub(super) text: String,
}

/// The script of a skill that has one and no more, if it is short enough to be given with the skill.
pub(super) fn only_script<'a>(files: &[&'a SkillFile]) -> Option<&'a SkillFile> {
    let mut scripts = files.iter().filter(|file| file.is_text && is_script(&file.path));
    let script = scripts.next()?;
    (scripts.next().is_none() && script.size <= SCRIPT_BYTES).then_some(*script)
}

/// A whole skill. Its front matter stays apart: its description led here.
pub(super) fn skill(
    skill: &Skill,
    body: &str,
    files: &[&SkillFile],
    script: Option<&EmbeddedScript<'_>>,
    tools: &[NamedTool],
) -> Payload {
    let body = marked(body);
    let files: Vec<_> = files.iter().copied().filter(|file| file.path != MAIN).collect();
    let mut text = body.clone().into_owned();
    if let Some(needs) = &skill.compatibility {
        let _ = write!(text, "\n\n## Requirements of this skill\n{needs}");
    }
    if !files.is_empty() {
        text.push_str(
            "\n\n## Files of this skill\nRead one as you read this, with its path as 'file'. Scripts are given, \
             not run.",
        );
        for file in &files {
            let _ =
                write!(text, "\n- `{}` ({}, {})", file.path, language(&file.path), size(file.size));
        }
    }
    if let Some(EmbeddedScript { file, text: script }) = script {
        let (script, fence) = (marked(script), fence(script));
        let (path, language) = (&file.path, language(&file.path));
        let _ = write!(text, "\n\n## `{path}`\n{fence}{language}\n{}\n{fence}", script.trim_end());
    }
    if !tools.is_empty() {
        text.push_str(
            "\n\n## Tools that this skill names\nCall each as you call the other tools of its domain.",
        );
        for tool in tools {
            let _ = write!(text, "\n- `{}`", tool.signature);
        }
    }
    let mut structured = Map::new();
    let mut put = |key: &str, value: Value| drop(structured.insert(key.to_owned(), value));
    put("name", skill.name.as_str().into());
    put("description", skill.description.as_str().into());
    for (key, value) in [("license", &skill.license), ("compatibility", &skill.compatibility)] {
        if let Some(value) = value {
            put(key, value.as_str().into());
        }
    }
    put("text", body.into());
    let with_text = |file: &&&SkillFile| {
        let mut described = described(file);
        let own = script.filter(|script| script.file.path == file.path);
        if let Some(script) = own {
            described["text"] = marked(&script.text).into();
        }
        described
    };
    put("files", files.iter().map(|file| with_text(&file)).collect());
    let named = |tool: &NamedTool| json!({ "id": tool.id, "signature": tool.signature });
    put("tools", tools.iter().map(named).collect());
    answer(&text, &Value::Object(structured))
}

/// One file of a skill: its text, an image, or its bytes.
pub(super) fn file(skill: &Skill, file: &SkillFile, content: &[u8]) -> Payload {
    let mut structured = described(file);
    structured["name"] = skill.name.as_str().into();
    if let Ok(text) = std::str::from_utf8(content) {
        let text: Cow<'_, str> = marked(text);
        structured["text"] = text.clone().into();
        return answer(&text, &structured);
    }
    let (media_type, data) = (media_type(&file.path, false), BASE64_STANDARD.encode(content));
    let block = if media_type.starts_with("image/") {
        json!({ "type": "image", "mimeType": media_type, "data": data })
    } else {
        let uri = uris::of_file(skill, file);
        let resource = json!({ "uri": uri, "mimeType": media_type, "blob": data });
        json!({ "type": "resource", "resource": resource })
    };
    payload(&json!({ "content": [block], "structuredContent": structured }))
}

/// A fence of Markdown that no line of a text ends.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

fn described(file: &SkillFile) -> Value {
    json!({ "file": file.path, "size": file.size, "language": language(&file.path) })
}

fn answer(text: &str, structured: &Value) -> Payload {
    payload(&json!({
        "content": [{ "type": "text", "text": text }],
        "structuredContent": structured,
    }))
}

/// "812 bytes", "4.0 KiB"
fn size(bytes: u64) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    let of = |unit: u64, name: &str| {
        let tenths = bytes.saturating_mul(10) / unit;
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    };
    match bytes {
        0..KIB => format!("{bytes} bytes"),
        KIB..MIB => of(KIB, "KiB"),
        _ => of(MIB, "MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_short() {
        for (bytes, expected) in
            [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (5_000_000, "4.7 MiB")]
        {
            assert_eq!(size(bytes), expected);
        }
    }
}
