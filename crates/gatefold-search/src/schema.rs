//! The searched texts of a tool's input schema.

use serde_json::{Map, Value};

/// How deep a schema is read: the parameters, and those of nested objects and lists.
const DEPTH: usize = 4;

/// The most parameters of a tool that are read.
const PARAMETERS: usize = 200;

/// The most schemas and values that are read within a tool's schema: a few references to each other
/// expand without end.
const STEPS: usize = 5_000;

/// The longest chain of `$ref`s that is followed.
const REFERENCES: usize = 4;

/// The longest value of an enumeration that is searched, in bytes.
const VALUE_BYTES: usize = 64;

/// The parameters of a tool as texts.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Parameters {
    pub names: Vec<String>,
    /// Descriptions and titles.
    pub descriptions: Vec<String>,
    /// What enumerations and constants allow; strings only.
    pub values: Vec<String>,
}

impl Parameters {
    /// Reads a JSON Schema's text. Local `$ref`s are followed. A text that is no schema has no
    /// parameters.
    pub fn of_schema(schema: &str) -> Self {
        let root: Value = serde_json::from_str(schema).unwrap_or_default();
        let mut reader =
            SchemaReader { root: &root, found: Self::default(), left: PARAMETERS, steps: STEPS };
        reader.members(&root, DEPTH);
        reader.found
    }
}

struct SchemaReader<'a> {
    root: &'a Value,
    found: Parameters,
    left: usize,
    steps: usize,
}

impl<'a> SchemaReader<'a> {
    /// Reads the parameters of a schema, its alternatives and its items.
    fn members(&mut self, schema: &'a Value, depth: usize) {
        if depth == 0 || !self.step() {
            return;
        }
        let Some(schema) = self.resolved(schema) else { return };
        if let Some(Value::Object(properties)) = schema.get("properties").filter(|_| self.left > 0)
        {
            // Sorted, so that the bounds cut the same parameters whatever order the source sends.
            let mut properties: Vec<_> = properties.iter().collect();
            properties.sort_unstable_by_key(|(name, _)| *name);
            for (name, property) in properties {
                self.parameter(name, property, depth);
            }
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            if let Some(Value::Array(alternatives)) = schema.get(key) {
                for alternative in alternatives {
                    if self.steps == 0 {
                        return;
                    }
                    self.values(alternative);
                    self.members(alternative, depth - 1);
                }
            }
        }
        if let Some(items) = schema.get("items") {
            self.values(items);
            self.members(items, depth - 1);
        }
    }

    fn parameter(&mut self, name: &str, schema: &'a Value, depth: usize) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        self.found.names.push(name.to_owned());
        let own = schema.as_object();
        let target = self.resolved(schema);
        for key in ["title", "description"] {
            let said = [own, target].into_iter().flatten().find_map(|schema| schema.get(key));
            self.found.descriptions.extend(said.and_then(Value::as_str).map(str::to_owned));
        }
        self.values(schema);
        self.members(schema, depth - 1);
    }

    /// Whether there is room for one more.
    fn step(&mut self) -> bool {
        let is_left = self.steps > 0;
        self.steps = self.steps.saturating_sub(1);
        is_left
    }

    fn values(&mut self, schema: &'a Value) {
        let Some(schema) = self.resolved(schema).filter(|_| self.step()) else { return };
        let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        for value in listed.chain(schema.get("const")).filter_map(Value::as_str) {
            if self.left == 0 || !self.step() {
                return;
            }
            if value.len() <= VALUE_BYTES {
                self.found.values.push(value.to_owned());
            }
        }
    }

    /// The schema itself, or the target of its `$ref` (JSON Pointer, RFC 6901).
    fn resolved(&self, schema: &'a Value) -> Option<&'a Map<String, Value>> {
        let mut schema = schema.as_object()?;
        for _ in 0..REFERENCES {
            let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { break };
            let target = reference.strip_prefix('#').and_then(|path| self.root.pointer(path));
            match target.and_then(Value::as_object) {
                Some(target) => schema = target,
                None => break,
            }
        }
        Some(schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &str, names: &str, descriptions: &str, values: &str) {
        let found = Parameters::of_schema(schema);
        assert_eq!(found.names.join(" "), names);
        assert_eq!(found.descriptions.join(" "), descriptions);
        assert_eq!(found.values.join(" "), values);
    }

    #[test]
    fn names_descriptions_and_values_are_read_at_every_depth() {
        check(
            r#"{"properties":{"state":{"enum":["open","closed",3],"description":"Which"},
                "filter":{"properties":{"owner":{"type":"string"}}},
                "tags":{"type":"array","items":{"enum":["red"]}},
                "when":{"anyOf":[{"const":"now"},{"type":"null"}]}}}"#,
            "filter owner state tags when",
            "Which",
            "open closed red now",
        );
    }

    #[test]
    fn references_are_followed_and_rings_end() {
        check(
            r##"{"properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/B"}},
                "$defs":{"A":{"description":"An A","properties":{"x":{"$ref":"#/$defs/A"}}},
                         "B":{"$ref":"#/$defs/B"}}}"##,
            "a x x x b",
            "An A An A An A An A",
            "",
        );
    }

    #[test]
    fn wide_rings_end_too() {
        let branches = vec![r##"{"$ref":"#"}"##; 1000].join(",");
        let schema = format!(
            r#"{{"anyOf":[{branches}],"items":{{"properties":{{"late":{{}}}}}},
                "properties":{{"early":{{"enum":["a"]}}}}}}"#
        );
        let begun = std::time::Instant::now();
        let found = Parameters::of_schema(&schema);
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
        assert_eq!(found.names[0], "early");
        assert!(found.names.len() <= PARAMETERS && found.values.len() <= STEPS);
    }

    #[test]
    fn what_is_no_schema_has_no_parameters() {
        for odd in ["", "null", "[1]", r#"{"properties":[1]}"#, r#"{"$ref":3}"#] {
            check(odd, "", "", "");
        }
    }
}
