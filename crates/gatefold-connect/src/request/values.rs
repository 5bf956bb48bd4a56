//! Values in the styles of OpenAPI (3.2, "Style Values"), which are those of RFC 6570.

use serde_json::Value;

use crate::action::{ParameterSpec, Style};

use super::error::RequestError;
use super::escape::Escape;

/// How one argument is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writing<'a> {
    pub(super) argument: &'a str,
    pub(super) name: &'a str,
    pub(super) style: Style,
    pub(super) explode: bool,
    pub(super) escape: Escape,
}

/// How a parameter is written in its place.
pub(super) fn writing(parameter: &ParameterSpec, escape: Escape) -> Writing<'_> {
    Writing {
        argument: parameter.argument(),
        name: &parameter.name,
        style: parameter.style(),
        explode: parameter.explode(),
        escape,
    }
}

/// A value as the styles know it. Values within a list or an object are texts: where they are lists or
/// objects themselves, which no style defines, they are JSON.
enum Expandable {
    Text(String),
    List(Vec<String>),
    Members(Vec<(String, String)>),
}

impl Expandable {
    /// None for what counts as undefined: `null`, and what is empty (RFC 6570, section 2.3).
    fn new(value: &Value) -> Option<Self> {
        match value {
            Value::Array(items) => {
                let items: Vec<_> = items.iter().filter_map(text).collect();
                (!items.is_empty()).then_some(Self::List(items))
            }
            Value::Object(members) => {
                let members: Vec<_> = members
                    .iter()
                    .filter_map(|(name, value)| Some((name.clone(), text(value)?)))
                    .collect();
                (!members.is_empty()).then_some(Self::Members(members))
            }
            scalar => text(scalar).map(Self::Text),
        }
    }
}

/// A value as a text: numbers keep their own, lists and objects are JSON, and `null` is none.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

