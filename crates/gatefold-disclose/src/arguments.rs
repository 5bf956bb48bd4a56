//! The arguments of a surface's own tools, with values still raw.

use std::borrow::Cow;

use gatefold_catalog::object_fields;
use serde_json::value::RawValue;

use crate::surface::UsageError;
use crate::wording::quoted;

/// The arguments of one call, keys decoded and values raw.
pub(crate) struct Arguments<'a> {
    tool: &'a str,
    fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Arguments<'a> {
    /// Absent arguments are empty; an object in a string is unpacked.
    pub(crate) fn parse(tool: &'a str, raw: &'a RawValue) -> Result<Self, UsageError> {
        let text = raw.get();
        if text == "null" {
            return Ok(Self { tool, fields: Vec::new() });
        }
        let own = |(key, value): (Cow<'_, str>, &str)| {
            (Cow::Owned(key.into_owned()), Cow::Owned(value.to_owned()))
        };
        let fields = match (object_fields(text), unquoted(text)) {
            (Some(fields), _) => {
                fields.into_iter().map(|(key, value)| (key, Cow::Borrowed(value))).collect()
            }
            (None, Some(inner)) if object_fields(&inner).is_some() => {
                object_fields(&inner).into_iter().flatten().map(own).collect()
            }
            _ => {
                return Err(UsageError::new(format!("The arguments of {tool} must be an object.")));
            }
        };
        Ok(Self { tool, fields })
    }

    /// A value's raw text, unless it is absent or null.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(key, _)| key == name);
        field.map(|(_, value)| value.as_ref()).filter(|value| *value != "null")
    }

    /// A string, or `None` if it is absent, null or blank: models fill in optional parameters.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, UsageError> {
        let Some(raw) = self.get(name) else { return Ok(None) };
        let text = unquoted(raw).ok_or_else(|| {
            UsageError::new(format!("Parameter '{name}' of {} must be a string.", self.tool))
        })?;
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    /// A list of strings, or one alone, or a list in a string: models write all three.
    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, UsageError> {
        let Some(raw) = self.get(name) else { return Ok(None) };
        let list = |text: &str| serde_json::from_str::<Vec<String>>(text).ok();
        let one = unquoted(raw);
        let texts = list(raw).or_else(|| one.as_deref().and_then(list));
        texts.or_else(|| one.map(|one| vec![one])).map(Some).ok_or_else(|| {
            let tool = self.tool;
            UsageError::new(format!("Parameter '{name}' of {tool} must be a list of strings."))
        })
    }

    /// A text in up to `most` phrasings, a line each or in a list, without those that are blank;
    /// `None` if there is no other. A text of more lines is one phrasing. The parameter's type is a
    /// string, because some clients want each parameter to have one type.
    pub(crate) fn phrasings(
        &self,
        name: &str,
        most: usize,
    ) -> Result<Option<Vec<String>>, UsageError> {
        let not_text = || format!("Parameter '{name}' of {} must be a string.", self.tool);
        let texts = self.texts(name).map_err(|_| UsageError::new(not_text()))?;
        let mut phrasings = texts.unwrap_or_default();
        if let [text] = phrasings.as_slice() {
            let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            if (2..=most).contains(&lines.len()) {
                phrasings = lines.into_iter().map(str::to_owned).collect();
            }
        }
        phrasings.retain(|text| !text.trim().is_empty());
        if phrasings.len() > most {
            return Err(UsageError::new(format!(
                "Parameter '{name}' of {} takes at most {most} phrasings.",
                self.tool
            )));
        }
        Ok(Some(phrasings).filter(|phrasings| !phrasings.is_empty()))
    }

    /// The fields other than these, raw.
    pub(crate) fn others(&self, known: &[&str]) -> Vec<(&str, &str)> {
        let fields = self.fields.iter().map(|(key, value)| (key.as_ref(), value.as_ref()));
        fields.filter(|(key, _)| !known.contains(key)).collect()
    }

    /// Refuses parameters other than these.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), UsageError> {
        match self.others(known).first() {
            None => Ok(()),
            Some((name, _)) => Err(UsageError::new(format!(
                "Unknown parameter {} of {}. Parameters: {}",
                quoted(name),
                self.tool,
                known.join(", "),
            ))),
        }
    }
}

/// The content of a JSON string.
pub(crate) fn unquoted(raw: &str) -> Option<String> {
    raw.starts_with('"').then(|| serde_json::from_str(raw).ok()).flatten()
}

/// Writes an object whose values are raw.
pub(crate) fn object<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Box<RawValue> {
    RawValue::from_string(object_text(fields)).expect("the values are JSON")
}

/// The text of an object whose values are raw.
pub(crate) fn object_text<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = "{".to_owned();
    for (key, value) in fields {
        text.extend((text.len() > 1).then_some(','));
        text.push_str(&json_text(key));
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

/// Writes a JSON string.
pub(crate) fn json_text(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}
