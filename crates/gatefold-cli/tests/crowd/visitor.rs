//! Clients that come, do something, and vanish.

use serde_json::json;

use crate::socket::Socket;

/// What a visitor is doing when it vanishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VisitorActivity {
    /// Nothing: its call was answered.
    Nothing,
    /// It was asked a question and has not answered.
    Asked,
    /// It waits for a slow call.
    Waiting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Handshake,
    Stateless,
}

/// How one of many clients behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habit {
    pub(crate) era: Era,
    pub(crate) doing: VisitorActivity,
    /// Whether it also holds a stream of notices open.
    pub(crate) listens: bool,
    /// The source whose tools it calls.
    pub(crate) source: &'static str,
}

/// A client in the middle of something. Dropping it closes its sockets without a word.
pub(crate) struct Visitor {
    _sockets: Vec<Socket>,
}

impl Habit {
    /// The habit of one client in a crowd: every combination occurs, and often.
    pub(crate) fn of(number: usize) -> Self {
        let era = if number.is_multiple_of(2) { Era::Handshake } else { Era::Stateless };
        let doing = [VisitorActivity::Nothing, VisitorActivity::Asked, VisitorActivity::Waiting]
            [number / 2 % 3];
        // A client of the stdio source never waits for an answer: the source could not tell whom to
        // ask.
        let source = match (doing, number / 6 % 3) {
            (VisitorActivity::Nothing, 0) => "local",
            (_, 1) => "old",
            _ => "new",
        };
        let listens = era == Era::Handshake && (number / 18).is_multiple_of(3);
        Self { era, doing, listens, source }
    }

    pub(crate) async fn visit(self, address: &str) -> Visitor {
        let mut socket = Socket::open(address).await;
        let (tool, words) = match (self.doing, self.era) {
            (VisitorActivity::Nothing, _) => ("test_simple_text", "This is a simple text"),
            (VisitorActivity::Asked, Era::Handshake) => ("matrix_elicit", "elicitation/create"),
            (VisitorActivity::Asked, Era::Stateless) => ("matrix_elicit", "input_required"),
            (VisitorActivity::Waiting, _) => ("matrix_wait", ""),
        };
        let name = format!("{}__{tool}", self.source);
        let mut sockets = Vec::new();
        match self.era {
            Era::Handshake => {
                let headers = greet(&mut socket).await;
                if self.listens {
                    let mut stream = Socket::open(address).await;
                    stream.listen(&headers).await;
                    stream.read_until("text/event-stream").await;
                    sockets.push(stream);
                }
                socket.post(&headers, &call(&name, "")).await;
            }
            Era::Stateless => {
                let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
                               Mcp-Name: execute_tool\r\n";
                let meta = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
                });
                socket.post(headers, &call(&name, &format!(r#","_meta":{meta}"#))).await;
            }
        }
        if self.doing != VisitorActivity::Waiting {
            socket.read_until(words).await;
        }
        sockets.push(socket);
        Visitor { _sockets: sockets }
    }
}

/// Begins a session; returns the headers of its further requests.
async fn greet(socket: &mut Socket) -> String {
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"crowd","version":"1"}}}"#;
    socket.post("", hello).await;
    let answer = socket.read_until("serverInfo").await.to_lowercase();
    let session = answer.split_once("mcp-session-id: ").and_then(|(_, rest)| rest.lines().next());
    let session = session.expect("a session was begun");
    let headers = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    socket.post(&headers, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    socket.read_until("202 Accepted").await;
    headers
}

fn call(tool: &str, rest: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"execute_tool","arguments":{{"tool_name":"{tool}","arguments":{{}}}}{rest}}}}}"#
    )
}
