//! Tools about the things that sources have: searching one of them, or all.

use std::sync::Arc;

use gatefold_catalog::{
    GroupRules, Manifest, ManifestBuilder, Snapshot, SourceEntry, Supplement, ToolSpec, ToolTopic,
    View, VisibleSet,
};
use gatefold_core::{Domain, Timestamp, ToolName};
use gatefold_disclose::{ClientLimits, Disclosure as _, FlatDisclosure, Names, TypedDisclosure};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::catalogue::{ask_of, view};
use crate::kinds::kind_named;

const TOOLS: [&str; 2] = ["look_up", "quote"];

fn source(domain: &str, topics: Vec<ToolTopic>, beside: Option<&str>) -> SourceEntry {
    let start = Manifest::builder(Timestamp::from_millis(0))
        .supplement(Supplement { topics, attachment: String::new() });
    let tools = TOOLS.into_iter().chain(beside).map(ToolSpec::new);
    let manifest = tools.fold(start, ManifestBuilder::tool).build();
    SourceEntry {
        domain: Domain::parse(domain).unwrap(),
        kind: kind_named("bases"),
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        manifest: Some(Arc::new(manifest)),
    }
}

/// A base has itself as the one topic of each of its tools.
fn base(domain: &str) -> SourceEntry {
    let topic = |tool: &str| ToolTopic {
        tool: tool.to_owned(),
        name: domain.to_owned(),
        description: format!("All about {domain}"),
        ..ToolTopic::default()
    };
    source(domain, TOOLS.map(topic).to_vec(), Some("list_all"))
}

fn bases(domains: &[&str]) -> View {
    let all = domains.iter().map(|domain| base(domain));
    view(all.chain([source("library", Vec::new(), None)]).collect())
}

fn ask(view: &View, tool: &str, arguments: &Value) -> String {
    ask_of(&TypedDisclosure::default(), view, tool, arguments)
}

fn fault(view: &View, tool: &str, arguments: &Value) -> String {
    let arguments = RawValue::from_string(arguments.to_string()).unwrap();
    let name = ToolName::parse(tool).unwrap();
    let step = TypedDisclosure::default().interpret(view, &name, &arguments);
    step.expect_err("the call cannot be understood").to_string()
}

pub(crate) fn a_search_goes_to_the_named_one_or_to_all() {
    let two = bases(&["hr", "legal"]);
    assert_eq!(
        ask(&two, "look_up", &json!({"query": "leave", "base": "HR", "top": 3})),
        r#"hr__look_up {"query":"leave","top":3}"#
    );
    let all = ask(&two, "quote", &json!({"question": "how many days?"}));
    assert_eq!(all, r#"library__quote {"question":"how many days?"}"#);
    let one = bases(&["hr"]);
    let only = ask(&one, "quote", &json!({"question": "how many days?"}));
    assert_eq!(only, r#"hr__quote {"question":"how many days?"}"#, "there is only one to search");
    let unknown = fault(&two, "look_up", &json!({"query": "leave", "base": "legel"}));
    assert_eq!(unknown, "Unknown base 'legel'. Did you mean 'legal'? Available bases: hr, legal");
    assert_eq!(
        fault(&two, "look_up", &json!({"base": "hr"})),
        "Missing parameter 'query' of look_up. Say what to look for."
    );
}

pub(crate) fn one_that_is_called_as_all_are_is_one_of_them() {
    let named = view([base("hr"), base("library")].into());
    assert_eq!(
        fault(&named, "look_up", &json!({"query": "leave"})),
        "Missing parameter 'base' of look_up. Available bases: hr, library"
    );
    assert!(shown_of(&["library"], &[]).contains("library__look_up"));
}

pub(crate) fn what_is_searched_is_named_and_nothing_else_is_needed() {
    let surface =
        TypedDisclosure::default().surface(&bases(&["hr", "legal"]), &ClientLimits::default());
    let names: Vec<_> = surface.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, TOOLS, "neither the tools for all nor those beside stand there");
    let definition: Value = serde_json::from_str(surface.tools[0].definition.get()).unwrap();
    assert_eq!(definition["inputSchema"]["properties"]["base"]["enum"], json!(["hr", "legal"]));
    assert_eq!(definition["inputSchema"]["required"], json!(["query"]));
    let description = definition["description"].as_str().unwrap();
    assert!(description.contains("- **legal**: All about legal"), "{description}");
    let nothing = TypedDisclosure::default().surface(&bases(&[]), &ClientLimits::default());
    assert!(nothing.tools.is_empty(), "without a topic there is nothing to search");
}

pub(crate) fn a_tool_beside_the_topics_is_called_by_its_name() {
    let two = bases(&["hr", "legal"]);
    assert_eq!(ask(&two, "hr__list_all", &json!({})), "hr__list_all {}");
}

/// What somebody is shown who may see these bases only, of all that there are.
fn shown_of(all: &[&str], visible: &[&str]) -> String {
    let own = all.iter().map(|domain| base(domain));
    // The first of a name wins.
    let entries = own.chain([source("library", Vec::new(), None)]).collect();
    let snapshot = Arc::new(Snapshot::build(entries, 1));
    let is_visible =
        |domain: &Domain| domain.as_str() == "library" || visible.contains(&domain.as_str());
    let set = VisibleSet::of(&snapshot, |target| is_visible(&target.domain), is_visible);
    let view = View::of(snapshot, set);
    let limits = ClientLimits::default();
    let flat = FlatDisclosure { names: Names::Public }.surface(&view, &limits);
    let typed = TypedDisclosure::default().surface(&view, &limits);
    let domains: Vec<_> = view.domains().map(|entry| entry.domain().clone()).collect();
    format!("{flat:?} {typed:?} {domains:?}")
}

pub(crate) fn whoever_sees_one_base_cannot_tell_that_there_are_more() {
    for visible in [&["hr"][..], &[]] {
        let shown = shown_of(&["hr", "legal"], visible);
        assert_eq!(shown, shown_of(visible, visible));
        assert!(!shown.contains("library"), "there are not two to search");
    }
    assert!(shown_of(&["hr", "legal", "secret"], &["hr", "legal"]).contains("library__look_up"));
}
