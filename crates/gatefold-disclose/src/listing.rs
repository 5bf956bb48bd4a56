//! Definitions of tools as they stand in a list that clients and model providers check: both refuse
//! the whole list for one tool that is not as they want it.

use std::borrow::Cow;

use gatefold_catalog::{Tool, object_fields};

use crate::arguments::{json_text, object, object_text};

/// A tool's definition under this name.
///
/// Its output schema is left out. A client that has it throws away every answer that does not fit,
/// and descriptions of APIs are often wrong about answers; it also refuses the whole list for a
/// schema that it cannot compile. `get_tool_schema` and signatures say what a tool returns.
pub(crate) fn definition(tool: &Tool, name: &str) -> String {
    let definition = tool.definition();
    let schema = typed(definition.listed_schema());
    if definition.output_schema().is_none() && *schema == *definition.input_schema() {
        let renamed = (name != definition.name()).then(|| definition.renamed(name)).flatten();
        return renamed.unwrap_or_else(|| definition.raw().to_owned());
    }
    let name = json_text(name);
    let fields = object_fields(definition.raw()).unwrap_or_default();
    let fields = fields.iter().filter(|(key, _)| key != "outputSchema");
    let fields = fields.map(|(key, value)| match key.as_ref() {
        "name" => ("name", name.as_str()),
        "inputSchema" => ("inputSchema", &*schema),
        key => (key, *value),
    });
    object_text(fields)
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
        assert_eq!(definition(tool, "t"), expected);
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
