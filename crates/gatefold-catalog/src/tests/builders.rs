//! Manifests that are built entry by entry.

use gatefold_core::Hints;
use serde_json::json;

use super::*;

fn builder() -> ManifestBuilder {
    Manifest::builder(Timestamp::from_millis(7))
}

fn notes(manifest: &Manifest) -> Vec<String> {
    manifest.alterations().iter().map(ToString::to_string).collect()
}

/// What becomes of one tool: its definition and its group, and the alterations.
fn check(tool: ToolSpec, expected: Option<(&str, Option<&str>)>, noted: &[&str]) {
    let manifest = builder().tool(tool).build();
    let taken = manifest.tools().first().map(|tool| (tool.raw(), tool.group()));
    assert_eq!(taken, expected);
    assert_eq!(notes(&manifest), noted);
}

#[test]
fn a_definition_is_written_in_one_way() {
    let hints = Hints { read_only: Some(true), ..Hints::default() };
    let schema = json!({ "type": "object", "properties": { "b": {}, "a": {} } });
    check(
        ToolSpec::new("get")
            .output_schema(json!({}))
            .hints(hints)
            .input_schema(schema)
            .title("Get"),
        Some((
            r#"{"annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"b":{},"a":{}}},"name":"get","outputSchema":{},"title":"Get"}"#,
            None,
        )),
        &[],
    );
    let bare = r#"{"inputSchema":{"type":"object"},"name":"get"}"#;
    check(ToolSpec::new("get").group("pets"), Some((bare, Some("pets"))), &[]);
}

#[test]
fn a_bad_tool_costs_only_itself() {
    let bare = r#"{"inputSchema":{"type":"object"},"name":"get"}"#;
    check(
        ToolSpec::new("get").input_schema(json!(7)),
        Some((bare, None)),
        &["tool `get` was repaired: `inputSchema` was not of the right kind"],
    );
    check(
        ToolSpec::new("get").group("`pets`"),
        Some((bare, None)),
        &["tool `get` was repaired: its group was not a name for one"],
    );
    let unnamed = "tool 1 was left out: its name is empty or has control characters";
    check(ToolSpec::new(""), None, &[unnamed]);
    let manifest =
        builder().tool(ToolSpec::new("")).tool(ToolSpec::new("a")).tool(ToolSpec::new("a"));
    let manifest = manifest.build();
    assert_eq!(manifest.tools().len(), 1);
    assert_eq!(notes(&manifest), [unnamed, "tool `a` was left out: it is listed twice"]);
}

#[test]
fn a_built_manifest_equals_a_listed_one() {
    let tool = r#"{"name":"a","title":"A","description":"Does \"a\".","inputSchema":{"x":1.0},"annotations":{"destructiveHint":false}}"#;
    let prompt = r#"{"name":"p","description":"P","arguments":[{"name":"x","description":"X","required":true},{"name":"y"}]}"#;
    let resource = r#"{"uri":"a://b","name":"b","mimeType":"text/plain"}"#;
    let template = r#"{"uriTemplate":"a://{x}","name":"t","title":"T"}"#;
    let pages = [
        ("tools", tool),
        ("prompts", prompt),
        ("resources", resource),
        ("resourceTemplates", template),
    ];
    let [tools, prompts, resources, templates] = pages.map(|(member, entry)| [page(member, entry)]);
    let listing =
        Listing { tools: &tools, prompts: &prompts, resources: &resources, templates: &templates };
    let listed = Manifest::from_listing(server(), listing, Timestamp::from_millis(9));
    let hints = Hints { destructive: Some(false), ..Hints::default() };
    let schema = serde_json::from_str(r#"{"x":1.0}"#).unwrap();
    let tool =
        ToolSpec::new("a").title("A").description("Does \"a\".").input_schema(schema).hints(hints);
    let prompt = PromptSpec::new("p").description("P");
    let prompt =
        prompt.argument("x", "X", Necessity::Required).argument("y", "", Necessity::Optional);
    let builder = builder().server(server()).tool(tool.clone()).prompt(prompt);
    let builder = builder.resource(ResourceSpec::new("a://b", "b").mime_type("text/plain"));
    let built = builder.template(TemplateSpec::new("a://{x}", "t").title("T")).build();
    assert_eq!(notes(&built), [""; 0]);
    assert_eq!(built.tools()[0].digest(), listed.tools()[0].digest());
    assert_eq!(built.digest(), listed.digest());
}

#[test]
fn groups_and_the_server_count_in_the_identity_but_not_in_a_definition() {
    let tool = || ToolSpec::new("a");
    let manifests = [
        builder().tool(tool()).build(),
        builder().tool(tool().group("x")).build(),
        builder().tool(tool().group("y")).build(),
        builder().server(server()).tool(tool()).build(),
    ];
    let distinct: std::collections::HashSet<_> = manifests.iter().map(Manifest::digest).collect();
    assert_eq!(distinct.len(), manifests.len());
    let definitions: std::collections::HashSet<_> =
        manifests.iter().map(|manifest| manifest.tools()[0].digest()).collect();
    assert_eq!(definitions.len(), 1);
}

#[test]
fn a_manifest_without_a_server_survives_its_bytes() {
    let manifest =
        builder().tool(ToolSpec::new("ü").group("größe")).tool(ToolSpec::new("a")).build();
    let read = Manifest::from_bytes(&manifest.to_bytes()).unwrap();
    assert_eq!((read.digest(), read.server()), (manifest.digest(), None));
    let groups: Vec<_> = read.tools().iter().map(ToolDefinition::group).collect();
    assert_eq!(groups, [None, Some("größe")]);
}

#[test]
fn the_groups_of_a_source_are_those_of_its_tools_unless_a_rule_says_otherwise() {
    let manifest = builder()
        .tool(ToolSpec::new("get_pet").group("pets"))
        .tool(ToolSpec::new("get_shop").group("shops"))
        .build();
    let mut entry = entry("a", &[]);
    entry.manifest = Some(Arc::new(manifest));
    entry.groups = GroupRules::new([("*_shop", "places")]);
    let snapshot = Snapshot::build(vec![entry], 1);
    let groups: Vec<_> =
        snapshot.tools().iter().map(|tool| (tool.id().as_str(), tool.group())).collect();
    assert_eq!(groups, [("a__get_pet", "pets"), ("a__get_shop", "places")]);
}
