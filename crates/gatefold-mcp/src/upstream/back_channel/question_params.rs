//! Whether the parameters of a server's question are what the protocol says.
//!
//! Only what every version requires is checked. What a later one adds is for the client to read.

use gatefold_dispatch::Question;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Map;
use serde_json::value::RawValue;

use crate::protocol::methods;

/// Checks the parameters of a question. The error says what is wrong with them.
pub(super) fn check(question: &Question) -> Result<(), String> {
    let params = question.params.get();
    // Serde would also read an array, taking its items as the members in order.
    if !params.starts_with('{') {
        return Err("`params` must be an object".to_owned());
    }
    match question.method.as_str() {
        methods::ELICIT => check_elicitation(params),
        methods::SAMPLE => check_sampling(params),
        _ => Ok(()),
    }
}

fn check_elicitation(params: &str) -> Result<(), String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Elicitation {
        #[serde(default)]
        mode: Option<String>,
        #[serde(rename = "message")]
        _message: String,
        #[serde(default)]
        requested_schema: Option<Map<String, serde_json::Value>>,
        #[serde(default)]
        url: Option<String>,
    }
    let asked: Elicitation = serde_json::from_str(params).map_err(|error| error.to_string())?;
    match asked.mode.as_deref() {
        None | Some("form") if asked.requested_schema.is_none() => {
            Err("missing field `requestedSchema`".to_owned())
        }
        Some("url") if asked.url.is_none() => Err("missing field `url`".to_owned()),
        _ => Ok(()),
    }
}

fn check_sampling(params: &str) -> Result<(), String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Sampling<'a> {
        #[serde(borrow)]
        messages: Vec<SamplingMessage<'a>>,
        #[serde(rename = "maxTokens")]
        _max_tokens: f64,
        #[serde(default, rename = "systemPrompt")]
        _system_prompt: Option<String>,
        #[serde(default, rename = "tools")]
        _tools: Option<Vec<IgnoredAny>>,
    }
    #[derive(Deserialize)]
    struct SamplingMessage<'a> {
        #[serde(rename = "role")]
        _role: Role,
        /// One block, or several of them.
        #[serde(borrow)]
        content: &'a RawValue,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    enum Role {
        User,
        Assistant,
    }
    let asked: Sampling<'_> = serde_json::from_str(params).map_err(|error| error.to_string())?;
    let is_readable = |message: &SamplingMessage<'_>| message.content.get().starts_with(['{', '[']);
    if !asked.messages.iter().all(is_readable) {
        return Err("`content` must be an object or an array".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_each(method: &str, is_valid: bool, all: &[&str]) {
        for params in all {
            let params = RawValue::from_string((*params).to_owned()).unwrap();
            let question = Question { method: method.to_owned(), params };
            assert_eq!(check(&question).is_ok(), is_valid, "{question:?}");
        }
    }

    #[test]
    fn a_question_has_what_the_protocol_requires() {
        check_each(
            methods::ELICIT,
            true,
            &[
                r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}"#,
                r#"{"mode":"form","message":"Who?","requestedSchema":{},"future":1}"#,
                r#"{"mode":"url","message":"Sign in","url":"https://a.example","elicitationId":"1"}"#,
                r#"{"mode":"of the future","message":"Who?"}"#,
            ],
        );
        check_each(
            methods::ELICIT,
            false,
            &[
                "[]",
                "7",
                "{}",
                r#"{"message":7,"requestedSchema":{}}"#,
                r#"{"message":"Who?"}"#,
                r#"{"message":"Who?","requestedSchema":"name"}"#,
                r#"{"message":"Who?","requestedSchema":[]}"#,
                r#"{"mode":"url","message":"Sign in"}"#,
                r#"{"mode":"url","message":"Sign in","url":7}"#,
            ],
        );
        check_each(
            methods::SAMPLE,
            true,
            &[
                r#"{"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"maxTokens":9}"#,
                r#"{"messages":[{"role":"assistant","content":[]}],"maxTokens":1e3,"tools":[{}]}"#,
                r#"{"messages":[],"maxTokens":1,"systemPrompt":null}"#,
            ],
        );
        check_each(
            methods::SAMPLE,
            false,
            &[
                "{}",
                r#"{"messages":"Hi","maxTokens":9}"#,
                r#"{"messages":["Hi"],"maxTokens":9}"#,
                r#"{"messages":[{"role":"user","content":"Hi"}],"maxTokens":9}"#,
                r#"{"messages":[{"role":"system","content":{}}],"maxTokens":9}"#,
                r#"{"messages":[{"role":"user"}],"maxTokens":9}"#,
                r#"{"messages":[]}"#,
                r#"{"messages":[],"maxTokens":"9"}"#,
            ],
        );
        check_each(methods::ROOTS_LIST, true, &["{}", r#"{"_meta":{}}"#]);
        check_each(methods::ROOTS_LIST, false, &["[]", r#""all""#]);
    }
}
