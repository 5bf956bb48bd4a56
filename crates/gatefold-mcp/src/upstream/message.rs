//! Messages from a server, parsed no deeper than needed, and the ids of our requests.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gatefold_catalog::with_whole_pairs;
use gatefold_secrecy::KnownSecrets;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::rpc::Envelope;
use crate::protocol::{RpcError, meta, methods, rpc};

/// The first id of our requests on a connection. It is high so that a message that is too long to
/// read, and of which only the id is known, is not taken for an answer when it is a request from
/// the server.
pub(crate) const FIRST_OWN_ID: u64 = 100_000_000;

/// The fault of an answer that has neither a result nor an error.
pub(crate) const NEITHER: &str = "its answer has neither a result nor an error";

/// The longest text of a server's error that is passed on, in bytes.
const ERROR_TEXT_BYTES: usize = 4096;
/// The most data of a server's error that is passed on, in bytes.
const ERROR_DATA_BYTES: usize = 64 * 1024;

/// What came back for a request. The text and the data of an error are bounded.
#[derive(Debug)]
pub(crate) enum Reply {
    Result(Box<RawValue>),
    Error(RpcError),
}

/// Masks the secrets that a server was given in what it wrote. Ids and method names stay as they
/// are. The text is only copied if it may contain a secret.
pub(crate) fn without_secrets<'t>(text: &'t [u8], secrets: &KnownSecrets) -> Cow<'t, [u8]> {
    if !secrets.may_be_in(text) {
        return Cow::Borrowed(text);
    }
    let members: Result<BTreeMap<String, &RawValue>, _> = serde_json::from_slice(text);
    let Ok(members) = members else {
        let text = String::from_utf8_lossy(text);
        return Cow::Owned(secrets.mask(&text).into_owned().into_bytes());
    };
    let mut masked = String::with_capacity(text.len());
    for (name, value) in members {
        let value = match name.as_str() {
            "id" | "jsonrpc" | "method" => Cow::Borrowed(value.get()),
            _ => secrets.mask_json(value.get()),
        };
        let before = if masked.is_empty() { '{' } else { ',' };
        masked.push(before);
        masked.push_str(&serde_json::Value::String(name).to_string());
        masked.push(':');
        masked.push_str(&value);
    }
    masked.push('}');
    Cow::Owned(masked.into_bytes())
}

/// A message from a server.
pub(crate) struct ServerMessage<'a> {
    pub(crate) id: Option<&'a RawValue>,
    pub(crate) method: Option<Cow<'a, str>>,
    pub(crate) params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ErrorBody<'a> {
    #[serde(default)]
    code: i64,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

impl<'a> ServerMessage<'a> {
    /// Reads a message. Servers write `null` for a member that they leave out.
    pub(crate) fn read(text: &'a [u8]) -> Option<Self> {
        let Envelope { id, method, params, result, error, .. } = Envelope::read(text).ok()?;
        let said = |member: Option<&'a RawValue>| member.filter(|raw| raw.get() != "null");
        Some(Self { id: said(id), method, params: said(params), result: said(result), error })
    }
}

impl ServerMessage<'_> {
    /// The id, when the message answers a request of ours.
    pub(crate) fn own_id(&self) -> Option<u64> {
        if self.method.is_some() {
            return None;
        }
        own_number(self.id?.get())
    }

    pub(crate) fn reply(&self) -> Option<Reply> {
        if let Some(result) = self.result {
            return Some(Reply::Result(result.to_owned()));
        }
        let text = with_whole_pairs(self.error?.get());
        let error = serde_json::from_str(&text).unwrap_or(ErrorBody {
            code: 0,
            message: text.as_ref().into(),
            data: None,
        });
        let message = match bounded(&error.message) {
            text if text.trim().is_empty() => format!("no reason given (code {})", error.code),
            text => text.to_owned(),
        };
        let data = error.data.filter(|data| data.get().len() <= ERROR_DATA_BYTES);
        let data = data.map(ToOwned::to_owned);
        Some(Reply::Error(RpcError { data, ..RpcError::new(error.code, message) }))
    }

    /// Whether the message is an error that names no request: a server that cannot parse a request
    /// may not know its id either.
    pub(crate) fn is_error_of_none(&self) -> bool {
        self.id.is_none() && self.method.is_none() && self.error.is_some()
    }

    /// The id of the request that a notification cancels.
    pub(crate) fn withdrawn(&self) -> Option<&RawValue> {
        #[derive(Deserialize)]
        struct CancelledParams<'a> {
            #[serde(borrow, rename = "requestId")]
            id: &'a RawValue,
        }
        if self.method.as_deref() != Some(methods::CANCELLED) {
            return None;
        }
        serde_json::from_str::<CancelledParams<'_>>(self.params?.get()).ok().map(|own| own.id)
    }

    /// The subscription that a notification belongs to. Its id is the id of its request.
    pub(crate) fn subscription(&self) -> Option<u64> {
        #[derive(Deserialize)]
        struct SubscriptionParams<'a> {
            #[serde(borrow, rename = "_meta")]
            meta: SubscriptionMeta<'a>,
        }
        #[derive(Deserialize)]
        struct SubscriptionMeta<'a> {
            #[serde(borrow, rename = "io.modelcontextprotocol/subscriptionId")]
            id: &'a RawValue,
        }
        let params = self.params?.get();
        // Few messages have one, and parsing all of them would be costly.
        if !params.contains(meta::SUBSCRIPTION_ID) {
            return None;
        }
        own_number(serde_json::from_str::<SubscriptionParams<'_>>(params).ok()?.meta.id.get())
    }

    /// Our own request that the server cancels.
    pub(crate) fn withdrawn_own(&self) -> Option<u64> {
        own_number(self.withdrawn()?.get())
    }

    /// The token of a progress notification about a request of ours, and what it says.
    pub(crate) fn own_progress(&self) -> Option<(u64, Box<RawValue>)> {
        #[derive(Deserialize)]
        struct Progress<'a> {
            #[serde(borrow, rename = "progressToken")]
            token: &'a RawValue,
        }
        if self.method.as_deref() != Some(methods::PROGRESS) {
            return None;
        }
        let params = self.params?;
        let progress: Progress<'_> = serde_json::from_str(params.get()).ok()?;
        Some((own_number(progress.token.get())?, whole(params)))
    }
}

