use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::{KEPT, answer, said, toolbox};

async fn check(json: Value, filter: &str, text: &str) {
    let arguments = json!({ "json": json, "filter": filter });
    assert_eq!(said(&toolbox(), "json_query", &arguments).await, text, "{filter}");
}

#[tokio::test]
async fn values_are_selected_from_json_and_its_text() {
    let items = json!([{ "name": "a", "price": 5 }, { "name": "b", "price": 12.5 }]);
    check(items.clone(), ".[] | select(.price > 10) | .name", "b").await;
    check(items.to_string().into(), "map(.price) | add", "17.5").await;
    check(items.clone(), ".[].name", "\"a\"\n\"b\"").await;
    check(json!("\"plain\""), "length", "5").await;
    let arguments = json!({ "json": items, "filter": ".[].price" });
    assert_eq!(
        answer(&toolbox(), "json_query", &arguments).await.unwrap().structured,
        json!({ "result": "5\n12.5", "count": 2 })
    );
}

#[tokio::test]
async fn values_are_selected_from_a_kept_result() {
    let ask = async |arguments: serde_json::Value| said(&toolbox(), "json_query", &arguments).await;
    let filter = "[.items[].price] | add";
    assert_eq!(ask(json!({ "result": KEPT.0, "filter": filter })).await, "17.5");
    let unknown = ask(json!({ "result": "other", "filter": filter })).await;
    assert!(unknown.starts_with("error: there is no such result: it has expired"), "{unknown}");
    let one = "error: give either `json` or `result`";
    assert_eq!(ask(json!({ "filter": filter })).await, one);
    assert_eq!(ask(json!({ "json": 1, "result": KEPT.0, "filter": filter })).await, one);
}

#[tokio::test]
async fn what_cannot_be_read_leads_to_no_parameter_that_there_is_not() {
    let ask = async |json: &str, filter: &str| {
        let arguments = json!({ "json": json, "filter": filter });
        said(&toolbox(), "json_query", &arguments).await
    };
    let not_json = "error: the input is not JSON, so jq cannot read it";
    assert_eq!(ask("a,b\n1,2\n", ".").await, not_json);
    let digits = "error: the input has a number of more than 1000 digits, so jq cannot read it";
    assert_eq!(ask(&"1".repeat(2_000), ".").await, digits);
    assert_eq!(
        ask(r#"{"a":1}"#, ".a.b").await,
        "error: the jq program does not fit the input: cannot index 1 with \"b\"; the input has the members `a`"
    );
}

#[tokio::test]
async fn hostile_programs_and_texts_end_soon() {
    let start = Instant::now();
    for (json, filter) in [
        (json!(1), "def f: f; f".to_owned()),
        (json!(1), "def f: 1 + f; f".to_owned()),
        (json!(1), "[range(1e12)]".to_owned()),
        (json!("x"), "last(repeat(.))".to_owned()),
        (json!(["x"]), "reduce range(60) as $i (.; . + .)".to_owned()),
        (json!(1), "\"x\" * 1000000000".to_owned()),
        (json!("[".repeat(100_000)), ".".to_owned()),
        (json!(1), "(".repeat(4000)),
        (json!(1), "env".to_owned()),
        (json!(1), "input".to_owned()),
        (json!(1), "halt".to_owned()),
        (json!(1), "import \"/etc/passwd\" as x; 1".to_owned()),
        (json!("{"), ".".to_owned()),
        (json!(1), "import \"x\" as $x; $x".to_owned()),
        (json!(1), "reduce range(60) as $i ({}; {a: ., b: .}) | . * .".to_owned()),
        (json!(1), "reduce range(60) as $i ({}; {a: ., b: .}) | \"\\(.)\"".to_owned()),
        (json!(1), "reduce range(60) as $i ({}; {a: ., b: .}) | {(tojson): 1}".to_owned()),
    ] {
        let arguments = json!({ "json": json, "filter": filter });
        let text = said(&toolbox(), "json_query", &arguments).await;
        assert!(text.starts_with("error: "), "{filter}: {text:.200}");
    }
    check(json!([1, 2]), "length", "2").await;
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}
