//! Agents: what each is told, which tools it has, and that it has no more than its user.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use gatefold_testkit::RawClient;
use serde_json::Value;
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;

use crate::process::{Gateway, LIMIT, run, two_sources};
use crate::scratch::Scratch;

const AGENTS: &str = r#"
[sources.crm]
database = "sqlite:crm.db"
[sources.shop]
database = "sqlite:shop.db"
[sources.own]
builtin = ["calculate", "memory", "todo"]
[agents.sales]
instructions = "You sell. Never promise a date."
connector_ids = ["crm"]
tool_categories = ["computation"]
disclosure = "flat"
[agents.servers]
tool_categories = ["mcp"]
[agents.typist]
disclosure = "typed"
pinned = ["crm__list_tables"]
model_config_json = '{"mcp_tool_mode": "legacy", "temperature": 0.2}'
"#;

/// Two databases, built-in tools and two servers, with an agent for each way to narrow them.
async fn scratch() -> Scratch {
    let scratch = Scratch::new();
    for name in ["crm.db", "shop.db"] {
        let file = SqliteConnectOptions::new().filename(scratch.path().join(name));
        file.create_if_missing(true).connect().await.unwrap();
    }
    scratch.write("gatefold.toml", two_sources(&scratch) + AGENTS);
    scratch
}

async fn gateway(scratch: &Scratch) -> Gateway {
    let gateway = Gateway::serve(scratch).await;
    let everybody = RawClient::new(format!("{}?disclosure=flat", gateway.url())).unwrap();
    let wanted: BTreeSet<_> = ["crm", "issues", "own", "shop", "units"].map(str::to_owned).into();
    while !domains(&names(&everybody).await).is_superset(&wanted) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    gateway
}

fn agent(gateway: &Gateway, name: &str) -> RawClient {
    RawClient::new(format!("{}/agent/{name}", gateway.url())).unwrap()
}

async fn names(client: &RawClient) -> Vec<String> {
    client.list().await.unwrap().tool_names()
}

