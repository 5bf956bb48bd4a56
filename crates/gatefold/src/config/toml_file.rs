use toml::de::{DeTable, DeValue};

use super::tree::{Entry, Node, Value};

/// What a TOML text breaks: where, and how.
pub(super) struct SyntaxFault {
    pub(super) offset: usize,
    pub(super) message: String,
}

/// Reads a TOML text, or says everything that its syntax breaks.
pub(super) fn parse(text: &str) -> Result<Node, Vec<SyntaxFault>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(errors.into_iter().map(|error| fault(&error)).collect());
    }
    let span = table.span();
    Ok(Node { span, value: table_value(table.into_inner()) })
}

fn fault(error: &toml::de::Error) -> SyntaxFault {
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    SyntaxFault { offset: error.span().map_or(0, |span| span.start), message }
}

fn table_value(table: DeTable<'_>) -> Value {
    let mut entries: Vec<_> = table
        .into_iter()
        .map(|(key, value)| {
            let (key_span, span) = (key.span(), value.span());
            let node = Node { span, value: value_of(value.into_inner()) };
            Entry { key: key.into_inner().into_owned(), key_span, node }
        })
        .collect();
    // The parser sorts by key; what depends on order depends on that of the file.
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
