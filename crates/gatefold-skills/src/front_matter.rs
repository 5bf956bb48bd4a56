//! The front matter of a skill, checked as the format says (<https://agentskills.io/specification>).

mod mending;

use std::collections::HashSet;

use gatefold_catalog::one_line;
use gatefold_located::{Entry, Lines, Node, Value, parse_yaml};
use serde_json::{Map, Number, Value as Json};

use crate::Finding;
use crate::limits::{
    COMPATIBILITY_LENGTH, DESCRIPTION_LENGTH, FRONT_MATTER_BYTES, KEPT_NAME_LENGTH, NAME_LENGTH,
};
use crate::names::{unseen, visible};

/// The keys of the format.
const KEYS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// The most findings about one front matter.
const REPORTED: usize = 20;

/// The key below `metadata` with the domains that a skill is for.
const DOMAINS: &str = "for";

/// What a skill says about itself.
#[derive(Debug, Default)]
pub(crate) struct FrontMatter {
    pub(crate) name: Option<String>,
    pub(crate) description: String,
    pub(crate) license: Option<String>,
    pub(crate) compatibility: Option<String>,
    pub(crate) allowed_tools: Vec<String>,
    pub(crate) domains: Vec<String>,
    /// All of it, as it was written.
    pub(crate) json: Map<String, Json>,
}

/// A skill's text in its two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextParts<'t> {
    /// The YAML between the lines of dashes. Its first line is line 2 of the text.
    pub(crate) front: &'t str,
    pub(crate) body: &'t str,
}

/// Why a text has no front matter: the line, and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoFrontMatter(pub(crate) usize, pub(crate) String);

/// Whether a text begins as one with front matter does.
pub(crate) fn has_front_matter(text: &str) -> bool {
    opened(text).is_some()
}

/// The text behind the opening line of dashes.
fn opened(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    (first.trim_end() == "---").then_some(rest)
}

pub(crate) fn split(text: &str) -> Result<TextParts<'_>, NoFrontMatter> {
    let no = |line, reason: &str| Err(NoFrontMatter(line, reason.to_owned()));
    let Some(rest) = opened(text) else {
        return no(1, "it does not begin with front matter: a line `---`, YAML, and a line `---`");
    };
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok(TextParts { front: &rest[..length], body: &rest[length + line.len()..] });
        }
        length += line.len();
        if length > FRONT_MATTER_BYTES {
            let reason = format!("its front matter has more than {FRONT_MATTER_BYTES} bytes");
            return Err(NoFrontMatter(1, reason));
        }
    }
    no(1, "its front matter has no end: close it with a line `---`")
}

/// Reads front matter. What is wrong is found all at once. Only what leaves a skill without a
/// description, or hides something from people, is a fault; a fault leaves nothing.
pub(crate) fn read(front: &str, path: &str, findings: &mut Vec<Finding>) -> Option<FrontMatter> {
    let parsed = parse_yaml(front);
    let mended = mending::mend(front, parsed.as_ref().ok());
    let again = mended.text.as_deref().map(|text| (text, parse_yaml(text)));
    let (text, root) = match (parsed, again) {
        (_, Some((text, Ok(root)))) => (text, Ok(root)),
        (parsed, _) => (front, parsed),
    };
    let mut reader = FrontReader { path, lines: Lines::of(text), findings, is_faulty: false };
    let root = match root {
        Ok(root) => root,
        Err(error) => {
            let message = format!("its front matter is no YAML: {}", visible(&error.message));
            reader.fault(error.offset, &message);
            return None;
        }
    };
    let Value::Table(entries) = &root.value else {
        reader.fault(0, "its front matter is no mapping: write lines of `key: value`");
        return None;
    };
    for note in &mended.notes {
        reader.note(Finding::warning(path, Some(note.line + 2), note.message()));
    }
    let read = reader.table(entries);
    (!reader.is_faulty).then_some(read)
}

