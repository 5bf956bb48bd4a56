//! Signatures, and how arguments differ from them.

use super::*;

fn with_schema(schema: &str) -> View {
    view(vec![entry("a", &[&format!(r#"{{"name":"t","inputSchema":{schema}}}"#)])])
}

fn check(schema: &str, signature: &str) {
    let view = with_schema(schema);
    let tool = view.tools().next().unwrap();
    assert_eq!(compact_signature(tool), format!("a__t({signature})"));
}

#[test]
fn a_signature_says_types_defaults_and_ranges() {
    check("{}", "");
    check(
        r#"{"properties":{"limit":{"type":"integer","minimum":1,"maximum":100,"default":10},"query":{"type":"string"},"all":{"type":"boolean"}},"required":["query"]}"#,
        "query: string, all?: boolean, limit?: integer = 10 [1..100]",
    );
    check(
        r##"{"properties":{"a":{"enum":["open","closed"]},"b":{"type":["string","null"],"default":null},"c":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number"}]}},"d":{"$ref":"#/$defs/D"},"e":{"minimum":0,"type":"number"},"f":{"const":1}},"$defs":{"D":{"type":"object"}}}"##,
        r#"a?: "open"|"closed", b?: string|null, c?: (string|number)[], d?: object, e?: number [0..], f?: 1"#,
    );
    let own = r##"{"properties":{"a":{"$ref":"#"}},"required":["b"]}"##;
    check(own, "b: any, a?: {b: any, a?: object}");
    check(r#"{"properties":{"a":{"enum":[1,2,3,4,5,6,7,8,9,10]}}}"#, "a?: 1|2|3|4|5|6|7|8|+2 more");
}

#[test]
fn a_signature_of_rings_without_end_is_short_and_soon_there() {
    let branches = vec![r##"{"$ref":"#/$defs/A"}"##; 1000].join(",");
    let definition = format!(r#"{{"anyOf":[{branches},{{"type":"string"}}]}}"#);
    let schema = format!(
        r##"{{"properties":{{"a":{{"$ref":"#/$defs/A"}},"b":{{"type":"integer"}}}},"$defs":{{"A":{definition}}}}}"##
    );
    let view = with_schema(&schema);
    let begun = std::time::Instant::now();
    let signature = compact_signature(view.tools().next().unwrap());
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    assert!(signature.starts_with("a__t(a?: ") && signature.len() < 200, "{signature}");
}

#[test]
fn a_signature_shows_one_nested_level_and_what_comes_back() {
    check(
        r#"{"properties":{"who":{"type":"object","properties":{"name":{"type":"string"},"at":{"type":"object","properties":{"x":{"type":"number"}}}},"required":["name"]},"items":{"type":"array","items":{"properties":{"id":{"type":"integer","default":7}}}},"any":{"type":"object"}}}"#,
        "any?: object, items?: {id?: integer = 7}[], who?: {name: string, at?: object}",
    );
    let output = r#"{"type":"object","properties":{"total":{"type":"integer"},"rows":{"type":"array","items":{"type":"object","properties":{"a":{"type":"null"}}}}},"required":["total"]}"#;
    let tool = format!(r#"{{"name":"t","inputSchema":{{}},"outputSchema":{output}}}"#);
    let view = view(vec![entry("a", &[&tool])]);
    let signature = compact_signature(view.tools().next().unwrap());
    assert_eq!(signature, "a__t() -> {total: integer, rows?: object[]}");
}

#[test]
fn members_that_a_schema_has_no_room_for_are_named() {
    for (schema, arguments, expected) in [
        (r#"{"properties":{"a":{}}}"#, r#"{"z":1,"a":2,"b":{"a":3}}"#, &["b", "z"][..]),
        (r#"{"properties":{"a":{}},"additionalProperties":false}"#, r#"{"b":1}"#, &["b"]),
        (r#"{"properties":{"a":{}},"additionalProperties":{}}"#, r#"{"b":1}"#, &[]),
        (r#"{"patternProperties":{"^x":{}}}"#, r#"{"b":1}"#, &[]),
        (r#"{"type":"object"}"#, r#"{"b":1}"#, &["b"]),
        (r#"{"type":"object"}"#, "null", &[]),
    ] {
        let view = with_schema(schema);
        let found = undeclared(view.tools().next().unwrap(), arguments);
        assert_eq!(found, expected, "{schema} {arguments}");
    }
}

#[test]
fn differences_are_named() {
    let closed =
        r#"{"properties":{"name":{"type":"string"},"n":{"type":"integer"}},"required":["name"]}"#;
    let open = r#"{"properties":{"name":{"type":"string"}},"additionalProperties":true}"#;
    for (schema, arguments, expected) in [
        (closed, r#"{"name":"x","n":1}"#, ""),
        (
            closed,
            r#"{"nmae":"x"}"#,
            "missing required 'name'; unknown 'nmae' (did you mean 'name'?)",
        ),
        (
            closed,
            r#"{"name":"x","n":1.5,"zzz":0}"#,
            "'n' must be integer, not number; unknown 'zzz'",
        ),
        (closed, r#"{"name":null,"n":12345678901234567890}"#, "'name' must be string, not null"),
        (closed, "[]", "the arguments are not an object"),
        (open, r#"{"zzz":0}"#, ""),
    ] {
        let view = with_schema(schema);
        let tool = view.tools().next().unwrap();
        assert_eq!(differences(tool, arguments).join("; "), expected, "{arguments}");
    }
}

#[test]
fn a_parameter_is_known_by_what_it_takes() {
    let view = with_schema(
        r#"{"properties":{"a":{"type":"string"},"b":{"type":"object"},"c":{"type":"integer"},"d":{}}}"#,
    );
    let tool = view.tools().next().unwrap();
    let known = declared(tool, ["a", "b", "c", "d", "e"]);
    let text = ParameterKind::Text;
    assert_eq!(
        known,
        [text, ParameterKind::Structured, ParameterKind::Other, text, ParameterKind::No]
    );
}

#[test]
fn a_signature_is_the_same_whenever_it_is_asked_for() {
    // The second is too long to be kept.
    for count in [2, 39] {
        let name = |at| format!("{}{at}", "parameter_".repeat(3));
        let properties = (0..count).map(|at| format!(r#""{}":{{"type":"string"}}"#, name(at)));
        let properties = properties.collect::<Vec<_>>().join(",");
        let output = r#"{"properties":{"total":{"type":"integer"}}}"#;
        let tool = format!(
            r#"{{"name":"t","inputSchema":{{"properties":{{{properties}}}}},"outputSchema":{output}}}"#
        );
        let view = view(vec![entry("a", &[&tool])]);
        let tool = view.tools().next().unwrap();
        for _ in 0..2 {
            let (call, whole) = (call_signature(tool), compact_signature(tool));
            assert!(call.starts_with("a__t(") && call.ends_with(')'), "{call}");
            assert_eq!(whole, format!("{call} -> {{total?: integer}}"));
            assert_eq!(whole.len() > 1024, count == 39, "{}", whole.len());
        }
    }
}
