//! JSON-RPC as clients send it, parsed no deeper than the gateway needs: the content of a request
//! keeps its text.

use std::borrow::Cow;

use gatefold_catalog::{is_nested_deeper, object_fields};
use gatefold_dispatch::JSON_LEVELS;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::rpc::Envelope;
use crate::protocol::{BATCH_VERSION, RpcError, SubscriptionFilter, codes, meta};

/// The most messages of a batch.
const BATCH: usize = 100;

/// One message from a client.
#[derive(Debug)]
pub(super) enum Message {
    Request(ClientRequest),
    Notification {
        method: String,
        params: RequestParams,
    },
    /// The answer to one of our questions.
    Response {
        id: String,
        answer: Result<Box<RawValue>, ClientError>,
    },
}

/// An error that a client answered with.
#[derive(Debug, Deserialize)]
pub(super) struct ClientError {
    #[serde(default)]
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
}

#[derive(Debug)]
pub(super) struct ClientRequest {
    pub(super) id: Box<RawValue>,
    pub(super) method: String,
    pub(super) params: RequestParams,
}

/// The parameters that the gateway reads, of all methods.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RequestParams {
    pub(super) name: Option<String>,
    pub(super) uri: Option<String>,
    pub(super) arguments: Option<Box<RawValue>>,
    pub(super) cursor: Option<String>,
    #[serde(rename = "ref")]
    pub(super) reference: Option<CompletionReference>,
    pub(super) argument: Option<Box<RawValue>>,
    pub(super) context: Option<Box<RawValue>>,
    pub(super) level: Option<String>,
    pub(super) notifications: Option<SubscriptionFilter>,
    pub(super) input_responses: Option<Box<RawValue>>,
    pub(super) request_state: Option<String>,
    pub(super) task_id: Option<String>,
    pub(super) request_id: Option<Box<RawValue>>,
    pub(super) protocol_version: Option<String>,
    pub(super) capabilities: Option<Box<RawValue>>,
    pub(super) client_info: Option<ClientInfo>,
    #[serde(rename = "_meta")]
    meta: Option<Box<RawValue>>,
}

/// The reference of a completion: a prompt by its name, or a resource by its URI.
#[derive(Debug, Deserialize)]
pub(super) struct CompletionReference {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) uri: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ClientInfo {
    pub(super) name: String,
}

/// The metadata of a request.
#[derive(Debug, Default)]
pub(super) struct MetaMembers {
    pub(super) progress_token: Option<Box<RawValue>>,
    pub(super) traceparent: Option<String>,
    pub(super) tracestate: Option<String>,
    pub(super) version: Option<String>,
    pub(super) capabilities: Option<Box<RawValue>>,
    pub(super) client: Option<ClientInfo>,
    pub(super) log_level: Option<String>,
    /// What the model is asked to do, in its user's words. It is for us, and goes to no server.
    pub(super) asked: Option<String>,
    /// Members that the protocol does not define.
    pub(super) others: Vec<(String, Box<RawValue>)>,
}

/// An invalid message, and its id if one can be read.
#[derive(Debug)]
pub(super) struct UnreadableMessage {
    pub(super) id: Option<Box<RawValue>>,
    pub(super) error: RpcError,
}

impl UnreadableMessage {
    fn new(id: Option<&RawValue>, error: RpcError) -> Self {
        Self { id: id.filter(|id| is_id(id)).map(ToOwned::to_owned), error }
    }
}

/// The messages of a batch, or a single message.
pub(super) enum PostedMessages<'a> {
    One(&'a [u8]),
    Batch(Vec<&'a RawValue>),
}

/// Tells a batch from a single message.
pub(super) fn unpack(text: &[u8]) -> Result<PostedMessages<'_>, RpcError> {
    if !text.trim_ascii_start().starts_with(b"[") {
        return Ok(PostedMessages::One(text));
    }
    let batch = serde_json::from_slice::<Vec<&RawValue>>(text);
    batch.map(PostedMessages::Batch).map_err(|error| RpcError::parse(&error))
}

/// Whether a client with a session of this version may send this many messages together.
pub(super) fn check_batch(version: Option<&str>, messages: usize) -> Result<(), RpcError> {
    if version != Some(BATCH_VERSION) {
        let text = format!("only version {BATCH_VERSION} has batches: send one message at a time");
        return Err(RpcError::invalid_request(text));
    }
    if messages == 0 || messages > BATCH {
        return Err(RpcError::invalid_request(format!("a batch has 1 to {BATCH} messages")));
    }
    Ok(())
}

