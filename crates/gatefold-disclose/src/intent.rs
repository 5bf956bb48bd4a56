use gatefold_catalog::{
    Fit, Hit, Request, Scope, SearchMode, Tool, View, call_signature, fit, one_line, search,
    token_bound,
};
use gatefold_core::{CallError, Outcome, ToolName};
use serde_json::value::RawValue;

use crate::arguments::{Arguments, json_text, object, object_text};
use crate::executing::ExecuteTools;
use crate::gateway::{
    ExecutingTool, GatewayLimits, Rendering, call_through, domain_names, executing_request,
    schema_text, untouched_request,
};
use crate::hints;
use crate::pinned::{PinnedTools, Pins, by_alias};
use crate::surface::{
    ClientLimits, Disclosure, Reply, SearchAnswer, Step, Surface, ToolSurface, TopLevelCall,
    UsageError,
};
use crate::wording::{WEAKLY_FITS, nothing_fits, quoted};

const DISCOVER: &str = "discover_tools";
/// The names of its own tools.
const fn own_tools(execute: ExecuteTools) -> &'static [&'static str] {
    match execute {
        ExecuteTools::One => &[DISCOVER, "execute_tool"],
        ExecuteTools::Split => &[DISCOVER, "execute_read", "execute_write"],
    }
}

/// How many tools an answer has, unless the model asks for another number; how many if the first fits
/// exactly; and at most.
const TOP: usize = 3;
const EXACT_TOP: usize = 2;
const MOST: usize = 5;

/// How much of an intent an answer repeats, in characters.
const REPEATED: usize = 100;

const HINT: &str = "Use discover_tools to find tools.";

const INSTRUCTIONS: &str = "\
You have a catalogue of tools that are not shown here. Say what you want to do:

1. discover_tools - Say your intent. It answers with the schemas of the likeliest tools, ready to call.
2. execute_tool - Run one of them.

Skip discovery for tools you've already used in this conversation.";

const DISCOVER_DESCRIPTION: &str = "Search the catalogue of tools by intent. Returns the schemas of the \
     likeliest tools, ready to call. Use it for whatever your other tools cannot do.";
const DISCOVER_INPUT: &str = r#"{"type":"object","properties":{"intent":{"type":"string","description":"What you want to do, in which service."},"top_k":{"type":"integer","minimum":1,"maximum":5,"default":3}},"required":["intent"]}"#;
const EXECUTE_DESCRIPTION: &str = "Run a tool that discover_tools found.";
const EXECUTE_ARGUMENTS: &str = "Matching the tool's schema.";

/// Pinned tools, a tool that finds others by intent and answers with their schemas, and one that
/// calls them.
#[derive(Debug, Clone, Default)]
pub struct IntentDisclosure {
    pub limits: GatewayLimits,
    /// Tools to show at the top level as well.
    pub pinned: Pins,
    pub execute: ExecuteTools,
}

impl IntentDisclosure {
    fn pinned(&self) -> PinnedTools<'_> {
        PinnedTools { pins: &self.pinned, own: own_tools(self.execute) }
    }

    fn discover(&self, view: &View, arguments: &RawValue) -> Result<Step, UsageError> {
        let arguments = Arguments::parse(DISCOVER, arguments)?;
        arguments.only(&["intent", "top_k"])?;
        let intent = arguments.text("intent")?.ok_or_else(|| {
            let text = "Missing parameter 'intent' of discover_tools. Say what you want to do.";
            UsageError::new(text)
        })?;
        let asked = arguments.get("top_k").map(top_k).transpose()?;
        let everywhere = Scope { domain: None, group: None };
        let top = asked.unwrap_or(TOP);
        let mut hits = search(view, &intent, &everywhere, SearchMode::Hybrid, top);
        if asked.is_none() && fit(&hits) == Fit::Exact {
            hits.truncate(EXACT_TOP);
        }
        let (text, whole) = self.answer(&intent, &hits);
        let fitting = || hits.iter().zip(&whole).filter(|(hit, _)| hit.fits());
        let tools = fitting().map(|(hit, _)| hit.tool.id().clone()).collect();
        let whole = fitting().filter(|(_, is_whole)| **is_whole);
        let whole = whole.map(|(hit, _)| hit.tool.alias().to_owned()).collect();
        Ok(Step::Found(Reply::text(&text), SearchAnswer { query: intent, tools, whole }))
    }

    /// The first tool whole; the others whole while they fit, else with their signatures. Also says
    /// which are whole.
    fn answer(&self, intent: &str, hits: &[Hit<'_>]) -> (String, Vec<bool>) {
        let asked = json_text(&one_line(intent, REPEATED));
        let fit = fit(hits);
        let note = match fit {
            Fit::None => Some(json_text(&nothing_fits(hits.len()))),
            Fit::Weak => {
                let mut domains: Vec<&str> = Vec::new();
                for domain in hits.iter().map(|hit| hit.tool.domain().as_str()) {
                    if !domains.contains(&domain) {
                        domains.push(domain);
                    }
                }
                let note = format!("{WEAKLY_FITS} Nearest domains: {}.", domains.join(", "));
                Some(json_text(&note))
            }
            Fit::Likely | Fit::Exact => None,
        };
        let grade = json_text(fit.name());
        let write = |tools: &[String]| {
            let tools = format!("[{}]", tools.join(","));
            let note = note.as_deref().map(|note| ("note", note));
            let told = [("intent", asked.as_str()), ("fit", grade.as_str())];
            let fields = told.into_iter().chain(note);
            object_text(fields.chain([("tools", tools.as_str())]))
        };
        let mut shown: Vec<String> = hits.iter().map(|hit| brief(hit.tool)).collect();
        let mut whole = vec![true; hits.len()];
        for (at, hit) in hits.iter().enumerate() {
            let brief = std::mem::replace(&mut shown[at], schema_text(hit.tool, None));
            if at > 0 && token_bound(&write(&shown)) > self.limits.discovery_tokens {
                shown[at] = brief;
                whole[at] = false;
            }
        }
        (write(&shown), whole)
    }
}

