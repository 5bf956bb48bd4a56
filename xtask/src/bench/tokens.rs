//! What models see of real tool lists, in o200k tokens.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use gatefold_catalog::{GroupRules, KindName, Manifest, ServerInfo, Snapshot, SourceEntry, View};
use gatefold_core::{Domain, Timestamp, ToolName};
use gatefold_disclose::{ClientLimits, Disclosure as _, Gateway, Reply, Step};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use tiktoken_rs::CoreBPE;

use super::say;
use super::table::{markdown, write_section};

/// The answer of a server to `tools/list`, as it lies in a catalogue.
#[derive(Deserialize)]
struct Listing {
    server: String,
    tools: Box<RawValue>,
}

#[expect(clippy::disallowed_methods, reason = "a chore reads its own variable")]
pub(crate) fn run(root: &Path, options: &[&str]) -> Result<()> {
    let folder = std::env::var_os("GATEFOLD_CATALOGS");
    let folder = folder.context("GATEFOLD_CATALOGS must name a folder of tool lists")?;
    let vocabulary = tiktoken_rs::o200k_base()?;
    let entries = entries(Path::new(&folder))?;
    let flat = |entry: &SourceEntry| -> usize {
        let tools = entry.manifest.iter().flat_map(|manifest| manifest.tools());
        tools.map(|tool| count(&vocabulary, &compact(tool.raw()))).sum()
    };
    let flat_tokens: usize = entries.iter().map(flat).sum();
    let sources = entries.len();
    let view = View::whole(Arc::new(Snapshot::build(entries, 1)));
    let mut rows = vec![row("every tool with its schema", flat_tokens, flat_tokens)];
    let gateway = Gateway::default();
    let surface = gateway.surface(&view, &ClientLimits::default());
    let definitions: usize =
        surface.tools.iter().map(|tool| count(&vocabulary, tool.definition.get())).sum();
    rows.push(row("the three definitions", definitions, flat_tokens));
    let empty = gateway
        .surface(&View::whole(Arc::new(Snapshot::build(Vec::new(), 1))), &ClientLimits::default());
    let bare: usize =
        empty.tools.iter().map(|tool| count(&vocabulary, tool.definition.get())).sum();
    rows.push(row("... without the names of domains", bare, flat_tokens));
    rows.push(row("the instructions", count(&vocabulary, &surface.instructions), flat_tokens));
    for (what, arguments) in [
        ("discover_tools()", "{}"),
        ("discover_tools(domain = \"github\")", r#"{"domain":"github"}"#),
        ("discover_tools(domain = \"ms365\"), the largest", r#"{"domain":"ms365"}"#),
        ("discover_tools(query = \"create an issue\")", r#"{"query":"create an issue"}"#),
    ] {
        let answer = discover(&gateway, &view, arguments)?;
        let tokens = answer.content.iter().map(|block| count(&vocabulary, &text_of(block))).sum();
        rows.push(row(what, tokens, flat_tokens));
    }
    let tools = view.tool_count();
    let head = ["what the model reads", "tokens", "share"];
    let section = format!("\n{tools} tools of {sources} servers:\n\n{}\n", markdown(&head, &rows));
    say(&section);
    if options.contains(&"--write") {
        write_section(&root.join("docs/benchmarks.md"), "tokens", &section)?;
    }
    Ok(())
}

fn row(what: &str, tokens: usize, flat: usize) -> Vec<String> {
    let share = 100.0 * tokens as f64 / flat as f64;
    vec![what.to_owned(), tokens.to_string(), format!("{share:.3} %")]
}

/// The JSON without white space between tokens, as clients pass it to models.
fn compact(json: &str) -> String {
    serde_json::from_str::<serde_json::Value>(json).map_or_else(|_| json.into(), |v| v.to_string())
}

fn count(vocabulary: &CoreBPE, text: &str) -> usize {
    vocabulary.encode_ordinary(text).len()
}

/// The lists of a folder, each a source named after its server.
fn entries(folder: &Path) -> Result<Vec<SourceEntry>> {
    let mut entries = Vec::new();
    for file in std::fs::read_dir(folder).context("the catalogue cannot be read")? {
        let path = file?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.extension().is_none_or(|kind| kind != "json") || name.starts_with('_') {
            continue;
        }
        let listing: Listing = serde_json::from_slice(&std::fs::read(&path)?)
            .with_context(|| format!("{name} is not a tool list"))?;
        let server = ServerInfo {
            name: listing.server.clone(),
            version: String::new(),
            title: None,
            instructions: None,
            protocol: "2025-11-25".to_owned(),
            capabilities: None,
        };
        let page = RawValue::from_string(format!(r#"{{"tools":{}}}"#, listing.tools.get()))?;
        let manifest = Manifest::from_pages(server, &[page], Timestamp::from_millis(0));
        entries.push(SourceEntry {
            domain: Domain::from_key(&listing.server),
            kind: KindName::new("mcp"),
            description: None,
            groups: GroupRules::default(),
            manifest: Some(Arc::new(manifest)),
        });
    }
    Ok(entries)
}

fn discover(gateway: &Gateway, view: &View, arguments: &str) -> Result<Reply> {
    let arguments = RawValue::from_string(arguments.to_owned())?;
    match gateway.interpret(view, &ToolName::parse("discover_tools")?, &arguments) {
        Ok(Step::Reply(reply) | Step::Found(reply, _)) => Ok(reply),
        Ok(Step::Call(_)) => anyhow::bail!("discovering called a tool"),
        Err(mend) => Err(mend.into()),
    }
}

/// The text that a model reads of a block.
fn text_of(block: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Text {
        text: Option<String>,
    }
    let text = serde_json::from_str::<Text>(block.get()).ok().and_then(|block| block.text);
    text.unwrap_or_else(|| to_raw_value(block).map(|b| b.get().to_owned()).unwrap_or_default())
}
