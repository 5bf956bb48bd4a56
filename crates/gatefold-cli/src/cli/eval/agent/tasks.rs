//! Tasks for a model: read from JSON lines, with every fault and its line.

use std::path::Path;

use gatefold_model::{AssistantMessage, History, Round, Turn, UserMessage};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cli::failure::usage;

/// The largest file that is read, in bytes.
const FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The most tasks of one file.
const MAX_TASKS: usize = 10_000;

/// The most calls that a task can want.
const MAX_CALLS: usize = 100;

/// The most exchanges that can come before a task.
const MAX_EXCHANGES: usize = 200;

/// How many faults of one file are told.
const SHOWN_FAULTS: usize = 20;

/// One task, and how to tell whether it was done.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Task {
    /// Its line in the file, counted from 1.
    pub(super) line: usize,
    pub(super) request: String,
    /// It ends with the request.
    pub(super) conversation: History,
    /// The ids of the tools that fit. Empty if the task needs none.
    pub(super) tools: Vec<String>,
    /// Members that the arguments of a call must have, among others.
    pub(super) arguments: Option<Map<String, Value>>,
    pub(super) check: Option<AnswerCheck>,
    /// How many calls of tools it takes.
    pub(super) calls: usize,
}

/// What the last answer must and must not contain, whatever the case of its letters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct AnswerCheck {
    contains: Vec<String>,
    lacks: Vec<String>,
}

impl AnswerCheck {
    pub(super) fn holds(&self, answer: &str) -> bool {
        let answer = answer.to_lowercase();
        self.contains.iter().all(|text| answer.contains(text))
            && !self.lacks.iter().any(|text| answer.contains(text))
    }

    fn read(value: Value) -> Result<Self, String> {
        const FORM: &str = "`check` must be a text, or an object with `contains` or `lacks`";
        let check = match value {
            Value::Object(mut members) => {
                let mut take = |name| members.remove(name).map_or(Ok(Vec::new()), texts);
                let check = Self { contains: take("contains")?, lacks: take("lacks")? };
                if let Some(other) = members.keys().next() {
                    return Err(format!("`check` has an unknown member `{other}`"));
                }
                check
            }
            text @ Value::String(_) => Self { contains: texts(text)?, lacks: Vec::new() },
            _ => return Err(FORM.to_owned()),
        };
        if check == Self::default() { Err(FORM.to_owned()) } else { Ok(check) }
    }
}

/// One text or several, in lower case.
fn texts(value: Value) -> Result<Vec<String>, String> {
    let values = match value {
        Value::Array(values) => values,
        one => vec![one],
    };
    let text = |value: Value| match value {
        Value::String(text) if !text.is_empty() => Ok(text.to_lowercase()),
        _ => Err("`check` may have only texts that are not empty".to_owned()),
    };
    values.into_iter().map(text).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskLine {
    request: String,
    #[serde(default)]
    before: Vec<Exchange>,
    tools: Vec<String>,
    arguments: Option<Map<String, Value>>,
    check: Option<Value>,
    calls: Option<usize>,
}

/// What somebody said, and what the model answered.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    user: String,
    assistant: String,
}

/// What was said before a request, and then the request.
fn conversation(before: &[Exchange], request: &str) -> Result<History, String> {
    if before.len() > MAX_EXCHANGES {
        return Err(format!("`before` has more than {MAX_EXCHANGES} exchanges"));
    }
    let mut turns = Vec::with_capacity(2 * before.len() + 1);
    for Exchange { user, assistant } in before {
        let (Ok(said), Ok(answer)) =
            (UserMessage::text(user), AssistantMessage::of_text(assistant))
        else {
            return Err("`before` has a text that is empty".to_owned());
        };
        let answer = Round::new(answer, Vec::new()).expect("a text makes no calls");
        turns.extend([Turn::User(said), Turn::Round(answer)]);
    }
    let request = UserMessage::text(request).map_err(|_| "`request` is empty".to_owned())?;
    turns.push(Turn::User(request));
    Ok(History::try_from(turns).expect("each answer follows what was said"))
}

impl Task {
    fn read(line: usize, text: &str) -> Result<Self, String> {
        let read = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
        let TaskLine { request, before, tools, arguments, check, calls } = read;
        let conversation = conversation(&before, &request)?;
        if tools.is_empty() && arguments.is_some() {
            return Err("`arguments` needs `tools` that have them".to_owned());
        }
        let needed = if tools.is_empty() { 0..=0 } else { 1..=MAX_CALLS };
        let calls = calls.unwrap_or(*needed.start());
        if !needed.contains(&calls) {
            let wanted = if tools.is_empty() {
                "0 where `tools` is empty".to_owned()
            } else {
                format!("from 1 to {MAX_CALLS}")
            };
            return Err(format!("`calls` must be {wanted}"));
        }
        let check = check.map(AnswerCheck::read).transpose()?;
        Ok(Self { line, request, conversation, tools, arguments, check, calls })
    }
}

/// The parser's words without its line, which is always the first.
fn unreadable(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(what) => format!("{what}, at column {}", error.column()),
        None => text,
    }
}

