//! The arguments of the tool that reads results.

use std::num::NonZeroUsize;

use serde_json::{Map, Value};

use crate::{GrepPattern, LetterCase, PartRange, ReadingError, ResultPart, ResultReading};

/// What the tool is for, in its description.
pub const READ_DESCRIPTION: &str = "Read on in a result that was too large to be shown whole. Give its handle and one of: \
     `path` for one value of JSON, `jq` for a program over it, `sql` for a SELECT over its rows, `lines` or `chars` for a range, `grep` for the lines that match. With the handle \
     alone it reads the result from its beginning. Long answers come in pages: each says which call reads the next.";

/// The tool's arguments as JSON Schema.
pub const READ_SCHEMA: &str = r#"{"type":"object","properties":{"handle":{"type":"string","description":"The handle that the preview of the result gave."},"path":{"type":"string","description":"One value of JSON: .items[3].title or a JSON pointer, /items/3/title."},"jq":{"type":"string","description":"A jq program, such as [.items[] | {id, title}]."},"sql":{"type":"string","description":"One SELECT over the table result: a list of objects, columns and rows, lines of JSON, or CSV."},"lines":{"type":"string","description":"Lines from one, such as 100-200 or 100."},"chars":{"type":"string","description":"Characters from one, such as 5001-9000."},"grep":{"type":"string","description":"A regular expression: the lines that match it."},"ignore_case":{"type":"boolean","description":"For grep: upper and lower case are the same. Default: false."},"context":{"type":"integer","minimum":0,"maximum":50,"description":"For grep: lines shown before and after each that matches. Default: 0."},"page":{"type":"integer","minimum":1,"description":"The page of what the other arguments give. Default: 1."}},"required":["handle"]}"#;

/// The names of arguments that choose a part.
const PARTS: [&str; 6] = ["path", "jq", "sql", "lines", "chars", "grep"];

/// The names of all others.
const OTHERS: [&str; 4] = ["handle", "page", "ignore_case", "context"];

/// What a call of the tool asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRequest {
    pub handle: String,
    pub reading: ResultReading,
}

impl ReadRequest {
    /// Reads a call's arguments, a JSON object. Numbers may stand in quotes.
    pub fn from_arguments(arguments: &str) -> Result<Self, ReadingError> {
        let fields: Map<String, Value> = serde_json::from_str(arguments)
            .map_err(|_| fault("the arguments must be a JSON object"))?;
        if let Some(other) = fields.keys().find(|name| !is_known(name)) {
            let known = OTHERS[..1].iter().chain(&PARTS).chain(&OTHERS[1..]);
            let known: Vec<_> = known.map(|name| format!("`{name}`")).collect();
            let other = crate::lines::head(other, 40);
            let known = known.join(", ");
            return Err(fault(&format!("there is no argument `{other}`: use one of {known}")));
        }
        let field = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let handle = field("handle").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if handle.is_empty() {
            return Err(fault("`handle` is missing: it is in the preview of the result"));
        }
        let part = part(&field)?;
        let page = match field("page") {
            None => NonZeroUsize::MIN,
            Some(page) => number(page).ok_or_else(|| fault("`page` must be a number from 1 on"))?,
        };
        Ok(Self { handle: handle.to_owned(), reading: ResultReading { part, page } })
    }
}

fn is_known(name: &str) -> bool {
    PARTS.contains(&name) || OTHERS.contains(&name)
}

fn part<'a>(field: &impl Fn(&str) -> Option<&'a Value>) -> Result<ResultPart, ReadingError> {
    let given: Vec<_> = PARTS.iter().filter(|name| field(name).is_some()).collect();
    if let [first, second, ..] = given[..] {
        let message = format!("give `{first}` or `{second}`, not both: one call reads one part");
        return Err(fault(&message));
    }
    let Some((name, value)) = given.first().and_then(|name| Some((**name, field(name)?))) else {
        return Ok(ResultPart::Whole);
    };
    let text = || {
        let text = value.as_str().filter(|text| !text.is_empty());
        text.map(str::to_owned).ok_or_else(|| fault(&format!("`{name}` must be a text")))
    };
    Ok(match name {
        "lines" => ResultPart::Lines(range(name, value)?),
        "chars" => ResultPart::Characters(range(name, value)?),
        "path" => ResultPart::Path(value.as_str().map(str::to_owned).map_or_else(text, Ok)?),
        "jq" => ResultPart::Jq(text()?),
        "sql" => ResultPart::Sql(text()?),
        _ => ResultPart::Grep(GrepPattern {
            pattern: text()?,
            case: case(field("ignore_case"))?,
            context: context(field("context"))?,
        }),
    })
}

fn case(value: Option<&Value>) -> Result<LetterCase, ReadingError> {
    match value {
        None | Some(Value::Bool(false)) => Ok(LetterCase::Distinct),
        Some(Value::Bool(true)) => Ok(LetterCase::Ignored),
        Some(Value::String(text)) if text == "true" => Ok(LetterCase::Ignored),
        Some(Value::String(text)) if text == "false" => Ok(LetterCase::Distinct),
        Some(_) => Err(fault("`ignore_case` must be true or false")),
    }
}

