//! The tools of a surface that one request needs: the likeliest are shown, the others by their names
//! in a tool that loads them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gatefold_catalog::{
    LINE_LIMIT, Request, Scope, SearchMode, Tool, View, nearest_texts, search, short_description,
    token_bound,
};
use gatefold_core::{CallError, Operation, Outcome, ToolName};
use serde_json::value::RawValue;

use crate::arguments::{Arguments, json_text, object, object_text};
use crate::bounded::bounded;
use crate::executing::ExecuteTools;
use crate::hints;
use crate::pinned::Pins;
use crate::surface::{
    ClientLimits, DESCRIPTION_BYTES, Disclosure, Reply, Step, Surface, TOOLS_LIMIT, ToolSurface,
    TopLevelCall, UsageError,
};
use crate::wording::{did_you_mean, quoted};

const REQUEST: &str = "request_tools";
const EXECUTE: &str = ExecuteTools::One.for_tool(false);

/// How many tools of the catalogue are asked for at most, to find the best at the top level.
const RANKED: usize = 200;
/// How many tools one call may ask for.
const MOST_NAMES: usize = 20;
/// The lengths of descriptions in the list of what is not loaded, in characters, from the best to
/// the shortest.
const LENGTHS: [usize; 5] = [LINE_LIMIT, 50, 30, 15, 0];

/// How many tokens of schemas one answer has. What does not fit is not loaded, except that one tool is.
const LOADED_TOKENS: usize = 8_000;
/// The most names that a schema lists as the only ones, and the most characters of so many that some
/// provider takes more than [`FEW_NAMES`] of.
const ENUM_NAMES: usize = 1_000;
const FEW_NAMES: usize = 250;
const ENUM_CHARS: usize = 15_000;
/// The most chosen tools at the top level: there is room for `request_tools` and `execute_tool` beside them.
pub const CHOSEN_TOOLS: usize = TOOLS_LIMIT - 2;

const DESCRIPTION: &str =
    "Load additional tools into the current session.\nAvailable tools not yet loaded:";

/// When tools are chosen for a request, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectionLimits {
    /// The most tools that are all shown.
    pub threshold: usize,
    /// How many are shown of more than that, beside pinned ones.
    pub most: usize,
}

impl Default for SelectionLimits {
    fn default() -> Self {
        Self { threshold: 12, most: 6 }
    }
}

/// Another disclosure, of whose tools only those are shown that a request needs.
///
/// It is pure as any disclosure. Whoever keeps the tools between a model's turns goes on with
/// [`SelectedDisclosure::with_loaded`]; a loop of our own has one that is [for it](SelectedDisclosure::for_loop).
#[derive(Clone)]
pub struct SelectedDisclosure {
    inner: Arc<dyn Disclosure>,
    /// What the model is asked to do, in its user's words.
    request: Arc<str>,
    limits: SelectionLimits,
    /// Tools that are always shown.
    pinned: Pins,
    loaded: BTreeSet<String>,
    loading: Loading,
}

/// What becomes of the tools that a model loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loading {
    /// The answer has their schemas, and the list stays as it is.
    IntoAnswers,
    /// They stand at the top level from the next turn on.
    IntoList,
}

/// A surface in two parts.
struct Selection {
    /// In the order of the whole surface.
    shown: Vec<ToolSurface>,
    rest: Vec<ToolSurface>,
    instructions: String,
}

impl SelectedDisclosure {
    /// The tool that loads others.
    pub const LOADER: &str = REQUEST;

    pub fn new(
        inner: Arc<dyn Disclosure>,
        request: impl Into<Arc<str>>,
        limits: SelectionLimits,
        pinned: Pins,
    ) -> Self {
        let (request, loaded, loading) = (request.into(), BTreeSet::new(), Loading::IntoAnswers);
        Self { inner, request, limits, pinned, loaded, loading }
    }

    /// The same for a loop of our own, which builds the prompt anew for each answer. The disclosure's own tools are
    /// always shown. What the view has registered is shown and may be among the chosen: so the next request of a
    /// conversation adds tools, and none goes.
    #[must_use]
    pub fn for_loop(self) -> Self {
        Self { loading: Loading::IntoList, ..self }
    }

    /// The same with further tools, as a call of `request_tools` asks for them. Its surface is the
    /// new set of tools.
    #[must_use]
    pub fn with_loaded(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.loaded.extend(names);
        self
    }

