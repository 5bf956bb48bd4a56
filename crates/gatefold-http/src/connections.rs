//! The connections of clients: how many there may be, and how long one may be silent.

use std::collections::BTreeMap;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use gatefold_core::{Clock as _, SystemClock};
use gatefold_egress::IpNet;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::patience::PatientStream;
use crate::proxies::ConnectionPeer;
use crate::{HttpEndpoint, ListenerTls, RefusalFormat, securing, undated};

/// What one connection buffers of a request's head, and of a body at a time, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;
/// How long to wait when the system gives no further connection, mostly for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The answer to a client for whom there is no place.
const NO_PLACE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\
                          connection: close\r\n\r\n";

/// Serves every connection until `shutdown` fires and the requests under way have been answered.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Router,
    refusals: RefusalFormat,
    endpoint: &HttpEndpoint,
    shutdown: &CancellationToken,
) {
    let connections = Arc::new(ConnectionSet {
        limit: endpoint.connections.max(1),
        entered: AtomicU64::new(0),
        open: Mutex::default(),
    });
    let tasks = TaskTracker::new();
    let trusted: Arc<[IpNet]> = endpoint.trusted_proxies.as_slice().into();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) if is_of_one_connection(&error) => continue,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Some(place) = connections.enter(shutdown) else {
            tracing::debug!("a connection was refused, as many are in use as may be");
            if endpoint.tls.is_none() {
                let _ = stream.try_write(NO_PLACE);
            }
            continue;
        };
        let terms = ConnectionTerms {
            tls: endpoint.tls.clone(),
            trusted: trusted.clone(),
            head_deadline: endpoint.head_deadline,
            idle: endpoint.connection_idle,
            unread: endpoint.unread,
            refusals,
        };
        tasks.spawn(serve_one(stream, app.clone(), place, terms));
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

/// Whether only the connection that was about to be accepted is lost, see accept(2).
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// How a connection is served.
struct ConnectionTerms {
    tls: Option<Arc<ListenerTls>>,
    trusted: Arc<[IpNet]>,
    /// From its beginning to the head of its first request, the handshake included.
    head_deadline: Duration,
    idle: Duration,
    /// How long its client may take nothing of an answer.
    unread: Duration,
    refusals: RefusalFormat,
}

async fn serve_one(stream: TcpStream, app: Router, place: ConnectionPlace, terms: ConnectionTerms) {
    // Otherwise a small answer waits for the acknowledgement of the one before (Nagle).
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let ConnectionTerms { tls, trusted, head_deadline, idle, unread, refusals } = terms;
    let mut first_head = pin!(sleep(head_deadline));
    let peer = stream.peer_addr().ok().map(|address| ConnectionPeer { address, trusted });
    let Some(tls) = tls else {
        let stream = PatientStream::new(stream, unread);
        return exchange(stream, peer, (app, refusals), place, first_head, idle).await;
    };
    let secured = tokio::select! {
        biased;
        () = place.end.cancelled() => None,
        () = &mut first_head => None,
        secured = securing::secured(stream, &tls) => secured,
    };
    if let Some(stream) = secured {
        let stream = PatientStream::new(stream, unread);
        exchange(stream, peer, (app, refusals), place, first_head, idle).await;
    }
}

/// Serves the requests of a connection. `first_head` is when the head of the first must be there.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin,
    peer: Option<ConnectionPeer>,
    (app, refusals): (Router, RefusalFormat),
    place: ConnectionPlace,
    mut first_head: Pin<&mut Sleep>,
    idle: Duration,
) {
    if !SystemClock.now().has_http_date() {
        return undated::refuse(stream, refusals).await;
    }
    let state = place.state.clone();
    let app = TowerToHyperService::new(app);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        if let Some(peer) = &peer {
            let client = peer.client(request.headers());
            request.extensions_mut().insert(ConnectInfo(client));
        }
        let under_way = RequestUnderWay::begin(state.clone());
        let request = request.map(|body| RequestBody::begin(body, state.clone()));
        let answer = app.call(request);
        async move {
            let response = answer.await?;
            Ok::<_, std::convert::Infallible>(response.map(|body| AnswerBody {
                body,
                rest: Bytes::new(),
                _under_way: under_way,
            }))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let (mut awaits_head, mut is_ending) = (true, false);
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended badly");
                }
                return;
            }
            () = place.end.cancelled(), if !is_ending => {
                if place.is_evicted() {
                    return;
                }
                connection.as_mut().graceful_shutdown();
                is_ending = true;
            }
            () = &mut first_head, if awaits_head => {
                if !place.state.has_asked.load(Ordering::Relaxed) {
                    return;
                }
                awaits_head = false;
            }
        }
    }
}

