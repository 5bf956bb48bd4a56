//! The one client that asks models.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use bytes::Bytes;
use gatefold_core::Secret;
use gatefold_egress::{HttpClient, HttpRequest, HttpResponse, Redirects};
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use serde::Deserialize;
use tokio::time::Instant;
use url::Url;

use crate::halves::SplitPairs;
use crate::json_mode::{self, Constraint};
use crate::overflow::is_overflow;
use crate::retry::{Asking, Tries};
use crate::stream::clean;
use crate::wire::{authorization, error_words};
use crate::{
    AnswerSchema, Fields, ModelAnswer, ModelError, ModelRequest, ModelSpec, ModelStream, Origin,
    Target, TokenUsage, ToolCalls, ToolChoice, TryWatcher, Wire,
};

/// The largest answer that comes whole, in bytes.
const ANSWER_BYTES: u64 = 4 * 1024 * 1024;

/// The most models of a list that are read.
const MODELS: usize = 1000;

const EVENT_STREAM: &str = "text/event-stream";

/// A model behind an endpoint, and perhaps another one for when it fails. Clones share their connections, and what the
/// endpoint has shown of what it cannot do.
#[derive(Clone)]
pub struct ModelClient {
    endpoint: Arc<Endpoint>,
    fallback: Option<Arc<ModelClient>>,
}

struct Endpoint {
    http: HttpClient,
    spec: ModelSpec,
    /// The address that is asked.
    url: Url,
    origin: Origin,
    credentials: HeaderMap,
    /// Whether the endpoint has said that it knows no calls.
    lacks_calls: AtomicBool,
    /// The place of the [`Constraint`] in [`CONSTRAINTS`] that the endpoint has not refused yet.
    constraint: AtomicU8,
}

const CONSTRAINTS: [Constraint; 3] = [Constraint::Arguments, Constraint::Names, Constraint::None];

impl ModelClient {
    /// A client that asks through `http`, whose longest silence has to be at least the model's
    /// `timeout`: an endpoint may be silent until its model has said everything.
    pub fn new(http: HttpClient, spec: ModelSpec) -> Result<Self, ModelError> {
        let wire = spec.api.wire();
        let url = endpoint(&spec.url, wire.path())?;
        let mut credentials = HeaderMap::new();
        if let Some(key) = &spec.key {
            let (name, value) = authorization(wire, key).ok_or(ModelError::Key)?;
            credentials.insert(name, value);
        }
        let origin = Origin::new(spec.api, &spec.url, &spec.model);
        let (lacks_calls, constraint) = (AtomicBool::new(false), AtomicU8::new(0));
        let endpoint =
            Arc::new(Endpoint { http, spec, url, origin, credentials, lacks_calls, constraint });
        Ok(Self { endpoint, fallback: None })
    }

    /// The same, with a model that is asked when this one cannot be.
    #[must_use]
    pub fn with_fallback(self, fallback: Self) -> Self {
        Self { fallback: Some(Arc::new(fallback)), ..self }
    }

    pub fn spec(&self) -> &ModelSpec {
        &self.endpoint.spec
    }

    /// Asks for an answer in one piece.
    pub async fn ask(
        &self,
        request: ModelRequest<'_>,
        deadline: Instant,
    ) -> Result<ModelAnswer, ModelError> {
        check(&request)?;
        let asking = Asking { place: 0, deadline, watcher: &() };
        let mut failure = ModelError::NoneOpen;
        for model in self.chain() {
            match model.ask_own(&request, asking).await {
                Err(error) if error.allows_fallback() => failure = error,
                result => return result,
            }
        }
        Err(failure)
    }

    /// Asks for an answer piece by piece, and waits for the first.
    ///
    /// What fails before that is tried again, and then asked of the fallback.
    pub async fn stream(
        &self,
        request: ModelRequest<'_>,
        deadline: Instant,
    ) -> Result<ModelStream, ModelError> {
        self.stream_among(request, deadline, |_| true, &()).await
    }

