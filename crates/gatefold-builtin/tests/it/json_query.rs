use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::{answer, said, toolbox};

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
    ] {
        let arguments = json!({ "json": json, "filter": filter });
        let text = said(&toolbox(), "json_query", &arguments).await;
        assert!(text.starts_with("error: "), "{filter}: {text:.200}");
    }
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}