impl Writing<'_> {
    /// The value as pairs of a query, a form or a cookie. None of them where it is undefined.
    pub(super) fn pairs(&self, value: &Value) -> Result<Vec<(String, String)>, RequestError> {
        if self.style == Style::DeepObject {
            let mut pairs = Vec::new();
            self.deep(&self.escaped(self.name), value, &mut pairs)?;
            return Ok(pairs);
        }
        let name = self.escaped(self.name);
        Ok(match Expandable::new(value) {
            None => Vec::new(),
            Some(Expandable::Text(text)) => vec![(name, self.escaped(&text))],
            Some(Expandable::List(items)) if self.explode => {
                items.iter().map(|item| (name.clone(), self.escaped(item))).collect()
            }
            Some(Expandable::Members(members)) if self.explode => members
                .iter()
                .map(|(name, value)| (self.escaped(name), self.escaped(value)))
                .collect(),
            Some(Expandable::List(items)) => vec![(name, self.joined(&items)?)],
            Some(Expandable::Members(members)) => vec![(name, self.joined(&flat(members))?)],
        })
    }

    /// The value as one text, for a path or a header. None where the value is undefined.
    pub(super) fn segment(&self, value: &Value) -> Result<Option<String>, RequestError> {
        Expandable::new(value).map(|value| self.expanded(value)).transpose()
    }

    fn expanded(&self, value: Expandable) -> Result<String, RequestError> {
        match self.style {
            Style::Matrix => return self.matrix(value),
            Style::Label => return self.label(value),
            _ => {}
        }
        match value {
            Expandable::Text(text) => Ok(self.escaped(&text)),
            Expandable::List(items) => self.joined(&items),
            Expandable::Members(members) if self.explode => {
                let members = members.iter().map(|(name, value)| {
                    self.check(name, &['=', ','])?;
                    self.check(value, &[','])?;
                    Ok(format!("{}={}", self.escaped(name), self.escaped(value)))
                });
                Ok(members.collect::<Result<Vec<_>, _>>()?.join(","))
            }
            Expandable::Members(members) => self.joined(&flat(members)),
        }
    }

    fn matrix(&self, value: Expandable) -> Result<String, RequestError> {
        let name = self.escaped(self.name);
        let pair = |name: &str, value: &str| match value {
            "" => format!(";{name}"),
            _ => format!(";{name}={value}"),
        };
        Ok(match value {
            Expandable::Text(text) => pair(&name, &self.escaped(&text)),
            Expandable::List(items) if self.explode => {
                items.iter().map(|item| pair(&name, &self.escaped(item))).collect()
            }
            Expandable::Members(members) if self.explode => members
                .iter()
                .map(|(name, value)| pair(&self.escaped(name), &self.escaped(value)))
                .collect(),
            Expandable::List(items) => pair(&name, &self.joined(&items)?),
            Expandable::Members(members) => pair(&name, &self.joined(&flat(members))?),
        })
    }

    fn label(&self, value: Expandable) -> Result<String, RequestError> {
        let dots = Self { escape: Escape::Dots, ..*self };
        let items = match value {
            Expandable::Text(text) => vec![self.escaped(&text)],
            Expandable::List(items) if self.explode => {
                items.iter().map(|item| dots.escaped(item)).collect()
            }
            Expandable::Members(members) if self.explode => members
                .iter()
                .map(|(name, value)| format!("{}={}", dots.escaped(name), dots.escaped(value)))
                .collect(),
            Expandable::List(items) => vec![self.joined(&items)?],
            Expandable::Members(members) => vec![self.joined(&flat(members))?],
        };
        Ok(format!(".{}", items.join(".")))
    }

    /// `name[member]=value`. Below the first level no specification says anything. This is what PHP, `qs`, Rack
    /// and Stripe read: members in further brackets, and items by their places.
    fn deep(
        &self,
        name: &str,
        value: &Value,
        pairs: &mut Vec<(String, String)>,
    ) -> Result<(), RequestError> {
        let open = self.escaped("[");
        let close = self.escaped("]");
        match value {
            Value::Object(members) => {
                // What is not sent cannot be misread.
                for (member, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                    if member.contains(['[', ']']) {
                        let fault = "has a member with a bracket, which this API reads as its end";
                        return Err(RequestError::argument(self.argument, fault));
                    }
                    let name = format!("{name}{open}{}{close}", self.escaped(member));
                    self.deep(&name, value, pairs)?;
                }
            }
            Value::Array(items) => {
                for (place, value) in items.iter().enumerate() {
                    self.deep(&format!("{name}{open}{place}{close}"), value, pairs)?;
                }
            }
            scalar => {
                pairs.extend(text(scalar).map(|text| (name.to_owned(), self.escaped(&text))));
            }
        }
        Ok(())
    }

    fn joined(&self, items: &[String]) -> Result<String, RequestError> {
        let delimiter = match self.style {
            Style::SpaceDelimited => ' ',
            Style::PipeDelimited => '|',
            Style::TabDelimited => '\t',
            _ => ',',
        };
        // An encoded comma differs from one between items. The other delimiters are encoded themselves.
        let is_ambiguous = delimiter != ',' || self.escape == Escape::Nothing;
        if is_ambiguous {
            items.iter().try_for_each(|item| self.check(item, &[delimiter]))?;
        }
        let items: Vec<_> = items.iter().map(|item| self.escape.text(item)).collect();
        Ok(items.join(&self.escape.delimiter(delimiter)))
    }

    /// Refuses characters that the server could not tell from those between items.
    fn check(&self, item: &str, delimiters: &[char]) -> Result<(), RequestError> {
        let is_encoded = self.escape != Escape::Nothing && delimiters.contains(&',');
        let Some(found) = item.chars().find(|c| delimiters.contains(c)).filter(|_| !is_encoded)
        else {
            return Ok(());
        };
        let found = match found {
            ' ' => "a space".to_owned(),
            '\t' => "a tab".to_owned(),
            other => format!("`{other}`"),
        };
        let fault =
            format!("has an item with {found}, which this API reads as the end of the item");
        Err(RequestError::argument(self.argument, fault))
    }

    fn escaped(&self, text: &str) -> String {
        self.escape.text(text).into_owned()
    }
}

fn flat(members: Vec<(String, String)>) -> Vec<String> {
    members.into_iter().flat_map(|(name, value)| [name, value]).collect()
}
