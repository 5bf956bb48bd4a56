//! The answers of `read_skill`.

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use gatefold_catalog::marked;
use gatefold_core::Payload;
use serde_json::{Map, Value, json};

use super::named_tools::NamedTool;
use super::payload;
use crate::uris::{self, MAIN};
use crate::{Skill, SkillFile, language, media_type};

/// The longest description of a skill in a list, in characters, of which the last three are dots.
const STUB_LENGTH: usize = 120;
const DOTS: &str = "...";

/// The most skills that one list names.
const LISTED: usize = 200;

pub(super) const HEADING: &str = "## Available Skills\n\
    Call read_skill(name) to load full content before executing any of these:";

/// A skill in one line: `- **refunds**: Step-by-step refund workflow...`
pub fn stub(name: &str, description: &str) -> String {
    let words: Vec<_> = description.split_whitespace().collect();
    let line = words.join(" ");
    let line = if line.chars().count() > STUB_LENGTH {
        let kept: String = line.chars().take(STUB_LENGTH - DOTS.len()).collect();
        format!("{kept}{DOTS}")
    } else {
        line
    };
    format!("- **{name}**: {line}")
}

/// The skills that a caller may see.
pub(super) fn list<'a>(skills: impl Iterator<Item = &'a Skill>) -> Payload {
    let skills: Vec<_> = skills.collect();
    let listed = &skills[..skills.len().min(LISTED)];
    let lines: Vec<_> = listed.iter().map(|skill| stub(&skill.name, &skill.description)).collect();
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

/// A whole skill. Its front matter stays apart: its description led here.
pub(super) fn skill<'a>(
    skill: &Skill,
    body: &str,
    files: impl Iterator<Item = &'a SkillFile>,
    tools: &[NamedTool],
) -> Payload {
    let body = marked(body);
    let files: Vec<_> = files.filter(|file| file.path != MAIN).collect();
    let mut text = body.clone().into_owned();
    if let Some(needs) = &skill.compatibility {
        let _ = write!(text, "\n\n## Requirements of this skill\n{needs}");
    }
    if !files.is_empty() {
        text.push_str(
            "\n\n## Files of this skill\nCall read_skill(name, file) to read one. Scripts are given, not \
             run.",
        );
        for file in &files {
            let _ = write!(text, "\n- `{}` ({}, {})", file.path, language(&file.path), size(file));
        }
    }
    if !tools.is_empty() {
        text.push_str("\n\n## Tools that this skill names");
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
    put("files", files.iter().map(|file| described(file)).collect());
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
fn size(file: &SkillFile) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    let of = |unit: u64, name: &str| {
        let tenths = file.size.saturating_mul(10) / unit;
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    };
    match file.size {
        0..KIB => format!("{} bytes", file.size),
        KIB..MIB => of(KIB, "KiB"),
        _ => of(MIB, "MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_is_as_the_seed_has_it() {
        assert_eq!(stub("refunds", "Pay\n  back."), "- **refunds**: Pay back.");
        let exact = "x".repeat(120);
        assert_eq!(stub("a", &exact), format!("- **a**: {exact}"));
        let cut = format!("- **a**: {}...", "é".repeat(117));
        assert_eq!(stub("a", &"é".repeat(121)), cut);
    }

    #[test]
    fn a_size_is_short() {
        let shown = |size| {
            let digest = gatefold_core::Digest::new([0; 32]);
            super::size(&SkillFile { path: String::new(), size, digest, is_text: true })
        };
        for (bytes, expected) in
            [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (5_000_000, "4.7 MiB")]
        {
            assert_eq!(shown(bytes), expected);
        }
    }
}
