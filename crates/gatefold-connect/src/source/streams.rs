//! Bodies, and streams that may have no end.

use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use gatefold_core::{CallError, Target, with_causes};
use gatefold_dispatch::CallContext;
use gatefold_egress::{BodyEnd, EgressError, HttpResponse};
use gatefold_secrecy::KnownSecrets;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use tokio::time::Instant;

use super::HttpApi;
use crate::answer::{ReceivedAnswer, StreamCut};
use crate::media::is_stream;

/// How long a stream is read at most.
const STREAM_TIME: Duration = Duration::from_secs(30);

/// The part of the largest result that a stream may fill: as a result its quotes are escaped, and it
/// may be there twice.
const STREAM_SHARE: u64 = 4;

/// A body has to end before its call does, by this part of the time that is left and at most by so
/// long: then the call is told what was answered, and not that nothing was.
const MARGIN_SHARE: u32 = 20;
const LONGEST_MARGIN: Duration = Duration::from_millis(500);

impl HttpApi {
    /// Reads an answer. One that cannot be read to its end still has a status, and where that is a
    /// failure it says enough.
    pub(super) async fn received(
        &self,
        response: HttpResponse,
        context: &CallContext,
        target: &Target,
        secrets: &KnownSecrets,
    ) -> Result<ReceivedAnswer, CallError> {
        let (status, headers) = (response.status(), response.headers().clone());
        let limit = context.result_bytes;
        match read(response, context).await {
            Ok((body, cut)) => Ok(ReceivedAnswer { status, headers, body, cut }),
            Err(error) if !status.is_success() => {
                let (domain, causes) = (&self.settings.domain, with_causes(&error));
                let reason = secrets.mask(&causes);
                tracing::info!(%domain, %reason, "the body of a failure could not be read");
                Ok(ReceivedAnswer { status, headers, body: Bytes::new(), cut: None })
            }
            Err(error) => Err(self.unread(&error, target, limit, secrets)),
        }
    }
}

/// Reads the body of an answer. A stream without end gives what came of it.
async fn read(
    response: HttpResponse,
    context: &CallContext,
) -> Result<(Bytes, Option<StreamCut>), EgressError> {
    let (began, limit) = (Instant::now(), context.result_bytes);
    let left = context.deadline.saturating_duration_since(began);
    let time = left.saturating_sub((left / MARGIN_SHARE).min(LONGEST_MARGIN));
    let admit = |bytes| context.room.admit(bytes);
    if !has_no_length(response.headers()) {
        let admit = |bytes| admit(bytes).map(|()| true);
        let body = response.ending_by(began + time).read_admitted(limit, admit).await?;
        return Ok((body, None));
    }
    let time = time.min(STREAM_TIME);
    let read = response.ending_by(began + time).read_stream(limit / STREAM_SHARE, admit).await?;
    let cut = match read.end {
        BodyEnd::Whole => return Ok((read.bytes, None)),
        BodyEnd::Late => StreamCut::Time(began.elapsed()),
        BodyEnd::Full => StreamCut::Size,
        BodyEnd::Broken(error) => {
            tracing::info!(reason = with_causes(&error), "a stream broke off");
            StreamCut::Broken
        }
    };
    Ok((whole_lines(read.bytes), Some(cut)))
}

/// Whether a body is one that a server may go on with for ever.
fn has_no_length(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(is_stream)
}

/// The part up to the last end of a line, if there is one: half a record is worth nothing.
fn whole_lines(bytes: Bytes) -> Bytes {
    match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => bytes.slice(..=end),
        None => bytes,
    }
}
