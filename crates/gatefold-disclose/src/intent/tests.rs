//! Whole surfaces and answers, as a model reads them.

use std::sync::Arc;

use gatefold_catalog::{GroupRules, KindName, Manifest, Pattern, Snapshot, SourceEntry, ToolSpec};
use gatefold_core::{Domain, Timestamp};
use insta::assert_snapshot;
use serde_json::json;

use super::*;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn view() -> View {
    let channel = json!({
        "type": "object",
        "properties": { "channel": { "type": "string" }, "text": { "type": "string" } },
        "required": ["channel", "text"],
    });
    let source = |domain: &str, tools: Vec<ToolSpec>| {
        let start = Manifest::builder(Timestamp::from_millis(0));
        let manifest =
            tools.into_iter().fold(start, gatefold_catalog::ManifestBuilder::tool).build();
        SourceEntry {
            domain: Domain::parse(domain).unwrap(),
            kind: KindName::new("mcp"),
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            manifest: Some(Arc::new(manifest)),
        }
    };
    let send = ToolSpec::new("send_message").description("Send a message to a channel.");
    let entries = vec![
        source(
            "slack",
            vec![
                send.input_schema(channel),
                ToolSpec::new("list_channels").description("List the channels."),
            ],
        ),
        source("files", vec![ToolSpec::new("read_file").description("Read a file.")]),
    ];
    View::whole(Arc::new(Snapshot::build(entries, 1)))
}

fn answer(disclosure: &IntentDisclosure, name: &str, arguments: &str) -> String {
    let name = ToolName::parse(name).unwrap();
    match disclosure.interpret(&view(), &name, &raw(arguments)) {
        Ok(Step::Found(reply, found)) => {
            let tools: Vec<_> = found.tools.iter().map(gatefold_core::ToolId::as_str).collect();
            let text: serde_json::Value = serde_json::from_str(reply.content[0].get()).unwrap();
            format!("{} [{}]", text["text"].as_str().unwrap(), tools.join(", "))
        }
        Ok(Step::Reply(reply) | Step::Loaded(reply, _)) => reply.content[0].get().to_owned(),
        Ok(Step::Call(request)) => {
            format!("call {} {}", request.operation.subject(), request.operation.arguments())
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_answer_says_which_tools_it_shows_whole() {
    let whole = |discovery_tokens| {
        let limits = GatewayLimits { discovery_tokens, ..GatewayLimits::default() };
        let disclosure = IntentDisclosure { limits, ..IntentDisclosure::default() };
        let arguments = raw(r#"{"intent":"list channels and send a message to a channel"}"#);
        let name = ToolName::parse(DISCOVER).unwrap();
        match disclosure.interpret(&view(), &name, &arguments) {
            Ok(Step::Found(_, found)) => (found.tools.len(), found.whole),
            other => panic!("{other:?}"),
        }
    };
    let (found, all) = whole(2000);
    assert!(found >= 2 && all.len() == found, "{all:?}");
    let (found, first) = whole(1);
    assert!(found >= 2 && first == all[..1], "{first:?}");
}

#[test]
fn two_tools_are_shown_and_the_domains_named() {
    let surface = IntentDisclosure::default().surface(&view(), &ClientLimits::default());
    let tools: Vec<_> = surface.tools.iter().map(|tool| tool.definition.get()).collect();
    assert_snapshot!(tools.join("\n"), @r#"
    {"name":"discover_tools","description":"Search the catalogue of tools by intent. Returns the schemas of the likeliest tools, ready to call. Use it for whatever your other tools cannot do.\n\nDomains: files, slack","inputSchema":{"type":"object","properties":{"intent":{"type":"string","description":"What you want to do, in which service."},"top_k":{"type":"integer","minimum":1,"maximum":5,"default":3}},"required":["intent"]},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}
    {"name":"execute_tool","description":"Run a tool that discover_tools found.","inputSchema":{"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the tool's schema."}},"required":["tool_name"]},"annotations":{"readOnlyHint":false,"idempotentHint":false,"openWorldHint":true}}
    "#);
}

#[test]
fn an_intent_is_answered_with_schemas_ready_to_call() {
    let disclosure = IntentDisclosure::default();
    let intent = r#"{"intent":"send a Slack message to a channel","top_k":2}"#;
    assert_snapshot!(answer(&disclosure, "discover_tools", intent), @r#"{"intent":"send a Slack message to a channel","fit":"exact","tools":[{"name":"slack__send_message","domain":"slack","group":"general","description":"Send a message to a channel.","parameters":{"type":"object","properties":{"channel":{"type":"string"},"text":{"type":"string"}},"required":["channel","text"]}},{"name":"slack__list_channels","domain":"slack","group":"general","description":"List the channels.","parameters":{"type":"object"}}]} [slack__send_message, slack__list_channels]"#);
}

#[test]
fn the_first_is_whole_and_others_have_their_signatures_if_the_budget_is_small() {
    let limits = GatewayLimits { discovery_tokens: 10, ..GatewayLimits::default() };
    let disclosure = IntentDisclosure { limits, ..IntentDisclosure::default() };
    let intent = r#"{"intent":"send a message to a channel"}"#;
    assert_snapshot!(answer(&disclosure, "discover_tools", intent), @r#"{"intent":"send a message to a channel","fit":"exact","tools":[{"name":"slack__send_message","domain":"slack","group":"general","description":"Send a message to a channel.","parameters":{"type":"object","properties":{"channel":{"type":"string"},"text":{"type":"string"}},"required":["channel","text"]}},{"name":"slack__list_channels","description":"List the channels.","signature":"slack__list_channels()"}]} [slack__send_message, slack__list_channels]"#);
}

#[test]
fn a_wrong_call_says_how_to_call() {
    let disclosure = IntentDisclosure::default();
    for (name, arguments, expected) in [
        (
            "discover_tools",
            "{}",
            "Missing parameter 'intent' of discover_tools. Say what you want to do.",
        ),
        (
            "discover_tools",
            r#"{"intent":"x","top_k":0}"#,
            "Parameter 'top_k' of discover_tools must be a number from 1 to 5.",
        ),
        (
            "discover_tools",
            r#"{"intent":"x","query":"y"}"#,
            "Unknown parameter 'query' of discover_tools. Parameters: intent, top_k",
        ),
        (
            "execute_tool",
            "{}",
            "Missing parameter 'tool_name' of execute_tool. Use discover_tools to find tools.",
        ),
        ("execute_tool", r#"{"tool_name":"slack__list_channels"}"#, "call slack__list_channels {}"),
        (
            "execute_tool",
            r#"{"tool_name":"discover_tools"}"#,
            "'discover_tools' is a tool of its own. Call discover_tools directly, not through execute_tool.",
        ),
        (
            "slack__list_channels",
            "{}",
            "Call 'slack__list_channels' through execute_tool, with the tool_name 'slack__list_channels'.",
        ),
        ("nothing", "{}", "Unknown tool 'nothing'. Tools: discover_tools, execute_tool"),
    ] {
        assert_eq!(answer(&disclosure, name, arguments), expected, "{name} {arguments}");
    }
}

#[test]
fn pinned_tools_are_called_directly() {
    let disclosure = IntentDisclosure {
        pinned: vec![Pattern::new("files__*")].into(),
        ..IntentDisclosure::default()
    };
    let surface = disclosure.surface(&view(), &ClientLimits::default());
    let names: Vec<_> = surface.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["discover_tools", "execute_tool", "files__read_file"]);
    assert_eq!(answer(&disclosure, "files__read_file", "null"), "call files__read_file {}");
}
