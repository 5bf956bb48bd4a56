//! What arrives is what the arguments said, whatever they said.

use gatefold_connect::RequestError;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::arrival::{ArrivedValue, Form, arrived, form_pairs};
use crate::fixture::FixtureApi;
use crate::requests::{action, ways};

/// How many arguments are drawn. Each goes through every place, style and `explode`.
const CASES: u32 = 128;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,12}",
        "[a-z0-9]{1,8}",
        "[./%?#&=+,;|:@\\[\\]\\\\ \t]{1,6}",
        "\\PC{0,8}",
        any::<String>().prop_map(|text| text.chars().take(8).collect()),
        Just("..".to_owned()),
        Just("%2e%2E".to_owned()),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(Value::String),
        1 => any::<i64>().prop_map(Value::from),
        1 => "-?[1-9][0-9]{18,40}".prop_map(|digits| serde_json::from_str(&digits).unwrap()),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn nested() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn argument() -> impl Strategy<Value = (Form, Value)> {
    let named = btree_map(text(), nested(), 0..4);
    prop_oneof![
        scalar().prop_map(|value| (Form::Scalar, value)),
        vec(nested(), 0..5).prop_map(|items| (Form::List, Value::from(items))),
        named.prop_map(|members| (Form::Object, Value::Object(members.into_iter().collect()))),
    ]
}

/// All texts of what should arrive.
fn texts(value: &ArrivedValue) -> Vec<&str> {
    match value {
        ArrivedValue::Nothing => Vec::new(),
        ArrivedValue::Scalar(text) => vec![text],
        ArrivedValue::List(items) => items.iter().map(String::as_str).collect(),
        ArrivedValue::Object(members) => {
            members.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]).collect()
        }
    }
}

/// Whether no server could read the argument in this place and style, by rules of their own.
fn is_impossible((place, style, explode): (&str, &str, bool), expected: &ArrivedValue) -> bool {
    let texts = texts(expected);
    let is_compound = !matches!(expected, ArrivedValue::Scalar(_) | ArrivedValue::Nothing);
    let has = |bad: &dyn Fn(char) -> bool| texts.iter().any(|text| text.chars().any(bad));
    match (place, style) {
        // Nothing may be empty in a path, nor mean the folder above.
        ("path", _) => {
            let joined = texts.join(",");
            *expected == ArrivedValue::Nothing
                || matches!(joined.as_str(), "" | "." | "..")
                || (style == "label" && joined.chars().all(|c| c == '.' || c == ','))
                // Such a text may have a segment of dots for a server that decodes first.
                || ((style == "label" || has(&|c| c == '.' || c == '%'))
                    && has(&|c| "/\\%;?#".contains(c) || c.is_control() || c.is_whitespace()))
        }
        ("header", _) => {
            let whole = texts.join(",");
            has(&|c| !(' '..='~').contains(&c) && c != '\t')
                || (is_compound && has(&|c| c == ',' || (explode && c == '=')))
                || whole.starts_with([' ', '\t'])
                || whole.ends_with([' ', '\t'])
        }
        ("cookie", "cookie") => has(&|c| !c.is_ascii_graphic() || "\";\\,=".contains(c)),
        ("query", "deepObject") => is_compound && has(&|c| c == '[' || c == ']'),
        ("query", _) if explode => false,
        ("query", "spaceDelimited") => is_compound && has(&|c| c == ' '),
        ("query", "pipeDelimited") => is_compound && has(&|c| c == '|'),
        ("query", "tabDelimited") => is_compound && has(&|c| c == '\t'),
        _ => false,
    }
}

/// Whether no specification says how the argument is written, so that only our unit tests do.
fn is_undefined(style: &str, value: &Value) -> bool {
    style == "deepObject"
        && value.as_object().map_or(value.is_array(), |members| {
            members.values().any(|value| value.is_object() || value.is_array())
        })
}

fn check(
    runtime: &Runtime,
    api: &FixtureApi,
    form: Form,
    value: &Value,
) -> Result<(), TestCaseError> {
    let expected = ArrivedValue::of(value);
    for how @ (place, style, explode) in ways() {
        let outcome =
            runtime.block_on(api.call(action(place, style, explode), &json!({ "v": value })));
        match outcome {
            Ok(_) if is_undefined(style, value) => {}
            Ok(request) => {
                prop_assert_eq!(
                    &arrived(&request, how, form),
                    &expected,
                    "{:?}: {:?}",
                    how,
                    request
                );
            }
            Err(error) => {
                let is_named = matches!(&error,
                    RequestError::Argument { argument, .. } | RequestError::MissingInPath { argument, .. }
                        if argument == "v");
                prop_assert!(
                    is_named && is_impossible(how, &expected),
                    "{:?} {}: {}",
                    how,
                    value,
                    error
                );
            }
        }
    }
    Ok(())
}

#[test]
fn what_arrives_is_what_the_arguments_said() {
    let runtime = Runtime::new().unwrap();
    let api = runtime.block_on(FixtureApi::start());
    let mut runner =
        TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    runner.run(&argument(), |(form, value)| check(&runtime, &api, form, &value)).unwrap();
}

#[test]
fn a_body_is_what_the_arguments_said() {
    let runtime = Runtime::new().unwrap();
    let api = runtime.block_on(FixtureApi::start());
    let mut runner =
        TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    let call = |media_type: &str, value: &Value| {
        let body = json!({ "arguments": { "whole": "b" }, "media": [{ "type": media_type }] });
        let action = json!({ "method": "PUT", "path": "/", "body": body });
        runtime.block_on(api.call(action, &json!({ "b": value }))).unwrap().body()
    };
    let members = btree_map(text(), nested(), 0..5)
        .prop_map(|members| Value::Object(members.into_iter().collect()));
    runner
        .run(&members, |value| {
            let json: Value = serde_json::from_slice(&call("application/json", &value)).unwrap();
            prop_assert_eq!(&json, &value);
            let form = call("application/x-www-form-urlencoded", &value);
            let mut pairs = form_pairs(std::str::from_utf8(&form).unwrap());
            // Each item of a list is a pair, and everything else is one.
            for (name, value) in value.as_object().unwrap() {
                let items = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
                for item in items.iter().filter(|item| !item.is_null()) {
                    let ArrivedValue::Scalar(text) = ArrivedValue::of(&json!(one_text(item))) else { panic!() };
                    prop_assert!(!pairs.is_empty(), "{} is missing", name);
                    prop_assert_eq!(pairs.remove(0), (name.clone(), text));
                }
            }
            prop_assert!(pairs.is_empty(), "{:?}", pairs);
            let is_bad = |c: char| c.is_control() || c == '"' || c == '\\';
            if value.as_object().unwrap().keys().any(|name| name.contains(is_bad)) {
                return Ok(());
            }
            let parts = runtime.block_on(api.parts(
                json!({ "arguments": { "whole": "b" }, "media": [{ "type": "multipart/form-data" }] }),
                &json!({ "b": value }),
            ));
            let texts = value.as_object().unwrap().values().filter_map(Value::as_str);
            for text in texts {
                prop_assert!(parts.iter().any(|part| part.content == text), "{:?}", text);
            }
            Ok(())
        })
        .unwrap();
}

fn one_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
