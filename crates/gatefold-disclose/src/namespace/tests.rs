//! Whole surfaces and answers, as a model reads them.

use std::sync::Arc;

use gatefold_catalog::{
    GroupRules, KindName, Manifest, Pattern, Snapshot, SourceEntry, Supplement, ToolSpec,
    ToolTopic, View,
};
use gatefold_core::{Domain, Hints, Payload, Timestamp};
use insta::assert_snapshot;
use serde_json::json;

use super::*;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn source(domain: &str, description: &str, tools: Vec<ToolSpec>) -> SourceEntry {
    let start = Manifest::builder(Timestamp::from_millis(0));
    let manifest = tools.into_iter().fold(start, gatefold_catalog::ManifestBuilder::tool).build();
    SourceEntry {
        domain: Domain::parse(domain).unwrap(),
        kind: KindName::new("mcp"),
        description: Some(description.to_owned()),
        aliases: Vec::new(),
        groups: GroupRules::default(),
        manifest: Some(Arc::new(manifest)),
    }
}

fn view_of(sources: Vec<SourceEntry>) -> View {
    View::whole(Arc::new(Snapshot::build(sources, 1)))
}

fn view() -> View {
    let reading = Hints { read_only: Some(true), open_world: Some(false), ..Hints::default() };
    let issue = json!({"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]});
    let get = ToolSpec::new("get_issue").description("Get one issue.").input_schema(issue);
    view_of(vec![
        source(
            "jira",
            "Project management",
            vec![
                get.hints(reading),
                ToolSpec::new("create_issue").description("Create an issue in a project."),
            ],
        ),
        source("notes", "", vec![ToolSpec::new("find").description("Find a note.").hints(reading)]),
    ])
}

/// Many domains with one tool each.
fn crowd(domains: usize) -> View {
    let one = |number: usize| {
        let tool = ToolSpec::new("act").description("Does what it is for.");
        source(&format!("d{number:03}"), "One of many", vec![tool])
    };
    view_of((0..domains).map(one).collect())
}

fn surface(view: &View) -> Surface {
    NamespaceDisclosure::default().surface(view, &ClientLimits::default())
}

fn answer(view: &View, name: &str, arguments: &str) -> String {
    let disclosure = NamespaceDisclosure::default();
    let name = ToolName::parse(name).unwrap();
    match disclosure.interpret(view, &name, &raw(arguments)) {
        Ok(Step::Reply(reply) | Step::Loaded(reply, _)) => reply.content[0].get().to_owned(),
        Ok(Step::Call(request)) => {
            let operation = &request.operation;
            format!("call {} {}", operation.subject(), operation.arguments())
        }
        Ok(Step::Found(..)) => panic!("nothing is searched for"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_domain_has_a_pair_whose_description_lists_its_tools() {
    let surface = surface(&view());
    let tools: Vec<_> = surface.tools.iter().map(|tool| tool.definition.get()).collect();
    assert_snapshot!(tools.join("\n"), @r#"
    {"name":"jira__get_tool_schema","description":"Get the parameter schema of a tool of jira (Project management). Tools:\n- create_issue: Create an issue in a project.\n- get_issue: Get one issue.","inputSchema":{"type":"object","properties":{"tool_name":{"type":"string","description":"One of the tools above. Omit to list all."},"cursor":{"type":"string","description":"The last next_cursor."}}},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}
    {"name":"jira__invoke_tool","description":"Run one of the tools of jira, by its name.","inputSchema":{"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema of the tool."}},"required":["tool_name"]},"annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}}
    {"name":"notes__get_tool_schema","description":"Get the parameter schema of a tool of notes (find). Tools:\n- find: Find a note.","inputSchema":{"type":"object","properties":{"tool_name":{"type":"string","description":"One of the tools above. Omit to list all."},"cursor":{"type":"string","description":"The last next_cursor."}}},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}
    {"name":"notes__invoke_tool","description":"Run one of the tools of notes, by its name.","inputSchema":{"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema of the tool."}},"required":["tool_name"]},"annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}}
    "#);
    assert_snapshot!(surface.instructions, @r"
    Tools are grouped by domain. Each domain has two tools:

    1. {domain}__get_tool_schema - Get the parameter schema of one of the domain's tools. Its description lists them.
    2. {domain}__invoke_tool - Run one of them.

    Workflow: get_tool_schema → invoke_tool. Skip the first for tools you've already used in this conversation.

    Domains: jira, notes
    ");
}

#[test]
fn a_tool_is_looked_up_and_called_within_its_domain() {
    let view = view();
    for (name, arguments, expected) in [
        (
            "jira__get_tool_schema",
            r#"{"tool_name":"get_issue"}"#,
            r#""{\"name\":\"jira__get_issue\",\"domain\":\"jira\","#,
        ),
        ("jira__get_tool_schema", r#"{"tool_name":"jira__get_issue"}"#, "jira__get_issue"),
        (
            "jira__get_tool_schema",
            "{}",
            r#"{\"domain\":\"jira\",\"tools\":[{\"name\":\"jira__create_issue\""#,
        ),
        (
            "jira__get_tool_schema",
            r#"{"tool_name":"get_isue"}"#,
            "Unknown tool 'get_isue'. Did you mean 'jira__get_issue'",
        ),
        ("jira__get_tool_schema", r#"{"tool_name":"notes__find"}"#, "Unknown tool 'notes__find'."),
        (
            "jira__get_tool_schema",
            r#"{"tool":"x"}"#,
            "Unknown parameter 'tool' of jira__get_tool_schema.",
        ),
        (
            "jira__invoke_tool",
            r#"{"tool_name":"get_issue","arguments":{"id":7}}"#,
            r#"call jira__get_issue {"id":7}"#,
        ),
        (
            "jira__invoke_tool",
            r#"{"tool_name":"get_issue","id":7}"#,
            r#"call jira__get_issue {"id":7}"#,
        ),
        ("jira__invoke_tool", r#"{"tool_name":"find"}"#, "call jira__find {}"),
        (
            "jira__invoke_tool",
            "{}",
            "Missing parameter 'tool_name' of jira__invoke_tool. jira__get_tool_schema describes the tools.",
        ),
        (
            "jira__create_issue",
            "{}",
            "Call 'jira__create_issue' through jira__invoke_tool, with the tool_name 'create_issue'.",
        ),
        (
            "nothing",
            "{}",
            "Unknown tool 'nothing'. Look tools up with: jira__get_tool_schema, notes__get_tool_schema",
        ),
    ] {
        let told = answer(&view, name, arguments);
        assert!(told.contains(expected), "{name} {arguments}: {told}");
    }
}

#[test]
fn an_unknown_tool_of_a_call_is_told_how_to_find_one() {
    let view = view();
    let name = ToolName::parse("jira__invoke_tool").unwrap();
    let disclosure = NamespaceDisclosure::default();
    let arguments = raw(r#"{"tool_name":"find"}"#);
    let Ok(Step::Call(request)) = disclosure.interpret(&view, &name, &arguments) else {
        panic!("it is called anyway, so that the attempt is on record");
    };
    let error = CallError::UnknownTool {
        name: ToolName::parse("jira__find").unwrap(),
        nearest: Vec::new(),
    };
    let reply = disclosure.render(&view, &name, &request, Err(error));
    assert_eq!(
        reply.content[0].get(),
        r#"{"type":"text","text":"{\"error\":\"Unknown tool 'jira__find'. jira__get_tool_schema describes the tools.\"}"}"#
    );
    let done = Ok(Outcome::Done(Payload::text("7")));
    let arguments = raw(r#"{"tool_name":"get_issue"}"#);
    let Ok(Step::Call(request)) = disclosure.interpret(&view, &name, &arguments) else { panic!() };
    let reply = disclosure.render(&view, &name, &request, done);
    assert_eq!(
        reply.content[0].get(),
        r#"{"type":"text","text":"{\"tool\":\"jira__get_issue\",\"result\":7}"}"#
    );
}

#[test]
fn many_domains_keep_within_what_clients_take() {
    for (domains, tools) in [(64, 128), (65, 128), (300, 128)] {
        let view = crowd(domains);
        let surface = surface(&view);
        assert_eq!(surface.tools.len(), tools, "{domains}");
        for tool in &surface.tools {
            assert!(tool.name.len() <= 64, "{}", tool.name);
            let definition: serde_json::Value =
                serde_json::from_str(tool.definition.get()).unwrap();
            let description = definition["description"].as_str().unwrap();
            assert!(description.len() <= 2048, "{}: {} bytes", tool.name, description.len());
        }
        assert!(surface.instructions.len() <= 2048);
    }
    let view = crowd(300);
    let last = answer(&view, "OTHERS__get_tool_schema", r#"{"tool_name":"d299__act"}"#);
    assert!(last.contains("d299__act"), "{last}");
    let call = answer(&view, "OTHERS__invoke_tool", r#"{"tool_name":"d299__act"}"#);
    assert_eq!(call, "call d299__act {}");
    let missing = answer(&view, "OTHERS__get_tool_schema", "{}");
    assert!(missing.contains("Domains without tools of their own: d063, d064"), "{missing}");
    let own = answer(&view, "OTHERS__get_tool_schema", r#"{"tool_name":"d000__act"}"#);
    assert!(own.starts_with("Unknown tool 'd000__act'."), "{own}");
}

#[test]
fn a_domain_with_many_tools_says_how_many_are_left_out_and_how_to_see_them() {
    let tool = |number: usize| {
        ToolSpec::new(format!("do_thing_number_{number:04}")).description("Does it.")
    };
    let view = view_of(vec![source("many", "Many tools", (0..500).map(tool).collect())]);
    let surface = surface(&view);
    let definition: serde_json::Value =
        serde_json::from_str(surface.tools[0].definition.get()).unwrap();
    let description = definition["description"].as_str().unwrap();
    assert!(description.len() <= 2048);
    assert!(
        description.ends_with(" more\nCall it without tool_name to list all."),
        "{description}"
    );
}

#[test]
fn pinned_tools_stand_beside_the_pairs() {
    let disclosure = NamespaceDisclosure {
        pinned: vec![Pattern::new("notes__*")].into(),
        ..NamespaceDisclosure::default()
    };
    let view = view();
    let surface = disclosure.surface(&view, &ClientLimits::default());
    let names: Vec<_> = surface.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "notes__find",
            "jira__get_tool_schema",
            "jira__invoke_tool",
            "notes__get_tool_schema",
            "notes__invoke_tool"
        ]
    );
    let name = ToolName::parse("notes__find").unwrap();
    let step = disclosure.interpret(&view, &name, &raw("null"));
    assert!(matches!(step, Ok(Step::Call(_))), "{step:?}");
}

#[test]
fn built_in_tools_that_are_needed_at_any_moment_stand_beside_the_pairs() {
    let own = |name: &str| ToolSpec::new(name).description("One of ours.");
    let tools = || vec![own("todo"), own("calculate"), own("fetch")];
    let view = view_of(vec![
        SourceEntry { kind: KindName::new("builtin"), ..source("own", "", tools()) },
        source("other", "", tools()),
    ]);
    let shown = surface(&view);
    let names: Vec<_> = shown.tools.iter().map(|tool| tool.name.as_str()).collect();
    let expected = [
        "own__fetch",
        "own__todo",
        "other__get_tool_schema",
        "other__invoke_tool",
        "own__get_tool_schema",
        "own__invoke_tool",
    ];
    assert_eq!(names, expected);
    assert_eq!(answer(&view, "own__todo", r#"{"a":1}"#), r#"call own__todo {"a":1}"#);
    let refused = answer(&view, "own__calculate", "{}");
    assert!(refused.contains("Call 'own__calculate' through own__invoke_tool"), "{refused}");
}

/// A folder of so many skills for a domain.
fn skills(domain: &str, count: usize) -> SourceEntry {
    let topic = |number: usize| ToolTopic {
        tool: "read_skill".to_owned(),
        name: format!("skill-{number}"),
        description: format!("Do the thing that has the number {number}, step by step."),
        domains: vec![domain.to_owned()],
        ..ToolTopic::default()
    };
    let topics = (0..count).map(topic).collect();
    let manifest = Manifest::builder(Timestamp::from_millis(0))
        .tool(ToolSpec::new("read_skill").description("Read a skill."))
        .supplement(Supplement { topics, attachment: String::new() });
    let skills = source("sops", "Procedures", Vec::new());
    SourceEntry {
        kind: KindName::new("skills"),
        manifest: Some(Arc::new(manifest.build())),
        ..skills
    }
}

#[test]
fn the_skills_for_a_domain_are_named_where_its_tools_are() {
    let jira = || source("jira", "", vec![ToolSpec::new("get_issue").description("Get one.")]);
    let notes = || source("notes", "", vec![ToolSpec::new("find")]);
    let view = view_of(vec![jira(), notes(), skills("jira", 1)]);
    let described = |view: &View, name: &str| {
        let surface = surface(view);
        let tool = surface.tools.iter().find(|tool| tool.name == name).unwrap();
        let tool: serde_json::Value = serde_json::from_str(tool.definition.get()).unwrap();
        tool["description"].as_str().unwrap().to_owned()
    };
    let told = described(&view, "jira__get_tool_schema");
    let expected = "- get_issue: Get one.\n\nSkills for these, to be read first with sops__invoke_tool, \
                    tool_name 'read_skill':\n- skill-0: Do the thing that has the number 0, step by step.";
    assert!(told.ends_with(expected), "{told}");
    assert!(!described(&view, "notes__get_tool_schema").contains("skill"));
    let page = answer(&view, "jira__get_tool_schema", "{}");
    assert!(page.contains(r#"\"skills\":[{\"name\":\"skill-0\""#), "{page}");
    let many = described(&view_of(vec![jira(), skills("jira", 200)]), "jira__get_tool_schema");
    assert!(many.len() <= 2048 && many.contains("more, listed if it has no name"), "{many}");
}
