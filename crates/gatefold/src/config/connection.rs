//! The parts of a connection that both kinds of files have, checked.

use gatefold_core::Secret;

use super::expand::Expanded;
use super::reader::{Field, Table};
use super::tree::Value;

/// The most variables, headers or arguments of one source.
pub(super) const ITEM_LIMIT: usize = 1024;

/// The address of an HTTP server.
pub(super) fn url(field: &Field<'_>) -> Option<String> {
    let Expanded { text, .. } = field.text()?;
    let problem = match text.parse::<http::Uri>() {
        _ if !field.is_put_in(&text) => return Some(text),
        Ok(uri) if !matches!(uri.scheme_str(), Some("http" | "https")) => "has no `http` scheme",
        Ok(uri) if uri.host().is_none_or(str::is_empty) => "has no host",
        Ok(_) => return Some(text),
        Err(_) => "is not an address",
    };
    field.fault(problem, "write the whole address, such as \"https://host.example/mcp\"");
    None
}

/// The headers that are sent to an HTTP server. Their values never show.
pub(super) fn headers(field: &Field<'_>) -> Vec<(String, Secret)> {
    let mut headers = Vec::new();
    for (name, field) in field.table().iter().flat_map(Table::fields) {
        // How clients' JSON says that there is none.
        if matches!(field.value(), Value::Null) {
            continue;
        }
        let Some(value) = field.loose_text() else {
            continue;
        };
        if http::HeaderName::try_from(name).is_err() {
            field.key_fault("is not the name of a header", "use letters, digits and `-`");
        } else if http::HeaderValue::try_from(value.text.as_str()).is_err() {
            field.fault(
                "has a value that no header may have",
                "check it, and the variables in it, for line breaks and other control characters",
            );
        } else {
            headers.push((name.to_owned(), Secret::new(value.text)));
        }
    }
    limited(field, headers)
}

/// The variables that a program finds. Their values never show.
pub(super) fn variables(field: &Field<'_>) -> Vec<(String, Secret)> {
    let mut variables = Vec::new();
    for (name, field) in field.table().iter().flat_map(Table::fields) {
        // How clients' JSON says that there is none.
        if matches!(field.value(), Value::Null) {
            continue;
        }
        let Some(value) = field.loose_text() else {
            continue;
        };
        if name.is_empty() || name.contains(['=', '\0']) {
            field.key_fault("is not the name of a variable", "use letters, digits and `_`");
        } else if value.text.contains('\0') {
            field.fault("contains a NUL character", "remove it");
        } else {
            variables.push((name.to_owned(), Secret::new(value.text)));
        }
    }
    limited(field, variables)
}

/// A program's arguments. Numbers and booleans are taken as their text.
pub(super) fn arguments(field: &Field<'_>) -> Vec<String> {
    let items = field.items().unwrap_or_default();
    let text = |item: &Field<'_>| {
        let text = item.loose_text()?.text;
        if text.contains('\0') {
            item.fault("contains a NUL character", "remove it");
            return None;
        }
        Some(text)
    };
    limited(field, items.iter().filter_map(text).collect())
}

/// The program to start.
pub(super) fn command(field: &Field<'_>) -> Option<String> {
    if matches!(field.value(), Value::List(_)) {
        field.fault("is a list, not a string", "name the program, and list the rest in `args`");
        return None;
    }
    let command = field.filled_text()?.text;
    if command.contains('\0') {
        field.fault("contains a NUL character", "remove it");
        return None;
    }
    Some(command)
}

fn limited<T>(field: &Field<'_>, items: Vec<T>) -> Vec<T> {
    if items.len() > ITEM_LIMIT {
        field.key_fault(format!("has more than {ITEM_LIMIT} entries"), "remove some");
    }
    items
}
