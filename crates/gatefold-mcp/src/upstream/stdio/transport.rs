use std::io;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;

use super::StdioWire;

/// Ids that one handshake may use. Each attempt on the same connection has its own.
pub(super) const IDS_PER_ATTEMPT: i64 = 1_000_000;

/// rmcp's transport over a [`StdioWire`].
pub(crate) struct StdioTransport {
    pub(super) wire: std::sync::Weak<StdioWire>,
    pub(super) first_id: i64,
    pub(super) messages: mpsc::Receiver<ServerJsonRpcMessage>,
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        mut message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &mut message
            && let RequestId::Number(number) = &mut request.id
        {
            *number += self.first_id;
        }
        let writer = self.wire.upgrade().and_then(|wire| wire.writer());
        async move {
            let text = serde_json::to_string(&message)?;
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            writer.ok_or_else(gone)?.send(text).await.map_err(|_| gone())
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.messages.close();
        Ok(())
    }
}

/// Turns the id of an answer back into the one that rmcp knows. False for an answer that belongs
/// to an earlier attempt.
pub(super) fn renumber(message: &mut ServerJsonRpcMessage, first_id: i64) -> bool {
    let id = match message {
        JsonRpcMessage::Response(response) => Some(&mut response.id),
        JsonRpcMessage::Error(error) => error.id.as_mut(),
        _ => None,
    };
    let Some(id) = id else { return true };
    let number = match &id {
        RequestId::Number(number) => *number,
        RequestId::String(text) => text.parse().unwrap_or(-1),
    };
    let own = number.checked_sub(first_id).filter(|own| (0..IDS_PER_ATTEMPT).contains(own));
    let Some(own) = own else { return false };
    *id = RequestId::Number(own);
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_keeps_its_attempts_id_and_any_other_is_refused() {
        let first_id = IDS_PER_ATTEMPT;
        for (id, own) in [
            (json!(first_id), Some(0)),
            (json!(first_id + 7), Some(7)),
            (json!((first_id + 7).to_string()), Some(7)),
            (json!(first_id - 1), None),
            (json!(2 * first_id), None),
            (json!(i64::MIN), None),
            (json!(i64::MAX), None),
            (json!("-9223372036854775808"), None),
        ] {
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": {}});
            let mut message: ServerJsonRpcMessage = serde_json::from_value(answer).unwrap();
            assert_eq!(renumber(&mut message, first_id), own.is_some(), "{id}");
            let JsonRpcMessage::Response(response) = message else { panic!("{id}") };
            if let Some(own) = own {
                assert_eq!(response.id, RequestId::Number(own));
            }
        }
    }
}
