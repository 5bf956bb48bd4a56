//! No text of a surface names a tool that only other surfaces have.

use std::collections::BTreeSet;
use std::sync::Arc;

use gatefold_catalog::{Request, View};
use gatefold_core::{CallError, Operation, ToolName, call_text};
use gatefold_disclose::{
    ClientLimits, Disclosure, ExecuteTools, FlatDisclosure, Gateway, IntentDisclosure, Names,
    Reply, SelectedDisclosure, SelectionLimits, Step,
};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::catalogue::{Source, view};
use crate::rebuilds;

/// What the tools of our own are called, behind a domain and two underscores where they have one. Ordinary words such
/// as `database` are left out.
const OWN: [&str; 8] = [
    "discover_tools",
    "execute_read",
    "execute_tool",
    "execute_write",
    "get_tool_schema",
    "invoke_tool",
    "read_skill",
    "request_tools",
];

/// Calls that go wrong in one disclosure or another.
const CALLS: [&str; 9] = [
    "{}",
    r#"{"query":"launch a rocket into orbit"}"#,
    r#"{"intent":"launch a rocket into orbit"}"#,
    r#"{"tool_name":"rocket__launch"}"#,
    r#"{"tool_names":["rocket__launch"]}"#,
    r#"{"subcommand":"launch"}"#,
    r#"{"subcommand":"discover","connector":"source_1","action":"launch"}"#,
    r#"{"subcommand":"call","server":"source_0","tool":"launch"}"#,
    r#"{"domain":"rocket"}"#,
];

pub(crate) fn no_text_names_a_tool_that_its_surface_lacks() {
    let sources = rebuilds::generated();
    let view = view(sources.iter().map(Source::entry).collect());
    let disclosures = disclosures();
    let mut faults = Vec::new();
    for (disclosure_name, disclosure) in &disclosures {
        let surface = disclosure.surface(&view, &ClientLimits::default());
        let shown: BTreeSet<_> = surface.tools.iter().map(|tool| last(&tool.name)).collect();
        let mut texts = vec![surface.instructions.clone()];
        texts.extend(surface.tools.iter().map(|tool| tool.definition.to_string()));
        let called = surface.tools.iter().map(|tool| tool.name.as_str());
        for name in called.chain(["rocket__launch", "source_0__launch", "launch"]) {
            texts.extend(CALLS.iter().map(|call| answer(&**disclosure, &view, name, call)));
        }
        for text in texts {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let own = words.map(last).filter(|word| OWN.contains(word));
            faults.extend(
                own.filter(|word| !shown.contains(word))
                    .map(|word| format!("{disclosure_name} has no `{word}`: {text}")),
            );
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// All ways to show tools.
fn disclosures() -> Vec<(&'static str, Box<dyn Disclosure>)> {
    let execute = ExecuteTools::Split;
    let flat = Arc::new(FlatDisclosure { names: Names::Public });
    let limits = SelectionLimits::default();
    let mut disclosures = rebuilds::disclosures();
    disclosures.extend::<[(_, Box<dyn Disclosure>); 3]>([
        ("gateway, split", Box::new(Gateway { execute, ..Gateway::default() })),
        ("intent, split", Box::new(IntentDisclosure { execute, ..IntentDisclosure::default() })),
        (
            "selected",
            Box::new(SelectedDisclosure::new(flat, "list the invoices", limits, Vec::new().into())),
        ),
    ]);
    disclosures
}

/// What a source suggests is written as a call that the client can make as it stands.
pub(crate) fn a_suggested_call_leads_to_its_tool() {
    let sources = rebuilds::generated();
    let view = view(sources.iter().map(Source::entry).collect());
    let arguments = RawValue::from_string(r#"{"table":"customer","sql":"SELECT 1"}"#.to_owned());
    let arguments = arguments.unwrap();
    let mut written = BTreeSet::new();
    for (disclosure_name, disclosure) in disclosures() {
        let surface = disclosure.surface(&view, &ClientLimits::default());
        let shown: BTreeSet<_> = surface.tools.iter().map(|tool| tool.name.as_str()).collect();
        for tool in view.tools() {
            let call = disclosure.call_of(&view, tool, &arguments);
            let text = call_text(&call.name, &call.arguments);
            // What was not selected is called by its own name.
            assert!(
                shown.contains(call.name.as_str()) || disclosure_name == "selected",
                "{disclosure_name} has no {text}"
            );
            let name = ToolName::parse(&call.name).unwrap();
            let step = disclosure.interpret(&view, &name, &call.arguments);
            let Ok(Step::Call(request)) = step else {
                panic!("{disclosure_name}: {text}: {step:?}")
            };
            assert_eq!(called(&request).as_str(), tool.id().as_str(), "{disclosure_name}: {text}");
            if tool.definition().name() == "describe_table" {
                let sent = request.operation.arguments();
                assert!(sent.contains(r#""table":"customer""#), "{disclosure_name}: {sent}");
            }
        }
        let describing = view.find("source_2__describe_table").unwrap();
        let arguments = RawValue::from_string(r#"{"table":"customer"}"#.to_owned()).unwrap();
        let call = disclosure.call_of(&view, describing, &arguments);
        written.insert(format!("{disclosure_name}: {}", call_text(&call.name, &call.arguments)));
    }
    for expected in [
        r#"flat: `source_2__describe_table` with {"table":"customer"}"#,
        r#"gateway: `execute_tool` with {"tool_name":"source_2__describe_table","arguments":{"table":"customer"}}"#,
        r#"namespace: `source_2__invoke_tool` with {"tool_name":"describe_table","arguments":{"table":"customer"}}"#,
        r#"typed: `database` with {"subcommand":"discover","database":"source_2","table":"customer"}"#,
    ] {
        assert!(written.contains(expected), "{expected}: {written:#?}");
    }
}

/// A name without its domain.
fn last(name: &str) -> &str {
    name.rsplit("__").next().unwrap_or(name)
}

/// What a call is told if no source has the tool that it leads to.
fn answer(disclosure: &dyn Disclosure, view: &View, name: &str, arguments: &str) -> String {
    let (name, arguments) =
        (ToolName::parse(name).unwrap(), RawValue::from_string(arguments.to_owned()).unwrap());
    match disclosure.interpret(view, &name, &arguments) {
        Ok(Step::Reply(reply) | Step::Found(reply, _) | Step::Loaded(reply, _)) => texts(&reply),
        Ok(Step::Call(request)) => {
            let error = CallError::UnknownTool { name: called(&request), nearest: Vec::new() };
            texts(&disclosure.render(view, &name, &request, Err(error)))
        }
        Err(error) => error.to_string(),
    }
}

fn called(request: &Request) -> ToolName {
    match &*request.operation {
        Operation::Tool { name, .. } => name.clone(),
        other => panic!("{other:?}"),
    }
}

fn texts(reply: &Reply) -> String {
    let texts = reply.content.iter().map(|block| {
        let block: Value = serde_json::from_str(block.get()).unwrap();
        block["text"].as_str().unwrap_or_default().to_owned()
    });
    texts.collect::<Vec<_>>().join("\n")
}
