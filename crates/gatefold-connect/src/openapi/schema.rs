//! Schemas of every dialect as JSON Schema 2020-12, written for one tool at a time.
//!
//! A schema that others refer to is translated once a description and kept as text, because most are used by
//! many operations.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::library::{Library, Node, Place};
use super::value::{DocumentValue, Members};

mod assembly;
mod enumeration;
mod keyword;
mod piece;
mod pruning;

use assembly::Assembly;
use keyword::Keyword;
use piece::Piece;

/// How deep the schemas of one document may nest in one another, without references.
const SCHEMA_DEPTH: usize = 40;
/// The longest name in `$defs`, without a suffix.
const NAME_LIMIT: usize = 48;
/// The longest text of names that a description repeats from a `discriminator`.
const MAPPING_LIMIT: usize = 200;
/// The largest example that is kept, in bytes.
const EXAMPLE_LIMIT: usize = 512;
/// How many levels of a schema are left where it is too large.
const PRUNED_DEPTH: usize = 6;
/// How many schemas `allOf` may lead through to find what cannot be sent.
const COMPOSITION_DEPTH: usize = 8;

/// Which way values of a schema travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    /// Read-only members are left out.
    Request,
    /// Write-only members are left out.
    Answer,
}

/// What a schema's `$ref` may have beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Siblings {
    /// They count, as in JSON Schema 2020-12.
    Count,
    /// Only what says something to people, and `nullable`.
    Annotate,
}

/// A schema that others refer to.
struct Component {
    place: Place,
    name: String,
    pieces: [Option<Rc<Piece>>; 2],
}

/// The translator of one description's schemas.
pub(super) struct Schemas<'a> {
    library: &'a Library,
    siblings: Siblings,
    components: Vec<Component>,
    by_place: HashMap<Place, usize>,
    by_name: HashMap<String, usize>,
    patterns: HashMap<String, bool>,
    notes: Vec<String>,
}

