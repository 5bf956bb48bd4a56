//! The skills of a view: their stubs, and what a call of `read_skill` means.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use gatefold_catalog::{
    DomainEntry, Request, SKILL_STUB_LENGTH, SKILLS_HEADING, Tool, ToolTopic, View, is_same_skill,
    nearest_texts, short_description, skill_stub,
};
use gatefold_core::{Operation, ToolName};
use serde_json::value::RawValue;

use super::kinds::{READ_SKILL, ToolPlace};
use super::pages::page;
use crate::arguments::{Arguments, json_text, object, object_text};
use crate::bounded::bounded;
use crate::surface::{Reply, Step, UsageError};
use crate::wording::{did_you_mean, quoted};

/// The longest descriptions in stubs, in characters, from the best to the shortest.
const LENGTHS: [usize; 4] = [SKILL_STUB_LENGTH, 60, 30, 0];

/// A skill that can be read.
struct Skill<'a> {
    /// What models call it: its own name, with its domain if another domain has one of that name.
    name: Cow<'a, str>,
    topic: &'a ToolTopic,
    /// The tool that reads it.
    tool: &'a Tool,
}

/// What stands before skills that are given whole.
const INLINE_HEADING: &str = "## Skills\nFollow these procedures where they apply.";

/// The instructions of a surface with skills.
pub(super) struct SkillInstructions {
    pub(super) text: String,
    /// Whether nothing is left that `read_skill` would give.
    pub(super) is_all: bool,
}

/// All skills of a view, by name.
pub(super) struct Skills<'a>(Vec<Skill<'a>>);

