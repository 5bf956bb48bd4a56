use std::fmt;

use gatefold_catalog::{Request, Tool, View, token_bound};
use gatefold_core::{CallError, Outcome, ToolId, ToolName};
use serde_json::value::RawValue;

/// The most tools at the top level, which every known client can handle.
pub const TOOLS_LIMIT: usize = 128;

/// The longest description, in bytes. Every known client takes that much.
pub(crate) const DESCRIPTION_BYTES: usize = 2048;

/// A way to show a view to a model.
pub trait Disclosure: Send + Sync {
    /// What the model is given at first, within its client's limits. The same view and limits give
    /// the same bytes.
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface;

    /// What a call of one of the surface's tools means. Absent arguments are `null`.
    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError>;

    /// Whether [`Disclosure::interpret`] may search the catalogue for a call of this tool. Such a
    /// call is interpreted where a search does not hold up anybody.
    fn searches(&self, view: &View, name: &ToolName) -> bool {
        let _ = (view, name);
        true
    }

    /// Words the result of an operation that [`Disclosure::interpret`] asked for. `name` is the
    /// surface's tool that was called: it distinguishes a pinned tool, whose result passes
    /// unchanged, from the same tool called through another one. `request` is the one that was
    /// made, with its resolved entry in this view.
    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply;

    /// The names of the tools at the top level through which a tool is called, and looked up: its
    /// alias where it stands there itself.
    fn reached_through(&self, view: &View, tool: &Tool) -> Vec<String> {
        let _ = view;
        vec![tool.alias().to_owned()]
    }

    /// Its own tools without which a loop is not to be, whatever it is asked. Any other of its own is shown where it is
    /// the best for a request, by the tools that it leads to.
    fn own_tools(&self, view: &View) -> Vec<&'static str> {
        let _ = view;
        Vec::new()
    }

    /// How a client calls a tool, through whichever tool at the top level leads to it.
    fn call_of(&self, view: &View, tool: &Tool, arguments: &RawValue) -> TopLevelCall {
        let _ = view;
        TopLevelCall { name: tool.alias().to_owned(), arguments: arguments.to_owned() }
    }

    /// Whether it shows the tools that a principal used most, so that its view has to know them.
    fn shows_used(&self) -> bool {
        false
    }

    /// Whether results and protocol errors reach the client as their source gave them. Then
    /// [`Disclosure::render`] words only the gateway's own messages.
    fn is_transparent(&self) -> bool {
        false
    }
}

/// How much of a surface a client can handle.
///
/// The default is what every known client can handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientLimits {
    /// The longest instructions, in bytes. Some clients cut them there.
    pub instructions_bytes: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self { instructions_bytes: 2048 }
    }
}

/// One tool at the top level.
#[derive(Debug, Clone)]
pub struct ToolSurface {
    pub name: String,
    /// The complete MCP `Tool` object.
    pub definition: Box<RawValue>,
}

/// A call of a tool at the top level.
#[derive(Debug, Clone)]
pub struct TopLevelCall {
    pub name: String,
    pub arguments: Box<RawValue>,
}

/// What a model is given at first.
#[derive(Debug, Clone)]
pub struct Surface {
    pub tools: Vec<ToolSurface>,
    pub instructions: String,
}

impl Surface {
    /// An upper bound on the o200k tokens of the definitions and the instructions. Counting takes
    /// far longer than making the surface.
    pub fn token_bound(&self) -> usize {
        let definitions = self.tools.iter().map(|tool| token_bound(tool.definition.get()));
        definitions.sum::<usize>() + token_bound(&self.instructions)
    }
}

/// What a call of a surface's tool leads to.
#[derive(Debug)]
pub enum Step {
    /// An answer.
    Reply(Reply),
    /// An answer from a search, and what it found.
    Found(Reply, SearchAnswer),
    /// An answer with the whole definitions of tools, and their names. A session may register them.
    Loaded(Reply, Vec<String>),
    /// An operation, whose result is to be rendered. The entry that the disclosure resolved travels
    /// with it.
    Call(Request),
}

/// A search's request, and the tools in its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchAnswer {
    /// As the model wrote it.
    pub query: String,
    /// The shown tools that fit, best first. Stand-ins are left out.
    pub tools: Vec<ToolId>,
    /// Those of them that were shown with their whole schemas, by their names at the top level. A
    /// session may register them.
    pub whole: Vec<String>,
}

/// An answer in the protocol's parts.
#[derive(Debug, Clone)]
pub struct Reply {
    /// MCP content blocks.
    pub content: Vec<Box<RawValue>>,
    /// `structuredContent`.
    pub structured: Option<Box<RawValue>>,
    /// `_meta`, for the client and never for the model.
    pub meta: Option<Box<RawValue>>,
    pub is_error: bool,
    /// The tools whose schemas it has, by their ids or their names at the top level, for the record.
    pub shown: Vec<String>,
}

/// What is wrong with a call of a surface's tool, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError(String);

impl UsageError {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

impl From<UsageError> for Reply {
    /// `{"error": "..."}`, marked as an error.
    fn from(UsageError(error): UsageError) -> Self {
        #[derive(serde::Serialize)]
        struct Body {
            error: String,
        }
        Self { is_error: true, ..Self::json(&Body { error }) }
    }
}

impl Reply {
    /// One text block.
    pub fn text(text: &str) -> Self {
        Self {
            content: vec![text_block(text)],
            structured: None,
            meta: None,
            is_error: false,
            shown: Vec::new(),
        }
    }

    /// The same, which has the schemas of these tools.
    pub(crate) fn showing<'a>(self, tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        let ids = tools.into_iter().map(|tool| tool.id().as_str().to_owned());
        Self { shown: ids.collect(), ..self }
    }

    /// One text block of compact JSON.
    pub(crate) fn json(body: &impl serde::Serialize) -> Self {
        Self::text(raw(body).get())
    }
}

/// A text as an MCP content block.
pub(crate) fn text_block(text: &str) -> Box<RawValue> {
    #[derive(serde::Serialize)]
    struct Block<'a> {
        r#type: &'static str,
        text: &'a str,
    }
    raw(&Block { r#type: "text", text })
}

/// Writes a value of our own, whose keys are all strings.
pub(crate) fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("our own values have only text keys")
}
