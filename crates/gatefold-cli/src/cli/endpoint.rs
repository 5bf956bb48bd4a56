//! A model behind an endpoint that speaks OpenAI's chat completions.

use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, value_parser};
use gatefold::Environment;
use gatefold_core::Secret;
use gatefold_egress::{Egress, EgressError, HttpClient, HttpRequest, Reach, Redirects, Settings};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use url::Url;

use super::failure::usage;

/// The variable with the endpoint's key, unless another is named.
const KEY_VARIABLE: &str = "GATEFOLD_MODEL_KEY";

/// The largest answer of the endpoint, in bytes.
const ANSWER_BYTES: u64 = 4 * 1024 * 1024;

/// How often one request is sent at most.
const TRIES: u32 = 4;

/// The wait before the second try where the endpoint names none. It doubles with each.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The longest wait that an endpoint can ask for.
const LONGEST_WAIT: Duration = Duration::from_mins(2);

/// The most calls of one answer that are carried out. The model is not reminded of the others.
const CALLS_AT_ONCE: usize = 16;

/// The most characters of an endpoint's own words in an error.
const WORDS: usize = 200;

pub(super) struct ModelEndpoint {
    client: HttpClient,
    url: Url,
    model: String,
    key: Option<Secret>,
    authorization: HeaderMap,
    /// How long one answer may take.
    timeout: Duration,
}

/// What the model said next.
pub(super) struct ModelAnswer {
    /// The message as it is sent back with the next request.
    pub(super) message: Value,
    pub(super) text: String,
    pub(super) calls: Vec<FunctionCall>,
    /// All tokens of the request and the answer, if the endpoint reports them.
    pub(super) tokens: Option<u64>,
}

pub(super) struct FunctionCall {
    pub(super) id: String,
    pub(super) name: String,
    /// As the model wrote them; perhaps no JSON.
    pub(super) arguments: String,
}

/// Why a run came to no end: the model gave no answer.
#[derive(Debug)]
pub(super) struct NoAnswer {
    pub(super) reason: String,
    /// No other request can do better: the key or the address is wrong.
    pub(super) is_final: bool,
}

/// What became of one try.
enum Failure {
    /// It may go better after this time, or after the usual one.
    Passing(String, Option<Duration>),
    Lasting(NoAnswer),
}

/// Which model is asked, and where.
#[derive(Debug, Args)]
pub(crate) struct ModelOptions {
    /// Where the model is: the address before `/chat/completions`
    #[arg(long, value_name = "URL")]
    model_url: String,
    /// The model's name, as its endpoint knows it
    #[arg(long, value_name = "NAME")]
    pub(super) model: String,
    /// The variable with the endpoint's key [default: `GATEFOLD_MODEL_KEY`, if it is set]
    #[arg(long, value_name = "NAME")]
    model_key_env: Option<String>,
    /// How many seconds one answer of the model may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

impl ModelOptions {
    pub(super) fn endpoint(&self, environment: &Environment) -> anyhow::Result<ModelEndpoint> {
        let url: Url = self
            .model_url
            .parse()
            .map_err(|error| usage(format!("`--model-url` is not an address: {error}")))?;
        let key = environment.get_filled(self.model_key_env.as_deref().unwrap_or(KEY_VARIABLE));
        if let (None, Some(variable)) = (key, &self.model_key_env) {
            return Err(usage(format!(
                "the variable `{variable}` of `--model-key-env` is not set"
            )));
        }
        let timeout = Duration::from_secs(self.timeout);
        ModelEndpoint::new(&url, &self.model, key.map(Secret::new), timeout)
    }
}

impl ModelEndpoint {
    fn new(
        address: &Url,
        model: &str,
        key: Option<Secret>,
        timeout: Duration,
    ) -> anyhow::Result<Self> {
        let mut url = address.clone();
        if !matches!(url.scheme(), "http" | "https") {
            return Err(usage("`--model-url` must begin with `http://` or `https://`"));
        }
        let mut path = url.path_segments_mut().expect("addresses of HTTP have a path");
        path.pop_if_empty().extend(["chat", "completions"]);
        drop(path);
        let mut authorization = HeaderMap::new();
        if let Some(key) = &key {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
            let value = value.map_err(|_| usage("the model's key cannot be part of a header"))?;
            authorization.insert(AUTHORIZATION, value);
        }
        // An endpoint is silent until its model has said everything.
        let settings = Settings { read_timeout: Some(timeout), ..Settings::default() };
        let egress = Egress::new(settings).context("the model cannot be asked")?;
        // A person named this address on the command line.
        let client = egress.client_for(Reach::any());
        Ok(Self { client, url, model: model.to_owned(), key, authorization, timeout })
    }

    /// Asks for the next message of a conversation.
    pub(super) async fn ask(
        &self,
        messages: &[Value],
        tools: &[Value],
    ) -> Result<ModelAnswer, NoAnswer> {
        let mut body = json!({ "model": self.model, "messages": messages });
        // Endpoints refuse an empty list.
        if !tools.is_empty() {
            body["tools"] = json!(tools);
            body["tool_choice"] = json!("auto");
        }
        let body = body.to_string();
        let (mut wait, mut tries) = (FIRST_WAIT, 0);
        loop {
            tries += 1;
            match self.try_once(&body).await {
                Ok(answer) => return Ok(answer),
                Err(Failure::Lasting(failure)) => return Err(failure),
                Err(Failure::Passing(reason, asked)) => {
                    let pause = asked.unwrap_or(wait);
                    if tries == TRIES || pause > LONGEST_WAIT {
                        return Err(NoAnswer { reason, is_final: false });
                    }
                    sleep(pause).await;
                    wait *= 2;
                }
            }
        }
    }

