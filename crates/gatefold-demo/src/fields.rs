//! Arguments and results: one description each, which gives both the schema and the check.

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

/// The largest magnitude of a number in a call.
const MAX_NUMBER: f64 = 1e15;
const MAX_WORD_CHARS: usize = 40;

/// One argument of a tool, or one property of its result.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    about: &'static str,
    presence: Presence,
}

/// The values a field may have. Results leave out the bounds that only arguments need.
#[derive(Clone)]
pub(crate) enum Kind {
    Text(Option<RangeInclusive<usize>>),
    /// Lower-case letters, digits and hyphens.
    Word,
    Choice(&'static [&'static str]),
    Integer(Option<RangeInclusive<i64>>),
    Number,
    Flag,
    List(Box<Kind>, Option<usize>),
    Object(Vec<Field>),
}

#[derive(Clone)]
enum Presence {
    Required,
    Optional,
    Default(Value),
}

/// A call's arguments after the check, with defaults filled in.
#[derive(Clone)]
pub(crate) struct Arguments(Map<String, Value>);

pub(crate) fn text(name: &'static str, about: &'static str) -> Field {
    Field::new(name, Kind::Text(None), about)
}

pub(crate) fn word(name: &'static str, about: &'static str) -> Field {
    Field::new(name, Kind::Word, about)
}

pub(crate) fn choice(
    name: &'static str,
    names: &'static [&'static str],
    about: &'static str,
) -> Field {
    Field::new(name, Kind::Choice(names), about)
}

pub(crate) fn integer(name: &'static str, about: &'static str) -> Field {
    Field::new(name, Kind::Integer(None), about)
}

pub(crate) fn number(name: &'static str, about: &'static str) -> Field {
    Field::new(name, Kind::Number, about)
}

pub(crate) fn flag(name: &'static str, about: &'static str) -> Field {
    Field::new(name, Kind::Flag, about)
}

pub(crate) fn list(name: &'static str, of: Kind, about: &'static str) -> Field {
    Field::new(name, Kind::List(Box::new(of), None), about)
}

/// The number of a row in one of the databases.
pub(crate) fn id(name: &'static str, about: &'static str) -> Field {
    integer(name, about).within(1..=1_000_000_000)
}

/// Which part of a listing a call wants.
pub(crate) fn page() -> [Field; 2] {
    [
        integer("limit", "Most entries to return.").within(1..=100).or(20),
        integer("offset", "Entries to skip, from next_offset of the page before.")
            .within(0..=1_000_000)
            .or(0),
    ]
}

impl Field {
    fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, about, presence: Presence::Required }
    }

    /// Bounds the length of a text, in characters, or of a list.
    pub(crate) fn up_to(mut self, most: usize) -> Self {
        match &mut self.kind {
            Kind::Text(bounds) => *bounds = Some(1..=most),
            Kind::List(_, bound) => *bound = Some(most),
            _ => unreachable!("`{}` has no length", self.name),
        }
        self
    }

    /// Lets a bounded text be empty.
    pub(crate) fn or_empty(mut self) -> Self {
        if let Kind::Text(Some(bounds)) = &mut self.kind {
            *bounds = 0..=*bounds.end();
        }
        self
    }

    pub(crate) fn within(mut self, bounds: RangeInclusive<i64>) -> Self {
        self.kind = Kind::Integer(Some(bounds));
        self
    }

    pub(crate) fn optional(mut self) -> Self {
        self.presence = Presence::Optional;
        self
    }

    pub(crate) fn or(mut self, default: impl Into<Value>) -> Self {
        self.presence = Presence::Default(default.into());
        self
    }

    fn signature(&self) -> String {
        let optional = if matches!(self.presence, Presence::Required) { "" } else { "?" };
        format!("{}{optional}: {}", self.name, self.kind.type_name())
    }

    fn schema(&self) -> Value {
        let mut schema = self.kind.schema();
        schema["description"] = self.about.into();
        if let Presence::Default(value) = &self.presence {
            schema["default"] = value.clone();
        }
        schema
    }
}

impl Kind {
    fn type_name(&self) -> String {
        match self {
            Self::Choice(names) => {
                names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join("|")
            }
            other => other.schema()["type"].as_str().unwrap_or_default().to_owned(),
        }
    }