impl<'a> Schemas<'a> {
    pub(super) fn new(library: &'a Library, siblings: Siblings) -> Self {
        Self {
            library,
            siblings,
            components: Vec::new(),
            by_place: HashMap::new(),
            by_name: HashMap::new(),
            patterns: HashMap::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn library(&self) -> &'a Library {
        self.library
    }

    /// What was changed since the last call.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// A schema in 2020-12. What it refers to stands as `#/$defs/NAME` until it is written.
    pub(super) fn translate(&mut self, node: Node<'a>, direction: Direction) -> Value {
        self.schema(node, direction, 0)
    }

    /// The text of a translated schema with all that it refers to, as far as the budget reaches: beyond it,
    /// what is referred to from the deepest becomes `{}`.
    pub(super) fn write(&mut self, schema: &Value, direction: Direction, budget: usize) -> String {
        let root = Piece::of(schema, &self.by_name);
        let assembly = Assembly::of(&root, budget, |id| self.piece(id, direction));
        if assembly.has_cuts() {
            self.note("what its schema refers to was cut, because it is too large");
        }
        assembly.text(&root, &|id| self.components[id].name.as_str())
    }

    /// The text of a translated schema, never longer than the limit: first what is referred to is left out,
    /// the deepest first, then its own deepest parts.
    pub(super) fn write_within(
        &mut self,
        schema: &Value,
        direction: Direction,
        limit: usize,
    ) -> String {
        // Names in `$defs` and references to them take room as well.
        let budget = limit - limit / 4;
        let text = self.write(schema, direction, budget);
        if text.len() <= limit {
            return text;
        }
        let depths = (0..=PRUNED_DEPTH).rev();
        let mut texts =
            depths.map(|depth| self.write(&pruning::pruned(schema, depth), direction, budget));
        texts.find(|text| text.len() <= limit).unwrap_or_else(|| r#"{"type":"object"}"#.to_owned())
    }

    /// Whether values of this schema never travel this way.
    pub(super) fn is_left_out(&self, node: Node<'a>, direction: Direction) -> bool {
        let flag = match direction {
            Direction::Request => "readOnly",
            Direction::Answer => "writeOnly",
        };
        node.flag(flag) || self.library.resolve(node).is_ok_and(|node| node.flag(flag))
    }

    fn piece(&mut self, id: usize, direction: Direction) -> Rc<Piece> {
        let slot = direction as usize;
        if let Some(piece) = &self.components[id].pieces[slot] {
            return Rc::clone(piece);
        }
        let library = self.library;
        let schema = match library.node(&self.components[id].place) {
            Some(node) => self.schema(node, direction, 0),
            None => json!({}),
        };
        let piece = Rc::new(Piece::of(&schema, &self.by_name));
        self.components[id].pieces[slot] = Some(Rc::clone(&piece));
        piece
    }

    fn schema(&mut self, node: Node<'a>, direction: Direction, depth: usize) -> Value {
        let members = match node.value {
            DocumentValue::Object(members) => members,
            DocumentValue::Bool(false) => return Value::Bool(false),
            DocumentValue::Bool(true) => return json!({}),
            _ => {
                self.note("a schema that is no object was dropped");
                return json!({});
            }
        };
        if depth > SCHEMA_DEPTH {
            self.note(format!("schemas nest deeper than {SCHEMA_DEPTH} levels"));
            return json!({});
        }
        if let Some(reference) = node.text("$ref").or(node.text("$dynamicRef")) {
            return self.reference(node, reference, direction, depth);
        }
        let mut out = Map::new();
        for (key, value) in members.iter() {
            if let Some(keyword) = Keyword::of(key) {
                self.keyword(key, keyword, node.at(value), direction, depth, &mut out);
            }
        }
        self.finish(node, direction, out)
    }

    /// What several keywords say together.
    fn finish(
        &mut self,
        node: Node<'a>,
        direction: Direction,
        mut out: Map<String, Value>,
    ) -> Value {
        exclusive_bounds(node, &mut out);
        self.required(node, direction, &mut out);
        enumeration::fit(&mut out);
        if let Some(example) = node.value.get("example")
            && !out.contains_key("examples")
            && is_short(&example.to_json())
        {
            out.insert("examples".to_owned(), json!([example]));
        }
        mapping(node, &mut out);
        if is_nullable(node) { nullable(out) } else { Value::Object(out) }
    }

    fn reference(
        &mut self,
        node: Node<'a>,
        reference: &str,
        direction: Direction,
        depth: usize,
    ) -> Value {
        let target = match self.component(node, reference) {
            Ok(name) => json!({ "$ref": format!("#/$defs/{name}") }),
            Err(why) => {
                self.note(why);
                json!({})
            }
        };
        let Value::Object(mut out) = target else { return target };
        for (key, value) in node.value.as_object().into_iter().flat_map(Members::iter) {
            let keyword = Keyword::of(key);
            let counts = self.siblings == Siblings::Count || keyword == Some(Keyword::Annotation);
            if let Some(keyword) = keyword.filter(|_| counts) {
                self.keyword(key, keyword, node.at(value), direction, depth, &mut out);
            }
        }
        match self.siblings {
            Siblings::Count => self.finish(node, direction, out),
            Siblings::Annotate if is_nullable(node) => nullable(out),
            Siblings::Annotate => Value::Object(out),
        }
    }

    /// The name in `$defs` of what a reference leads to in the end.
    fn component(&mut self, node: Node<'a>, reference: &str) -> Result<String, String> {
        let library = self.library;
        let mut place = library.place(node.document, reference)?;
        // A component that is only a reference would be one more step for every reader.
        for _ in 0..COMPOSITION_DEPTH {
            let Some(target) = library.node(&place) else {
                return Err(format!(
                    "`{}` leads nowhere",
                    gatefold_catalog::one_line(reference, 200)
                ));
            };
            match target.value.as_object() {
                Some(members) if members.len() == 1 => match target.text("$ref") {
                    Some(next) => place = library.place(target.document, next)?,
                    None => break,
                },
                _ => break,
            }
        }
        if let Some(id) = self.by_place.get(&place) {
            return Ok(self.components[*id].name.clone());
        }
        let name = self.free_name(&place);
        let id = self.components.len();
        self.by_place.insert(place.clone(), id);
        self.by_name.insert(name.clone(), id);
        self.components.push(Component { place, name: name.clone(), pieces: [None, None] });
        Ok(name)
    }

    fn free_name(&self, place: &Place) -> String {
        let last = place.pointer.rsplit('/').next().unwrap_or_default();
        let legal = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' };
        let name: String = last.chars().map(legal).take(NAME_LIMIT).collect();
        let name = if name.is_empty() { "schema".to_owned() } else { name };
        let mut salt = format!("{}\0{}", place.document, place.pointer);
        let mut free = name.clone();
        while self.by_name.contains_key(&free) {
            let digest = gatefold_core::Digest::new(Sha256::digest(&salt).into()).short();
            free = format!("{name}_{digest}");
            salt.push('\0');
        }
        free
    }

    /// `required` as a list of members that exist for this direction. Draft 3 put it into the members.
    fn required(&mut self, node: Node<'a>, direction: Direction, out: &mut Map<String, Value>) {
        let mut names: Vec<String> = Vec::new();
        let listed = node.get("required").into_iter().flat_map(Node::items);
        names.extend(listed.filter_map(|name| name.value.as_str().map(str::to_owned)));
        let members = node.get("properties").into_iter().flat_map(Node::members);
        names.extend(
            members.filter(|(_, member)| member.flag("required")).map(|(name, _)| name.to_owned()),
        );
        let mut seen = self.left_out_members(node, direction, COMPOSITION_DEPTH);
        if let Some(Value::Array(parts)) = out.get_mut("allOf") {
            for part in parts {
                without_required(part, &seen);
            }
        }
        names.retain(|name| seen.insert(name.clone()));
        out.remove("required");
        if !names.is_empty() {
            out.insert("required".to_owned(), json!(names));
        }
    }

    /// The members that never travel this way, also those that `allOf` brings in.
    fn left_out_members(
        &self,
        node: Node<'a>,
        direction: Direction,
        depth: usize,
    ) -> HashSet<String> {
        let members = node.get("properties").into_iter().flat_map(Node::members);
        let left_out = members.filter(|(_, member)| self.is_left_out(*member, direction));
        let mut names: HashSet<String> = left_out.map(|(name, _)| name.to_owned()).collect();
        if let Some(depth) = depth.checked_sub(1) {
            let parts = node.get("allOf").into_iter().flat_map(Node::items);
            for part in parts.filter_map(|part| self.library.resolve(part).ok()) {
                names.extend(self.left_out_members(part, direction, depth));
            }
        }
        names
    }
}

/// Tells which member says what a value is, and what it may say.
fn mapping(node: Node<'_>, out: &mut Map<String, Value>) {
    let Some(discriminator) = node.get("discriminator") else { return };
    let Some(property) = discriminator.text("propertyName") else { return };
    let names = discriminator.get("mapping").into_iter().flat_map(Node::members);
    let names: Vec<String> = names.map(|(name, _)| format!("`{name}`")).collect();
    let told = format!("`{property}` says which one it is: {}.", names.join(", "));
    if names.is_empty() || told.len() > MAPPING_LIMIT {
        return;
    }
    let description = match out.get("description").and_then(Value::as_str) {
        Some(text) => format!("{}\n{told}", text.trim_end()),
        None => told,
    };
    out.insert("description".to_owned(), description.into());
}

fn without_required(part: &mut Value, names: &HashSet<String>) {
    let Some(members) = part.as_object_mut() else { return };
    if let Some(Value::Array(required)) = members.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !names.contains(name)));
        if required.is_empty() {
            members.remove("required");
        }
    }
}

