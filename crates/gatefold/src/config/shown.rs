//! The values in force, key by key, and where they come from.

use std::collections::HashMap;

use gatefold_config::parse_toml;
use gatefold_located::{Entry, Lines, Node, Value};
use serde::Serialize;
use serde_json::Value as Json;

use super::keys::{Key, Section, keys_of, sections};
use super::sources::SourceKeys;
use super::{Config, Inputs, file_text, keys};
use crate::Environment;

/// One key, its value and where that stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Its path: `limits.call_deadline`.
    pub key: String,
    /// `None` for a default that is no single value.
    pub value: Option<Json>,
    /// The behaviour without a value.
    #[serde(skip)]
    pub unset: String,
    /// The file and line that set it; `None` for a default.
    pub origin: Option<String>,
}

/// Every key outside the sources, with its value in `config`, which was loaded from `inputs`.
/// Values from variables are not shown.
pub fn settings(config: &Config, inputs: &Inputs, environment: &Environment) -> Vec<Setting> {
    let (places, in_force) = (places(inputs, environment), keys::written(config));
    let sections = sections(&inputs.kinds);
    let fixed = sections.iter().filter(|section| !section.is_named());
    let keys = fixed.flat_map(|section| section.keys.iter().map(move |key| (section, key)));
    let setting = |(section, key): (&Section, &Key)| {
        let path = section.key_path(key);
        let place = places.get(&path);
        let value = match place.and_then(|place| place.as_written.clone()) {
            Some(as_written) => Some(as_written),
            None => key.value(&in_force[section.path][&key.name]),
        };
        let origin = place.map(|place| place.origin.clone());
        Setting { key: path, value, unset: key.unset.clone(), origin }
    };
    keys.map(setting).collect()
}

/// The settings in `gatefold.toml` that every kind of source has: how a source is shown, and what
/// may be called. `limits` says what applies where nothing is set.
pub fn source_settings(inputs: &Inputs, environment: &Environment) -> Vec<Setting> {
    let Some(file) = WrittenFile::read(inputs, environment) else { return Vec::new() };
    let (origin_of, mut settings) = (file.origins(), Vec::new());
    let common = keys_of::<SourceKeys>();
    for source in file.table("sources") {
        let Value::Table(entries) = &source.node.value else { continue };
        let is_common = |entry: &&Entry| common.iter().any(|key| key.name == entry.key);
        settings.extend(entries.iter().filter(is_common).map(|entry| Setting {
            key: format!("sources.{}.{}", quoted(&source.key), entry.key),
            value: Some(as_json(&entry.node.value)),
            unset: String::new(),
            origin: Some(origin_of(entry)),
        }));
    }
    settings
}

/// A name as a key in TOML has it.
fn quoted(name: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if !name.is_empty() && name.chars().all(is_bare) {
        return name.to_owned();
    }
    Json::from(name).to_string()
}

fn as_json(value: &Value) -> Json {
    match value {
        Value::Text(text) => text.as_str().into(),
        Value::Number(number) => {
            serde_json::from_str(number).unwrap_or_else(|_| number.as_str().into())
        }
        Value::Flag(flag) => (*flag).into(),
        Value::List(items) => items.iter().map(|item| as_json(&item.value)).collect(),
        Value::Table(entries) => {
            let member = |entry: &Entry| (entry.key.clone(), as_json(&entry.node.value));
            Json::Object(entries.iter().map(member).collect())
        }
        Value::Date | Value::Null => Json::Null,
    }
}

/// `gatefold.toml` as it lies on disk.
struct WrittenFile {
    path: String,
    text: String,
    sections: Vec<Entry>,
}

impl WrittenFile {
    /// `None` for a file that cannot be read any more.
    fn read(inputs: &Inputs, environment: &Environment) -> Option<Self> {
        let path = inputs.config.as_ref()?;
        let text = file_text::read(path, environment, &mut Vec::new()).ok().flatten();
        let text = text.unwrap_or_default();
        let Ok(Node { value: Value::Table(sections), .. }) = parse_toml(&text) else {
            return None;
        };
        Some(Self { path: path.display().to_string(), text, sections })
    }

    fn table(&self, name: &str) -> &[Entry] {
        let section = self.sections.iter().find(|section| section.key == name);
        match section.map(|section| &section.node.value) {
            Some(Value::Table(entries)) => entries,
            _ => &[],
        }
    }

    /// Where each key stands, as `FILE:LINE`.
    fn origins(&self) -> impl Fn(&Entry) -> String {
        let lines = Lines::of(&self.text);
        move |entry| format!("{}:{}", self.path, lines.line(entry.key_span.start))
    }
}

struct Place {
    origin: String,
    /// The value as the file writes it, if it contains variables.
    as_written: Option<Json>,
}

/// Which keys of which sections the file has.
fn places(inputs: &Inputs, environment: &Environment) -> HashMap<String, Place> {
    let Some(file) = WrittenFile::read(inputs, environment) else { return HashMap::new() };
    let (origin_of, mut places) = (file.origins(), HashMap::new());
    for section in &file.sections {
        for entry in file.table(&section.key) {
            let as_written = as_written(&entry.node.value);
            let place = Place { origin: origin_of(entry), as_written };
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
