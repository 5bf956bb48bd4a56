//! Two ways to show tools, part by part.

use gatefold::{App, ShownTo};
use gatefold_disclose::ToolSurface;
use serde_json::{Value, json};

use super::counted::{CountedSurface, counted};
use crate::cli::output::Output;
use crate::cli::table::Table;
use crate::cli::tokens::Tokens;

pub(super) struct Difference {
    a: CountedSurface,
    b: CountedSurface,
}

/// A tool of one surface, with its cost.
#[derive(Clone, Copy)]
struct CountedTool<'a> {
    tool: &'a ToolSurface,
    tokens: Tokens,
}

/// A tool as the two surfaces have it. At least one does.
struct Pair<'a> {
    name: &'a str,
    a: Option<CountedTool<'a>>,
    b: Option<CountedTool<'a>>,
}

/// Where a tool is, and whether it is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    OnlyInA,
    OnlyInB,
    Differs,
    Same,
}

impl Pair<'_> {
    fn is(&self) -> Where {
        match (self.a, self.b) {
            (Some(_), None) => Where::OnlyInA,
            (None, _) => Where::OnlyInB,
            (Some(a), Some(b)) if a.tool.definition.get() == b.tool.definition.get() => Where::Same,
            (Some(_), Some(_)) => Where::Differs,
        }
    }
}

impl Difference {
    pub(super) async fn between(
        app: &App,
        a: &str,
        b: &str,
        whom: &ShownTo<'_>,
    ) -> anyhow::Result<Self> {
        let turns = [app.turn_for(Some(a), whom)?, app.turn_for(Some(b), whom)?];
        let [a, b] = counted(turns).await?;
        Ok(Self { a, b })
    }

    /// The tools of both, those of the first in its order, then those that only the second has.
    fn pairs(&self) -> Vec<Pair<'_>> {
        let find = |surface, name: &str| tools(surface).find(|other| other.tool.name == *name);
        let first = tools(&self.a).map(|own| {
            let name = own.tool.name.as_str();
            Pair { name, a: Some(own), b: find(&self.b, name) }
        });
        let second = tools(&self.b).filter(|own| find(&self.a, &own.tool.name).is_none());
        let second = second.map(|own| Pair { name: &own.tool.name, a: None, b: Some(own) });
        first.chain(second).collect()
    }

    pub(super) fn print(&self, output: &Output) {
        if output.is_json() {
            output.json(&self.json());
            return;
        }
        let style = output.style();
        output.line(&format!("A: {}", style.strong(&self.a.name)));
        output.line(&format!("B: {}\n", style.strong(&self.b.name)));
        let pairs = self.pairs();
        output.lines(&self.table(&pairs).lines(style));
        let differing = pairs.iter().filter(|pair| pair.is() == Where::Differs);
        for (name, a, b) in differing.filter_map(|pair| Some((pair.name, pair.a?, pair.b?))) {
            output.line(&format!("\n{}", style.strong(name)));
            output.line(&format!("  A {}", a.tool.definition.get()));
            output.line(&format!("  B {}", b.tool.definition.get()));
        }
    }

    fn table(&self, pairs: &[Pair<'_>]) -> Table {
        let heads = ["part", "tokens in A (cl100k)", "tokens in B (cl100k)", "difference"];
        let mut table = Table::new(&heads).numbers(&[1, 2]);
        let brackets = |tool: Option<CountedTool<'_>>| {
            tool.map(|tool| tool.tokens.in_brackets()).unwrap_or_default()
        };
        for pair in pairs {
            let note = match pair.is() {
                Where::OnlyInA => "only in A".to_owned(),
                Where::OnlyInB => "only in B".to_owned(),
                Where::Differs => "defined differently".to_owned(),
                Where::Same => String::new(),
            };
            table.row([pair.name.to_owned(), brackets(pair.a), brackets(pair.b), note]);
        }
        let note = if self.instructions_differ() { "differ" } else { "" };
        let (a, b) = (self.a.instructions, self.b.instructions);
        let name = "instructions".to_owned();
        table.row([name, a.in_brackets(), b.in_brackets(), note.to_owned()]);
        let (a, b) = (self.a.at_rest(), self.b.at_rest());
        let more =
            format!("{:+} ({:+})", difference(a.o200k, b.o200k), difference(a.cl100k, b.cl100k));
        table.row(["all".to_owned(), a.in_brackets(), b.in_brackets(), more]);
        table
    }

    fn instructions_differ(&self) -> bool {
        self.a.shown.instructions != self.b.shown.instructions
    }

    fn json(&self) -> Value {
        let (a, b) = (self.a.at_rest(), self.b.at_rest());
        let pairs = self.pairs();
        let only = |at: Where| -> Vec<Value> {
            let there = pairs.iter().filter(|pair| pair.is() == at);
            there.filter_map(|pair| pair.a.or(pair.b)).map(tool_json).collect()
        };
        let differing = pairs.iter().filter(|pair| pair.is() == Where::Differs);
        let differing = differing.filter_map(|pair| {
            Some(json!({ "name": pair.name, "a": tool_json(pair.a?), "b": tool_json(pair.b?) }))
        });
        json!({
            "a": surface_json(&self.a),
            "b": surface_json(&self.b),
            "tokens": difference(a.o200k, b.o200k),
            "cl100k": difference(a.cl100k, b.cl100k),
            "only_in_a": only(Where::OnlyInA),
            "only_in_b": only(Where::OnlyInB),
            "differing": differing.collect::<Vec<_>>(),
            "instructions_differ": self.instructions_differ(),
        })
    }
}

fn tools(surface: &CountedSurface) -> impl Iterator<Item = CountedTool<'_>> {
    let tools = surface.shown.tools.iter().zip(&surface.tools);
    tools.map(|(tool, tokens)| CountedTool { tool, tokens: *tokens })
}

fn surface_json(surface: &CountedSurface) -> Value {
    let at_rest = surface.at_rest();
    json!({
        "disclosure": surface.name,
        "tools": surface.tools.len(),
        "tokens": at_rest.o200k,
        "cl100k": at_rest.cl100k,
        "instructions": {
            "text": surface.shown.instructions,
            "tokens": surface.instructions.o200k,
            "cl100k": surface.instructions.cl100k,
        },
    })
}

fn tool_json(CountedTool { tool, tokens }: CountedTool<'_>) -> Value {
    json!({
        "definition": tool.definition, "tokens": tokens.o200k, "cl100k": tokens.cl100k,
    })
}

/// How much more `b` is than `a`.
fn difference(a: usize, b: usize) -> i64 {
    let signed = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    signed(b) - signed(a)
}
