//! A run's events for a client: as a page, or as a stream that the client can leave and come back to.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::response::sse::Event;
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::{Stream, unfold};
use gatefold::{App, RunPiece};
use gatefold_dispatch::{DataOwner, Journal as _, JournalError, Run, RunEvent, RunId};
use gatefold_model::Delta;
use gatefold_store::Store;
use http::header::{ACCEPT, HeaderName};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use super::events::{NumberedEvent, TextPiece};
use super::problem::Problem;
use crate::{Api, sse};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How many events are read at once, which bounds what a slow reader keeps in memory.
const READ_AT_ONCE: u32 = 16;

/// How many events a page has.
const PAGE: u32 = 100;

#[derive(Deserialize)]
pub(super) struct EventQuery {
    /// The number of the last event that the client has.
    after: Option<u64>,
}

#[derive(Serialize)]
struct EventPage {
    events: Vec<NumberedEvent>,
    /// What `after` has to be for the next page.
    next: u64,
    /// Whether no event follows any more.
    is_last: bool,
}

pub(super) async fn answer(
    api: &Api,
    owner: DataOwner,
    run: &Run,
    query: &EventQuery,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let after = match (headers.get(LAST_EVENT_ID), query.after) {
        // A client that comes back says it in the header, and the address is still the first one.
        (Some(last), _) => {
            let number = last.to_str().ok().and_then(|last| last.trim().parse().ok());
            number.ok_or_else(|| {
                let detail = "`Last-Event-ID` is the number of an event of this run";
                Problem::invalid("invalid_event_id", detail)
            })?
        }
        (None, after) => after.unwrap_or(0),
    };
    if wants_page(headers) {
        return page(&api.app, &owner, run.id, after).await;
    }
    if run.end.is_some() && after > run.last {
        // It has seen the end. This status tells browsers not to come back (HTML, section 9.2.3).
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let follower = Follower::new(api.app.clone(), owner, run.id, after);
    let stop = api.stop.clone().cancelled_owned();
    Ok(sse::respond(stream(follower).take_until(stop)))
}

/// Whether a client wants JSON rather than a stream. One that says nothing gets the stream.
fn wants_page(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = values
        .flat_map(|value| value.split(','))
        .map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    let first = kinds.find(|kind| kind == "application/json" || kind == "text/event-stream");
    first.is_some_and(|kind| kind == "application/json")
}

async fn page(app: &App, owner: &DataOwner, id: RunId, after: u64) -> Result<Response, Problem> {
    let internal = |error: JournalError| Problem::internal(&error);
    let events = app.store().events(owner, id, after, PAGE).await.map_err(internal)?;
    let mut events: Vec<_> = events.iter().map(NumberedEvent::of).collect();
    // After the events: one that has ended by now has no others than were just read, or a full page.
    let run = app.store().run(owner, id).await.map_err(internal)?;
    let run = run.ok_or_else(Problem::unknown_run)?;
    let read = events.last().map_or(after, |event| event.number);
    let mut is_last = false;
    if let Some((at, outcome)) = run.end {
        is_last = read >= run.last;
        if read == run.last {
            events.push(NumberedEvent::end(run.last, at, outcome));
        }
    }
    let next = events.last().map_or(after, |event| event.number);
    Ok(Json(EventPage { events, next, is_last }).into_response())
}

/// Somebody who reads a run's events, each once and in order, and the pieces of answers between them.
struct Follower {
    app: Arc<App>,
    owner: DataOwner,
    run: RunId,
    /// The number of the last event that was read.
    after: u64,
    /// Read and not sent, at most [`READ_AT_ONCE`].
    ready: VecDeque<NumberedEvent>,
    /// Waits for the events behind that one.
    following: Option<FollowedEvents>,
    /// None while this process does not drive the run.
    pieces: Option<broadcast::Receiver<RunPiece>>,
    /// One that came before the events in front of it.
    early: Option<RunPiece>,
    has_ended: bool,
}

type FollowedEvents = BoxFuture<'static, Result<Vec<RunEvent>, JournalError>>;

impl Follower {
    fn new(app: Arc<App>, owner: DataOwner, run: RunId, after: u64) -> Self {
        let live = app.runs().live(&owner, run);
        let pieces = live.map(|live| live.deltas());
        let (ready, following, early, has_ended) = (VecDeque::new(), None, None, false);
        Self { app, owner, run, after, ready, following, pieces, early, has_ended }
    }

    /// The next thing to send; none after the end.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(numbered(&event));
            }
            if self.has_ended {
                return None;
            }
            if let Some(piece) = self.early.take_if(|piece| piece.after <= self.after) {
                // A piece of an answer that is an event by now is worth nothing.
                if piece.after == self.after
                    && let Some(event) = live(&piece)
                {
                    return Some(event);
                }
            }
            let (store, owner) = (self.app.store(), self.owner);
            let following = self
                .following
                .get_or_insert_with(|| follow(store.clone(), owner, self.run, self.after));
            let read = tokio::select! {
                biased;
                read = following => read,
                piece = next_piece(&mut self.pieces), if self.early.is_none() => {
                    self.early = Some(piece);
                    continue;
                }
            };
            self.following = None;
            // What cannot be read is in the log; the client comes back to where it was.
            self.take(read.map_err(|error| Problem::internal(&error)).ok()?).await?;
        }
    }

    async fn take(&mut self, events: Vec<RunEvent>) -> Option<()> {
        if let Some(last) = events.last() {
            self.after = last.number;
            self.ready.extend(events.iter().map(NumberedEvent::of));
            // One that waited may be driven again.
            if self.pieces.is_none() {
                let live = self.app.runs().live(&self.owner, self.run);
                self.pieces = live.map(|live| live.deltas());
            }
            return Some(());
        }
        self.has_ended = true;
        let run = self.app.store().run(&self.owner, self.run).await.ok()??;
        let (at, outcome) = run.end?;
        self.ready.push_back(NumberedEvent::end(run.last, at, outcome));
        Some(())
    }
}

fn follow(store: Store, owner: DataOwner, run: RunId, after: u64) -> FollowedEvents {
    Box::pin(async move { store.follow(&owner, run, after, READ_AT_ONCE).await })
}

/// The next piece of an answer. It waits forever where there are none.
async fn next_piece(pieces: &mut Option<broadcast::Receiver<RunPiece>>) -> RunPiece {
    loop {
        let Some(receiver) = pieces else { return std::future::pending().await };
        match receiver.recv().await {
            Ok(piece) => return piece,
            // Whoever reads slowly has the whole answer with its event.
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => *pieces = None,
        }
    }
}

fn stream(follower: Follower) -> impl Stream<Item = Result<Event, Infallible>> {
    unfold(follower, async |mut follower| Some((Ok(follower.next().await?), follower)))
}

fn numbered(event: &NumberedEvent) -> Event {
    let data = serde_json::to_string(event).expect("the keys of an event are texts");
    Event::default().id(event.number.to_string()).event(event.event.name()).data(data)
}

fn live(piece: &RunPiece) -> Option<Event> {
    let Delta::Text(text) = &piece.delta else { return None };
    let data = serde_json::to_string(&TextPiece { text }).expect("the keys of a piece are texts");
    Some(Event::default().event("text").data(data))
}
