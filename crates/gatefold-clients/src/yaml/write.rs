//! Writes a new member as lines of YAML, and moves old lines to a new column.

use crate::entry::Value;
use crate::text::quoted;

/// A member in block style, its key in `column`.
pub(super) fn member(name: &str, value: &Value, column: usize, unit: usize, line: &str) -> String {
    let pad = " ".repeat(column);
    let key = scalar(name);
    match value {
        Value::Table(members) if !members.is_empty() => {
            let inner =
                members.iter().map(|(key, value)| member(key, value, column + unit, unit, line));
            format!("{pad}{key}:{line}{}", inner.collect::<String>())
        }
        Value::List(items) if !items.is_empty() => {
            let items = items.iter().map(|item| format!("{pad}- {}{line}", scalar(item)));
            format!("{pad}{key}:{line}{}", items.collect::<String>())
        }
        Value::Text(text) => format!("{pad}{key}: {}{line}", scalar(text)),
        Value::Flag(flag) => format!("{pad}{key}: {flag}{line}"),
        Value::Number(number) => format!("{pad}{key}: {number}{line}"),
        Value::Table(_) => format!("{pad}{key}: {{}}{line}"),
        Value::List(_) => format!("{pad}{key}: []{line}"),
    }
}

/// An item of a list, its dash in `column` and its name in it.
pub(super) fn item(name: &str, value: &Value, column: usize, unit: usize, line: &str) -> String {
    const DASH: usize = 2;
    let pad = " ".repeat(column);
    let members = match value {
        Value::Table(members) => members.as_slice(),
        _ => &[],
    };
    let members = members.iter().map(|(key, value)| member(key, value, column + DASH, unit, line));
    format!("{pad}- name: {}{line}{}", scalar(name), members.collect::<String>())
}

/// Lines shifted from one column to another.
pub(super) fn shifted(lines: &str, from: usize, to: usize) -> String {
    let moved = lines.split_inclusive('\n').map(|line| {
        if line.trim().is_empty() || from == to {
            return line.to_owned();
        }
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let gone = from.min(blanks);
        format!("{}{}", " ".repeat(to), &line[gone..])
    });
    moved.collect()
}

/// Plain if no reader could take it for something else, otherwise in double quotes.
fn scalar(text: &str) -> String {
    const RESERVED: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && text.bytes().all(|letter| letter.is_ascii_alphanumeric() || b" -_./".contains(&letter))
        && !text.ends_with(' ')
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { quoted(text) }
}
