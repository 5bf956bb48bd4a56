//! What the sources of a kind have to be read or called, such as skills and agents: its stubs, and what a
//! call of the tool means that does so.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gatefold_catalog::{
    DomainEntry, STUB_LENGTH, Tool, ToolTopic, TopicTool, TopicUse, View, is_same_name,
    nearest_texts, short_description, topic_stub,
};
use gatefold_core::Domain;
use serde_json::value::RawValue;

use super::kinds::topic_tools_of;
use super::pages::page;
use super::request;
use crate::arguments::{Arguments, json_text, object, object_text};
use crate::bounded::bounded;
use crate::surface::{Reply, Step, UsageError};
use crate::wording::{did_you_mean, listed, quoted};

/// The longest descriptions in stubs, in characters, from the best to the shortest.
const LENGTHS: [usize; 4] = [STUB_LENGTH, 60, 30, 0];

/// The bytes of names in an error.
const NAMED_BYTES: usize = 2000;

/// One that can be read or called.
struct NamedTopic<'a> {
    /// What models call it: its own name, with its domain if another domain has one of that name.
    name: Cow<'a, str>,
    description: &'a str,
    topic: &'a ToolTopic,
    /// The source's tool that is about it.
    tool: &'a Tool,
}

/// The instructions of a surface with topics.
pub(super) struct TopicInstructions {
    pub(super) text: String,
    /// Whether nothing is left that the tool would give.
    pub(super) is_all: bool,
}

/// All that one tool is about in a view, by name.
pub(super) struct Topics<'a> {
    pub(super) tool: &'static TopicTool,
    all: Vec<NamedTopic<'a>>,
}

impl<'a> Topics<'a> {
    pub(super) fn of(view: &'a View, tool: &'static TopicTool) -> Self {
        let has_topics =
            |entry: &&DomainEntry| topic_tools_of(entry).iter().any(|own| own.name == tool.name);
        let sources = view.domains().filter(has_topics);
        let mut all: Vec<_> = sources.flat_map(|entry| topics_in(view, entry, tool)).collect();
        let mut namesakes: BTreeMap<&str, usize> = BTreeMap::new();
        for named in &all {
            *namesakes.entry(&named.topic.name).or_default() += 1;
        }
        for named in &mut all {
            if namesakes[named.topic.name.as_str()] > 1 {
                named.name = long_name(named).into();
            }
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Self { tool, all }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|named| &*named.name)
    }

    /// The sources' tools, one for each topic.
    pub(super) fn tools(&self) -> Vec<&Tool> {
        self.all.iter().map(|named| named.tool).collect()
    }

    /// The heading and the stubs after `start`, within a number of bytes.
    pub(super) fn stubs(&self, start: &str, bytes: usize) -> String {
        self.stubs_of(&self.all.iter().collect::<Vec<_>>(), start, bytes)
    }

