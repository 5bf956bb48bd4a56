//! The port of this machine that a browser comes back to from a provider.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures::future::join_all;
use gatefold_oauth::{
    BrowserSignIn, Grant, LocalRedirect, Redirect, RedirectAnswer, SignIn, SignInError,
};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Where a browser comes back to if the configuration does not say it.
const DEFAULT_REDIRECT: &str = "http://127.0.0.1/callback";

/// How often a port is looked for that is free for both families.
const TRIES: usize = 8;

/// The most browsers that wait for their page at a time.
const WAITING: usize = 8;

/// How long a browser waits for its page, and how long the last one has to fetch it.
const PAGE_DEADLINE: Duration = Duration::from_secs(60);
const LAST_PAGE: Duration = Duration::from_secs(2);

/// How long a provider may take to redeem a code.
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);

const GOOD_PAGE: &str = "You are signed in. You can close this page.";
const BAD_PAGE: &str = "This did not sign you in. The terminal says why.";

type Arrival = (RedirectAnswer, oneshot::Sender<bool>);

/// A port of this machine that a browser comes back to from a provider. It is open for one sign-in.
pub struct RedirectListener {
    address: String,
    arrivals: mpsc::Receiver<Arrival>,
    /// The browser that came last, until it is told how that ended.
    waiting: Option<oneshot::Sender<bool>>,
    stop: CancellationToken,
    server: AbortOnDropHandle<()>,
}

impl RedirectListener {
    /// Listens where a sign-in's browser comes back to: at the address of the configuration, and
    /// without a port there at that of an earlier sign-in, which the provider knows, if it is free.
    pub async fn bind(sign_in: &SignIn) -> Result<Self, SignInError> {
        let default = LocalRedirect::parse(DEFAULT_REDIRECT).expect("it is one");
        let redirect = sign_in.configured_redirect().unwrap_or(&default);
        let earlier = sign_in.earlier_redirect().and_then(|text| LocalRedirect::parse(text).ok());
        let (listeners, port) = listeners(redirect, earlier.and_then(|own| own.port())).await?;
        let (sender, arrivals) = mpsc::channel(WAITING);
        let place = CallbackPlace { path: redirect.path().into(), arrivals: sender };
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let server = tokio::spawn(async move {
            let serve = |listener: TcpListener| {
                let router = Router::new().fallback(receive).with_state(place.clone());
                let stopped = stopped.clone().cancelled_owned();
                axum::serve(listener, router).with_graceful_shutdown(stopped).into_future()
            };
            for served in join_all(listeners.into_iter().map(serve)).await {
                if let Err(error) = served {
                    tracing::debug!(%error, "the port for the browser was closed");
                }
            }
        });
        let server = AbortOnDropHandle::new(server);
        Ok(Self { address: redirect.at(port), arrivals, waiting: None, stop, server })
    }

    pub fn redirect(&self) -> Redirect {
        Redirect(self.address.clone())
    }

    /// What the next browser brings.
    pub async fn next(&mut self) -> RedirectAnswer {
        match self.arrivals.recv().await {
            Some((answer, waiting)) => {
                self.waiting = Some(waiting);
                answer
            }
            // The server ended, and nobody comes any more.
            None => std::future::pending().await,
        }
    }

    /// Turns what a browser brought into a grant, shows it how that ended, and closes the port.
    pub async fn redeem(
        mut self,
        sign_in: &BrowserSignIn,
        answer: RedirectAnswer,
    ) -> Result<Grant, SignInError> {
        let grant = sign_in.redeem(answer, Instant::now() + ANSWER_DEADLINE).await;
        self.reply(grant.is_ok());
        self.close().await;
        grant
    }

    /// Gives the browser that came last its page.
    pub fn reply(&mut self, is_good: bool) {
        if let Some(waiting) = self.waiting.take() {
            // It may be closed already.
            let _ = waiting.send(is_good);
        }
    }

    /// Waits a moment for the last page to be fetched.
    async fn close(&mut self) {
        self.stop.cancel();
        let _ = timeout(LAST_PAGE, &mut self.server).await;
    }
}

/// Opens one port for all addresses of a redirect.
async fn listeners(
    redirect: &LocalRedirect,
    earlier: Option<u16>,
) -> Result<(Vec<TcpListener>, u16), SignInError> {
    let addresses = redirect.addresses();
    if let Some(port) = redirect.port() {
        let opened = open(addresses, port).await;
        return opened.map_err(|source| SignInError::PortTaken { port, source });
    }
    if let Some(port) = earlier
        && let Ok(opened) = open(addresses, port).await
    {
        return Ok(opened);
    }
    let mut opened = open(addresses, 0).await;
    for _ in 1..TRIES {
        if opened.is_ok() {
            break;
        }
        opened = open(addresses, 0).await;
    }
    opened.map_err(SignInError::NoPort)
}

/// Opens a port for each address, or any one that is free for all of them. A machine may lack one of
/// the two families, but not both.
async fn open(addresses: &[IpAddr], port: u16) -> io::Result<(Vec<TcpListener>, u16)> {
    let (mut listeners, mut port, mut missing) = (Vec::new(), port, None);
    for address in addresses {
        match TcpListener::bind((*address, port)).await {
            Ok(listener) => {
                port = listener.local_addr()?.port();
                listeners.push(listener);
            }
            Err(error) if is_lacking(&error) => missing = Some(error),
            Err(error) => return Err(error),
        }
    }
    match missing {
        Some(error) if listeners.is_empty() => Err(error),
        _ => Ok((listeners, port)),
    }
}

/// Whether this machine has no such family of addresses.
fn is_lacking(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrNotAvailable
        || error.kind() == io::ErrorKind::Unsupported
        || error.raw_os_error() == Some(NO_FAMILY)
}

/// `EAFNOSUPPORT`.
const NO_FAMILY: i32 = if cfg!(target_os = "linux") { 97 } else { 47 };

/// The path that a browser comes back to, and who waits for it.
#[derive(Clone)]
struct CallbackPlace {
    path: Arc<str>,
    arrivals: mpsc::Sender<Arrival>,
}

async fn receive(
    State(place): State<CallbackPlace>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Response {
    if request.method() != Method::GET || request.uri().path() != &*place.path {
        return page(StatusCode::NOT_FOUND, BAD_PAGE);
    }
    let Some(answer) = query.as_deref().and_then(RedirectAnswer::of_query) else {
        return page(StatusCode::BAD_REQUEST, BAD_PAGE);
    };
    let (sender, told) = oneshot::channel();
    if place.arrivals.try_send((answer, sender)).is_err() {
        return page(StatusCode::SERVICE_UNAVAILABLE, BAD_PAGE);
    }
    match timeout(PAGE_DEADLINE, told).await {
        Ok(Ok(true)) => page(StatusCode::OK, GOOD_PAGE),
        _ => page(StatusCode::BAD_REQUEST, BAD_PAGE),
    }
}

/// A page that loads nothing, is kept nowhere, and tells nobody the address with the code.
fn page(status: StatusCode, text: &str) -> Response {
    let headers: [(HeaderName, &str); 5] = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (X_FRAME_OPTIONS, "DENY"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Gatefold</title><p>{text}</p></html>"
    );
    (status, headers, body).into_response()
}