    fn select(&self, view: &View, limits: ClientLimits) -> Selection {
        let Surface { tools, instructions } = self.inner.surface(view, &limits);
        if tools.len() <= self.limits.threshold {
            return Selection { shown: tools, rest: Vec::new(), instructions };
        }
        let kept = self.kept(view, &tools);
        let (shown, rest) = tools.into_iter().partition(|tool| kept.contains(&tool.name));
        Selection { shown, rest, instructions }
    }

    /// The names of the tools to show: the pinned, the loaded, and the best for the request. A tool
    /// that reaches others counts as its best.
    fn kept(&self, view: &View, tools: &[ToolSurface]) -> BTreeSet<String> {
        let at_the_top: BTreeSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let pinned = view.tools().filter(|tool| self.pinned.has_in_any_session(view, tool));
        let pinned = pinned.map(|tool| tool.alias().to_owned());
        let own = match self.loading {
            Loading::IntoAnswers => Vec::new(),
            Loading::IntoList => self.inner.own_tools(view),
        };
        let always: Vec<_> = own.into_iter().map(str::to_owned).chain(pinned).collect();
        let is_always: BTreeSet<&str> = always.iter().map(String::as_str).collect();
        let loaded = self.loaded.iter().chain(view.registered().iter()).cloned();
        // A loop keeps what it is shown, and has room for what is away and may come back.
        let is_away = |name: &&String| !at_the_top.contains(name.as_str());
        let away = match self.loading {
            Loading::IntoAnswers => 0,
            Loading::IntoList => view.registered().iter().filter(is_away).count(),
        };
        let room = CHOSEN_TOOLS.saturating_sub(away);
        // What the model asked for comes before what somebody pinned, if there is no room for both.
        let mut kept = BTreeSet::new();
        for name in loaded.chain(always.iter().cloned()) {
            if kept.len() < room && at_the_top.contains(name.as_str()) {
                kept.insert(name);
            }
        }
        let is_choice = |name: &String| match self.loading {
            Loading::IntoAnswers => !kept.contains(name),
            // What a loop is shown for earlier requests may be among the best for this one.
            Loading::IntoList => !is_always.contains(name.as_str()),
        };
        let ranked = self.ranked(view, tools, &at_the_top);
        let chosen: Vec<_> = ranked.filter(is_choice).take(self.limits.most).collect();
        for name in chosen {
            if kept.len() < room {
                kept.insert(name);
            }
        }
        kept
    }

    /// The names at the top level, the best for the request first. What no search found comes last, in the order of the
    /// surface.
    fn ranked(
        &self,
        view: &View,
        tools: &[ToolSurface],
        at_the_top: &BTreeSet<&str>,
    ) -> impl Iterator<Item = String> + use<> {
        let everywhere = Scope { domain: None, group: None };
        let hits = search(view, &self.request, &everywhere, SearchMode::Hybrid, RANKED);
        let mut best = Vec::new();
        for hit in &hits {
            for name in self.inner.reached_through(view, hit.tool) {
                if at_the_top.contains(name.as_str()) && !best.contains(&name) {
                    best.push(name);
                }
            }
        }
        let others = tools.iter().map(|tool| tool.name.clone());
        let unranked: Vec<_> = others.filter(|name| !best.contains(name)).collect();
        best.into_iter().chain(unranked)
    }

