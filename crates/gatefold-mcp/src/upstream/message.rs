//! JSON-RPC as it stands on the wire, parsed no deeper than needed.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Ids of our own requests start here; below are those that rmcp numbers.
pub(crate) const FIRST_OWN_ID: u64 = 100_000_000;

/// What is wrong with an answer that says nothing.
pub(crate) const NEITHER: &str = "its answer has neither a result nor an error";

/// The longest text of a server's error that is passed on, in bytes.
const ERROR_TEXT_BYTES: usize = 4096;
/// The most data of a server's error that is passed on, in bytes.
const ERROR_DATA_BYTES: usize = 64 * 1024;

/// What came back for a request.
#[derive(Debug)]
pub(crate) enum Reply {
    Result(Box<RawValue>),
    Error(RpcError),
}

/// A JSON-RPC error, its text and data bounded.
#[derive(Debug, Clone)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Box<RawValue>>,
    /// Whether the request was turned away before anything was done about it: over HTTP, by the
    /// status 400.
    pub(crate) is_turned_away: bool,
}

#[derive(Deserialize)]
pub(crate) struct Incoming<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireError<'a> {
    #[serde(default)]
    code: i64,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

impl Incoming<'_> {
    /// The id, when the message answers a request of ours.
    pub(crate) fn own_id(&self) -> Option<u64> {
        if self.method.is_some() {
            return None;
        }
        own_number(self.id?)
    }

    pub(crate) fn reply(&self) -> Option<Reply> {
        if let Some(result) = self.result {
            return Some(Reply::Result(result.to_owned()));
        }
        let error = self.error?;
        let error = serde_json::from_str(error.get()).unwrap_or(WireError {
            code: 0,
            message: error.get().into(),
            data: None,
        });
        let message = bounded(&error.message).to_owned();
        let data = error.data.filter(|data| data.get().len() <= ERROR_DATA_BYTES);
        let data = data.map(ToOwned::to_owned);
        Some(Reply::Error(RpcError { code: error.code, message, data, is_turned_away: false }))
    }

    /// The server's capabilities, when the message is the answer to a greeting.
    pub(crate) fn capabilities(&self) -> Option<&RawValue> {
        #[derive(Deserialize)]
        struct Greeting<'a> {
            #[serde(borrow)]
            capabilities: &'a RawValue,
        }
        serde_json::from_str::<Greeting<'_>>(self.result?.get()).ok().map(|own| own.capabilities)
    }

    /// The id of the request that a notification takes back.
    pub(crate) fn withdrawn(&self) -> Option<&RawValue> {
        #[derive(Deserialize)]
        struct Cancelled<'a> {
            #[serde(borrow, rename = "requestId")]
            id: &'a RawValue,
        }
        if self.method.as_deref() != Some("notifications/cancelled") {
            return None;
        }
        serde_json::from_str::<Cancelled<'_>>(self.params?.get()).ok().map(|own| own.id)
    }

    /// Whether the message belongs to a stream that rmcp listens to.
    pub(crate) fn is_of_subscription(&self) -> bool {
        let of = "io.modelcontextprotocol/subscriptionId";
        self.method.as_deref() == Some("notifications/subscriptions/acknowledged")
            || self.params.is_some_and(|params| params.get().contains(of))
    }

    /// The token of a progress notification about a request of ours, and what it says.
    pub(crate) fn own_progress(&self) -> Option<(u64, Box<RawValue>)> {
        #[derive(Deserialize)]
        struct Progress<'a> {
            #[serde(borrow, rename = "progressToken")]
            token: &'a RawValue,
        }
        if self.method.as_deref() != Some("notifications/progress") {
            return None;
        }
        let params = self.params?;
        let progress: Progress<'_> = serde_json::from_str(params.get()).ok()?;
        Some((own_number(progress.token)?, params.to_owned()))
    }
}

/// Reads an id of ours. Some servers give numbers back as strings.
fn own_number(id: &RawValue) -> Option<u64> {
    let digits = id.get().trim_matches('"');
    digits.parse().ok().filter(|id| *id >= FIRST_OWN_ID)
}

fn bounded(text: &str) -> &str {
    let mut end = text.len().min(ERROR_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A request of ours.
#[derive(Serialize)]
pub(crate) struct Outgoing<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: P,
}

impl<'a, P: Serialize> Outgoing<'a, P> {
    pub(crate) fn new(id: u64, method: &'a str, params: P) -> Self {
        Self { jsonrpc: "2.0", id, method, params }
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("requests have only string keys")
    }
}

/// The notification that a request of ours is not wanted any more.
pub(crate) fn cancelled(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"the caller gave up"}}}}"#
    )
}

/// The answer to a server's request.
pub(crate) fn answered(id: &RawValue, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get())
}

/// The error that answers a server's request.
pub(crate) fn refused(id: &RawValue, code: i64, message: &str) -> String {
    let message = serde_json::to_string(bounded(message)).expect("a string is valid JSON");
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":{message}}}}}"#,
        id.get()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incoming(text: &str) -> Incoming<'_> {
        serde_json::from_str(text).unwrap()
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
    fn progress_is_matched_by_its_token() {
        let text = r#"{"method":"notifications/progress","params":{"progressToken":100000001,"progress":1}}"#;
        assert_eq!(incoming(text).own_progress().unwrap().0, 100_000_001);
        let foreign = r#"{"method":"notifications/progress","params":{"progressToken":"x"}}"#;
        assert!(incoming(foreign).own_progress().is_none());
    }
}
