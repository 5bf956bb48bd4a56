//! Measures how long it takes to suggest tools for an unknown name, among generated tools: `cargo
//! run --release -p gatefold-catalog --example suggestions [TOOLS]`, 100,000 without a number.
//!
//! Prints the milliseconds a lookup by comparing with every tool, by the index, and to build the index.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use gatefold_catalog::{GroupRules, KindName, Manifest, Snapshot, SourceEntry, ToolSpec, View};
use gatefold_core::{Domain, Timestamp, ToolName};

use crate::brute_force::{Comparable, nearest};

#[path = "../tests/it/brute_force.rs"]
mod brute_force;

const TOOLS: usize = 100_000;
const TOOLS_OF_A_SOURCE: usize = 500;
const LOOKUPS: u32 = 50;
/// Comparing with every tool is slow, so it runs fewer times.
const SLOW_LOOKUPS: u32 = 5;

const VERBS: [&str; 12] = [
    "get", "list", "create", "update", "delete", "search", "send", "export", "import", "archive",
    "assign", "merge",
];
const ADJECTIVES: [&str; 10] = [
    "open", "recent", "shared", "pending", "archived", "public", "draft", "weekly", "failed",
    "linked",
];
const NOUNS: [&str; 20] = [
    "invoice",
    "contact",
    "issue",
    "message",
    "file",
    "calendar_event",
    "ticket",
    "order",
    "customer",
    "payment",
    "report",
    "comment",
    "branch",
    "pull_request",
    "deployment",
    "alert",
    "dashboard",
    "subscription",
    "campaign",
    "employee",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = std::env::args().nth(1).map_or(Ok(TOOLS), |count| count.parse())?;
    let sources = (0..count).collect::<Vec<_>>();
    let entries = sources.chunks(TOOLS_OF_A_SOURCE).enumerate();
    let entries = entries.map(|(number, tools)| entry(number, tools)).collect();
    let view = View::whole(Arc::new(Snapshot::build(entries, 1)));
    let lookups = LOOKUPS as usize;
    let asked: Vec<_> = (0..lookups).map(|number| misspelt(number * count / lookups)).collect();

    let start = Instant::now();
    let first = view.resolve(&ToolName::parse("nobody_has_this")?);
    let building_ms = start.elapsed().as_secs_f64() * 1e3;

    let start = Instant::now();
    let found: Vec<_> = asked.iter().map(|name| view.resolve(name)).collect();
    let index_ms = ms_each(start, LOOKUPS);

    let start = Instant::now();
    // Every lookup used to build the shapes again.
    let expected: Vec<_> = asked
        .iter()
        .take(SLOW_LOOKUPS as usize)
        .map(|name| {
            let tools: Vec<_> = view.tools().map(Comparable::of).collect();
            nearest(&tools, name.as_str())
        })
        .collect();
    let brute_ms = ms_each(start, SLOW_LOOKUPS);

    let is_equal = |(found, (_, expected)): (
        &Result<_, gatefold_catalog::UnresolvedTool>,
        &(f64, Vec<String>),
    )| {
        let ids = found.as_ref().err().map(|miss| &miss.nearest);
        ids.and_then(|ids| ids.first()).map(ToString::to_string) == expected.first().cloned()
    };
    let equal = found.iter().zip(&expected).filter(|pair| is_equal(*pair)).count();
    let mut output = std::io::stdout().lock();
    writeln!(output, "tools: {} (a name of none: {})", view.tool_count(), first.is_err())?;
    writeln!(output, "every tool compared: {brute_ms:.2} ms a lookup")?;
    writeln!(output, "by the index, a search for its words included: {index_ms:.2} ms a lookup")?;
    writeln!(output, "both indexes built, once: {building_ms:.0} ms")?;
    writeln!(output, "same best suggestion: {equal} of {SLOW_LOOKUPS}")?;
    Ok(())
}

fn ms_each(start: Instant, lookups: u32) -> f64 {
    start.elapsed().as_secs_f64() * 1e3 / f64::from(lookups)
}

fn entry(number: usize, tools: &[usize]) -> SourceEntry {
    let mut builder = Manifest::builder(Timestamp::from_millis(0));
    for tool in tools {
        builder = builder.tool(ToolSpec::new(name(*tool)));
    }
    SourceEntry {
        domain: Domain::from_key(&format!("source{number}")),
        kind: KindName::new("mcp"),
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        manifest: Some(Arc::new(builder.build())),
    }
}

fn name(number: usize) -> String {
    let verb = VERBS[number % VERBS.len()];
    let adjective = ADJECTIVES[number / 7 % ADJECTIVES.len()];
    let noun = NOUNS[number / 11 % NOUNS.len()];
    format!("{verb}_{adjective}_{noun}_{}", number % 997)
}

/// The id of a tool without its fourth letter from the end.
fn misspelt(number: usize) -> ToolName {
    let mut id = format!("source{}__{}", number / TOOLS_OF_A_SOURCE, name(number));
    id.remove(id.len() - 4);
    ToolName::parse(&id).unwrap_or_else(|_| ToolName::parse("x").expect("it is short"))
}
