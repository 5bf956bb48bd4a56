//! The SDK's own sessions, with the addition that a call can end its own event stream.
//!
//! Revision 2025-11-25 lets a server close a stream in the middle of a call; the client then asks
//! for the rest with `Last-Event-ID`. The SDK can do it, but does not tell a handler which stream
//! is its own.

use std::time::Duration;

use futures::Stream;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::{SessionId, SessionManager};

/// How soon a client is told to come back for the rest.
const RETRY: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(super) struct Sessions(LocalSessionManager);

/// The event stream of the request that carries this as an extension.
#[derive(Clone)]
pub(super) struct OwnStream {
    session: LocalSessionHandle,
    http_request_id: u64,
}

impl OwnStream {
    /// Ends the stream; later messages wait until the client asks for them.
    pub(super) async fn close(&self) {
        // The session may have ended in the meantime; then there is nothing left to close.
        drop(self.session.close_sse_stream(self.http_request_id, Some(RETRY)).await);
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.0.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.0.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.0.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.0.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.0.sessions.read().await.get(id).cloned();
        let session = session.ok_or_else(|| Self::Error::SessionNotFound(id.clone()))?;
        let receiver = session.establish_request_wise_channel().await?;
        if let (ClientJsonRpcMessage::Request(request), Some(http_request_id)) =
            (&mut message, receiver.http_request_id)
        {
            let own = OwnStream { session: session.clone(), http_request_id };
            request.request.extensions_mut().insert(own);
        }
        session.push_message(message, receiver.http_request_id).await?;
        let mut events = receiver.inner;
        Ok(futures::stream::poll_fn(move |context| events.poll_recv(context)))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.0.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.0.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.0.resume(id, last_event_id).await
    }
}
