//! What models see of real tool lists, in o200k tokens.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use gatefold_catalog::{GroupRules, KindName, Manifest, ServerInfo, Snapshot, SourceEntry, View};
use gatefold_core::{Domain, Timestamp};
use gatefold_disclose::{ClientLimits, Disclosure as _, Gateway};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::reading::{count, discover, text_of};
use super::table::{markdown, write_section};
use super::{answers, say};

/// A server's answer to `tools/list`, as it is stored in a catalogue.
#[derive(Deserialize)]
struct Listing {
    server: String,
    tools: Box<RawValue>,
}

#[expect(clippy::disallowed_methods, reason = "a chore reads its own variables")]
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
    let mut section =
        format!("\n{tools} tools of {sources} servers:\n\n{}\n", markdown(&head, &rows));
    if let Some(requests) = std::env::var_os("GATEFOLD_REQUESTS") {
        section += &answers::table(&vocabulary, &view, Path::new(&requests))?;
        section.push('\n');
    }
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
pub(super) fn compact(json: &str) -> String {
    serde_json::from_str::<serde_json::Value>(json).map_or_else(|_| json.into(), |v| v.to_string())
}

/// The lists of a folder, each a source named after its server.
pub(super) fn entries(folder: &Path) -> Result<Vec<SourceEntry>> {
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
            description: None,
            instructions: None,
            protocol: "2025-11-25".to_owned(),
            capabilities: None,
            whole: None,
        };
        let page = RawValue::from_string(format!(r#"{{"tools":{}}}"#, listing.tools.get()))?;
        let manifest = Manifest::from_pages(server, &[page], Timestamp::from_millis(0));
        entries.push(SourceEntry {
            domain: Domain::from_key(&listing.server),
            kind: KindName::new("mcp"),
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            manifest: Some(Arc::new(manifest)),
        });
    }
    Ok(entries)
}