    /// The same, of those models alone that are open. They are counted from 0, the model itself. Somebody sees
    /// each try; the last one that they see begin is the one that answers.
    pub async fn stream_among(
        &self,
        request: ModelRequest<'_>,
        deadline: Instant,
        is_open: impl Fn(usize) -> bool,
        watcher: &dyn TryWatcher,
    ) -> Result<ModelStream, ModelError> {
        check(&request)?;
        let mut failure = ModelError::NoneOpen;
        for (place, model) in self.chain().enumerate().filter(|(place, _)| is_open(*place)) {
            match model.stream_own(&request, Asking { place, deadline, watcher }).await {
                // Nobody is asked for whom no time is left.
                Err(error) if error.allows_fallback() && Instant::now() < deadline => {
                    failure = error;
                }
                result => return result,
            }
        }
        Err(failure)
    }

    /// This model, and those that answer when it fails, in their order.
    fn chain(&self) -> impl Iterator<Item = &Endpoint> {
        let clients = std::iter::successors(Some(self), |model| model.fallback.as_deref());
        clients.map(|client| &*client.endpoint)
    }

    /// The models that the endpoint names. It may name none although it has some.
    pub async fn models(&self, deadline: Instant) -> Result<Vec<String>, ModelError> {
        self.endpoint.models(deadline).await
    }
}

impl Endpoint {
    async fn models(&self, deadline: Instant) -> Result<Vec<String>, ModelError> {
        let url = endpoint(&self.spec.url, &["models"])?;
        let response = self.send(Method::GET, url, Bytes::new(), deadline).await?;
        let body = response.read_capped(ANSWER_BYTES).await.map_err(ModelError::Unreachable)?;
        let listed: ModelList = serde_json::from_slice(&body)
            .map_err(|_| ModelError::NotAnAnswer { expected: "a list of models" })?;
        Ok(listed.data.into_iter().take(MODELS).map(|model| model.id).collect())
    }

