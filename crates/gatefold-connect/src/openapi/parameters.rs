//! Parameters in the path, the query, headers and cookies.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::library::Node;
use super::schema::{Direction, Schemas};
use super::value::DocumentValue;
use crate::action::{ParameterPlace, ParameterSpec, SecurityScheme, Style};

/// Headers that OpenAPI describes elsewhere (3.1.1, section 4.8.12.1).
const DESCRIBED_ELSEWHERE: [&str; 3] = ["accept", "content-type", "authorization"];

/// Which fields a description has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edition {
    Swagger2,
    /// 3.0, 3.1 and 3.2.
    OpenApi3,
}

/// One parameter and its schema.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) spec: ParameterSpec,
    pub(super) is_required: bool,
    pub(super) schema: Value,
}

/// The parameters of an operation, its own before those of its path item, resolved. Those of Swagger 2 in
/// the body are among them.
pub(super) fn nodes<'a>(
    schemas: &mut Schemas<'a>,
    item: Node<'a>,
    operation: Node<'a>,
) -> Vec<Node<'a>> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for owner in [operation, item] {
        for node in owner.get("parameters").into_iter().flat_map(Node::items) {
            match schemas.library().resolve(node) {
                Ok(node) if !node.value.is_object() => {
                    schemas.note("a parameter that is no object was left out");
                }
                Ok(node) => {
                    if seen.insert((node.text("name"), node.text("in"))) {
                        all.push(node);
                    }
                }
                Err(why) => schemas.note(format!("a parameter was left out: {why}")),
            }
        }
    }
    all
}

/// The parameters that are no part of the body, with a name of its own for each argument, and the path as
/// it is sent.
pub(super) fn parameters<'a>(
    schemas: &mut Schemas<'a>,
    edition: Edition,
    nodes: &[Node<'a>],
    path: &str,
    credentials: &[SecurityScheme],
) -> (Vec<Parameter>, String) {
    let mut path = path.to_owned();
    let mut all = Vec::new();
    for node in nodes {
        let Some(name) = node.text("name").filter(|name| !name.is_empty()) else {
            schemas.note("a parameter without a name was left out");
            continue;
        };
        let Some(place) = place(*node) else {
            if !is_in_body(*node) {
                schemas.note(format!(
                    "parameter `{name}` was left out: it does not say where it goes"
                ));
            }
            continue;
        };
        if is_said_elsewhere(name, place, credentials) {
            continue;
        }
        let mut parameter = parameter(schemas, edition, *node, name, place);
        if place == ParameterPlace::Path && !fill(&mut path, &mut parameter.spec) {
            schemas.note(format!("parameter `{name}` was left out: the path has no place for it"));
            continue;
        }
        all.push(parameter);
    }
    for name in placeholders(&path) {
        let is_known =
            |one: &Parameter| one.spec.place == ParameterPlace::Path && one.spec.name == name;
        if !all.iter().any(is_known) {
            schemas.note(format!("the path's `{name}` is not described: it became a text"));
            all.push(undescribed(name));
        }
    }
    all.sort_by_key(|one| one.spec.place);
    name_arguments(&mut all);
    (all, path)
}

pub(super) fn is_in_body(node: Node<'_>) -> bool {
    matches!(node.text("in"), Some("body" | "formData"))
}

fn place(node: Node<'_>) -> Option<ParameterPlace> {
    Some(match node.text("in")?.to_ascii_lowercase().as_str() {
        "path" => ParameterPlace::Path,
        "query" => ParameterPlace::Query,
        "querystring" => ParameterPlace::QueryString,
        "header" => ParameterPlace::Header,
        "cookie" => ParameterPlace::Cookie,
        _ => return None,
    })
}

/// Whether a parameter is a credential, or a header that follows from the rest of the description.
fn is_said_elsewhere(name: &str, place: ParameterPlace, credentials: &[SecurityScheme]) -> bool {
    let is_header = place == ParameterPlace::Header;
    let is_key = |scheme: &SecurityScheme| match scheme {
        SecurityScheme::Key { place: key_place, name: key, .. } => {
            *key_place == place && (key == name || is_header && key.eq_ignore_ascii_case(name))
        }
        _ => false,
    };
    is_header && DESCRIBED_ELSEWHERE.iter().any(|known| known.eq_ignore_ascii_case(name))
        || credentials.iter().any(is_key)
}

fn parameter<'a>(
    schemas: &mut Schemas<'a>,
    edition: Edition,
    node: Node<'a>,
    name: &str,
    place: ParameterPlace,
) -> Parameter {
    let mut spec = ParameterSpec {
        name: name.to_owned(),
        argument: None,
        place,
        style: None,
        explode: None,
        allow_reserved: node.flag("allowReserved"),
        content: None,
        default: None,
    };
    let content = node.get("content").and_then(|content| content.members().next());
    let schema = match (edition, content) {
        (Edition::Swagger2, _) if node.get("schema").is_none() => Some(node),
        (_, Some((media_type, content))) => {
            spec.content = Some(media_type.to_owned());
            schemas.library().resolve(content).ok().and_then(|content| content.get("schema"))
        }
        _ => node.get("schema"),
    };
    let schema =
        schema.map_or_else(|| json!({}), |schema| schemas.translate(schema, Direction::Request));
    match edition {
        Edition::Swagger2 => (spec.style, spec.explode) = collection(node, place),
        Edition::OpenApi3 if spec.content.is_none() => style(node, &mut spec),
        Edition::OpenApi3 => {}
    }
    // A path has to be whole. A default fills its place only where the description does not ask for the value.
    if place == ParameterPlace::Path && !node.flag("required") {
        spec.default = schema.get("default").cloned();
    }
    let is_in_path = place == ParameterPlace::Path && spec.default.is_none();
    let is_required = is_in_path || node.flag("required");
    Parameter { schema: described(node, schema), spec, is_required }
}