    fn schema(&self) -> Value {
        match self {
            Self::Text(None) => json!({ "type": "string" }),
            Self::Text(Some(bounds)) if *bounds.start() == 0 => {
                json!({ "type": "string", "maxLength": bounds.end() })
            }
            Self::Text(Some(bounds)) => {
                json!({ "type": "string", "minLength": bounds.start(), "maxLength": bounds.end() })
            }
            Self::Word => {
                json!({ "type": "string", "pattern": "^[a-z0-9-]+$", "maxLength": MAX_WORD_CHARS })
            }
            Self::Choice(names) => json!({ "type": "string", "enum": names }),
            Self::Integer(None) => json!({ "type": "integer" }),
            Self::Integer(Some(bounds)) => {
                json!({ "type": "integer", "minimum": bounds.start(), "maximum": bounds.end() })
            }
            Self::Number => json!({ "type": "number" }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::List(of, None) => json!({ "type": "array", "items": of.schema() }),
            Self::List(of, Some(most)) => {
                json!({ "type": "array", "items": of.schema(), "minItems": 1, "maxItems": most })
            }
            Self::Object(fields) => Value::Object(schema(fields)),
        }
    }

    /// Says what is wrong with an argument's value.
    fn check(&self, value: &Value) -> Result<(), String> {
        match (self, value) {
            (Self::Text(bounds), Value::String(text)) => {
                check_text(text, bounds.as_ref().unwrap_or(&(0..=usize::MAX)))
            }
            (Self::Word, Value::String(text)) => check_word(text),
            (Self::Choice(names), Value::String(text)) if !names.contains(&text.as_str()) => {
                Err(format!("unknown choice `{text}`, expected one of `{}`", names.join("`, `")))
            }
            (Self::Choice(_), Value::String(_)) | (Self::Flag, Value::Bool(_)) => Ok(()),
            (Self::Integer(bounds), Value::Number(number)) if number.as_i64().is_some() => {
                let (value, bounds) = (number.as_i64().unwrap_or(0), bounds.as_ref());
                match bounds.filter(|bounds| !bounds.contains(&value)) {
                    Some(bounds) => Err(format!(
                        "must be from {} to {}, is {value}",
                        bounds.start(),
                        bounds.end()
                    )),
                    None => Ok(()),
                }
            }
            (Self::Number, Value::Number(number)) => {
                let fits = number.as_f64().is_some_and(|value| value.abs() <= MAX_NUMBER);
                if fits { Ok(()) } else { Err("is too large".to_owned()) }
            }
            (Self::List(of, most), Value::Array(items)) => {
                let most = most.unwrap_or(usize::MAX);
                if items.is_empty() || items.len() > most {
                    return Err(format!("must have 1 to {most} items, has {}", items.len()));
                }
                items.iter().try_for_each(|item| of.check(item))
            }
            (Self::Object(fields), Value::Object(members)) => {
                check(fields, members.clone()).map(drop)
            }
            _ => Err(format!("expected {}, found {value}", self.type_name())),
        }
    }
}

/// The schema of an object with these fields and no others.
pub(crate) fn schema(fields: &[Field]) -> Map<String, Value> {
    let properties: Map<_, _> =
        fields.iter().map(|field| (field.name.to_owned(), field.schema())).collect();
    let required: Vec<_> = fields
        .iter()
        .filter(|field| matches!(field.presence, Presence::Required))
        .map(|field| field.name)
        .collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let Value::Object(schema) = schema else { unreachable!("written as an object above") };
    schema
}

impl Arguments {
    /// Checks a call's arguments. The error tells the caller how to fix the call.
    pub(crate) fn parse(fields: &[Field], given: Map<String, Value>) -> Result<Self, String> {
        check(fields, given).map(Self).map_err(|reason| {
            let signature: Vec<_> = fields.iter().map(Field::signature).collect();
            let signature =
                if signature.is_empty() { "none".to_owned() } else { signature.join(", ") };
            format!("{reason}; arguments: {signature}")
        })
    }

    /// The text of an argument, empty when it was left out.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(crate) fn integer(&self, name: &str) -> i64 {
        self.0.get(name).and_then(Value::as_i64).unwrap_or_default()
    }

    /// An integer whose bounds exclude negative numbers.
    pub(crate) fn size(&self, name: &str) -> usize {
        usize::try_from(self.integer(name)).unwrap_or_default()
    }

    pub(crate) fn to_json(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }
}

fn check(fields: &[Field], mut given: Map<String, Value>) -> Result<Map<String, Value>, String> {
    if let Some(name) = given.keys().find(|name| fields.iter().all(|field| field.name != *name)) {
        let known: Vec<_> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
        return Err(match known.len() {
            0 => format!("unknown field `{name}`, there are no fields"),
            1 => format!("unknown field `{name}`, expected {}", known[0]),
            _ => format!("unknown field `{name}`, expected one of {}", known.join(", ")),
        });
    }
    let mut checked = Map::new();
    for field in fields {
        // Models often write `null` for an argument that they mean to leave out.
        match (given.remove(field.name).filter(|value| !value.is_null()), &field.presence) {
            (Some(value), _) => {
                let outcome = field.kind.check(&value);
                outcome.map_err(|reason| format!("`{}`: {reason}", field.name))?;
                checked.insert(field.name.to_owned(), value);
            }
            (None, Presence::Default(value)) => {
                checked.insert(field.name.to_owned(), value.clone());
            }
            (None, Presence::Optional) => {}
            (None, Presence::Required) => return Err(format!("missing field `{}`", field.name)),
        }
    }
    Ok(checked)
}

fn check_text(text: &str, bounds: &RangeInclusive<usize>) -> Result<(), String> {
    let length = text.chars().count();
    if !bounds.contains(&length) {
        let (least, most) = (bounds.start(), bounds.end());
        return Err(format!("must have {least} to {most} characters, has {length}"));
    }
    match text.chars().find(|c| c.is_control() && !"\t\r\n".contains(*c)) {
        Some(odd) => Err(format!("holds the control character {odd:?}, which is not allowed")),
        None => Ok(()),
    }
}

fn check_word(text: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if (1..=MAX_WORD_CHARS).contains(&text.len()) && text.chars().all(is_allowed) {
        return Ok(());
    }
    let rule = format!("use 1 to {MAX_WORD_CHARS} lower-case letters, digits and hyphens");
    Err(format!("`{text}` is not a plain word: {rule}"))
}
