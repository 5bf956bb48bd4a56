//! Schemas whose parts are not of the kind that they must be. Programs that do not tell maps from
//! lists write an empty map as `[]`, and others write `null` for what they leave out.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::NOTED;
use crate::one_line;
use crate::schema_keywords::{is_schema, lists_schemas, maps_names};

/// Members where `null` is a value like any other.
const FREE: [&str; 4] = ["default", "const", "example", "examples"];

/// How many repaired places are named.
const NAMED: usize = 3;

/// A schema with maps where maps belong, and without the members that are `null`, as the text and what
/// was repaired. `None` if there is nothing to repair, or if it is nested too deeply to be read.
pub(super) fn repair(member: &str, schema: &str) -> Option<(String, String)> {
    let mut value = serde_json::from_str::<Value>(schema).ok()?;
    let mut repairs = Repairs { path: vec![member.to_owned()], named: Vec::new(), count: 0 };
    repairs.schema(&mut value);
    let Repairs { named, count, .. } = repairs;
    let mut note = named.join(", ");
    if count > named.len() {
        let _ = write!(note, ", and {} more", count - named.len());
    }
    note.push_str(" was not of the right kind");
    (count > 0).then(|| (value.to_string(), note))
}

struct Repairs {
    /// Where the walk is.
    path: Vec<String>,
    /// The first places that were repaired.
    named: Vec<String>,
    /// How many there were.
    count: usize,
}

impl Repairs {
    fn note(&mut self) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(format!("`{}`", one_line(&self.path.join("/"), NOTED)));
        }
    }

    fn within(&mut self, key: &str, repair: impl FnOnce(&mut Self)) {
        self.path.push(key.to_owned());
        repair(self);
        self.path.pop();
    }

    fn schema(&mut self, schema: &mut Value) {
        let Value::Object(members) = schema else { return };
        self.drop_members(members);
        for (key, value) in members.iter_mut() {
            let key = key.as_str();
            self.within(key, |own| {
                if maps_names(key) {
                    own.map(key, value);
                } else if is_schema(key) {
                    own.part(value);
                } else if lists_schemas(key) {
                    own.list(value);
                } else if key == "dependentRequired" && !value.is_object() {
                    own.replace(value, json!({}));
                } else if key == "required" {
                    own.required(value);
                }
            });
        }
    }

    /// Drops what says nothing: an empty list of choices cannot be met, and was not meant to be.
    fn drop_members(&mut self, members: &mut Map<String, Value>) {
        let is_void = |key: &str, value: &Value| match value {
            Value::Null => !FREE.contains(&key),
            Value::Array(items) => items.is_empty() && (lists_schemas(key) || key == "enum"),
            _ => key == "required" || lists_schemas(key),
        };
        members.retain(|key, value| {
            let stays = !is_void(key, value);
            if !stays {
                self.within(key, Self::note);
            }
            stays
        });
    }

    fn replace(&mut self, value: &mut Value, by: Value) {
        *value = by;
        self.note();
    }

    /// A map of names to schemas. Clients that check refuse a property that is `true`, which means
    /// the same as an empty schema.
    fn map(&mut self, key: &str, value: &mut Value) {
        let Value::Object(parts) = value else { return self.replace(value, json!({})) };
        for (name, part) in parts {
            // The older drafts' `dependencies` may be lists of names.
            let is_names = key == "dependencies" && part.as_array().is_some_and(|n| !n.is_empty());
            self.within(name, |own| match part {
                _ if is_names => {}
                Value::Bool(true) if key == "properties" => own.replace(part, json!({})),
                Value::Bool(false) if key == "properties" => own.replace(part, json!({"not": {}})),
                _ => own.part(part),
            });
        }
    }

    fn part(&mut self, value: &mut Value) {
        match value {
            Value::Object(_) => self.schema(value),
            Value::Bool(_) => {}
            // The older drafts' `items` may be a list of schemas.
            Value::Array(parts) if !parts.is_empty() => self.list(value),
            _ => self.replace(value, json!({})),
        }
    }

    fn list(&mut self, value: &mut Value) {
        for (at, part) in value.as_array_mut().into_iter().flatten().enumerate() {
            self.within(&at.to_string(), |own| own.part(part));
        }
    }

    fn required(&mut self, value: &mut Value) {
        if let Value::Array(names) = value
            && !names.iter().all(Value::is_string)
        {
            names.retain(Value::is_string);
            self.note();
        }
    }
}
