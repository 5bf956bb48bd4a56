//! The JSON Schema of the values, for editors, with words about them for people.
//!
//! The words are under keywords that begin with `x-`, which only Gatefold reads. `x-type` is what such a value is
//! called, where the schema's `type` does not say it; `x-types` its plural, where that is not the same with an
//! "s"; `x-constraint` how to write one.
//!
//! The schemas use what drafts 4 and 7 have in common, which is what TOML editors understand
//! (<https://taplo.tamasfe.dev/configuration/developing-schemas.html>).

use schemars::{Schema, SchemaGenerator, json_schema};

/// A string with a reference in it may have any form until that is replaced.
pub const REFERENCE: &str = r"\$\{";

/// The pattern of strings that match one or have a reference.
pub fn or_reference(pattern: &str) -> String {
    format!("{pattern}|{REFERENCE}")
}

/// An address on the web.
pub fn web_address(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "pattern": or_reference("^https?://[^/]"),
        "x-type": "URL",
        "x-constraint": "with `http` or `https`, and a host",
    })
}

pub(crate) fn loose_text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["string", "number", "boolean"],
        "x-type": "string",
        "x-constraint": "numbers and booleans are taken as their text",
    })
}

pub(crate) fn share(_: &mut SchemaGenerator) -> Schema {
    // Draft 4 and draft 7 write an exclusive minimum in different ways.
    json_schema!({
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "x-constraint": "above zero, at most 1",
    })
}
