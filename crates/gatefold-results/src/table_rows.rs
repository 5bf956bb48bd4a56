//! The rows of a result, whichever way it is written.

use std::cell::Cell;
use std::collections::HashSet;

use rusqlite::types::Value as SqlValue;
use serde::de::IgnoredAny;

use crate::json::{items, members, unescaped};
use crate::{ReadingError, content, lines};

/// The most rows, columns and bytes of a text. What SQLite does with a text within one step cannot be
/// interrupted, and some of its functions take time that grows with the square.
pub(crate) const MAX_ROWS: usize = 200_000;
pub(crate) const MAX_TEXT: usize = 64 * 1024;
const MAX_COLUMNS: usize = 200;

/// A table, its rows still raw.
pub(crate) struct TableRows<'a> {
    pub(crate) columns: Vec<String>,
    rows: RowsShape<'a>,
}

enum RowsShape<'a> {
    /// A list of objects.
    Objects(&'a str),
    /// An object on each line.
    ObjectLines(&'a str),
    /// A list of lists, in the order of the columns.
    Lists(&'a str),
    /// Values between commas or tabs, behind a line of names.
    Separated(&'a str, u8),
}

impl<'a> TableRows<'a> {
    pub(crate) fn of(text: &'a str) -> Result<Self, ReadingError> {
        let text = text.trim();
        let table = if serde_json::from_str::<IgnoredAny>(text).is_ok() {
            match Self::with_header(text) {
                Some(table) => Some(table),
                None => list_of_objects(text)
                    .map(RowsShape::Objects)
                    .map(Self::of_objects)
                    .transpose()?,
            }
        } else if is_object_lines(text) {
            Some(Self::of_objects(RowsShape::ObjectLines(text))?)
        } else {
            content::separator(text)
                .map(|separator| Self::separated(text, separator))
                .transpose()?
        };
        table.ok_or_else(|| {
            ReadingError::Unsuitable(
                "`sql` reads a list of JSON objects, alone, as a member or one on each line, `columns` \
                 and `rows`, or values with commas or tabs; this result has none: use `jq`, `path`, \
                 `grep` or `lines`"
                    .to_owned(),
            )
        })
    }

    fn of_objects(rows: RowsShape<'a>) -> Result<Self, ReadingError> {
        let (mut columns, mut known) = (Vec::new(), HashSet::new());
        for object in rows.raw().take(MAX_ROWS) {
            for (name, _) in members(object) {
                let name = unescaped(name);
                // SQLite's names differ in more than case.
                if known.insert(name.to_lowercase()) {
                    columns.push(name.into_owned());
                }
            }
            if columns.len() > MAX_COLUMNS {
                return Err(too_wide("objects have more than", "members"));
            }
        }
        Ok(Self { columns, rows })
    }

    /// `columns`, as names or objects with a `name`, and `rows` as lists.
    fn with_header(text: &'a str) -> Option<Self> {
        let member = |wanted: &str| {
            members(text).find(|(name, _)| unescaped(name) == wanted).map(|(_, value)| value)
        };
        let (header, rows) = (member("columns")?, member("rows")?);
        items(rows).next()?.starts_with('[').then_some(())?;
        let name_of = |column: &str| {
            if let Some(text) = column.strip_prefix('"') {
                return Some(unescaped(text.strip_suffix('"')?).into_owned());
            }
            let (_, name) = members(column).find(|(key, _)| unescaped(key) == "name")?;
            Some(unescaped(name.strip_prefix('"')?.strip_suffix('"')?).into_owned())
        };
        let names: Vec<String> = items(header).map(name_of).collect::<Option<_>>()?;
        let is_table = !names.is_empty() && names.len() <= MAX_COLUMNS;
        is_table.then(|| Self { columns: distinct(names), rows: RowsShape::Lists(rows) })
    }

    fn separated(text: &'a str, separator: u8) -> Result<Self, ReadingError> {
        let header = records(text, separator).next().unwrap_or_default();
        let column = |(at, name): (usize, &str)| match name.trim() {
            "" => format!("column_{}", at + 1),
            name => name.to_owned(),
        };
        let names: Vec<_> = header.iter().enumerate().map(column).collect();
        if names.len() > MAX_COLUMNS {
            return Err(too_wide("lines have more than", "values"));
        }
        Ok(Self { columns: distinct(names), rows: RowsShape::Separated(text, separator) })
    }

    /// The values of each row, in the order of the columns. Counts the texts that are cut.
    pub(crate) fn rows<'b>(
        &'b self,
        cut: &'b Cell<usize>,
    ) -> Box<dyn Iterator<Item = Vec<SqlValue>> + 'b> {
        let nothing = vec![SqlValue::Null; self.columns.len()];
        match &self.rows {
            RowsShape::Objects(_) | RowsShape::ObjectLines(_) => {
                let lower: Vec<_> = self.columns.iter().map(|name| name.to_lowercase()).collect();
                Box::new(self.rows.raw().map(move |object| {
                    let mut values = nothing.clone();
                    for (name, raw) in members(object) {
                        let name = unescaped(name).to_lowercase();
                        if let Some(at) = lower.iter().position(|known| *known == name) {
                            values[at] = json_value(raw, cut);
                        }
                    }
                    values
                }))
            }
            RowsShape::Lists(list) => Box::new(items(list).map(move |list| {
                let mut values = nothing.clone();
                for (value, raw) in values.iter_mut().zip(items(list)) {
                    *value = json_value(raw, cut);
                }
                values
            })),
            RowsShape::Separated(text, separator) => {
                Box::new(records(text, *separator).skip(1).map(move |record| {
                    let mut values = nothing.clone();
                    for (value, field) in values.iter_mut().zip(&record) {
                        *value = plain_value(field, cut);
                    }
                    values
                }))
            }
        }
    }
}

impl<'a> RowsShape<'a> {
    /// Rows of JSON, each as its text.
    fn raw(&self) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        match self {
            Self::Objects(list) | Self::Lists(list) => Box::new(items(list)),
            Self::ObjectLines(text) => Box::new(object_lines(text)),
            Self::Separated(..) => Box::new(std::iter::empty()),
        }
    }
}

