use gatefold_results::{ContentKind, KeptResult, TokenBudget, preview};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::shown;

const KEPT: KeptResult<'_> = KeptResult { handle: "h7Qk", tool: "results__read_result" };

/// The preview of JSON, after all that it shows was found in it.
pub(crate) fn checked(text: &str, budget: TokenBudget) -> (String, usize) {
    let shown = preview(text, &KEPT, budget).text;
    let tokens = tiktoken_rs::o200k_base_singleton().count_ordinary(&shown);
    assert!(tokens <= budget.tokens(), "{tokens} tokens: {shown}");
    let original: Value = serde_json::from_str(text).expect("it is JSON");
    let count = shown::check(&shown, &original).unwrap_or_else(|fault| panic!("{fault}\n{shown}"));
    (shown, count)
}

fn issues(count: usize) -> Value {
    let issue = |number: usize| {
        json!({
            "number": number,
            "title": format!("Issue \"{number}\" …[3 items left out]…"),
            "user": {"login": "ann", "id": number * 7},
            "labels": [{"name": "bug"}, {"name": "p1"}],
            "body": "It fails.\n\n".repeat(number % 90),
            "closed_at": null,
        })
    };
    (1..=count).map(issue).collect()
}

#[test]
fn the_first_items_of_a_list_are_shown_by_their_paths() {
    let text = json!({"total": 400, "items": issues(400)}).to_string();
    let (shown, count) = checked(&text, TokenBudget::new(2_000));
    assert!(count >= 4, "{shown}");
    for part in [
        "This result is too large to be shown whole: JSON, ",
        "\n{\"handle\":\"h7Qk\",\"path\":\".items[3]\"}\n",
        "\n.: object, total number, items array[400] of object\n",
        "\n.items[]: number number, title text, user object, labels array[2] of object, body text, \
         closed_at null\n",
        "\n.total = 400\n",
        "\n.items[0] = {\"number\":1,",
        " of 400 items left out]…\n",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn kinds_are_told_apart() {
    for (text, kind) in [
        (issues(3).to_string(), ContentKind::Json),
        (r#"[{"a":1,"b":"x"},{"a":2,"b":"y"}]"#.to_owned(), ContentKind::Table),
        (r#"{"columns":["a"],"rows":[[1],[2]],"row_count":2}"#.to_owned(), ContentKind::Table),
        ("id,name\n1,ann\n2,bob\n".to_owned(), ContentKind::Table),
        ("id\tname\n1\tann, b\n2\tbob\n".to_owned(), ContentKind::Table),
        ("# One\ntext\n## Two\n".to_owned(), ContentKind::Markdown),
        ("plain\ntext\n".to_owned(), ContentKind::Text),
        ("\"text\"".to_owned(), ContentKind::Json),
        (String::new(), ContentKind::Text),
    ] {
        assert_eq!(ContentKind::of(&text), kind, "{text}");
    }
}

#[test]
fn markdown_is_shown_with_its_outline() {
    let section = |number: usize| format!("## Part {number}\n{}\n", "Some words. ".repeat(200));
    let text = "# Title\n".to_owned() + &(1..=30).map(section).collect::<String>();
    let shown = preview(&text, &KEPT, TokenBudget::new(1_000)).text;
    for part in
        ["\nOutline:\n1| # Title\n2| ## Part 1\n", "\n60| ## Part 30\n", "\nText:\n1| # Title\n"]
    {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~é\u{1f600}\u{200b}\n\"\\\\]{0,12}".prop_map(Value::from),
        ("[a-z\"\\\\\u{1f600}]{1,6}", 1_usize..400)
            .prop_map(|(part, times)| part.repeat(times).into()),
        Just(Value::from("…[3 items left out]…")),
    ];
    leaf.prop_recursive(5, 200, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            (inner.clone(), 0_usize..60).prop_map(|(item, times)| vec![item; times].into()),
            prop::collection::vec(("[a-c \"\\\\.=…é]{0,3}", inner), 0..12)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_shown_of_json_is_so(value in any_json(), tokens in 500_usize..3_000) {
        checked(&value.to_string(), TokenBudget::new(tokens));
        checked(&serde_json::to_string_pretty(&value).unwrap(), TokenBudget::new(tokens));
    }
}
