//! Whole surfaces and answers, as a model reads them.

use std::sync::Arc;

use gatefold::config::kinds::mcp::McpKind;
use gatefold::config::kinds::{
    ActionsKind, BuiltinKind, CONNECTOR, DatabaseKind, OpenApiKind, SkillsKind,
};
use gatefold_catalog::{
    GroupRules, KindName, Manifest, ManifestBuilder, Pattern, ResourceSpec, Snapshot, SourceEntry,
    Supplement, ToolSpec, ToolTopic, TopicText, UnlistedSource, UnlistedState, View,
};
use gatefold_core::{CallError, Domain, Hints, Outcome, Payload, Timestamp, ToolName};
use gatefold_disclose::{
    ClientLimits, Disclosure as _, Pins, Reply, Step, Surface, ToolModes, TypedDisclosure,
};
use gatefold_skills::READ_SKILL;
use insta::assert_snapshot;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The kinds by the words that these tests have for them.
fn kind(name: &str) -> KindName {
    match name {
        "mcp" => McpKind::NAME,
        "openapi" => OpenApiKind::NAME,
        "actions" => ActionsKind::NAME,
        "of_an_embedder" => KindName::at("of_an_embedder", &CONNECTOR),
        "database" => DatabaseKind::NAME,
        "skills" => SkillsKind::NAME,
        "builtin" => BuiltinKind::NAME,
        _ => KindName::new("results"),
    }
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn manifest() -> ManifestBuilder {
    Manifest::builder(Timestamp::from_millis(0))
}

fn source(
    domain: &str,
    kind: &str,
    description: &str,
    manifest: Option<ManifestBuilder>,
) -> SourceEntry {
    SourceEntry {
        domain: Domain::parse(domain).unwrap(),
        kind: self::kind(kind),
        description: Some(description.to_owned()),
        aliases: Vec::new(),
        groups: GroupRules::default(),
        manifest: manifest.map(|manifest| Arc::new(manifest.build())),
    }
}

fn view_of(sources: Vec<SourceEntry>) -> View {
    View::whole(Arc::new(Snapshot::build(sources, 1)))
}

fn reading() -> Hints {
    Hints { read_only: Some(true), open_world: Some(false), ..Hints::default() }
}

fn action(name: &str, description: &str, http: &Value) -> ToolSpec {
    let meta = Map::from_iter([("gatefold/http".to_owned(), http.clone())]);
    ToolSpec::new(name).description(description).meta(meta)
}

fn jira() -> SourceEntry {
    let get = action("get_issue", "Get one issue.", &json!({"method":"GET","path":"/issue/{id}"}));
    let issue = json!({"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]});
    let template = json!({"method":"POST","path":"/issue","body":{"arguments":{"template":{"summary":"{summary}"}},"media":[]}});
    let create = action("create_issue", "Create an issue.", &template);
    let summary = json!({"type":"object","properties":{"summary":{"type":"string"}}});
    let manifest = manifest()
        .tool(get.input_schema(issue).hints(reading()))
        .tool(create.input_schema(summary));
    source("jira", "openapi", "Project management", Some(manifest))
}

fn database(domain: &str, description: &str, tables: &[&str], extra: Option<&str>) -> SourceEntry {
    let sql = json!({"type":"object","properties":{"sql":{"type":"string"},"max_rows":{"type":"integer"}},"required":["sql"]});
    let table = json!({"type":"object","properties":{"table":{"type":"string"},"samples":{"type":"boolean"},"cursor":{"type":"string"}}});
    let topic = |name: &&str| ToolTopic {
        tool: "describe_table".to_owned(),
        name: (*name).to_owned(),
        ..ToolTopic::default()
    };
    let topics = tables.iter().map(topic).collect();
    let mut manifest = manifest()
        .tool(ToolSpec::new("list_tables").hints(reading()))
        .tool(ToolSpec::new("describe_table").input_schema(table).hints(reading()))
        .tool(ToolSpec::new("query").input_schema(sql.clone()).hints(reading()))
        .tool(ToolSpec::new("explain").input_schema(sql.clone()).hints(reading()))
        .supplement(Supplement { topics, attachment: String::new() });
    if let Some(name) = extra {
        manifest = manifest.tool(ToolSpec::new(name).input_schema(sql));
    }
    source(domain, "database", description, Some(manifest))
}

fn skills(domain: &str, skills: &[(&str, &str)]) -> SourceEntry {
    let topic = |(name, description): &(&str, &str)| ToolTopic {
        tool: READ_SKILL.to_owned(),
        name: (*name).to_owned(),
        description: (*description).to_owned(),
        resource: Some(format!("skill://{name}")),
        ..ToolTopic::default()
    };
    let topics = skills.iter().map(topic).collect();
    let input =
        json!({"type":"object","properties":{"name":{"type":"string"},"file":{"type":"string"}}});
    let start = manifest()
        .tool(ToolSpec::new(READ_SKILL).input_schema(input).hints(reading()))
        .supplement(Supplement { topics, attachment: String::new() });
    let with = |all: ManifestBuilder, (name, _): &(&str, &str)| {
        all.resource(ResourceSpec::new(format!("skill://{name}"), *name))
    };
    source(domain, "skills", "", Some(skills.iter().fold(start, with)))
}

/// Skills with their texts, of which those with a `+` have files too.
fn texts(skills: &[(&str, &str)]) -> SourceEntry {
    let topic = |(name, text): &(&str, &str)| ToolTopic {
        tool: READ_SKILL.to_owned(),
        name: name.trim_end_matches('+').to_owned(),
        description: format!("How to do {name}."),
        text: Some(TopicText { text: (*text).to_owned(), is_all: !name.ends_with('+') }),
        ..ToolTopic::default()
    };
    let supplement =
        Supplement { topics: skills.iter().map(topic).collect(), attachment: String::new() };
    let start = manifest().tool(ToolSpec::new(READ_SKILL).hints(reading()));
    source("sops", "skills", "", Some(start.supplement(supplement)))
}

fn inline(view: &View, bytes: usize) -> Surface {
    let modes = ToolModes { inline: [READ_SKILL].into(), ..ToolModes::default() };
    let limits = ClientLimits { instructions_bytes: bytes };
    TypedDisclosure { modes, ..TypedDisclosure::default() }.surface(view, &limits)
}

fn server(domain: &str, description: &str, tools: &[&str]) -> SourceEntry {
    let one = |all: ManifestBuilder, name: &&str| {
        all.tool(ToolSpec::new(*name).description("Does what its name says."))
    };
    source(domain, "mcp", description, Some(tools.iter().fold(manifest(), one)))
}

const TABLES: [&str; 12] = [
    "employees",
    "departments",
    "salaries",
    "offices",
    "teams",
    "roles",
    "holidays",
    "reviews",
    "goals",
    "courses",
    "badges",
    "visits",
];

fn every_kind() -> Vec<SourceEntry> {
    let long = "Handle escalations per company policy, with the deadlines of each region, the people to \
                tell, and what may be offered to whom.";
    let calculate = ToolSpec::new("calculate").description("Work out an expression.");
    let read = ToolSpec::new("read_result").description("Read on in a kept result.");
    vec![
        jira(),
        source("crm", "actions", "", Some(manifest().tool(ToolSpec::new("get_contacts")))),
        database("hr", "HR system", &TABLES, None),
        database("shop", "Orders", &["orders"], Some("execute")),
        server("github", "GitHub", &["create_issue", "list_repos"]),
        source("slack", "mcp", "Slack", None),
        skills("sops", &[("refunds", "Step-by-step refund workflow."), ("complaints", long)]),
        source("local", "builtin", "", Some(manifest().tool(calculate.hints(reading())))),
        source("results", "results", "", Some(manifest().tool(read.hints(reading())))),
    ]
}

fn legacy() -> TypedDisclosure {
    let modes =
        ToolModes { legacy: ["connector", "database", "mcp"].into(), ..ToolModes::default() };
    TypedDisclosure { modes, ..TypedDisclosure::default() }
}

fn names(surface: &Surface) -> Vec<&str> {
    surface.tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn description(surface: &Surface, name: &str) -> String {
    let tool = surface.tools.iter().find(|tool| tool.name == name).unwrap();
    let definition: Value = serde_json::from_str(tool.definition.get()).unwrap();
    definition["description"].as_str().unwrap().to_owned()
}

fn surface(view: &View) -> Surface {
    TypedDisclosure::default().surface(view, &ClientLimits::default())
}

fn text(reply: &Reply) -> String {
    let block: Value = serde_json::from_str(reply.content[0].get()).unwrap();
    block["text"].as_str().unwrap().to_owned()
}

fn answer_of(disclosure: &TypedDisclosure, view: &View, name: &str, arguments: &str) -> String {
    let name = ToolName::parse(name).unwrap();
    match disclosure.interpret(view, &name, &raw(arguments)) {
        Ok(Step::Reply(reply) | Step::Loaded(reply, _)) => text(&reply),
        Ok(Step::Call(request)) => {
            let operation = &request.operation;
            let found = if request.entry.is_some() { "call" } else { "attempt" };
            format!("{found} {} {}", operation.subject(), operation.arguments())
        }
        Ok(Step::Found(..)) => panic!("nothing is searched for"),
        Err(error) => error.to_string(),
    }
}

fn answer(view: &View, name: &str, arguments: &str) -> String {
    answer_of(&TypedDisclosure::default(), view, name, arguments)
}

#[test]
fn each_kind_has_one_tool_with_stubs_and_built_in_tools_stand_beside_them() {
    let surface = surface(&view_of(every_kind()));
    let tools: Vec<_> = surface.tools.iter().map(|tool| tool.definition.get()).collect();
    assert_snapshot!(tools.join("\n"), @r#"
    {"annotations":{"readOnlyHint":true,"openWorldHint":false},"description":"Work out an expression.","inputSchema":{"type":"object"},"name":"local__calculate"}
    {"annotations":{"readOnlyHint":true,"openWorldHint":false},"description":"Read on in a kept result.","inputSchema":{"type":"object"},"name":"results__read_result"}
    {"name":"connector","description":"Interact with external services. Available connectors:\n  - crm -- actions: get_contacts\n  - jira: Project management -- actions: create_issue, get_issue\n\nSubcommands:\n  discover <name> [action] -- list actions with full parameter schemas\n  execute <name> <action> {\"param\": \"value\"} -- run an action","inputSchema":{"type":"object","properties":{"subcommand":{"type":"string","enum":["discover","execute"]},"connector":{"type":"string","enum":["crm","jira"]},"action":{"type":"string","description":"For discover, omit it to see all actions."},"parameters":{"type":"object","description":"Matching the action's schema."},"cursor":{"type":"string","description":"The last next_cursor."}},"required":["subcommand","connector"]},"annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true},"_meta":{"gatefold/category":"connector"}}
    {"name":"database","description":"Query connected databases. Available databases:\n  - hr: HR system (12 tables: employees, departments, salaries, offices, teams, roles, holidays, reviews, goals, courses ...)\n  - shop: Orders (1 table: orders)\n\nSubcommands:\n  list_tables <database> -- table names, descriptions, column counts\n  discover <database> [table] -- full column schemas for one or all tables\n  query <database> <sql> -- execute a SQL query\n  explain <database> <sql> -- how a SQL query would run, without running it\n  execute <database> <sql> -- an INSERT, UPDATE or DELETE that a person approves","inputSchema":{"type":"object","properties":{"subcommand":{"type":"string","enum":["list_tables","discover","query","explain","execute"]},"database":{"type":"string","enum":["hr","shop"]},"table":{"type":"string","description":"For discover, omit it to see all tables."},"sql":{"type":"string","description":"One statement."},"cursor":{"type":"string","description":"The last next_cursor."}},"required":["subcommand","database"]},"annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true},"_meta":{"gatefold/category":"database"}}
    {"name":"mcp","description":"Interact with MCP servers. Available servers:\n  - github: GitHub (2 tools: create_issue, list_repos)\n  - slack: Slack\n\nSubcommands:\n  discover <server> [tool] -- list tools with full parameter schemas\n  call <server> <tool> {\"param\": \"value\"} -- invoke an MCP tool","inputSchema":{"type":"object","properties":{"subcommand":{"type":"string","enum":["discover","call"]},"server":{"type":"string","enum":["github","slack"]},"tool":{"type":"string","description":"For discover, omit it to see all tools."},"parameters":{"type":"object","description":"Matching the tool's schema."},"cursor":{"type":"string","description":"The last next_cursor."}},"required":["subcommand","server"]},"annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true},"_meta":{"gatefold/category":"mcp"}}
    {"name":"read_skill","description":"Read a skill: a procedure to follow, with its files and the tools that it names. Scripts are given, not run.\n\n## Available Skills\nCall read_skill(name) to load full content before executing any of these:\n- **complaints**: Handle escalations per company policy, with the deadlines of each region, the people to tell, and what may be offered...\n- **refunds**: Step-by-step refund workflow.","inputSchema":{"type":"object","properties":{"name":{"type":"string","enum":["complaints","refunds"]},"file":{"type":"string","description":"One of its files, as the skill lists them."},"cursor":{"type":"string","description":"The last next_cursor."}}},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}
    "#);
    assert_snapshot!(description(&surface, "connector"), @r#"
    Interact with external services. Available connectors:
      - crm -- actions: get_contacts
      - jira: Project management -- actions: create_issue, get_issue

    Subcommands:
      discover <name> [action] -- list actions with full parameter schemas
      execute <name> <action> {"param": "value"} -- run an action
    "#);
    assert_snapshot!(description(&surface, "database"), @r"
    Query connected databases. Available databases:
      - hr: HR system (12 tables: employees, departments, salaries, offices, teams, roles, holidays, reviews, goals, courses ...)
      - shop: Orders (1 table: orders)

    Subcommands:
      list_tables <database> -- table names, descriptions, column counts
      discover <database> [table] -- full column schemas for one or all tables
      query <database> <sql> -- execute a SQL query
      explain <database> <sql> -- how a SQL query would run, without running it
      execute <database> <sql> -- an INSERT, UPDATE or DELETE that a person approves
    ");
    assert_snapshot!(description(&surface, "mcp"), @r#"
    Interact with MCP servers. Available servers:
      - github: GitHub (2 tools: create_issue, list_repos)
      - slack: Slack

    Subcommands:
      discover <server> [tool] -- list tools with full parameter schemas
      call <server> <tool> {"param": "value"} -- invoke an MCP tool
    "#);
    assert_snapshot!(surface.instructions, @r"
    Before you first use something behind one of these tools, look it up with the subcommand 'discover': connector, database, mcp. Skip that for what you've already used in this conversation.

    ## Available Skills
    Call read_skill(name) to load full content before executing any of these:
    - **complaints**: Handle escalations per company policy, with the deadlines of each region, the people to tell, and what may be offered...
    - **refunds**: Step-by-step refund workflow.
    ");
}

#[test]
fn a_meta_tool_is_there_only_if_something_of_its_kind_is() {
    for (sources, expected) in [
        (vec![], vec![]),
        (vec![jira()], vec!["connector"]),
        (vec![source("own", "of_an_embedder", "", None)], vec!["connector"]),
        (vec![database("hr", "", &[], None)], vec!["database"]),
        (vec![server("github", "", &["a"])], vec!["mcp"]),
        (vec![server("github", "", &[])], vec![]),
        (vec![skills("sops", &[("refunds", "")])], vec!["read_skill"]),
        (vec![skills("sops", &[])], vec![]),
    ] {
        assert_eq!(names(&surface(&view_of(sources))), expected);
    }
}

#[test]
fn discover_shows_all_of_a_connector_or_server_or_one_of_its_parts() {
    let view = view_of(every_kind());
    let told = |name, arguments| answer(&view, name, arguments);
    assert_snapshot!(told("connector", r#"{"subcommand":"discover","connector":"jira"}"#), @r#"{"connector":"jira","actions":[{"name":"create_issue","method":"POST","path":"/issue","body_template":{"summary":"{summary}"},"description":"Create an issue.","parameters":{"type":"object","properties":{"summary":{"type":"string"}}}},{"name":"get_issue","method":"GET","path":"/issue/{id}","description":"Get one issue.","parameters":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}]}"#);
    assert_snapshot!(told("connector", r#"{"subcommand":"discover","connector":"jira","action":"get_issue"}"#), @r#"{"connector":"jira","name":"get_issue","method":"GET","path":"/issue/{id}","description":"Get one issue.","parameters":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}"#);
    assert_snapshot!(told("mcp", r#"{"subcommand":"discover","server":"github"}"#), @r#"{"server":"github","tools":[{"name":"create_issue","description":"Does what its name says.","parameters":{"type":"object"}},{"name":"list_repos","description":"Does what its name says.","parameters":{"type":"object"}}]}"#);
    assert_snapshot!(told("mcp", r#"{"subcommand":"Discover","server":"GitHub","tool":"github__list_repos","parameters":{}}"#), @r#"{"server":"github","name":"list_repos","description":"Does what its name says.","parameters":{"type":"object"}}"#);
    assert_snapshot!(told("read_skill", "{}"), @r#"{"skills":[{"name":"complaints","description":"Handle escalations per company policy, with the deadlines of each region, the people to tell, and what may be offered..."},{"name":"refunds","description":"Step-by-step refund workflow."}]}"#);
}

#[test]
fn a_call_of_an_action_or_tool_means_one_of_the_inner_tool() {
    let view = view_of(every_kind());
    for (name, arguments, expected) in [
        (
            "connector",
            r#"{"subcommand":"execute","connector":"jira","action":"get_issue","parameters":{"id":7}}"#,
            r#"call jira__get_issue {"id":7}"#,
        ),
        (
            "connector",
            r#"{"subcommand":"execute","connector":"jira","action":"get_issue","parameters":"{\"id\":7}","cursor":""}"#,
            r#"call jira__get_issue {"id":7}"#,
        ),
        (
            "connector",
            r#"{"subcommand":"execute","connector":"jira","action":"jira__get_issue","id":7}"#,
            r#"call jira__get_issue {"id":7}"#,
        ),
        (
            "connector",
            r#"{"subcommand":"execute","connector":"jira","action":"get_issue","arguments":{"id":7}}"#,
            r#"call jira__get_issue {"id":7}"#,
        ),
        (
            "connector",
            r#"{"subcommand":"execute","connector":"jira","action":"nothing","parameters":{"a":1}}"#,
            r#"attempt jira__nothing {"a":1}"#,
        ),
        (
            "mcp",
            r#"{"subcommand":"call","server":"github","tool":"github__nothing"}"#,
            "attempt github__nothing {}",
        ),
        (
            "mcp",
            r#"{"subcommand":"call","server":"github","tool":"list_repos"}"#,
            "call github__list_repos {}",
        ),
        (
            "mcp",
            r#"{"subcommand":"call","server":"slack","tool":"send"}"#,
            "attempt slack__send {}",
        ),
    ] {
        let told = answer(&view, name, arguments);
        assert!(told.starts_with(expected), "{name} {arguments}: {told}");
    }
}

#[test]
fn a_subcommand_of_database_means_a_call_of_the_databases_own_tool() {
    let view = view_of(every_kind());
    for (name, arguments, expected) in [
        (
            "database",
            r#"{"subcommand":"list_tables","database":"hr","table":"","sql":null}"#,
            "call hr__list_tables {}",
        ),
        (
            "database",
            r#"{"subcommand":"discover","database":"hr","table":"employees","samples":true}"#,
            r#"call hr__describe_table {"table":"employees","samples":true}"#,
        ),
        (
            "database",
            r#"{"subcommand":"discover","database":"hr","cursor":"2-ab","sql":"SELECT 1"}"#,
            r#"call hr__describe_table {"cursor":"2-ab"}"#,
        ),
        (
            "database",
            r#"{"subcommand":"query","database":"hr","sql":"SELECT 1","max_rows":5}"#,
            r#"call hr__query {"sql":"SELECT 1","max_rows":5}"#,
        ),
        (
            "database",
            r#"{"subcommand":"query","database":"hr","parameters":{"sql":"SELECT 1"}}"#,
            r#"call hr__query {"sql":"SELECT 1"}"#,
        ),
        (
            "database",
            r#"{"subcommand":"explain","database":"hr","sql":"SELECT 1"}"#,
            r#"call hr__explain {"sql":"SELECT 1"}"#,
        ),
        (
            "database",
            r#"{"subcommand":"execute","database":"shop","sql":"DELETE FROM orders"}"#,
            r#"call shop__execute {"sql":"DELETE FROM orders"}"#,
        ),
        (
            "database",
            r#"{"subcommand":"execute","database":"hr","sql":"DELETE FROM goals"}"#,
            r#"attempt hr__execute {"sql":"DELETE FROM goals"}"#,
        ),
    ] {
        let told = answer(&view, name, arguments);
        assert!(told.starts_with(expected), "{name} {arguments}: {told}");
    }
}

#[test]
fn skills_and_tools_that_stand_alone_are_called_by_their_names() {
    let view = view_of(every_kind());
    for (name, arguments, expected) in [
        ("read_skill", r#"{"name":"refunds"}"#, r#"call sops__read_skill {"name":"refunds"}"#),
        (
            "read_skill",
            r#"{"name":"sops/Refunds"}"#,
            "Unknown skill 'sops/Refunds'. Did you mean 'refunds'? Call read_skill without a name to list all.",
        ),
        (
            "read_skill",
            r#"{"name":"Refunds","file":"scripts/pay.py"}"#,
            r#"call sops__read_skill {"name":"refunds","file":"scripts/pay.py"}"#,
        ),
        ("local__calculate", r#"{"a":1}"#, r#"call local__calculate {"a":1}"#),
        ("results__read_result", "null", "call results__read_result {}"),
        ("slack__send", "null", "Unknown tool 'slack__send'."),
    ] {
        let told = answer(&view, name, arguments);
        assert!(told.starts_with(expected), "{name} {arguments}: {told}");
    }
}

/// The answers to calls, each after its call.
fn answers(calls: &[(&str, &str)]) -> String {
    let view = view_of(every_kind());
    let told = |(name, arguments): &(&str, &str)| {
        format!("{name} {arguments}\n  {}", answer(&view, name, arguments))
    };
    calls.iter().map(told).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_error_of_a_connector_or_server_says_what_to_do() {
    let told = answers(&[
        ("connector", "{}"),
        ("connector", r#"{"subcommand":"run"}"#),
        ("connector", r#"{"subcommand":"discover"}"#),
        ("connector", r#"{"subcommand":"discover","connector":"jiro"}"#),
        ("connector", r#"{"subcommand":"discover","connector":"jira","action":"get_isue"}"#),
        ("connector", r#"{"subcommand":"discover","connector":"jira","action":"zzz"}"#),
        ("connector", r#"{"subcommand":"discover","connector":"jira","name":"get_issue"}"#),
        ("connector", r#"{"subcommand":"discover","connector":"jira","cursor":"7-0"}"#),
        ("connector", r#"{"subcommand":"execute","connector":"jira"}"#),
        ("connector", r#"{"subcommand":"execute","connector":"jira","action":"get_issue","x":1}"#),
        (
            "connector",
            r#"{"subcommand":"execute","connector":"jira","action":"get_issue","parameters":7}"#,
        ),
        ("mcp", r#"{"subcommand":"execute","server":"github"}"#),
        ("mcp", r#"{"subcommand":"discover","server":"slack"}"#),
        ("mcp", r#"{"subcommand":"call","server":"slack"}"#),
    ]);
    assert_snapshot!(told, @r#"
    connector {}
      Missing parameter 'subcommand' of connector. Available subcommands: discover, execute
    connector {"subcommand":"run"}
      Unknown subcommand 'run' of connector. Available subcommands: discover, execute
    connector {"subcommand":"discover"}
      Missing parameter 'connector' of connector. Available connectors: crm, jira
    connector {"subcommand":"discover","connector":"jiro"}
      Unknown connector 'jiro'. Did you mean 'jira'? Available connectors: crm, jira
    connector {"subcommand":"discover","connector":"jira","action":"get_isue"}
      Unknown action 'get_isue' of connector 'jira'. Did you mean 'get_issue'? The subcommand 'discover' of connector shows all.
    connector {"subcommand":"discover","connector":"jira","action":"zzz"}
      Unknown action 'zzz' of connector 'jira'. Available actions of 'jira': create_issue, get_issue
    connector {"subcommand":"discover","connector":"jira","name":"get_issue"}
      Unknown parameter 'name' of connector. Parameters: subcommand, connector, action, parameters, cursor, path
    connector {"subcommand":"discover","connector":"jira","cursor":"7-0"}
      Unknown cursor '7-0'. Pass next_cursor of the last answer along with the same arguments, or leave it out to start over.
    connector {"subcommand":"execute","connector":"jira"}
      Missing parameter 'action' of connector. Available actions of 'jira': create_issue, get_issue
    connector {"subcommand":"execute","connector":"jira","action":"get_issue","x":1}
      Unknown parameters of connector: 'x'. Put the tool's own into 'parameters': jira__get_issue(id: integer)
    connector {"subcommand":"execute","connector":"jira","action":"get_issue","parameters":7}
      Parameter 'parameters' of connector must be an object for jira__get_issue(id: integer)
    mcp {"subcommand":"execute","server":"github"}
      Unknown subcommand 'execute' of mcp. Available subcommands: discover, call
    mcp {"subcommand":"discover","server":"slack"}
      The tools of 'slack' are not known yet: upstream server 'slack' has not answered so far.
    mcp {"subcommand":"call","server":"slack"}
      Missing parameter 'tool' of mcp. The tools of 'slack' are not known yet: upstream server 'slack' has not answered so far.
    "#);
}

#[test]
fn an_error_of_any_other_call_says_what_to_do() {
    let told = answers(&[
        ("database", r#"{"subcommand":"describe_table","database":"hr"}"#),
        ("database", r#"{"subcommand":"query","database":"crm"}"#),
        ("database", r#"{"subcommand":"query","database":"hr"}"#),
        ("database", r#"{"subcommand":"query","database":"hr","sql":7}"#),
        ("database", r#"{"subcommand":"query","database":"hr","sql":"SELECT 1","rows":7}"#),
        ("read_skill", r#"{"name":"refund"}"#),
        ("read_skill", r#"{"file":"a.py"}"#),
        ("jira__get_issue", "{}"),
        ("github__list_repos", "{}"),
        ("hr__describe_table", "{}"),
        ("sops__read_skill", "{}"),
        ("nothing", "{}"),
    ]);
    assert_snapshot!(told, @r#"
    database {"subcommand":"describe_table","database":"hr"}
      Unknown subcommand 'describe_table' of database. Did you mean 'discover'? Available subcommands: list_tables, discover, query, explain, execute
    database {"subcommand":"query","database":"crm"}
      Unknown database 'crm'. Available databases: hr, shop
    database {"subcommand":"query","database":"hr"}
      Missing parameter 'sql' of database, which the subcommand 'query' needs.
    database {"subcommand":"query","database":"hr","sql":7}
      Parameter 'sql' of database must be a string.
    database {"subcommand":"query","database":"hr","sql":"SELECT 1","rows":7}
      Unknown parameter 'rows' of database. Parameters: subcommand, database, table, sql, cursor
    read_skill {"name":"refund"}
      Unknown skill 'refund'. Did you mean 'refunds'? Call read_skill without a name to list all.
    read_skill {"file":"a.py"}
      Missing parameter 'name' of read_skill. Name the skill that has the file 'a.py'.
    jira__get_issue {}
      Call 'jira__get_issue' through connector, with the subcommand 'execute', the connector 'jira' and the action 'get_issue'.
    github__list_repos {}
      Call 'github__list_repos' through mcp, with the subcommand 'call', the server 'github' and the tool 'list_repos'.
    hr__describe_table {}
      Call 'hr__describe_table' through database, with the subcommand 'discover' and the database 'hr'.
    sops__read_skill {}
      Call 'sops__read_skill' through read_skill, with the name of a skill.
    nothing {}
      Unknown tool 'nothing'. Tools: local__calculate, results__read_result, connector, database, mcp, read_skill
    "#);
}

#[test]
fn results_come_in_an_envelope_except_those_of_tools_that_stand_alone() {
    let view = view_of(every_kind());
    let disclosure = TypedDisclosure::default();
    let shown = |name: &str, arguments: &str, result| {
        let name = ToolName::parse(name).unwrap();
        let Ok(Step::Call(request)) = disclosure.interpret(&view, &name, &raw(arguments)) else {
            panic!("{name} is a call");
        };
        text(&disclosure.render(&view, &name, &request, result))
    };
    let done = || Ok(Outcome::Done(Payload::text("7")));
    let call = r#"{"subcommand":"call","server":"github","tool":"list_repos"}"#;
    assert_snapshot!(shown("mcp", call, done()), @r#"{"tool":"github__list_repos","result":7}"#);
    assert_snapshot!(shown("read_skill", r#"{"name":"refunds"}"#, done()), @"7");
    assert_snapshot!(shown("local__calculate", "{}", done()), @"7");
    let name = ToolName::parse("jira__zzz").unwrap();
    let unknown = Err(CallError::UnknownTool { name, nearest: Vec::new() });
    let call = r#"{"subcommand":"execute","connector":"jira","action":"zzz"}"#;
    assert_snapshot!(shown("connector", call, unknown), @r#"{"error":"Unknown tool 'jira__zzz'. The subcommand 'discover' of connector shows what there is."}"#);
}

#[test]
fn the_legacy_mode_of_a_kind_shows_its_tools_one_by_one() {
    let view = view_of(every_kind());
    let disclosure = legacy();
    let surface = disclosure.surface(&view, &ClientLimits::default());
    assert_snapshot!(names(&surface).join("\n"), @r"
    local__calculate
    results__read_result
    crm__get_contacts
    jira__create_issue
    jira__get_issue
    hr__describe_table
    hr__explain
    hr__list_tables
    hr__query
    shop__describe_table
    shop__execute
    shop__explain
    shop__list_tables
    shop__query
    github__create_issue
    github__list_repos
    read_skill
    ");
    assert_snapshot!(surface.instructions, @r"
    ## Available Skills
    Call read_skill(name) to load full content before executing any of these:
    - **complaints**: Handle escalations per company policy, with the deadlines of each region, the people to tell, and what may be offered...
    - **refunds**: Step-by-step refund workflow.
    ");
    let told = |name, arguments| answer_of(&disclosure, &view, name, arguments);
    assert_eq!(told("jira__get_issue", r#"{"id":7}"#), r#"call jira__get_issue {"id":7}"#);
    assert_eq!(told("hr__query", "null"), "call hr__query {}");
    assert!(told("connector", "{}").starts_with("Unknown tool 'connector'. Tools: "));
}

#[test]
fn each_kind_has_a_mode_of_its_own() {
    let view = view_of(every_kind());
    let modes = ToolModes { legacy: ["database"].into(), ..ToolModes::default() };
    let disclosure = TypedDisclosure { modes, ..TypedDisclosure::default() };
    let surface = disclosure.surface(&view, &ClientLimits::default());
    assert_eq!(
        names(&surface)[2..],
        [
            "connector",
            "hr__describe_table",
            "hr__explain",
            "hr__list_tables",
            "hr__query",
            "shop__describe_table",
            "shop__execute",
            "shop__explain",
            "shop__list_tables",
            "shop__query",
            "mcp",
            "read_skill"
        ]
    );
}

#[test]
fn a_tool_of_a_source_that_has_listed_nothing_is_asked_for() {
    let slack =
        UnlistedSource { domain: Domain::parse("slack").unwrap(), state: UnlistedState::Starting };
    let view = view_of(every_kind()).with_unlisted(vec![slack]);
    assert_eq!(answer(&view, "slack__send", "null"), "attempt slack__send {}");
    let told = answer(&view, "mcp", r#"{"subcommand":"discover","server":"slack"}"#);
    assert_eq!(
        told,
        "The tools of 'slack' are not known yet: upstream server 'slack' is still starting. Try \
         again in a few seconds."
    );
}

#[test]
fn no_tool_at_the_top_level_takes_the_name_of_a_meta_tool() {
    let view = view_of(vec![
        server("read", "", &["read_skill", "read_page"]),
        skills("sops", &[("refunds", "")]),
    ]);
    let shown = legacy().surface(&view, &ClientLimits::default());
    assert_eq!(names(&shown), ["read_page", "read_skill"]);
    let told = answer_of(&legacy(), &view, READ_SKILL, r#"{"name":"refunds"}"#);
    assert_eq!(told, r#"call sops__read_skill {"name":"refunds"}"#);
    let told = answer_of(&legacy(), &view, "read__read_skill", "{}");
    assert_eq!(told, "call read_skill {}");
}

#[test]
fn a_pinned_tool_stands_beside_the_meta_tools() {
    let pinned = Pins::from(vec![Pattern::new("github__list_*")]);
    let disclosure = TypedDisclosure { pinned: pinned.clone(), ..TypedDisclosure::default() };
    let view = view_of(every_kind());
    let shown = disclosure.surface(&view, &ClientLimits::default());
    assert_eq!(names(&shown)[..2], ["github__list_repos", "local__calculate"]);
    assert_eq!(
        answer_of(&disclosure, &view, "github__list_repos", "{}"),
        "call github__list_repos {}"
    );
    let disclosure = TypedDisclosure { pinned, ..legacy() };
    let shown = disclosure.surface(&view, &ClientLimits::default());
    let shown = names(&shown);
    assert_eq!(shown.iter().filter(|name| **name == "github__list_repos").count(), 1);
}

#[test]
fn skills_of_one_name_are_told_apart_by_their_folders() {
    let view = view_of(vec![
        skills("eu", &[("refunds", "In euros."), ("tax", "Of the EU.")]),
        skills("us", &[("refunds", "In dollars.")]),
    ]);
    assert_snapshot!(surface(&view).instructions, @r"
    ## Available Skills
    Call read_skill(name) to load full content before executing any of these:
    - **eu/refunds**: In euros.
    - **tax**: Of the EU.
    - **us/refunds**: In dollars.
    ");
    let told = answer(&view, READ_SKILL, r#"{"name":"us/refunds"}"#);
    assert_eq!(told, r#"call us__read_skill {"name":"refunds"}"#);
    let told = answer(&view, READ_SKILL, r#"{"name":"eu/tax"}"#);
    assert_eq!(told, r#"call eu__read_skill {"name":"tax"}"#);
    let told = answer(&view, READ_SKILL, r#"{"name":"refunds"}"#);
    assert!(told.starts_with("Unknown skill 'refunds'. Did you mean 'eu/refunds' or"), "{told}");
}

#[test]
fn inline_skills_stand_in_the_instructions_and_need_no_tool() {
    let view = view_of(vec![texts(&[("refunds", "1. Ask for the order."), ("tax", "Add 19 %.")])]);
    let surface = inline(&view, 2048);
    assert_snapshot!(surface.instructions, @r"
    ## Skills
    Follow these procedures where they apply.

    ### refunds
    1. Ask for the order.

    ### tax
    Add 19 %.
    ");
    assert_eq!(names(&surface), [] as [&str; 0]);
    let told = answer(&view, READ_SKILL, r#"{"name":"tax"}"#);
    assert_eq!(
        told, r#"call sops__read_skill {"name":"tax"}"#,
        "a name from elsewhere is no error"
    );
}

#[test]
fn a_skill_with_files_keeps_the_tool_that_reads_them() {
    let view = view_of(vec![texts(&[("refunds+", "Run the script.")])]);
    let surface = inline(&view, 2048);
    assert!(surface.instructions.ends_with("### refunds\nRun the script."));
    assert_eq!(names(&surface), [READ_SKILL]);
}

#[test]
fn inline_skills_that_do_not_fit_are_shown_by_their_stubs() {
    let long = "A long step. ".repeat(100);
    let view = view_of(vec![texts(&[("audit", &long), ("refunds", "Ask."), ("tax", "Add it.")])]);
    let surface = inline(&view, 600);
    assert_snapshot!(surface.instructions, @r"
    ## Skills
    Follow these procedures where they apply.

    ### refunds
    Ask.

    ### tax
    Add it.

    ## Available Skills
    Call read_skill(name) to load full content before executing any of these:
    - **audit**: How to do audit.
    ");
    assert_eq!(names(&surface), [READ_SKILL]);
    assert_eq!(inline(&view, usize::MAX).instructions.matches("A long step.").count(), 100);
    for bytes in 200..2000 {
        let shown = inline(&view, bytes).instructions;
        assert!(shown.len() <= bytes, "{} of {bytes} bytes", shown.len());
        assert!(["audit", "refunds", "tax"].iter().all(|name| shown.contains(name)), "{shown}");
    }
}

/// Many sources of each kind, with many tools each.
fn crowd(sources: usize, parts: usize) -> View {
    let parts: Vec<_> = (0..parts).map(|at| format!("do_thing_number_{at:03}")).collect();
    let parts: Vec<_> = parts.iter().map(String::as_str).collect();
    let skill_names: Vec<_> = (0..sources * 2).map(|at| format!("procedure-{at:04}")).collect();
    let about = "What to do when the thing that it is for has happened, in many small steps.";
    let all_skills: Vec<_> = skill_names.iter().map(|name| (name.as_str(), about)).collect();
    let tools = || parts.iter().fold(manifest(), |all, name| all.tool(ToolSpec::new(*name)));
    let mut all = vec![skills("sops", &all_skills)];
    for at in 0..sources {
        let about = "One of many of its kind, with a description that is not short at all";
        all.push(source(&format!("api_{at:03}"), "openapi", about, Some(tools())));
        all.push(database(&format!("db_{at:03}"), about, &parts, None));
        all.push(server(&format!("server_{at:03}"), about, &parts));
    }
    view_of(all)
}

#[test]
fn stubs_get_shorter_before_any_is_left_out_and_the_rest_is_counted() {
    for (sources, parts) in [(1, 300), (5, 40), (30, 12), (60, 3), (300, 3)] {
        let view = crowd(sources, parts);
        let surface = surface(&view);
        assert!(surface.instructions.len() <= 2048);
        for tool in &surface.tools {
            let definition: Value = serde_json::from_str(tool.definition.get()).unwrap();
            let description = definition["description"].as_str().unwrap();
            assert!(description.len() <= 2048, "{}: {} bytes", tool.name, description.len());
            let properties = &definition["inputSchema"]["properties"];
            let all = ["connector", "database", "server", "name"]
                .into_iter()
                .find_map(|name| properties[name]["enum"].as_array())
                .unwrap();
            let expected = if tool.name == READ_SKILL { sources * 2 } else { sources };
            assert_eq!(all.len(), expected, "{}", tool.name);
        }
    }
    let shown = surface(&crowd(5, 40));
    assert_snapshot!(description(&shown, "connector"), @r#"
    Interact with external services. Available connectors:
      - api_000: One of many of its kind, with a description that is not short at all -- actions: do_thing_number_000, do_thing_number_001, do_thing_number_002, do_thing_number_003, do_thing_number_004, do_thing_number_005, do_thing_number_006, do_thing_number_007, do_thing_number_008, do_thing_number_009, +30 more
      - api_001: One of many of its kind, with a description that is not short at all -- actions: do_thing_number_000, do_thing_number_001, do_thing_number_002, do_thing_number_003, do_thing_number_004, do_thing_number_005, do_thing_number_006, do_thing_number_007, do_thing_number_008, do_thing_number_009, +30 more
      - api_002: One of many of its kind, with a description that is not short at all -- actions: do_thing_number_000, do_thing_number_001, do_thing_number_002, do_thing_number_003, do_thing_number_004, do_thing_number_005, do_thing_number_006, do_thing_number_007, do_thing_number_008, do_thing_number_009, +30 more
      - api_003: One of many of its kind, with a description that is not short at all -- actions: do_thing_number_000, do_thing_number_001, do_thing_number_002, do_thing_number_003, do_thing_number_004, do_thing_number_005, do_thing_number_006, do_thing_number_007, do_thing_number_008, do_thing_number_009, +30 more
      - api_004: One of many of its kind, with a description that is not short at all -- actions: do_thing_number_000, do_thing_number_001, do_thing_number_002, do_thing_number_003, do_thing_number_004, do_thing_number_005, do_thing_number_006, do_thing_number_007, do_thing_number_008, do_thing_number_009, +30 more

    Subcommands:
      discover <name> [action] -- list actions with full parameter schemas
      execute <name> <action> {"param": "value"} -- run an action
    "#);
    assert_snapshot!(description(&shown, "mcp"), @r#"
    Interact with MCP servers. Available servers:
      - server_000: One of many of its kind, with a description that is not short at all (40 tools: do_thing_number_000, do_thing_number_001, do_thing_number_002, do_thing_number_003, do_thing_number_004, do_thing_number_005, do_thing_number_006, do_thing_number_007, do_thing_number_008, do_thing_number_009 ...)
      - server_001: One of many of its kind, with a description that is not short at all (40 tools: do_thing_number_000, do_thing_number_001, do_thing_number_002, do_thing_number_003, do_thing_number_004, do_thing_number_005, do_thing_number_006, do_thing_number_007, do_thing_number_008, do_thing_number_009 ...)
      - server_002: One of many of its kind, with a description that is not short at all (40 tools: do_thing_number_000, do_thing_number_001, do_thing_number_002, do_thing_number_003, do_thing_number_004, do_thing_number_005, do_thing_number_006, do_thing_number_007, do_thing_number_008, do_thing_number_009 ...)
      - server_003: One of many of its kind, with a description that is not short at all (40 tools: do_thing_number_000, do_thing_number_001, do_thing_number_002, do_thing_number_003, do_thing_number_004, do_thing_number_005, do_thing_number_006, do_thing_number_007, do_thing_number_008, do_thing_number_009 ...)
      - server_004: One of many of its kind, with a description that is not short at all (40 tools: do_thing_number_000, do_thing_number_001, do_thing_number_002, do_thing_number_003, do_thing_number_004, do_thing_number_005, do_thing_number_006, do_thing_number_007, do_thing_number_008, do_thing_number_009 ...)

    Subcommands:
      discover <server> [tool] -- list tools with full parameter schemas
      call <server> <tool> {"param": "value"} -- invoke an MCP tool
    "#);
    let shown = surface(&crowd(300, 3));
    let description = description(&shown, "database");
    let stubs: Vec<_> = description.lines().collect();
    assert_snapshot!(stubs[stubs.len() - 9..].join("\n"), @r"
      - db_073 (3 tables)
      - db_074 (3 tables)
      +225 more, which 'database' names: discover any to see what it has

    Subcommands:
      list_tables <database> -- table names, descriptions, column counts
      discover <database> [table] -- full column schemas for one or all tables
      query <database> <sql> -- execute a SQL query
      explain <database> <sql> -- how a SQL query would run, without running it
    ");
    let stubs: Vec<_> = shown.instructions.lines().collect();
    assert_snapshot!(stubs[stubs.len() - 2..].join("\n"), @r"
    - **procedure-0080**
    +519 more: call read_skill without a name to list all.
    ");
}

#[test]
fn a_large_whole_comes_in_pages_that_name_the_rest() {
    let view = crowd(1, 300);
    for (tool, noun, list) in [("connector", "connector", "actions"), ("mcp", "server", "tools")] {
        let domain = if noun == "server" { "server_000" } else { "api_000" };
        let (mut seen, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let arguments = json!({"subcommand":"discover", noun:domain, "cursor":cursor});
            let page = answer(&view, tool, &arguments.to_string());
            assert!(gatefold_catalog::token_bound(&page) <= 2000, "{page}");
            let page: Value = serde_json::from_str(&page).unwrap();
            let names = page[list].as_array().unwrap().iter();
            seen.extend(names.map(|tool| tool["name"].as_str().unwrap().to_owned()));
            cursor = page["next_cursor"].clone();
            assert_eq!(cursor.is_null(), page["remaining"].is_null());
            if cursor.is_null() {
                break;
            }
            assert!(page["remaining"].as_str().unwrap().starts_with("do_thing_number_"), "{page}");
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 300, "{tool}");
    }
    let page = answer(&crowd(300, 1), READ_SKILL, "{}");
    let page: Value = serde_json::from_str(&page).unwrap();
    let next = json!({"cursor": page["next_cursor"]}).to_string();
    let next: Value = serde_json::from_str(&answer(&crowd(300, 1), READ_SKILL, &next)).unwrap();
    let (first, second) = (&page["skills"], &next["skills"]);
    let shown = first.as_array().unwrap().len();
    assert_eq!(second[0]["name"], format!("procedure-{shown:04}"));
}

#[test]
fn the_same_sources_in_any_order_give_the_same_bytes() {
    let bytes = |view: &View| {
        let surface = surface(view);
        let tools = surface.tools.iter().map(|tool| tool.definition.get().to_owned());
        (tools.collect::<Vec<_>>(), surface.instructions)
    };
    let expected = bytes(&view_of(every_kind()));
    for turn in 1..every_kind().len() {
        let mut sources = every_kind();
        sources.rotate_left(turn);
        if turn % 2 == 0 {
            sources.reverse();
        }
        assert_eq!(bytes(&view_of(sources)), expected);
    }
}

#[test]
fn what_a_principal_may_not_see_is_nowhere() {
    let snapshot = Arc::new(Snapshot::build(every_kind(), 1));
    let view = View::new(snapshot, |target| {
        let id = target.id.as_str();
        !id.contains("complaints") && id != "jira__create_issue" && !id.starts_with("hr__")
    });
    let surface = surface(&view);
    let tools: Vec<_> = surface.tools.iter().map(|tool| tool.definition.get()).collect();
    let all = format!("{}\n{}", tools.join("\n"), surface.instructions);
    for hidden in ["complaints", "hr", "employees"] {
        assert!(!all.contains(&format!("\"{hidden}\"")) && !all.contains(&format!(" {hidden}:")));
    }
    assert!(
        description(&surface, "connector")
            .contains("jira: Project management -- actions: get_issue\n")
    );
    let told = answer(&view, READ_SKILL, r#"{"name":"complaints"}"#);
    assert_eq!(told, "Unknown skill 'complaints'. Call read_skill without a name to list all.");
    let arguments = r#"{"subcommand":"execute","connector":"jira","action":"create_issue"}"#;
    assert_eq!(answer(&view, "connector", arguments), "attempt jira__create_issue {}");
    let arguments = r#"{"subcommand":"query","database":"hr","sql":"SELECT 1"}"#;
    let told = answer(&view, "database", arguments);
    assert_eq!(told, "Unknown database 'hr'. Available databases: shop");
}

#[test]
fn what_does_not_fit_with_its_schemas_is_listed_and_looked_up_one_by_one() {
    let properties: Map<String, Value> = (0..20)
        .map(|at| (format!("field_{at}"), json!({"type":"string","description":"One of many."})))
        .collect();
    let input = json!({"type":"object","properties":properties});
    let tool = |at: usize| {
        ToolSpec::new(format!("tool_{at:03}")).description("Does it.").input_schema(input.clone())
    };
    let tools = (0..120).fold(manifest(), |all, at| all.tool(tool(at)));
    let view = view_of(vec![source("big", "mcp", "", Some(tools))]);
    let mut asked = json!({"subcommand":"discover","server":"big"});
    let mut listed = 0;
    for pages in 1.. {
        let told = answer(&view, "mcp", &asked.to_string());
        let told: Value = serde_json::from_str(&told).unwrap();
        assert!(told["note"].as_str().unwrap().contains("discover with 'tool'"), "{told}");
        let tools = told["tools"].as_array().unwrap();
        assert!(tools.iter().all(|tool| tool["parameters"].is_null() && tool["name"].is_string()));
        listed += tools.len();
        if told["next_cursor"].is_null() {
            assert!(pages < 5, "{pages} pages");
            break;
        }
        asked["cursor"] = told["next_cursor"].clone();
    }
    assert_eq!(listed, 120);
    let one = json!({"subcommand":"discover","server":"big","tool":"tool_007"}).to_string();
    assert!(answer(&view, "mcp", &one).contains(r#""parameters":{"#));
}

#[test]
fn a_body_template_is_what_the_arguments_make_up() {
    for (arguments, expected) in [
        (json!({"template":{"a":["{x}", 1]}}), Some(json!({"a":["{x}", 1]}))),
        (json!({"whole":"body"}), Some(json!("{body}"))),
        (
            json!({"members":{"names":["title","labels"],"required":true}}),
            Some(json!({"title":"{title}","labels":"{labels}"})),
        ),
        (json!({"other":1}), None),
    ] {
        let http = json!({"method":"POST","path":"/x","body":{"arguments":arguments,"media":[]}});
        let manifest = manifest().tool(action("act", "Act.", &http));
        let view = view_of(vec![source("api", "openapi", "", Some(manifest))]);
        let told = answer(
            &view,
            "connector",
            r#"{"subcommand":"discover","connector":"api","action":"act"}"#,
        );
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told.get("body_template"), expected.as_ref(), "{told}");
    }
}
