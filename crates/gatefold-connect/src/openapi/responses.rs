//! What an operation answers: media types, the schema of a good answer, what failures mean.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use gatefold_catalog::one_line;
use serde_json::{Value, json};

use super::bodies::MediaKind;
use super::library::{Library, Node};
use super::schema::{Direction, Schemas};
use super::value::DocumentValue;
use crate::action::ResultShape;

/// How many media types an operation asks for.
const ACCEPT_LIMIT: usize = 8;
/// How many failures are explained, and in how many characters each.
const FAILURES_LIMIT: usize = 32;
const FAILURE_LENGTH: usize = 200;
/// How deep `allOf` and references may lead to find out whether an answer is an object.
const COMPOSITION_DEPTH: usize = 8;

/// What is known about answers.
#[derive(Debug, Default)]
pub(super) struct Responses {
    pub(super) accept: Vec<String>,
    pub(super) failures: BTreeMap<String, String>,
    pub(super) output_schema: Option<Arc<str>>,
    pub(super) shape: ResultShape,
}

pub(super) fn read<'a>(
    schemas: &mut Schemas<'a>,
    operation: Node<'a>,
    produces: Option<Node<'a>>,
    outputs: &mut Outputs,
) -> Responses {
    let library = schemas.library();
    let all = responses(library, operation);
    let mut read = Responses {
        accept: accept(library, &all, produces),
        failures: failures(&all),
        ..Responses::default()
    };
    if let Some(schema) = good_answer(library, &all, produces)
        && let Some((text, shape)) = outputs.text(schemas, schema)
    {
        (read.output_schema, read.shape) = (Some(text), shape);
    }
    read
}

fn responses<'a>(library: &'a Library, operation: Node<'a>) -> Vec<(&'a str, Node<'a>)> {
    let all = operation.get("responses").into_iter().flat_map(Node::members);
    let all = all.filter(|(status, _)| !status.starts_with("x-"));
    all.filter_map(|(status, node)| Some((status, library.resolve(node).ok()?))).collect()
}

