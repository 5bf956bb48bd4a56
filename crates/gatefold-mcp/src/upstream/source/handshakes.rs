//! Whether a server of the stateless era takes a handshake too, which shows when it is tried.
//!
//! The servers of the official SDKs name the stateless version alone and take `initialize` all the
//! same. In a session they may ask their client in the middle of a call, and many can ask in no other
//! way. So a handshake is tried for the first call of a client that has a session, beside the session
//! that is open. How it ended is remembered, so that a server without one is asked once.

use std::time::Duration;

use gatefold_core::AnswerFault;
use tokio::time::Instant;

use super::super::ladder::{ConnectError, ConnectLack};
use super::super::session::UpstreamSession;
use super::super::settings::Transport;
use super::{McpSource, SourceInner};

/// For how long a server counts as one that takes no handshake. It may be updated one day.
const REFUSED: Duration = Duration::from_hours(24);
/// The same after a failure that may soon be over, such as a server that was busy.
const FAILED: Duration = Duration::from_mins(1);

impl SourceInner {
    /// Whether a handshake may be tried for a client of that era.
    pub(super) fn may_try_handshake(&self) -> bool {
        self.no_handshake_until.is_none_or(|until| until <= Instant::now())
    }
}

impl McpSource {
    /// Judges how a handshake ended, and remembers one that failed.
    ///
    /// The call does not fail of it, because the session that is open serves it. Only missing
    /// credentials are passed on as an error: that session would lack them too.
    pub(super) async fn judge_handshake(
        &self,
        tried: Result<UpstreamSession, ConnectError>,
    ) -> Result<UpstreamSession, ConnectError> {
        let mut error = match tried {
            Ok(session) if session.wire.has_session() => return Ok(session),
            Ok(session) => {
                session.close().await;
                // Such a server can only ask through its results, as the stateless era does.
                let mut error = ConnectError::new("its handshake begins no session");
                error.fault = Some(AnswerFault::RefusedGreeting);
                error
            }
            Err(error) if error.lack != ConnectLack::Answer => return Err(error),
            Err(error) => error,
        };
        let is_local = matches!(self.settings.transport, Transport::Stdio(_));
        let pause = if is_local || is_lasting(&error) { REFUSED } else { FAILED };
        self.lock().no_handshake_until = Some(Instant::now() + pause);
        error.lack = ConnectLack::Handshake;
        Err(error)
    }
}

/// Whether a remote server would answer the same tomorrow.
fn is_lasting(error: &ConnectError) -> bool {
    match error.fault {
        Some(AnswerFault::Status(401 | 403 | 408 | 429 | 500..)) => false,
        Some(_) => true,
        // One that is late hangs on what it does not know. Otherwise it could not be reached.
        None => error.is_late,
    }
}
