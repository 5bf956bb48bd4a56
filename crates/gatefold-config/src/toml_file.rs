use toml::de::{DeTable, DeValue};

use crate::{Entry, Node, SyntaxFault, Value};

/// Reads a TOML text, or returns all its syntax errors.
pub fn parse(text: &str) -> Result<Node, Vec<SyntaxFault>> {
    if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        let message = "this is JSON, not TOML".to_owned();
        let hint = "pass the configuration of an MCP client as `--mcp-config FILE`";
        return Err(vec![SyntaxFault { offset: 0, message, hint }]);
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(errors.into_iter().map(|error| fault(&error)).collect());
    }
    let span = table.span();
    Ok(Node { span, value: table_value(table.into_inner()) })
}

fn fault(error: &toml::de::Error) -> SyntaxFault {
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    let hint = HINTS.iter().find(|(part, _)| message.contains(part));
    let hint = hint.map_or("see https://toml.io for how TOML is written", |(_, hint)| hint);
    SyntaxFault { offset: error.span().map_or(0, |span| span.start), message, hint }
}

/// How to fix a fault, by a part of the parser's message.
const HINTS: &[(&str, &str)] = &[
    (
        "visible characters",
        "remove the control character, or write it as `\\u....` in double quotes",
    ),
    ("duplicate key", "it is already set further up; remove one, or merge the two"),
    ("string values must be quoted", "give the key a value, a string in quotes"),
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
