//! A tool's definition under another name.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(definition: &str, renamed: &str) {
    let manifest = manifest(&[definition]);
    assert_eq!(manifest.tools()[0].renamed("x\"y").as_deref(), Some(renamed), "{definition}");
}

#[test]
fn only_the_name_is_another() {
    check(
        r#"{ "name" : "a", "inputSchema":{"type":"object"},"n":1.50 }"#,
        r#"{ "name" : "x\"y", "inputSchema":{"type":"object"},"n":1.50 }"#,
    );
    check(
        r#"{"description":"Says \"name\".","name":"a","inputSchema":{"type":"object"}}"#,
        r#"{"description":"Says \"name\".","name":"x\"y","inputSchema":{"type":"object"}}"#,
    );
    check(
        r#"{"inputSchema":{"type":"object","properties":{"name":{}}},"name":"a"}"#,
        r#"{"inputSchema":{"type":"object","properties":{"name":{}}},"name":"x\"y"}"#,
    );
}

#[test]
fn a_name_that_is_written_in_another_way_is_found() {
    check(
        r#"{"name":"\u0061","inputSchema":{"type":"object"}}"#,
        r#"{"name":"x\"y","inputSchema":{"type":"object"}}"#,
    );
    check(
        r#"{"n\u0061me":"a","inputSchema":{"type":"object"}}"#,
        r#"{"name":"x\"y","inputSchema":{"type":"object"}}"#,
    );
}

#[test]
fn of_two_names_one_is_left() {
    for first in ["name", r"n\u0061me"] {
        let twice = format!(r#"{{"{first}":"b","name":"a","inputSchema":{{"type":"object"}}}}"#);
        check(&twice, r#"{"name":"x\"y","inputSchema":{"type":"object"}}"#);
    }
}

proptest! {
    #[test]
    fn whatever_a_tool_says_is_kept(description in any::<String>(), key in any::<String>()) {
        let mut tool = serde_json::json!({
            "description": description, "name": "a", "inputSchema": {"type": "object", "name": key},
        });
        let manifest = manifest(&[&tool.to_string()]);
        let renamed = manifest.tools()[0].renamed(&description).unwrap();
        tool["name"] = description.into();
        let renamed: serde_json::Value = serde_json::from_str(&renamed).unwrap();
        prop_assert_eq!(renamed, tool);
    }
}
