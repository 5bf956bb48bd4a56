//! A model that a test scripts, behind an endpoint that speaks OpenAI's chat completions.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::raw_api::{RawApi, RawRequest, answer};

/// What a model is given with one request.
pub(crate) struct Prompt(Value);

impl Prompt {
    /// What the user wants.
    pub(crate) fn request(&self) -> &str {
        let messages = self.0["messages"].as_array().unwrap();
        let user = messages.iter().find(|message| message["role"] == "user").unwrap();
        user["content"].as_str().unwrap()
    }

    /// The answers to its calls so far.
    pub(crate) fn told(&self) -> Vec<&str> {
        let messages = self.0["messages"].as_array().unwrap().iter();
        let tools = messages.filter(|message| message["role"] == "tool");
        tools.map(|message| message["content"].as_str().unwrap()).collect()
    }

    /// Such an answer as JSON.
    pub(crate) fn told_json(&self, at: usize) -> Value {
        let text = self.told()[at];
        serde_json::from_str(text).unwrap_or_else(|_| panic!("not JSON: {text}"))
    }

    pub(crate) fn functions(&self) -> impl Iterator<Item = &Value> {
        self.0["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"])
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.functions().any(|function| function["name"] == name)
    }

    /// All of it.
    pub(crate) fn whole(&self) -> &Value {
        &self.0
    }
}

/// What a model does next.
pub(crate) enum Move {
    Say(String),
    /// Calls functions, with arguments as it writes them.
    Call(Vec<(String, String)>),
    /// The endpoint answers this status, these headers and this body.
    Fail(&'static str, &'static str, &'static str),
    /// The endpoint never answers.
    Hang,
}

impl Move {
    pub(crate) fn say(text: &str) -> Self {
        Self::Say(text.to_owned())
    }

    pub(crate) fn call(name: &str, arguments: &Value) -> Self {
        Self::Call(vec![(name.to_owned(), arguments.to_string())])
    }

    fn sent(self, number: usize, usage: Option<u64>) -> Option<Vec<u8>> {
        let message = match self {
            Self::Say(text) => json!({ "role": "assistant", "content": text }),
            Self::Call(calls) => {
                let calls = calls.into_iter().enumerate().map(|(at, (name, arguments))| {
                    let function = json!({ "name": name, "arguments": arguments });
                    json!({ "id": format!("c{number}_{at}"), "type": "function", "function": function })
                });
                let calls: Vec<_> = calls.collect();
                json!({ "role": "assistant", "content": null, "tool_calls": calls })
            }
            Self::Fail(status, headers, body) => return Some(answer(status, headers, body)),
            Self::Hang => return None,
        };
        let mut body = json!({ "object": "chat.completion", "choices": [{ "message": message }] });
        if let Some(tokens) = usage {
            body["usage"] = json!({ "prompt_tokens": tokens - 1, "completion_tokens": 1 });
        }
        Some(answer("200 OK", "content-type: application/json\r\n", &body.to_string()))
    }
}

/// A running endpoint.
pub(crate) struct ScriptedModel {
    api: RawApi,
    seen: Arc<Mutex<Vec<String>>>,
}

impl ScriptedModel {
    /// A model that does what `script` says, in an endpoint that reports 100 tokens each time.
    pub(crate) fn start(script: impl Fn(&Prompt) -> Move + Send + Sync + 'static) -> Self {
        Self::reporting(Some(100), script)
    }

    /// The same, in an endpoint that reports so many tokens, or none.
    pub(crate) fn reporting(
        usage: Option<u64>,
        script: impl Fn(&Prompt) -> Move + Send + Sync + 'static,
    ) -> Self {
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let log = seen.clone();
        let api = RawApi::start(move |request: &RawRequest| {
            let number = {
                let mut log = log.lock().unwrap();
                log.push(request.text());
                log.len()
            };
            if request.path() != "/v1/chat/completions" {
                return Some(answer("404 Not Found", "", ""));
            }
            let prompt = Prompt(serde_json::from_str(&request.body).unwrap());
            script(&prompt).sent(number, usage)
        });
        Self { api, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.api.port)
    }

    /// The requests so far, with their heads.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}
