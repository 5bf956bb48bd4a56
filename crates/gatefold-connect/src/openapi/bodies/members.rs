//! The members of a body that is a plain object.

use std::collections::HashSet;

use super::super::library::Node;
use super::super::schema::{Direction, Schemas};

/// How deep `allOf` may nest.
const COMPOSITION_DEPTH: usize = 8;

/// What makes an object more than its members.
const NOT_PLAIN: [&str; 11] = [
    "oneOf",
    "anyOf",
    "not",
    "if",
    "patternProperties",
    "propertyNames",
    "dependencies",
    "dependentSchemas",
    "dependentRequired",
    "unevaluatedProperties",
    "$dynamicRef",
];

/// One member of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    pub(super) node: Node<'a>,
    pub(super) is_required: bool,
}

/// The members that are sent, if a schema says nothing but what members there are. The parts of an `allOf`
/// are merged.
pub(super) fn members<'a>(schemas: &Schemas<'a>, schema: Node<'a>) -> Option<Vec<Member<'a>>> {
    let mut object = PlainObject::default();
    object.take(schemas, schema, COMPOSITION_DEPTH)?;
    let PlainObject { members, required } = object;
    let known: HashSet<&str> = members.iter().map(|(name, _)| *name).collect();
    if required.iter().any(|name| !known.contains(name)) {
        return None;
    }
    let sent =
        members.into_iter().filter(|(_, node)| !schemas.is_left_out(*node, Direction::Request));
    let member = |(name, node): (&'a str, Node<'a>)| Member {
        name,
        node,
        is_required: required.contains(name) || node.flag("required"),
    };
    Some(sent.map(member).collect())
}

#[derive(Default)]
struct PlainObject<'a> {
    members: Vec<(&'a str, Node<'a>)>,
    required: HashSet<&'a str>,
}

impl<'a> PlainObject<'a> {
    /// Nothing if the schema is no plain object.
    fn take(&mut self, schemas: &Schemas<'a>, schema: Node<'a>, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let schema = schemas.library().resolve(schema).ok()?;
        let members = schema.value.as_object()?;
        let is_object = schema.get("type").is_none() || schema.text("type") == Some("object");
        let is_open =
            members.get("additionalProperties").is_some_and(|more| more.as_bool() != Some(false));
        if !is_object || is_open || NOT_PLAIN.iter().any(|key| members.contains_key(key)) {
            return None;
        }
        for part in schema.get("allOf").into_iter().flat_map(Node::items) {
            self.take(schemas, part, depth)?;
        }
        for (name, node) in schema.get("properties").into_iter().flat_map(Node::members) {
            match self.members.iter().find(|(known, _)| *known == name) {
                Some((_, known)) if known.value != node.value => return None,
                Some(_) => {}
                None => self.members.push((name, node)),
            }
        }
        let required = schema.get("required").into_iter().flat_map(Node::items);
        self.required.extend(required.filter_map(|name| name.value.as_str()));
        Some(())
    }
}
