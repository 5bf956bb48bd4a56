//! The parts of a result, still raw.

use std::borrow::Cow;

use gatefold_catalog::object_fields;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::arguments::unquoted;

/// The parts of a `tools/call` result.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResultParts<'a> {
    #[serde(borrow, default)]
    pub(crate) content: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) structured_content: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    pub(crate) meta: Option<&'a RawValue>,
}

/// A content block, its fields raw.
pub(crate) struct Block<'a> {
    pub(crate) raw: &'a RawValue,
    pub(crate) fields: Vec<(Cow<'a, str>, &'a str)>,
    /// The text of a text block, as JSON.
    pub(crate) text: Option<&'a str>,
}

impl<'a> Block<'a> {
    pub(crate) fn of(raw: &'a RawValue) -> Self {
        let fields = object_fields(raw.get()).unwrap_or_default();
        let get = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        let is_text = get("type").and_then(unquoted).as_deref() == Some("text");
        let text = get("text").filter(|text| is_text && text.starts_with('"'));
        Self { raw, fields, text }
    }

    pub(crate) fn kind(&self) -> String {
        let kind = self.fields.iter().find(|(key, _)| key == "type");
        kind.and_then(|(_, kind)| unquoted(kind)).unwrap_or_else(|| "unknown".to_owned())
    }

    /// The JSON in its text, unchanged, otherwise the text.
    pub(crate) fn json(&self) -> Cow<'a, str> {
        let raw = self.text.unwrap_or(r#""""#);
        let Some(text) = unquoted(raw) else { return raw.into() };
        match serde_json::from_str::<&RawValue>(text.trim()) {
            Ok(json) => json.get().to_owned().into(),
            Err(_) => raw.into(),
        }
    }
}
