//! One client for both transports, both eras and both faces of the gateway.

use std::time::Duration;

use gatefold_testkit::client::MessageStream;
use gatefold_testkit::{Error, Exchange, RawClient, StdioClient};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::cell::{Era, Face, Wire};
use crate::world::World;

/// The capabilities of a client that can be asked anything.
pub(crate) const EVERYTHING: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

/// How long a test waits for something that should come soon.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// How often to check a condition that cannot wake us.
const POLL: Duration = Duration::from_millis(20);

/// The most rounds of questions in one call.
const ROUNDS: usize = 4;

pub(crate) struct Client {
    pub(crate) face: Face,
    pub(crate) era: Era,
    pub(crate) line: Line,
    /// Notices that came on stdio while something else was awaited.
    heard: Vec<Value>,
    /// The stream of notices, over HTTP.
    stream: Option<MessageStream>,
    /// The request that opened it, on stdio in the stateless era.
    listening: Option<u64>,
}

pub(crate) enum Line {
    Http(RawClient),
    Stdio(Box<StdioClient>),
}

/// A call whose source asked something.
pub(crate) struct AskedCall {
    /// The methods and parameters of the questions.
    pub(crate) questions: Vec<(String, Value)>,
    pub(crate) end: Exchange,
}

impl Client {
    /// Connects; in the handshake era including the handshake.
    pub(crate) async fn connect(world: &World, face: Face, capabilities: &str) -> Self {
        let era = world.cell.client.era;
        let mut line = match world.cell.client.wire {
            Wire::Http => {
                let client = RawClient::new(world.url(face)).expect("the client is made");
                Line::Http(client.with_capabilities(capabilities))
            }
            Wire::Stdio => {
                let client = StdioClient::from_command(world.stdio_command(face));
                let client = client.expect("the gateway starts").with_capabilities(capabilities);
                Line::Stdio(Box::new(client))
            }
        };
        if era == Era::Handshake {
            match &mut line {
                Line::Http(client) => client.initialize().await,
                Line::Stdio(client) => client.initialize().await,
            }
            .expect("the handshake is answered");
        }
        Self { face, era, line, heard: Vec::new(), stream: None, listening: None }
    }

    /// Waits until the gateway has learned what the server offers.
    pub(crate) async fn await_source(&mut self) {
        let deadline = Instant::now() + LIMIT;
        loop {
            let listed = self.request("prompts/list", "", "{}").await;
            if listed.result()["prompts"].as_array().is_some_and(|prompts| !prompts.is_empty()) {
                return;
            }
            assert!(Instant::now() < deadline, "nothing was learned: {}", listed.response);
            sleep(POLL).await;
        }
    }

    pub(crate) fn set_capabilities(&mut self, capabilities: &str) {
        match &mut self.line {
            Line::Http(client) => client.set_capabilities(capabilities),
            Line::Stdio(client) => client.set_capabilities(capabilities),
        }
    }

    fn set_answer(&mut self, answer: Option<&str>) {
        match &mut self.line {
            Line::Http(client) => client.set_answer(answer),
            Line::Stdio(client) => client.set_answer(answer),
        }
    }

    /// Sends a request; its header mirrors `name`.
    pub(crate) async fn request(&mut self, method: &str, name: &str, params: &str) -> Exchange {
        let answered = match &mut self.line {
            Line::Http(client) => client.request_named(method, name, params).await,
            Line::Stdio(client) => client.request(method, params).await,
        };
        let exchange = answered.unwrap_or_else(|error| panic!("{method} {name}: {error:?}"));
        if matches!(self.line, Line::Stdio(_)) {
            self.heard.extend(exchange.notices.iter().filter_map(|text| changed(text)));
        }
        exchange
    }

    pub(crate) async fn notify(&mut self, method: &str, params: &str) {
        let sent = match &mut self.line {
            Line::Http(client) => client.notify(method, params).await,
            Line::Stdio(client) => client.notify(method, params).await,
        };
        sent.unwrap_or_else(|error| panic!("{method}: {error:?}"));
    }

