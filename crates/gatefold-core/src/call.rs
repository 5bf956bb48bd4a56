use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::{ClientCredential, Principal, PromptName, Timestamp, ToolName, Uri, UserId};

/// The identity of one call, unique among all replicas: 48 bits of time and 80 random bits, so that
/// ids sort by time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(u128);

impl CallId {
    /// Joins a time with 80 bits of the caller's randomness.
    pub fn new(now: Timestamp, random: u128) -> Self {
        const RANDOM_BITS: u32 = 80;
        Self(u128::from(now.as_millis()) << RANDOM_BITS | random & ((1 << RANDOM_BITS) - 1))
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallId({self})")
    }
}

/// One request for one operation, before anything is decided about it.
#[derive(Debug)]
pub struct Call {
    pub id: CallId,
    /// The call during which this one was made.
    pub parent: Option<CallId>,
    pub principal: Arc<Principal>,
    pub operation: Arc<Operation>,
    pub resume: Option<Resume>,
}

/// What is requested. Names and addresses are the gateway's, not a source's own.
#[derive(Debug, Clone)]
pub enum Operation {
    Tool {
        name: ToolName,
        arguments: Box<RawValue>,
    },
    Prompt {
        name: PromptName,
        arguments: Box<RawValue>,
    },
    Resource(Uri),
    /// Asks to be notified when a resource changes, until an equal number of
    /// [`Operation::Unsubscribe`] have followed.
    Subscribe(Uri),
    Unsubscribe(Uri),
    Complete(Completion),
    Extension(ExtensionRequest),
    Task(TaskRequest),
}

impl Operation {
    /// The requested name or address, as the caller wrote it.
    pub fn subject(&self) -> &str {
        match self {
            Self::Tool { name, .. } => name.as_str(),
            Self::Prompt { name, .. } => name.as_str(),
            Self::Resource(uri) | Self::Subscribe(uri) | Self::Unsubscribe(uri) => uri.as_str(),
            Self::Complete(completion) => match &completion.reference {
                Reference::Prompt(name) => name.as_str(),
                Reference::Resource(uri) => uri.as_str(),
            },
            Self::Extension(request) => request.uri.as_str(),
            Self::Task(request) => &request.task,
        }
    }

    /// The arguments' text, or `null` for an operation without arguments.
    pub fn arguments(&self) -> &str {
        match self {
            Self::Tool { arguments, .. } | Self::Prompt { arguments, .. } => arguments.get(),
            Self::Complete(completion) => completion.params.get(),
            Self::Task(TaskRequest { act: TaskAct::Update(answers), .. }) => answers.get(),
            Self::Resource(_)
            | Self::Subscribe(_)
            | Self::Unsubscribe(_)
            | Self::Extension(_)
            | Self::Task(_) => "null",
        }
    }

    /// The name of the kind of operation in records.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Tool { .. } => "tool",
            Self::Prompt { .. } => "prompt",
            Self::Resource(_) => "resource",
            Self::Subscribe(_) => "subscribe",
            Self::Unsubscribe(_) => "unsubscribe",
            Self::Complete(_) => "completion",
            Self::Extension(request) => request.method.word,
            Self::Task(request) => match request.act {
                TaskAct::Get => "task_get",
                TaskAct::Update(_) => "task_update",
                TaskAct::Cancel => "task_cancel",
            },
        }
    }
}

/// A request to complete one argument of a prompt or of a resource template.
#[derive(Debug, Clone)]
pub struct Completion {
    pub reference: Reference,
    /// The protocol's `argument` and `context`, as one object.
    pub params: Box<RawValue>,
}

/// What a completion is for.
#[derive(Debug, Clone)]
pub enum Reference {
    Prompt(PromptName),
    /// A resource's address, or a template of addresses.
    Resource(Uri),
}

/// A request of an extension of the protocol, about a resource.
#[derive(Debug, Clone)]
pub struct ExtensionRequest {
    pub method: ExtensionMethod,
    /// The resource; for a list, the source's own place for what it lists.
    pub uri: Uri,
    /// Which page of a list, by the source's own cursor.
    pub cursor: Option<String>,
}

/// A method of an extension, as far as a call of it differs from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensionMethod {
    /// The protocol's name of it.
    pub name: &'static str,
    /// The name of the kind of operation in records.
    pub word: &'static str,
    /// Whether a source is told the resource.
    pub names_resource: bool,
    /// The members of its answer that list resources, of which each principal sees their own.
    pub lists: &'static [&'static str],
}

/// Skills are folders of resources that a source describes (SEP-2640).
impl ExtensionMethod {
    pub const SKILLS: Self = Self {
        name: "skills/list",
        word: "skill_list",
        names_resource: false,
        lists: Self::SKILL_LISTS,
    };
    pub const SKILL: Self =
        Self { name: "skills/get", word: "skill", names_resource: true, lists: &[] };
    pub const DIRECTORY: Self = Self {
        name: "resources/directory/read",
        word: "directory",
        names_resource: true,
        lists: Self::SKILL_LISTS,
    };

    const SKILL_LISTS: &'static [&'static str] = &["skills", "resources"];
}

/// A request about a task that an earlier call became.
#[derive(Debug, Clone)]
pub struct TaskRequest {
    /// The task's id, as the gateway gave it out.
    pub task: String,
    pub act: TaskAct,
}