impl<'a> Skills<'a> {
    pub(super) fn of(view: &'a View) -> Self {
        let folders =
            view.domains().filter(|entry| ToolPlace::of(entry.kind()) == ToolPlace::Skills);
        let mut skills: Vec<_> = folders.flat_map(|entry| skills_in(view, entry)).collect();
        let mut namesakes: BTreeMap<&str, usize> = BTreeMap::new();
        for skill in &skills {
            *namesakes.entry(&skill.topic.name).or_default() += 1;
        }
        for skill in &mut skills {
            if namesakes[skill.topic.name.as_str()] > 1 {
                skill.name = long_name(skill).into();
            }
        }
        skills.sort_by(|a, b| a.name.cmp(&b.name));
        Self(skills)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|skill| &*skill.name)
    }

    /// The heading and the stubs after `start`, within a number of bytes.
    pub(super) fn stubs(&self, start: &str, bytes: usize) -> String {
        stubs_of(&self.0.iter().collect::<Vec<_>>(), start, bytes)
    }

    /// The instructions with the skills' stubs.
    pub(super) fn by_stubs(&self, usage: &str, bytes: usize) -> SkillInstructions {
        if self.is_empty() {
            return SkillInstructions { text: usage.to_owned(), is_all: true };
        }
        SkillInstructions { text: self.stubs(&opened(usage), bytes), is_all: false }
    }

    /// The instructions with the skills' whole texts, as many as fit from the shortest on, and the
    /// stubs of the others.
    pub(super) fn inline(&self, usage: &str, bytes: usize) -> SkillInstructions {
        let mut whole: Vec<_> = self.0.iter().filter(|skill| skill.topic.text.is_some()).collect();
        whole.sort_by_key(|skill| text_of(skill).len());
        let mut length = usage.len();
        let fit = whole.iter().take_while(|skill| {
            length += text_of(skill).len();
            length <= bytes
        });
        // Headings and the others' stubs need room as well.
        for count in (1..=fit.count()).rev() {
            let shown = self.with_whole(&whole[..count], usage, bytes);
            if shown.text.len() <= bytes {
                return shown;
            }
        }
        self.by_stubs(usage, bytes)
    }

    /// The instructions with these skills whole, in the order of their names.
    fn with_whole(&self, whole: &[&Skill<'a>], usage: &str, bytes: usize) -> SkillInstructions {
        let is_whole = |skill: &Skill<'_>| whole.iter().any(|other| other.name == skill.name);
        let (shown, rest): (Vec<_>, Vec<_>) = self.0.iter().partition(|skill| is_whole(skill));
        let texts = shown.iter().map(|skill| format!("\n\n### {}\n{}", skill.name, text_of(skill)));
        let start = format!("{}{INLINE_HEADING}{}", opened(usage), texts.collect::<String>());
        let is_told_whole =
            |skill: &&Skill<'_>| skill.topic.text.as_ref().is_some_and(|text| text.is_all);
        let is_all = rest.is_empty() && shown.iter().all(is_told_whole);
        let text =
            if rest.is_empty() { start } else { stubs_of(&rest, &format!("{start}\n\n"), bytes) };
        SkillInstructions { text, is_all }
    }

    fn find(&self, name: &str) -> Option<&Skill<'a>> {
        let by_name = |skill: &&Skill<'_>| skill.name == name || long_name(skill) == name;
        self.0.iter().find(by_name).or_else(|| {
            let mut like = self.0.iter().filter(|skill| is_same_skill(&skill.name, name));
            like.next().filter(|_| like.next().is_none())
        })
    }

    /// What a call of `read_skill` means: a call of the folder's own tool, or a list of the skills.
    pub(super) fn read(
        &self,
        view: &View,
        budget: usize,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        let arguments = Arguments::parse(READ_SKILL, arguments)?;
        arguments.only(&["name", "file", "cursor"])?;
        let cursor = arguments.text("cursor")?;
        let (name, file) = (arguments.text("name")?, arguments.text("file")?);
        let Some(name) = name else {
            if let Some(file) = file {
                return Err(UsageError::new(format!(
                    "Missing parameter 'name' of {READ_SKILL}. Name the skill that has the file {}.",
                    quoted(&file)
                )));
            }
            return self
                .list(budget, cursor.as_deref())
                .map(|text| Step::Reply(Reply::text(&text)));
        };
        let skill = self.find(name.trim()).ok_or_else(|| self.unknown(name.trim()))?;
        let own = json_text(&skill.topic.name);
        let file = file.as_deref().map(json_text);
        let file = file.as_deref().map(|file| ("file", file));
        let arguments = object([("name", own.as_str())].into_iter().chain(file));
        let name = ToolName::of(skill.tool.id());
        let operation = Arc::new(Operation::Tool { name, arguments });
        Ok(Step::Call(Request { operation, entry: Some(view.resolved(skill.tool)) }))
    }

    /// `{"skills": [{"name", "description"}], "remaining", "next_cursor"}`
    fn list(&self, budget: usize, cursor: Option<&str>) -> Result<String, UsageError> {
        let names: Vec<_> = self.names().collect();
        let described = |at: usize| {
            let skill = &self.0[at];
            let about = json_text(&short_description(&skill.topic.description, SKILL_STUB_LENGTH));
            object_text([("name", json_text(&skill.name).as_str()), ("description", &about)])
        };
        page(&[], "skills", &names, budget, cursor, described)
    }

    fn unknown(&self, name: &str) -> UsageError {
        let near = did_you_mean(nearest_texts(name, self.names()));
        UsageError::new(format!(
            "Unknown skill {}.{near} Call {READ_SKILL} without a name to list all.",
            quoted(name)
        ))
    }
}

fn stubs_of(skills: &[&Skill<'_>], start: &str, bytes: usize) -> String {
    let lines = |length: usize| skills.iter().map(|skill| stub(skill, length)).collect();
    bounded(
        LENGTHS.into_iter().map(lines),
        bytes,
        |lines| format!("{start}{SKILLS_HEADING}{lines}"),
        |count| format!("\n+{count} more: call read_skill without a name to list all."),
    )
}

/// What stands before the skills.
fn opened(usage: &str) -> String {
    if usage.is_empty() { String::new() } else { format!("{usage}\n\n") }
}

fn text_of<'a>(skill: &Skill<'a>) -> &'a str {
    skill.topic.text.as_ref().map(|text| text.text.as_str()).unwrap_or_default()
}

fn skills_in<'a>(view: &'a View, entry: &'a DomainEntry) -> impl Iterator<Item = Skill<'a>> {
    let tool = view.tool_named(entry.domain(), READ_SKILL);
    tool.into_iter().flat_map(move |tool| {
        let topics = view.topics_in(entry).filter(|topic| topic.tool == READ_SKILL);
        topics.map(move |topic| Skill { name: topic.name.as_str().into(), topic, tool })
    })
}

/// `{domain}/{name}`, which means one skill only.
fn long_name(skill: &Skill<'_>) -> String {
    format!("{}/{}", skill.tool.domain(), skill.topic.name)
}

fn stub(skill: &Skill<'_>, length: usize) -> String {
    format!("\n{}", skill_stub(&skill.name, &skill.topic.description, length))
}
