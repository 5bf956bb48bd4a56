//! Answers to a request for a chat completion. The run ends with its request: whoever leaves has it
//! cancelled, which is how these clients stop one.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::Event;
use axum::response::{IntoResponse as _, Response};
use futures::stream::{self, Stream, StreamExt as _};
use gatefold::RunPosition;
use gatefold_agent::RunEnd;
use gatefold_dispatch::RunId;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use tokio::time::timeout;

use super::answer::{AnswerHead, ChunkWriter, FinishReason};
use super::error::ApiError;
use super::feed::{AnswerFeed, EndedRun, FeedStep};
use crate::sse;

/// Names the run, for whoever looks it up later.
const RUN: HeaderName = HeaderName::from_static("x-gatefold-run");

/// How long a streamed answer may take to begin before its head is sent. A run that fails sooner is an
/// error with a status of its own.
const SOON: Duration = Duration::from_secs(2);

/// What a stream ends with.
const DONE: &str = "[DONE]";

pub(super) async fn answer_whole(feed: AnswerFeed, head: &AnswerHead) -> Response {
    let ended = feed.end().await;
    let response = match conclude(&ended) {
        Ok(reason) => {
            let content = ended.report.answer.as_deref().unwrap_or_default();
            let whole = head.whole(content, reason, &ended.report.usage.tokens);
            let json = HeaderValue::from_static("application/json");
            ([(CONTENT_TYPE, json)], whole).into_response()
        }
        Err(error) => error.into_response(),
    };
    naming(head.run, response)
}

pub(super) async fn answer_streamed(mut feed: AnswerFeed, writer: ChunkWriter) -> Response {
    let run = writer.head.run;
    let first = match timeout(SOON, feed.next()).await {
        Ok(FeedStep::Ended(ended)) => match conclude(&ended) {
            Ok(_) => Some(FeedStep::Ended(ended)),
            Err(error) => return naming(run, error.into_response()),
        },
        Ok(text) => Some(text),
        Err(_) => None,
    };
    naming(run, sse::respond(chunks(first, feed, writer)))
}

/// How the run ended for the client, or why it has no answer.
///
/// Nothing here has a status that clients send a request again for by themselves: another run would make
/// the calls of this one a second time, and models that fail have been asked again already.
fn conclude(ended: &EndedRun) -> Result<FinishReason, ApiError> {
    let failed = |code, text: &str| {
        Err(ApiError::of(StatusCode::FAILED_DEPENDENCY, text).servers().code(code).never_again())
    };
    let end = match &ended.report.position {
        RunPosition::Ended(end) => end,
        RunPosition::Waiting(_) => {
            return failed("run_waiting", "a call of the run waits for somebody's approval");
        }
        RunPosition::Interrupted => {
            return failed("run_interrupted", "the run was interrupted; what it called stays done");
        }
    };
    match end {
        RunEnd::Answered if ended.is_cut_off => Ok(FinishReason::Length),
        RunEnd::Answered => Ok(FinishReason::Stop),
        RunEnd::Short { .. } => Ok(FinishReason::Length),
        RunEnd::Refused => Ok(FinishReason::ContentFilter),
        RunEnd::Failed { reason, .. } => failed("run_failed", reason),
        RunEnd::Cancelled => failed("run_cancelled", "the run was cancelled"),
        RunEnd::DaySpent { reason } => {
            let spent = ApiError::of(StatusCode::TOO_MANY_REQUESTS, reason);
            Err(spent.code("insufficient_quota").never_again())
        }
    }
}

/// A stream of chunks under way.
struct ChunkStream {
    feed: AnswerFeed,
    writer: ChunkWriter,
    /// What was read of the feed before the stream began.
    first: Option<FeedStep>,
}

fn chunks(
    first: Option<FeedStep>,
    feed: AnswerFeed,
    writer: ChunkWriter,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let begin = vec![writer.first()];
    let following = stream::unfold(Some(ChunkStream { feed, writer, first }), async |streaming| {
        let mut streaming = streaming?;
        let step = match streaming.first.take() {
            Some(step) => step,
            None => streaming.feed.next().await,
        };
        Some(match step {
            FeedStep::Text(text) => (vec![streaming.writer.text(&text)], Some(streaming)),
            FeedStep::Ended(ended) => (last_chunks(&ended, &streaming.writer), None),
        })
    });
    let written = stream::once(async { begin }).chain(following);
    written.flat_map(|data| stream::iter(data).map(|data| Ok(Event::default().data(data))))
}

fn last_chunks(ended: &EndedRun, writer: &ChunkWriter) -> Vec<String> {
    match conclude(ended) {
        Ok(reason) => {
            let mut last = writer.last(reason, &ended.report.usage.tokens);
            last.push(DONE.to_owned());
            last
        }
        Err(error) => {
            vec![serde_json::to_string(&error.written()).expect("the keys of an error are texts")]
        }
    }
}

fn naming(run: RunId, mut response: Response) -> Response {
    if let Ok(run) = HeaderValue::try_from(run.to_string()) {
        response.headers_mut().insert(RUN, run);
    }
    response
}
