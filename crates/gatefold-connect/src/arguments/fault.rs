//! What is wrong with an argument, in words that mend the call.

use std::fmt::{Display, Write as _};

use gatefold_catalog::nearest_texts;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use serde_json::Value;

/// The longest value that is shown, in characters.
const MAX_SHOWN: usize = 60;

/// The most values of an enumeration that are listed.
const MAX_OPTIONS: usize = 20;

/// The most unknown arguments of one object that are named.
const MAX_NAMES: usize = 5;

/// How many alternatives within alternatives are followed.
const MAX_DEPTH: usize = 4;

/// One text for each argument at fault.
pub(super) fn described(
    error: &ValidationError<'_>,
    schema: &Value,
    arguments: &Value,
) -> Vec<String> {
    described_at(error, schema, arguments, 0)
}

fn described_at(
    error: &ValidationError<'_>,
    schema: &Value,
    arguments: &Value,
    depth: usize,
) -> Vec<String> {
    let place = error.instance_path();
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let known = known_names(error, schema);
            let names = unexpected.iter().take(MAX_NAMES);
            names.map(|name| unknown(&joined(place, name), name, &known)).collect()
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            alternatives(error, context, schema, arguments, depth)
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![format!("`{}` is missing", joined(place, name))]
        }
        kind => {
            // In an alternative the error holds no value, so it is looked up.
            let value = arguments.pointer(place.as_str()).unwrap_or(error.instance());
            vec![one(kind, &named(place), value, error)]
        }
    }
}

fn one(kind: &Kind, name: &str, value: &Value, error: &ValidationError<'_>) -> String {
    let is = || format!("{name} is {}", shown(value));
    let wanted = |what: &dyn Display| format!("{}, and {what} is wanted", is());
    match kind {
        Kind::Type { kind } => {
            let text = wanted(&types(kind));
            if value.is_null() { format!("{text}: leave it out instead") } else { text }
        }
        Kind::Enum { options } => wanted(&options_text(options, value)),
        Kind::Constant { expected_value } => wanted(&shown(expected_value)),
        Kind::Minimum { limit } => wanted(&format_args!("at least {limit}")),
        Kind::Maximum { limit } => wanted(&format_args!("at most {limit}")),
        Kind::ExclusiveMinimum { limit } => wanted(&format_args!("more than {limit}")),
        Kind::ExclusiveMaximum { limit } => wanted(&format_args!("less than {limit}")),
        Kind::MultipleOf { multiple_of } => wanted(&format_args!("a multiple of {multiple_of}")),
        Kind::MinLength { limit } => counts(name, value, "character", "at least", *limit),
        Kind::MaxLength { limit } => counts(name, value, "character", "at most", *limit),
        Kind::MinItems { limit } => counts(name, value, "item", "at least", *limit),
        Kind::MaxItems { limit } => counts(name, value, "item", "at most", *limit),
        Kind::AdditionalItems { limit } => counts(name, value, "item", "at most", *limit as u64),
        Kind::MinProperties { limit } => counts(name, value, "member", "at least", *limit),
        Kind::MaxProperties { limit } => counts(name, value, "member", "at most", *limit),
        Kind::Pattern { pattern } => {
            let pattern = cut(pattern);
            wanted(&format_args!("a text that matches `{pattern}`"))
        }
        Kind::Format { format } => wanted(&format_args!("a text of the format `{format}`")),
        Kind::UniqueItems => format!("{name} has an item twice"),
        Kind::Contains => format!("{name} lacks an item that it needs"),
        Kind::PropertyNames { error } => {
            let found = shown(error.instance());
            format!("{name} has the member {found}, which it may not")
        }
        Kind::Not { .. } => format!("{}, which it may not be", is()),
        Kind::FalseSchema => format!("{name} is not known here: leave it out"),
        _ => format!("{name} does not fit: {}", cut(&error.masked().to_string())),
    }
}

/// What the alternatives have in common, or what the nearest one wants.
fn alternatives(
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    schema: &Value,
    arguments: &Value,
    depth: usize,
) -> Vec<String> {
    let place = error.instance_path();
    let value = arguments.pointer(place.as_str()).unwrap_or(error.instance());
    let only_types: Option<Vec<_>> =
        context.iter().map(|errors| wrong_type(errors, place)).collect();
    if let Some(mut wanted) = only_types {
        wanted.dedup();
        let wanted = wanted.join(" or ");
        return vec![format!("{} is {}, and {wanted} is wanted", named(place), shown(value))];
    }
    // An alternative of another type was not meant, and then the one with the fewest faults was.
    let meant = context.iter().filter(|errors| wrong_type(errors, place).is_none());
    let Some(nearest) = meant.min_by_key(|errors| errors.len()).filter(|_| depth < MAX_DEPTH)
    else {
        return vec![format!("{} is {}, which fits no alternative", named(place), shown(value))];
    };
    let faults = nearest.iter().flat_map(|error| described_at(error, schema, arguments, depth + 1));
    faults.take(MAX_NAMES).collect()
}

