//! Whole answers, as a model reads them.

use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{
    GroupRules, KindName, Manifest, Pattern, Scope, ServerInfo, Snapshot, SourceEntry, View,
    search, token_bound,
};
use gatefold_core::{
    AnswerFault, BusyResource, CallEffect, Domain, Operation, Payload, RuleId, Suspension,
    TaskHandle, Timestamp, ToolId, ToolName, UnsentCause,
};
use insta::assert_snapshot;

use super::*;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn source(domain: &str, title: &str, tools: &[&str]) -> SourceEntry {
    let page = raw(&format!(r#"{{"tools":[{}]}}"#, tools.join(",")));
    let server = ServerInfo {
        name: domain.to_owned(),
        version: "1".to_owned(),
        title: Some(title.to_owned()).filter(|title| !title.is_empty()),
        description: None,
        instructions: None,
        protocol: "2025-11-25".to_owned(),
        capabilities: None,
        whole: None,
    };
    let manifest = Manifest::from_pages(server, &[page], Timestamp::from_millis(0));
    SourceEntry {
        domain: Domain::parse(domain).unwrap(),
        kind: KindName::new("mcp"),
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        manifest: Some(Arc::new(manifest)),
    }
}

fn tool(name: &str, description: &str) -> String {
    format!(
        r#"{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object"}}}}"#
    )
}

const PEOPLE_SEARCH: &str = r#"{"name":"apollo_people_search","title":"People","description":"Search for people by name, title, company, or other criteria. Returns matching person records.","inputSchema":{"type":"object","properties":{"name":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":10},"filter":{"type":"object"}},"required":["name"],"additionalProperties":false},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;

fn entries() -> Vec<SourceEntry> {
    let delete = r#"{"name":"contacts_delete","description":"Delete a contact","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}"#;
    vec![
        source(
            "apollo",
            "Apollo.io CRM and sales intelligence",
            &[
                PEOPLE_SEARCH,
                &tool("apollo_people_enrich", "Enrich a person record"),
                &tool("apollo_org_search", "Search for organizations by name, industry, or size"),
                &tool("apollo_org_enrich", "Enrich an organization with firmographic data"),
                &tool("apollo_usage", ""),
            ],
        ),
        source(
            "hubspot",
            "HubSpot CRM and marketing",
            &[
                &tool("contacts_search", "Search HubSpot contacts by name, email, or properties"),
                delete,
            ],
        ),
        SourceEntry { manifest: None, ..source("sec_edgar", "", &[]) },
    ]
}

fn view() -> View {
    View::whole(Arc::new(Snapshot::build(entries(), 1)))
}

fn large_view() -> View {
    let names: Vec<_> =
        (0..300).map(|n| format!("{}_{n:03}", ["note", "task", "file"][n % 3])).collect();
    let tools: Vec<_> = names
        .iter()
        .map(|name| tool(name, "Does one of three hundred things quite well"))
        .collect();
    let tools: Vec<_> = tools.iter().map(String::as_str).collect();
    View::whole(Arc::new(Snapshot::build(vec![source("large", "", &tools)], 1)))
}

const EXECUTE: &str = "execute_tool";

fn gateway() -> Gateway {
    Gateway { pinned: vec![Pattern::new("apollo_org_*")].into(), ..Gateway::default() }
}

/// The text of the only block.
fn text(reply: &Reply) -> String {
    let [block] = reply.content.as_slice() else { panic!("{reply:?}") };
    let block: serde_json::Value = serde_json::from_str(block.get()).unwrap();
    let error = if reply.is_error { "isError " } else { "" };
    format!("{error}{}", block["text"].as_str().unwrap())
}

fn named(tool: &str) -> ToolName {
    ToolName::parse(tool).unwrap()
}

fn ask_of(view: &View, tool: &str, arguments: &str) -> String {
    match gateway().interpret(view, &named(tool), &raw(arguments)) {
        Ok(Step::Reply(reply) | Step::Found(reply, _) | Step::Loaded(reply, _)) => text(&reply),
        Ok(Step::Call(request)) => match &*request.operation {
            Operation::Tool { name, arguments } => format!("call {name} {arguments}"),
            operation => panic!("{operation:?}"),
        },
        Err(error) => text(&error.into()),
    }
}

fn discover(arguments: &str) -> String {
    ask_of(&view(), DISCOVER, arguments)
}

fn schema(arguments: &str) -> String {
    ask_of(&view(), SCHEMA, arguments)
}

fn execute(arguments: &str) -> String {
    ask_of(&view(), EXECUTE, arguments)
}

#[test]
fn no_arguments_give_the_domains() {
    assert_snapshot!(discover("{}"), @r#"{"domains":[{"name":"apollo","description":"Apollo.io CRM and sales intelligence","tool_count":5,"groups":["general","org","people"]},{"name":"hubspot","description":"HubSpot CRM and marketing","tool_count":2,"groups":["general"]},{"name":"sec_edgar","tool_count":0,"groups":[]}],"total_tools":7}"#);
    assert_eq!(discover("null"), discover(r#"{"domain":null,"group":"","query":" "}"#));
}

#[test]
fn a_domain_gives_its_tools() {
    assert_snapshot!(discover(r#"{"domain":"apollo"}"#), @r#"{"domain":"apollo","tools":[{"name":"apollo_usage","group":"general","description":""},{"name":"apollo_org_enrich","group":"org","description":"Enrich an organization with firmographic data"},{"name":"apollo_org_search","group":"org","description":"Search for organizations by name, industry, or size"},{"name":"apollo_people_enrich","group":"people","description":"Enrich a person record"},{"name":"apollo_people_search","group":"people","description":"Search for people by name, title, company, or other criteria."}]}"#);
    assert_eq!(discover(r#"{"domain":" Apollo"}"#), discover(r#"{"domain":"apollo"}"#));
    assert_snapshot!(discover(r#"{"domain":"sec-edgar"}"#), @r#"{"domain":"sec_edgar","tools":[],"note":"The tools of 'sec_edgar' are not known yet: upstream server 'sec_edgar' has not answered so far."}"#);
}

#[test]
fn a_group_of_a_domain_without_tools_reads_as_the_domain_alone() {
    let alone = discover(r#"{"domain":"sec_edgar"}"#);
    assert_eq!(discover(r#"{"domain":"sec_edgar","group":"filings"}"#), alone);
    assert_snapshot!(discover(r#"{"domain":"sec_edgar","query":"filings"}"#), @r#"{"query":"filings","fit":"none","note":"The tools of 'sec_edgar' are not known yet: upstream server 'sec_edgar' has not answered so far.","results":[]}"#);
    let bare = View::whole(Arc::new(Snapshot::build(vec![source("bare", "", &[])], 1)));
    let alone = ask_of(&bare, DISCOVER, r#"{"domain":"bare"}"#);
    assert_eq!(ask_of(&bare, DISCOVER, r#"{"domain":"bare","group":"any"}"#), alone);
    assert_snapshot!(ask_of(&bare, DISCOVER, r#"{"query":"any"}"#), @r#"{"query":"any","fit":"none","note":"No tool matches the query. There are no tools to show. Use discover_tools to browse available tools.","results":[]}"#);
}

#[test]
fn a_query_that_fits_nothing_shows_what_there_is_and_nothing_destructive_first() {
    let answer = discover(r#"{"domain":"hubspot","query":"zzz"}"#);
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let names: Vec<_> =
        answer["results"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["hubspot__contacts_search", "hubspot__contacts_delete"]);
    let answer = ask_of(&large_view(), DISCOVER, r#"{"query":"zzz"}"#);
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["results"].as_array().unwrap().len(), 10);
    assert!(answer["note"].as_str().unwrap().starts_with("No tool matches the query."));
    assert_eq!(answer["next_cursor"], serde_json::Value::Null);
}

#[test]
fn the_best_results_of_a_search_keep_their_signatures_where_not_all_fit() {
    let parameters: Vec<_> = (0..40)
        .map(|n| format!(r#""a_rather_long_field_number_{n}":{{"type":"string"}}"#))
        .collect();
    let tools: Vec<_> = (0..10)
        .map(|n| {
            let schema =
                format!(r#"{{"type":"object","properties":{{{}}}}}"#, parameters.join(","));
            format!(r#"{{"name":"report_{n}","description":"Report","inputSchema":{schema}}}"#)
        })
        .collect();
    let tools: Vec<_> = tools.iter().map(String::as_str).collect();
    let view = View::whole(Arc::new(Snapshot::build(vec![source("a", "", &tools)], 1)));
    let page = ask_of(&view, DISCOVER, r#"{"query":"report"}"#);
    assert!(token_bound(&page) <= 2000, "{page}");
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    let results = page["results"].as_array().unwrap();
    let are_signed: Vec<_> = results.iter().map(|line| line["signature"].is_string()).collect();
    assert!(are_signed.is_sorted_by(|a, b| a >= b), "{are_signed:?}");
    assert_eq!((are_signed.len(), are_signed[0], are_signed[4]), (5, true, false));
}

#[test]
fn a_search_answers_with_few_tools_where_the_best_fits_exactly() {
    let tools =
        ["send_mail", "send_parcel", "mail_rules", "mail_folders", "send", "list_mail", "x"];
    let tools =
        tools.map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#));
    let tools: Vec<_> = tools.iter().map(String::as_str).collect();
    let view = View::whole(Arc::new(Snapshot::build(vec![source("a", "", &tools)], 1)));
    let check = |query: &str, shown: usize, signed: usize| {
        let page = ask_of(&view, DISCOVER, &format!(r#"{{"query":"{query}"}}"#));
        let page: serde_json::Value = serde_json::from_str(&page).unwrap();
        let results = page["results"].as_array().unwrap();
        let signatures = results.iter().filter(|line| line["signature"].is_string()).count();
        assert_eq!((results.len(), signatures), (shown, signed), "{query}: {page}");
    };
    check("send a parcel", 3, 1);
    check("mail", 5, 4);
}

#[test]
fn only_the_best_result_of_a_search_shows_its_output() {
    let output = r#"{"type":"object","properties":{"number":{"type":"integer"}}}"#;
    let tool = |name: &str| {
        format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"outputSchema":{output}}}"#)
    };
    let tools = [tool("find_issue"), tool("find_issues")];
    let tools: Vec<_> = tools.iter().map(String::as_str).collect();
    let view = View::whole(Arc::new(Snapshot::build(vec![source("a", "", &tools)], 1)));
    let page = ask_of(&view, DISCOVER, r#"{"query":"find issue"}"#);
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    assert_eq!(page["results"][0]["signature"], "a__find_issue() -> {number?: integer}");
    assert_eq!(page["results"][1]["signature"], "a__find_issues()");
}

#[test]
fn cursors_reach_the_first_hundred_results_of_a_search() {
    let view = large_view();
    let mut seen = Vec::new();
    let mut arguments = r#"{"query":"quite well"}"#.to_owned();
    loop {
        let page = ask_of(&view, DISCOVER, &arguments);
        assert!(token_bound(&page) <= 2000, "{page}");
        let page: serde_json::Value = serde_json::from_str(&page).unwrap();
        let results = page["results"].as_array().unwrap();
        let is_first_or_last = seen.is_empty() || page["next_cursor"].is_null();
        let length = if is_first_or_last { 5 } else { 10 };
        assert_eq!((results.len(), &page["note"]), (length, &serde_json::Value::Null));
        let left = 100 - seen.len() - results.len();
        let more = (left > 0).then(|| serde_json::json!(format!("{left} more with cursor")));
        assert_eq!(page["more"], more.unwrap_or_default());
        seen.extend(results.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        arguments = format!(r#"{{"query":"quite well","cursor":"{cursor}"}}"#);
    }
    let hits = search(
        &view,
        "quite well",
        &Scope::default(),
        gatefold_catalog::SearchMode::default(),
        100,
    );
    let hits: Vec<_> = hits.iter().map(|hit| hit.tool.id().to_string()).collect();
    assert_eq!((seen.len(), seen), (100, hits));
}

#[test]
fn a_domain_and_a_group_give_that_group() {
    assert_snapshot!(discover(r#"{"domain":"apollo","group":"people"}"#), @r#"{"domain":"apollo","group":"people","tools":[{"name":"apollo_people_enrich","description":"Enrich a person record"},{"name":"apollo_people_search","description":"Search for people by name, title, company, or other criteria."}]}"#);
}

#[test]
fn a_query_gives_what_fits_best() {
    assert_snapshot!(discover(r#"{"query":"search contacts"}"#), @r#"{"query":"search contacts","fit":"likely","results":[{"name":"hubspot__contacts_search","domain":"hubspot","group":"general","description":"Search HubSpot contacts by name, email, or properties","signature":"hubspot__contacts_search()"},{"name":"hubspot__contacts_delete","domain":"hubspot","group":"general","description":"Delete a contact"},{"name":"apollo_people_search","domain":"apollo","group":"people","description":"Search for people by name, title, company, or other criteria."},{"name":"apollo_org_search","domain":"apollo","group":"org","description":"Search for organizations by name, industry, or size"}]}"#);
    assert_snapshot!(discover(r#"{"query":"search","domain":"hubspot"}"#), @r#"{"query":"search","fit":"exact","results":[{"name":"hubspot__contacts_search","domain":"hubspot","group":"general","description":"Search HubSpot contacts by name, email, or properties","signature":"hubspot__contacts_search()"}]}"#);
    assert_snapshot!(discover(r#"{"query":"zzz","domain":"apollo","group":"people"}"#), @r#"{"query":"zzz","fit":"none","note":"No tool matches the query. The results are merely the nearest tools. Use discover_tools to browse available tools.","results":[{"name":"apollo_people_enrich","domain":"apollo","group":"people","description":"Enrich a person record"},{"name":"apollo_people_search","domain":"apollo","group":"people","description":"Search for people by name, title, company, or other criteria."}]}"#);
}

#[test]
fn a_domain_too_large_gives_its_groups_and_pages() {
    let view = large_view();
    let first = ask_of(&view, DISCOVER, r#"{"domain":"large"}"#);
    let first: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert_snapshot!(first["groups"].to_string(), @r#"[{"name":"file","tool_count":100},{"name":"note","tool_count":100},{"name":"task","tool_count":100}]"#);
    assert_snapshot!(first["next_cursor"].to_string(), @r#""80-caca689f""#);
    let keys: Vec<_> = first.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["domain", "tools", "groups", "next_cursor"]);
}

#[test]
fn cursors_reach_every_tool_within_the_budget() {
    let view = large_view();
    for request in [r#""domain":"large""#, r#""domain":"large","group":"note""#] {
        let mut seen = Vec::new();
        let mut arguments = format!("{{{request}}}");
        loop {
            let page = ask_of(&view, DISCOVER, &arguments);
            assert!(token_bound(&page) <= 2000, "{page}");
            let page: serde_json::Value = serde_json::from_str(&page).unwrap();
            let tools = page["tools"].as_array().unwrap();
            seen.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            arguments = format!(r#"{{{request},"cursor":"{cursor}"}}"#);
        }
        let expected = view.tools().filter(|tool| request.len() < 20 || tool.group() == "note");
        let expected: Vec<_> = expected.map(|tool| tool.id().to_string()).collect();
        assert_eq!(seen, expected);
    }
}

#[test]
fn an_error_of_discovery_says_what_there_is() {
    assert_snapshot!(discover(r#"{"domain":"salesforce"}"#), @r#"isError {"error":"Unknown domain 'salesforce'. Available domains: apollo, hubspot, sec_edgar"}"#);
    assert_snapshot!(discover(r#"{"domain":"apollo","group":"crm"}"#), @r#"isError {"error":"Unknown group 'crm' in domain 'apollo'. Available groups: general, org, people"}"#);
    assert_snapshot!(discover(r#"{"group":"people"}"#), @r#"isError {"error":"Parameter 'group' requires 'domain'. Domains with a group 'people': apollo"}"#);
    assert_snapshot!(discover(r#"{"group":"crm"}"#), @r#"isError {"error":"Parameter 'group' requires 'domain'. Available domains: apollo, hubspot, sec_edgar"}"#);
    assert_snapshot!(discover(r#"{"category":"crm"}"#), @r#"isError {"error":"Unknown parameter 'category' of discover_tools. Parameters: domain, group, query, search_mode, cursor"}"#);
    assert_snapshot!(discover(r#"{"domain":["apollo"]}"#), @r#"isError {"error":"Parameter 'domain' of discover_tools must be a string."}"#);
    assert_snapshot!(discover("[]"), @r#"isError {"error":"The arguments of discover_tools must be an object."}"#);
    assert_snapshot!(discover(r#"{"domain":"apollo","cursor":"3-abc"}"#), @r#"isError {"error":"Unknown cursor '3-abc'. Pass next_cursor of the last answer along with the same arguments, or leave it out to start over."}"#);
}

#[test]
fn a_schema_is_whole() {
    assert_snapshot!(schema(r#"{"tool_name":"apollo_people_search"}"#), @r#"{"name":"apollo_people_search","domain":"apollo","group":"people","description":"Search for people by name, title, company, or other criteria. Returns matching person records.","parameters":{"type":"object","properties":{"name":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":10},"filter":{"type":"object"}},"required":["name"],"additionalProperties":false},"output_schema":{"type":"object"}}"#);
    assert_snapshot!(schema(r#"{"tool_name":"apollo_usage"}"#), @r#"{"name":"apollo_usage","domain":"apollo","group":"general","description":"","parameters":{"type":"object"}}"#);
    for name in ["apollo__apollo_people_search", " apollo_people_search "] {
        let answer = schema(&format!(r#"{{"tool_name":"{name}"}}"#));
        assert_eq!(answer, schema(r#"{"tool_name":"apollo_people_search"}"#));
    }
}

#[test]
fn a_schema_comes_without_its_sources_white_space() {
    let spaced = "{\"name\":\"x\",\"inputSchema\":{\n  \"type\" : \"object\",\n  \"title\" : \"a  b\"\n},\"outputSchema\":{ \"type\":\"object\" }}";
    let view = View::whole(Arc::new(Snapshot::build(vec![source("a", "", &[spaced])], 1)));
    assert_snapshot!(ask_of(&view, SCHEMA, r#"{"tool_name":"a__x"}"#), @r#"{"name":"a__x","domain":"a","group":"general","parameters":{"type":"object","title":"a  b"},"output_schema":{"type":"object"}}"#);
}

#[test]
fn a_batch_names_what_it_leaves_out() {
    assert_snapshot!(schema(r#"{"tool_names":["contacts_search","nothing"]}"#), @r#"{"tools":[{"name":"hubspot__contacts_search","domain":"hubspot","group":"general","description":"Search HubSpot contacts by name, email, or properties","parameters":{"type":"object"}},{"name":"nothing","error":"Unknown tool 'nothing'. Use discover_tools to browse available tools."}]}"#);
    let twice =
        r#"{"tool_name":"contacts_search","tool_names":"[\"nothing\",\"contacts_search\"]"}"#;
    assert_eq!(schema(twice), schema(r#"{"tool_names":["contacts_search","nothing"]}"#));
    let tight = Gateway {
        limits: GatewayLimits { discovery_tokens: 120, ..GatewayLimits::default() },
        ..Gateway::default()
    };
    let names = raw(r#"{"tool_names":["apollo_people_search","contacts_search","apollo_usage"]}"#);
    let Ok(Step::Reply(reply)) = tight.interpret(&view(), &named(SCHEMA), &names) else { panic!() };
    assert_snapshot!(text(&reply), @r#"{"tools":[{"name":"apollo_people_search","domain":"apollo","group":"people","description":"Search for people by name, title, company, or other criteria. Returns matching person records.","parameters":{"type":"object","properties":{"name":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":10},"filter":{"type":"object"}},"required":["name"],"additionalProperties":false},"output_schema":{"type":"object"}}],"remaining":["contacts_search","apollo_usage"]}"#);
}

#[test]
fn an_error_of_a_schema_suggests_tools() {
    assert_snapshot!(schema(r#"{"tool_name":"apollo_search"}"#), @r#"isError {"error":"Unknown tool 'apollo_search'. Did you mean 'apollo_org_search', 'apollo_people_search' or 'apollo_org_enrich'? Use discover_tools to browse available tools."}"#);
    assert_snapshot!(schema(r#"{"tool_name":"qqq"}"#), @r#"isError {"error":"Unknown tool 'qqq'. Use discover_tools to browse available tools."}"#);
    assert_snapshot!(schema(r#"{"tool_name":"contacts_delet"}"#), @r#"isError {"error":"Unknown tool 'contacts_delet'. Use discover_tools to browse available tools."}"#);
    assert_snapshot!(schema("{}"), @r#"isError {"error":"Missing parameter 'tool_name' of get_tool_schema. Name one tool, or several in tool_names. Use discover_tools to browse available tools."}"#);
    assert_snapshot!(schema(r#"{"tool_names":[1]}"#), @r#"isError {"error":"Parameter 'tool_names' of get_tool_schema must be an array of strings."}"#);
    assert_snapshot!(schema(r#"{"tool_names":["qqq"]}"#), @r#"isError {"tools":[{"name":"qqq","error":"Unknown tool 'qqq'. Use discover_tools to browse available tools."}]}"#);
    // In a batch, only the first unknown name gets suggestions.
    assert_snapshot!(schema(r#"{"tool_names":["apollo_search","apollo_serch","contacts_serch"]}"#), @r#"isError {"tools":[{"name":"apollo_search","error":"Unknown tool 'apollo_search'. Did you mean 'apollo_org_search', 'apollo_people_search' or 'apollo_org_enrich'? Use discover_tools to browse available tools."},{"name":"apollo_serch","error":"Unknown tool 'apollo_serch'. Use discover_tools to browse available tools."},{"name":"contacts_serch","error":"Unknown tool 'contacts_serch'. Use discover_tools to browse available tools."}]}"#);
}

#[test]
fn arguments_are_forwarded_as_they_came() {
    for arguments in [
        r#"{"name": "Jane", "limit": 12345678901234567890, "x": 1.0}"#,
        r#"{"args":1}"#,
        r#"{"args":{"unheard":1}}"#,
        r#"{"name":"{\"a\":1}"}"#,
        "{}",
    ] {
        let call = format!(r#"{{"tool_name":"apollo_people_search","arguments":{arguments}}}"#);
        assert_eq!(execute(&call), format!("call apollo_people_search {arguments}"));
    }
    assert_eq!(execute(r#"{"tool_name":"contacts_search"}"#), "call contacts_search {}");
    assert_eq!(execute(r#"{"tool_name":"gone","arguments":{"a":1}}"#), r#"call gone {"a":1}"#);
}

#[test]
fn misplaced_arguments_are_understood_where_the_schema_leaves_no_doubt() {
    for arguments in [
        r#""name":"Jane","limit":3"#,
        r#""arguments":"{\"name\":\"Jane\",\"limit\":3}""#,
        r#""args":{"name":"Jane","limit":3}"#,
        r#""parameters":"{\"name\":\"Jane\",\"limit\":3}""#,
        r#""arguments":{"args":{"name":"Jane","limit":3}}"#,
        r#""arguments":{},"name":"Jane","limit":3"#,
    ] {
        let call = format!(r#"{{"tool_name":"apollo_people_search",{arguments}}}"#);
        let understood = r#"call apollo_people_search {"name":"Jane","limit":3}"#;
        assert_eq!(execute(&call), understood, "{arguments}");
    }
    let filter = r#"{"tool_name":"apollo_people_search","arguments":{"filter":"{\"a\": 1.0}"}}"#;
    assert_eq!(execute(filter), r#"call apollo_people_search {"filter":{"a": 1.0}}"#);
}

#[test]
fn an_error_of_a_call_shows_how_to_call() {
    assert_snapshot!(execute("{}"), @r#"isError {"error":"Missing parameter 'tool_name' of execute_tool. Use discover_tools to browse available tools."}"#);
    assert_snapshot!(execute(r#"{"tool_name":"apollo_people_search","nmae":"Jane"}"#), @r#"isError {"error":"Unknown parameters of execute_tool: 'nmae'. Put the tool's own into 'arguments': apollo_people_search(name: string, filter?: object, limit?: integer = 10 [1..100])"}"#);
    assert_snapshot!(execute(r#"{"tool_name":"apollo_people_search","arguments":[1]}"#), @r#"isError {"error":"Parameter 'arguments' of execute_tool must be an object for apollo_people_search(name: string, filter?: object, limit?: integer = 10 [1..100])"}"#);
    assert_snapshot!(ask_of(&view(), "apollo_people_search", "{}"), @r#"isError {"error":"Call 'apollo_people_search' through execute_tool, with the tool_name 'apollo_people_search'."}"#);
    assert_snapshot!(ask_of(&view(), "search_tools", "{}"), @r#"isError {"error":"Unknown tool 'search_tools'. Tools: discover_tools, get_tool_schema, execute_tool"}"#);
}

fn rendered(name: &str, arguments: &str, result: Result<Outcome, CallError>) -> Reply {
    let name_called = if name == "apollo_org_search" { name } else { EXECUTE };
    let operation = Operation::Tool { name: named(name), arguments: raw(arguments) };
    let view = view();
    let entry = view.find_tool(name);
    let request = Request { operation: operation.into(), entry };
    gateway().render(&view, &named(name_called), &request, result)
}

fn done(json: &str) -> Outcome {
    let is_error = json.contains(r#""isError":true"#);
    Outcome::Done(Payload { json: raw(json), is_error })
}

fn enveloped(content: &str) -> String {
    text(&rendered("contacts_search", "{}", Ok(done(&format!(r#"{{"content":[{content}]}}"#)))))
}

#[test]
fn a_result_stands_in_its_envelope() {
    let block = |text: &str| format!(r#"{{"type":"text","text":{}}}"#, serde_json::json!(text));
    assert_snapshot!(enveloped(&block("plain \"text\"")), @r#"{"tool":"hubspot__contacts_search","result":"plain \"text\""}"#);
    assert_snapshot!(enveloped(&block(" {\"n\": 12345678901234567890, \"x\": 1.0} \n")), @r#"{"tool":"hubspot__contacts_search","result":{"n": 12345678901234567890, "x": 1.0}}"#);
    assert_snapshot!(enveloped(&[block("one"), block("[2]")].join(",")), @r#"{"tool":"hubspot__contacts_search","result":["one",[2]]}"#);
    assert_snapshot!(enveloped(&block("")), @r#"{"tool":"hubspot__contacts_search","result":""}"#);
}

#[test]
fn other_parts_of_a_result_follow_unchanged() {
    let image = r#"{"type":"image", "data":"AA==","mimeType":"image/png"}"#;
    let json = format!(
        r#"{{"content":[{image},{{"type":"text","annotations":{{"priority":1}},"text":"a"}}],"structuredContent":{{"n":1.0}},"_meta":{{"k":"v"}}}}"#
    );
    let reply = rendered("contacts_search", "{}", Ok(done(&json)));
    let blocks: Vec<_> = reply.content.iter().map(|block| block.get()).collect();
    assert_snapshot!(blocks[1], @r#"{"type":"text","annotations":{"priority":1},"text":"{\"tool\":\"hubspot__contacts_search\",\"result\":\"a\"}"}"#);
    assert_eq!((blocks.len(), blocks[0]), (2, image));
    assert_eq!(reply.structured.unwrap().get(), r#"{"n":1.0}"#);
    assert_eq!(reply.meta.unwrap().get(), r#"{"k":"v"}"#);
}

#[test]
fn blocks_keep_their_order_and_their_annotations() {
    let (image, text) = (r#"{"type":"image","data":"AA=="}"#, |text| {
        format!(r#"{{"type":"text","text":"{text}"}}"#)
    });
    let noted = r#"{"type":"text","text":"noted","annotations":{"priority":1}}"#;
    let check = |blocks: &[&str], expected: &[&str]| {
        let json = format!(r#"{{"content":[{}]}}"#, blocks.join(","));
        let reply = rendered("contacts_search", "{}", Ok(done(&json)));
        let blocks: Vec<_> = reply.content.iter().map(|block| block.get()).collect();
        assert_eq!(blocks, expected);
    };
    let envelope = |result: &str| {
        let text = format!(r#"{{"tool":"hubspot__contacts_search","result":{result}}}"#);
        format!(r#"{{"type":"text","text":{}}}"#, serde_json::json!(text))
    };
    let (a, b) = (text("a"), text("b"));
    check(&[&a, image, &b], &[&envelope(r#""a""#), image, &b]);
    check(&[&a, &b, image], &[&envelope(r#"["a","b"]"#), image]);
    check(&[image, &a], &[image, &envelope(r#""a""#)]);
    check(&[&a, noted, &b], &[&envelope(r#""a""#), noted, &b]);
    check(&[image], &[&envelope(r#""no text, but 1 block: image""#), image]);
    let audio = r#"{"type":"audio"}"#;
    let both = envelope(r#""no text, but 2 blocks: image, audio""#);
    check(&[image, audio], &[&both, image, audio]);
    check(&[], &[&envelope("null")]);
}

#[test]
fn what_a_source_attached_to_its_error_is_passed_on() {
    let data = RawValue::from_string(r#"{"retry":1.50}"#.to_owned()).unwrap();
    let (tool, message) = (ToolId::new("hubspot__contacts_search"), "Not now".to_owned());
    let refused = CallError::Refused { tool, code: -32000, message, data: Some(data) };
    let reply = rendered("contacts_search", "{}", Err(refused));
    assert_snapshot!(text(&reply), @r#"isError {"tool":"hubspot__contacts_search","error":"Not now","data":{"retry":1.50}}"#);
}

#[test]
fn the_gateways_own_tools_are_not_executed_through_it() {
    for own in [DISCOVER, SCHEMA, EXECUTE] {
        let answer = ask_of(&view(), EXECUTE, &format!(r#"{{"tool_name":"{own}"}}"#));
        let direct =
            format!("'{own}' is a tool of its own. Call {own} directly, not through {EXECUTE}.");
        assert!(answer.contains(&direct), "{answer}");
    }
}

#[test]
fn structured_content_stands_in_for_a_text() {
    let only = r#"{"content":[],"structuredContent":{"n":1.0}}"#;
    assert_snapshot!(text(&rendered("contacts_search", "{}", Ok(done(only)))), @r#"{"tool":"hubspot__contacts_search","result":{"n":1.0}}"#);
    assert_snapshot!(text(&rendered("contacts_search", "{}", Ok(done("{}")))), @r#"{"tool":"hubspot__contacts_search","result":null}"#);
}

#[test]
fn a_pinned_tools_result_is_untouched() {
    let json = r#"{"content":[{"type":"text","text":"a"}],"structuredContent":{},"isError":true}"#;
    let reply = rendered("apollo_org_search", "{}", Ok(done(json)));
    assert_eq!(reply.content[0].get(), r#"{"type":"text","text":"a"}"#);
    assert!(reply.is_error && reply.structured.is_some());
}

#[test]
fn a_tools_error_names_it_and_what_was_wrong_with_the_arguments() {
    let error = r#"{"content":[{"type":"text","text":"Bad"},{"type":"text","text":"call"}],"isError":true}"#;
    assert_snapshot!(text(&rendered("contacts_search", "{}", Ok(done(error)))), @r#"isError {"tool":"hubspot__contacts_search","error":"Bad\ncall"}"#);
    let arguments = r#"{"nmae":"Jane","limit":"3"}"#;
    assert_snapshot!(text(&rendered("apollo_people_search", arguments, Ok(done(error)))), @r#"isError {"tool":"apollo_people_search","error":"Bad\ncall","differs":"missing required 'name'; 'limit' must be integer, not string; unknown 'nmae' (did you mean 'name'?)","signature":"apollo_people_search(name: string, filter?: object, limit?: integer = 10 [1..100])"}"#);
    let refused = || {
        let tool = ToolId::new("apollo_people_search");
        let message = "Invalid arguments".to_owned();
        Err(CallError::InvalidArguments { tool, message, data: None })
    };
    assert_snapshot!(text(&rendered("apollo_people_search", r#"{"name":"J"}"#, refused())), @r#"isError {"tool":"apollo_people_search","error":"Invalid arguments","signature":"apollo_people_search(name: string, filter?: object, limit?: integer = 10 [1..100])"}"#);
}

#[test]
fn an_error_of_the_gateways_is_one_sentence_to_act_on() {
    let failed = |error| text(&rendered("hubspot__contacts_search", "{}", Err(error)));
    let (domain, tool) =
        (Domain::parse("hubspot").unwrap(), ToolId::new("hubspot__contacts_search"));
    let unknown = |nearest: &[&str]| CallError::UnknownTool {
        name: named("apollo_search"),
        nearest: nearest.iter().map(|id| ToolId::new(*id)).collect(),
    };
    assert_snapshot!(failed(unknown(&["apollo_people_search", "apollo_org_search"])), @r#"isError {"error":"Unknown tool 'apollo_search'. Did you mean 'apollo_people_search' or 'apollo_org_search'?"}"#);
    assert_snapshot!(failed(unknown(&[])), @r#"isError {"error":"Unknown tool 'apollo_search'. Use discover_tools to browse available tools."}"#);
    let (reason, source) = ("exited".to_owned(), None);
    assert_snapshot!(failed(CallError::Unavailable { domain: domain.clone(), reason, source }), @r#"isError {"error":"Tool 'hubspot__contacts_search' is temporarily unavailable: upstream server 'hubspot' is unreachable. Other domains are still available."}"#);
    let paused = |fault| CallError::CircuitOpen {
        domain: domain.clone(),
        reason: "`http://10.0.0.1/s3cret` failed".to_owned(),
        retry_after: Duration::from_secs(4),
        fault,
    };
    assert_snapshot!(failed(paused(None)), @r#"isError {"error":"Tool 'hubspot__contacts_search' is temporarily unavailable: upstream server 'hubspot' is unreachable. Other domains are still available. Nothing was sent; try again in 5 s."}"#);
    assert_snapshot!(failed(paused(Some(AnswerFault::Status(401)))), @r#"isError {"error":"Tool 'hubspot__contacts_search' was not called: upstream server 'hubspot' answered with status 401: it does not accept the gateway's credentials. Nothing was sent; try again in 5 s."}"#);
    let no_result = |fault, effect, wait_s: Option<u64>| CallError::NoResult {
        domain: domain.clone(),
        fault,
        effect,
        retry_after: wait_s.map(Duration::from_secs),
        reason: "`http://10.0.0.1/s3cret` ended".to_owned(),
    };
    assert_snapshot!(failed(no_result(AnswerFault::EndedEarly, CallEffect::Certain, None)), @r#"isError {"error":"Tool 'hubspot__contacts_search' gave no result: upstream server 'hubspot' ended its answer early. It took effect, so do not call it again."}"#);
    assert_snapshot!(failed(no_result(AnswerFault::Status(429), CallEffect::Nothing, Some(7))), @r#"isError {"error":"Tool 'hubspot__contacts_search' gave no result: upstream server 'hubspot' answered with status 429: it has had too many calls. Nothing was done; it may be called again in 7 s."}"#);
    let (cause, reason) = (UnsentCause::SetUp, "set `base_url`".to_owned());
    assert_snapshot!(failed(CallError::NotSent { domain: domain.clone(), cause, reason }), @r#"isError {"error":"Tool 'hubspot__contacts_search' was not called, and nothing was done: it is not set up completely; tell the user, and do not call it again before that is mended."}"#);
    let busy = |of| CallError::Busy { domain: domain.clone(), of };
    assert_snapshot!(failed(busy(BusyResource::Calls)), @r#"isError {"error":"Tool 'hubspot__contacts_search' is busy: upstream server 'hubspot' has too many calls waiting. Try again shortly."}"#);
    assert_snapshot!(failed(busy(BusyResource::Places)), @r#"isError {"error":"Tool 'hubspot__contacts_search' is busy: upstream server 'hubspot' had no place free before the call's deadline, and nothing was sent. Try again shortly."}"#);
    assert_snapshot!(failed(busy(BusyResource::Connections)), @r#"isError {"error":"Tool 'hubspot__contacts_search' is busy: upstream server 'hubspot' has all its connections in use by other users. Try again in a minute, when one of them may be free."}"#);
    assert_snapshot!(failed(busy(BusyResource::OwnSessions)), @r#"isError {"error":"Tool 'hubspot__contacts_search' is busy: upstream server 'hubspot' has no session free for you: as many as one user may have are in use, here or at other servers. Try again when one of your other calls has ended."}"#);
    assert_snapshot!(failed(busy(BusyResource::Sessions)), @r#"isError {"error":"Tool 'hubspot__contacts_search' is busy: upstream server 'hubspot' has no session free, as all users' sessions are in use. Try again in a minute."}"#);
    assert_snapshot!(failed(busy(BusyResource::Download)), @r#"isError {"error":"Tool 'hubspot__contacts_search' is busy: upstream server 'hubspot' is still downloading what it needs to start, and nothing was sent. Try again in a minute."}"#);
    assert_snapshot!(failed(busy(BusyResource::Questions)), @r#"isError {"error":"Tool 'hubspot__contacts_search' is busy: upstream server 'hubspot' has too many calls waiting for your answers. Answer one of them first, then try again."}"#);
    let limit = Duration::from_secs(60);
    assert_snapshot!(failed(CallError::Deadline { tool: tool.clone(), limit }), @r#"isError {"error":"Tool 'hubspot__contacts_search' did not answer within 60 s. It may have taken effect all the same."}"#);
    let large = CallError::TooLarge { tool: tool.clone(), size: 20_000_000, limit: 1_048_576 };
    assert_snapshot!(failed(large), @r#"isError {"error":"The result of 'hubspot__contacts_search' has 20000000 bytes, more than the limit of 1048576. Ask for less of it, with a filter or a smaller page. It may have taken effect all the same."}"#);
    let (reason, source) = ("garbage".to_owned(), None);
    assert_snapshot!(failed(CallError::Protocol { domain, reason, source }), @r#"isError {"error":"Tool 'hubspot__contacts_search' failed: upstream server 'hubspot' broke the protocol. It may have taken effect all the same. Other domains are still available."}"#);
    assert_snapshot!(failed(CallError::Denied { tool, rule: RuleId::new("no") }), @r#"isError {"error":"Tool 'hubspot__contacts_search' is not allowed by rule 'no'."}"#);
    assert_snapshot!(failed(CallError::Cancelled), @r#"isError {"error":"The call was cancelled."}"#);
    let waiting = Outcome::Suspended(Suspension { questions: raw("{}"), state: None });
    assert_snapshot!(text(&rendered("contacts_search", "{}", Ok(waiting))), @r#"isError {"error":"Tool 'hubspot__contacts_search' needs an answer before it goes on, and this client cannot give it."}"#);
    let task = Outcome::Task(TaskHandle { id: "7".to_owned(), json: raw("{}") });
    assert_snapshot!(text(&rendered("contacts_search", "{}", Ok(task))), @r#"isError {"error":"Tool 'hubspot__contacts_search' goes on as task '7', which this client cannot follow."}"#);
}

#[test]
fn the_surface_is_three_tools_and_the_pinned_ones() {
    let surface = gateway().surface(&view(), &ClientLimits::default());
    let names: Vec<_> = surface.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, [DISCOVER, SCHEMA, EXECUTE, "apollo_org_enrich", "apollo_org_search"]);
    assert_snapshot!(surface.tools[0].definition.get(), @r#"{"name":"discover_tools","description":"Browse available tools by domain, group, or keyword.\n\nDomains: apollo, hubspot, sec_edgar","inputSchema":{"type":"object","properties":{"domain":{"type":"string","description":"Omit to see all domains."},"group":{"type":"string","description":"Requires domain."},"query":{"type":"string","description":"User's words and service; rephrase on new lines."},"search_mode":{"type":"string","enum":["hybrid","keyword","semantic"]},"cursor":{"type":"string","description":"The last next_cursor."}}},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}"#);
    assert_snapshot!(surface.tools[3].definition.get(), @r#"{"name":"apollo_org_enrich","description":"Enrich an organization with firmographic data","inputSchema":{"type":"object"}}"#);
    assert_snapshot!(surface.instructions, @r#"
You have access to a tool discovery gateway with 3 tools:

1. discover_tools - Browse available tools. Call with no arguments to see domains,
   or with a domain to see specific tools.
2. get_tool_schema - Get a tool's parameter schema before using it.
3. execute_tool - Run any discovered tool.

Workflow: discover_tools → get_tool_schema → execute_tool.
Skip discovery for tools you've already used in this conversation.

Domains:
- apollo: Apollo.io CRM and sales intelligence
- hubspot: HubSpot CRM and marketing
- sec_edgar
"#);
    let exact: usize = surface.tools.iter().map(|tool| exact(tool.definition.get())).sum();
    assert!(surface.token_bound() >= exact + self::exact(&surface.instructions));
}

fn exact(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

fn definitions(entries: Vec<SourceEntry>) -> usize {
    let view = View::whole(Arc::new(Snapshot::build(entries, 1)));
    let surface = Gateway::default().surface(&view, &ClientLimits::default());
    let definitions: Vec<_> = surface.tools.iter().map(|tool| tool.definition.get()).collect();
    assert!(surface.instructions.len() <= 2048);
    exact(&format!("[{}]", definitions.join(",")))
}

#[test]
fn each_parameter_has_a_type() {
    let view = View::whole(Arc::new(Snapshot::build(Vec::new(), 1)));
    let surface = Gateway::default().surface(&view, &ClientLimits::default());
    for tool in &surface.tools {
        let definition: serde_json::Value = serde_json::from_str(tool.definition.get()).unwrap();
        let parameters = definition["inputSchema"]["properties"].as_object().unwrap();
        for (name, schema) in parameters {
            assert!(schema["type"].is_string(), "{name} of {}", tool.name);
        }
    }
}

#[test]
fn three_definitions_have_at_most_300_tokens_and_420_with_domains() {
    let many = |count: usize| -> Vec<_> {
        let name = |n: usize| format!("department_of_{n}_weights_and_measures");
        let entry = |n| source(&name(n), "Weighs, measures and files what it has weighed", &[]);
        (0..count).map(entry).collect()
    };
    let bare = definitions(Vec::new());
    assert!(bare <= 300, "{bare}");
    for count in [1, 10, 60, 500] {
        let named = definitions(many(count));
        assert!(named <= bare + 120, "{named} for {count} domains");
    }
}

fn split() -> Gateway {
    Gateway { execute: ExecuteTools::Split, ..gateway() }
}

#[test]
fn execution_is_split_by_what_tools_declare() {
    let view = view();
    let surface = split().surface(&view, &ClientLimits::default());
    let names: Vec<_> = surface.tools.iter().take(4).map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, [DISCOVER, SCHEMA, "execute_read", "execute_write"]);
    assert_snapshot!(surface.tools[2].definition.get(), @r#"{"name":"execute_read","description":"Execute a tool by name. Use discover_tools to find it. Only for tools with readOnlyHint true.","inputSchema":{"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema from get_tool_schema."}},"required":["tool_name"]},"annotations":{"readOnlyHint":true,"openWorldHint":true}}"#);
    assert_snapshot!(surface.tools[3].definition.get(), @r#"{"name":"execute_write","description":"Execute a tool by name. Use discover_tools to find it. For all that may change something.","inputSchema":{"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema from get_tool_schema."}},"required":["tool_name"]},"annotations":{"readOnlyHint":false,"idempotentHint":false,"openWorldHint":true}}"#);
    assert!(!surface.instructions.contains("execute_tool"), "{}", surface.instructions);
    assert!(!surface.tools[1].definition.get().contains("execute_tool"));
    let reads = |tool: &Tool| tool.target().hints.read_only == Some(true);
    let (reading, writing) =
        (view.tools().find(|tool| reads(tool)), view.tools().find(|tool| !reads(tool)));
    let call = |through: &str, tool: &Tool| {
        let arguments = raw(&format!(r#"{{"tool_name":"{}"}}"#, tool.id()));
        let through = ToolName::parse(through).unwrap();
        match split().interpret(&view, &through, &arguments) {
            Ok(Step::Call(request)) => request.operation.subject().to_owned(),
            other => other.unwrap_err().to_string(),
        }
    };
    let (reading, writing) = (reading.unwrap(), writing.unwrap());
    for through in ["execute_read", "execute_write"] {
        assert_eq!(call(through, reading), reading.id().as_str());
    }
    assert_eq!(call("execute_write", writing), writing.id().as_str());
    let refused =
        format!("'{}' may change something. Call it through execute_write.", writing.id());
    assert_eq!(call("execute_read", writing), refused);
    let other = call("execute_tool", writing);
    assert!(other.starts_with("Unknown tool 'execute_tool'. Tools: discover_tools,"), "{other}");
}

#[test]
fn a_query_may_have_three_phrasings() {
    let asked = |query: &str| discover(&format!(r#"{{"query":{query}}}"#));
    let lines = asked(r#""open a ticket\n\ncreate an issue""#);
    assert_eq!(lines, asked(r#"["open a ticket", " ", "create an issue"]"#));
    assert!(lines.contains(r#""query":"open a ticket / create an issue""#), "{lines}");
    let many = asked(r#"["a","b","c","d"]"#);
    assert!(
        many.contains("Parameter 'query' of discover_tools takes at most 3 phrasings."),
        "{many}"
    );
    let text = asked(r#""one\ntwo\nthree\nfour""#);
    assert!(text.contains(r#""query":"one two three four""#), "{text}");
    assert!(asked("[7]").contains("must be a string"), "{}", asked("[7]"));
}

#[test]
fn an_answer_says_how_well_its_tools_fit_and_names_domains_if_they_hardly_do() {
    let tools = [
        r#"{"name":"send_mail","description":"Sends a mail","inputSchema":{"type":"object"}}"#,
        r#"{"name":"list_rooms","description":"Lists meeting rooms","inputSchema":{"type":"object"}}"#,
        r#"{"name":"drop_table","description":"Removes a table","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}"#,
    ];
    let view = View::whole(Arc::new(Snapshot::build(vec![source("office", "", &tools)], 1)));
    let page = |query: &str| -> serde_json::Value {
        let page = ask_of(&view, DISCOVER, &format!(r#"{{"query":"{query}"}}"#));
        serde_json::from_str(&page).unwrap()
    };
    assert_eq!(page("send_mail")["fit"], "exact");
    assert_eq!(page("send a mail")["note"], serde_json::Value::Null);
    let unlike = page("reserve a table at a cosy restaurant in Lisbon");
    assert!(["weak", "none"].iter().any(|fit| unlike["fit"] == *fit), "{unlike}");
    assert!(unlike["note"].is_string() && unlike["nearest_domains"][0]["name"] == "office");
    // It destroys something, but it is the likeliest all the same.
    assert_eq!(unlike["results"][0]["name"], "office__drop_table", "{unlike}");
}
