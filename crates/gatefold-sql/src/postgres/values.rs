//! Values as JSON, from the texts that the server writes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Number, Value, json};

use super::types::Form;

/// The largest whole number that every reader of JSON holds exactly: 2^53 - 1 (RFC 8259, section 6).
const MAX_EXACT_INTEGER: u64 = (1 << 53) - 1;

/// How many bytes of a binary value are shown; of a longer one only its size is.
const MAX_SHOWN_BYTES: usize = 64 * 1024;

/// How deep arrays may lie in arrays. The server has six dimensions; domains could add more.
const MAX_ARRAY_DEPTH: usize = 32;

/// A text that does not read as its type says is passed on as it is.
pub(super) fn read(text: Option<&str>, form: &Form) -> Value {
    let Some(text) = text else { return Value::Null };
    converted(text, form, 0).unwrap_or_else(|| Value::from(text))
}

fn converted(text: &str, form: &Form, depth: usize) -> Option<Value> {
    match form {
        Form::Text => None,
        Form::Boolean => match text {
            "t" => Some(Value::Bool(true)),
            "f" => Some(Value::Bool(false)),
            _ => None,
        },
        Form::Integer => integer(text),
        Form::Numeric => numeric(text),
        // The server writes the shortest text that reads as the same number.
        Form::Float => text.parse::<Number>().ok().map(Value::Number),
        Form::Bytes => bytes(text),
        Form::Date => date(text).map(Value::from),
        Form::Time => Some(Value::from(time(text))),
        Form::Timestamp => timestamp(text).map(Value::from),
        Form::Json => serde_json::from_str(text).ok(),
        Form::Array { element, delimiter } => {
            ArrayReader::read(text, element, *delimiter, depth).map(Value::Array)
        }
    }
}

fn integer(text: &str) -> Option<Value> {
    let number: i64 = text.parse().ok()?;
    (number.unsigned_abs() <= MAX_EXACT_INTEGER).then(|| Value::from(number))
}

/// A decimal is a number where reading it as a double and writing that gives the same decimal. It
/// keeps the zeros at its end.
fn numeric(text: &str) -> Option<Value> {
    let Some((_, fraction)) = text.split_once('.') else { return integer(text) };
    let is_plain = fraction.bytes().all(|byte| byte.is_ascii_digit());
    let short = text.trim_end_matches('0').trim_end_matches('.');
    let is_exact = text.parse::<f64>().ok()?.to_string() == short;
    let whole: u64 = text.trim_start_matches('-').split('.').next()?.parse().ok()?;
    let fits = is_plain && is_exact && whole <= MAX_EXACT_INTEGER;
    fits.then(|| text.parse().ok().map(Value::Number)).flatten()
}

fn bytes(text: &str) -> Option<Value> {
    let hex = text.strip_prefix("\\x")?;
    let size = hex.len() / 2;
    if size > MAX_SHOWN_BYTES {
        return Some(json!({"bytes": size, "truncated": true}));
    }
    let (pairs, []) = hex.as_bytes().as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8; 2]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
    let bytes = pairs.iter().map(byte).collect::<Option<Vec<u8>>>()?;
    Some(json!({"bytes": size, "base64": STANDARD.encode(bytes)}))
}

/// A date in ISO 8601, whose years before the first count from zero down, and which has a sign where
/// a year has more than four digits. `infinity` stays.
fn date(text: &str) -> Option<String> {
    match text.strip_suffix(" BC") {
        Some(date) => iso_date(date, true),
        None => iso_date(text, false),
    }
}

fn iso_date(text: &str, is_before_christ: bool) -> Option<String> {
    let (year, rest) = text.split_once('-')?;
    let year: i64 = year.parse().ok()?;
    let year = if is_before_christ { 1 - year } else { year };
    Some(match year {
        0..=9_999 => format!("{year:04}-{rest}"),
        10_000.. => format!("+{year}-{rest}"),
        _ => format!("-{:04}-{rest}", year.unsigned_abs()),
    })
}

fn timestamp(text: &str) -> Option<String> {
    let (text, is_before_christ) = match text.strip_suffix(" BC") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let (day, clock) = text.split_once(' ')?;
    Some(format!("{}T{}", iso_date(day, is_before_christ)?, time(clock)))
}

/// A time of day whose zone, if it has one, says its minutes.
fn time(text: &str) -> String {
    let zone = text.rfind(['+', '-']).map(|at| &text[at + 1..]);
    match zone {
        Some(hours) if hours.len() == 2 => format!("{text}:00"),
        _ => text.to_owned(),
    }
}

/// Reads the text of an array: `{1,NULL,"a \"b\""}`, in braces of its own for each dimension, after
/// `[2:3]=` if it does not start at one. Where it starts is left out.
struct ArrayReader<'a> {
    rest: &'a str,
    element: &'a Form,
    delimiter: char,
}

impl<'a> ArrayReader<'a> {
    fn read(text: &'a str, element: &'a Form, delimiter: char, depth: usize) -> Option<Vec<Value>> {
        let rest = match text.strip_prefix('[') {
            Some(bounds) => bounds.split_once('=')?.1,
            None => text,
        };
        let mut reader = Self { rest, element, delimiter };
        let values = reader.list(depth)?;
        reader.rest.is_empty().then_some(values)
    }

