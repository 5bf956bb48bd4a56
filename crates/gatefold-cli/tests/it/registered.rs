//! Found tools that are registered in a session, through the real binary over HTTP and stdio.

use std::time::Duration;

use gatefold_testkit::{RawClient, StdioClient};

use crate::process::{Gateway, LIMIT, command, run, two_sources};
use crate::scratch::Scratch;

const REGISTER: &str = "[disclosure]\nregister = true\n";
const COUNT: &str = r#"{"intent": "count issues by state", "top_k": 1}"#;
const OWN: [&str; 2] = ["discover_tools", "execute_tool"];
const CHANGED: &str = "notifications/tools/list_changed";

fn scratch(config: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", two_sources(&scratch) + config);
    scratch
}

async fn serve(scratch: &Scratch) -> Gateway {
    let gateway = Gateway::serve(scratch).await;
    let args = ["status", "--listen", &gateway.address(), "--json"];
    let are_known = || run(scratch, &args).json()["running"]["tools"] == 24;
    assert!(gatefold_testkit::wait_until(LIMIT, are_known).await, "{}", gateway.log());
    gateway
}

/// A client with a session.
async fn session(gateway: &Gateway, query: &str) -> RawClient {
    let mut client = RawClient::new(format!("{}{query}", gateway.url())).unwrap();
    client.initialize().await.unwrap();
    client
}

async fn names(client: &RawClient) -> Vec<String> {
    client.list().await.unwrap().tool_names()
}

async fn found(client: &RawClient, arguments: &str) -> String {
    client.call("discover_tools", arguments).await.unwrap().text()
}

#[tokio::test]
async fn a_found_tool_is_announced_listed_and_called_by_its_name_in_its_session_alone() {
    let scratch = scratch(REGISTER);
    let gateway = serve(&scratch).await;
    let client = session(&gateway, "?disclosure=intent").await;
    let other = session(&gateway, "?disclosure=intent").await;
    let mut notices = client.listen().await.unwrap();
    let mut others_notices = other.listen().await.unwrap();
    assert_eq!(names(&client).await, OWN);
    let refused = client.call("issues__count_issues", r#"{"by":"state"}"#).await.unwrap();
    assert_eq!(refused.result()["isError"], true, "{}", refused.response);
    assert!(found(&client, COUNT).await.contains("issues__count_issues"));
    assert!(notices.next().await.unwrap().contains(CHANGED));
    let listed = client.list().await.unwrap();
    assert_eq!(listed.tool_names(), [OWN[0], OWN[1], "issues__count_issues"]);
    assert!(listed.result()["tools"][2]["inputSchema"]["properties"]["by"].is_object());
    let direct = client.call("issues__count_issues", r#"{"by":"state"}"#).await.unwrap();
    assert!(direct.result()["structuredContent"]["counts"].is_array(), "{}", direct.response);
    let record = run(&scratch, &["calls", "--json"]).json()["calls"][0].clone();
    assert_eq!(
        (&record["tool"], &record["outcome"]),
        (&"issues__count_issues".into(), &"done".into())
    );
    // Another search adds to them, in the order of their names, and finding one again is no change.
    found(&client, r#"{"intent": "convert a unit of length", "top_k": 1}"#).await;
    assert!(notices.next().await.unwrap().contains(CHANGED));
    found(&client, r#"{"intent": "create an issue", "top_k": 1}"#).await;
    assert!(notices.next().await.unwrap().contains(CHANGED));
    let all = names(&client).await;
    assert_eq!(all.len(), 5);
    assert!(all[2..].is_sorted(), "{all:?}");
    found(&client, COUNT).await;
    assert_eq!(names(&client).await, all);
    assert_eq!(names(&other).await, OWN, "another session of the same client");
    tokio::time::timeout(Duration::from_millis(300), others_notices.next()).await.unwrap_err();
    tokio::time::timeout(Duration::from_millis(300), notices.next()).await.unwrap_err();
}

#[tokio::test]
async fn without_a_session_or_the_key_nothing_is_registered() {
    for config in ["", REGISTER] {
        let scratch = scratch(config);
        let gateway = serve(&scratch).await;
        let url = format!("{}?disclosure=intent", gateway.url());
        let stateless = RawClient::new(url).unwrap();
        assert!(found(&stateless, COUNT).await.contains("issues__count_issues"));
        assert_eq!(names(&stateless).await, OWN, "{config}");
        if config.is_empty() {
            let client = session(&gateway, "?disclosure=intent").await;
            let mut notices = client.listen().await.unwrap();
            found(&client, COUNT).await;
            assert_eq!(names(&client).await, OWN);
            let silence = Duration::from_millis(300);
            tokio::time::timeout(silence, notices.next()).await.unwrap_err();
        }
    }
}

#[tokio::test]
async fn what_request_tools_loads_is_registered_until_it_is_denied() {
    let scratch = scratch(REGISTER);
    let gateway = serve(&scratch).await;
    let client = session(&gateway, "?disclosure=flat&for=convert+a+unit").await;
    let mut notices = client.listen().await.unwrap();
    let before = names(&client).await;
    assert!(!before.contains(&"issues__delete_issue".to_owned()), "{before:?}");
    let load = r#"{"tool_names": ["issues__delete_issue", "issues__close_issue"]}"#;
    let loaded = client.call("request_tools", load).await.unwrap().text();
    assert!(loaded.contains("inputSchema"), "{loaded}");
    assert!(notices.next().await.unwrap().contains(CHANGED));
    let after = names(&client).await;
    assert!(after.contains(&"issues__delete_issue".to_owned()), "{after:?}");
    assert_eq!(after.len(), before.len() + 2);
    let listed = client.list().await.unwrap().result().to_string();
    let direct = client.call("issues__close_issue", r#"{"id": 1}"#).await.unwrap();
    assert_eq!(direct.result()["structuredContent"]["state"], "closed", "{}", direct.response);
    assert_eq!(listed.matches("\"request_tools\"").count(), 1);

    let denied = "[policy]\ndeny = ['issues__delete_issue']\n";
    scratch.write("gatefold.toml", two_sources(&scratch) + REGISTER + denied);
    // What is likeliest for the request may have changed before, once the encoder had read all tools.
    let now = loop {
        assert!(notices.next().await.unwrap().contains(CHANGED));
        let now = names(&client).await;
        if !now.contains(&"issues__delete_issue".to_owned()) {
            break now;
        }
    };
    assert!(now.contains(&"issues__close_issue".to_owned()), "{now:?}");
}

#[tokio::test]
async fn a_client_over_stdio_is_told_too() {
    let scratch = scratch(&format!("{REGISTER}default = 'intent'\n"));
    // The lists of both are known, so nothing else changes what is shown.
    assert_eq!(run(&scratch, &["check"]).code, Some(0));
    let stdio = command(&scratch, &["stdio"]);
    let mut client = StdioClient::from_command(stdio.into()).unwrap().with_limit(LIMIT);
    client.initialize().await.unwrap();
    assert_eq!(client.list().await.unwrap().tool_names(), OWN);
    let found = client.call("discover_tools", COUNT).await.unwrap();
    assert!(found.text().contains("issues__count_issues"), "{}", found.response);
    let listed = client.list().await.unwrap();
    assert_eq!(listed.tool_names(), [OWN[0], OWN[1], "issues__count_issues"]);
    let mut told = [found.notices, listed.notices].concat();
    while !told.iter().any(|line| line.contains(CHANGED)) {
        told.push(client.receive().await.unwrap());
    }
}
