//! `actions` of an HTTP API.

use std::collections::{BTreeMap, BTreeSet};

use gatefold_config::schemas::or_reference;
use gatefold_config::{Field, Pairs, Text, fault, parsed};
use gatefold_connect::{ParameterPlace, WrittenAction, check_extract};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("required" = ["name", "method", "path"], "additionalProperties" = false,
    "x-constraint" = "`name`, `method` and `path`, and as needed `title`, `description`, `parameters`, `in`, \
                      `body`, `extract`, `group` and `confirm`"))]
pub(super) struct ActionKeys {
    name: Option<ActionName>,
    title: Option<Text>,
    description: Option<Text>,
    method: Option<Text>,
    #[schemars(extend("pattern" = or_reference("^/")))]
    path: Option<Text>,
    parameters: Option<Parameters>,
    #[serde(rename = "in")]
    #[schemars(with = "BTreeMap<String, PlaceWord>")]
    places: Pairs<String, PlaceWord>,
    body: Option<BodyTemplate>,
    extract: Option<ExtractProgram>,
    group: Option<Text>,
    confirm: bool,
}

#[derive(JsonSchema)]
#[schemars(with = "Text")]
struct ActionName(String);

impl<'de> Deserialize<'de> for ActionName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "use 1 to 64 letters, digits, `_`, `-` and `.`";
        let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        parsed(deserializer, "a tool's name", hint, |text| {
            let fits = (1..=64).contains(&text.len()) && text.chars().all(is_legal);
            fits.then(|| text.to_owned())
        })
        .map(Self)
    }
}

#[derive(JsonSchema)]
#[schemars(with = "String", extend("enum" = ["query", "header", "cookie"]))]
struct PlaceWord(ParameterPlace);

impl<'de> Deserialize<'de> for PlaceWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "write \"query\", \"header\" or \"cookie\"; the rest goes by itself";
        let place = |text: &str| match text {
            "query" => Some(ParameterPlace::Query),
            "header" => Some(ParameterPlace::Header),
            "cookie" => Some(ParameterPlace::Cookie),
            _ => None,
        };
        parsed(deserializer, "a part of a request", hint, place).map(Self)
    }
}

/// A JSON Schema, as a table or as JSON text.
#[derive(JsonSchema)]
#[schemars(with = "String", extend("type" = ["object", "string"]))]
struct Parameters(Map<String, Value>);

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "write the JSON Schema of an object: `{ properties = { id = { type = \"integer\" } } }`";
        let not_schema = || fault("is not the schema of an object", hint);
        match Value::deserialize(deserializer)? {
            Value::Object(schema) => Ok(Self(schema)),
            Value::String(text) => serde_json::from_str(&text).map(Self).map_err(|_| not_schema()),
            _ => Err(not_schema()),
        }
    }
}

#[derive(JsonSchema)]
#[schemars(with = "Text")]
struct BodyTemplate(Value);

impl<'de> Deserialize<'de> for BodyTemplate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let hint = "write JSON in which a text \"{name}\" stands for a parameter";
        let template = serde_json::from_str(&text);
        template.map(Self).map_err(|error| fault(format!("is not JSON: {error}"), hint))
    }
}

#[derive(JsonSchema)]
#[schemars(with = "Text")]
struct ExtractProgram(String);

impl<'de> Deserialize<'de> for ExtractProgram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        match check_extract(&text) {
            Ok(()) => Ok(Self(text)),
            Err(error) => {
                let hint = "write a jq program over the answer: \".data | {id, name}\"";
                Err(fault(format!("is not a jq program: {error}"), hint))
            }
        }
    }
}

/// All of them, if there is no fault.
pub(super) fn read(field: &Field<'_>) -> Option<Vec<WrittenAction>> {
    let items = field.items()?;
    if items.is_empty() {
        field.fault("is empty", "write at least one: name, method and path");
        return None;
    }
    let mut names = BTreeSet::new();
    let mut actions = Vec::new();
    for item in &items {
        let action = action(item)?;
        if !names.insert(action.name.clone()) {
            let problem = format!("has the name of an earlier one: {}", action.name);
            item.fault(problem, "give each action a name of its own");
            return None;
        }
        actions.push(action);
    }
    Some(actions)
}

fn action(item: &Field<'_>) -> Option<WrittenAction> {
    let mut table = item.table()?;
    let keys: ActionKeys = table.read()?;
    for key in ["name", "method", "path"] {
        if table.peek(key).is_none() {
            item.fault(format!("has no `{key}`"), format!("write `{key} = \"...\"` in it"));
        }
    }
    let (path, body) = (keys.path?.0, keys.body.map(|body| body.0));
    let parameters = keys.parameters.map(|parameters| parameters.0);
    let usual = || WrittenAction::usual_parameters(&path, body.as_ref());
    let action = WrittenAction {
        name: keys.name?.0,
        title: keys.title.map(|text| text.0),
        description: keys.description.map(|text| text.0),
        method: keys.method?.0.to_ascii_uppercase(),
        parameters: parameters.unwrap_or_else(usual),
        path,
        places: keys.places.0.into_iter().map(|(name, place)| (name, place.0)).collect(),
        body,
        extract: keys.extract.map(|program| program.0),
        group: keys.group.map(|text| text.0),
        confirm: keys.confirm,
    };
    if let Some(found) = action.fault() {
        let at = table.peek(found.key).unwrap_or_else(|| item.clone());
        at.fault(found.problem, found.fix);
        table.finish();
        return None;
    }
    table.finish();
    Some(action)
}