struct FrontReader<'a> {
    path: &'a str,
    lines: Lines<'a>,
    findings: &'a mut Vec<Finding>,
    is_faulty: bool,
}

impl FrontReader<'_> {
    /// The line in the whole text.
    fn line(&self, offset: usize) -> usize {
        self.lines.line(offset) + 1
    }

    fn fault(&mut self, offset: usize, message: &str) {
        self.is_faulty = true;
        self.note(Finding::fault(self.path, Some(self.line(offset)), message));
    }

    fn warn(&mut self, offset: usize, message: &str) {
        self.note(Finding::warning(self.path, Some(self.line(offset)), message));
    }

    fn note(&mut self, finding: Finding) {
        let has_room = self.findings.len() < REPORTED;
        let is_first_fault = finding.is_fault() && !self.findings.iter().any(Finding::is_fault);
        if has_room || is_first_fault {
            self.findings.push(finding);
        }
    }

    fn table(&mut self, entries: &[Entry]) -> FrontMatter {
        let mut front = FrontMatter { json: object(entries), ..FrontMatter::default() };
        let mut seen = HashSet::new();
        for entry in entries {
            let (key, at) = (entry.key.as_str(), entry.key_span.start);
            if !seen.insert(key) {
                self.warn(at, &format!("`{}` is set twice: the last one counts", visible(key)));
            }
            if let Some(number) = unseen(key) {
                self.fault(at, &format!("a key has a character that people do not see: {number}"));
                continue;
            }
            match key {
                "name" => front.name = self.name(entry),
                "description" => {
                    front.description = self.text(entry, DESCRIPTION_LENGTH).unwrap_or_default();
                }
                "license" => front.license = self.text(entry, DESCRIPTION_LENGTH),
                "compatibility" => front.compatibility = self.text(entry, COMPATIBILITY_LENGTH),
                "allowed-tools" => front.allowed_tools = self.tools(entry),
                "metadata" => front.domains = self.metadata(entry),
                _ => {
                    let keys = KEYS.join("`, `");
                    let message = format!("`{key}` is no key of the format, which has `{keys}`");
                    self.warn(at, &message);
                }
            }
        }
        if !seen.contains("description") {
            let advice = "its front matter has no `description`: say what the skill does and when to \
                          use it";
            self.fault(0, advice);
        }
        front
    }

    /// A name on one line. One without a letter or a digit would name nothing.
    fn name(&mut self, entry: &Entry) -> Option<String> {
        let name = one_line(&self.text(entry, KEPT_NAME_LENGTH)?, usize::MAX);
        let can_name = name.contains(char::is_alphanumeric);
        if !can_name {
            self.warn(entry.key_span.start, "`name` has neither a letter nor a digit");
        }
        can_name.then_some(name)
    }

    /// A text that has something in it, of which at most so many characters are kept.
    fn text(&mut self, entry: &Entry, limit: usize) -> Option<String> {
        let (key, at) = (&entry.key, entry.key_span.start);
        let text = match &entry.node.value {
            Value::Text(text) => text.trim(),
            Value::Number(digits) => digits,
            Value::Flag(true) => "true",
            Value::Flag(false) => "false",
            Value::Null => "",
            Value::List(_) | Value::Table(_) | Value::Date => {
                self.complain(entry, &format!("`{key}` is no text: put it in quotes"));
                return None;
            }
        };
        if text.is_empty() {
            let message = format!("`{key}` is empty, or an alias, which is not followed");
            self.complain(entry, &message);
            return None;
        }
        if let Some(number) = unseen(text) {
            let message = format!("`{key}` has a character that people do not see: {number}");
            self.fault(at, &message);
            return None;
        }
        if !matches!(entry.node.value, Value::Text(_)) {
            self.warn(at, &format!("`{key}` is no text: put it in quotes"));
        }
        let length = text.chars().count();
        if length > limit {
            let message =
                format!("`{key}` has {length} characters, of which the first {limit} are kept");
            self.warn(at, &message);
        }
        Some(text.chars().take(limit).collect())
    }

    /// Reports a value that cannot be used. Without its description, a skill cannot be offered.
    fn complain(&mut self, entry: &Entry, message: &str) {
        if entry.key == "description" {
            self.fault(entry.key_span.start, message);
        } else {
            self.warn(entry.key_span.start, message);
        }
    }

    /// Names of tools, as a list or with spaces between them.
    fn tools(&mut self, entry: &Entry) -> Vec<String> {
        match &entry.node.value {
            Value::Text(text) => words(text),
            Value::List(items) => {
                let texts = items.iter().map(|item| match &item.value {
                    Value::Text(text) => Some(text.trim().to_owned()),
                    _ => None,
                });
                if let Some(names) = texts.collect() {
                    return names;
                }
                self.warn(entry.key_span.start, "`allowed-tools` has an item that is no text");
                Vec::new()
            }
            Value::Null => Vec::new(),
            _ => {
                let message = "`allowed-tools` is neither a text nor a list of texts";
                self.warn(entry.key_span.start, message);
                Vec::new()
            }
        }
    }

    /// The domains that the skill is for; the rest of the metadata is its author's own.
    fn metadata(&mut self, entry: &Entry) -> Vec<String> {
        let Value::Table(pairs) = &entry.node.value else {
            if !entry.node.is_null() {
                self.warn(entry.key_span.start, "`metadata` is no mapping of texts to texts");
            }
            return Vec::new();
        };
        let mut domains = Vec::new();
        for pair in pairs {
            let is_plain = matches!(
                &pair.node.value,
                Value::Text(_) | Value::Number(_) | Value::Flag(_) | Value::Date | Value::Null
            );
            if pair.key == DOMAINS {
                domains = self.tools(pair);
            } else if !is_plain {
                let key = visible(&pair.key).into_owned();
                self.warn(pair.key_span.start, &format!("`metadata.{key}` is no text"));
            }
        }
        domains
    }
}

