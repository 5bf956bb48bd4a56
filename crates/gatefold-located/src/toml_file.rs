use toml::de::{DeTable, DeValue};

use crate::{Entry, Lines, Node, SyntaxFault, Value};

/// Reads a TOML text, or returns its syntax errors, one for each slip.
pub fn parse(text: &str) -> Result<Node, Vec<SyntaxFault>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let span = table.span();
        return Ok(Node { span, value: table_value(table.into_inner()) });
    }
    Err(faults(text, &errors))
}

/// The faults in the order of the text. The parser reports most mistakes more than once, so one
/// fault a line is kept, and repeats under a repeated header are not counted again.
fn faults(text: &str, errors: &[toml::de::Error]) -> Vec<SyntaxFault> {
    let lines = Lines::of(text);
    let mut found: Vec<_> = errors.iter().map(|error| fault(text, error)).collect();
    found.sort_by_key(|fault| fault.offset);
    let mut kept: Vec<SyntaxFault> = Vec::new();
    for fault in found {
        let Some(last) = kept.last_mut() else {
            kept.push(fault);
            continue;
        };
        if lines.line(last.offset) == lines.line(fault.offset) {
            // A missing bracket says more than its consequences.
            if last.message.contains("missing comma") && is_of_bracket(&fault) {
                *last = SyntaxFault { offset: last.offset, ..fault };
            }
            continue;
        }
        let between = &text[last.offset..fault.offset];
        let follows =
            is_repetition(last) && is_repetition(&fault) && is_in_header(text, last.offset);
        if !follows || between.contains("\n[") {
            kept.push(fault);
        }
    }
    kept
}

fn is_of_bracket(fault: &SyntaxFault) -> bool {
    ["in array", "unclosed"].iter().any(|part| fault.message.contains(part))
}

fn is_repetition(fault: &SyntaxFault) -> bool {
    fault.message.contains("duplicate key")
}

fn is_in_header(text: &str, offset: usize) -> bool {
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    text[start..].trim_start().starts_with('[')
}

fn fault(text: &str, error: &toml::de::Error) -> SyntaxFault {
    let offset = error.span().map_or(0, |span| span.start);
    if let Some(fault) = text_without_quotes(text, offset) {
        return fault;
    }
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    if message.contains("string values must be quoted") {
        let message = "a string has no quotes".to_owned();
        return SyntaxFault { offset, message, hint: "put it in quotes" };
    }
    let hint = HINTS.iter().find(|(part, _)| message.contains(part));
    let hint = hint.map_or("see https://toml.io for how TOML is written", |(_, hint)| hint);
    SyntaxFault { offset, message, hint }
}

/// The fault of a line `key = text`, if an error is in its text.
fn text_without_quotes(text: &str, offset: usize) -> Option<SyntaxFault> {
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().next()?;
    let (key, value) = line.split_once('=')?;
    let begin = start + line.len() - value.trim_start().len();
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '"' | '\'');
    let key = key.trim();
    if key.is_empty() || !key.chars().all(is_key) || offset < begin || !is_bare(value.trim()) {
        return None;
    }
    let message = format!("the value of `{key}` has no quotes");
    Some(SyntaxFault { offset: begin, message, hint: "put it in quotes: `key = \"value\"`" })
}

/// Whether a value was meant as a string: a word, a path, an address, a number with a unit.
fn is_bare(value: &str) -> bool {
    let Some(first) = value.chars().next() else { return false };
    let digits = value.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_'));
    match first {
        '0'..='9' if value.len() == digits.len() => false,
        '0'..='9' => {
            let is_address = value.matches('.').count() > 1;
            let is_unit = digits.starts_with(|c: char| c.is_ascii_alphabetic())
                && !value.starts_with("0x")
                && !value.starts_with("0o")
                && !value.starts_with("0b")
                && !digits.starts_with(['e', 'E']);
            is_address || is_unit
        }
        '-' => value[1..].starts_with(|c: char| c.is_alphabetic() || c == '-'),
        '~' | '/' | '.' | '@' | '$' | '*' => true,
        _ => first.is_alphabetic(),
    }
}

/// How to fix a fault, by a part of the parser's message.
const HINTS: &[(&str, &str)] = &[
    (
        "visible characters",
        "remove the control character, or write it as `\\u....` in double quotes",
    ),
    ("duplicate key", "it is already set further up; remove one, or merge the two"),
    ("unclosed table", "close the header: `[section]`"),
    ("unclosed array", "close the list with `]`"),
    ("unexpected `=` in array", "close the list with `]`"),
    ("unclosed inline table", "close the table with `}`"),
    (
        "invalid unquoted key",
        "write `key = value`, and a key with other characters in quotes: `[sources.\"my server\"]`",
    ),
    ("key with no value", "write `key = value`"),
    ("keys cannot be empty", "write `key = value`"),
    ("missing assignment", "write `key = value`"),
    ("missing value", "give it a value, or remove the key"),
    ("missing comma", "put a comma between the entries"),
    ("extra comma", "remove the comma"),
    ("escape", "in a path or a pattern use single quotes, in which `\\` is itself"),
    ("unicode value", "in a path or a pattern use single quotes, in which `\\` is itself"),
    ("basic string", "close the string in its line; for several lines use `\"\"\"`"),
    ("literal string", "close the string in its line; for several lines use `'''`"),
    ("recurs", "write it with fewer brackets in each other"),
    ("leading zero", "write the number without zeros in front, or in quotes"),
    ("between digits", "write the number as digits alone"),
    ("radix", "write the number as digits alone"),
    ("invalid date", "no key takes a date; write a string, in quotes"),
    ("dotted key", "give the key once, as a table or as a value"),
    ("carriage return", "save the file with the line ends of Unix or of Windows"),
];

fn table_value(table: DeTable<'_>) -> Value {
    let mut entries: Vec<_> = table
        .into_iter()
        .map(|(key, value)| {
            let (key_span, span) = (key.span(), value.span());
            let node = Node { span, value: value_of(value.into_inner()) };
            Entry { key: key.into_inner().into_owned(), key_span, node }
        })
        .collect();
    // The parser sorts by key; some rules depend on the order in the file.
    entries.sort_by_key(|entry| entry.key_span.start);
    Value::Table(entries)
}

fn value_of(value: DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => {
            let read = i128::from_str_radix(number.as_str(), number.radix());
            Value::Number(read.map_or_else(|_| number.to_string(), |read| read.to_string()))
        }
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Value::Flag(flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => {
            let items = items.into_iter().map(|item| {
                let span = item.span();
                Node { span, value: value_of(item.into_inner()) }
            });
            Value::List(items.collect())
        }
        DeValue::Table(table) => table_value(table),
    }
}
