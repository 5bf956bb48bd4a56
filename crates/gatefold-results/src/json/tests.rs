use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use super::*;

fn check(text: &str) {
    let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
    assert_eq!(is_valid(text), is_json, "{text:?}");
}

#[test]
fn what_serde_json_reads_is_json() {
    for text in [
        "",
        " ",
        "null",
        "nul",
        "truefalse",
        "01",
        "-",
        "-0",
        "0.",
        "1.5e",
        "1e+5",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "[}",
        "{]",
        "[1]]",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\u{1}\"",
        "\"a",
        "[\"\\",
        "{\"a\" : [ ] }",
        "\u{feff}1",
    ] {
        check(text);
    }
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    for (depth, valid) in [(127, true), (128, false)] {
        assert_eq!(is_valid(&nested(depth)), valid);
        assert_eq!(serde_json::from_str::<Value>(&nested(depth)).is_ok(), valid);
    }
}

#[test]
fn half_pairs_are_replaced() {
    assert_eq!(unescaped(r"a\ud83d\ude00\n\ud83dx\ude00\/"), "a\u{1f600}\n\u{fffd}x\u{fffd}/");
}

pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~é\u{1f600}\n\"\\\\]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-c \"\\\\.é]{0,3}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_is_judged_otherwise(text in r#"[\[\]{},:"\\u0-9ae.\-+ tr\n]{0,12}"#) {
        check(&text);
    }

    #[test]
    fn parts_are_found_where_they_are(value in any_json()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            check(&text);
            match &value {
                Value::Array(all) => {
                    let found = items(&text).map(|item| serde_json::from_str(item).unwrap());
                    prop_assert_eq!(&found.collect::<Vec<Value>>(), all);
                }
                Value::Object(all) => {
                    let found = members(&text).map(|(key, value)| {
                        (unescaped(key).into_owned(), serde_json::from_str(value).unwrap())
                    });
                    prop_assert_eq!(&found.collect::<serde_json::Map<_, _>>(), all);
                }
                Value::String(all) => prop_assert_eq!(&*text_of(&text).unwrap(), all),
                _ => prop_assert_eq!(items(&text).count() + members(&text).count(), 0),
            }
        }
    }
}