    /// The schemas of tools that are not shown: of those that there are, and that one answer holds.
    fn load(&self, view: &View, arguments: &RawValue) -> Result<Step, UsageError> {
        let names = names_in(arguments)?;
        let Selection { shown, rest, .. } = self.select(view, ClientLimits::default());
        let all: BTreeMap<&str, &ToolSurface> =
            shown.iter().chain(&rest).map(|tool| (tool.name.as_str(), tool)).collect();
        let (mut found, mut loaded) = (Vec::new(), Vec::new());
        let (mut unknown, mut left, mut left_out) = (Vec::new(), LOADED_TOKENS, Vec::new());
        let (mut listed, mut without_room) = (self.loop_list(view, &shown), Vec::new());
        for name in &names {
            let Some(tool) = all.get(name.trim()) else {
                let near = did_you_mean(nearest_texts(name, all.keys().copied()));
                unknown.push(format!("Unknown tool {}.{near}", quoted(name)));
                continue;
            };
            if loaded.contains(&tool.name) {
                continue;
            }
            let tokens = token_bound(tool.definition.get());
            if tokens > left && !found.is_empty() {
                left_out.push(tool.name.as_str());
                continue;
            }
            if !has_room(&mut listed, &tool.name) {
                without_room.push(tool.name.as_str());
                continue;
            }
            left = left.saturating_sub(tokens);
            found.push(tool.definition.get());
            loaded.push(tool.name.clone());
        }
        if found.is_empty() && without_room.is_empty() {
            let unknown = unknown.join(" ");
            return Err(UsageError::new(format!("{unknown} {REQUEST} lists what it can load.")));
        }
        let left_out: Vec<_> = [
            (left_out, "too long to be given at once. Ask again."),
            (
                without_room,
                "your list of tools is full, and none leaves it. Work with those in it.",
            ),
        ]
        .into_iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, reason)| format!("{}: {reason}", names.join(", ")))
        .collect();
        let reply = self.loaded_reply(&found, &loaded, &unknown, &left_out);
        Ok(Step::Loaded(reply, loaded))
    }

    /// The names in a loop's list, to which others come. None where the list stays as it is.
    fn loop_list<'a>(&self, view: &'a View, shown: &'a [ToolSurface]) -> Option<BTreeSet<&'a str>> {
        let shown = shown.iter().map(|tool| tool.name.as_str());
        let names = || view.registered().iter().map(String::as_str).chain(shown).collect();
        (self.loading == Loading::IntoList).then(names)
    }

    /// The answer to a call that has loaded tools: with their definitions, unless the list has them.
    fn loaded_reply(
        &self,
        definitions: &[&str],
        loaded: &[String],
        unknown: &[String],
        left_out: &[String],
    ) -> Reply {
        let (key, list, note) = match self.loading {
            Loading::IntoAnswers => {
                let note =
                    format!("Call them by their names, or with {EXECUTE}(tool_name, arguments).");
                ("tools", definitions.join(","), json_text(&note))
            }
            Loading::IntoList => {
                let names: Vec<_> = loaded.iter().map(|name| json_text(name)).collect();
                let note = "They are among your tools now. Call them by their names.";
                ("loaded", names.join(","), json_text(note))
            }
        };
        let list = format!("[{list}]");
        let unknown = (!unknown.is_empty()).then(|| json_text(&unknown.join(" ")));
        let left_out = (!left_out.is_empty()).then(|| json_text(&left_out.join(" ")));
        let note = (!loaded.is_empty()).then_some(("note", note.as_str()));
        let fields = [(key, list.as_str())].into_iter().chain(note);
        let fields = fields.chain(unknown.as_deref().map(|own| ("not_loaded", own)));
        let fields = fields.chain(left_out.as_deref().map(|own| ("left_out", own)));
        Reply::text(&object_text(fields))
    }

    /// What a call of `execute_tool` means where the other disclosure has no such tool.
    fn execute(&self, view: &View, arguments: &RawValue) -> Result<Step, UsageError> {
        let arguments = Arguments::parse(EXECUTE, arguments)?;
        arguments.only(&["tool_name", "arguments"])?;
        let name = arguments.text("tool_name")?.ok_or_else(|| {
            UsageError::new(format!("Missing parameter 'tool_name' of {EXECUTE}."))
        })?;
        let unknown = || UsageError::new(format!("Unknown tool {}.", quoted(&name)));
        let parsed = ToolName::parse(name.trim()).map_err(|_| unknown())?;
        let given = arguments.get("arguments").unwrap_or("{}");
        let given = RawValue::from_string(given.to_owned()).expect("it was read as JSON");
        self.inner.interpret(view, &parsed, &given)
    }

    /// Whether the other disclosure has an `execute_tool` of its own.
    fn inner_executes(&self, view: &View) -> bool {
        let reached = |tool| self.inner.reached_through(view, tool);
        view.tools().next().is_some_and(|tool| reached(tool).iter().any(|name| name == EXECUTE))
    }

    /// The tool of the other disclosure that a request came through.
    fn inner_name(&self, view: &View, name: &ToolName, request: &Request) -> ToolName {
        let Operation::Tool { name: called, .. } = &*request.operation else {
            return name.clone();
        };
        let tool = view.find(called.as_str());
        let through = tool.and_then(|tool| self.inner.reached_through(view, tool).pop());
        through.and_then(|name| ToolName::parse(&name).ok()).unwrap_or_else(|| called.clone())
    }
}

/// The names in a call of `request_tools`.
fn names_in(arguments: &RawValue) -> Result<Vec<String>, UsageError> {
    let arguments = Arguments::parse(REQUEST, arguments)?;
    arguments.only(&["tool_names"])?;
    let names = arguments.texts("tool_names")?.filter(|names| !names.is_empty());
    let names = names.ok_or_else(|| {
        UsageError::new(format!(
            "Missing parameter 'tool_names' of {REQUEST}. Name tools that it lists."
        ))
    })?;
    if names.len() > MOST_NAMES {
        return Err(UsageError::new(format!(
            "{REQUEST} takes at most {MOST_NAMES} names at a time."
        )));
    }
    Ok(names)
}

