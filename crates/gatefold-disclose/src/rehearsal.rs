use std::cmp::Reverse;

use gatefold_catalog::{Tool, View, object_fields};
use gatefold_core::ToolName;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::arguments::unquoted;
use crate::blocks::Block;
use crate::gateway::{DISCOVER, SCHEMA};
use crate::namespace::{INVOKE, SHARED};
use crate::surface::{Disclosure, Reply, Step, Surface};
use crate::typed::Route;

/// How many pages of a search a model reads before it tries other words.
const SEARCH_PAGES: usize = 3;
/// How many pages of a list it reads before it gives up. A page may hold a single large schema.
const LIST_PAGES: usize = 1000;
/// The most tools that a search by intent is asked for.
const INTENT_TOOLS: usize = 5;
/// How the names of tools begin that call others by name.
const EXECUTING: &str = "execute_";

/// A model's way to one call that it has not made before: it finds the tool, reads its schema and
/// calls it, as far as the surface does not show that already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rehearsal {
    /// What it reads on the way, an answer each. The result of the call is not among them, because
    /// nothing is called.
    pub read: Vec<String>,
    /// Its calls of the surface's tools, the last one included.
    pub calls: usize,
}

/// The tools of typical tasks: the one with the definition of median size in each of the `most` largest
/// domains. Skills and what reads large results are left out, because nobody begins with them.
pub fn typical_tools(view: &View, most: usize) -> Vec<&Tool> {
    let begins = |kind: &str| !matches!(kind, "skills" | "results");
    let domains = view.domains().filter(|entry| begins(entry.kind().as_str()));
    let mut domains: Vec<Vec<&Tool>> =
        domains.map(|entry| view.tools_in(entry).collect()).collect();
    domains.sort_by_key(|tools| Reverse(tools.len()));
    domains.truncate(most);
    domains.into_iter().filter_map(median).collect()
}

fn median(mut tools: Vec<&Tool>) -> Option<&Tool> {
    tools.sort_by_key(|tool| (tool.definition().raw().len(), tool.id()));
    tools.get(tools.len().saturating_sub(1) / 2).copied()
}

/// Has the disclosure answer what a model asks that wants a tool and knows its purpose: the words of
/// the tool's own line. `surface` is what the disclosure shows of the view.
///
/// `None` if no way of ours leads there, as with a disclosure of an embedder's own.
pub fn rehearse(
    disclosure: &dyn Disclosure,
    view: &View,
    surface: &Surface,
    tool: &Tool,
) -> Option<Rehearsal> {
    let rehearsal = Rehearsal::default();
    let mut rehearser = Rehearser { disclosure, view, surface, tool, rehearsal };
    rehearser.reach()?;
    Some(rehearser.rehearsal)
}

struct Rehearser<'a> {
    disclosure: &'a dyn Disclosure,
    view: &'a View,
    surface: &'a Surface,
    tool: &'a Tool,
    rehearsal: Rehearsal,
}

