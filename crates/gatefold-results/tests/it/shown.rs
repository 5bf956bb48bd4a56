//! Reads a preview of JSON back, and holds every shown value against the original at its path.

use serde_json::{Map, Value};

/// A value as a preview shows it.
#[derive(Debug, PartialEq)]
pub(crate) enum ShownValue {
    Scalar(Value),
    CutText { head: String, left_out: usize, tail: String },
    CutNumber { head: String, left_out: usize },
    Array { items: Vec<Self>, left_out: usize },
    Object { members: Vec<(String, Self)>, left_out: usize },
}

/// Checks the lines behind `Values:`, and says how many values they show.
pub(crate) fn check(preview: &str, original: &Value) -> Result<usize, String> {
    let (_, lines) = preview.split_once("\nValues:\n").ok_or("there are no values")?;
    let mut shown = 0;
    for line in lines.lines() {
        let (place, rest) = path(line).ok_or_else(|| format!("no path: {line}"))?;
        if let Some(what) = rest.strip_prefix(" …[") {
            check_mark(&place, what, original).ok_or_else(|| format!("a wrong mark: {line}"))?;
            continue;
        }
        let value = rest.strip_prefix(" = ").ok_or_else(|| format!("no value: {line}"))?;
        let (value, behind) = value_of(value).ok_or_else(|| format!("malformed: {line}"))?;
        let found = at(original, &place).ok_or_else(|| format!("nothing is there: {line}"))?;
        if !behind.is_empty() || !agrees(&value, found) {
            return Err(format!("it is not so: {line}"));
        }
        shown += 1;
    }
    Ok(shown)
}

/// What is left out of a container is counted.
fn check_mark(place: &[Value], what: &str, original: &Value) -> Option<()> {
    let number = |text: &str| text.replace(',', "").parse::<usize>().ok();
    if let Some((Value::Null, list)) = place.split_last() {
        // `.items[3:] …[409 of 412 items left out]…`: the end of the path is the number of the shown.
        let (first, rest) = list.split_last()?;
        let list = at(original, rest)?.as_array()?;
        let (left_out, of) = what.strip_suffix(" items left out]…")?.split_once(" of ")?;
        let is_right = number(of)? == list.len()
            && number(left_out)? + usize::try_from(first.as_u64()?).ok()? == list.len();
        return is_right.then_some(());
    }
    at(original, place).map(|_| ())
}

fn at<'v>(mut value: &'v Value, path: &[Value]) -> Option<&'v Value> {
    for step in path {
        value = match step {
            Value::String(name) => value.as_object()?.get(name)?,
            step => value.as_array()?.get(usize::try_from(step.as_u64()?).ok()?)?,
        };
    }
    Some(value)
}

/// A path in jq's notation and what follows it. The end of a slice is null.
fn path(line: &str) -> Option<(Vec<Value>, &str)> {
    let (mut steps, mut rest) = (Vec::new(), line);
    loop {
        if let Some(inner) = rest.strip_prefix('[').or_else(|| rest.strip_prefix(".[")) {
            if inner.starts_with('"') {
                let (name, behind) = text(inner)?;
                steps.push(Value::from(name));
                rest = behind.strip_prefix(']')?;
            } else {
                let (number, behind) = inner.split_once(']')?;
                let (number, is_slice) =
                    number.strip_suffix(':').map_or((number, false), |number| (number, true));
                steps.push(Value::from(number.parse::<u64>().ok()?));
                steps.extend(is_slice.then_some(Value::Null));
                rest = behind;
            }
        } else if let Some(name) = rest.strip_prefix('.').filter(|name| !name.starts_with(' ')) {
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
            steps.push(Value::from(&name[..end]));
            rest = &name[end..];
        } else {
            return Some((steps, rest.strip_prefix('.').unwrap_or(rest)));
        }
    }
}

