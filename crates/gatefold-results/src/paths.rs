//! Paths into JSON.

use std::borrow::Cow;

use serde_json::Value;

use crate::ReadingError;
use crate::json::{self, items, members, text_of, unescaped};
use crate::lines::{grouped, head};

/// The most steps of a path.
const MAX_STEPS: usize = 256;

/// The most members that are named where a path leads nowhere.
const MAX_NAMED: usize = 20;

/// The longest name that is repeated, in characters.
const MAX_NAME: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    /// A member's name, or an item's number.
    Name(String),
    /// From zero, or from the end if it is negative.
    Index(i64),
}

/// What lies at a path.
#[derive(Debug)]
pub(crate) struct FoundValue<'a> {
    /// In jq's notation.
    pub(crate) path: String,
    /// JSON, or a string's own text.
    pub(crate) text: Cow<'a, str>,
}

/// Finds a value of JSON: `.a[0].b`, `a.0.b`, `$.a[0]["b"]` or `/a/0/b`.
pub(crate) fn find<'a>(text: &'a str, path: &str) -> Result<FoundValue<'a>, ReadingError> {
    if !json::is_valid(text) {
        return Err(ReadingError::Unsuitable(
            "the result is not JSON, so `path` leads nowhere: use `lines` or `grep`".to_owned(),
        ));
    }
    let steps = parse(path).map_err(|fault| {
        let example = "write it like .items[3].title, or like /items/3/title";
        ReadingError::Syntax(format!("the path is malformed {fault}: {example}"))
    })?;
    let (mut value, mut place) = (text.trim(), ".".to_owned());
    for step in &steps {
        value = step_into(value, step, &mut place)?;
    }
    let text = text_of(value).unwrap_or(Cow::Borrowed(value));
    Ok(FoundValue { path: place, text })
}

fn step_into<'a>(
    value: &'a str,
    step: &PathStep,
    place: &mut String,
) -> Result<&'a str, ReadingError> {
    let here = place.clone();
    let found = match (value.as_bytes().first(), step) {
        (Some(b'['), step) => {
            let index = match step {
                PathStep::Index(index) => Some(*index),
                PathStep::Name(name) => name.parse().ok(),
            };
            let count = items(value).count();
            let index = index.and_then(|index| {
                let signed = i64::try_from(count).ok()?;
                usize::try_from(if index < 0 { signed + index } else { index }).ok()
            });
            let Some(index) = index.filter(|index| *index < count) else {
                return Err(missing(&here, step, &format!("is an array of {}", grouped(count))));
            };
            *place = joined(&here, &format!("[{index}]"));
            items(value).nth(index)
        }
        (Some(b'{'), step) => {
            let name = match step {
                PathStep::Name(name) => name.clone(),
                PathStep::Index(index) => index.to_string(),
            };
            // Of several members of one name, the last counts.
            let Some((_, found)) = members(value).filter(|(key, _)| unescaped(key) == name).last()
            else {
                return Err(missing(&here, step, &names(value)));
            };
            *place = joined(&here, &member_step(&name));
            Some(found)
        }
        (Some(b'"'), _) => return Err(missing(&here, step, "is a text")),
        _ => return Err(missing(&here, step, &format!("is {}", head(value, MAX_NAME)))),
    };
    Ok(found.unwrap_or("null"))
}

fn missing(here: &str, step: &PathStep, what: &str) -> ReadingError {
    let step = match step {
        PathStep::Name(name) => format!("`{}`", head(name, MAX_NAME)),
        PathStep::Index(index) => format!("[{index}]"),
    };
    ReadingError::Missing(format!("there is no {step} at `{here}`, which {what}"))
}

/// What a value is, in a few words.
pub(crate) fn described(value: &str) -> String {
    match value.as_bytes().first() {
        Some(b'[') => match items(value).next() {
            Some(first) if first.starts_with('{') => {
                let count = grouped(items(value).count());
                format!("is an array of {count}, of which the first {}", names(first))
            }
            _ => format!("is an array of {}", grouped(items(value).count())),
        },
        Some(b'{') => names(value),
        Some(b'"') => "is a text".to_owned(),
        _ => format!("is {}", head(value, MAX_NAME)),
    }
}