/// What to do about a task.
#[derive(Debug, Clone)]
pub enum TaskAct {
    Get,
    /// Answers to the task's questions, by their keys.
    Update(Box<RawValue>),
    Cancel,
}

/// How to resume a suspended call: its sealed state, and the answers.
#[derive(Debug)]
pub struct Resume {
    /// The opaque text from the suspension. None for answers to questions that the gateway did not
    /// ask, which the source has to judge.
    pub state: Option<String>,
    /// The answers by the questions' keys, or `null` when there were none.
    pub answers: Box<RawValue>,
}

/// How a call ended, or paused, without an error of the gateway's.
#[derive(Debug)]
pub enum Outcome {
    Done(Payload),
    Suspended(Suspension),
    Task(TaskHandle),
}

/// A result as the source gave it.
#[derive(Debug, Clone)]
pub struct Payload {
    /// The protocol's result object, unchanged.
    pub json: Box<RawValue>,
    /// Whether the source itself calls this result an error.
    pub is_error: bool,
}

impl Payload {
    /// The result of a tool that answers with one text.
    pub fn text(text: &str) -> Self {
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        let json = to_raw_value(&result).expect("a JSON value is valid JSON");
        Self { json, is_error: false }
    }

    /// Whether it has more bytes than a limit. A text that says the same as its structured content, as the protocol
    /// asks for, counts once.
    pub fn exceeds(&self, limit: usize) -> bool {
        let whole = self.json.get().len();
        whole > limit && whole - repeated_bytes(&self.json).unwrap_or(0) > limit
    }
}

/// How many bytes of a result are a text that says the same as its structured content.
fn repeated_bytes(result: &RawValue) -> Option<usize> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Parts<'a> {
        #[serde(borrow)]
        content: Vec<&'a RawValue>,
        #[serde(borrow)]
        structured_content: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow)]
        text: &'a RawValue,
    }
    /// Structured content is an object, so anything else is wrapped.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wrapper<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
    }

    let parts: Parts<'_> = serde_json::from_str(result.get()).ok()?;
    let Block { text } = serde_json::from_str(parts.content.first()?.get()).ok()?;
    let plain: String = serde_json::from_str(text.get()).ok()?;
    let structured = parts.structured_content.get();
    let is_wrapped = || {
        let wrapper = serde_json::from_str::<Wrapper<'_>>(structured);
        wrapper.is_ok_and(|Wrapper { result }| {
            result.get() == text.get() || is_same_json(&plain, result.get())
        })
    };
    (is_same_json(&plain, structured) || is_wrapped()).then(|| text.get().len())
}

/// Whether two texts are the same JSON but for spaces.
fn is_same_json(one: &str, other: &str) -> bool {
    significant_bytes(one).eq(significant_bytes(other))
}

fn significant_bytes(json: &str) -> impl Iterator<Item = u8> {
    let (mut is_in_text, mut is_escaped) = (false, false);
    json.bytes().filter(move |byte| {
        let is_significant = is_in_text || !byte.is_ascii_whitespace();
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_in_text,
            b'"' => is_in_text = !is_in_text,
            _ => {}
        }
        is_significant
    })
}

/// A call that waits for its client's answers.
#[derive(Debug)]
pub struct Suspension {
    /// The questions: requests of the protocol by their keys.
    pub questions: Box<RawValue>,
    /// From a source, its own state, if it needs any; from the dispatcher, that state sealed.
    pub state: Option<String>,
}

/// A call that continues as a task of its source, or the outcome of such a task.
#[derive(Debug)]
pub struct TaskHandle {
    /// From a source, its own id; from the dispatcher, that id sealed.
    pub id: String,
    /// The protocol's description of the task, unchanged except for the id in it.
    pub json: Box<RawValue>,
}

/// Whose session at the source a call uses. Sessions are never shared between two identities.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum UpstreamIdentity {
    /// The source holds one credential for everybody.
    Shared,
    User(UserId),
    /// A user's client sent this credential itself.
    Client(Arc<ClientCredential>),
}

impl UpstreamIdentity {
    /// The only user of the sessions.
    pub fn user(&self) -> Option<&UserId> {
        match self {
            Self::Shared => None,
            Self::User(user) => Some(user),
            Self::Client(credential) => Some(&credential.user),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_and_the_structured_content_that_it_repeats_count_once() {
        let check = |result: serde_json::Value, counts_once: bool| {
            let json = to_raw_value(&result).unwrap();
            let payload = Payload { json, is_error: false };
            let whole = payload.json.get().len();
            assert!(!payload.exceeds(whole), "{result}");
            assert_eq!(!payload.exceeds(whole - 8), counts_once, "{result}");
        };
        let result = |text: &str, structured: serde_json::Value| json!({ "content": [{ "type": "text", "text": text }], "structuredContent": structured });
        check(result("{ \"a b\": \"\\\" c\" }\n", json!({ "a b": "\" c" })), true);
        check(result("[1, 2, 3]", json!({ "result": [1, 2, 3] })), true);
        check(result("a longer text", json!({ "result": "a longer text" })), true);
        check(result("{\"a\": \"x y\"}", json!({ "a": "xy" })), false);
        check(result("another text", json!({ "result": "a longer text" })), false);
        check(json!({ "content": [{ "type": "text", "text": "a longer text" }] }), false);
        check(json!(["a longer text"]), false);
    }
}
