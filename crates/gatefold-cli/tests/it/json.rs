//! The fields of `--json` output, as `docs/json.md` promises them.

use std::collections::BTreeSet;

use gatefold_testkit::wait_until;
use serde_json::Value;

use crate::process::{Gateway, LIMIT, run, two_sources};
use crate::scratch::Scratch;

/// The path of every field, leaving out the inside of a tool's own texts, such as a schema.
fn fields(value: &Value) -> String {
    const OTHERS: [&str; 6] =
        ["parameters", "output_schema", "annotations", "result", "outcome", "definition"];
    fn gather(value: &Value, path: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    found.insert(path.clone());
                    if !OTHERS.contains(&key.as_str()) {
                        gather(value, &path, found);
                    }
                }
            }
            Value::Array(values) => {
                for value in values {
                    gather(value, &format!("{path}[]"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    gather(value, "", &mut found);
    found.into_iter().collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_fields_of_json_outputs_stay() {
    let scratch = Scratch::new();
    let failing = "[sources.gone]\ncommand = 'no-such program'\n";
    scratch.write("gatefold.toml", two_sources(&scratch) + failing);
    scratch.write("wrong.toml", "[limits]\nx = 1\n");
    std::fs::create_dir_all(scratch.path().join(".cursor")).unwrap();
    scratch.write(".cursor/mcp.json", r#"{"mcpServers": {"time": {"command": "time-server"}}}"#);
    let gateway = Gateway::serve(&scratch).await;
    let address = gateway.address();
    let has_learned = || {
        let status = run(&scratch, &["status", "--listen", &address, "--json"]).json();
        let is_known =
            |source: &Value| source["protocol"].is_string() || source["error"].is_string();
        status["running"]["sources"].as_array().is_some_and(|all| all.iter().all(is_known))
    };
    assert!(wait_until(LIMIT, has_learned).await, "{}", gateway.log());
    let tool = "units__evaluate_expression";
    let arguments = r#"{"expression": "6*7"}"#;
    let mut shown = Vec::new();
    for args in [
        &["check"][..],
        &["tools", "list", "--domain", "units"],
        &["tools", "search", "evaluate"],
        &["tools", "schema", tool],
        &["tools", "call", tool, "--arguments", arguments],
        &["tools", "call", "units__nothing"],
        &["status", "--listen", &address],
        &["status", "--listen", "127.0.0.1:1"],
        &["calls"],
        &["calls", "--tool", "units__nothing"],
        &["logs", "issues"],
        &["queries"],
        &["surface"],
        &["surface", "--table"],
        &["surface", "--diff", "gateway", "intent"],
        &["doctor", "--offline"],
        &["import", "--dry-run"],
        &["connect"],
        &["connect", "cursor", "--dry-run"],
        &["connect", "cursor", "--yes"],
        &["disconnect", "cursor"],
        &["config", "check"],
        &["config", "check", "--config", "wrong.toml"],
        &["secret", "list"],
        &["token", "create", "--name", "ci", "--for", "ann"],
        &["token", "list"],
        &["token", "revoke", "ci"],
        &["user", "list"],
    ] {
        let args: Vec<_> = args.iter().copied().chain(["--json"]).collect();
        let printed = run(&scratch, &args).json();
        let line = args.join(" ").replace(&address, "ADDRESS");
        shown.push(format!("$ gatefold {line}\n{}\n", fields(&printed)));
    }
    insta::assert_snapshot!(shown.join("\n"));
}
