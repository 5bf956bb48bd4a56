//! What is in force, key by key, and where it comes from.

use std::collections::HashMap;

use gatefold_config::{Lines, Node, Value, parse_toml};
use serde::Serialize;
use serde_json::Value as Json;

use super::keys::{Key, Section, sections};
use super::{Config, Inputs, file_text};
use crate::Environment;

/// One key outside the sources, its value and where that stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Its path: `limits.call_deadline`.
    pub key: String,
    /// `None` for a default that is no single value.
    pub value: Option<Json>,
    /// What holds when there is no value.
    #[serde(skip)]
    pub unset: &'static str,
    /// The file and line that set it; `None` for a default.
    pub origin: Option<String>,
}

/// Every key outside the sources, as `config` has it after it was loaded from `inputs`. No value
/// that a variable gave is repeated.
pub fn settings(config: &Config, inputs: &Inputs, environment: &Environment) -> Vec<Setting> {
    let written = written(inputs, environment);
    let sections = sections(&inputs.kinds);
    let fixed = sections.iter().filter(|section| !section.is_named());
    let keys = fixed.flat_map(|section| section.keys.iter().map(move |key| (section, *key)));
    let setting = |(section, key): (&Section, &Key)| {
        let path = section.key_path(key);
        let place = written.get(&path);
        let value = match place.and_then(|place| place.as_written.clone()) {
            Some(as_written) => Some(as_written),
            None => (key.value)(config),
        };
        let origin = place.map(|place| place.origin.clone());
        Setting { key: path, value, unset: key.unset, origin }
    };
    keys.map(setting).collect()
}

struct Place {
    origin: String,
    /// The value as it stands in the file, where variables are part of it.
    as_written: Option<Json>,
}

/// Which keys of which sections the file has. A file that cannot be read any more has none.
fn written(inputs: &Inputs, environment: &Environment) -> HashMap<String, Place> {
    let mut places = HashMap::new();
    let Some(path) = &inputs.config else {
        return places;
    };
    let text =
        file_text::read(path, environment, &mut Vec::new()).ok().flatten().unwrap_or_default();
    let Ok(Node { value: Value::Table(sections), .. }) = parse_toml(&text) else {
        return places;
    };
    let lines = Lines::of(&text);
    for section in &sections {
        let Value::Table(entries) = &section.node.value else {
            continue;
        };
        for entry in entries {
            let line = lines.line(entry.key_span.start);
            let place = Place {
                origin: format!("{}:{line}", path.display()),
                as_written: as_written(&entry.node.value),
            };
            places.insert(format!("{}.{}", section.key, entry.key), place);
        }
    }
    places
}

fn as_written(value: &Value) -> Option<Json> {
    let is_variable = |value: &Value| matches!(value, Value::Text(text) if text.contains("${"));
    match value {
        Value::Text(text) if is_variable(value) => Some(text.as_str().into()),
        Value::List(items) if items.iter().any(|item| is_variable(&item.value)) => {
            let text = |item: &Node| match &item.value {
                Value::Text(text) => text.clone(),
                _ => String::new(),
            };
            Some(items.iter().map(text).collect::<Vec<_>>().into())
        }
        _ => None,
    }
}
