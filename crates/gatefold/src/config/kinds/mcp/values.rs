//! The values of an MCP server's keys, in `gatefold.toml` and in clients' files.

use super::super::shared_values::{HEADER_NAME, ServerAddress};
use gatefold_config::{Field, LimitedItems, LooseText, Pairs, Text, fault};
use gatefold_core::Secret;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

const NUL: &str = "contains a NUL character";

/// The program to start.
#[derive(JsonSchema)]
#[schemars(with = "Text")]
pub(crate) struct ProgramName(pub(crate) String);

impl<'de> Deserialize<'de> for ProgramName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let command = deserializer.deserialize_any(ProgramNameVisitor)?;
        if command.contains('\0') {
            return Err(fault(NUL, "remove it"));
        }
        Ok(Self(command))
    }
}

struct ProgramNameVisitor;

impl<'de> Visitor<'de> for ProgramNameVisitor {
    type Value = String;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        let text = serde::de::value::StrDeserializer::new(text);
        Text::deserialize(text).map(|text| text.0)
    }

    // Other programs write the whole command line as one list.
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<String, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Err(fault("is a list, not a string", "name the program, and list the rest in `args`"))
    }
}

/// An argument or the value of a variable. Numbers and booleans are taken as their text.
#[derive(JsonSchema)]
#[schemars(with = "LooseText")]
pub(crate) struct Argument(pub(crate) String);

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let LooseText(text) = LooseText::deserialize(deserializer)?;
        if text.contains('\0') { Err(fault(NUL, "remove it")) } else { Ok(Self(text)) }
    }
}

/// The name of a program's variable.
#[derive(JsonSchema)]
#[schemars(with = "String", extend("pattern" = "^[^=\\u0000]+$",
    "x-constraint" = "the names of variables and their values"))]
pub(crate) struct VariableName(String);

impl<'de> Deserialize<'de> for VariableName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(fault("is not the name of a variable", "use letters, digits and `_`"));
        }
        Ok(Self(name))
    }
}

/// The address of a server in a client's file. It cannot be checked while it contains references.
pub(crate) fn address(field: &Field<'_>) -> Option<String> {
    if field.is_as_written() {
        let text = field.read::<String>()?;
        if !field.is_put_in(&text) {
            return Some(text);
        }
    }
    field.read::<ServerAddress>().map(|address| address.0)
}

/// The name of a header.
#[derive(JsonSchema)]
#[schemars(with = "String", extend("pattern" = HEADER_NAME,
    "x-constraint" = "the names of headers and their values"))]
pub(crate) struct HeaderName(String);

impl<'de> Deserialize<'de> for HeaderName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if http::HeaderName::try_from(&name).is_err() {
            return Err(fault("is not the name of a header", "use letters, digits and `-`"));
        }
        Ok(Self(name))
    }
}

/// The value of a header.
#[derive(JsonSchema)]
#[schemars(with = "LooseText")]
pub(crate) struct HeaderValue(String);

impl<'de> Deserialize<'de> for HeaderValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let LooseText(text) = LooseText::deserialize(deserializer)?;
        if http::HeaderValue::try_from(&text).is_err() {
            let hint =
                "check it, and the variables in it, for line breaks and other control characters";
            return Err(fault("has a value that no header may have", hint));
        }
        Ok(Self(text))
    }
}

/// Headers that every request carries.
///
/// The values are never shown.
#[derive(Deserialize, JsonSchema, Default)]
#[schemars(extend("examples" = [{ "X-Team": "support" }], "x-unset" = "none"))]
pub(crate) struct RequestHeaders(LimitedItems<Pairs<HeaderName, HeaderValue>>);

/// The variables for a program. Their values are never shown.
pub(crate) fn variables(pairs: Pairs<VariableName, Argument>) -> Vec<(String, Secret)> {
    pairs.0.into_iter().map(|(name, value)| (name.0, Secret::new(value.0))).collect()
}

/// The headers for an HTTP server. Their values are never shown.
pub(crate) fn headers(headers: RequestHeaders) -> Vec<(String, Secret)> {
    let RequestHeaders(LimitedItems(Pairs(pairs))) = headers;
    pairs.into_iter().map(|(name, value)| (name.0, Secret::new(value.0))).collect()
}
