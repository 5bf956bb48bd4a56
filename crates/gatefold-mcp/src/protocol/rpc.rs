//! JSON-RPC 2.0: messages as the texts they travel as, read no deeper than needed.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::RpcError;

/// One message of any kind, its members borrowed from the text it came as.
#[derive(Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default)]
    pub(crate) jsonrpc: Option<&'a RawValue>,
    /// Present even where it is `null`, which is an id that must not be.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    /// Present even where it is `null`, which some clients answer with.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    pub(crate) fn read(text: &'a [u8]) -> Result<Self, serde_json::Error> {
        // Serde would read an array as well, its items as the members in their order.
        if text.trim_ascii_start().first() == Some(&b'[') {
            return Err(serde::de::Error::custom("a message is an object"));
        }
        serde_json::from_slice(text)
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A request of ours.
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

/// The answer to a request that went well.
pub(crate) fn answer_with(id: &RawValue, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get())
}

/// The answer to a request that failed, or to what shows no id at all.
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

/// A notification of ours.
pub(crate) fn notice(method: &str, params: &str) -> String {
    let method = to_text(&method);
    format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)
}

/// A question of ours to a client.
pub(crate) fn question(id: &str, method: &str, params: &RawValue) -> String {
    let (id, method) = (to_text(&id), to_text(&method));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

pub(crate) fn to_text(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("our own values have only text keys")
}
