//! YAML 1.2 to a JSON value, by the core schema (YAML 1.2.2, section 10.3).

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput, Tag};
use serde_json::{Map, Number, Value};

use super::NESTING_LIMIT;

/// How many values aliases may stand for in one text.
const ALIAS_LIMIT: usize = 1_000_000;

/// Reads the first document. Keys are texts, of two equal ones the last counts, and `<<` takes over the
/// members of another mapping, which is YAML 1.1 and still common.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut reader =
        EventReader { parser: Parser::new_from_str(text), anchors: HashMap::new(), repeated: 0 };
    loop {
        match reader.next()? {
            Event::StreamEnd => return Ok(Value::Null),
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            event => return reader.value(event, NESTING_LIMIT),
        }
    }
}

struct EventReader<'t> {
    parser: Parser<'t, StrInput<'t>>,
    anchors: HashMap<usize, AnchoredValue>,
    /// How many values aliases have stood for.
    repeated: usize,
}

struct AnchoredValue {
    value: Value,
    count: usize,
    depth: usize,
}

impl<'t> EventReader<'t> {
    fn next(&mut self) -> Result<Event<'t>, String> {
        match self.parser.next_event() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => Err(error.to_string()),
            None => Ok(Event::StreamEnd),
        }
    }

    fn value(&mut self, event: Event<'t>, depth: usize) -> Result<Value, String> {
        let inner = depth
            .checked_sub(1)
            .ok_or_else(|| format!("values nest deeper than {NESTING_LIMIT} levels"))?;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                (scalar(&text, style, tag.as_deref()), anchor)
            }
            Event::SequenceStart(anchor, _) => (self.list(inner)?, anchor),
            Event::MappingStart(anchor, _) => (self.object(inner)?, anchor),
            Event::Alias(anchor) => (self.alias(anchor, depth)?, 0),
            _ => (Value::Null, 0),
        };
        if anchor != 0 {
            let (count, depth) = measure(&value);
            self.anchors.insert(anchor, AnchoredValue { value: value.clone(), count, depth });
        }
        Ok(value)
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Value::Array(items)),
                Event::StreamEnd => return Err("a list does not end".to_owned()),
                event => items.push(self.value(event, depth)?),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, String> {
        let mut members = Map::new();
        let mut merged = Vec::new();
        loop {
            let (key, is_merge) = match self.next()? {
                Event::MappingEnd => break,
                Event::StreamEnd => return Err("a mapping does not end".to_owned()),
                Event::Scalar(text, style, ..) => {
                    let is_merge = style == ScalarStyle::Plain && text == "<<";
                    (text.into_owned(), is_merge)
                }
                event => match self.value(event, depth)? {
                    Value::String(text) => (text, false),
                    other => (other.to_string(), false),
                },
            };
            let event = self.next()?;
            let value = self.value(event, depth)?;
            match value {
                Value::Object(others) if is_merge => merged.extend(others),
                Value::Array(others) if is_merge => {
                    merged.extend(others.into_iter().filter_map(into_object).flatten());
                }
                value => _ = members.insert(key, value),
            }
        }
        for (key, value) in merged {
            members.entry(key).or_insert(value);
        }
        Ok(Value::Object(members))
    }

    fn alias(&mut self, anchor: usize, depth: usize) -> Result<Value, String> {
        let anchored = self.anchors.get(&anchor).ok_or("an alias stands inside its own anchor")?;
        self.repeated += anchored.count;
        if self.repeated > ALIAS_LIMIT {
            return Err(format!("its aliases stand for more than {ALIAS_LIMIT} values"));
        }
        if anchored.depth > depth {
            return Err(format!("values nest deeper than {NESTING_LIMIT} levels"));
        }
        Ok(anchored.value.clone())
    }
}

fn into_object(value: Value) -> Option<Map<String, Value>> {
    if let Value::Object(members) = value { Some(members) } else { None }
}

/// How many values there are, and how deep they nest.
fn measure(value: &Value) -> (usize, usize) {
    let sum = |(count, depth): (usize, usize), inner: &Value| {
        let (inner_count, inner_depth) = measure(inner);
        (count + inner_count, depth.max(inner_depth + 1))
    };
    match value {
        Value::Array(items) => items.iter().fold((1, 1), sum),
        Value::Object(members) => members.values().fold((1, 1), sum),
        _ => (1, 1),
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let core = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
    match core {
        Some("int" | "float" | "bool" | "null") => plain(text),
        None if style == ScalarStyle::Plain && tag.is_none() => plain(text),
        _ => text.into(),
    }
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => number(text).map_or_else(|| text.into(), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(Number::from);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().map(Number::from);
    }
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let (whole, rest) = digits.split_at(digits.bytes().take_while(u8::is_ascii_digit).count());
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let rest = match rest.strip_prefix('.') {
        Some(fraction)
            if digits.len() > 1 && !fraction.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            format!(".0{fraction}")
        }
        _ => rest.to_owned(),
    };
    // JSON has the same numbers but for the forms that are mended above.
    serde_json::from_str(&format!("{sign}{whole}{rest}")).ok()
}
