//! Actions that a person wrote, for an API without a description.

use std::collections::{BTreeMap, BTreeSet};

use gatefold_catalog::{Manifest, ToolSpec};
use gatefold_core::{Hints, Timestamp};
use http::Method;
use serde_json::{Map, Value, json};

use crate::action::{
    ACTION_KEY, Action, BodyArguments, BodyMedia, ParameterPlace, ParameterSpec, RequestBody,
    ResultShape,
};
use crate::request::OperationPath;

/// One action as a person wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenAction {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub method: String,
    /// Below the source's base URL, with parameters as `{name}`.
    pub path: String,
    /// The JSON Schema of its arguments, an object.
    pub parameters: Map<String, Value>,
    /// Where parameters go, other than into the path, and the query or the body by the method.
    pub places: BTreeMap<String, ParameterPlace>,
    /// JSON in which a text `{name}` stands for a parameter.
    pub body: Option<Value>,
    /// A jq program over the answer.
    pub extract: Option<String>,
    pub group: Option<String>,
    /// Whether a person has to approve each call.
    pub confirm: bool,
}

/// What is wrong with an action, and the key that says so.
#[derive(Debug, PartialEq, Eq)]
pub struct ActionFault {
    pub key: &'static str,
    pub problem: String,
    pub fix: &'static str,
}

const UNDESCRIBED: &str = "describe it in `parameters`, or remove `parameters` if all are texts";

impl WrittenAction {
    /// The parameters of an action that describes none: each name in its path and its body is a text.
    pub fn usual_parameters(path: &str, body: Option<&Value>) -> Map<String, Value> {
        let names = placeholders(path).into_iter().chain(body.into_iter().flat_map(names_in));
        let texts: Map<_, _> = names.map(|name| (name, json!({ "type": "string" }))).collect();
        Map::from_iter([("properties".to_owned(), Value::Object(texts))])
    }

    /// What is wrong with it, if anything is.
    pub fn fault(&self) -> Option<ActionFault> {
        let fault = |key, problem: String, fix| Some(ActionFault { key, problem, fix });
        if Method::from_bytes(self.method.as_bytes()).is_err() {
            return fault(
                "method",
                "is not the name of a method".to_owned(),
                "write \"GET\", \"POST\" or another one",
            );
        }
        if !self.path.starts_with('/') || self.path.contains(['?', '#']) {
            return fault(
                "path",
                "is not a path".to_owned(),
                "begin it with `/`, and leave the query to parameters",
            );
        }
        let properties = self.properties();
        let unknown = |names: BTreeSet<String>| {
            names.into_iter().find(|name| !properties.is_some_and(|own| own.contains_key(name)))
        };
        if let Some(name) = unknown(placeholders(&self.path)) {
            return fault(
                "path",
                format!("has `{{{name}}}`, which `parameters` does not describe"),
                UNDESCRIBED,
            );
        }
        if let Some(name) = self.body.as_ref().and_then(|body| unknown(names_in(body))) {
            return fault(
                "body",
                format!("has `{{{name}}}`, which `parameters` does not describe"),
                UNDESCRIBED,
            );
        }
        if let Some(name) = unknown(self.places.keys().cloned().collect()) {
            return fault(
                "in",
                format!("names `{name}`, which `parameters` does not describe"),
                UNDESCRIBED,
            );
        }
        if let Err(error) = jsonschema::draft202012::new(&Value::Object(self.schema())) {
            return fault(
                "parameters",
                format!("is not a JSON Schema: {error}"),
                "write a schema of draft 2020-12",
            );
        }
        None
    }

    fn properties(&self) -> Option<&Map<String, Value>> {
        self.parameters.get("properties").and_then(Value::as_object)
    }