fn accept<'a>(
    library: &'a Library,
    all: &[(&str, Node<'a>)],
    produces: Option<Node<'a>>,
) -> Vec<String> {
    let mut types: Vec<&str> =
        produces.into_iter().flat_map(Node::items).filter_map(|one| one.value.as_str()).collect();
    let good_first = all.iter().filter(|(status, _)| is_good(status));
    for (_, node) in good_first.chain(all.iter().filter(|(status, _)| !is_good(status))) {
        types.extend(content(library, *node).map(|(media_type, _)| media_type));
    }
    types.retain(|one| one.contains('/') && one.chars().all(|c| c.is_ascii_graphic() || c == ' '));
    types.sort_by_key(|one| MediaKind::of(one) != MediaKind::Json);
    let mut kept: Vec<String> = Vec::new();
    for one in types {
        if kept.len() < ACCEPT_LIMIT && !kept.iter().any(|known| known == one) {
            kept.push(one.to_owned());
        }
    }
    kept
}

fn failures(all: &[(&str, Node<'_>)]) -> BTreeMap<String, String> {
    let failed = all.iter().filter(|(status, _)| {
        *status == "default" || status.starts_with('4') || status.starts_with('5')
    });
    let said = failed.filter_map(|(status, node)| {
        let text = one_line(node.text("description")?, FAILURE_LENGTH);
        (!text.is_empty())
            .then(|| (status.to_ascii_uppercase().replace("DEFAULT", "default"), text))
    });
    said.take(FAILURES_LIMIT).collect()
}

fn is_good(status: &str) -> bool {
    status.starts_with('2')
}

fn content<'a>(
    library: &'a Library,
    response: Node<'a>,
) -> impl Iterator<Item = (&'a str, Node<'a>)> {
    let content = response.get("content").into_iter().flat_map(Node::members);
    content.filter_map(|(media_type, node)| Some((media_type, library.resolve(node).ok()?)))
}

/// The schema of the first good answer that is JSON.
fn good_answer<'a>(
    library: &'a Library,
    all: &[(&str, Node<'a>)],
    produces: Option<Node<'a>>,
) -> Option<Node<'a>> {
    let mut good: Vec<_> = all.iter().filter(|(status, _)| is_good(status)).collect();
    good.sort_by_key(|(status, _)| *status);
    let mut types = produces.into_iter().flat_map(Node::items).filter_map(|one| one.value.as_str());
    let is_json = |media_type: &str| MediaKind::of(media_type) == MediaKind::Json;
    let gives_json = produces.is_none() || types.any(is_json);
    good.into_iter().find_map(|(_, response)| {
        let of_swagger = response.get("schema").filter(|_| gives_json);
        let of_content = || content(library, *response).find(|(media_type, _)| is_json(media_type));
        of_swagger.or_else(|| of_content().and_then(|(_, content)| content.get("schema")))
    })
}

/// Output schemas that have been written and are still wanted, by where the schema that they refer to lies: many
/// operations answer with the same one.
#[derive(Debug)]
pub(super) struct Outputs {
    limit: usize,
    /// How many operations are still to come with a schema.
    wanted: HashMap<*const DocumentValue, usize>,
    written: HashMap<*const DocumentValue, (Arc<str>, ResultShape)>,
}

impl Outputs {
    /// None is longer than the limit, in bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, wanted: HashMap::new(), written: HashMap::new() }
    }

    /// Counts what an operation answers with.
    pub(super) fn expect<'a>(
        &mut self,
        library: &'a Library,
        operation: Node<'a>,
        produces: Option<Node<'a>>,
    ) {
        let node = good_answer(library, &responses(library, operation), produces);
        if let Some(whole) = node.and_then(|node| library.resolve(node).ok()) {
            *self.wanted.entry(whole.value).or_default() += 1;
        }
    }

    /// Whether more operations come with this schema than the one that asks.
    fn is_wanted_again(&mut self, key: *const DocumentValue) -> bool {
        let wanted = self.wanted.get_mut(&key);
        wanted.is_some_and(|wanted| {
            *wanted = wanted.saturating_sub(1);
            *wanted > 0
        })
    }

    /// The text of an output schema, if the description says what kind of value an answer is.
    fn text<'a>(
        &mut self,
        schemas: &mut Schemas<'a>,
        node: Node<'a>,
    ) -> Option<(Arc<str>, ResultShape)> {
        let whole = schemas.library().resolve(node).ok()?;
        let key = std::ptr::from_ref(whole.value);
        let is_wanted_again = self.is_wanted_again(key);
        if let Some(known) = self.written.get(&key) {
            let known = known.clone();
            if !is_wanted_again {
                self.written.remove(&key);
            }
            return Some(known);
        }
        let is_object = is_object(schemas.library(), node, COMPOSITION_DEPTH)?;
        let shape = if is_object { ResultShape::Plain } else { ResultShape::Wrapped };
        let before = schemas.take_notes();
        let schema = match shape {
            ResultShape::Plain => object(schemas.translate(whole, Direction::Answer)),
            ResultShape::Wrapped => {
                let schema = schemas.translate(node, Direction::Answer);
                json!({ "type": "object", "properties": { "result": schema }, "required": ["result"] })
            }
        };
        let text = Arc::<str>::from(schemas.write_within(&schema, Direction::Answer, self.limit));
        // What an answer's schema lost costs no call anything.
        schemas.take_notes();
        for note in before {
            schemas.note(note);
        }
        if is_wanted_again && node.get("$ref").is_some() {
            self.written.insert(key, (text.clone(), shape));
        }
        Some((text, shape))
    }
}

/// The protocol wants `type` to be `object` at the root of an output schema.
fn object(schema: Value) -> Value {
    let mut members = serde_json::Map::from_iter([("type".to_owned(), Value::from("object"))]);
    if let Value::Object(all) = schema {
        members.extend(all.into_iter().filter(|(key, _)| key != "type"));
    }
    Value::Object(members)
}

/// Whether all values of a schema are objects, or none needs to be. Nothing where the schema does not say.
fn is_object<'a>(library: &'a Library, node: Node<'a>, depth: usize) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    let node = library.resolve(node).ok()?;
    if node.flag("nullable") || node.flag("x-nullable") {
        return Some(false);
    }
    match node.value.get("type") {
        Some(DocumentValue::String(one)) => return Some(**one == *"object"),
        Some(DocumentValue::Array(list)) => {
            return Some(list.len() == 1 && list[0].as_str() == Some("object"));
        }
        _ => {}
    }
    let has = |key: &str| node.value.get(key).is_some_and(DocumentValue::is_object);
    if has("properties") || has("additionalProperties") {
        return Some(true);
    }
    if let Some(parts) = node.get("allOf") {
        let known: Vec<bool> =
            parts.items().filter_map(|part| is_object(library, part, depth)).collect();
        return (!known.is_empty()).then(|| known.iter().any(|known| *known));
    }
    let choices = node.get("oneOf").or_else(|| node.get("anyOf"))?;
    let mut known = choices.items().map(|choice| is_object(library, choice, depth) == Some(true));
    Some(known.all(|is_object| is_object))
}