    async fn try_once(&self, body: &str) -> Result<ModelAnswer, Failure> {
        let json = HeaderValue::from_static("application/json");
        let mut request = HttpRequest::new(Method::POST, self.url.clone())
            .header(CONTENT_TYPE, json.clone())
            .header(ACCEPT, json)
            .redirects(Redirects::None)
            .body(body.to_owned());
        request.credentials.clone_from(&self.authorization);
        let answer = self.client.send(request, Instant::now() + self.timeout).await;
        let answer = answer.map_err(|error| unsent(&error))?;
        let (status, wait) = (answer.status(), answer.retry_after());
        let body = answer.read_capped(ANSWER_BYTES).await.map_err(|error| unsent(&error))?;
        if !status.is_success() {
            return Err(self.refusal(status, wait, &body));
        }
        read_answer(&body).map_err(|reason| {
            Failure::Lasting(NoAnswer { reason: reason.to_owned(), is_final: false })
        })
    }

    fn refusal(&self, status: StatusCode, wait: Option<Duration>, body: &[u8]) -> Failure {
        let reason = format!("the model's endpoint answered {status}{}", self.words(body));
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            return Failure::Passing(reason, wait);
        }
        let is_final = matches!(
            status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND
        ) || status.is_redirection();
        Failure::Lasting(NoAnswer { reason, is_final })
    }

    /// What the endpoint says about an error, without the key, which some repeat.
    fn words(&self, body: &[u8]) -> String {
        let Ok(body) = serde_json::from_slice::<Value>(body) else { return String::new() };
        let said = body["error"]["message"].as_str().or(body["error"].as_str());
        let Some(mut said) = said.or(body["message"].as_str()).map(str::to_owned) else {
            return String::new();
        };
        if let Some(key) = &self.key {
            said = said.replace(key.expose(), "[the key]");
        }
        let shown: String = said.chars().take(WORDS).collect();
        format!(": {}", shown.replace(char::is_control, " "))
    }
}

/// A connection that broke in the middle may hold the next time. A server that was late once would
/// be late again, and refused connections were tried again already.
fn unsent(error: &EgressError) -> Failure {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let texts = std::iter::once(error.to_string()).chain(causes.map(ToString::to_string));
    let reason = format!("the model cannot be asked: {}", texts.collect::<Vec<_>>().join(": "));
    match error {
        EgressError::Failed { .. } => Failure::Passing(reason, None),
        _ => Failure::Lasting(NoAnswer { reason, is_final: false }),
    }
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<ModelChoice>,
    usage: Option<TokenUsage>,
}

#[derive(Deserialize)]
struct ModelChoice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Value>,
    tool_calls: Option<Vec<WrittenCall>>,
}

#[derive(Deserialize)]
struct WrittenCall {
    id: Option<String>,
    function: WrittenFunction,
}

#[derive(Deserialize)]
struct WrittenFunction {
    name: String,
    /// A text with JSON in it. Some endpoints give the object itself.
    arguments: Option<Value>,
}

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names are the endpoint's")]
struct TokenUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

impl TokenUsage {
    fn tokens(&self) -> Option<u64> {
        let parts = || Some(self.prompt_tokens?.saturating_add(self.completion_tokens?));
        self.total_tokens.or_else(parts)
    }
}

fn read_answer(body: &[u8]) -> Result<ModelAnswer, &'static str> {
    let completion: Completion = serde_json::from_slice(body)
        .map_err(|_| "the model's endpoint did not answer with a chat completion")?;
    let tokens = completion.usage.as_ref().and_then(TokenUsage::tokens);
    let choice = completion.choices.into_iter().next();
    let message = choice.ok_or("the model's endpoint answered without a message")?.message;
    let text = message.content.as_ref().map(text_of).unwrap_or_default();
    let written = message.tool_calls.unwrap_or_default().into_iter().take(CALLS_AT_ONCE);
    let calls: Vec<_> = written.enumerate().map(|(at, call)| function_call(at, call)).collect();
    let mut message = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().map(FunctionCall::sent_back).collect();
    }
    Ok(ModelAnswer { message, text, calls, tokens })
}

/// A message's text, which some endpoints give in parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn function_call(at: usize, call: WrittenCall) -> FunctionCall {
    let arguments = match call.function.arguments {
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let id = call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{at}"));
    FunctionCall { id, name: call.function.name, arguments }
}

impl FunctionCall {
    /// The call as a part of the conversation. Endpoints refuse a message whose arguments are no
    /// object, so such arguments are left out; the answer to the call says what was wrong.
    fn sent_back(&self) -> Value {
        let is_object = serde_json::from_str::<serde_json::Map<String, Value>>(&self.arguments);
        let arguments = if is_object.is_ok() { self.arguments.as_str() } else { "{}" };
        json!({
            "id": self.id,
            "type": "function",
            "function": { "name": self.name, "arguments": arguments },
        })
    }
}