fn context(value: Option<&Value>) -> Result<usize, ReadingError> {
    let Some(value) = value else { return Ok(0) };
    let is_zero = value.as_u64() == Some(0) || value.as_str() == Some("0");
    let context = if is_zero { Some(0) } else { number(value).map(NonZeroUsize::get) };
    context.ok_or_else(|| fault("`context` must be a number of lines"))
}

/// `100-200`, `100`, or a list of two numbers.
fn range(name: &str, value: &Value) -> Result<PartRange, ReadingError> {
    let ends = match value {
        Value::Array(ends) => match &ends[..] {
            [first, last] => number(first).zip(number(last)),
            _ => None,
        },
        Value::String(text) => match text.split_once(['-', '–', ':', ',']) {
            Some((first, last)) => {
                let last = last.trim();
                let last = if last.is_empty() { Some(NonZeroUsize::MAX) } else { parsed(last) };
                parsed(first).zip(last)
            }
            None => parsed(text).map(|only| (only, only)),
        },
        value => number(value).map(|only| (only, only)),
    };
    let range = ends.and_then(|(first, last)| PartRange::new(first, last));
    range.ok_or_else(|| {
        fault(&format!("`{name}` must be a range of numbers from 1 on, such as \"100-200\""))
    })
}

/// A number from one on, in quotes or without.
fn number(value: &Value) -> Option<NonZeroUsize> {
    match value {
        Value::String(text) => parsed(text),
        Value::Number(number) => parsed(number.as_str()),
        _ => None,
    }
}

fn parsed(text: &str) -> Option<NonZeroUsize> {
    text.trim().parse().ok()
}

fn fault(message: &str) -> ReadingError {
    ReadingError::Arguments(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arguments: &str) -> Result<ResultReading, String> {
        let request = ReadRequest::from_arguments(arguments).map_err(|error| error.to_string())?;
        assert_eq!(request.handle, "h");
        Ok(request.reading)
    }

    fn range(first: usize, last: usize) -> PartRange {
        let number = |number| NonZeroUsize::new(number).unwrap();
        PartRange::new(number(first), number(last)).unwrap()
    }

    #[test]
    fn parts_are_asked_for_in_many_ways() {
        let grep = |case, context| {
            ResultPart::Grep(GrepPattern { pattern: "a+".to_owned(), case, context })
        };
        for (arguments, part) in [
            (r#"{"handle":"h"}"#, ResultPart::Whole),
            (r#"{"handle":" h ","jq":null}"#.replace("jq", "path").leak(), ResultPart::Whole),
            (r#"{"handle":"h","lines":"3-9"}"#, ResultPart::Lines(range(3, 9))),
            (r#"{"handle":"h","lines":"3"}"#, ResultPart::Lines(range(3, 3))),
            (r#"{"handle":"h","lines":3}"#, ResultPart::Lines(range(3, 3))),
            (r#"{"handle":"h","lines":[3,"9"]}"#, ResultPart::Lines(range(3, 9))),
            (r#"{"handle":"h","lines":"3-"}"#, ResultPart::Lines(range(3, usize::MAX))),
            (r#"{"handle":"h","chars":"3 – 9"}"#, ResultPart::Characters(range(3, 9))),
            (r#"{"handle":"h","path":""}"#, ResultPart::Path(String::new())),
            (r#"{"handle":"h","grep":"a+"}"#, grep(LetterCase::Distinct, 0)),
            (
                r#"{"handle":"h","grep":"a+","ignore_case":"true","context":"2"}"#,
                grep(LetterCase::Ignored, 2),
            ),
        ] {
            assert_eq!(request(arguments).map(|reading| reading.part), Ok(part), "{arguments}");
        }
    }

    #[test]
    fn what_cannot_be_understood_says_how_to_ask() {
        for (arguments, error) in [
            ("[]", "the arguments must be a JSON object"),
            ("{}", "`handle` is missing: it is in the preview of the result"),
            (
                r#"{"handle":"h","lines":"9-3"}"#,
                "`lines` must be a range of numbers from 1 on, such as \"100-200\"",
            ),
            (
                r#"{"handle":"h","lines":"1","grep":"x"}"#,
                "give `lines` or `grep`, not both: one call reads one part",
            ),
            (r#"{"handle":"h","page":0}"#, "`page` must be a number from 1 on"),
            (r#"{"handle":"h","grep":""}"#, "`grep` must be a text"),
        ] {
            assert_eq!(request(arguments), Err(error.to_owned()), "{arguments}");
        }
        let error = request(r#"{"handle":"h","line":1}"#).unwrap_err();
        assert!(error.starts_with("there is no argument `line`: use one of `handle`, "), "{error}");
    }

    #[test]
    fn the_schema_has_the_arguments() {
        let schema: Value = serde_json::from_str(READ_SCHEMA).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        assert!(properties.keys().all(|name| is_known(name)));
        assert_eq!(properties.len(), PARTS.len() + OTHERS.len());
    }
}