    fn stubs_of(&self, topics: &[&NamedTopic<'_>], start: &str, bytes: usize) -> String {
        let (heading, own) = (self.tool.stubs_heading, self.tool.name);
        let lines = |length: usize| topics.iter().map(|named| stub(named, length)).collect();
        bounded(
            LENGTHS.into_iter().map(lines),
            bytes,
            |lines| format!("{start}{heading}{lines}"),
            |count| match self.tool.usage {
                TopicUse::Read => {
                    format!("\n+{count} more: call {own} without a name to list all.")
                }
                TopicUse::Call | TopicUse::Search { .. } => {
                    format!("\n+{count} more, which '{}' names.", self.tool.parameter)
                }
            },
        )
    }

    /// The instructions with the topics' stubs.
    pub(super) fn by_stubs(&self, usage: &str, bytes: usize) -> TopicInstructions {
        if self.is_empty() {
            return TopicInstructions { text: usage.to_owned(), is_all: true };
        }
        TopicInstructions { text: self.stubs(&opened(usage), bytes), is_all: false }
    }

    /// The instructions with the topics' whole texts, as many as fit from the shortest on, and the
    /// stubs of the others.
    pub(super) fn inline(&self, usage: &str, bytes: usize) -> TopicInstructions {
        let mut whole: Vec<_> =
            self.all.iter().filter(|named| named.topic.text.is_some()).collect();
        whole.sort_by_key(|named| text_of(named).len());
        let mut length = usage.len();
        let fit = whole.iter().take_while(|named| {
            length += text_of(named).len();
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

    /// The instructions with these topics whole, in the order of their names.
    fn with_whole(
        &self,
        whole: &[&NamedTopic<'a>],
        usage: &str,
        bytes: usize,
    ) -> TopicInstructions {
        let is_whole = |named: &NamedTopic<'_>| whole.iter().any(|other| other.name == named.name);
        let (shown, rest): (Vec<_>, Vec<_>) = self.all.iter().partition(|named| is_whole(named));
        let texts = shown.iter().map(|named| format!("\n\n### {}\n{}", named.name, text_of(named)));
        let start =
            format!("{}{}{}", opened(usage), self.tool.texts_heading, texts.collect::<String>());
        let is_told_whole =
            |named: &&NamedTopic<'_>| named.topic.text.as_ref().is_some_and(|text| text.is_all);
        let is_all = rest.is_empty() && shown.iter().all(is_told_whole);
        let text = if rest.is_empty() {
            start
        } else {
            self.stubs_of(&rest, &format!("{start}\n\n"), bytes)
        };
        TopicInstructions { text, is_all }
    }

    fn find(&self, name: &str) -> Option<&NamedTopic<'a>> {
        let by_name = |named: &&NamedTopic<'_>| named.name == name || long_name(named) == name;
        self.all.iter().find(by_name).or_else(|| {
            let mut like = self.all.iter().filter(|named| is_same_name(&named.name, name));
            like.next().filter(|_| like.next().is_none())
        })
    }

    /// What a call of the tool means: a call of the source's own, or a list.
    pub(super) fn step_of(
        &self,
        view: &View,
        budget: usize,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        let arguments = Arguments::parse(self.tool.name, arguments)?;
        let TopicTool { usage, parameter, parameters, .. } = *self.tool;
        let others = parameters.iter().map(|(name, _)| *name);
        let own_parameters: &[&str] = match usage {
            TopicUse::Read => &[parameter, "cursor"],
            TopicUse::Call | TopicUse::Search { .. } => &[parameter],
        };
        arguments
            .only(&own_parameters.iter().copied().chain(others.clone()).collect::<Vec<_>>())?;
        if let TopicUse::Search { all } = usage {
            return self.search(view, all, &arguments);
        }
        let given = others.map(|other| Ok((other, arguments.text(other)?)));
        let given = given.collect::<Result<Vec<_>, UsageError>>()?;
        let Some(name) = arguments.text(parameter)? else {
            return self.without_a_name(budget, &arguments, &given);
        };
        let named = self.resolve(&name)?;
        if let Some((what, _)) = given.iter().find(|(_, given)| given.is_none())
            && usage == TopicUse::Call
        {
            let noun = self.tool.noun;
            return Err(self.missing(what, &format!("Say it to the {noun} {}.", quoted(&name))));
        }
        let topic = json_text(&named.topic.name);
        let given =
            given.iter().filter_map(|(name, given)| Some((*name, json_text(given.as_ref()?))));
        let given: Vec<_> = [(parameter, topic)].into_iter().chain(given).collect();
        let arguments = object(given.iter().map(|(name, json)| (*name, json.as_str())));
        Ok(Step::Call(request(view, named.tool, arguments)))
    }

    /// A call of what reads or calls that names nothing.
    fn without_a_name(
        &self,
        budget: usize,
        arguments: &Arguments<'_>,
        given: &[(&str, Option<String>)],
    ) -> Result<Step, UsageError> {
        let TopicTool { noun, usage, parameter, .. } = *self.tool;
        if usage == TopicUse::Call {
            return Err(self.missing(parameter, &self.available()));
        }
        if let Some((what, Some(given))) = given.iter().find(|(_, given)| given.is_some()) {
            let advice = format!("Name the {noun} that has the {what} {}.", quoted(given));
            return Err(self.missing(parameter, &advice));
        }
        let cursor = arguments.text("cursor")?;
        let list = self.list(budget, cursor.as_deref());
        list.map(|text| Step::Reply(Reply::text(&text)))
    }

    /// A search in one of the sources, or in all of them.
    fn search(
        &self,
        view: &View,
        all: &str,
        arguments: &Arguments<'_>,
    ) -> Result<Step, UsageError> {
        let TopicTool { name: own, parameter, parameters, .. } = *self.tool;
        if let Some((needed, _)) = parameters.first()
            && arguments.get(needed).is_none()
        {
            return Err(self.missing(needed, "Say what to look for."));
        }
        let named = match arguments.text(parameter)? {
            Some(name) => Some(self.resolve(&name)?.tool),
            None => match self.all.as_slice() {
                [only] => Some(only.tool),
                _ => None,
            },
        };
        // A source that merely has the name is one of those to search.
        let is_there = self.all.iter().all(|named| named.tool.domain().as_str() != all);
        let of_all = || view.tool_named(&Domain::from_key(all), own).filter(|_| is_there);
        let tool =
            named.or_else(of_all).ok_or_else(|| self.missing(parameter, &self.available()))?;
        Ok(Step::Call(request(view, tool, object(arguments.others(&[parameter])))))
    }

    fn resolve(&self, name: &str) -> Result<&NamedTopic<'a>, UsageError> {
        self.find(name.trim()).ok_or_else(|| self.unknown(name.trim()))
    }

    fn missing(&self, what: &str, advice: &str) -> UsageError {
        UsageError::new(format!("Missing parameter '{what}' of {}. {advice}", self.tool.name))
    }

    /// `{"skills": [{"name", "description"}], "remaining", "next_cursor"}`
    fn list(&self, budget: usize, cursor: Option<&str>) -> Result<String, UsageError> {
        let names: Vec<_> = self.names().collect();
        let described = |at: usize| {
            let one = &self.all[at];
            let about = json_text(&short_description(&one.topic.description, STUB_LENGTH));
            object_text([("name", json_text(&one.name).as_str()), ("description", &about)])
        };
        page(&[], &format!("{}s", self.tool.noun), &names, budget, cursor, described)
    }

    fn unknown(&self, name: &str) -> UsageError {
        let near = did_you_mean(nearest_texts(name, self.names()));
        let noun = self.tool.noun;
        let advice = match self.tool.usage {
            TopicUse::Read => format!("Call {} without a name to list all.", self.tool.name),
            TopicUse::Call | TopicUse::Search { .. } => self.available(),
        };
        UsageError::new(format!("Unknown {noun} {}.{near} {advice}", quoted(name)))
    }

    fn available(&self) -> String {
        let names = listed(self.names(), NAMED_BYTES, str::len);
        format!("Available {}s: {names}", self.tool.noun)
    }
}

/// What stands before the topics.
fn opened(usage: &str) -> String {
    if usage.is_empty() { String::new() } else { format!("{usage}\n\n") }
}

fn text_of<'a>(named: &NamedTopic<'a>) -> &'a str {
    named.topic.text.as_ref().map(|text| text.text.as_str()).unwrap_or_default()
}

fn topics_in<'a>(
    view: &'a View,
    entry: &'a DomainEntry,
    own: &'static TopicTool,
) -> impl Iterator<Item = NamedTopic<'a>> {
    let tool = view.tool_named(entry.domain(), own.name);
    // Where the source itself is what is searched, what its configuration says of it is said of the topic.
    let said = matches!(own.usage, TopicUse::Search { .. }) && entry.is_described();
    tool.into_iter().flat_map(move |tool| {
        let topics = view.topics_in(entry).filter(move |topic| topic.tool == own.name);
        topics.map(move |topic| NamedTopic {
            name: topic.name.as_str().into(),
            description: if said { entry.description() } else { &topic.description },
            topic,
            tool,
        })
    })
}

/// `{domain}/{name}`, which means one only.
fn long_name(named: &NamedTopic<'_>) -> String {
    format!("{}/{}", named.tool.domain(), named.topic.name)
}

fn stub(named: &NamedTopic<'_>, length: usize) -> String {
    format!("\n{}", topic_stub(&named.name, named.description, length))
}