/// Words between spaces and commas. What stands in brackets belongs to its word, as in
/// `Bash(git add *)`.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut depth) = (Vec::new(), String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c.is_whitespace() || c == ',') {
            words.push(std::mem::take(&mut word));
        } else {
            word.push(c);
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn object(entries: &[Entry]) -> Map<String, Json> {
    entries.iter().map(|entry| (entry.key.clone(), json(&entry.node))).collect()
}

/// The value as JSON.
fn json(node: &Node) -> Json {
    match &node.value {
        Value::Text(text) => text.as_str().into(),
        Value::Number(digits) => {
            digits.parse::<Number>().map_or_else(|_| digits.as_str().into(), Json::Number)
        }
        Value::Flag(flag) => (*flag).into(),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Table(entries) => Json::Object(object(entries)),
        Value::Date | Value::Null => Json::Null,
    }
}

/// Why a name is none of a skill (Agent Skills, `name`).
pub(crate) fn name_fault(name: &str) -> Option<String> {
    let length = name.chars().count();
    let is_allowed =
        |c: char| c == '-' || c.is_alphanumeric() && c.to_lowercase().eq(std::iter::once(c));
    let what = if length > NAME_LENGTH {
        format!("has {length} characters, and at most {NAME_LENGTH} are allowed")
    } else if let Some(c) = name.chars().find(|c| !is_allowed(*c)) {
        let c = visible(&c.to_string()).into_owned();
        format!("has `{c}`, and only lower-case letters, digits and `-` are allowed")
    } else if name.starts_with('-') || name.ends_with('-') {
        "begins or ends with `-`".to_owned()
    } else if name.contains("--") {
        "has two `-` in a row".to_owned()
    } else {
        return None;
    };
    Some(format!("the name `{}` {what}", visible(name)))
}

#[cfg(test)]
mod tests;