/// The connections that are open.
struct ConnectionSet {
    limit: usize,
    /// Counts the times that a connection fell idle, which orders them.
    entered: AtomicU64,
    /// By when they were opened, at most [`Self::limit`].
    open: Mutex<BTreeMap<u64, OpenConnection>>,
}

struct OpenConnection {
    state: Arc<ConnectionState>,
    end: CancellationToken,
}

struct ConnectionState {
    set: Arc<ConnectionSet>,
    /// Requests under way: hardly ever more than one, as answers go out in order.
    under_way: AtomicUsize,
    /// Those of them whose bodies are not there yet.
    unreceived: AtomicUsize,
    /// When it last fell idle, by the count of its set.
    idle_since: AtomicU64,
    has_asked: AtomicBool,
}

/// A connection's place among those that are open. Dropping it frees the place.
struct ConnectionPlace {
    id: u64,
    state: Arc<ConnectionState>,
    /// Fires when the endpoint ends, or when another connection needs the place.
    end: CancellationToken,
}

impl ConnectionSet {
    /// A place for a new connection. When all are taken, the connection that was idle longest is
    /// closed, or else the one that has been sending a body for longest: neither silence nor half a
    /// request may keep others out.
    fn enter(self: &Arc<Self>, shutdown: &CancellationToken) -> Option<ConnectionPlace> {
        let id = self.tick();
        let mut open = self.lock();
        if open.len() >= self.limit {
            let given_up = open.iter().filter(|(_, connection)| connection.state.may_give_way());
            let given_up = given_up.min_by_key(|(_, one)| {
                let state = &one.state;
                (!state.is_idle(), state.idle_since.load(Ordering::Relaxed))
            });
            let given_up = *given_up?.0;
            open.remove(&given_up).expect("it was just found").end.cancel();
        }
        let state = Arc::new(ConnectionState {
            set: self.clone(),
            under_way: AtomicUsize::new(0),
            unreceived: AtomicUsize::new(0),
            idle_since: AtomicU64::new(id),
            has_asked: AtomicBool::new(false),
        });
        let end = shutdown.child_token();
        open.insert(id, OpenConnection { state: state.clone(), end: end.clone() });
        Some(ConnectionPlace { id, state, end })
    }

    fn tick(&self) -> u64 {
        self.entered.fetch_add(1, Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, OpenConnection>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionState {
    fn is_idle(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) == 0
    }

    /// Whether nothing is lost with it but what a client has not said in full.
    fn may_give_way(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) <= self.unreceived.load(Ordering::Relaxed)
    }
}

impl ConnectionPlace {
    /// Whether another connection has the place.
    fn is_evicted(&self) -> bool {
        !self.state.set.lock().contains_key(&self.id)
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.state.set.lock().remove(&self.id);
    }
}

/// A request that keeps its connection from being idle, until its answer is sent or dropped.
struct RequestUnderWay(Arc<ConnectionState>);

impl RequestUnderWay {
    fn begin(state: Arc<ConnectionState>) -> Self {
        state.has_asked.store(true, Ordering::Relaxed);
        state.under_way.fetch_add(1, Ordering::Relaxed);
        Self(state)
    }
}

impl Drop for RequestUnderWay {
    fn drop(&mut self) {
        self.0.idle_since.store(self.0.set.tick(), Ordering::Relaxed);
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request's body. Until it is there, its connection may give way to others.
struct RequestBody {
    body: Incoming,
    unreceived: Option<Arc<ConnectionState>>,
}

impl RequestBody {
    fn begin(body: Incoming, state: Arc<ConnectionState>) -> Self {
        use hyper::body::Body as _;
        let unreceived = (!body.is_end_stream()).then_some(state);
        if let Some(state) = &unreceived {
            state.unreceived.fetch_add(1, Ordering::Relaxed);
        }
        Self { body, unreceived }
    }

    fn note_end(&mut self) {
        if let Some(state) = self.unreceived.take() {
            state.unreceived.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl hyper::body::Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() || self.body.is_end_stream() {
            self.note_end();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.note_end();
    }
}

/// An answer's body. While it lives, its connection is in use.
struct AnswerBody {
    body: Body,
    /// What was taken out of the body and is still to be written.
    rest: Bytes,
    _under_way: RequestUnderWay,
}

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                other => return Poll::Ready(other),
            }
        }
        // hyper may copy what it is given. In pieces, nearly all of a large answer stays here,
        // where it counts until it is written.
        let piece = self.rest.len().min(BUFFER_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, body) = (self.rest.len() as u64, self.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
