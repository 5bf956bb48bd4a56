//! Definitions of tools as they stand in a list that clients and model providers check: both refuse
//! the whole list for one tool that is not as they want it.

use std::borrow::Cow;

use gatefold_catalog::{Tool, object_fields};

use crate::arguments::{json_text, object, object_text};
use crate::levels::{self, Rest};

/// A tool's definition under this name.
///
/// A schema that is too long is in its first levels; `reader` says what reads the rest, if anything does. The
/// output schema is left out. A client that has it throws away every answer that does not fit,
/// and descriptions of APIs are often wrong about answers; it also refuses the whole list for a
/// schema that it cannot compile. `get_tool_schema` and signatures say what a tool returns.
pub(crate) fn definition(tool: &Tool, name: &str, reader: impl Fn() -> Option<String>) -> String {
    let schema = first_levels(tool.definition().listed_schema(), reader);
    with_schema(tool, name, &typed(&schema))
}

/// A tool's definition as its source has it, apart from what clients refuse a whole list for.
pub(crate) fn own_definition(tool: &Tool, name: &str) -> String {
    with_schema(tool, name, &typed(tool.definition().listed_schema()))
}

fn with_schema(tool: &Tool, name: &str, schema: &str) -> String {
    let definition = tool.definition();
    if definition.output_schema().is_none() && schema == definition.input_schema() {
        let renamed = (name != definition.name()).then(|| definition.renamed(name)).flatten();
        return renamed.unwrap_or_else(|| definition.raw().to_owned());
    }
    let name = json_text(name);
    let fields = object_fields(definition.raw()).unwrap_or_default();
    let fields = fields.iter().filter(|(key, _)| key != "outputSchema");
    let fields = fields.map(|(key, value)| match key.as_ref() {
        "name" => ("name", name.as_str()),
        "inputSchema" => ("inputSchema", schema),
        key => (key, *value),
    });
    object_text(fields)
}

/// The schema, or as much of it as is shown, which its description says then.
fn first_levels(schema: &str, reader: impl Fn() -> Option<String>) -> Cow<'_, str> {
    if !levels::is_long(schema) {
        return schema.into();
    }
    let reader = reader();
    let shown = levels::shown(schema, levels::PARAMETERS, Rest::by(reader.as_deref())).text;
    let note = levels::note(reader.as_deref());
    let fields = object_fields(&shown).unwrap_or_default();
    let own = fields.iter().find(|(key, _)| key == "description");
    let own = own.and_then(|(_, text)| serde_json::from_str::<String>(text).ok());
    let description = json_text(&own.map_or_else(|| note.clone(), |own| format!("{own} {note}")));
    let others = fields.iter().filter(|(key, _)| key != "description");
    let others = others.map(|(key, value)| (key.as_ref(), *value));
    object_text([("description", description.as_str())].into_iter().chain(others)).into()
}

/// The schema with the type `object`, the only legal one.
fn typed(schema: &str) -> Cow<'_, str> {
    const OBJECT: &str = r#""object""#;
    let fields = object_fields(schema).unwrap_or_default();
    if fields.iter().any(|(key, value)| key == "type" && *value == OBJECT) {
        return schema.into();
    }
    let others = fields.iter().filter(|(key, _)| key != "type");
    let others = others.map(|(key, value)| (key.as_ref(), *value));
    object(std::iter::once(("type", OBJECT)).chain(others)).get().to_owned().into()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gatefold_catalog::{GroupRules, KindName, Listing, Manifest, ServerInfo, Snapshot};
    use gatefold_catalog::{SourceEntry, View};
    use gatefold_core::{Domain, Timestamp};
    use serde_json::value::RawValue;

    use super::*;

    #[track_caller]
    fn check(own: &str, expected: &str) {
        let page = RawValue::from_string(format!(r#"{{"tools":[{own}]}}"#)).unwrap();
        let server = ServerInfo {
            name: "s".to_owned(),
            version: String::new(),
            title: None,
            description: None,
            instructions: None,
            protocol: String::new(),
            capabilities: None,
            whole: None,
        };
        let listing = Listing { tools: &[page], ..Listing::default() };
        let manifest = Manifest::from_listing(server, listing, Timestamp::from_millis(0));
        let entry = SourceEntry {
            domain: Domain::parse("d").unwrap(),
            kind: KindName::new("mcp"),
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            manifest: Some(Arc::new(manifest)),
        };
        let view = View::new(Arc::new(Snapshot::build(vec![entry], 1)), |_| true);
        let tool = view.find("d__t").unwrap();
        assert_eq!(definition(tool, "t", || None), expected);
    }

    #[test]
    fn a_list_has_nothing_for_which_all_of_it_is_refused() {
        let sound = r#"{"name":"t", "inputSchema":{ "type":"object" },"x":1}"#;
        check(sound, sound);
        check(
            r#"{"name":"t","inputSchema":{"properties":{}}}"#,
            r#"{"name":"t","inputSchema":{"type":"object","properties":{}}}"#,
        );
        check(
            r#"{"name":"t","inputSchema":{"properties":{},"type":["object"]}}"#,
            r#"{"name":"t","inputSchema":{"type":"object","properties":{}}}"#,
        );
        check(
            r##"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"$ref":"#/x"},"_meta":{}}"##,
            r#"{"name":"t","inputSchema":{"type":"object"},"_meta":{}}"#,
        );
        check(
            r#"{"name":"t","inputSchema":{"type":"object","properties":{"ids[]":{},"$top":{}},"required":["$top"]}}"#,
            r#"{"name":"t","inputSchema":{"type":"object","properties":{"ids":{},"top":{}},"required":["top"]}}"#,
        );
    }
}
