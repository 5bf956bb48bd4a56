//! A jq program over an answer.

use std::fmt;

use jaq_core::data::JustLut;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::native::{self, Fun};
use jaq_core::{Compiler, Ctx, Error, Filter, Vars};
use jaq_json::{Val, read};
use serde_json::Value;
use serde_json::value::RawValue;

/// The most values that a program may give.
const MAX_VALUES: usize = 10_000;

/// The most bytes of JSON that a program may give.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The longest number that a program is given, in digits.
const MAX_DIGITS: usize = 1000;

/// The most members that are named where a program fails.
const MAX_KEYS: usize = 20;

/// What a program may not use as jaq has it: it would read the environment, write to the log, end the process,
/// or overflow the stack. The last is `fromjson`, which we replace.
const WITHHELD: [&str; 9] = [
    "debug",
    "debug_empty",
    "env",
    "fromjson",
    "halt",
    "halt_error",
    "input_line_number",
    "stderr",
    "stderr_empty",
];

/// A compiled jq program. It comes from the configuration, so its time is not limited.
pub struct Extract {
    filter: Filter<JustLut<Val>>,
}

impl Extract {
    /// Compiles a program. The fault names the place in it.
    pub fn new(program: &str) -> Result<Self, String> {
        let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let defs = defs.filter(|def| !WITHHELD.contains(&def.name));
        let funs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let funs = funs.filter(|(name, ..)| !WITHHELD.contains(name)).chain([from_json()]);
        let arena = Arena::default();
        let file = File { code: program, path: () };
        let modules = Loader::new(defs).load(&arena, file).map_err(|errors| {
            let at = errors.first().map(|(_, error)| syntax_fault(program, error));
            at.unwrap_or_else(|| "the jq program is malformed".to_owned())
        })?;
        let filter = Compiler::default().with_funs(funs).compile(modules).map_err(|errors| {
            let unknown = errors.iter().flat_map(|(_, errors)| errors).next();
            match unknown {
                Some((name, _)) => format!("the jq program uses `{name}`, which is not known here"),
                None => "the jq program is malformed".to_owned(),
            }
        })?;
        Ok(Self { filter })
    }

    /// What the program gives for a JSON text. The fault says what the text looks like, and none of its values.
    pub(super) fn run(&self, json: &str) -> Result<ExtractedValues, String> {
        let (parsed, input) = harmless(json.as_bytes())
            .ok_or_else(|| "it is no JSON that this action can extract from".to_owned())?;
        let failed = |fault: &str| format!("what this action extracts {fault}: {}", shape(&parsed));
        let context = Ctx::<JustLut<Val>>::new(&self.filter.lut, Vars::new([]));
        let mut texts = Vec::new();
        let mut bytes = 0;
        for value in self.filter.id.run((context, input)) {
            let value = value.map_err(|_| failed("does not fit the answer"))?;
            let text = value.to_string();
            bytes += text.len();
            if texts.len() >= MAX_VALUES || bytes > MAX_BYTES {
                return Err(failed("is too much"));
            }
            let json = RawValue::from_string(text).map_err(|_| failed("is not JSON"))?;
            texts.push(json);
        }
        Ok(ExtractedValues(texts))
    }
}

/// `fromjson`, which `tonumber` uses too, for texts that an API sent.
fn from_json() -> Fun<JustLut<Val>> {
    native::run(("fromjson", native::v(0), |(_, value)| {
        let parsed = match &value {
            Val::TStr(text) => harmless(text).map(|(_, value)| value),
            _ => None,
        };
        native::bome(parsed.ok_or_else(|| Error::str("it is not JSON")))
    }))
}

/// A JSON text as a value. jaq reads it with as much of the stack as it is deep, which serde_json limits, and
/// in a time that grows with the square of a number's digits.
fn harmless(json: &[u8]) -> Option<(Value, Val)> {
    let parsed: Value = serde_json::from_slice(json).ok()?;
    if has_long_number(&parsed) {
        return None;
    }
    Some((parsed, read::parse_single(json).ok()?))
}

/// It goes as deep as the value, which serde_json limits to 128 levels.
fn has_long_number(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_str().len() > MAX_DIGITS,
        Value::Array(items) => items.iter().any(has_long_number),
        Value::Object(members) => members.values().any(has_long_number),
        _ => false,
    }
}

impl fmt::Debug for Extract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extract").finish_non_exhaustive()
    }
}

fn syntax_fault(program: &str, error: &load::Error<&str>) -> String {
    let found = match error {
        load::Error::Io(_) => return "the jq program imports a file, which it may not".to_owned(),
        load::Error::Lex(errors) => errors.first().map(|(_, found)| *found),
        load::Error::Parse(errors) => errors.first().map(|(_, found)| *found),
    };
    // The rest of the program begins at the fault.
    let rest = found.unwrap_or_default();
    let at = rest.as_ptr().addr().checked_sub(program.as_ptr().addr());
    match at.filter(|at| !rest.is_empty() && *at < program.len()) {
        Some(at) => format!("the jq program is malformed at byte {at}"),
        None => "the jq program ends too early".to_owned(),
    }
}

fn shape(value: &Value) -> String {
    match value {
        Value::Object(members) if members.is_empty() => {
            "the answer is an object without members".to_owned()
        }
        Value::Object(members) => {
            let names: Vec<_> =
                members.keys().take(MAX_KEYS).map(|name| format!("`{name}`")).collect();
            let more = if members.len() > MAX_KEYS { ", ..." } else { "" };
            format!("the answer is an object with {}{more}", names.join(", "))
        }
        Value::Array(items) => match items.first() {
            Some(first @ Value::Object(_)) => {
                let item = shape(first).replacen("the answer is", "of which the first is", 1);
                format!("the answer is a list of {}, {item}", items.len())
            }
            _ => format!("the answer is a list of {}", items.len()),
        },
        Value::String(_) => "the answer is a text".to_owned(),
        Value::Number(_) => "the answer is a number".to_owned(),
        Value::Bool(_) => "the answer is a boolean".to_owned(),
        Value::Null => "the answer is null".to_owned(),
    }
}

/// What a program gave, as JSON.
#[derive(Debug)]
pub(super) struct ExtractedValues(Vec<Box<RawValue>>);

impl ExtractedValues {
    /// One value a line. A text alone is itself.
    pub(super) fn text(&self) -> String {
        match &self.0[..] {
            [] => "nothing: what this action extracts is empty".to_owned(),
            [only] => serde_json::from_str(only.get()).unwrap_or_else(|_| only.get().to_owned()),
            several => several.iter().map(|value| value.get()).collect::<Vec<_>>().join("\n"),
        }
    }

    /// The value, or a list of several.
    pub(super) fn json(mut self) -> Option<Box<RawValue>> {
        match self.0.len() {
            0 => None,
            1 => self.0.pop(),
            _ => Some(serde_json::value::to_raw_value(&self.0).expect("JSON values are JSON")),
        }
    }
}