/// Reads the tasks of a file. Empty lines count for the numbers of lines alone.
pub(super) fn read_tasks(path: &Path) -> anyhow::Result<Vec<Task>> {
    let shown = path.display();
    let unreadable = |error| usage(format!("`{shown}` cannot be read: {error}"));
    let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
    if bytes > FILE_BYTES {
        return Err(usage(format!("`{shown}` has {bytes} bytes, more than {FILE_BYTES}")));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    parse(&text).map_err(|faults| {
        let help = "`gatefold eval agent --help` shows the format";
        usage(format!("`{shown}` has no usable tasks:\n  {}\n  help: {help}", faults.join("\n  ")))
    })
}

fn parse(text: &str) -> Result<Vec<Task>, Vec<String>> {
    let (mut tasks, mut faults) = (Vec::new(), Vec::new());
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (at, line) in lines {
        match Task::read(at + 1, line) {
            Ok(task) if tasks.len() < MAX_TASKS => tasks.push(task),
            Ok(_) => {
                faults.push(format!("line {}: more than {MAX_TASKS} tasks", at + 1));
                break;
            }
            Err(fault) => faults.push(format!("line {}: {fault}", at + 1)),
        }
    }
    if tasks.is_empty() && faults.is_empty() {
        faults.push("it is empty".to_owned());
    }
    let more = faults.len().saturating_sub(SHOWN_FAULTS);
    faults.truncate(SHOWN_FAULTS);
    if more > 0 {
        faults.push(format!("and {more} more"));
    }
    if faults.is_empty() { Ok(tasks) } else { Err(faults) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_what_its_line_says() {
        let read = |text: &str| parse(text).unwrap().remove(0);
        let task = read("\n{\"request\":\"hello\",\"tools\":[]}");
        assert_eq!((task.line, task.calls, task.tools.len()), (2, 0, 0));
        let line =
            r#"{"request":"r","tools":["a__b"],"arguments":{"x":1},"check":"Done","calls":2}"#;
        let task = read(line);
        assert_eq!((task.calls, task.arguments.unwrap().len()), (2, 1));
        assert!(task.check.unwrap().holds("it is done."));
        assert_eq!(read(r#"{"request":"r","tools":["a__b"]}"#).calls, 1);
        let before = r#"{"request":"r","tools":[],"before":[{"user":"u","assistant":"a"}]}"#;
        let turns = read(before).conversation;
        assert!(turns.turns().len() == 3 && turns.awaits_answer());
    }

    #[test]
    fn a_check_wants_all_that_it_names_and_nothing_that_must_be_missing() {
        let line =
            r#"{"request":"r","tools":[],"check":{"contains":["12","Open"],"lacks":"error"}}"#;
        let check = parse(line).unwrap().remove(0).check.unwrap();
        assert!(check.holds("There are 12, all OPEN."));
        assert!(!check.holds("There are 12.") && !check.holds("12 open, one Error"));
    }

    #[track_caller]
    fn refuses(line: &str, fault: &str) {
        assert_eq!(parse(line), Err(vec![format!("line 1: {fault}")]), "{line}");
    }

    #[test]
    fn a_fault_is_told_with_its_line() {
        refuses("{", "EOF while parsing an object, at column 1");
        refuses(r#"{"request":" ","tools":[]}"#, "`request` is empty");
        let blank = r#"{"request":"r","tools":[],"before":[{"user":"u","assistant":" "}]}"#;
        refuses(blank, "`before` has a text that is empty");
        refuses(r#"{"request":"r"}"#, "missing field `tools`, at column 15");
        refuses(
            r#"{"request":"r","tools":[],"arguments":{}}"#,
            "`arguments` needs `tools` that have them",
        );
        refuses(
            r#"{"request":"r","tools":[],"calls":1}"#,
            "`calls` must be 0 where `tools` is empty",
        );
        refuses(r#"{"request":"r","tools":["a"],"calls":0}"#, "`calls` must be from 1 to 100");
        let form = "`check` must be a text, or an object with `contains` or `lacks`";
        refuses(r#"{"request":"r","tools":[],"check":7}"#, form);
        refuses(r#"{"request":"r","tools":[],"check":{}}"#, form);
        let unknown = "`check` has an unknown member `jq`";
        refuses(r#"{"request":"r","tools":[],"check":{"contains":"a","jq":"."}}"#, unknown);
        let texts = "`check` may have only texts that are not empty";
        refuses(r#"{"request":"r","tools":[],"check":""}"#, texts);
        assert!(parse("\n\n").is_err());
    }

    #[test]
    fn all_faults_are_told_up_to_a_number() {
        let text = format!("{{}}\n{}", "{\"request\":\"r\",\"tools\":[]}\n[]\n".repeat(30));
        let faults = parse(&text).unwrap_err();
        assert_eq!(faults.len(), SHOWN_FAULTS + 1);
        assert!(faults[0].starts_with("line 1: ") && faults[1].starts_with("line 3: "));
        assert_eq!(faults.last().unwrap(), "and 11 more");
    }
}