    fn list(&mut self, depth: usize) -> Option<Vec<Value>> {
        self.rest = self.rest.strip_prefix('{').filter(|_| depth < MAX_ARRAY_DEPTH)?;
        let mut values = Vec::new();
        if let Some(rest) = self.rest.strip_prefix('}') {
            self.rest = rest;
            return Some(values);
        }
        // Each turn takes at least the character after the value.
        loop {
            values.push(self.value(depth)?);
            let next = self.rest.chars().next()?;
            self.rest = &self.rest[next.len_utf8()..];
            match next {
                '}' => return Some(values),
                next if next == self.delimiter => {}
                _ => return None,
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if self.rest.starts_with('{') {
            return self.list(depth + 1).map(Value::Array);
        }
        let text = if self.rest.starts_with('"') {
            self.quoted()?
        } else {
            let end = self.rest.find([self.delimiter, '}'])?;
            let (text, rest) = self.rest.split_at(end);
            self.rest = rest;
            if text == "NULL" {
                return Some(Value::Null);
            }
            text.to_owned()
        };
        let converted = converted(&text, self.element, depth + 1);
        Some(converted.unwrap_or(Value::String(text)))
    }

    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                '\\' => text.push(chars.next()?.1),
                c => text.push(c),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(form: &Form, text: &str, json: &str) {
        assert_eq!(read(Some(text), form).to_string(), json, "{form:?} {text}");
    }

    #[test]
    fn a_number_is_one_where_every_reader_holds_it() {
        check(&Form::Integer, "9007199254740991", "9007199254740991");
        check(&Form::Integer, "9007199254740992", "\"9007199254740992\"");
        check(&Form::Integer, "-9223372036854775808", "\"-9223372036854775808\"");
        check(&Form::Numeric, "10.50", "10.50");
        check(&Form::Numeric, "-0.10", "-0.10");
        check(&Form::Numeric, "0.00", "0.00");
        check(&Form::Numeric, "7", "7");
        check(&Form::Numeric, "0.1000000000000000055", "\"0.1000000000000000055\"");
        check(&Form::Numeric, "123456789012345678.9", "\"123456789012345678.9\"");
        check(&Form::Numeric, "100000000000000000000", "\"100000000000000000000\"");
        check(&Form::Numeric, "NaN", "\"NaN\"");
        check(&Form::Numeric, "-Infinity", "\"-Infinity\"");
        check(&Form::Float, "1e+20", "1e+20");
        check(&Form::Float, "-0", "-0");
        check(&Form::Float, "Infinity", "\"Infinity\"");
        check(&Form::Boolean, "t", "true");
    }

    #[test]
    fn a_time_is_written_in_iso_8601() {
        check(&Form::Date, "2024-02-29", "\"2024-02-29\"");
        check(&Form::Date, "0044-03-15 BC", "\"-0043-03-15\"");
        check(&Form::Date, "0001-01-01 BC", "\"0000-01-01\"");
        check(&Form::Date, "5874897-12-31", "\"+5874897-12-31\"");
        check(&Form::Date, "infinity", "\"infinity\"");
        check(&Form::Time, "24:00:00", "\"24:00:00\"");
        check(&Form::Time, "04:05:06.789-08", "\"04:05:06.789-08:00\"");
        check(&Form::Time, "04:05:06+05:30", "\"04:05:06+05:30\"");
        check(&Form::Timestamp, "2024-01-02 03:04:05.1", "\"2024-01-02T03:04:05.1\"");
        check(&Form::Timestamp, "2024-01-02 03:04:05+00", "\"2024-01-02T03:04:05+00:00\"");
        check(&Form::Timestamp, "0044-03-15 00:00:00+00 BC", "\"-0043-03-15T00:00:00+00:00\"");
        check(&Form::Timestamp, "-infinity", "\"-infinity\"");
    }

    #[test]
    fn an_array_keeps_its_shape() {
        let array = |element| Form::Array { element: Box::new(element), delimiter: ',' };
        check(&array(Form::Integer), "{}", "[]");
        check(&array(Form::Integer), "{1,NULL,3}", "[1,null,3]");
        check(&array(Form::Integer), "[2:3]={{1,2},{3,4}}", "[[1,2],[3,4]]");
        check(
            &array(Form::Text),
            r#"{a,"b,\"c\\",NULL,"NULL",""}"#,
            r#"["a","b,\"c\\",null,"NULL",""]"#,
        );
        check(&array(Form::Json), r#"{"{\"a\": 1.10}"}"#, r#"[{"a":1.10}]"#);
        check(&array(array(Form::Integer)), r#"{"{1,2}"}"#, "[[1,2]]");
        let boxes = Form::Array { element: Box::new(Form::Text), delimiter: ';' };
        check(&boxes, "{(1,1),(0,0);(2,2),(1,1)}", r#"["(1,1),(0,0)","(2,2),(1,1)"]"#);
        for broken in ["{", "{1", "{1,", "{\"", "{\"a\\", "[1:2]", "{1}}", "1"] {
            check(&array(Form::Integer), broken, &Value::from(broken).to_string());
        }
        let deep = "{".repeat(100_000);
        assert_eq!(read(Some(&deep), &array(Form::Integer)), Value::from(deep));
    }

    #[test]
    fn bytes_are_shown_up_to_a_size() {
        check(&Form::Bytes, "\\x00ff", r#"{"bytes":2,"base64":"AP8="}"#);
        check(&Form::Bytes, "\\x", r#"{"bytes":0,"base64":""}"#);
        let long = format!("\\x{}", "00".repeat(MAX_SHOWN_BYTES + 1));
        check(&Form::Bytes, &long, r#"{"bytes":65537,"truncated":true}"#);
        check(&Form::Bytes, "\\xzz", r#""\\xzz""#);
    }

    #[test]
    fn json_keeps_its_numbers_and_the_order_of_its_keys() {
        let text = r#"{"b":1.00,"a":[12345678901234567890123,null]}"#;
        check(&Form::Json, text, text);
        assert_eq!(read(None, &Form::Json), Value::Null);
        check(&Form::Json, "null", "null");
    }
}
