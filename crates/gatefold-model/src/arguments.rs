//! The arguments of a call, which models do not always write as JSON.

use serde::{Deserialize, Serialize};

use crate::RawJson;

/// What a model wrote as the arguments of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallArguments {
    /// A JSON object, in the text in which it was written or, if that leaves no doubt, mended.
    Object(RawJson),
    /// Anything else. Nothing must be called with it.
    Malformed {
        written: String,
        /// What is wrong, for the model: "the arguments are not JSON: ...".
        fault: String,
    },
}

impl CallArguments {
    /// Reads arguments. Blank ones are an empty object.
    ///
    /// Mended are fences round the object, an object inside a text, line breaks in texts, commas
    /// before a closing bracket, Python's `True`, `False` and `None`, and closing brackets too many.
    /// What is cut off is not completed: the rest might have mattered.
    pub fn read(written: &str) -> Self {
        let text = written.trim();
        if text.is_empty() {
            return Self::empty();
        }
        let error = match RawJson::parse(text) {
            Ok(json) if json.is_object() => return Self::Object(json),
            Ok(json) => {
                let inner = json.read::<String>().and_then(|inner| object_in(inner.trim()));
                return inner.map_or_else(
                    || Self::malformed(written, "are not a JSON object"),
                    Self::Object,
                );
            }
            Err(error) => error,
        };
        let mended =
            object_in(without_fence(text)).or_else(|| object_in(&mend(without_fence(text))));
        match mended {
            Some(json) => Self::Object(json),
            None => Self::malformed(written, &format!("are not JSON: {error}")),
        }
    }

    pub fn empty() -> Self {
        Self::Object(RawJson::parse("{}").expect("this is JSON"))
    }

    /// The object to go on with: an empty one in place of what is malformed, because providers refuse
    /// a conversation with anything else.
    pub(crate) fn object(&self) -> RawJson {
        match self {
            Self::Object(json) => json.clone(),
            Self::Malformed { .. } => RawJson::parse("{}").expect("this is JSON"),
        }
    }

    pub(crate) fn object_text(&self) -> &str {
        match self {
            Self::Object(json) => json.text(),
            Self::Malformed { .. } => "{}",
        }
    }

    fn malformed(written: &str, why: &str) -> Self {
        Self::Malformed { written: written.to_owned(), fault: format!("the arguments {why}") }
    }
}

fn object_in(text: &str) -> Option<RawJson> {
    RawJson::parse(text).ok().filter(RawJson::is_object)
}

/// What is between the marks of a block of code, if the whole text is one.
pub(crate) fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let inner = inner.and_then(|inner| inner.split_once('\n'));
    inner.map_or(text, |(_, inner)| inner.trim())
}

/// The text with everything mended that has one meaning only.
fn mend(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.char_indices();
    let (mut in_text, mut depth) = (false, 0_usize);
    while let Some((at, letter)) = letters.next() {
        if in_text {
            match letter {
                '\\' => {
                    out.push(letter);
                    out.extend(letters.next().map(|(_, next)| next));
                    continue;
                }
                '"' => in_text = false,
                _ => {}
            }
            push_in_text(&mut out, letter);
            continue;
        }
        match letter {
            '"' => in_text = true,
            '{' | '[' => depth += 1,
            '}' | ']' => {
                // One too many, at the end.
                if depth == 0 {
                    continue;
                }
                depth -= 1;
                drop_comma(&mut out);
            }
            _ => {}
        }
        let word = [("True", "true"), ("False", "false"), ("None", "null")]
            .into_iter()
            .find(|(python, _)| text[at..].starts_with(python));
        match word {
            Some((python, json)) => {
                out.push_str(json);
                // The first letter is taken already.
                letters.nth(python.len() - 2);
            }
            None => out.push(letter),
        }
    }
    out
}

fn push_in_text(out: &mut String, letter: char) {
    match letter {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        letter => out.push(letter),
    }
}

fn drop_comma(out: &mut String) {
    let end = out.trim_end().len();
    if out[..end].ends_with(',') {
        out.truncate(end - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, expected: Result<&str, &str>) {
        match (CallArguments::read(written), expected) {
            (CallArguments::Object(json), Ok(object)) => {
                assert_eq!(json.text(), object, "{written}");
            }
            (CallArguments::Malformed { fault, .. }, Err(part)) => {
                assert!(fault.contains(part), "{written}: {fault}");
            }
            (read, _) => panic!("{written}: {read:?}"),
        }
    }

    #[test]
    fn arguments_keep_their_text_and_are_mended_only_without_doubt() {
        for (written, object) in [
            ("", "{}"),
            (" \n", "{}"),
            (r#" {"a": 1.0e2,"b":"\u00e9"} "#, r#"{"a": 1.0e2,"b":"\u00e9"}"#),
            (r#""{\"a\":1}""#, r#"{"a":1}"#),
            ("```json\n{\"a\":1}\n```", r#"{"a":1}"#),
            ("{\"a\":\"x\ny\t\"}", r#"{"a":"x\ny\t"}"#),
            (r#"{"a":[1,2, ],}"#, r#"{"a":[1,2]}"#),
            (r#"{"a":True,"b":None,"c":"None, ]"}"#, r#"{"a":true,"b":null,"c":"None, ]"}"#),
            (r#"{"a":{"b":1}}}"#, r#"{"a":{"b":1}}"#),
            (r#"{"a":"\"}",}"#, r#"{"a":"\"}"}"#),
        ] {
            check(written, Ok(object));
        }
    }

    #[test]
    fn what_is_cut_off_or_something_else_is_told() {
        for written in
            [r#"{"a":"#, r#"{"a":"b"#, r#"{"a":[1,2"#, "{a: 1}", "{'a': 1}", "yes", "{}{}"]
        {
            check(written, Err("the arguments are not JSON"));
        }
        for written in ["[1]", "7", "null", r#""text""#, r#""[1]""#] {
            check(written, Err("the arguments are not a JSON object"));
        }
    }
}