fn opening(execute: ExecuteTools) -> String {
    match execute {
        ExecuteTools::One => INSTRUCTIONS.to_owned(),
        ExecuteTools::Split => INSTRUCTIONS.replace(
            "2. execute_tool - Run one of them.",
            "2. execute_read - Run one that only reads.\n3. execute_write - Run any other.",
        ),
    }
}

fn top_k(raw: &str) -> Result<usize, UsageError> {
    let number = raw.trim_matches('"').trim().parse::<usize>().ok();
    number.filter(|number| *number > 0).map(|number| number.min(MOST)).ok_or_else(|| {
        UsageError::new(format!(
            "Parameter 'top_k' of {DISCOVER} must be a number from 1 to {MOST}."
        ))
    })
}

/// A tool with its signature instead of its schema.
fn brief(tool: &Tool) -> String {
    let name = json_text(tool.id().as_str());
    let (line, signature) = (json_text(tool.line()), json_text(&call_signature(tool)));
    object_text([
        ("name", name.as_str()),
        ("description", line.as_str()),
        ("signature", signature.as_str()),
    ])
}

fn discover_definition(view: &View) -> Box<RawValue> {
    let description = format!("{DISCOVER_DESCRIPTION}{}", domain_names(view));
    let (name, description) = (json_text(DISCOVER), json_text(&description));
    object([
        ("name", name.as_str()),
        ("description", description.as_str()),
        ("inputSchema", DISCOVER_INPUT),
        ("annotations", hints::READING),
    ])
}

impl Disclosure for IntentDisclosure {
    fn surface(&self, view: &View, _: &ClientLimits) -> Surface {
        let execute = self.execute.definitions(EXECUTE_DESCRIPTION, EXECUTE_ARGUMENTS);
        let own = [(DISCOVER, discover_definition(view))].into_iter().chain(execute);
        let own = own.map(|(name, definition)| ToolSurface { name: name.to_owned(), definition });
        let mut tools = by_alias(self.pinned().of(view), |_| None);
        tools.splice(..0, own);
        Surface { tools, instructions: opening(self.execute) }
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        match name.as_str() {
            DISCOVER => self.discover(view, arguments),
            through if self.execute.has(through) => {
                let own = own_tools(self.execute);
                let through = ExecutingTool { name: through, own, hint: HINT, domain: None };
                executing_request(view, &through, arguments).map(Step::Call)
            }
            name => match (self.pinned().named(view, name), view.find(name)) {
                (Some(tool), _) => Ok(Step::Call(untouched_request(view, tool, arguments))),
                (None, Some(tool)) => Err(UsageError::new(call_through(self.execute, name, tool))),
                (None, None) => {
                    let own = own_tools(self.execute).join(", ");
                    Err(UsageError::new(format!("Unknown tool {}. Tools: {own}", quoted(name))))
                }
            },
        }
    }

    fn searches(&self, _: &View, name: &ToolName) -> bool {
        name.as_str() == DISCOVER
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        let rendering = Rendering::new(view, request, &self.limits).hinting(HINT);
        if self.execute.has(name.as_str()) {
            rendering.envelope(result)
        } else {
            rendering.untouched(result)
        }
    }

    fn shows_used(&self) -> bool {
        self.pinned.most_used
    }

    fn call_of(&self, view: &View, tool: &Tool, arguments: &RawValue) -> TopLevelCall {
        if self.pinned().pins(view, tool) {
            return TopLevelCall { name: tool.alias().to_owned(), arguments: arguments.to_owned() };
        }
        self.execute.call_of(tool, arguments)
    }

    fn reached_through(&self, view: &View, tool: &Tool) -> Vec<String> {
        let own = own_tools(self.execute).iter().map(|&name| name.to_owned());
        let pinned = self.pinned().pins(view, tool).then(|| tool.alias().to_owned());
        own.chain(pinned).collect()
    }
}

#[cfg(test)]
mod tests;