fn too_wide(what: &str, of: &str) -> ReadingError {
    let advice = "use `jq`, `grep` or `lines`";
    ReadingError::TooMuch(format!("its {what} {MAX_COLUMNS} {of}: {advice}"))
}

/// The text itself if it is a list of objects, else the longest of its members that is one.
fn list_of_objects(text: &str) -> Option<&str> {
    let is_one = |list: &&str| {
        let mut first = items(list).take(2).peekable();
        first.peek().is_some() && first.all(|item| item.starts_with('{'))
    };
    let members = || members(text).map(|(_, value)| value);
    Some(text).filter(is_one).or_else(|| members().filter(is_one).max_by_key(|list| list.len()))
}

fn object_lines(text: &str) -> impl Iterator<Item = &str> {
    lines::of(text).map(|line| line.text.trim()).filter(|line| !line.is_empty())
}

/// Whether each line is a JSON object, and there are at least two.
fn is_object_lines(text: &str) -> bool {
    let is_object =
        |line: &str| line.starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok();
    object_lines(text).nth(1).is_some() && object_lines(text).all(is_object)
}

/// The records of a text as RFC 4180 has them, longer and shorter ones included.
fn records(text: &str, separator: u8) -> impl Iterator<Item = csv::StringRecord> {
    let mut reader = csv::ReaderBuilder::new();
    reader.has_headers(false).flexible(true).delimiter(separator);
    // The text is UTF-8 and in memory, so no record can fail.
    reader.from_reader(text.as_bytes()).into_records().map_while(Result::ok)
}

/// Names with a number behind those that are there already, whatever their case.
fn distinct(names: Vec<String>) -> Vec<String> {
    let mut known = HashSet::new();
    let distinct = |name: String| {
        let mut own = name.clone();
        let mut number = 2;
        while !known.insert(own.to_lowercase()) {
            own = format!("{name}_{number}");
            number += 1;
        }
        own
    };
    names.into_iter().map(distinct).collect()
}

/// A JSON value as SQLite has it: whole numbers of 64 bits and decimal numbers as numbers where they
/// stay the same, everything else as the text that it is.
fn json_value(raw: &str, cut: &Cell<usize>) -> SqlValue {
    match raw.as_bytes().first() {
        Some(b'"') => short_text(&unescaped(&raw[1..raw.len() - 1]), cut),
        Some(b'n') | None => SqlValue::Null,
        Some(b't') => SqlValue::Integer(1),
        Some(b'f') => SqlValue::Integer(0),
        Some(b'{' | b'[') => short_text(raw, cut),
        Some(_) => number(raw).unwrap_or_else(|| short_text(raw, cut)),
    }
}

/// A value that has no type: nothing is NULL, and a plain number a number. `007` and `1e9` stay texts.
fn plain_value(field: &str, cut: &Cell<usize>) -> SqlValue {
    let digits = field.strip_prefix('-').unwrap_or(field);
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && !(digits.starts_with('0') && digits.len() > 1 && !digits.starts_with("0."));
    match number(field).filter(|_| is_plain) {
        _ if field.is_empty() => SqlValue::Null,
        Some(number) => number,
        None => short_text(field, cut),
    }
}

fn short_text(text: &str, cut: &Cell<usize>) -> SqlValue {
    let end = text.floor_char_boundary(MAX_TEXT);
    cut.set(cut.get() + usize::from(end < text.len()));
    SqlValue::Text(text[..end].to_owned())
}

fn number(raw: &str) -> Option<SqlValue> {
    if let Ok(whole) = raw.parse::<i64>() {
        return Some(SqlValue::Integer(whole));
    }
    let number: f64 = raw.parse().ok()?;
    // A longer number would lose digits.
    let digits = raw.bytes().filter(u8::is_ascii_digit).count();
    (number.is_finite() && digits <= 15).then_some(SqlValue::Real(number))
}
