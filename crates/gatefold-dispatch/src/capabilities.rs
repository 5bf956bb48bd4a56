//! What a client can be asked: the questions, and what it declared that it can answer.

use gatefold_catalog::object_fields;
use gatefold_core::ClientAbilities;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The member of a question's `_meta` with the arguments, as they are, for a client that
/// [shows them whole](crate::Peer::shows_whole_arguments) to its person. Only policy's own questions have it.
pub const WHOLE_ARGUMENTS: &str = "gatefold/arguments";

/// A request from a source to the client: elicitation, sampling or roots.
#[derive(Debug)]
pub struct Question {
    /// The protocol's method, such as `elicitation/create`.
    pub method: String,
    pub params: Box<RawValue>,
}

impl Question {
    /// A question that somebody else wrote: it must not pass for one of policy's.
    pub fn of_source(method: String, params: Box<RawValue>) -> Self {
        let mut read: Value = serde_json::from_str(params.get()).unwrap_or_default();
        let params = if take_claim(&mut read) { raw_of(&read) } else { params };
        Self { method, params }
    }
}

/// The questions of a source that waits for their answers: none must pass for one of policy's.
pub(crate) fn questions_of_source(questions: Box<RawValue>) -> Box<RawValue> {
    let mut read: Value = serde_json::from_str(questions.get()).unwrap_or_default();
    let mut has_claim = false;
    for question in read.as_object_mut().into_iter().flat_map(Map::values_mut) {
        has_claim |= question.get_mut("params").is_some_and(take_claim);
    }
    if has_claim { raw_of(&read) } else { questions }
}

fn take_claim(params: &mut Value) -> bool {
    let meta = params.get_mut("_meta").and_then(Value::as_object_mut);
    meta.is_some_and(|meta| meta.shift_remove(WHOLE_ARGUMENTS).is_some())
}

fn raw_of(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a JSON value is JSON")
}

/// A client's declared capabilities: the whole protocol object, parsed as far as it decides which
/// questions the client can be asked.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub struct ClientCapabilities {
    raw: Box<RawValue>,
    form: bool,
    url: bool,
    sampling: bool,
    sampling_tools: bool,
    roots: bool,
    tasks: bool,
}

/// The extension with which clients follow calls that go on as tasks (SEP-2663).
const TASKS: &str = "io.modelcontextprotocol/tasks";

#[derive(Deserialize, Default)]
struct DeclaredCapabilities<'a> {
    #[serde(borrow, default)]
    elicitation: Option<Elicitation<'a>>,
    #[serde(borrow, default)]
    sampling: Option<Sampling<'a>>,
    #[serde(borrow, default)]
    roots: Option<&'a RawValue>,
    #[serde(borrow, default)]
    extensions: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Elicitation<'a> {
    #[serde(borrow, default)]
    form: Option<&'a RawValue>,
    #[serde(borrow, default)]
    url: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Sampling<'a> {
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
}

impl ClientCapabilities {
    /// Whether the client opens a page for its user.
    pub fn opens_pages(&self) -> bool {
        self.url
    }

    /// Reads what a client declared. Unreadable members count as not declared.
    pub fn read(raw: &RawValue) -> Self {
        let declared: DeclaredCapabilities<'_> =
            serde_json::from_str(raw.get()).unwrap_or_default();
        let elicitation = declared.elicitation.as_ref();
        let url = elicitation.is_some_and(|modes| modes.url.is_some());
        Self {
            raw: raw.to_owned(),
            // Before modes existed, the bare capability meant forms.
            form: elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()),
            url,
            sampling: declared.sampling.is_some(),
            sampling_tools: declared.sampling.is_some_and(|sampling| sampling.tools.is_some()),
            roots: declared.roots.is_some(),
            tasks: declared.extensions.is_some_and(has_tasks),
        }
    }

    /// The whole object, as the client wrote it.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// Whether the client can be asked anything at all.
    pub fn answers_anything(&self) -> bool {
        self.form || self.url || self.sampling || self.roots
    }

    /// Whether the client follows a call that goes on as a task.
    pub fn follows_tasks(&self) -> bool {
        self.tasks
    }

    /// What the client can be asked, as far as servers may list their tools by it.
    pub fn abilities(&self) -> ClientAbilities {
        let declared = [
            (self.form || self.url, ClientAbilities::ELICITATION),
            (self.sampling, ClientAbilities::SAMPLING),
            (self.roots, ClientAbilities::ROOTS),
        ];
        let declared = declared.into_iter().filter(|(is_declared, _)| *is_declared);
        declared.fold(ClientAbilities::NONE, |all, (_, own)| all.and(own))
    }

    /// The capability that the client lacks to answer this question.
    pub fn lacks(&self, question: &Question) -> Option<&'static str> {
        let (offered, needed) = match question.method.as_str() {
            "elicitation/create" if has(&question.params, "mode", "url") => {
                (self.url, "elicitation by URL")
            }
            "elicitation/create" => (self.form, "elicitation"),
            "sampling/createMessage" if has_tools(&question.params) => {
                (self.sampling_tools, "sampling with tools")
            }
            "sampling/createMessage" => (self.sampling, "sampling"),
            "roots/list" => (self.roots, "roots"),
            _ => (false, "such questions"),
        };
        (!offered).then_some(needed)
    }
}