fn is_nullable(node: Node<'_>) -> bool {
    node.flag("nullable") || node.flag("x-nullable")
}

fn is_short(example: &Value) -> bool {
    match example {
        Value::Null => false,
        Value::String(text) => text.len() <= EXAMPLE_LIMIT,
        Value::Array(_) | Value::Object(_) => example.to_string().len() <= EXAMPLE_LIMIT,
        _ => true,
    }
}

/// Draft 4 says whether `minimum` itself is excluded, 2020-12 has a number of its own.
fn exclusive_bounds(node: Node<'_>, out: &mut Map<String, Value>) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if node.flag(exclusive)
            && let Some(value) = out.remove(bound)
        {
            out.insert(exclusive.to_owned(), value);
        }
    }
}

/// The same schema that also takes null.
fn nullable(mut out: Map<String, Value>) -> Value {
    if let Some(values) = out.get_mut("enum").and_then(Value::as_array_mut)
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    if let Some(value) = out.remove("const") {
        out.insert("enum".to_owned(), json!([value, null]));
    }
    match out.get("type") {
        Some(Value::String(one)) if one != "null" => {
            let both = json!([one, "null"]);
            out.insert("type".to_owned(), both);
        }
        Some(Value::Array(list)) if !list.contains(&"null".into()) => {
            let mut list = list.clone();
            list.push("null".into());
            out.insert("type".to_owned(), list.into());
        }
        _ => {}
    }
    let composed = ["$ref", "allOf", "anyOf", "oneOf", "not"];
    if !composed.iter().any(|key| out.contains_key(*key)) {
        return Value::Object(out);
    }
    // What people read stays outside.
    let outside = ["title", "description", "default", "examples", "deprecated"];
    let mut whole = Map::new();
    for key in outside {
        if let Some(value) = out.shift_remove(key) {
            whole.insert(key.to_owned(), value);
        }
    }
    whole.insert("anyOf".to_owned(), json!([out, { "type": "null" }]));
    Value::Object(whole)
}

#[cfg(test)]
mod tests;
