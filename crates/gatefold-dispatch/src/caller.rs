//! The caller of a call: how it follows the call, what its request carried besides the arguments,
//! and how a source may ask its client something.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use gatefold_core::{ClientName, Label, Lineage};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::limits::room::ResultPlace;
use crate::messages::{Answer, AskError, Event, QuestionMode};
use crate::ports::{EventListener, MemoryShare, Peer};
use crate::{ClientCapabilities, Question};

/// How a caller follows its call, and how it can be reached in the meantime. Cheap to clone.
#[derive(Clone)]
pub struct Caller {
    pub events: EventSink,
    pub peer: Arc<dyn Peer>,
    pub cancel: CancellationToken,
    pub meta: Arc<RequestMeta>,
    /// The calls elsewhere that led to this one. Calls made by [`NestedCaller`](crate::NestedCaller)
    /// have their own.
    pub lineage: Lineage,
    /// The label of everything the session or run has read so far, shared by its calls.
    pub label: SharedLabel,
    /// The request's share of the memory that its entrance has for all requests. It is given back
    /// when nothing of the request is left, which may be after its answer.
    pub memory: Option<Arc<dyn MemoryShare>>,
    /// The place of a large result, for whoever works on it after the call.
    pub result_place: ResultPlace,
    pub attachment: CallAttachment,
}

/// What whoever makes a call in this process gives along for a source that knows it, such as what the call may
/// spend. Nothing on the way looks at it, and no client can send it. It has one value of each type.
#[derive(Clone, Default)]
pub struct CallAttachment(Vec<Arc<dyn Any + Send + Sync>>);

impl CallAttachment {
    pub fn new<T: Send + Sync + 'static>(value: T) -> Self {
        Self::default().and(value)
    }

    /// The same, with a value of another type.
    #[must_use]
    pub fn and<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.0.push(Arc::new(value));
        self
    }

    /// What was given along of this type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.iter().find_map(|value| value.downcast_ref())
    }
}

/// The label of a session or a run, which each result passes on to the next call.
///
/// A call reads it as a fact when it begins, and raises it by what it has read. The label never
/// falls.
#[derive(Debug, Clone, Default)]
pub struct SharedLabel(Arc<AtomicBool>);

impl SharedLabel {
    pub fn get(&self) -> Label {
        if self.0.load(Ordering::Acquire) { Label::OpenWorld } else { Label::Clean }
    }

    pub fn raise(&self, label: Label) {
        if label == Label::OpenWorld {
            self.0.store(true, Ordering::Release);
        }
    }
}

impl Caller {
    /// A caller that only waits for the result.
    pub fn silent() -> Self {
        Self {
            events: EventSink::none(),
            peer: Arc::new(NoPeer),
            cancel: CancellationToken::new(),
            meta: Arc::default(),
            lineage: Lineage::default(),
            label: SharedLabel::default(),
            memory: None,
            result_place: ResultPlace::default(),
            attachment: CallAttachment::default(),
        }
    }
}

/// The metadata of a request besides its arguments.
#[derive(Debug, Clone, Default)]
pub struct RequestMeta {
    /// The name that the client gives itself: for records, and to tell one person's clients apart.
    pub client: Option<ClientName>,
    /// The W3C trace context, passed on as it came.
    pub traceparent: Option<String>,
    pub tracestate: Option<String>,
    /// The least severe log messages that the client wants, in the protocol's word.
    pub log_level: Option<String>,
    /// Other metadata from the client that the protocol does not define, passed on as it came.
    pub others: Vec<(String, Box<RawValue>)>,
}

impl EventListener for mpsc::Sender<Event> {
    fn hear(&self, event: Event) {
        let _ = self.try_send(event);
    }

    fn is_gone(&self) -> bool {
        self.is_closed()
    }
}

/// A listener, and whether it wants to hear of progress.
#[derive(Clone)]
struct Listener {
    hears: Arc<dyn EventListener>,
    wants_progress: bool,
}

/// A listener that a later request may replace.
type CurrentListener = Mutex<Option<Listener>>;

/// Where the events of one call go. Bounded: a slow listener misses some.
#[derive(Clone, Default)]
pub struct EventSink(Option<Arc<CurrentListener>>);

impl EventSink {
    pub fn new(listener: impl EventListener) -> Self {
        Self::of(listener, true)
    }

    /// A sink for a caller that did not ask for progress.
    pub fn without_progress(listener: impl EventListener) -> Self {
        Self::of(listener, false)
    }

    fn of(listener: impl EventListener, wants_progress: bool) -> Self {
        let listener = Listener { hears: Arc::new(listener), wants_progress };
        Self(Some(Arc::new(Mutex::new(Some(listener)))))
    }

    /// A sink without a listener.
    pub fn none() -> Self {
        Self::default()
    }

    /// A separate sink with the same listener, which can be redirected.
    pub(crate) fn redirectable(&self) -> Self {
        Self(Some(Arc::new(Mutex::new(self.current()))))
    }

    /// Sends events from now on to the listener of another sink.
    pub(crate) fn redirect(&self, to: &Self) {
        if let Some(own) = &self.0 {
            let listener = to.current();
            *lock(own) = listener;
        }
    }

    fn current(&self) -> Option<Listener> {
        self.0.as_ref().and_then(|own| lock(own).clone())
    }

    /// Whether anybody listens for progress.
    pub fn hears_progress(&self) -> bool {
        self.current().is_some_and(|current| current.wants_progress && !current.hears.is_gone())
    }

    pub fn send(&self, event: Event) {
        if let Some(listener) = self.current() {
            listener.hears.hear(event);
        }
    }
}

fn lock(own: &CurrentListener) -> MutexGuard<'_, Option<Listener>> {
    own.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A client that cannot be asked anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPeer;

impl Peer for NoPeer {
    fn capabilities(&self) -> &ClientCapabilities {
        static NONE: LazyLock<ClientCapabilities> = LazyLock::new(ClientCapabilities::default);
        &NONE
    }

    fn question_mode(&self) -> QuestionMode {
        QuestionMode::Live
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        Box::pin(async move { Err(AskError::Unsupported(question.method)) })
    }
}