/// Whether a tool has room in a loop's list, where there is one. It is in it then.
fn has_room<'a>(listed: &mut Option<BTreeSet<&'a str>>, name: &'a str) -> bool {
    listed.as_mut().is_none_or(|listed| {
        listed.contains(name) || (listed.len() < CHOSEN_TOOLS && listed.insert(name))
    })
}

fn request_tools(rest: &[ToolSurface]) -> ToolSurface {
    let lines = |length: usize| -> Vec<String> {
        rest.iter()
            .map(|tool| match short_description(&about(tool), length) {
                about if about.is_empty() => format!("\n- {}", tool.name),
                about => format!("\n- {}: {about}", tool.name),
            })
            .collect()
    };
    let chars: usize = rest.iter().map(|tool| tool.name.chars().count()).sum();
    let fits = rest.len() <= FEW_NAMES || (rest.len() <= ENUM_NAMES && chars <= ENUM_CHARS);
    let description = bounded(
        LENGTHS.into_iter().map(lines),
        DESCRIPTION_BYTES,
        |lines| format!("{DESCRIPTION}{lines}"),
        |count| {
            let rest = if fits {
                "; see the values of 'tool_names'"
            } else {
                ": ask, and the nearest are named"
            };
            format!("\n+{count} more{rest}")
        },
    );
    let names: Vec<_> = rest.iter().map(|tool| json_text(&tool.name)).collect();
    let names = if fits { format!(r#","enum":[{}]"#, names.join(",")) } else { String::new() };
    let names = format!(
        r#"{{"type":"array","items":{{"type":"string"{names}}},"minItems":1,"maxItems":{MOST_NAMES}}}"#,
    );
    let properties = object_text([("tool_names", names.as_str())]);
    let input = object_text([
        ("type", r#""object""#),
        ("properties", properties.as_str()),
        ("required", r#"["tool_names"]"#),
    ]);
    let (name, description) = (json_text(REQUEST), json_text(&description));
    let definition = object([
        ("name", name.as_str()),
        ("description", description.as_str()),
        ("inputSchema", input.as_str()),
        ("annotations", hints::READING),
    ]);
    ToolSurface { name: REQUEST.to_owned(), definition }
}

/// A tool's description, as its definition has it.
fn about(tool: &ToolSurface) -> String {
    #[derive(serde::Deserialize)]
    struct Described {
        #[serde(default)]
        description: String,
    }
    let read = serde_json::from_str::<Described>(tool.definition.get());
    read.map(|tool| tool.description).unwrap_or_default()
}

impl Disclosure for SelectedDisclosure {
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface {
        let Selection { mut shown, rest, instructions } = self.select(view, *limits);
        if !rest.is_empty() {
            shown.push(request_tools(&rest));
            let executes = shown.iter().chain(&rest).any(|tool| tool.name == EXECUTE);
            if self.loading == Loading::IntoAnswers && !executes {
                let what = "Run a tool that request_tools has loaded.";
                let own = ExecuteTools::One.definitions(what, "Matching the tool's schema.");
                let own = own.into_iter();
                shown.extend(
                    own.map(|(name, definition)| ToolSurface { name: name.to_owned(), definition }),
                );
            }
        }
        Surface { tools: shown, instructions }
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        match name.as_str() {
            REQUEST => self.load(view, arguments),
            EXECUTE if !self.inner_executes(view) => self.execute(view, arguments),
            _ => self.inner.interpret(view, name, arguments),
        }
    }

    fn searches(&self, view: &View, name: &ToolName) -> bool {
        name.as_str() == REQUEST || name.as_str() == EXECUTE || self.inner.searches(view, name)
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        if name.as_str() == EXECUTE && !self.inner_executes(view) {
            let name = self.inner_name(view, name, request);
            return self.inner.render(view, &name, request, result);
        }
        self.inner.render(view, name, request, result)
    }

    fn shows_used(&self) -> bool {
        self.pinned.most_used || self.inner.shows_used()
    }

    fn is_transparent(&self) -> bool {
        self.inner.is_transparent()
    }

    fn call_of(&self, view: &View, tool: &Tool, arguments: &RawValue) -> TopLevelCall {
        self.inner.call_of(view, tool, arguments)
    }

    fn reached_through(&self, view: &View, tool: &Tool) -> Vec<String> {
        self.inner.reached_through(view, tool)
    }
}

#[cfg(test)]
mod tests;
