//! Values that keys of several kinds have.

use std::borrow::Cow;
use std::marker::PhantomData;

use gatefold_config::schemas::{or_reference, web_address};
use gatefold_config::{Field, FilePath, Text, fault};
use gatefold_core::Secret;
use gatefold_oauth::LocalRedirect;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

use crate::files;

/// The largest file with a certificate or a key, in bytes.
const PEM_LIMIT: u64 = 256 * 1024;

/// The pattern of a header's name.
pub(super) const HEADER_NAME: &str = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";

/// The address of an HTTP server.
#[derive(JsonSchema)]
#[schemars(schema_with = "web_address")]
pub(crate) struct ServerAddress(pub(crate) String);

impl<'de> Deserialize<'de> for ServerAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let problem = match text.parse::<http::Uri>() {
            Ok(uri) if !matches!(uri.scheme_str(), Some("http" | "https")) => {
                "has no `http` scheme"
            }
            Ok(uri) if uri.host().is_none_or(str::is_empty) => "has no host",
            Ok(_) => return Ok(Self(text)),
            Err(_) => "is not an address",
        };
        Err(fault(problem, "write the whole address, such as \"https://host.example/mcp\""))
    }
}

/// A secret that goes into a header.
#[derive(JsonSchema)]
#[schemars(with = "Text")]
pub(crate) struct HeaderSecret(pub(crate) Secret);

impl<'de> Deserialize<'de> for HeaderSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        if http::HeaderValue::try_from(&text).is_err() {
            let hint = "check it, and the variables in it, for line breaks";
            return Err(fault("has a value that no header may have", hint));
        }
        Ok(Self(Secret::new(text)))
    }
}

/// An address of this machine that a provider sends browsers back to.
#[derive(JsonSchema)]
#[schemars(with = "String", extend("pattern" = or_reference(
    r"^http://(localhost|127\.0\.0\.1|\[::1\])(:[1-9][0-9]*)?(/[^?#@]*)?$")))]
pub(crate) struct RedirectAddress(pub(crate) LocalRedirect);

impl<'de> Deserialize<'de> for RedirectAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let hint = "write an address of this machine, as the provider knows it: \
                    \"http://localhost:PORT/callback\"; without a port, any free one is taken";
        LocalRedirect::parse(&text).map(Self).map_err(|problem| fault(problem, hint))
    }
}

/// PEM text: what the key has, which may come from a keyring, or what is in the file that it names.
pub(crate) fn pem(field: &Field<'_>) -> Option<String> {
    let Text(text) = field.read()?;
    if text.trim_start().starts_with("-----BEGIN") {
        return Some(text);
    }
    let FilePath(path) = field.read()?;
    match files::read_text(&path, PEM_LIMIT) {
        Ok(text) => Some(text),
        Err(error) => {
            field.fault(format!("cannot be read: {error}"), "check the path");
            None
        }
    }
}

/// Notes that a table lacks a key.
pub(crate) fn missing(field: &Field<'_>, key: &str) {
    field.fault(format!("has no `{key}`"), format!("write `{key} = \"...\"` in it"));
}

/// Describes a table whose keys two structs read.
pub(super) struct Joined<A, B>(PhantomData<(A, B)>);

impl<A: JsonSchema, B: JsonSchema> JsonSchema for Joined<A, B> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Joined".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (mut schema, mut others) = (A::json_schema(generator), B::json_schema(generator));
        let others = others.get_mut("properties").and_then(Value::as_object_mut);
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        if let Some((properties, others)) = properties.zip(others) {
            properties.append(others);
        }
        schema
    }
}
