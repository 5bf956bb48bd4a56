//! JSON-RPC 2.0: messages as text, parsed no deeper than needed.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::RpcError;

/// A message of any kind, with members borrowed from its text.
#[derive(Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default)]
    pub(crate) jsonrpc: Option<&'a RawValue>,
    /// Present even if it is `null`, which the protocol forbids as an id.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    /// Present even if it is `null`: some clients answer with that.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    pub(crate) fn read(text: &'a [u8]) -> Result<Self, serde_json::Error> {
        // Serde would also read an array, taking its items as the members in order.
        if text.trim_ascii_start().first() == Some(&b'[') {
            return Err(serde::de::Error::custom("a message is an object"));
        }
        serde_json::from_slice(text)
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A request that we send.
pub(crate) fn request(id: u64, method: &str, params: &(impl Serialize + ?Sized)) -> String {
    #[derive(Serialize)]
    struct Outgoing<'a, P: ?Sized> {
        jsonrpc: &'static str,
        id: u64,
        method: &'a str,
        params: &'a P,
    }
    to_text(&Outgoing { jsonrpc: "2.0", id, method, params })
}

/// The answer to a request.
pub(crate) fn answer(id: &RawValue, answer: &Result<String, RpcError>) -> String {
    match answer {
        Ok(result) => answer_with(id, result),
        Err(error) => refusal(Some(id), error),
    }
}

/// The answer to a request that succeeded.
pub(crate) fn answer_with(id: &RawValue, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get())
}

/// The error answer to a request, or to a message without a readable id.
pub(crate) fn refusal(id: Option<&RawValue>, error: &RpcError) -> String {
    #[derive(Serialize)]
    struct Body<'a> {
        code: i64,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a RawValue>,
    }
    let RpcError { code, message, data, .. } = error;
    let body = to_text(&Body { code: *code, message, data: data.as_deref() });
    let id = id.map_or("null", RawValue::get);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{body}}}"#)
}

/// A notification that we send.
pub(crate) fn notice(method: &str, params: &str) -> String {
    let method = to_text(&method);
    format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)
}

/// A question that we send to a client.
pub(crate) fn question(id: &str, method: &str, params: &RawValue) -> String {
    let (id, method) = (to_text(&id), to_text(&method));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

pub(crate) fn to_text(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("our own values have only text keys")
}
