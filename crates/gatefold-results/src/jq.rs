//! jq programs over JSON: those of models, and those of a configuration.
//!
//! Nothing here bounds their time or their memory: it is for a process that somebody else bounds.

use std::borrow::Cow;

use gatefold_catalog::with_whole_pairs;
use jaq_core::data::JustLut;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Error, Exn, Filter, Vars};
use jaq_json::{Val, read};

use crate::json::{JsonEvent, JsonWalk, MalformedJson};
use crate::lines::head;
use crate::paths;

/// The longest number, in digits: a longer one is read in a time that grows with the square.
const MAX_DIGITS: usize = 1_000;

/// The most values and bytes that a program gives.
const MAX_VALUES: usize = 100_000;
const MAX_OUTPUT_BYTES: usize = 4 << 20;

/// What does not exist here: it would read the environment or the clock's zone, write to the log, or end
/// the process.
const WITHHELD: &[&str] = &[
    "debug",
    "debug_empty",
    "env",
    "halt",
    "halt_error",
    "input_line_number",
    "localtime",
    "stderr",
    "stderr_empty",
    "strflocaltime",
];

/// What a program gave.
#[derive(Debug)]
pub struct JqOutcome {
    /// A value a line, as JSON.
    pub lines: String,
    pub values: usize,
    /// The only value, if it is a text.
    single: Option<String>,
}

impl JqOutcome {
    /// A value a line, as JSON. A text alone is itself.
    pub fn into_text(self) -> String {
        self.single.unwrap_or(self.lines)
    }
}

/// Why a program gave nothing.
///
/// The message names no tool and no parameter: each caller has others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JqFault {
    /// The program is malformed, or uses what does not exist here.
    #[error("{0}")]
    Program(String),
    #[error("the input is not JSON, so jq cannot read it")]
    NotJson,
    #[error("the input has a number of more than {MAX_DIGITS} digits, so jq cannot read it")]
    LongNumber,
    /// Holds what jq says, which may repeat values, and what the input is: "has the members `a`".
    #[error("the jq program does not fit the input: {message}; the input {input}")]
    Unfit { message: String, input: String },
    #[error(
        "the jq program gives more than {MAX_VALUES} values or {} MiB: select fewer, or fewer members of each",
        MAX_OUTPUT_BYTES >> 20
    )]
    TooMuch,
}

/// Says what is wrong with a program, without running it.
pub fn check(program: &str) -> Result<(), JqFault> {
    compiled(program).map(drop)
}

/// Runs a program over a text of JSON, for as long as it takes and with as much memory.
pub fn run(text: &str, program: &str) -> Result<JqOutcome, JqFault> {
    check_input(text)?;
    let filter = compiled(program)?;
    let harmless = with_whole_pairs(text);
    let input = read::parse_single(harmless.as_bytes()).map_err(|_| JqFault::NotJson)?;
    let context = Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new([]));
    let (mut lines, mut values, mut single) = (String::new(), 0, None);
    for value in filter.id.run((context, input)) {
        let value = match value.map_err(Exn::get_err) {
            Ok(value) => value,
            Err(Ok(error)) => return Err(unfit(text, &error)),
            Err(Err(_)) => return Err(JqFault::Program("the jq program broke off".to_owned())),
        };
        let line = value.to_string();
        values += 1;
        if values > MAX_VALUES || lines.len() + line.len() > MAX_OUTPUT_BYTES {
            return Err(JqFault::TooMuch);
        }
        single = match &value {
            Val::TStr(text) if values == 1 => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        };
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(JqOutcome { lines, values, single })
}

/// What fails, and the shape of what it was run over.
fn unfit(text: &str, error: &Error<Val>) -> JqFault {
    let message = error.to_string();
    let message = crate::json::text_of(&message).map_or(message.clone(), Cow::into_owned);
    let message =
        if message.chars().count() > 200 { format!("{}...", head(&message, 200)) } else { message };
    JqFault::Unfit { message, input: paths::described(text.trim()) }
}

fn compiled(program: &str) -> Result<Filter<JustLut<Val>>, JqFault> {
    let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let defs = defs.filter(|def| !WITHHELD.contains(&def.name));
    let funs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let funs = funs.filter(|(name, ..)| !WITHHELD.contains(name));
    let arena = Arena::default();
    let file = File { code: program, path: () };
    let modules = Loader::new(defs).load(&arena, file).map_err(|errors| {
        let at = errors.first().map(|(_, error)| syntax_fault(program, error));
        JqFault::Program(at.unwrap_or_else(|| "the jq program is malformed".to_owned()))
    })?;
    Compiler::default().with_funs(funs).compile(modules).map_err(|errors| {
        let unknown = errors.iter().flat_map(|(_, errors)| errors).next();
        JqFault::Program(match unknown {
            Some((name, _)) => {
                format!("the jq program uses `{}`, which is not known here", head(name, 60))
            }
            None => "the jq program is malformed".to_owned(),
        })
    })
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
        Some(at) => {
            let place = program.get(..at).map_or(at, |before| before.chars().count()) + 1;
            format!("the jq program is malformed at character {place}: `{}`", head(rest, 40))
        }
        None => "the jq program ends too early".to_owned(),
    }
}

/// Refuses what is not JSON, and what would take too long to read as jq's values.
fn check_input(text: &str) -> Result<(), JqFault> {
    let mut walk = JsonWalk::new(text);
    while let Some(event) = walk.step().map_err(|MalformedJson| JqFault::NotJson)? {
        if matches!(event, JsonEvent::Number(number) if number.len() > MAX_DIGITS) {
            return Err(JqFault::LongNumber);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