    fn schema(&self) -> Map<String, Value> {
        let mut schema = self.parameters.clone();
        schema.entry("type").or_insert_with(|| "object".into());
        if schema.contains_key("properties") {
            schema.entry("additionalProperties").or_insert(Value::Bool(false));
        }
        let in_path = placeholders(&self.path).into_iter().map(Value::from);
        let required = schema.entry("required").or_insert_with(|| json!([]));
        if let Some(required) = required.as_array_mut() {
            let missing: Vec<_> = in_path.filter(|name| !required.contains(name)).collect();
            required.extend(missing);
        }
        if schema.get("required") == Some(&json!([])) {
            schema.remove("required");
        }
        schema
    }

    /// How it is called.
    pub fn action(&self) -> Action {
        let in_path = placeholders(&self.path);
        let in_body = self.body.as_ref().map(names_in);
        let has_body = self.body.is_none()
            && !matches!(self.method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS" | "QUERY");
        let (mut parameters, mut members) = (Vec::new(), Vec::new());
        for name in self.properties().into_iter().flat_map(Map::keys) {
            let place = match self.places.get(name) {
                Some(place) => *place,
                None if in_path.contains(name) => ParameterPlace::Path,
                None if in_body.as_ref().is_some_and(|names| names.contains(name)) => continue,
                None if has_body => {
                    members.push(name.clone());
                    continue;
                }
                None => ParameterPlace::Query,
            };
            parameters.push(ParameterSpec::plain(name, place));
        }
        let arguments = match &self.body {
            Some(template) => Some(BodyArguments::Template(template.clone())),
            None if members.is_empty() => None,
            None => Some(BodyArguments::Members { names: members, required: false }),
        };
        let json = BodyMedia { media_type: "application/json".to_owned(), ..BodyMedia::default() };
        let body =
            arguments.map(|arguments| RequestBody { arguments, media: vec![json], choice: None });
        Action {
            method: self.method.clone(),
            base: None,
            path: self.path.clone(),
            parameters,
            body,
            accept: Vec::new(),
            failures: BTreeMap::new(),
            security: None,
            extract: self.extract.clone(),
            result: ResultShape::Plain,
        }
    }

    pub(crate) fn place(&self) -> OperationPath {
        OperationPath { method: self.method.clone(), base: None, path: self.path.clone() }
    }

    fn tool(&self) -> ToolSpec {
        let action = serde_json::to_value(self.action()).unwrap_or_default();
        let mut tool = ToolSpec::new(&self.name)
            .input_schema(Value::Object(self.schema()))
            .hints(hints(&self.method))
            .meta(Map::from_iter([(ACTION_KEY.to_owned(), action)]));
        if let Some(title) = &self.title {
            tool = tool.title(title);
        }
        if let Some(description) = &self.description {
            tool = tool.description(description);
        }
        if let Some(group) = &self.group {
            tool = tool.group(group);
        }
        tool
    }
}

/// What a source of these actions offers.
pub(crate) fn manifest<'a>(
    actions: impl IntoIterator<Item = &'a WrittenAction>,
    at: Timestamp,
) -> Manifest {
    let tools = actions.into_iter().map(WrittenAction::tool);
    tools.fold(Manifest::builder(at), gatefold_catalog::ManifestBuilder::tool).build()
}

/// What a method says about an operation (RFC 9110, section 9.2).
pub(crate) fn hints(method: &str) -> Hints {
    let hints = Hints { open_world: Some(true), ..Hints::default() };
    match method {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY" => {
            Hints { read_only: Some(true), idempotent: Some(true), ..hints }
        }
        "PUT" | "DELETE" => Hints {
            read_only: Some(false),
            destructive: Some(true),
            idempotent: Some(true),
            ..hints
        },
        "PATCH" => Hints { read_only: Some(false), destructive: Some(true), ..hints },
        _ => Hints { read_only: Some(false), ..hints },
    }
}

/// The names that stand in braces in a text. Two opening braces are one brace of the text.
fn placeholders(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('{') {
        if let Some(behind) = behind.strip_prefix('{') {
            rest = behind;
            continue;
        }
        let Some((name, behind)) = behind.split_once('}') else { break };
        names.insert(name.to_owned());
        rest = behind;
    }
    names
}

