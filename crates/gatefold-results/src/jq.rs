//! A jq program that a model wrote, over a kept result.

mod metered;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use jaq_core::data::JustLut;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::native::{self, Fun};
use jaq_core::{Compiler, Ctx, Error, Filter, RunPtr, ValR, Vars};
use jaq_json::{Val, read};

use crate::ReadingError;
use crate::json::{JsonEvent, JsonWalk, MalformedJson};
use crate::lines::head;
use crate::paths;
use metered::{Exhaustion, Metered};

/// How long a program may run.
const MAX_TIME: Duration = Duration::from_secs(5);

/// The longest program, in bytes.
const MAX_PROGRAM: usize = 4_000;

/// The memory that a result may take as jq's values, in bytes.
const MAX_INPUT_BYTES: usize = 512 << 20;

/// What a value, a container and a member take at most, in bytes.
const VALUE_BYTES: usize = 80;
const CONTAINER_BYTES: usize = 250;
const MEMBER_BYTES: usize = 64;

/// The longest number, in digits: a longer one is read in a time that grows with the square.
const MAX_DIGITS: usize = 1_000;

/// The most values and bytes that a program gives.
const MAX_VALUES: usize = 100_000;
const MAX_OUTPUT_BYTES: usize = 4 << 20;

/// The stack on which a program runs, in a thread of its own. Pages that are not touched cost nothing.
const STACK_BYTES: usize = 64 << 20;

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

/// In place of jaq's own, which changes slices. Null has no name yet where it is defined.
const JOIN: &str = r#"
def join($s): reduce .[] as $x ([][0]; (if . == [][0] then "" else . + $s end)
  + (if $x == [][0] then "" else $x | tostring end)) // "";
"#;

type JqData = JustLut<Metered>;

/// What a program gave.
#[derive(Debug)]
pub struct JqOutcome {
    /// A value a line, as JSON. A text alone is itself.
    pub text: String,
    pub values: usize,
}

/// Runs a program over a text of JSON. It takes at most some 800 MiB, for a text of 16 MiB that is all
/// small values; mostly ten times the text.
pub fn run(text: &str, program: &str) -> Result<JqOutcome, ReadingError> {
    run_within(text, program, MAX_TIME)
}

fn run_within(text: &str, program: &str, time: Duration) -> Result<JqOutcome, ReadingError> {
    if program.len() > MAX_PROGRAM {
        let message =
            format!("the jq program is longer than {MAX_PROGRAM} bytes: write a shorter one");
        return Err(ReadingError::Syntax(message));
    }
    check_input(text)?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread
            .spawn_scoped(scope, || run_here(text, program, time))
            .map(ScopedJoinHandle::join)
        {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => {
                Err(ReadingError::TooMuch("no thread is free just now: try again".to_owned()))
            }
        }
    })
}

fn run_here(text: &str, program: &str, time: Duration) -> Result<JqOutcome, ReadingError> {
    metered::begin(time);
    let filter = compiled(program)?;
    // A value that unwinds leaves nothing behind that others see.
    let run = AssertUnwindSafe(|| evaluated(text, &filter));
    catch_unwind(run).unwrap_or_else(|payload| match payload.downcast_ref::<Exhaustion>() {
        Some(exhaustion) => Err(exhausted(*exhaustion)),
        None => resume_unwind(payload),
    })
}

fn exhausted(exhaustion: Exhaustion) -> ReadingError {
    let advice = "select fewer values first, or read a part of the result with `path` or `grep`";
    ReadingError::TooMuch(match exhaustion {
        Exhaustion::Time => {
            format!(
                "the jq program ran longer than {} s and was stopped: {advice}",
                MAX_TIME.as_secs()
            )
        }
        Exhaustion::Memory => {
            let most = metered::MAX_BYTES >> 20;
            format!("the jq program made values of more than {most} MiB and was stopped: {advice}")
        }
        Exhaustion::Depth => format!("the jq program made values that are too deep: {advice}"),
    })
}