    /// Calls one of the server's tools.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &str) -> Exchange {
        self.call_with(tool, arguments, "").await
    }

    /// The same; `rest` are further members of the parameters.
    pub(crate) async fn call_with(&mut self, tool: &str, arguments: &str, rest: &str) -> Exchange {
        let (name, params) = self.call_params(tool, arguments, rest);
        self.request("tools/call", &name, &params).await
    }

    /// The name and the parameters of a call in this face.
    pub(crate) fn call_params(&self, tool: &str, arguments: &str, rest: &str) -> (String, String) {
        let (name, arguments) = match self.face {
            Face::Flat => (tool, arguments.to_owned()),
            Face::Gateway => (
                "execute_tool",
                format!(r#"{{"tool_name":"reference__{tool}","arguments":{arguments}}}"#),
            ),
        };
        (name.to_owned(), format!(r#"{{"name":"{name}","arguments":{arguments}{rest}}}"#))
    }

    /// A tool's answer: as JSON if it is JSON, otherwise as text.
    pub(crate) fn said(&self, exchange: &Exchange) -> Value {
        let text = exchange.text();
        let json = |text: &str| serde_json::from_str::<Value>(text).ok();
        match (self.face, json(&text)) {
            (Face::Flat, said) => said.unwrap_or(Value::String(text)),
            (Face::Gateway, Some(Value::Object(mut envelope))) => {
                let said = envelope.remove("result").or_else(|| envelope.remove("error"));
                said.unwrap_or(Value::String(text))
            }
            (Face::Gateway, _) => Value::String(text),
        }
    }

    /// The name of one of the server's prompts.
    pub(crate) fn prompt(&self, own: &str) -> String {
        match self.face {
            Face::Flat => own.to_owned(),
            Face::Gateway => format!("reference__{own}"),
        }
    }

    /// The address of one of the server's resources.
    pub(crate) fn uri(&self, own: &str) -> String {
        match self.face {
            Face::Flat => own.to_owned(),
            Face::Gateway => format!("gatefold://reference/{own}"),
        }
    }

    pub(crate) async fn read(&mut self, uri: &str) -> Exchange {
        self.request("resources/read", uri, &json!({ "uri": uri }).to_string()).await
    }

    /// Calls a tool that asks a question, and answers in the era's way; `None` answers nothing.
    pub(crate) async fn ask(&mut self, tool: &str, answer: Option<&str>) -> AskedCall {
        self.set_answer(answer);
        let mut end = self.call(tool, "{}").await;
        self.set_answer(None);
        let mut questions: Vec<_> = end.notices.iter().filter_map(|text| question(text)).collect();
        for _ in 0..ROUNDS {
            let Some(asked) = InputRequest::of(&end) else { break };
            questions.extend(
                asked.questions.iter().map(|(_, method, params)| (method.clone(), params.clone())),
            );
            let Some(answer) = answer else { break };
            end = self.call_with(tool, "{}", &asked.rest(answer)).await;
        }
        AskedCall { questions, end }
    }

    /// Sends a request and answers questions in the meantime.
    pub(crate) async fn answering(
        &mut self,
        answer: &str,
        method: &str,
        name: &str,
        params: &str,
    ) -> Exchange {
        self.set_answer(Some(answer));
        let exchange = self.request(method, name, params).await;
        self.set_answer(None);
        exchange
    }

    /// Another client of the same gateway, if that is possible.
    pub(crate) async fn beside(&self, world: &World) -> Option<Self> {
        match self.line {
            Line::Http(_) => Some(Self::connect(world, self.face, EVERYTHING).await),
            Line::Stdio(_) => None,
        }
    }

    /// Subscribes to notices about the lists and these resources.
    pub(crate) async fn listen(&mut self, uris: &[&str]) {
        let filter = json!({ "notifications": {
            "toolsListChanged": true,
            "promptsListChanged": true,
            "resourcesListChanged": true,
            "resourceSubscriptions": uris,
        }})
        .to_string();
        match (&mut self.line, self.era) {
            (Line::Http(client), Era::Handshake) => {
                self.stream = Some(client.listen().await.expect("the stream opens"));
            }
            (Line::Http(client), Era::Stateless) => {
                let stream = client.open("subscriptions/listen", &filter).await;
                self.stream = Some(stream.expect("the stream opens"));
            }
            (Line::Stdio(_), Era::Handshake) => {}
            (Line::Stdio(client), Era::Stateless) => {
                let id = client.start("subscriptions/listen", &filter).await;
                self.listening = Some(id.expect("it is sent"));
            }
        }
        match self.era {
            Era::Handshake => {
                for uri in uris {
                    let params = json!({ "uri": uri }).to_string();
                    let subscribed = self.request("resources/subscribe", "", &params).await;
                    assert_eq!(subscribed.error_code(), None, "{}", subscribed.response);
                }
            }
            Era::Stateless => {
                let first = self.next_notice().await;
                assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
                let honoured = &first["params"]["notifications"];
                assert_eq!(honoured["resourceSubscriptions"], json!(uris), "{first}");
            }
        }
    }

    /// Ends the subscription.
    pub(crate) async fn stop_listening(&mut self, uris: &[&str]) {
        self.stream = None;
        if let Some(id) = self.listening.take() {
            self.notify("notifications/cancelled", &json!({ "requestId": id }).to_string()).await;
        }
        if self.era == Era::Handshake {
            for uri in uris {
                let params = json!({ "uri": uri }).to_string();
                self.request("resources/unsubscribe", "", &params).await;
            }
        }
    }

    /// The next notice of a change, or of a subscription.
    pub(crate) async fn next_notice(&mut self) -> Value {
        if !self.heard.is_empty() {
            return self.heard.remove(0);
        }
        loop {
            let text = match (&mut self.line, &mut self.stream) {
                (Line::Http(_), Some(stream)) => stream.next().await,
                (Line::Http(_), None) => panic!("nothing is listened to"),
                (Line::Stdio(client), _) => client.receive().await,
            };
            let text = text.unwrap_or_else(|error| panic!("no notice: {error:?}"));
            if let Some(notice) = changed(&text) {
                return notice;
            }
        }
    }

    /// All notices up to and including the first of this method.
    pub(crate) async fn notices_until(&mut self, method: &str) -> Vec<Value> {
        let mut notices = Vec::new();
        loop {
            let notice = self.next_notice().await;
            let is_last = notice["method"] == method;
            notices.push(notice);
            if is_last {
                return notices;
            }
        }
    }

    /// Calls a tool until it gives this answer.
    pub(crate) async fn await_said(&mut self, tool: &str, expected: &Value) {
        let deadline = Instant::now() + LIMIT;
        loop {
            let exchange = self.call(tool, "{}").await;
            let said = self.said(&exchange);
            if said == *expected {
                return;
            }
            assert!(Instant::now() < deadline, "{tool} says {said}, not {expected}");
            sleep(POLL).await;
        }
    }
}

/// A result that asks for input.
pub(crate) struct InputRequest {
    /// Keys, methods and parameters.
    pub(crate) questions: Vec<(String, String, Value)>,
    pub(crate) state: Option<String>,
}

impl InputRequest {
    pub(crate) fn of(exchange: &Exchange) -> Option<Self> {
        let result = exchange.result();
        if result["resultType"] != "input_required" {
            return None;
        }
        let requests = result["inputRequests"].as_object().cloned().unwrap_or_default();
        let questions = requests.into_iter().map(|(key, mut request)| {
            let method = request["method"].as_str().unwrap_or_default().to_owned();
            (key, method, request["params"].take())
        });
        let state = result["requestState"].as_str().map(str::to_owned);
        Some(Self { questions: questions.collect(), state })
    }

    /// The members of a repeated request, with one answer to every question.
    pub(crate) fn rest(&self, answer: &str) -> String {
        let answers: Vec<_> =
            self.questions.iter().map(|(key, ..)| format!("{}:{answer}", json!(key))).collect();
        let state = self.state.as_ref().map(|state| format!(r#","requestState":{}"#, json!(state)));
        let (answers, state) = (answers.join(","), state.unwrap_or_default());
        format!(r#","inputResponses":{{{answers}}}{state}"#)
    }
}

fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// A notice of a change, or of a stream of notices.
fn changed(text: &str) -> Option<Value> {
    let notice = parsed(text)?;
    let method = notice["method"].as_str()?;
    let is_one = method.ends_with("/list_changed")
        || method == "notifications/resources/updated"
        || method == "notifications/subscriptions/acknowledged";
    is_one.then_some(notice)
}

/// A request from the server.
fn question(text: &str) -> Option<(String, Value)> {
    let mut message = parsed(text)?;
    if message["id"].is_null() {
        return None;
    }
    Some((message["method"].as_str()?.to_owned(), message["params"].take()))
}

/// The method of a message.
pub(crate) fn method_of(text: &str) -> Option<String> {
    parsed(text)?["method"].as_str().map(str::to_owned)
}

/// Whether a call failed, by an error of the tool or of the protocol.
pub(crate) fn is_refused(exchange: &Exchange) -> bool {
    exchange.error_code().is_some() || exchange.result()["isError"] == true
}

/// Whether a request got no answer.
pub(crate) fn is_unanswered(result: &Result<Exchange, Error>) -> bool {
    matches!(result, Err(Error::Closed { .. } | Error::Http(_) | Error::NotAnAnswer { .. }))
}
