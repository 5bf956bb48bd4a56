//! `"used"` among the pinned tools, through the real binary: what was called on days before today
//! stands at the top level of whoever called it, and stays there for the day.

use std::time::Duration;

use gatefold_testkit::RawClient;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};

use crate::process::{Gateway, LIMIT, run, two_sources};
use crate::scratch::Scratch;

const COUNT: &str = r#"{"tool_name": "issues__count_issues", "arguments": {"by": "state"}}"#;
const LIST: &str = r#"{"tool_name": "issues__list_issues", "arguments": {}}"#;
/// Nobody is shown what was used, so nothing is counted for the day yet.
const UNUSED: &str = "[agents.typist]\n";
const USED: &str = "[disclosure]\npinned = ['used']\n[agents.sales]\n\
    [agents.typist]\npinned = ['units__*', 'used']\n";
const GATEWAYS: [&str; 3] = ["discover_tools", "get_tool_schema", "execute_tool"];

async fn serve(scratch: &Scratch, config: &str) -> Gateway {
    scratch.write("gatefold.toml", format!("{}{config}", two_sources(scratch)));
    let gateway = Gateway::serve(scratch).await;
    let args = ["status", "--listen", &gateway.address(), "--json"];
    let are_known = || run(scratch, &args).json()["running"]["tools"] == 24;
    assert!(gatefold_testkit::wait_until(LIMIT, are_known).await, "{}", gateway.log());
    gateway
}

async fn stop(mut gateway: Gateway) {
    gateway.signal("-TERM");
    assert_eq!(gateway.ended().await, Some(0), "{}", gateway.log());
}

fn client(gateway: &Gateway, path: &str) -> RawClient {
    RawClient::new(format!("{}{path}", gateway.url())).unwrap()
}

/// What somebody is shown beside the gateway's three.
async fn pinned(gateway: &Gateway, path: &str) -> Vec<String> {
    let names = client(gateway, path).list().await.unwrap().tool_names();
    assert_eq!(names[..3], GATEWAYS);
    names[3..].to_vec()
}

async fn call(gateway: &Gateway, path: &str, arguments: &str) {
    let called = client(gateway, path).call("execute_tool", arguments).await.unwrap();
    assert_eq!(called.result()["isError"], serde_json::Value::Null, "{}", called.response);
}

/// Makes all records those of three days ago.
async fn age_records(scratch: &Scratch) {
    let path = scratch.path().join(".local/state/gatefold/gatefold.db");
    let mut database = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    let three_days = Duration::from_hours(72).as_millis();
    let aged = format!(
        "UPDATE calls SET id = unhex(printf('%012x', opened_at - {three_days}) || substr(hex(id), 13))"
    );
    let aged = database.execute(sqlx::AssertSqlSafe(aged)).await.unwrap();
    assert!(aged.rows_affected() > 0);
}

#[tokio::test]
async fn what_was_used_on_past_days_is_shown_to_its_user_for_the_day_and_across_restarts() {
    let scratch = Scratch::new();
    let gateway = serve(&scratch, UNUSED).await;
    call(&gateway, "", COUNT).await;
    call(&gateway, "/agent/typist", LIST).await;
    stop(gateway).await;
    age_records(&scratch).await;

    let gateway = serve(&scratch, UNUSED).await;
    assert_eq!(pinned(&gateway, "").await, [""; 0], "off by default");
    stop(gateway).await;
    for _ in 0..2 {
        let gateway = serve(&scratch, USED).await;
        assert_eq!(pinned(&gateway, "").await, ["issues__count_issues"]);
        assert_eq!(pinned(&gateway, "/agent/sales").await, [""; 0], "it used nothing itself");
        let typist = pinned(&gateway, "/agent/typist").await;
        assert!(typist.contains(&"issues__list_issues".to_owned()), "{typist:?}");
        assert!(typist.contains(&"units__convert_unit".to_owned()), "and its patterns: {typist:?}");
        let user = client(&gateway, "");
        let direct = user.call("issues__count_issues", r#"{"by": "state"}"#).await.unwrap();
        assert!(direct.text().contains("counts") && !direct.text().contains("\"tool\""));
        // What is used today is not shown today.
        call(&gateway, "", LIST).await;
        assert_eq!(pinned(&gateway, "").await, ["issues__count_issues"]);
        stop(gateway).await;
    }
    let denied = format!("{USED}[policy]\ndeny = ['issues__count_*']\n");
    scratch.write("gatefold.toml", format!("{}{denied}", two_sources(&scratch)));
    assert_eq!(printed(&scratch, &[]).len(), 3);
}

/// The names in `gatefold surface`.
fn printed(scratch: &Scratch, args: &[&str]) -> Vec<String> {
    let printed = run(scratch, &[&["surface", "--json"], args].concat()).json();
    let tools = printed["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["definition"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_is_printed_has_the_tools_that_were_used_too() {
    let scratch = Scratch::new();
    let gateway = serve(&scratch, UNUSED).await;
    call(&gateway, "", COUNT).await;
    stop(gateway).await;
    age_records(&scratch).await;
    let without = tokens(&scratch);
    scratch.write("gatefold.toml", two_sources(&scratch) + USED);
    let [discover, schema, execute] = GATEWAYS;
    let used = "issues__count_issues";
    assert_eq!(printed(&scratch, &[]), [discover, schema, execute, used]);
    let intent = printed(&scratch, &["--disclosure", "intent"]);
    assert_eq!(intent, [discover, execute, used]);
    assert!(tokens(&scratch) > without);
}

/// What `gatefold surface --table` says that the surface of the default disclosure costs.
fn tokens(scratch: &Scratch) -> u64 {
    let table = run(scratch, &["surface", "--table", "--json"]).json();
    let row = table["disclosures"].as_array().unwrap().iter();
    let row = row.clone().find(|row| row["disclosure"] == "gateway").unwrap();
    row["tokens"].as_u64().unwrap()
}