fn domains(names: &[String]) -> BTreeSet<String> {
    names.iter().filter_map(|name| Some(name.split_once("__")?.0.to_owned())).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[tokio::test]
async fn an_agent_has_what_it_is_bound_to_and_what_is_everybodys() {
    let scratch = scratch().await;
    let gateway = gateway(&scratch).await;
    let sales = names(&agent(&gateway, "sales")).await;
    assert_eq!(domains(&sales), set(&["crm", "issues", "own", "results", "units"]));
    let own: Vec<_> = sales.iter().filter(|name| name.starts_with("own__")).collect();
    assert_eq!(own, ["own__calculate"]);
    // Of the three kinds it has one, and no built-in tool has its category.
    let servers = format!("{}/agent/servers?disclosure=flat", gateway.url());
    let servers = names(&RawClient::new(servers).unwrap()).await;
    assert_eq!(domains(&servers), set(&["issues", "results", "units"]));
}

#[tokio::test]
async fn what_an_agent_lacks_cannot_be_called_and_looks_as_if_there_were_none() {
    let scratch = scratch().await;
    let gateway = gateway(&scratch).await;
    let sales = agent(&gateway, "sales");
    let called = sales.call("crm__list_tables", "{}").await.unwrap();
    assert_eq!(called.result()["isError"], Value::Null, "{}", called.response);
    for (hidden, made_up) in
        [("shop__list_tables", "shap__list_tables"), ("own__todo", "own__tudo")]
    {
        let hidden_says = sales.call(hidden, "{}").await.unwrap().value()["error"].to_string();
        let made_up_says = sales.call(made_up, "{}").await.unwrap().value()["error"].to_string();
        assert_eq!(hidden_says.replace(hidden, made_up), made_up_says);
        assert!(made_up_says.contains(made_up), "{made_up_says}");
    }
    let records = run(&scratch, &["calls", "--json"]).json();
    let records = records["calls"].as_array().unwrap();
    assert!(records.iter().any(|one| one["tool"] == "crm__list_tables"), "{records:?}");
    assert!(records.iter().all(|one| one["agent"] == "sales"), "{records:?}");
}

#[tokio::test]
async fn an_agent_is_told_its_own_instructions_first() {
    let scratch = scratch().await;
    let gateway = gateway(&scratch).await;
    for (path, begins) in [("/agent/sales", "You sell. Never promise a date.\n\n"), ("", "")] {
        let client = RawClient::new(format!("{}{path}", gateway.url())).unwrap();
        let told = client.request("server/discover", "{}").await.unwrap().result();
        let told = told["instructions"].as_str().unwrap().to_owned();
        assert!(told.starts_with(begins) && told.len() > begins.len() + 20, "{told}");
        assert_eq!(told.contains("You sell"), !begins.is_empty());
        assert!(told.len() <= 2048, "{} bytes", told.len());
    }
}

#[tokio::test]
async fn an_agent_has_its_own_disclosure_modes_and_pins() {
    let scratch = scratch().await;
    let gateway = gateway(&scratch).await;
    let typist = names(&agent(&gateway, "typist")).await;
    let shown = |name: &str| typist.iter().any(|own| own == name);
    assert!(shown("database") && shown("crm__list_tables"), "{typist:?}");
    assert!(!shown("mcp") && shown("units__convert_unit"), "{typist:?}");
    let named = format!("{}/agent/typist?disclosure=gateway", gateway.url());
    let named = names(&RawClient::new(named).unwrap()).await;
    assert_eq!(named, ["discover_tools", "get_tool_schema", "execute_tool", "crm__list_tables"]);
}

#[tokio::test]
async fn a_reload_changes_the_agents_of_open_sessions_and_an_unknown_one_is_none() {
    let scratch = scratch().await;
    let gateway = gateway(&scratch).await;
    let unknown = agent(&gateway, "nobody").list().await.unwrap_err().to_string();
    assert!(unknown.contains("404") && unknown.contains("there is no such agent"), "{unknown}");
    let mut session = agent(&gateway, "sales");
    session.initialize().await.unwrap();
    assert!(domains(&names(&session).await).contains("crm"));
    let changed = AGENTS.replace(r#"["crm"]"#, r#"["shop"]"#).replace("\"flat\"", "\"gateway\"");
    scratch.write("gatefold.toml", two_sources(&scratch) + &changed);
    let mut seen = Vec::new();
    let until = Instant::now() + LIMIT;
    while seen.len() != 3 && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(50)).await;
        seen = names(&session).await;
    }
    assert_eq!(seen, ["discover_tools", "get_tool_schema", "execute_tool"]);
    let found = session.call("discover_tools", r#"{"query": "list tables"}"#).await.unwrap().text();
    assert!(found.contains("shop__list_tables") && !found.contains("crm__"), "{found}");
}

#[tokio::test]
async fn an_agent_that_does_not_exist_is_refused_on_the_command_line() {
    let scratch = scratch().await;
    let refused = run(&scratch, &["stdio", "--agent", "seller"]);
    assert_eq!(refused.code, Some(1));
    let told = "there is no agent `seller`; the agents are: sales, servers, typist";
    assert!(refused.stderr.contains(told), "{}", refused.stderr);
}

#[tokio::test]
async fn what_is_printed_for_an_agent_or_a_request_is_what_a_client_is_given() {
    let scratch = scratch().await;
    let gateway = gateway(&scratch).await;
    let request = "close the issue";
    // From here on the gateway's encoder has read all tools: this search waits for it.
    assert_eq!(run(&scratch, &["tools", "search", request]).code, Some(0));
    for (args, address) in [
        (vec!["--agent", "sales"], "/agent/sales"),
        (vec!["--agent", "typist"], "/agent/typist"),
        (vec!["--disclosure", "flat", "--for", request], "?disclosure=flat&for=close%20the+issue"),
    ] {
        let printed = run(&scratch, &[&["surface", "--json"], &args[..]].concat()).json();
        let printed: Vec<_> =
            printed["tools"].as_array().unwrap().iter().map(|tool| &tool["definition"]).collect();
        let client = RawClient::new(format!("{}{address}", gateway.url())).unwrap();
        let given = client.list().await.unwrap().result();
        let given: Vec<_> = given["tools"].as_array().unwrap().iter().collect();
        assert_eq!(printed, given, "{args:?}");
    }
    let refused = run(&scratch, &["surface", "--agent", "nobody"]);
    assert!(refused.stderr.contains("there is no agent `nobody`"), "{}", refused.stderr);
}

#[tokio::test]
async fn an_agent_is_found_by_its_groups_alone() {
    let scratch = scratch().await;
    let hidden =
        format!("{}[agents.secret]\nvisible_to = ['finance']\n", two_sources(&scratch) + AGENTS);
    scratch.write("gatefold.toml", &hidden);
    let gateway = gateway(&scratch).await;
    let refused = async |name: &str| {
        agent(&gateway, name).list().await.unwrap_err().to_string().replace(name, "NAME")
    };
    assert_eq!(refused("secret").await, refused("secrets").await);
    let told = run(&scratch, &["stdio", "--agent", "secret"]).stderr;
    assert!(told.contains("there is no agent `secret`; the agents are: sales, servers"), "{told}");
    let printed = run(&scratch, &["surface", "--agent", "secret"]).stderr;
    assert!(printed.contains("there is no agent `secret`"), "{printed}");
    scratch.write("gatefold.toml", hidden + "[users.local]\ngroups = ['finance']\n");
    let until = Instant::now() + LIMIT;
    while agent(&gateway, "secret").list().await.is_err() {
        assert!(Instant::now() < until, "whoever is in the group finds it");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn modes_that_nobody_sees_are_warned_of() {
    let scratch = scratch().await;
    let base = two_sources(&scratch);
    let check = |text: &str| {
        scratch.write("gatefold.toml", format!("{base}{text}"));
        let checked = run(&scratch, &["config", "check"]).stdout;
        let examined = run(&scratch, &["doctor", "--offline"]).stdout;
        for key in ["disclosure.mcp_tool_mode", "agents.a.model_config_json"] {
            let warns = |seen: &str| seen.contains(&format!("`{key}`"));
            assert_eq!(warns(&checked), warns(&examined), "{checked}\n{examined}");
        }
        checked
    };
    let idle = check("[disclosure]\nmcp_tool_mode = 'legacy'\n");
    assert!(idle.contains("`disclosure.mcp_tool_mode` (or `MCP_TOOL_MODE`)"), "{idle}");
    let agents = check("[agents.a]\nmodel_config_json = { skill_tool_mode = 'inline' }\n");
    assert!(agents.contains("`agents.a.model_config_json` counts"), "{agents}");
    for seen in [
        "[disclosure]\nmcp_tool_mode = 'legacy'\ndefault = 'typed'\n",
        "[disclosure]\nmcp_tool_mode = 'legacy'\n[agents.a]\ndisclosure = 'typed'\n",
        "[agents.a]\ndisclosure = 'typed'\nmodel_config_json = { skill_tool_mode = 'inline' }\n",
        "[disclosure]\nmcp_tool_mode = 'progressive'\n",
    ] {
        assert!(!check(seen).contains("counts in the disclosure"), "{seen}");
    }
}
