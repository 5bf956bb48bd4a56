use std::sync::Arc;

use gatefold_catalog::{GroupRules, Manifest, Snapshot, SourceEntry, ToolSpec};
use gatefold_core::{Domain, Timestamp};

use super::*;
use crate::test_kinds::kind_named;
use crate::{
    AutoDisclosure, ClientLimits, FlatDisclosure, Gateway, IntentDisclosure, Names,
    NamespaceDisclosure, TypedDisclosure,
};

fn source(domain: &str, kind: &'static str, tools: &[(&str, &str)]) -> SourceEntry {
    let spec = |(name, about): &(&str, &str)| ToolSpec::new(*name).description(*about);
    let start = Manifest::builder(Timestamp::from_millis(0));
    let manifest =
        tools.iter().map(spec).fold(start, gatefold_catalog::ManifestBuilder::tool).build();
    SourceEntry {
        domain: Domain::parse(domain).unwrap(),
        kind: kind_named(kind),
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        manifest: Some(Arc::new(manifest)),
    }
}

fn view(entries: Vec<SourceEntry>) -> View {
    View::whole(Arc::new(Snapshot::build(entries, 1)))
}

fn small() -> View {
    view(vec![
        source("slack", "mcp", &[("send_message", "Send a message."), ("list", "List channels.")]),
        source("shop", "openapi", &[("order", "Order a thing."), ("refund", "Refund an order.")]),
        source("db", "database", &[("list_tables", "List tables."), ("query", "Run a query.")]),
        source("builtin", "builtin", &[("calculate", "Calculate an expression.")]),
    ])
}

/// A view of one server with so many tools that no description has room for their names.
fn large() -> View {
    let names: Vec<_> =
        (0..400).map(|number| format!("examine_the_archived_invoice_{number}")).collect();
    let tools: Vec<_> =
        names.iter().map(|name| (name.as_str(), "Examine an archived invoice.")).collect();
    view(vec![source("archive", "mcp", &tools)])
}

fn ours() -> [(&'static str, Box<dyn Disclosure>); 6] {
    [
        ("gateway", Box::new(Gateway::default())),
        ("namespace", Box::new(NamespaceDisclosure::default())),
        ("typed", Box::new(TypedDisclosure::default())),
        ("intent", Box::new(IntentDisclosure::default())),
        ("flat", Box::new(FlatDisclosure { names: Names::Public })),
        ("auto", Box::new(AutoDisclosure::default())),
    ]
}

fn rehearsed(disclosure: &dyn Disclosure, view: &View, id: &str) -> Option<Rehearsal> {
    let surface = disclosure.surface(view, &ClientLimits::default());
    rehearse(disclosure, view, &surface, view.find(id).unwrap())
}

/// How many calls each disclosure takes to each tool, the last one included.
#[track_caller]
fn check(view: &View, id: &str, expected: [usize; 6]) {
    for ((name, disclosure), expected) in ours().into_iter().zip(expected) {
        let rehearsal = rehearsed(&*disclosure, view, id);
        let rehearsal = rehearsal.unwrap_or_else(|| panic!("{name} does not lead to {id}"));
        assert_eq!(rehearsal.calls, expected, "{name}: {:?}", rehearsal.read);
        assert_eq!(rehearsal.read.len() + 1, rehearsal.calls, "{name}");
    }
}

#[test]
fn each_disclosure_leads_to_each_tool_in_as_few_calls_as_it_says() {
    let view = small();
    // gateway, namespace, typed, intent, flat, auto: which shows the gateway's three here.
    check(&view, "slack__send_message", [3, 2, 2, 2, 1, 3]);
    check(&view, "shop__refund", [3, 2, 2, 2, 1, 3]);
    // A database's tools need no schema under `typed`, and built-in ones are at the top.
    check(&view, "db__query", [3, 2, 1, 2, 1, 3]);
    check(&view, "builtin__calculate", [3, 2, 1, 2, 1, 3]);
}

#[test]
fn a_tool_that_no_description_names_is_listed_first() {
    let (view, id) = (large(), "archive__examine_the_archived_invoice_399");
    for (name, disclosure) in ours() {
        let rehearsal = rehearsed(&*disclosure, &view, id).unwrap();
        let least = match name {
            "flat" => 1,
            "intent" => 2,
            _ => 3,
        };
        assert!(rehearsal.calls >= least, "{name}: {}", rehearsal.calls);
    }
}

#[test]
fn what_is_read_is_what_the_disclosure_answers() {
    let rehearsal = rehearsed(&Gateway::default(), &small(), "slack__send_message").unwrap();
    let [found, schema] = rehearsal.read.as_slice() else { panic!("{rehearsal:?}") };
    let (found, schema): (Value, Value) =
        (serde_json::from_str(found).unwrap(), serde_json::from_str(schema).unwrap());
    assert_eq!(found["query"], "Send a message.");
    assert_eq!(found["results"][0]["name"], "slack__send_message");
    assert!(schema["parameters"].is_object(), "{schema}");
}

#[test]
fn a_domain_that_shares_its_pair_is_reached_too() {
    let domains: Vec<_> = (0..80).map(|number| format!("d{number:02}")).collect();
    let entries = domains.iter().map(|domain| source(domain, "mcp", &[("act", "Act on it.")]));
    let view = view(entries.collect());
    let rehearsal = rehearsed(&NamespaceDisclosure::default(), &view, "d79__act").unwrap();
    assert!((2..=3).contains(&rehearsal.calls), "{rehearsal:?}");
}

/// Shows the gateway's surface and answers nothing.
struct Mute;

impl Disclosure for Mute {
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface {
        Gateway::default().surface(view, limits)
    }

    fn interpret(
        &self,
        _: &View,
        _: &ToolName,
        _: &serde_json::value::RawValue,
    ) -> Result<Step, crate::UsageError> {
        Err(crate::UsageError::new("No."))
    }

    fn render(
        &self,
        _: &View,
        _: &ToolName,
        _: &gatefold_catalog::Request,
        _: Result<gatefold_core::Outcome, gatefold_core::CallError>,
    ) -> Reply {
        Reply::text("No.")
    }
}

#[test]
fn a_way_that_leads_nowhere_is_none() {
    assert_eq!(rehearsed(&Mute, &small(), "slack__list"), None);
}

#[test]
fn typical_tools_are_of_median_size_and_of_the_largest_domains() {
    let view = view(vec![
        source("a", "mcp", &[("one", "x")]),
        source("b", "mcp", &[("long", &"x".repeat(99)), ("mid", &"x".repeat(50)), ("s", "x")]),
        source("skills", "skills", &[("r", "x"), ("s", "x"), ("t", "x"), ("u", "x")]),
        source("c", "mcp", &[("one", "x")]),
    ]);
    let ids = |most| -> Vec<_> {
        typical_tools(&view, most).iter().map(|tool| tool.id().to_string()).collect()
    };
    assert_eq!(ids(1), ["b__mid"]);
    assert_eq!(ids(9), ["b__mid", "a__one", "c__one"]);
    assert_eq!(ids(0), [""; 0]);
}

#[test]
fn a_name_is_mentioned_as_a_whole_word() {
    for (text, name, expected) in [
        ("- list: lists", "list", true),
        ("create, list_all, +2 more", "list", false),
        ("create, list", "list", true),
        ("relist", "list", false),
        ("(3 tools: list ...)", "list", true),
        ("", "list", false),
    ] {
        assert_eq!(mentions(text, name), expected, "{text}");
    }
}