/// The type that an alternative wants, if it wants another one than the value has.
fn wrong_type(errors: &[ValidationError<'static>], place: &Location) -> Option<String> {
    let is_here = |error: &&ValidationError<'static>| error.instance_path() == place;
    errors.iter().filter(is_here).find_map(|error| match error.kind() {
        Kind::Type { kind } => Some(types(kind)),
        _ => None,
    })
}

fn types(kind: &TypeKind) -> String {
    let types: Vec<_> = match kind {
        TypeKind::Single(one) => vec![one.to_string()],
        TypeKind::Multiple(several) => several.iter().map(|one| one.to_string()).collect(),
    };
    // `null` is the afterthought that it is in a description.
    let (nulls, others): (Vec<_>, Vec<_>) = types.into_iter().partition(|name| name == "null");
    let types: Vec<_> = others.into_iter().chain(nulls).collect();
    let with_article = |name: &String| match name.as_str() {
        "null" => "null".to_owned(),
        "array" => "a list".to_owned(),
        "string" => "a text".to_owned(),
        "integer" | "object" => format!("an {name}"),
        other => format!("a {other}"),
    };
    types.iter().map(with_article).collect::<Vec<_>>().join(" or ")
}

fn options_text(options: &Value, value: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = options.iter().filter_map(Value::as_str);
    let nearest = value.as_str().map(|text| nearest_texts(text, texts)).unwrap_or_default();
    let mut listed: Vec<_> = options.iter().take(MAX_OPTIONS).map(shown).collect();
    if options.len() > MAX_OPTIONS {
        listed.push(format!("{} more", options.len() - MAX_OPTIONS));
    }
    let list = listed.join(", ");
    match nearest.first() {
        Some(nearest) if options.len() > MAX_OPTIONS => {
            format!("one of {list} (the nearest is \"{nearest}\")")
        }
        _ if options.len() == 1 => list,
        _ => format!("one of {list}"),
    }
}

fn counts(name: &str, value: &Value, what: &str, bound: &str, limit: u64) -> String {
    let found = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    let plural = if found == 1 { "" } else { "s" };
    let verb = if limit == 1 { "is" } else { "are" };
    format!("{name} has {found} {what}{plural}, and {bound} {limit} {verb} wanted")
}

fn unknown(path: &str, name: &str, known: &[&str]) -> String {
    match (nearest_texts(name, known.iter().copied()).first(), known) {
        (Some(nearest), _) => format!("`{path}` is not known: did you mean `{nearest}`?"),
        (None, []) => format!("`{path}` is not known: leave it out"),
        (None, known) => {
            let listed: Vec<_> =
                known.iter().take(MAX_OPTIONS).map(|name| format!("`{name}`")).collect();
            format!("`{path}` is not known: there is {}", listed.join(", "))
        }
    }
}

/// The names beside the keyword that refused a member.
fn known_names<'s>(error: &ValidationError<'_>, schema: &'s Value) -> Vec<&'s str> {
    let keyword = error.schema_path().as_str();
    let object = keyword.rsplit_once('/').and_then(|(object, _)| schema.pointer(object));
    let properties = object.and_then(|object| object.get("properties")).and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// The place of an argument as one would write it: `filter.ids[0]`.
fn named(place: &Location) -> String {
    let path = written(place);
    if path.is_empty() { "what was given".to_owned() } else { format!("`{path}`") }
}

fn joined(place: &Location, name: &str) -> String {
    let path = written(place);
    if path.is_empty() { cut(name) } else { format!("{path}.{}", cut(name)) }
}

fn written(place: &Location) -> String {
    let mut path = String::new();
    for segment in place {
        match segment {
            LocationSegment::Index(index) => {
                write!(path, "[{index}]").expect("a String takes everything");
            }
            LocationSegment::Property(name) => {
                let dot = if path.is_empty() { "" } else { "." };
                path.push_str(dot);
                path.push_str(&cut(&name));
            }
        }
    }
    path
}

/// A value as JSON, short.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if text.chars().nth(MAX_SHOWN).is_some() => {
            format!("{}...", Value::String(text.chars().take(MAX_SHOWN).collect()))
        }
        Value::Array(items) if items.len() > MAX_SHOWN => format!("a list of {}", items.len()),
        Value::Object(members) if members.len() > MAX_SHOWN => {
            format!("an object of {} members", members.len())
        }
        value => cut(&value.to_string()),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
