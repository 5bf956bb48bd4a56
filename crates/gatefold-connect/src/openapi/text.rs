//! The text of a document, JSON or YAML, to a value.

use super::value::DocumentValue;

mod indentation;
mod json;
mod yaml;

/// The largest document, in bytes. The largest one in the packages that the interop suite reads has 78 MB.
pub const DOCUMENT_LIMIT: usize = 96 * 1024 * 1024;

/// How deep values may nest, in JSON as in YAML: what `serde_json` reads.
const NESTING_LIMIT: usize = 127;

/// Why a text is no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    #[error("it has {0} bytes, and the limit is {DOCUMENT_LIMIT}")]
    TooLarge(usize),
    #[error("it is not UTF-8")]
    NotText,
    #[error("it is not JSON: {0}")]
    Json(String),
    #[error("it is neither JSON nor YAML: {0}")]
    Yaml(String),
}

/// A text that was read.
#[derive(Debug)]
pub(super) struct ParsedText {
    pub(super) value: DocumentValue,
    /// What had to be repaired first.
    pub(super) repair: Option<String>,
}

impl From<DocumentValue> for ParsedText {
    fn from(value: DocumentValue) -> Self {
        Self { value, repair: None }
    }
}

/// Reads JSON, else YAML. The order of keys and the digits of numbers are kept. Of two equal keys the last
/// one counts.
pub(super) fn parse(bytes: &[u8]) -> Result<ParsedText, TextError> {
    if bytes.len() > DOCUMENT_LIMIT {
        return Err(TextError::TooLarge(bytes.len()));
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let json = json::parse(bytes);
    match (json, first) {
        (Ok(value), _) => Ok(value.into()),
        // YAML can also begin with a brace, but a large broken JSON text is told as what it is.
        (Err(error), Some(b'{')) => {
            let text = std::str::from_utf8(bytes).map_err(|_| TextError::NotText)?;
            parse_yaml(text).map_err(|_| TextError::Json(error.to_string()))
        }
        (Err(_), _) => {
            let text = std::str::from_utf8(bytes).map_err(|_| TextError::NotText)?;
            parse_yaml(text).map_err(TextError::Yaml)
        }
    }
}

/// Reads YAML, also where what is in brackets or quotes is not indented as YAML 1.2 wants it: many writers of
/// YAML leave a closing brace below its key, and the parsers of other languages read that.
fn parse_yaml(text: &str) -> Result<ParsedText, String> {
    let error = match yaml::parse(text) {
        Ok(value) => return Ok(value.into()),
        Err(error) => error,
    };
    let Some((indented, first)) = indentation::indent(text) else { return Err(error) };
    let value = yaml::parse(&indented).map_err(|_| error)?;
    let repair =
        format!("what is in brackets or quotes was indented further, from line {first} on");
    Ok(ParsedText { value, repair: Some(repair) })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(parse(text.as_bytes()).unwrap().value.to_string(), expected, "{text}");
    }

    #[test]
    fn json_and_yaml_are_read_with_their_order_and_digits() {
        check(
            r#"{"b":1,"a":123456789012345678901234567890}"#,
            r#"{"b":1,"a":123456789012345678901234567890}"#,
        );
        check(r#"{"a":[1,-2,0.5,1e400,null,true]}"#, r#"{"a":[1,-2,0.5,1e+400,null,true]}"#);
        check("\u{feff}{\"a\":1.50}", r#"{"a":1.50}"#);
        check("{a: 1, 'b': [x, ~]}", r#"{"a":1,"b":["x",null]}"#);
        check(
            "b: 1\na: 123456789012345678901234567890\n",
            r#"{"b":1,"a":123456789012345678901234567890}"#,
        );
    }

    #[test]
    fn yaml_is_read_by_its_core_schema() {
        for (yaml, json) in [
            ("a: yes", r#"{"a":"yes"}"#),
            ("a: 2020-01-02", r#"{"a":"2020-01-02"}"#),
            ("a: 12:30:45", r#"{"a":"12:30:45"}"#),
            ("a: 0x1F", r#"{"a":31}"#),
            ("a: 0o17", r#"{"a":15}"#),
            ("a: 017", r#"{"a":17}"#),
            ("a: +1.5e3", r#"{"a":1.5e+3}"#),
            ("a: .5", r#"{"a":0.5}"#),
            ("a: 1.", r#"{"a":1.0}"#),
            ("a: .inf", r#"{"a":".inf"}"#),
            ("a: True", r#"{"a":true}"#),
            ("a: NULL", r#"{"a":null}"#),
            ("a: '1'", r#"{"a":"1"}"#),
            ("a: !!str 1", r#"{"a":"1"}"#),
            ("a: !!int '1'", r#"{"a":1}"#),
            ("a: 1.2.3", r#"{"a":"1.2.3"}"#),
        ] {
            check(yaml, json);
        }
    }

    #[test]
    fn keys_are_texts_and_the_last_of_two_counts() {
        check(
            "200: ok\n404: no\ntrue: x\n200: again\n",
            r#"{"200":"again","404":"no","true":"x"}"#,
        );
    }

    #[test]
    fn aliases_and_merges_are_followed_in_bounds() {
        check("a: &x {b: 1}\nc: *x\n", r#"{"a":{"b":1},"c":{"b":1}}"#);
        check(
            "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n",
            r#"{"a":{"b":1,"c":2},"d":{"c":3,"b":1}}"#,
        );
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..12 {
            let alias = vec![format!("*a{}", level - 1); 10].join(",");
            _ = writeln!(bomb, "a{level}: &a{level} [{alias}]");
        }
        assert!(
            matches!(parse(bomb.as_bytes()), Err(TextError::Yaml(why)) if why.contains("aliases"))
        );
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for (bytes, expected) in [
            (&b"{\"a\": \xff}"[..], "it is not JSON: "),
            (b"{\"a\": [1, 2", "it is not JSON: "),
            (b"a: [1, 2\nb: 3", "it is neither JSON nor YAML: "),
            (b"a: \xff", "it is not UTF-8"),
        ] {
            let error = parse(bytes).unwrap_err().to_string();
            assert!(error.starts_with(expected) || error == "it is not UTF-8", "{error}");
        }
        assert!(parse("[".repeat(1000).as_bytes()).is_err());
        assert!(parse("a: ".repeat(3).as_bytes()).is_err());
    }
}