/// Reads one message.
pub(super) fn read(text: &[u8]) -> Result<Message, UnreadableMessage> {
    let not_rpc = || RpcError::invalid_request("the message is not JSON-RPC 2.0");
    let is_json = || serde_json::from_slice::<serde::de::IgnoredAny>(text);
    let envelope = Envelope::read(text).map_err(|error| {
        let error = if is_json().is_ok() { not_rpc() } else { RpcError::parse(&error) };
        UnreadableMessage::new(None, error)
    })?;
    let error = envelope.error.map(|error| serde_json::from_str::<ClientError>(error.get()));
    let error = error.transpose().map_err(|_| UnreadableMessage::new(None, not_rpc()))?;
    let refuse = |text| UnreadableMessage::new(envelope.id, RpcError::invalid_request(text));
    if envelope.jsonrpc.is_none_or(|version| version.get() != r#""2.0""#) {
        return Err(refuse("`jsonrpc` must be \"2.0\""));
    }
    let Some(method) = envelope.method.map(Cow::into_owned) else {
        let id = envelope.id.ok_or_else(|| refuse("the message has no `method`"))?;
        let answer = match (envelope.result, error) {
            (Some(result), _) => Ok(result.to_owned()),
            (None, Some(error)) => Err(error),
            (None, None) => return Err(refuse("the message has no `method`")),
        };
        let answer = answer.and_then(|answer| {
            if is_nested_deeper(answer.get(), JSON_LEVELS) {
                let message = format!("the answer is nested more than {JSON_LEVELS} levels deep");
                return Err(ClientError { code: codes::INVALID_PARAMS, message });
            }
            Ok(answer)
        });
        let id = serde_json::from_str(id.get()).unwrap_or_else(|_| id.get().to_owned());
        return Ok(Message::Response { id, answer });
    };
    let params = envelope.params.map_or_else(
        || Ok(RequestParams::default()),
        |raw| {
            let params = raw
                .get()
                .starts_with('{')
                .then(|| serde_json::from_str::<RequestParams>(raw.get()));
            let params = params.ok_or_else(|| "`params` must be an object".to_owned())?;
            params.map_err(|error| format!("`params` cannot be read: {error}"))
        },
    );
    match envelope.id {
        None => Ok(Message::Notification { method, params: params.unwrap_or_default() }),
        Some(id) if !is_id(id) => Err(refuse("`id` must be a text or a number")),
        Some(id) => {
            let params = params.map_err(|text| {
                UnreadableMessage::new(Some(id), RpcError::invalid_params(text).malformed())
            })?;
            Ok(Message::Request(ClientRequest { id: id.to_owned(), method, params }))
        }
    }
}

fn is_id(id: &RawValue) -> bool {
    id.get().starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit())
}

impl RequestParams {
    /// The request's metadata. An unreadable member counts as absent.
    pub(super) fn take_meta(&mut self) -> MetaMembers {
        let mut meta = MetaMembers::default();
        let Some(raw) = self.meta.take() else {
            return meta;
        };
        for (key, value) in object_fields(raw.get()).unwrap_or_default() {
            let own = || RawValue::from_string(value.to_owned()).ok();
            match key.strip_prefix(meta::PREFIX) {
                Some("protocolVersion") => meta.version = serde_json::from_str(value).ok(),
                Some("clientCapabilities") => {
                    meta.capabilities = own().filter(|raw| raw.get().starts_with('{'));
                }
                Some("clientInfo") => meta.client = serde_json::from_str(value).ok(),
                Some("logLevel") => meta.log_level = serde_json::from_str(value).ok(),
                Some(_) => {}
                None => match key.as_ref() {
                    "progressToken" => meta.progress_token = own().filter(|raw| is_id(raw)),
                    "traceparent" => meta.traceparent = serde_json::from_str(value).ok(),
                    "tracestate" => meta.tracestate = serde_json::from_str(value).ok(),
                    meta::ASKED => {
                        let text = serde_json::from_str::<String>(value).ok();
                        meta.asked = text.filter(|text| !text.trim().is_empty());
                    }
                    // What a server could not read is not passed on.
                    _ if is_nested_deeper(value, JSON_LEVELS) => {}
                    _ => meta.others.extend(own().map(|raw| (key.into_owned(), raw))),
                },
            }
        }
        meta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let said = match read(text.as_bytes()) {
            Ok(Message::Request(request)) => format!("{} {}", request.id, request.method),
            Ok(Message::Notification { method, .. }) => format!("notice {method}"),
            Ok(Message::Response { id, answer }) => format!("answer {id} {}", answer.is_ok()),
            Err(UnreadableMessage { id, error }) => {
                format!("{:?} {}", id.map(|id| id.to_string()), error.code)
            }
        };
        assert_eq!(said, expected, "{text}");
    }

    #[test]
    fn messages_are_told_apart() {
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "1 ping");
        check(r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}"#, "\"a\" ping");
        check(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, "notice notifications/x");
        check(r#"{"jsonrpc":"2.0","id":"q","result":{}}"#, "answer q true");
        check(r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}"#, "answer 7 false");
    }

    #[test]
    fn what_is_no_message_is_refused_with_its_id() {
        check("{", "None -32700");
        check("7", "None -32600");
        check(r#"{"id":1,"method":"ping"}"#, "Some(\"1\") -32600");
        check(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "Some(\"1\") -32600");
        check(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "None -32600");
        check(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "None -32600");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, "Some(\"1\") -32602");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":7}}"#, "Some(\"1\") -32602");
        check(r#"{"jsonrpc":"2.0","id":1}"#, "Some(\"1\") -32600");
    }

    #[test]
    fn what_is_not_the_protocols_own_is_kept_for_the_source() {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{
            "progressToken":"p","traceparent":"00-1","com.example/a":{"b":1.50},
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
            "io.modelcontextprotocol/clientCapabilities":{"roots":{}},
            "io.modelcontextprotocol/unheard":1}}}"#;
        let Ok(Message::Request(mut request)) = read(text.as_bytes()) else { panic!("a request") };
        let meta = request.params.take_meta();
        assert_eq!(meta.version.as_deref(), Some("2026-07-28"));
        assert_eq!(meta.client.unwrap().name, "c");
        assert_eq!(meta.capabilities.unwrap().get(), r#"{"roots":{}}"#);
        assert_eq!(meta.progress_token.unwrap().get(), "\"p\"");
        let others: Vec<_> = meta.others.iter().map(|(k, v)| (k.as_str(), v.get())).collect();
        assert_eq!(others, [("com.example/a", r#"{"b":1.50}"#)]);
    }
}