impl Default for ClientCapabilities {
    /// A client that cannot be asked anything.
    fn default() -> Self {
        let raw = RawValue::from_string("{}".to_owned());
        Self {
            raw: raw.expect("an empty object is JSON"),
            form: false,
            url: false,
            sampling: false,
            sampling_tools: false,
            roots: false,
            tasks: false,
        }
    }
}

fn has(params: &RawValue, key: &str, text: &str) -> bool {
    let params = serde_json::from_str::<serde_json::Value>(params.get());
    params.is_ok_and(|params| params.get(key).and_then(|value| value.as_str()) == Some(text))
}

fn has_tasks(extensions: &RawValue) -> bool {
    let fields = object_fields(extensions.get()).unwrap_or_default();
    fields.iter().any(|(key, _)| key == TASKS)
}

fn has_tools(params: &RawValue) -> bool {
    let params = serde_json::from_str::<serde_json::Value>(params.get());
    params.is_ok_and(|params| params.get("tools").is_some_and(|tools| !tools.is_null()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn no_source_asks_in_the_name_of_policy() {
        let whole = r#"{"_meta":{"gatefold\/arguments":"{}","own":1},"message":"?"}"#;
        let question = Question::of_source("elicitation/create".to_owned(), raw(whole));
        assert_eq!(question.params.get(), r#"{"_meta":{"own":1},"message":"?"}"#);
        let waiting =
            r#"{"approval":{"method":"m","params":{"_meta":{"gatefold/arguments":"{}"}}}}"#;
        let questions = questions_of_source(raw(waiting));
        assert_eq!(questions.get(), r#"{"approval":{"method":"m","params":{"_meta":{}}}}"#);
        let plain = r#"{ "_meta": {"own": 1}, "message": "gatefold/arguments" }"#;
        let question = Question::of_source("elicitation/create".to_owned(), raw(plain));
        assert_eq!(question.params.get(), plain);
    }

    #[track_caller]
    fn check(declared: &str, method: &str, params: &str, lacks: Option<&str>) {
        let question = Question { method: method.to_owned(), params: raw(params) };
        let capabilities = ClientCapabilities::read(&raw(declared));
        assert_eq!(capabilities.lacks(&question), lacks, "{declared} {method} {params}");
    }

    #[test]
    fn a_client_follows_tasks_if_it_declared_the_extension() {
        for (declared, expected) in [
            (r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#, true),
            (r#"{"extensions":{"io.modelcontextprotocol/ui":{}}}"#, false),
            (r#"{"extensions":7,"roots":{}}"#, false),
            ("{}", false),
        ] {
            let capabilities = ClientCapabilities::read(&raw(declared));
            assert_eq!(capabilities.follows_tasks(), expected, "{declared}");
        }
        check(r#"{"extensions":7,"roots":{}}"#, "roots/list", "{}", None);
    }

    #[test]
    fn a_client_is_asked_only_what_it_declared() {
        let form = "elicitation/create";
        check(r#"{"elicitation":{}}"#, form, "{}", None);
        check(r#"{"elicitation":{"form":{}}}"#, form, r#"{"mode":"form"}"#, None);
        check(r#"{"elicitation":{"url":{}}}"#, form, "{}", Some("elicitation"));
        check(r#"{"elicitation":{}}"#, form, r#"{"mode":"url"}"#, Some("elicitation by URL"));
        check(r#"{"elicitation":{"url":{}}}"#, form, r#"{"mode":"url"}"#, None);
        check("{}", form, "{}", Some("elicitation"));
        let sample = "sampling/createMessage";
        check(r#"{"sampling":{}}"#, sample, "{}", None);
        check(r#"{"sampling":{}}"#, sample, r#"{"tools":[]}"#, Some("sampling with tools"));
        check(r#"{"sampling":{"tools":{}}}"#, sample, r#"{"tools":[]}"#, None);
        check(r#"{"roots":{"listChanged":true}}"#, "roots/list", "{}", None);
        check(r#"{"sampling":7}"#, "roots/list", "{}", Some("roots"));
        check(r#"{"roots":{}}"#, "secrets/list", "{}", Some("such questions"));
    }
}