/// The names that stand in braces in the texts of a template.
fn names_in(template: &Value) -> BTreeSet<String> {
    match template {
        Value::String(text) => placeholders(text),
        Value::Array(items) => items.iter().flat_map(names_in).collect(),
        Value::Object(members) => members.values().flat_map(names_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(change: impl FnOnce(&mut WrittenAction)) -> WrittenAction {
        let parameters =
            json!({ "properties": { "id": { "type": "integer" }, "name": {}, "trace": {} } });
        let mut action = WrittenAction {
            name: "rename".to_owned(),
            title: None,
            description: Some("Renames a contact.".to_owned()),
            method: "PUT".to_owned(),
            path: "/contacts/{id}".to_owned(),
            parameters: parameters.as_object().unwrap().clone(),
            places: BTreeMap::from([("trace".to_owned(), ParameterPlace::Header)]),
            body: None,
            extract: None,
            group: None,
            confirm: false,
        };
        change(&mut action);
        action
    }

    #[test]
    fn each_parameter_has_a_place() {
        let text = |action: WrittenAction| serde_json::to_string(&action.action()).unwrap();
        let placed = r#""parameters":[{"name":"id","in":"path"},"#;
        let trace = r#"{"name":"trace","in":"header"}]"#;
        let media = r#""media":[{"type":"application/json"}]"#;
        assert_eq!(
            text(written(|_| {})),
            format!(
                r#"{{"method":"PUT","path":"/contacts/{{id}}",{placed}{trace},"body":{{"arguments":{{"members":{{"names":["name"]}}}},{media}}}}}"#
            )
        );
        assert_eq!(
            text(written(|action| action.method = "GET".to_owned())),
            format!(
                r#"{{"method":"GET","path":"/contacts/{{id}}",{placed}{{"name":"name","in":"query"}},{trace}}}"#
            )
        );
        assert_eq!(
            text(written(|action| action.body = Some(json!({ "contact": { "name": "{name}" } })))),
            format!(
                r#"{{"method":"PUT","path":"/contacts/{{id}}",{placed}{trace},"body":{{"arguments":{{"template":{{"contact":{{"name":"{{name}}"}}}}}},{media}}}}}"#
            )
        );
    }

    #[test]
    fn its_schema_says_what_the_path_needs() {
        let tool = manifest(&[written(|_| {})], Timestamp::from_millis(0));
        assert_eq!(
            tool.tools()[0].input_schema(),
            r#"{"properties":{"id":{"type":"integer"},"name":{},"trace":{}},"type":"object","additionalProperties":false,"required":["id"]}"#
        );
    }

    #[test]
    fn a_wrong_action_says_which_key_is_wrong() {
        let check = |change: fn(&mut WrittenAction), key, problem: &str| {
            let found = written(change).fault().map(|found| (found.key, found.problem));
            assert_eq!(found, Some((key, problem.to_owned())));
        };
        assert_eq!(written(|_| {}).fault(), None);
        check(|own| own.method = "GE T".to_owned(), "method", "is not the name of a method");
        check(|own| own.path = "contacts".to_owned(), "path", "is not a path");
        check(
            |own| own.path = "/{x}".to_owned(),
            "path",
            "has `{x}`, which `parameters` does not describe",
        );
        check(
            |own| own.body = Some(json!(["{{x}", "{y}"])),
            "body",
            "has `{y}`, which `parameters` does not describe",
        );
        check(
            |own| own.places = BTreeMap::from([("z".to_owned(), ParameterPlace::Query)]),
            "in",
            "names `z`, which `parameters` does not describe",
        );
        check(
            |own| {
                own.parameters = json!({ "properties": { "id": { "type": 7 }, "trace": {} } })
                    .as_object()
                    .unwrap()
                    .clone();
            },
            "parameters",
            "is not a JSON Schema: 7 is not valid under any of the schemas listed in the 'anyOf' keyword",
        );
    }
}