/// `…[12 items left out]…`
fn left_out<'t>(rest: &'t str, noun: &str) -> Option<(usize, &'t str)> {
    let (what, behind) = rest.trim_start().strip_prefix("…[")?.split_once(" left out]…")?;
    Some((what.strip_suffix(noun)?.trim().replace(',', "").parse().ok()?, behind))
}

/// A string and what follows it.
fn text(rest: &str) -> Option<(String, &str)> {
    let mut all = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let text = all.next()?.ok()?;
    Some((text, &rest[all.byte_offset()..]))
}

fn value_of(rest: &str) -> Option<(ShownValue, &str)> {
    if let Some(mut rest) = rest.strip_prefix('[') {
        let mut items = Vec::new();
        loop {
            if let Some((left_out, behind)) = left_out(rest, "items") {
                return Some((ShownValue::Array { items, left_out }, behind.strip_prefix(']')?));
            }
            if let Some(behind) = rest.strip_prefix(']') {
                return Some((ShownValue::Array { items, left_out: 0 }, behind));
            }
            let (item, behind) = value_of(rest.strip_prefix(',').unwrap_or(rest))?;
            items.push(item);
            rest = behind.trim_start_matches([' ', '\n']);
        }
    }
    if let Some(mut rest) = rest.strip_prefix('{') {
        let mut members = Vec::new();
        loop {
            if let Some((left_out, behind)) = left_out(rest, "members") {
                return Some((ShownValue::Object { members, left_out }, behind.strip_prefix('}')?));
            }
            if let Some(behind) = rest.strip_prefix('}') {
                return Some((ShownValue::Object { members, left_out: 0 }, behind));
            }
            let (name, behind) = text(rest.strip_prefix(',').unwrap_or(rest))?;
            let (value, behind) = value_of(behind.strip_prefix(':')?)?;
            members.push((name, value));
            rest = behind;
        }
    }
    if rest.starts_with('"') {
        let (head, behind) = text(rest)?;
        return Some(match left_out(behind, "characters") {
            Some((left_out, behind)) => {
                let (tail, behind) = text(behind.strip_prefix(' ')?)?;
                (ShownValue::CutText { head, left_out, tail }, behind)
            }
            None => (ShownValue::Scalar(Value::from(head)), behind),
        });
    }
    let end = rest.find([',', ']', '}', ' ']).unwrap_or(rest.len());
    let (scalar, behind) = rest.split_at(end);
    if let Some((left_out, behind)) = left_out(behind, "digits") {
        return Some((ShownValue::CutNumber { head: scalar.to_owned(), left_out }, behind));
    }
    Some((ShownValue::Scalar(serde_json::from_str(scalar).ok()?), behind))
}

fn agrees(shown: &ShownValue, original: &Value) -> bool {
    match (shown, original) {
        (ShownValue::Scalar(shown), original) => shown == original,
        (ShownValue::CutText { head, left_out, tail }, Value::String(text)) => {
            let count = |text: &str| text.chars().count();
            text.starts_with(head.as_str())
                && text.ends_with(tail.as_str())
                && *left_out > 0
                && count(head) + left_out + count(tail) == count(text)
        }
        (ShownValue::CutNumber { head, left_out }, Value::Number(number)) => {
            number.as_str().starts_with(head.as_str())
                && head.len() + left_out == number.as_str().len()
        }
        (ShownValue::Array { items, left_out }, Value::Array(all)) => {
            items.len() + left_out == all.len()
                && items.iter().zip(all).all(|(shown, original)| agrees(shown, original))
        }
        (ShownValue::Object { members, left_out }, Value::Object(all)) => {
            are_members(members, all) && members.len() + left_out == all.len()
        }
        _ => false,
    }
}

fn are_members(members: &[(String, ShownValue)], all: &Map<String, Value>) -> bool {
    members.iter().all(|(name, shown)| all.get(name).is_some_and(|own| agrees(shown, own)))
}
