//! Raw clients: they send and return JSON text, and every wait has a limit.
//!
//! Both start in the stateless era (2026-07-28) and change to the handshake era with `initialize`.

mod http;
mod message;
mod stdio;

use std::time::Duration;

use serde_json::Value;

pub use self::http::{MessageStream, RawClient, RawResponse};
pub use self::stdio::StdioClient;

pub(crate) use self::http::http_client;

/// How long a client waits for an answer by default.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(10);

/// The version that `initialize` asks for.
pub const HANDSHAKE_VERSION: &str = "2025-11-25";

/// The largest answer that is read, well above what `huge` returns by default.
const ANSWER_LIMIT_BYTES: usize = 64 << 20;

/// What came back for one request.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// What came before the answer: notifications, requests of the server, lines of garbage.
    pub notices: Vec<String>,
    /// The answer, as it was on the wire.
    pub response: String,
    /// The HTTP status; 200 on stdio.
    pub status: u16,
}

impl Exchange {
    /// The whole answer. Numbers keep their digits.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.response).expect("an answer was read as JSON before")
    }

    /// The result, or null if the answer is an error.
    pub fn result(&self) -> Value {
        self.value()["result"].take()
    }

    /// The code of the error, if the answer is one.
    pub fn error_code(&self) -> Option<i64> {
        self.value()["error"]["code"].as_i64()
    }

    /// The text of the result's first content block, or nothing.
    pub fn text(&self) -> String {
        let result = self.result();
        result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    /// The names of the tools in a `tools/list` result; a tool without a name has an empty one.
    pub fn tool_names(&self) -> Vec<String> {
        let tools = self.result()["tools"].take();
        let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
        tools.as_array().map(|tools| tools.iter().map(name).collect()).unwrap_or_default()
    }
}