    fn wire(&self) -> &'static dyn Wire {
        self.spec.api.wire()
    }

    /// Whether calls have to be written as JSON.
    fn writes_calls(&self, request: &ModelRequest<'_>) -> bool {
        let mode = match self.spec.tool_calls {
            ToolCalls::Native => false,
            ToolCalls::Json => true,
            ToolCalls::Auto => self.lacks_calls.load(Ordering::Relaxed),
        };
        mode && !request.tools.is_empty()
    }

    async fn ask_own(
        &self,
        request: &ModelRequest<'_>,
        asking: Asking<'_>,
    ) -> Result<ModelAnswer, ModelError> {
        if !self.writes_calls(request) {
            match self.ask_natively(request, asking).await {
                Err(error) if self.learns_that_calls_lack(&error, request) => {}
                answer => return answer,
            }
        }
        self.ask_in_json(request, asking).await
    }

    async fn stream_own(
        &self,
        request: &ModelRequest<'_>,
        asking: Asking<'_>,
    ) -> Result<ModelStream, ModelError> {
        if !self.writes_calls(request) {
            match self.stream_natively(request, asking).await {
                Err(error) if self.learns_that_calls_lack(&error, request) => {}
                stream => return stream,
            }
        }
        // Nobody should watch JSON being written.
        let answer = self.ask_in_json(request, asking).await?;
        Ok(ModelStream::whole(&self.spec.model, answer))
    }

    async fn ask_natively(
        &self,
        request: &ModelRequest<'_>,
        asking: Asking<'_>,
    ) -> Result<ModelAnswer, ModelError> {
        let body = self.encode(request, false);
        let mut tries = Tries::begin(asking);
        loop {
            match self.ask_once(&body, asking.deadline).await {
                Ok(answer) => return Ok(answer),
                Err(error) => tries.wait(error).await?,
            }
        }
    }

    async fn stream_natively(
        &self,
        request: &ModelRequest<'_>,
        asking: Asking<'_>,
    ) -> Result<ModelStream, ModelError> {
        let body = self.encode(request, true);
        let mut tries = Tries::begin(asking);
        loop {
            match self.stream_once(&body, asking.deadline).await {
                Ok(stream) => return Ok(stream),
                Err(error) => tries.wait(error).await?,
            }
        }
    }

    /// Tries of one request share its body.
    fn encode(&self, request: &ModelRequest<'_>, streams: bool) -> Bytes {
        let target = Target { spec: &self.spec, origin: &self.origin, streams };
        let body = self.wire().encode(request, &target);
        serde_json::to_vec(&body).expect("JSON can be written").into()
    }

    async fn ask_once(&self, body: &Bytes, deadline: Instant) -> Result<ModelAnswer, ModelError> {
        let response = self.send(Method::POST, self.url.clone(), body.clone(), deadline).await?;
        self.read_whole(response).await
    }

    async fn stream_once(
        &self,
        body: &Bytes,
        deadline: Instant,
    ) -> Result<ModelStream, ModelError> {
        let response = self.send(Method::POST, self.url.clone(), body.clone(), deadline).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with(EVENT_STREAM)) {
            let decoder = self.wire().decoder(&self.origin);
            let key = self.spec.key.clone();
            return ModelStream::open(&self.spec.model, response, decoder, key).await;
        }
        // Some servers answer whole whatever they are asked for.
        let answer = self.read_whole(response).await?;
        Ok(ModelStream::whole(&self.spec.model, answer))
    }

    async fn read_whole(&self, response: HttpResponse) -> Result<ModelAnswer, ModelError> {
        let body = response.read_capped(ANSWER_BYTES).await.map_err(ModelError::Unreachable)?;
        let text = String::from_utf8_lossy(&body);
        let json = SplitPairs::default().join(&text);
        let answer = self.wire().decode(json.as_bytes(), &self.origin);
        answer.map_err(|error| clean(error, self.key()))
    }

    /// Sends a request. Any status but success is an error.
    async fn send(
        &self,
        method: Method,
        url: Url,
        body: Bytes,
        deadline: Instant,
    ) -> Result<HttpResponse, ModelError> {
        let json = HeaderValue::from_static("application/json");
        let mut request = HttpRequest::new(method, url)
            .header(CONTENT_TYPE, json)
            .header(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"))
            // What is compressed comes in larger pieces.
            .header(ACCEPT_ENCODING, HeaderValue::from_static("identity"))
            .redirects(Redirects::None)
            .body(body);
        request.headers.extend(self.wire().headers());
        request.credentials.clone_from(&self.credentials);
        // Each try has the whole time of an answer, as far as the deadline leaves it.
        let end = deadline.min(Instant::now() + self.spec.timeout);
        let response = self.http.send(request, end).await.map_err(ModelError::Unreachable)?;
        let (status, retry_after) = (response.status(), response.retry_after());
        if status.is_success() {
            return Ok(response);
        }
        let body = response.read_capped(ANSWER_BYTES).await.unwrap_or_default();
        let body = Fields::parse(&body).unwrap_or_default();
        let words = error_words(&body).unwrap_or_default();
        let is_busy = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
        let is_overflow = status != StatusCode::TOO_MANY_REQUESTS && is_overflow(&body, &words);
        let error = if is_overflow {
            ModelError::Overflow { words }
        } else if is_busy && !is_about_calls(&words) {
            ModelError::Busy { status, words, retry_after }
        } else {
            ModelError::Refused { status, words }
        };
        Err(clean(error, self.key()))
    }

    fn key(&self) -> Option<&Secret> {
        self.spec.key.as_ref()
    }

    fn learns_that_calls_lack(&self, error: &ModelError, request: &ModelRequest<'_>) -> bool {
        let ModelError::Refused { words, .. } = error else { return false };
        let lacks = self.spec.tool_calls == ToolCalls::Auto
            && !request.tools.is_empty()
            && is_about_calls(words);
        if lacks {
            self.lacks_calls.store(true, Ordering::Relaxed);
        }
        lacks
    }

    /// Asks for an answer whose calls are JSON in its text, and once more if it cannot be read.
    async fn ask_in_json(
        &self,
        request: &ModelRequest<'_>,
        asking: Asking<'_>,
    ) -> Result<ModelAnswer, ModelError> {
        let mut history = json_mode::in_texts(request.history);
        if request.tool_choice == ToolChoice::None {
            let plain = ModelRequest { history: &history, tools: &[], ..*request };
            return self.ask_natively(&plain, asking).await;
        }
        let system = json_mode::system(request);
        // What an answer took that could not be read, and why not.
        let mut unread: Option<(TokenUsage, ModelError)> = None;
        loop {
            let in_texts = ModelRequest { system: &system, history: &history, ..*request };
            let fail_unread = |(_, error): &(TokenUsage, ModelError)| asking.fail(error);
            let answer = self.ask_constrained(&in_texts, asking).await;
            let answer = answer.inspect_err(|_| unread.iter().for_each(fail_unread))?;
            let usage = unread.as_ref().map_or(answer.usage, |(first, _)| first.plus(answer.usage));
            let fault = match json_mode::read(answer.clone(), request) {
                Ok(answer) => return Ok(ModelAnswer { usage, ..answer }),
                Err(fault) => fault,
            };
            let error = ModelError::Unreadable { fault: fault.clone() };
            if unread.is_some() {
                unread.iter().for_each(fail_unread);
                asking.fail(&error);
                return Err(error);
            }
            json_mode::push(&mut history, answer.message);
            history.say(json_mode::repair(&fault));
            unread = Some((usage, error));
        }
    }

    /// Asks for a text whose form is forced as far as the endpoint can.
    async fn ask_constrained(
        &self,
        request: &ModelRequest<'_>,
        asking: Asking<'_>,
    ) -> Result<ModelAnswer, ModelError> {
        loop {
            let place = self.constraint.load(Ordering::Relaxed);
            let constraint = CONSTRAINTS[usize::from(place)];
            let schema = json_mode::schema(request, constraint);
            let name = json_mode::SCHEMA_NAME;
            let schema = schema.as_ref().map(|schema| AnswerSchema { name, schema });
            let text = ModelRequest { tools: &[], schema, ..*request };
            match self.ask_natively(&text, asking).await {
                Err(ModelError::Refused { status, words })
                    if constraint != Constraint::None && is_about_schema(status, &words) =>
                {
                    self.constraint.store(place + 1, Ordering::Relaxed);
                }
                answer => return answer,
            }
        }
    }
}

fn check(request: &ModelRequest<'_>) -> Result<(), ModelError> {
    if request.history.awaits_answer() { Ok(()) } else { Err(ModelError::NothingAsked) }
}

/// An address below that of an API.
fn endpoint(url: &Url, path: &[&str]) -> Result<Url, ModelError> {
    let mut url = url.clone();
    if !matches!(url.scheme(), "http" | "https") {
        return Err(ModelError::Address);
    }
    url.path_segments_mut().map_err(|()| ModelError::Address)?.pop_if_empty().extend(path);
    Ok(url)
}

/// Whether an endpoint's words say that its model, or it itself, knows no calls. Each says it in its
/// own way: Ollama, llama-server, vLLM and OpenRouter were read.
fn is_about_calls(words: &str) -> bool {
    let words = words.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    has(&["tool", "function call"])
        && has(&["support", "--jinja", "--enable-auto-tool-choice", "not enabled"])
}

/// Whether an endpoint refuses the form that it was to force.
fn is_about_schema(status: StatusCode, words: &str) -> bool {
    let words = words.to_lowercase();
    let parts = ["response_format", "schema", "grammar", "format"];
    matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY)
        && parts.iter().any(|part| words.contains(part))
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
}