/// The JSON as it may go out again: without half pairs of surrogates, which strict parsers refuse.
pub(crate) fn whole(json: &RawValue) -> Box<RawValue> {
    match with_whole_pairs(json.get()) {
        Cow::Owned(text) => RawValue::from_string(text).unwrap_or_else(|_| json.to_owned()),
        Cow::Borrowed(_) => json.to_owned(),
    }
}

/// Reads one of our ids. Some servers return numbers as strings.
pub(crate) fn own_number(id: &str) -> Option<u64> {
    let digits = id.trim_matches('"');
    digits.parse().ok().filter(|id| *id >= FIRST_OWN_ID)
}

fn bounded(text: &str) -> &str {
    let mut end = text.len().min(ERROR_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The notification that cancels one of our requests.
pub(crate) fn cancelled(id: u64) -> String {
    let params = format!(r#"{{"requestId":{id},"reason":"the caller gave up"}}"#);
    rpc::notice(methods::CANCELLED, &params)
}

/// The error that answers a server's request.
pub(crate) fn refused(id: &RawValue, code: i64, message: &str) -> String {
    rpc::refusal(Some(id), &RpcError::new(code, bounded(message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incoming(text: &str) -> ServerMessage<'_> {
        ServerMessage::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_result_is_kept_letter_for_letter() {
        let text =
            r#"{"jsonrpc":"2.0","id":100000007,"result":{"n": 12345678901234567890123, "x":1.10}}"#;
        let message = incoming(text);
        assert_eq!(message.own_id(), Some(100_000_007));
        let Some(Reply::Result(result)) = message.reply() else { panic!("not a result") };
        assert_eq!(result.get(), r#"{"n": 12345678901234567890123, "x":1.10}"#);
    }

    #[test]
    fn only_answers_to_own_requests_count_as_such() {
        for (text, own) in [
            (r#"{"id":100000000,"result":{}}"#, Some(100_000_000)),
            (r#"{"id":"100000000","error":{}}"#, Some(100_000_000)),
            (r#"{"id":3,"result":{}}"#, None),
            (r#"{"id":100000000,"method":"ping"}"#, None),
            (r#"{"id":null,"error":{}}"#, None),
            (r#"{"method":"notifications/progress"}"#, None),
        ] {
            assert_eq!(incoming(text).own_id(), own, "{text}");
        }
    }

    #[test]
    fn an_error_keeps_its_code_and_a_bounded_text() {
        let long = "é".repeat(ERROR_TEXT_BYTES);
        let text = format!(r#"{{"id":1,"error":{{"code":-32602,"message":"{long}"}}}}"#);
        let Some(Reply::Error(error)) = incoming(&text).reply() else { panic!("not an error") };
        assert_eq!((error.code, error.message.len()), (-32602, ERROR_TEXT_BYTES));
    }

    #[test]
    fn the_data_of_an_error_is_kept_letter_for_letter_unless_it_is_huge() {
        let data = |data: &str| {
            let text = format!(r#"{{"id":1,"error":{{"code":7,"message":"m","data":{data}}}}}"#);
            let Some(Reply::Error(error)) = incoming(&text).reply() else { panic!("no error") };
            error.data.map(|data| data.get().to_owned())
        };
        assert_eq!(data(r#"{"n": 1.10}"#).as_deref(), Some(r#"{"n": 1.10}"#));
        assert_eq!(data(&format!("\"{}\"", "x".repeat(ERROR_DATA_BYTES))), None);
    }

    #[test]
    fn half_a_pair_of_surrogates_costs_no_text() {
        let text = r#"{"id":1,"error":{"code":7,"message":"cut \ud83d","data":{"at":"\udc4d"}}}"#;
        let Some(Reply::Error(error)) = incoming(text).reply() else { panic!("not an error") };
        assert_eq!((error.code, error.message.as_str()), (7, "cut \u{fffd}"));
        assert_eq!(error.data.unwrap().get(), r#"{"at":"\ufffd"}"#);
    }

    #[test]
    fn progress_is_matched_by_its_token() {
        let text = r#"{"method":"notifications/progress","params":{"progressToken":100000001,"progress":1}}"#;
        assert_eq!(incoming(text).own_progress().unwrap().0, 100_000_001);
        let foreign = r#"{"method":"notifications/progress","params":{"progressToken":"x"}}"#;
        assert!(incoming(foreign).own_progress().is_none());
    }
}
