//! The port of this machine that a browser comes back to from a provider.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use gatefold_oauth::{BrowserSignIn, Grant, Redirect, RedirectAnswer, SignInError};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

const PATH: &str = "/callback";

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
    address: SocketAddr,
    arrivals: mpsc::Receiver<Arrival>,
    /// The browser that came last, until it is told how that ended.
    waiting: Option<oneshot::Sender<bool>>,
    stop: CancellationToken,
    server: AbortOnDropHandle<()>,
}

impl RedirectListener {
    /// Takes the port of an earlier sign-in, which the provider knows, if it is free.
    pub async fn bind(earlier: Option<&str>) -> Result<Self, SignInError> {
        let earlier = earlier.and_then(|text| text.parse::<axum::http::Uri>().ok());
        let port = earlier.and_then(|uri| uri.port_u16());
        let at = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = match port {
            Some(port) => match at(port).await {
                Ok(listener) => Ok(listener),
                Err(_) => at(0).await,
            },
            None => at(0).await,
        };
        let listener = listener.map_err(SignInError::NoPort)?;
        let address = listener.local_addr().map_err(SignInError::NoPort)?;
        let (sender, arrivals) = mpsc::channel(WAITING);
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let server = tokio::spawn(async move {
            let router = Router::new().route(PATH, get(receive)).with_state(sender);
            let served = axum::serve(listener, router).with_graceful_shutdown(stopped).await;
            if let Err(error) = served {
                tracing::debug!(%error, "the port for the browser was closed");
            }
        });
        let server = AbortOnDropHandle::new(server);
        Ok(Self { address, arrivals, waiting: None, stop, server })
    }

    pub fn redirect(&self) -> Redirect {
        Redirect(format!("http://{}{PATH}", self.address))
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

async fn receive(
    State(arrivals): State<mpsc::Sender<Arrival>>,
    RawQuery(query): RawQuery,
) -> Response {
    let Some(answer) = query.as_deref().and_then(RedirectAnswer::of_query) else {
        return page(StatusCode::BAD_REQUEST, BAD_PAGE);
    };
    let (sender, told) = oneshot::channel();
    if arrivals.try_send((answer, sender)).is_err() {
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
