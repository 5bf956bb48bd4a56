//! Every surface is the same, however often and in whatever order its catalogue is built.

use std::sync::Arc;

use gatefold_catalog::{Manifest, Pattern, ServerInfo, View};
use gatefold_core::Domain;
use gatefold_disclose::{
    AutoDisclosure, ClientLimits, Disclosure, FlatDisclosure, Gateway, IntentDisclosure, Names,
    NamespaceDisclosure, Surface, ToolModes, TypedDisclosure,
};
use serde_json::{Value, json};

use crate::catalogue::{Source, manifest, view};
use crate::chance::Chance;
use crate::kinds::kind_named;

const REBUILDS: usize = 100;

/// A surface of more tools is compared in two of so many rebuilds, one of them with other orders of
/// keys. No generated one is so large.
const LARGE_SURFACE: usize = 500;
const LARGE_STEP: usize = 50;

pub(crate) fn disclosures() -> Vec<(&'static str, Box<dyn Disclosure>)> {
    let legacy = ["connector", "database", "mcp"].into();
    let modes = ToolModes { legacy, inline: ["read_skill"].into() };
    let pinned = vec![Pattern::new("*__*_1*")].into();
    let auto = |flat_tokens| Box::new(AutoDisclosure { gateway: Gateway::default(), flat_tokens });
    vec![
        ("gateway", Box::new(Gateway::default())),
        ("namespace", Box::new(NamespaceDisclosure::default())),
        ("typed", Box::new(TypedDisclosure::default())),
        ("intent", Box::new(IntentDisclosure::default())),
        ("auto as the gateway", auto(0)),
        ("auto as flat", auto(usize::MAX)),
        ("flat", Box::new(FlatDisclosure { names: Names::Public })),
        ("typed, one by one", Box::new(TypedDisclosure { modes, ..TypedDisclosure::default() })),
        ("gateway with pins", Box::new(Gateway { pinned, ..Gateway::default() })),
    ]
}

/// Builds the catalogue a hundred times. Each time sources arrive in another order, some of them are
/// read anew with their tools in another order and on other pages, and one is down: what it offers is
/// known from disk. In every other rebuild the keys of all objects of those read anew are in another
/// order, too.
///
/// All surfaces stay the same to the byte, except that a source's own definition keeps the order of
/// its keys where it is given on as it came. Then its name, its place and its meaning stay.
pub(crate) fn every_surface_is_the_same(sources: &[Source], read_anew: usize) {
    let disclosures = disclosures();
    let limits = ClientLimits::default();
    let first = view(sources.iter().map(Source::entry).collect());
    let expected: Vec<Surface> =
        disclosures.iter().map(|(_, disclosure)| disclosure.surface(&first, &limits)).collect();
    let is_a_sources = |name: &str| first.find(name).is_some();
    let mut chance = Chance::new(7);
    for rebuild in 0..REBUILDS {
        let are_keys_shuffled = rebuild % 2 == 1;
        let again = rebuilt(sources, rebuild, read_anew, are_keys_shuffled, &mut chance);
        for ((name, disclosure), expected) in disclosures.iter().zip(&expected) {
            // Each of the largest takes seconds.
            if expected.tools.len() > LARGE_SURFACE && rebuild % LARGE_STEP > 1 {
                continue;
            }
            let what = format!("rebuild {rebuild}: {name}");
            let may_differ = |name: &str| are_keys_shuffled && is_a_sources(name);
            assert_same(&what, expected, &disclosure.surface(&again, &limits), may_differ);
        }
    }
}

/// Compares two surfaces. The keys of some tools' definitions may have another order.
fn assert_same(
    what: &str,
    expected: &Surface,
    surface: &Surface,
    may_differ: impl Fn(&str) -> bool,
) {
    assert_eq!(expected.instructions, surface.instructions, "{what}");
    assert_eq!(expected.tools.len(), surface.tools.len(), "{what}");
    for (expected, tool) in expected.tools.iter().zip(&surface.tools) {
        assert_eq!(expected.name, tool.name, "{what}");
        let (expected, text) = (expected.definition.get(), tool.definition.get());
        if expected != text && may_differ(&tool.name) {
            let meaning = |text| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(meaning(expected), meaning(text), "{what}");
        } else {
            assert_eq!(expected, text, "{what}");
        }
    }
}

fn rebuilt(
    sources: &[Source],
    rebuild: usize,
    read_anew: usize,
    are_keys_shuffled: bool,
    chance: &mut Chance,
) -> View {
    let mut entries: Vec<_> = sources.iter().map(Source::entry).collect();
    for step in 0..read_anew {
        let at = (rebuild * read_anew + step) % entries.len();
        let mut tools = sources[at].tools.clone();
        if are_keys_shuffled {
            tools = tools.iter().map(|tool| chance.reordered(tool)).collect();
        }
        chance.shuffle(&mut tools);
        let (first, rest) = tools.split_at(chance.below(tools.len() + 1));
        let listed_again = manifest(&sources[at].server, &[first, rest]);
        // By this a running gateway knows that nothing changed, and keeps the list that it has.
        assert_eq!(listed_again.digest(), sources[at].manifest.digest());
        entries[at].manifest = Some(Arc::new(listed_again));
    }
    let down = rebuild % entries.len();
    let stored = entries[down].manifest.take().unwrap().to_bytes();
    entries[down].manifest = Some(Arc::new(Manifest::from_bytes(&stored).unwrap()));
    chance.shuffle(&mut entries);
    view(entries)
}

/// Sources of each kind with tools whose names, lines and lengths resemble one another.
pub(crate) fn generated() -> Vec<Source> {
    let kinds = ["mcp", "openapi", "database", "builtin", "mcp", "openapi"];
    let source = |(number, kind): (usize, &'static str)| {
        let tools: Vec<_> = match kind {
            "database" => ["list_tables", "describe_table", "query"].map(database_tool).to_vec(),
            _ => (0..8 + number).map(|place| tool(number, place)).collect(),
        };
        let server = ServerInfo {
            name: format!("server {number}"),
            version: "1".to_owned(),
            title: None,
            description: number.is_multiple_of(2).then(|| format!("Keeps the things of {number}.")),
            instructions: None,
            protocol: "2025-11-25".to_owned(),
            capabilities: None,
            whole: None,
        };
        let manifest = Arc::new(manifest(&server, &[&tools]));
        let domain = Domain::parse(&format!("source_{number}")).unwrap();
        Source { domain, kind: kind_named(kind), server, tools, manifest }
    };
    kinds.into_iter().cycle().take(9).enumerate().map(source).collect()
}

fn tool(source: usize, place: usize) -> Value {
    let verb = ["create", "list", "get", "remove"][place % 4];
    let noun = ["issue", "invoice", "page"][(source + place) % 3];
    json!({
        "name": format!("{verb}_{noun}_{place}"),
        "title": format!("{verb} {noun}"),
        "description": format!("{verb} the {noun} of the {place}th kind. It has no other effect."),
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": { "type": "string", "description": "Which one." },
                "options": { "type": "object", "properties": { "deep": { "type": "boolean" } } },
            },
            "required": ["id"],
        },
        "annotations": { "readOnlyHint": place.is_multiple_of(2), "openWorldHint": true },
    })
}

fn database_tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": format!("The tool {name} of a database."),
        "inputSchema": { "type": "object", "properties": { "sql": { "type": "string" } } },
    })
}
