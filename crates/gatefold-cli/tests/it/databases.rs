//! A database behind the binary: added, listed, searched, queried, and never written.

use gatefold_testkit::RawClient;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};

use crate::process::{Gateway, Run, run};
use crate::scratch::Scratch;

const TABLES: &str = "
    CREATE TABLE departments (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE employees (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        email TEXT NOT NULL,
        salary NUMERIC,
        reports_to INTEGER REFERENCES employees(id),
        department_id INTEGER REFERENCES departments(id)
    );
    CREATE TABLE secrets (token TEXT);
    INSERT INTO departments VALUES (1, 'Research'), (2, 'Sales');
    INSERT INTO employees VALUES
        (1, 'Ada', 'ada@example.com', 9007199254740993, NULL, 1),
        (2, 'Bo', 'bo@example.com', 51000, 1, 2);
    INSERT INTO secrets VALUES ('hunter2');
";

const SOURCE: &str = "
[sources.hr]
database = 'sqlite:hr.db'
deny_tables = ['secrets']
hide_columns = ['employees.salary']
mask = ['*.email']

[sources.hr.tables.employees]
description = 'Everybody who works here'
columns = { reports_to = 'the manager of this person' }
";

/// A folder with a database in it.
async fn database(config: Option<&str>) -> Scratch {
    let scratch = Scratch::new();
    let options = SqliteConnectOptions::new().filename(scratch.path().join("hr.db"));
    let mut connection = options.create_if_missing(true).connect().await.unwrap();
    connection.execute(TABLES).await.unwrap();
    if let Some(config) = config {
        scratch.write("gatefold.toml", config);
    }
    scratch
}

fn call(scratch: &Scratch, tool: &str, arguments: &Value) -> Run {
    let (tool, arguments) = (format!("hr__{tool}"), arguments.to_string());
    run(scratch, &["tools", "call", &tool, "--arguments", &arguments, "--json"])
}

/// The answer of a call that went well.
fn answer(scratch: &Scratch, tool: &str, arguments: &Value) -> Value {
    let called = call(scratch, tool, arguments);
    assert_eq!(called.code, Some(0), "{}{}", called.stdout, called.stderr);
    let text = called.json()["result"]["content"][0]["text"].clone();
    serde_json::from_str(text.as_str().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_is_added_in_one_line_and_read() {
    let scratch = database(None).await;
    let added = run(&scratch, &["add", "hr", "--database", "sqlite:hr.db", "--scope", "project"]);
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    assert!(added.stdout.contains("found 3 tables, and 4 tools"), "{}", added.stdout);
    let list = answer(&scratch, "list_tables", &json!({}));
    assert_eq!(list["tables"], 3, "{list}");
    let sql = "SELECT d.name, count(*) FROM employees e JOIN departments d ON d.id = e.department_id \
               GROUP BY d.name ORDER BY d.name";
    let rows = answer(&scratch, "query", &json!({ "sql": sql }));
    assert_eq!(rows["rows"], json!([["Research", 1], ["Sales", 1]]), "{rows}");
    let plan = answer(&scratch, "explain", &json!({ "sql": sql }));
    assert!(plan["plan"].as_str().unwrap().contains("SCAN"), "{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_hidden_does_not_exist_and_what_is_masked_has_no_values() {
    let scratch = database(Some(SOURCE)).await;
    let list = answer(&scratch, "list_tables", &json!({}));
    assert_eq!(list["tables"], 2, "{list}");
    let employees =
        answer(&scratch, "describe_table", &json!({ "table": "employees", "samples": true }));
    assert_eq!(employees["description"], "Everybody who works here");
    let text = employees.to_string();
    assert!(!text.contains("salary") && !text.contains("@example"), "{text}");
    assert!(text.contains("the manager of this person"), "{text}");
    let all = answer(&scratch, "query", &json!({ "sql": "SELECT * FROM employees ORDER BY id" }));
    assert_eq!(all["rows"][1], json!([2, "Bo", "***", 1, 2]), "{all}");
    for sql in [
        "SELECT token FROM secrets",
        "SELECT salary FROM employees",
        "SELECT name FROM employees WHERE email LIKE 'a%'",
        "SELECT upper(email) FROM employees",
        "SELECT * FROM sqlite_stat1",
        "SELECT name FROM pragma_database_list",
        "PRAGMA writable_schema = 1",
        "SHOW TABLES; DROP TABLE employees",
        "EXPLAIN SELECT name FROM employees",
        "DELETE FROM employees",
        "SELECT 1; DROP TABLE employees",
        "WITH gone AS (DELETE FROM employees RETURNING *) SELECT * FROM gone",
    ] {
        let refused = call(&scratch, "query", &json!({ "sql": sql }));
        assert_eq!(refused.code, Some(1), "{sql}: {}", refused.stdout);
        assert!(!refused.stdout.contains("hunter2"), "{sql}: {}", refused.stdout);
    }
    let unknown = call(&scratch, "query", &json!({ "sql": "SELECT nam FROM employees" }));
    assert!(unknown.json()["error"].as_str().unwrap().contains("`name`"), "{}", unknown.stdout);
    assert_eq!(call(&scratch, "execute", &json!({ "sql": "DELETE FROM employees" })).code, Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_is_asked_for_in_many_ways() {
    let scratch = database(Some(SOURCE)).await;
    for (sql, told) in [
        ("SHOW TABLES", "employees"),
        ("\\dt", "employees"),
        (".tables", "employees"),
        ("DESCRIBE employees", "reports_to"),
        ("\\d employees", "reports_to"),
        ("PRAGMA table_info(employees)", "reports_to"),
        ("SHOW COLUMNS FROM employees", "reports_to"),
        ("SELECT name FROM sqlite_master WHERE type = 'table'", "employees"),
        ("SELECT sql FROM sqlite_schema", "reports_to"),
        ("SELECT name FROM pragma_table_info('employees')", "reports_to"),
        ("```sql\nSELECT name FROM employees;\n```", "Ada"),
        ("\"SELECT name FROM employees\"", "Ada"),
        ("SELECT name FROM employees; -- all of them", "Ada"),
    ] {
        let text = answer(&scratch, "query", &json!({ "sql": sql })).to_string();
        assert!(text.contains(told), "{sql}: {text}");
        for hidden in ["secrets", "salary", "hunter2", "@example"] {
            assert!(!text.contains(hidden), "{sql}: {text}");
        }
    }
    let refused = |sql: &str| {
        let refused = call(&scratch, "query", &json!({ "sql": sql }));
        assert_eq!(refused.code, Some(1), "{sql}: {}", refused.stdout);
        refused.json()["error"].as_str().unwrap().to_owned()
    };
    let plan = refused("EXPLAIN QUERY PLAN SELECT name FROM employees");
    assert!(plan.contains("`explain`") && plan.contains("SELECT name FROM employees"), "{plan}");
    assert!(refused("USE hr").contains("`list_tables`"));
    assert!(refused("SELECT name FROM employees WHERE name = “Ada”").contains("straight quotes"));
    assert!(refused("SELECT * FROM sqlite_stat1").contains("`describe_table`"));
    assert!(!refused("DESCRIBE secrets").contains("token"));
    let explained = json!({ "sql": "EXPLAIN SELECT name FROM employees" });
    assert!(answer(&scratch, "explain", &explained)["plan"].as_str().unwrap().contains("SCAN"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_finds_a_table_by_what_is_in_it() {
    let scratch = database(Some(SOURCE)).await;
    let found = run(&scratch, &["tools", "search", "who is whose manager", "--json"]);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    let text = found.stdout;
    assert!(
        text.contains("hr__describe_table") && text.contains("table: main.employees"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_gone_is_still_described() {
    let scratch = database(Some(SOURCE)).await;
    assert_eq!(answer(&scratch, "list_tables", &json!({}))["tables"], 2);
    std::fs::rename(scratch.path().join("hr.db"), scratch.path().join("gone.db")).unwrap();
    let described = answer(&scratch, "describe_table", &json!({ "table": "employees" }));
    assert_eq!(described["columns"].as_array().unwrap().len(), 5, "{described}");
    let refused = call(&scratch, "query", &json!({ "sql": "SELECT name FROM employees" }));
    assert_eq!(refused.json()["kind"], "unavailable", "{}", refused.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_of_a_database_is_told_while_its_calls_are_held_back() {
    let limits = "[limits]\nbreaker_failures = 2\nbreaker_pause = '10m'\n";
    let scratch = database(Some(&format!("{SOURCE}\n{limits}"))).await;
    assert_eq!(run(&scratch, &["check"]).code, Some(0));
    let gateway = Gateway::serve(&scratch).await;
    let mut client = RawClient::new(gateway.url()).unwrap();
    client.initialize().await.unwrap();
    std::fs::rename(scratch.path().join("hr.db"), scratch.path().join("gone.db")).unwrap();
    let query = json!({ "tool_name": "hr__query", "arguments": { "sql": "SELECT 1" } }).to_string();
    let employees = json!({ "table": "employees" });
    for round in 0..4 {
        let refused = client.call("execute_tool", &query).await.unwrap().text();
        assert!(refused.contains("unavailable"), "{refused}");
        // An answer from memory neither closes the breaker nor keeps it from opening.
        let list = answer_over(&client, "hr__list_tables", &json!({})).await;
        assert_eq!(list["tables"], 2, "{round}: {list}");
        let described = answer_over(&client, "hr__describe_table", &employees).await;
        assert_eq!(described["columns"].as_array().unwrap().len(), 5, "{round}: {described}");
        let unknown = json!({ "tool_name": "hr__describe_table", "arguments": { "table": "x" } });
        let unknown = client.call("execute_tool", &unknown.to_string()).await.unwrap().text();
        assert!(unknown.contains("there is no table"), "{round}: {unknown}");
    }
    std::fs::rename(scratch.path().join("gone.db"), scratch.path().join("hr.db")).unwrap();
    let held_back = client.call("execute_tool", &query).await.unwrap().text();
    assert!(held_back.contains("unavailable"), "the breaker is open: {held_back}");
}

/// Whether a change is kept, by what a client's user answers.
async fn check_change(capabilities: &str, answer: Option<&str>, is_kept: bool, told: &str) {
    let scratch = database(Some("[sources.hr]\ndatabase = 'sqlite:hr.db'\nwrites = 'ask'\n")).await;
    assert_eq!(run(&scratch, &["check"]).code, Some(0));
    let gateway = Gateway::serve(&scratch).await;
    let mut client = RawClient::new(gateway.url()).unwrap().with_capabilities(capabilities);
    client.set_answer(answer);
    client.initialize().await.unwrap();
    let sql = "UPDATE employees SET name = 'Bob' WHERE reports_to IS NOT NULL OR id = 1";
    let arguments = json!({ "tool_name": "hr__execute", "arguments": { "sql": sql } });
    let exchange = client.call("execute_tool", &arguments.to_string()).await.unwrap();
    assert!(exchange.text().contains(told), "{}", exchange.text());
    let count = json!({ "sql": "SELECT count(*) FROM employees WHERE name = 'Bob'" });
    let count = answer_over(&client, "hr__query", &count).await;
    assert_eq!(count["rows"], json!([[if is_kept { 2 } else { 0 }]]), "{count}");
}

async fn answer_over(client: &RawClient, tool: &str, arguments: &Value) -> Value {
    let arguments = json!({ "tool_name": tool, "arguments": arguments }).to_string();
    let exchange = client.call("execute_tool", &arguments).await.unwrap();
    let answer: Value = serde_json::from_str(&exchange.text()).unwrap();
    answer["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_decides_whether_a_change_is_kept() {
    const FORMS: &str = r#"{"elicitation":{"form":{}}}"#;
    let yes = r#"{"action":"accept","content":{"commit":true}}"#;
    check_change(FORMS, Some(yes), true, r#""rows_changed":2"#).await;
    let no = r#"{"action":"accept","content":{"commit":false}}"#;
    check_change(FORMS, Some(no), false, "did not agree, so nothing was changed").await;
    check_change(FORMS, Some(r#"{"action":"decline"}"#), false, "nothing was changed").await;
    check_change("{}", None, false, "cannot ask one during a call; nothing was run").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_whose_requests_stand_alone_decides_by_another_request() {
    let scratch = database(Some("[sources.hr]\ndatabase = 'sqlite:hr.db'\nwrites = 'ask'\n")).await;
    assert_eq!(run(&scratch, &["check"]).code, Some(0));
    let gateway = Gateway::serve(&scratch).await;
    let client = RawClient::new(gateway.url()).unwrap();
    let client = client.with_capabilities(r#"{"elicitation":{"form":{}}}"#);
    let sql = "DELETE FROM employees WHERE id = 2";
    let call = json!({ "tool_name": "hr__execute", "arguments": { "sql": sql } });
    for (keeps, told, left) in
        [(false, "did not agree, so nothing was changed", 2), (true, r#""rows_changed":1"#, 1)]
    {
        let asked = client.call("execute_tool", &call.to_string()).await.unwrap().result();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let (key, question) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.starts_with("DELETE from main.employees: 1 row changed"), "{message}");
        let answer = json!({ "action": "accept", "content": { "commit": keeps } });
        let params = json!({
            "name": "execute_tool",
            "arguments": call,
            "inputResponses": { (key.clone()): answer },
            "requestState": asked["requestState"],
        });
        let params = params.to_string();
        let exchange = client.request_named("tools/call", "execute_tool", &params).await.unwrap();
        assert!(exchange.text().contains(told), "{}", exchange.text());
        let count = json!({ "sql": "SELECT count(*) FROM employees" });
        assert_eq!(answer_over(&client, "hr__query", &count).await["rows"], json!([[left]]));
    }
}

#[test]
fn a_password_in_an_address_is_a_secret_and_a_user_is_none() {
    let scratch = Scratch::new();
    let add = |address: &str| run(&scratch, &["add", "hr", "--database", address, "--dry-run"]);
    let plain = add("postgres://reader@db.example/hr");
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    assert!(plain.stdout.contains("database = \"postgres://reader@db.example/hr\""));
    let secret = add("postgres://reader:correcthorse77@db.example/hr");
    assert_eq!(secret.code, Some(2), "{}", secret.stdout);
    assert!(!secret.stderr.contains("correcthorse77"), "{}", secret.stderr);
    let wrong = add("oracle://reader@db.example/hr");
    assert_eq!(wrong.code, Some(2), "{}", wrong.stdout);
    assert!(wrong.stderr.contains("`oracle` is no kind of database"), "{}", wrong.stderr);
}
