//! `secrets.root_key` and the key before it: a text, or a program that prints it.

use gatefold_config::{Field, Table, Text, fault};
use gatefold_core::Secret;
use gatefold_located::Value;
use gatefold_store::{KeyCommand, ROOT_KEY_BYTES, RootKey, RootSecret};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::json;

#[derive(JsonSchema)]
#[schemars(schema_with = "root_key_schema")]
pub(super) struct RootKeyText(Secret);

fn root_key_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [generator.subschema_for::<Text>(), generator.subschema_for::<RootCommandKeys>()],
        "x-type": "string or table",
        "x-constraint": "a table has `command`, a program and its arguments",
    })
}

impl<'de> Deserialize<'de> for RootKeyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        if text.len() < ROOT_KEY_BYTES {
            let hint =
                "make one of at least 32 random characters, such as with `openssl rand -base64 32`";
            return Err(fault("is too short for a key", hint));
        }
        Ok(Self(Secret::new(text)))
    }
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("required" = ["command"], "additionalProperties" = false))]
struct RootCommandKeys {
    #[schemars(extend("minItems" = 1))]
    command: Vec<Text>,
}

/// Reads both keys.
pub(super) fn read(table: &Table<'_>) -> RootKey {
    let given = table.peek("root_key").and_then(|field| secret(&field));
    let previous = table.peek("previous_root_key").and_then(|field| secret(&field));
    RootKey { given, previous }
}

fn secret(field: &Field<'_>) -> Option<RootSecret> {
    if !matches!(field.value(), Value::Table(_)) {
        let RootKeyText(text) = field.read()?;
        return Some(RootSecret::Text(text));
    }
    let mut table = field.table()?;
    let keys: Option<RootCommandKeys> = table.read();
    table.finish();
    let mut words = keys?.command.into_iter().map(|word| word.0);
    let Some(program) = words.next() else {
        let hint = "write the program and its arguments: \
                    `{ command = [\"pass\", \"show\", \"gatefold\"] }`";
        field.fault("names no `command`", hint);
        return None;
    };
    Some(RootSecret::Command(KeyCommand { program, args: words.collect() }))
}

/// A key as it is shown. Arguments may be secret.
pub(super) fn shown(secret: Option<&RootSecret>) -> Option<serde_json::Value> {
    Some(match secret? {
        RootSecret::Text(_) => "***".into(),
        RootSecret::Command(command) => json!({ "command": command.program }),
    })
}
