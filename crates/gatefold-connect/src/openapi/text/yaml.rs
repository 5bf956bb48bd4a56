//! YAML 1.2 to a JSON value, by the core schema (YAML 1.2.2, section 10.3).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput, Tag};
use serde_json::Number;

use super::super::value::{DocumentValue, Members, SharedTexts};
use super::NESTING_LIMIT;

/// How many values aliases may stand for in one text.
const ALIAS_LIMIT: usize = 1_000_000;

/// Reads the first document. Keys are texts, of two equal ones the last counts, and `<<` takes over the
/// members of another mapping, which is YAML 1.1 and still common.
pub(super) fn parse(text: &str) -> Result<DocumentValue, String> {
    let mut reader = EventReader {
        parser: Parser::new_from_str(text),
        texts: SharedTexts::default(),
        anchors: HashMap::new(),
        repeated: 0,
    };
    loop {
        match reader.next()? {
            Event::StreamEnd => return Ok(DocumentValue::Null),
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            event => return reader.value(event, NESTING_LIMIT),
        }
    }
}

struct EventReader<'t> {
    parser: Parser<'t, StrInput<'t>>,
    texts: SharedTexts,
    anchors: HashMap<usize, AnchoredValue>,
    /// How many values aliases have stood for.
    repeated: usize,
}

struct AnchoredValue {
    value: DocumentValue,
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

    fn value(&mut self, event: Event<'t>, depth: usize) -> Result<DocumentValue, String> {
        let inner = depth
            .checked_sub(1)
            .ok_or_else(|| format!("values nest deeper than {NESTING_LIMIT} levels"))?;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                (scalar(&mut self.texts, &text, style, tag.as_deref()), anchor)
            }
            Event::SequenceStart(anchor, _) => (self.list(inner)?, anchor),
            Event::MappingStart(anchor, _) => (self.object(inner)?, anchor),
            Event::Alias(anchor) => (self.alias(anchor, depth)?, 0),
            _ => (DocumentValue::Null, 0),
        };
        if anchor != 0 {
            let (count, depth) = measure(&value);
            self.anchors.insert(anchor, AnchoredValue { value: value.clone(), count, depth });
        }
        Ok(value)
    }

    fn list(&mut self, depth: usize) -> Result<DocumentValue, String> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(DocumentValue::Array(items.into_boxed_slice())),
                Event::StreamEnd => return Err("a list does not end".to_owned()),
                event => items.push(self.value(event, depth)?),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<DocumentValue, String> {
        let mut members = Vec::new();
        let mut merged = Vec::new();
        loop {
            let (key, is_merge) = match self.next()? {
                Event::MappingEnd => break,
                Event::StreamEnd => return Err("a mapping does not end".to_owned()),
                Event::Scalar(text, style, ..) => {
                    let is_merge = style == ScalarStyle::Plain && text == "<<";
                    (self.texts.take(&text), is_merge)
                }
                event => match self.value(event, depth)? {
                    DocumentValue::String(text) => (text, false),
                    other => (self.texts.take(&other.to_string()), false),
                },
            };
            let event = self.next()?;
            let value = self.value(event, depth)?;
            match value {
                DocumentValue::Object(others) if is_merge => merged.extend(others.into_list()),
                DocumentValue::Array(others) if is_merge => {
                    merged.extend(others.into_iter().filter_map(into_object).flatten());
                }
                value => members.push((key, value)),
            }
        }
        if !merged.is_empty() {
            let mut known: HashSet<Arc<str>> = members.iter().map(|(key, _)| key.clone()).collect();
            merged.retain(|(key, _)| known.insert(key.clone()));
            members.append(&mut merged);
        }
        Ok(DocumentValue::Object(Members::of(members)))
    }

    fn alias(&mut self, anchor: usize, depth: usize) -> Result<DocumentValue, String> {
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

fn into_object(value: DocumentValue) -> Option<Vec<(Arc<str>, DocumentValue)>> {
    if let DocumentValue::Object(members) = value { Some(members.into_list()) } else { None }
}

/// How many values there are, and how deep they nest.
fn measure(value: &DocumentValue) -> (usize, usize) {
    let sum = |(count, depth): (usize, usize), inner: &DocumentValue| {
        let (inner_count, inner_depth) = measure(inner);
        (count + inner_count, depth.max(inner_depth + 1))
    };
    match value {
        DocumentValue::Array(items) => items.iter().fold((1, 1), sum),
        DocumentValue::Object(members) => members.iter().map(|(_, inner)| inner).fold((1, 1), sum),
        _ => (1, 1),
    }
}

fn scalar(
    texts: &mut SharedTexts,
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
) -> DocumentValue {
    let core = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
    match core {
        Some("int" | "float" | "bool" | "null") => plain(texts, text),
        None if style == ScalarStyle::Plain && tag.is_none() => plain(texts, text),
        _ => DocumentValue::String(texts.take(text)),
    }
}

fn plain(texts: &mut SharedTexts, text: &str) -> DocumentValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => DocumentValue::Null,
        "true" | "True" | "TRUE" => DocumentValue::Bool(true),
        "false" | "False" | "FALSE" => DocumentValue::Bool(false),
        _ => match number(text) {
            Some(number) => DocumentValue::Number(Box::new(number)),
            None => DocumentValue::String(texts.take(text)),
        },
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