/// `has the members a, b, ...`
fn names(object: &str) -> String {
    let all: Vec<_> = members(object).take(MAX_NAMED + 1).map(|(key, _)| unescaped(key)).collect();
    if all.is_empty() {
        return "is an object without members".to_owned();
    }
    let named = all.iter().take(MAX_NAMED).map(|name| format!("`{}`", head(name, MAX_NAME)));
    let more = if all.len() > MAX_NAMED { ", ..." } else { "" };
    format!("has the members {}{more}", named.collect::<Vec<_>>().join(", "))
}

/// A member's step in jq's notation. Behind the root's `.` it needs [`joined`].
pub(crate) fn member_step(name: &str) -> String {
    if is_identifier(name) { format!(".{name}") } else { format!("[{}]", Value::from(name)) }
}

/// Behind a path in jq's notation, one more step.
pub(crate) fn joined(place: &str, step: &str) -> String {
    if place == "." && step.starts_with('.') { step.to_owned() } else { format!("{place}{step}") }
}

pub(crate) fn is_identifier(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(is_letter)
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

/// The steps of a path, or where it is malformed.
fn parse(path: &str) -> Result<Vec<PathStep>, String> {
    let path = path.trim();
    if path.starts_with('/') {
        let unescape = |step: &str| step.replace("~1", "/").replace("~0", "~");
        return Ok(path.split('/').skip(1).map(|step| PathStep::Name(unescape(step))).collect());
    }
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() == MAX_STEPS {
            return Err(format!("after {MAX_STEPS} steps"));
        }
        let at = || format!("at character {}", path[..path.len() - rest.len()].chars().count() + 1);
        let (step, behind) = if let Some(inner) = rest.strip_prefix('[') {
            bracketed(inner).ok_or_else(at)?
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            if name.is_empty() && steps.is_empty() {
                break;
            }
            if name.starts_with('[') {
                rest = name;
                continue;
            }
            if let Some((text, behind)) = quoted(name) {
                (PathStep::Name(text), behind)
            } else {
                let end = name.find(['.', '[']).unwrap_or(name.len());
                let step = name[..end].trim_end_matches('?');
                if step.is_empty() {
                    return Err(at());
                }
                (PathStep::Name(step.to_owned()), &name[end..])
            }
        };
        steps.push(step);
        rest = behind.strip_prefix('?').unwrap_or(behind);
    }
    Ok(steps)
}

/// The step within brackets, and what follows them.
fn bracketed(inner: &str) -> Option<(PathStep, &str)> {
    let (step, behind) = if let Some((text, behind)) = quoted(inner) {
        (PathStep::Name(text), behind)
    } else {
        let (number, behind) = inner.split_at(inner.find(']')?);
        (PathStep::Index(number.trim().parse().ok()?), behind)
    };
    Some((step, behind.trim_start().strip_prefix(']')?))
}

/// A text in quotes or apostrophes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => {
                return Some((unescaped(&text[1..at]).into_owned(), &text[at + 1..]));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        r#"{"items":[{"id":1},{"id":2,"a.b":"x\ny"}],"0":"zero","items2":null,"d":1,"d":2}"#;

    #[test]
    fn one_value_has_many_paths() {
        for (path, shown, text) in [
            (".items[1].id", ".items[1].id", "2"),
            ("items.1.id", ".items[1].id", "2"),
            ("$.items[-1]['id']", ".items[1].id", "2"),
            ("/items/1/id", ".items[1].id", "2"),
            (".items.[1][\"a.b\"]", ".items[1][\"a.b\"]", "x\ny"),
            (".items[0]?", ".items[0]", r#"{"id":1}"#),
            (".\"0\"", ".[\"0\"]", "zero"),
            ("/0", ".[\"0\"]", "zero"),
            (".d", ".d", "2"),
            ("", ".", TEXT),
            (".", ".", TEXT),
            ("$", ".", TEXT),
        ] {
            let found = find(TEXT, path).unwrap();
            assert_eq!((&*found.path, &*found.text), (shown, text), "{path}");
        }
    }

    #[test]
    fn a_path_that_leads_nowhere_says_what_is_there() {
        for (path, error) in [
            (".items[2]", "there is no [2] at `.items`, which is an array of 2"),
            (
                ".items[1].name",
                "there is no `name` at `.items[1]`, which has the members `id`, `a.b`",
            ),
            (".items2.x", "there is no `x` at `.items2`, which is null"),
            (
                ".items[x]",
                "the path is malformed at character 7: write it like .items[3].title, or like \
                 /items/3/title",
            ),
        ] {
            assert_eq!(find(TEXT, path).unwrap_err().to_string(), error);
        }
    }
}