impl Rehearser<'_> {
    fn reach(&mut self) -> Option<()> {
        let tool = self.tool;
        if self.shows(tool.alias()) {
            return self.call(tool.alias(), &json!({}));
        }
        if self.shows(DISCOVER) {
            return if self.shows(SCHEMA) { self.search() } else { self.search_by_intent() };
        }
        let mut pairs = [tool.domain().as_str(), SHARED].into_iter();
        match pairs.find(|pair| self.shows(&format!("{pair}__{SCHEMA}"))) {
            Some(pair) => self.look_up_in(pair),
            None => self.discover_by_kind(),
        }
    }

    /// Through the gateway's three tools.
    fn search(&mut self) -> Option<()> {
        let id = self.tool.id().as_str();
        let by = |query: &str| json!({ "query": query });
        let words = by(self.words());
        let found = self.find(DISCOVER, words, "results", id, SEARCH_PAGES);
        found.or_else(|| self.find(DISCOVER, by(id), "results", id, SEARCH_PAGES))?;
        self.read_schema(SCHEMA, &json!({ "tool_name": id }))?;
        self.execute()
    }

    fn search_by_intent(&mut self) -> Option<()> {
        let (id, words) = (self.tool.id().as_str(), self.words());
        let attempts = [
            json!({ "intent": words }),
            json!({ "intent": words, "top_k": INTENT_TOOLS }),
            json!({ "intent": id, "top_k": INTENT_TOOLS }),
        ];
        attempts.into_iter().find_map(|attempt| self.find(DISCOVER, attempt, "tools", id, 1))?;
        self.execute()
    }

    /// Through the pair of tools of a domain, or of those that share one.
    fn look_up_in(&mut self, pair: &str) -> Option<()> {
        let (id, own) = (self.tool.id().as_str(), self.tool.definition().name());
        let (schema, invoke) = (format!("{pair}__{SCHEMA}"), format!("{pair}__{INVOKE}"));
        let name = if pair == SHARED { id } else { own };
        if !mentions(&self.description(&schema), name) {
            if pair == SHARED {
                // Nothing lists these tools. The answer to a wrong name suggests right ones.
                self.ask(&schema, &json!({ "tool_name": own }))?;
            } else {
                self.find(&schema, json!({}), "tools", id, LIST_PAGES)?;
            }
        }
        self.read_schema(&schema, &json!({ "tool_name": name }))?;
        self.call(&invoke, &json!({ "tool_name": name, "arguments": {} }))
    }

    /// Through the tool for a kind of source.
    fn discover_by_kind(&mut self) -> Option<()> {
        let Route { meta, list, lookups, call } = Route::to(self.view, self.tool)?;
        if !self.shows(meta) {
            return None;
        }
        if let Some((all, one)) = lookups {
            let (domain, own) = (self.tool.domain(), self.tool.definition().name());
            let description = self.description(meta);
            let mut stubs = description.lines().filter_map(|line| line.trim().strip_prefix("- "));
            let is_its = |stub: &&str| stub.split([':', ' ']).next() == Some(domain.as_str());
            let is_named = stubs.find(is_its).is_some_and(|stub| mentions(stub, own));
            let found =
                if is_named { Value::Null } else { self.find(meta, all, &list, own, LIST_PAGES)? };
            if !found["parameters"].is_object() {
                self.read_schema(meta, &one)?;
            }
        }
        self.call(meta, &call)
    }

    fn shows(&self, name: &str) -> bool {
        self.surface.tools.iter().any(|tool| tool.name == name)
    }

    /// What the surface says of one of its tools.
    fn description(&self, name: &str) -> String {
        let tool = self.surface.tools.iter().find(|tool| tool.name == name);
        let fields = tool.and_then(|tool| object_fields(tool.definition.get())).unwrap_or_default();
        let text = fields.into_iter().find(|(key, _)| key == "description");
        text.and_then(|(_, text)| unquoted(text)).unwrap_or_default()
    }

    /// What the model wants, in the catalogue's own words.
    fn words(&self) -> &str {
        match self.tool.line() {
            "" => self.tool.definition().name(),
            line => line,
        }
    }

    fn interpret(&self, name: &str, arguments: &Value) -> Option<Result<Step, Reply>> {
        let (name, arguments) = (ToolName::parse(name).ok()?, to_raw_value(arguments).ok()?);
        Some(self.disclosure.interpret(self.view, &name, &arguments).map_err(Reply::from))
    }

    /// The answer to a request that only looks something up.
    fn ask(&mut self, name: &str, arguments: &Value) -> Option<Value> {
        let reply = match self.interpret(name, arguments)? {
            Ok(Step::Reply(reply) | Step::Found(reply, _) | Step::Loaded(reply, _))
            | Err(reply) => reply,
            Ok(Step::Call(_)) => return None,
        };
        let texts =
            reply.content.iter().filter_map(|block| Block::of(block).text.and_then(unquoted));
        let text: String = texts.collect();
        let answer = serde_json::from_str(&text).unwrap_or_default();
        self.rehearsal.read.push(text);
        self.rehearsal.calls += 1;
        Some(answer)
    }

    /// Asks page by page until one has the tool in its list, or among the names of what follows.
    fn find(
        &mut self,
        name: &str,
        mut arguments: Value,
        list: &str,
        wanted: &str,
        pages: usize,
    ) -> Option<Value> {
        for _ in 0..pages {
            let answer = self.ask(name, &arguments)?;
            let mut items = answer[list].as_array().into_iter().flatten();
            if let Some(item) = items.find(|item| item["name"] == *wanted) {
                return Some(item.clone());
            }
            if answer["remaining"].as_str().is_some_and(|names| mentions(names, wanted)) {
                return Some(Value::Null);
            }
            arguments["cursor"] = answer["next_cursor"].clone();
            if arguments["cursor"].is_null() {
                break;
            }
        }
        None
    }

    fn read_schema(&mut self, name: &str, arguments: &Value) -> Option<()> {
        self.ask(name, arguments)?["parameters"].is_object().then_some(())
    }

    /// The call, through whichever of the executing tools takes it.
    fn execute(&mut self) -> Option<()> {
        let arguments = json!({ "tool_name": self.tool.id().as_str(), "arguments": {} });
        let surface = self.surface;
        let mut names = surface.tools.iter().map(|tool| tool.name.as_str());
        names.find_map(|name| {
            name.starts_with(EXECUTING).then(|| self.call(name, &arguments)).flatten()
        })
    }

    /// The last call, if it means the tool.
    fn call(&mut self, name: &str, arguments: &Value) -> Option<()> {
        let Ok(Step::Call(request)) = self.interpret(name, arguments)? else { return None };
        let reached = self.view.tool_of(request.entry.as_ref()?)?;
        if reached.id() != self.tool.id() {
            return None;
        }
        self.rehearsal.calls += 1;
        Some(())
    }
}

/// Whether a text names a tool or domain, as a word of its own.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

#[cfg(test)]
mod tests;
