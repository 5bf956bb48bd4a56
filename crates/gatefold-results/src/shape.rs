//! The shape of a text of JSON in words: a line for each path at which there are objects or lists.

use std::collections::VecDeque;
use std::fmt::Write as _;

use serde_json::Value;

use crate::json::unescaped;
use crate::lines::{grouped, head};
use crate::paths::{is_identifier, joined, member_step};
use crate::rows::mark;
use crate::survey::{JsonSurvey, PathSurvey};

/// The longest name that is shown whole, in characters.
const MAX_NAME: usize = 60;

/// The most members of a path that are named.
const MAX_MEMBERS: usize = 48;

/// How deep the shape goes.
const MAX_LEVELS: usize = 8;

/// A list of so many items is not worth a look of its own.
const FEW_ITEMS: usize = 3;

/// The shape in so many bytes, outer paths first.
pub(crate) fn shape(survey: &JsonSurvey<'_>, bytes: usize) -> String {
    let mut waiting = VecDeque::from([(".".to_owned(), survey.root(), 0)]);
    let mut text = String::new();
    let mut left_out = 0;
    while let Some((place, path, level)) = waiting.pop_front() {
        if let Some(line) = line(&place, path, survey) {
            if text.len() + line.len() > bytes || left_out > 0 {
                left_out += 1;
            } else {
                text.push_str(&line);
            }
        }
        if level == MAX_LEVELS {
            continue;
        }
        for member in survey.members(path).take(MAX_MEMBERS).filter(|member| holds_more(member)) {
            let name = unescaped(member.name.unwrap_or_default());
            waiting.push_back((joined(&place, &member_step(&name)), member, level + 1));
        }
        let inner = [survey.items(path), survey.others(path)];
        for inner in inner.into_iter().flatten() {
            waiting.push_back((joined(&place, "[]"), inner, level + 1));
        }
    }
    if left_out > 0 {
        writeln!(text, "{}", mark(&format!("{left_out} inner paths"))).expect("a String takes all");
    }
    text
}

/// The outermost list that has more than a few items, the longest of several, and its path.
pub(crate) fn main_list<'s, 'a>(
    survey: &'s JsonSurvey<'a>,
) -> Option<(String, &'s PathSurvey<'a>)> {
    let mut level = vec![(".".to_owned(), survey.root())];
    for _ in 0..MAX_LEVELS {
        let lists = level.iter().filter(|(_, path)| path.arrays == 1 && path.most > FEW_ITEMS);
        if let Some((place, path)) = lists.max_by_key(|(_, path)| path.most) {
            return survey.items(path).map(|items| (place.clone(), items));
        }
        let single = level.iter().filter(|(_, path)| path.objects == 1);
        let inner = single.flat_map(|(place, path)| {
            survey.members(path).take(MAX_MEMBERS).map(move |member| {
                let name = unescaped(member.name.unwrap_or_default());
                (joined(place, &member_step(&name)), member)
            })
        });
        level = inner.collect();
    }
    None
}

fn holds_more(path: &PathSurvey<'_>) -> bool {
    path.objects + path.arrays > 0
}

/// `.items[]: id number, title text, note? text|null`
fn line(place: &str, path: &PathSurvey<'_>, survey: &JsonSurvey<'_>) -> Option<String> {
    let mut members: Vec<_> = survey
        .members(path)
        .take(MAX_MEMBERS)
        .map(|member| {
            let name = shown_name(&unescaped(member.name.unwrap_or_default()));
            let missing = if member.values() < path.objects { "?" } else { "" };
            format!("{name}{missing} {}", kinds(member, survey, 0))
        })
        .collect();
    if let Some(others) = survey.others(path) {
        let names = grouped(path.most);
        members.push(format!("up to {names} names, each {}", kinds(others, survey, 0)));
    }
    if place == "." {
        let root = kinds(path, survey, 0);
        members.insert(0, root);
    } else if path.objects == 0 {
        return None;
    } else if members.is_empty() {
        members.push("empty".to_owned());
    }
    Some(format!("{place}: {}\n", members.join(", ")))
}

/// `object`, `array[0-5] of text`, `text|null`
fn kinds(path: &PathSurvey<'_>, survey: &JsonSurvey<'_>, level: usize) -> String {
    let mut kinds = Vec::new();
    if path.objects > 0 {
        kinds.push("object".to_owned());
    }
    if path.arrays > 0 {
        let length = if path.objects > 0 {
            String::new()
        } else if path.least == path.most {
            format!("[{}]", grouped(path.most))
        } else {
            format!("[{}-{}]", grouped(path.least), grouped(path.most))
        };
        let items = survey.items(path).filter(|_| level < MAX_LEVELS);
        let of = items.map(|items| format!(" of {}", self::kinds(items, survey, level + 1)));
        kinds.push(format!("array{length}{}", of.unwrap_or_default()));
    }
    for (count, kind) in [
        (path.texts, "text"),
        (path.numbers, "number"),
        (path.booleans, "boolean"),
        (path.nulls, "null"),
    ] {
        if count > 0 {
            kinds.push(kind.to_owned());
        }
    }
    kinds.join("|")
}

/// A member's name, its end left out if it is long.
fn shown_name(name: &str) -> String {
    let short = head(name, MAX_NAME);
    let shown =
        if is_identifier(short) { short.to_owned() } else { Value::from(short).to_string() };
    match name.len() - short.len() {
        0 => shown,
        more => format!("{shown}{}", mark(&format!("{} bytes", grouped(more)))),
    }
}
