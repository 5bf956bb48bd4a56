//! Lines from a server that are not messages, and the requests that they answer nevertheless.

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::lines::id_of;
use super::message::ServerMessage;

/// An answer that cannot be used: the requests of ours that it shows, and what is wrong with it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnreadableAnswer {
    pub(crate) ids: Vec<u64>,
    pub(crate) fault: String,
}

impl UnreadableAnswer {
    /// Reads what it can of a line that is not a message. Most are stray prints that answer
    /// nothing.
    pub(crate) fn of(line: &[u8]) -> Self {
        let Ok(text) = std::str::from_utf8(line) else {
            return Self::to(id_of(line), "its answer is not UTF-8".to_owned());
        };
        if let Ok(batch) = serde_json::from_str::<Vec<&RawValue>>(text) {
            let messages = batch.iter().filter_map(|raw| ServerMessage::read(raw.get().as_bytes()));
            let ids = messages.filter_map(|message| message.own_id());
            let fault = "its answer is in a batch, and a line holds one message";
            return Self::to(ids, fault.to_owned());
        }
        let fault = match serde_json::from_str::<IgnoredAny>(text) {
            Ok(IgnoredAny) => "its answer is not JSON-RPC".to_owned(),
            Err(error) => format!("its answer is not JSON: {error}"),
        };
        Self::to(id_of(line), fault)
    }

    fn to(ids: impl IntoIterator<Item = u64>, fault: String) -> Self {
        Self { ids: ids.into_iter().collect(), fault }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &[u8], ids: &[u64], fault: &str) {
        let read = UnreadableAnswer::of(line);
        assert_eq!(read.ids, ids, "{}", read.fault);
        assert!(read.fault.contains(fault), "{}", read.fault);
    }

    #[test]
    fn what_cannot_be_read_still_shows_whom_it_answers() {
        check(
            br#"{"jsonrpc":"2.0","id":100000001,"result":{"x":NaN}}"#,
            &[100_000_001],
            "column 47",
        );
        check(br#"{"id":100000001,"result":{"x":[1,"#, &[100_000_001], "EOF while parsing");
        check(b"{\"id\":100000001,\"result\":\"\xff\"}", &[100_000_001], "not UTF-8");
        let batch =
            br#"[{"id":100000001,"result":{}},{"method":"ping"},{"id":100000002,"error":{}}]"#;
        check(batch, &[100_000_001, 100_000_002], "in a batch");
        check(br#"{"id":100000001,"method":7}"#, &[100_000_001], "not JSON-RPC");
    }

    #[test]
    fn what_is_no_answer_answers_nothing() {
        check(b"listening on port 100000001", &[], "not JSON");
        check(br#"{"result":{"id":100000001,"x":NaN}}"#, &[], "not JSON");
        check(b"\xff\xfe", &[], "not UTF-8");
        check(b"[]", &[], "batch");
        check(b"100000001", &[], "not JSON-RPC");
    }
}