fn evaluated(text: &str, filter: &Filter<JqData>) -> Result<JqOutcome, ReadingError> {
    let harmless = without_half_pairs(text);
    let input = read::parse_single(harmless.as_bytes()).map_err(|_| not_json())?;
    let context = Ctx::<JqData>::new(&filter.lut, Vars::new([]));
    let input = Metered::new(input, crate::json::MAX_DEPTH);
    let (mut lines, mut values, mut single) = (String::new(), 0, None);
    for value in filter.id.run((context, input)) {
        let value = match value.map_err(jaq_core::Exn::get_err) {
            Ok(value) => value,
            Err(Ok(error)) => return Err(failure(text, &error)),
            Err(Err(_)) => return Err(ReadingError::Syntax("the jq program broke off".to_owned())),
        };
        let line = value.to_string();
        values += 1;
        if values > MAX_VALUES || lines.len() + line.len() > MAX_OUTPUT_BYTES {
            let most = MAX_OUTPUT_BYTES >> 20;
            let message = format!(
                "the jq program gives more than {MAX_VALUES} values or {most} MiB: select fewer, or \
                 fewer members of each"
            );
            return Err(ReadingError::TooMuch(message));
        }
        single = match value.value() {
            Val::TStr(text) if values == 1 => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        };
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(JqOutcome { text: single.unwrap_or(lines), values })
}

/// What fails, and the shape of what it was run over.
fn failure(text: &str, error: &Error<Metered>) -> ReadingError {
    let message = error.to_string();
    let message = crate::json::text_of(&message).map_or(message.clone(), Cow::into_owned);
    let message =
        if message.chars().count() > 200 { format!("{}...", head(&message, 200)) } else { message };
    let root = paths::described(text.trim());
    ReadingError::Unsuitable(format!(
        "the jq program does not fit the result: {message}; the result {root}"
    ))
}

fn compiled(program: &str) -> Result<Filter<JqData>, ReadingError> {
    let own = load::parse(JOIN, |parser| parser.defs()).expect("our own definition is right");
    let mut own = own.into_iter();
    let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let defs = defs.filter(|def| !WITHHELD.contains(&def.name));
    // It stays where it was, because later definitions use it.
    let defs = defs.map(|def| if def.name == "join" { own.next().unwrap_or(def) } else { def });
    let funs = jaq_core::funs().chain(jaq_std::funs());
    let funs = funs.filter(|(name, ..)| !WITHHELD.contains(name)).chain(own_functions());
    // Only a definition can call itself without touching a value.
    let words = program.split(|c: char| !c.is_alphanumeric() && c != '_');
    if words.clone().any(|word| word == "def") {
        let message = "`def` does not exist here: write the jq program without definitions";
        return Err(ReadingError::Syntax(message.to_owned()));
    }
    let arena = Arena::default();
    let file = File { code: program, path: () };
    let modules = Loader::new(defs).load(&arena, file).map_err(|errors| {
        let at = errors.first().map(|(_, error)| syntax_fault(program, error));
        ReadingError::Syntax(at.unwrap_or_else(|| "the jq program is malformed".to_owned()))
    })?;
    Compiler::default().with_funs(funs).compile(modules).map_err(|errors| {
        let unknown = errors.iter().flat_map(|(_, errors)| errors).next();
        ReadingError::Syntax(match unknown {
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

/// The functions that jaq has only for its own values.
fn own_functions() -> Vec<Fun<JqData>> {
    fn of(name: &'static str, count: usize, run: RunPtr<JqData>) -> Fun<JqData> {
        native::run::<JqData>((name, native::v(count), run))
    }
    vec![
        of("length", 0, |cv| metered::once(length(&cv.1))),
        of("tojson", 0, |cv| metered::once(Ok(Metered::from(cv.1.to_string())))),
        of("fromjson", 0, |cv| metered::once(from_json(&cv.1))),
        of("contains", 1, |cv| {
            native::unary(cv, |left, right| {
                Ok(Metered::from(contains(left.value(), right.value())))
            })
        }),
        of("has", 1, |cv| native::unary(cv, |value, key| has(&value, &key))),
        of("indices", 1, |cv| native::unary(cv, |value, part| indices(&value, &part))),
    ]
}

fn length(value: &Metered) -> ValR<Metered> {
    Ok(Metered::from(match value.value() {
        Val::Null => 0,
        Val::TStr(text) => {
            metered::work(value.weight());
            String::from_utf8_lossy(text).chars().count()
        }
        Val::Arr(items) => items.len(),
        Val::Obj(members) => members.len(),
        Val::Num(_) => {
            let is_negative = *value < Metered::from(0_usize);
            return if is_negative { -value.clone() } else { Ok(value.clone()) };
        }
        _ => return Err(Error::str(format_args!("{value} has no length"))),
    }))
}

fn from_json(value: &Metered) -> ValR<Metered> {
    let Val::TStr(text) = value.value() else { return Err(Error::str("it is not a text")) };
    let text = String::from_utf8_lossy(text);
    if check_input(&text).is_err() {
        return Err(Error::str("the text is not JSON"));
    }
    metered::take(text.len().saturating_mul(8));
    let parsed = read::parse_single(text.as_bytes()).map_err(|_| Error::str("it is not JSON"))?;
    Ok(Metered::new(parsed, crate::json::MAX_DEPTH))
}

/// It goes as deep as the value, which is limited.
fn contains(left: &Val, right: &Val) -> bool {
    metered::work(1);
    match (left, right) {
        (Val::TStr(left), Val::TStr(right)) => {
            metered::work(left.len() / 64);
            memchr::memmem::find(left, right).is_some()
        }
        (Val::Arr(left), Val::Arr(right)) => {
            right.iter().all(|right| left.iter().any(|left| contains(left, right)))
        }
        (Val::Obj(left), Val::Obj(right)) => right
            .iter()
            .all(|(name, right)| left.get(name).is_some_and(|left| contains(left, right))),
        _ => left == right,
    }
}

fn has(value: &Metered, key: &Metered) -> ValR<Metered> {
    match (value.value(), key.value()) {
        (Val::Obj(members), key) => Ok(Metered::from(members.contains_key(key))),
        (Val::Arr(items), Val::Num(_)) => {
            let index = jaq_std::ValT::as_isize(key);
            let index = index.and_then(|index| usize::try_from(index).ok());
            Ok(Metered::from(index.is_some_and(|index| index < items.len())))
        }
        _ => Err(Error::index(value.clone(), key.clone())),
    }
}

fn indices(value: &Metered, part: &Metered) -> ValR<Metered> {
    let places: Vec<usize> = match (value.value(), part.value()) {
        (Val::TStr(text), Val::TStr(part)) if !part.is_empty() => {
            let found = memchr::memmem::find_iter(text, &part[..]);
            let (mut counted, mut count) = (0, 0);
            let places = found.map(|at| {
                count += String::from_utf8_lossy(&text[counted..at]).chars().count();
                counted = at;
                count
            });
            places.collect()
        }
        (Val::Arr(items), part) if !matches!(part, Val::Arr(_)) => {
            let same = items.iter().enumerate().filter(|(_, item)| {
                metered::work(1);
                *item == part
            });
            same.map(|(at, _)| at).collect()
        }
        _ => return Err(Error::index(value.clone(), part.clone())),
    };
    Ok(places.into_iter().map(Metered::from).collect())
}

fn not_json() -> ReadingError {
    let message = "the result is not JSON, so `jq` cannot read it: use `lines` or `grep`";
    ReadingError::Unsuitable(message.to_owned())
}

/// Refuses what would take too much memory or time as jq's values.
fn check_input(text: &str) -> Result<(), ReadingError> {
    let mut walk = JsonWalk::new(text);
    let mut bytes = text.len();
    while let Some(event) = walk.step().map_err(|MalformedJson| not_json())? {
        bytes += match event {
            JsonEvent::OpenArray | JsonEvent::OpenObject => CONTAINER_BYTES,
            JsonEvent::Key(_) => MEMBER_BYTES,
            JsonEvent::Number(number) if number.len() > MAX_DIGITS => {
                let message = format!(
                    "the result has a number of more than {MAX_DIGITS} digits, so `jq` cannot read it: \
                     use `path` or `grep`"
                );
                return Err(ReadingError::Unsuitable(message));
            }
            JsonEvent::Text(_) | JsonEvent::Number(_) => VALUE_BYTES,
            JsonEvent::Boolean | JsonEvent::Null => 16,
            JsonEvent::Close => 0,
        };
    }
    if bytes <= MAX_INPUT_BYTES {
        return Ok(());
    }
    Err(ReadingError::TooMuch(
        "the result has too many values for `jq`: read a part of it with `path` or `grep`"
            .to_owned(),
    ))
}

/// Half of a surrogate pair, which jaq refuses, becomes the mark of a character that is lost.
fn without_half_pairs(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return text.into();
    }
    crate::json::with_whole_pairs(text).into()
}

#[cfg(test)]
mod tests;
