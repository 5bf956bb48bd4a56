//! Bodies written by hand: JSON in which `{name}` stands for an argument.

use serde_json::{Map, Value};

use super::values::text;

/// The template with the arguments filled in. None where an argument is missing that all of it needs.
///
/// It goes as deep as the template, which serde_json limits to 128 levels.
pub(super) fn filled(template: &Value, arguments: &Map<String, Value>) -> Option<Value> {
    match template {
        Value::String(template) => filled_text(template, arguments),
        Value::Array(items) => {
            Some(Value::Array(items.iter().filter_map(|item| filled(item, arguments)).collect()))
        }
        Value::Object(members) => {
            let filled =
                |(name, value): (&String, &Value)| Some((name.clone(), filled(value, arguments)?));
            Some(Value::Object(members.iter().filter_map(filled).collect()))
        }
        fixed => Some(fixed.clone()),
    }
}

fn filled_text(template: &str, arguments: &Map<String, Value>) -> Option<Value> {
    if let Some(("", name, "")) = next_placeholder(template) {
        return arguments.get(name).cloned();
    }
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, name, after)) = next_placeholder(rest) {
        out.push_str(&before.replace("{{", "{"));
        out.push_str(&text(arguments.get(name)?).unwrap_or_default());
        rest = after;
    }
    out.push_str(&rest.replace("{{", "{"));
    Some(Value::String(out))
}

/// The text before the next `{name}`, the name, and the text after it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(found) = text[from..].find('{') {
        let open = from + found;
        let inner = &text[open + 1..];
        if inner.starts_with('{') {
            from = open + 2;
            continue;
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
        let end = inner.find(|c| !is_part(c)).unwrap_or(inner.len());
        if end > 0 && inner[end..].starts_with('}') {
            return Some((&text[..open], &inner[..end], &inner[end + 1..]));
        }
        from = open + 1;
    }
    None
}