/// The style and `explode`, where they differ from the defaults.
fn style(node: Node<'_>, spec: &mut ParameterSpec) {
    let style = node.value.get("style").map(DocumentValue::to_json);
    let style: Option<Style> = style.and_then(|style| serde_json::from_value(style).ok());
    spec.style = style.filter(|style| *style != spec.style());
    let explode = node.value.get("explode").and_then(DocumentValue::as_bool);
    spec.explode = explode.filter(|explode| *explode != spec.explode());
}

/// How Swagger 2 writes a list: with commas, unless it says otherwise.
pub(super) fn collection(node: Node<'_>, place: ParameterPlace) -> (Option<Style>, Option<bool>) {
    if node.text("type") != Some("array") {
        return (None, None);
    }
    let is_query = place == ParameterPlace::Query;
    match node.text("collectionFormat").unwrap_or("csv") {
        "ssv" => (Some(Style::SpaceDelimited), None),
        "tsv" => (Some(Style::TabDelimited), None),
        "pipes" => (Some(Style::PipeDelimited), None),
        "multi" => (None, None),
        _ if is_query => (None, Some(false)),
        _ => (None, None),
    }
}

/// The schema with what the parameter says of itself: it comes before what its schema says.
pub(super) fn described(node: Node<'_>, schema: Value) -> Value {
    let Value::Object(mut members) = schema else { return schema };
    if let Some(description) = node.text("description").filter(|text| !text.trim().is_empty()) {
        members.insert("description".to_owned(), description.into());
    }
    if node.flag("deprecated") {
        members.insert("deprecated".to_owned(), true.into());
    }
    if !members.contains_key("examples") {
        examples(node, &mut members);
    }
    Value::Object(members)
}

fn examples(node: Node<'_>, members: &mut Map<String, Value>) {
    const LIMIT: usize = 512;
    let named = node.get("examples").into_iter().flat_map(Node::members);
    let named = named.filter_map(|(_, example)| example.value.get("value"));
    let all = node.value.get("example").into_iter().chain(named);
    let kept: Vec<&DocumentValue> =
        all.filter(|one| !one.is_null() && one.to_string().len() <= LIMIT).take(3).collect();
    if !kept.is_empty() {
        members.insert("examples".to_owned(), json!(kept));
    }
}

fn undescribed(name: &str) -> Parameter {
    let spec = ParameterSpec {
        name: name.to_owned(),
        argument: None,
        place: ParameterPlace::Path,
        style: None,
        explode: None,
        allow_reserved: false,
        content: None,
        default: None,
    };
    Parameter { spec, is_required: true, schema: json!({ "type": "string" }) }
}

/// The names between braces.
pub(super) fn placeholders(path: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let mut rest = path;
    while let Some((_, from)) = rest.split_once('{') {
        let Some((name, behind)) = from.split_once('}') else { break };
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
        rest = behind;
    }
    names
}

/// Whether the path has a place for a parameter. Some write it as in RFC 6570, `{+name}` or `{name*}`.
fn fill(path: &mut String, spec: &mut ParameterSpec) -> bool {
    let names = placeholders(path);
    if names.contains(&spec.name.as_str()) {
        return true;
    }
    let bare = |name: &&&str| name.trim_start_matches('+').trim_end_matches('*') == spec.name;
    let Some(name) = names.iter().find(bare) else { return false };
    let (from, to) = (format!("{{{name}}}"), format!("{{{}}}", spec.name));
    spec.allow_reserved |= name.starts_with('+');
    *path = path.replace(&from, &to);
    true
}

/// The first of equal names keeps it, the others say their place.
fn name_arguments(all: &mut [Parameter]) {
    let mut taken: HashSet<String> = HashSet::new();
    for parameter in all {
        let spec = &mut parameter.spec;
        let place = match spec.place {
            ParameterPlace::Path => "path",
            ParameterPlace::Query => "query",
            ParameterPlace::QueryString => "querystring",
            ParameterPlace::Header => "header",
            ParameterPlace::Cookie => "cookie",
        };
        let name =
            free_name(&spec.name, &format!("{place}_{}", spec.name), |name| taken.contains(name));
        taken.insert(name.clone());
        spec.argument = (name != spec.name).then_some(name);
    }
}

/// The first name that is not taken: one, another, or the other with a number.
pub(super) fn free_name(first: &str, second: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(first) {
        return first.to_owned();
    }
    let numbered = (2..).map(|number| format!("{second}_{number}"));
    let mut names = std::iter::once(second.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}
