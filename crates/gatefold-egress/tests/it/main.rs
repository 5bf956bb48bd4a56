//! The client against servers on this machine.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

use std::error::Error as _;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use bytes::Bytes;
use futures::stream;
use gatefold_egress::{
    Egress, EgressError, HttpClient, HttpRequest, HttpResponse, Reach, Redirects, Settings,
    redacted,
};
use http::{HeaderName, HeaderValue, Method};
use reqwest::Url;
use tokio::net::TcpListener;
use tokio::time::Instant;

mod bounds;
mod guard;
mod once;
mod retries;

async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

fn url(address: SocketAddr, path: &str) -> Url {
    Url::parse(&format!("http://{address}{path}")).unwrap()
}

/// Reading the machine's certificates takes long enough to do it once.
fn egress() -> Egress {
    static EGRESS: OnceLock<Egress> = OnceLock::new();
    EGRESS.get_or_init(|| Egress::new(Settings::default()).unwrap().without_proxies()).clone()
}

/// A client without a guard.
fn open_client() -> HttpClient {
    egress().client_for(Reach::any())
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

async fn send(client: &HttpClient, request: HttpRequest) -> Result<HttpResponse, EgressError> {
    client.send(request, soon()).await
}

async fn get_from(client: &HttpClient, url: Url) -> Result<HttpResponse, EgressError> {
    send(client, HttpRequest::new(Method::GET, url)).await
}

async fn body_of(answer: HttpResponse) -> String {
    String::from_utf8(answer.read_capped(1 << 20).await.unwrap().to_vec()).unwrap()
}

/// The whole chain of an error, as an operator reads it.
fn chain(error: &EgressError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

#[tokio::test]
async fn it_names_itself_and_sends_no_referer() {
    let router = Router::new()
        .route("/from", get(|| async { Redirect::temporary("/to") }))
        .route("/to", get(|headers: HeaderMap| async move { format!("{headers:?}") }));
    let address = serve(router).await;
    let headers = body_of(get_from(&open_client(), url(address, "/from")).await.unwrap()).await;
    let agent = concat!("gatefold/", env!("CARGO_PKG_VERSION"));
    assert!(headers.contains(agent), "{headers}");
    assert!(!headers.contains("referer"), "{headers}");
}

#[tokio::test]
async fn a_redirect_is_followed_unless_it_is_to_be_the_answer() {
    let router = Router::new()
        .route("/from", get(|| async { Redirect::temporary("/to") }))
        .route("/to", get(|| async { "here" }));
    let address = serve(router).await;
    let answer = get_from(&open_client(), url(address, "/from")).await.unwrap();
    assert_eq!(answer.url().path(), "/to");
    assert_eq!(body_of(answer).await, "here");
    let request = HttpRequest::new(Method::GET, url(address, "/from")).redirects(Redirects::None);
    let answer = send(&open_client(), request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::TEMPORARY_REDIRECT);
}

#[tokio::test]
async fn a_credential_does_not_follow_to_another_origin() {
    let shown = async |headers: HeaderMap| format!("{headers:?}");
    let elsewhere = serve(Router::new().fallback(shown)).await;
    let target = format!("http://{elsewhere}/take");
    let router = Router::new()
        .route("/", get(|| async move { Redirect::permanent(&target) }))
        .route("/here", get(|| async { Redirect::permanent("/shown") }))
        .route("/shown", get(shown));
    let address = serve(router).await;
    for (path, is_kept) in [("/", false), ("/here", true)] {
        let target = format!("http://us3r:s3cret@{address}{path}").parse().unwrap();
        let mut request = HttpRequest::new(Method::GET, target)
            .header(header::ACCEPT, HeaderValue::from_static("text/x-plain"))
            .header(header::COOKIE, HeaderValue::from_static("session=s3cret"));
        let key = HeaderName::from_static("x-api-key");
        request.credentials.insert(key, HeaderValue::from_static("s3cret"));
        let headers = body_of(send(&open_client(), request).await.unwrap()).await;
        assert!(headers.contains("text/x-plain"), "{headers}");
        for secret in ["x-api-key", "cookie", "authorization"] {
            assert_eq!(headers.contains(secret), is_kept, "{path} {secret}: {headers}");
        }
    }
}

#[tokio::test]
async fn what_a_redirect_refuses_shows_no_secret() {
    let elsewhere = serve(Router::new()).await;
    let target = format!("http://us3r:s3cret@{elsewhere}/take?token=s3cret");
    let router = Router::new().fallback(|| async move { Redirect::permanent(&target) });
    let address = serve(router).await;
    let request = HttpRequest::new(Method::POST, url(address, "/?key=s3cret"));
    let error = send(&open_client(), request).await.unwrap_err();
    assert!(matches!(error, EgressError::Redirected { .. }), "{error}");
    assert!(error.to_string().contains(&format!("http://{elsewhere}/take`")), "{error}");
    let shown = format!("{} {error:?}", chain(&error));
    assert!(!shown.contains("s3cret") && !shown.contains("us3r"), "{shown}");
}

#[tokio::test]
async fn redirects_in_a_circle_come_to_an_end() {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let circle = get(|| async move {
        counter.fetch_add(1, Ordering::SeqCst);
        Redirect::temporary("/")
    });
    let address = serve(Router::new().route("/", circle)).await;
    let error = get_from(&open_client(), url(address, "/")).await.unwrap_err();
    assert_eq!(error.to_string(), format!("`http://{address}/` redirects more than 5 times"));
    assert_eq!(count.load(Ordering::SeqCst), 6);
}

#[tokio::test]
async fn addresses_within_are_reached_only_if_they_are_named() {
    let reached = Arc::new(AtomicUsize::new(0));
    let counter = reached.clone();
    let router = Router::new().fallback(move || async move {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let port = serve(router).await.port();
    let target = |host: &str| Url::parse(&format!("http://{host}:{port}/")).unwrap();
    let guarded = egress().client_for(Reach::public());
    for host in ["127.0.0.1", "localhost", "[::1]", "0x7f.1", "[::ffff:7f00:1]", "0"] {
        let error = get_from(&guarded, target(host)).await.unwrap_err();
        assert!(error.forbidden().is_some() && error.is_unsent(), "{host}: {}", chain(&error));
    }
    assert_eq!(reached.load(Ordering::SeqCst), 0);
    for host in ["127.0.0.1", "localhost"] {
        let named = egress().client_for(Reach::public().naming(&target(host)));
        get_from(&named, target(host)).await.unwrap();
    }
    assert_eq!(reached.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_body_is_read_up_to_its_limit() {
    let router = Router::new()
        .route("/known", get(|| async { "x".repeat(1000) }))
        .route("/chunked", get(|| async { endless(Some(10)) }))
        .route("/endless", get(|| async { endless(None) }))
        .route("/empty", get(|| async { "" }));
    let address = serve(router).await;
    let client = open_client();
    for (path, limit, expected) in [
        ("/known", 1000, Ok(1000)),
        ("/known", 999, Err("the answer has 1000 bytes, more than the limit: 999")),
        ("/chunked", 1000, Ok(1000)),
        ("/chunked", 999, Err("the answer has more bytes than the limit: 999")),
        ("/endless", 1 << 20, Err("the answer has more bytes than the limit: 1048576")),
        ("/empty", 0, Ok(0)),
    ] {
        let answer = get_from(&client, url(address, path)).await.unwrap();
        let read = answer.read_capped(limit).await;
        let read = read.map(|body| body.len()).map_err(|error| error.to_string());
        assert_eq!(read, expected.map_err(str::to_owned), "{path} {limit}");
    }
}

/// A body of this many chunks of 100 bytes, without an announced length.
fn endless(chunks: Option<usize>) -> Response {
    let chunk = || Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 100]));
    let stream = stream::iter((0..chunks.unwrap_or(usize::MAX)).map(move |_| chunk()));
    Body::from_stream(stream).into_response()
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let router = Router::new().route("/never", get(|| async { pending::<()>().await })).route(
        "/stalls",
        get(|| async {
            let first = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"x"))]);
            Body::from_stream(futures::StreamExt::chain(first, stream::pending()))
        }),
    );
    let address = serve(router).await;
    let settings =
        Settings { read_timeout: Some(Duration::from_millis(50)), ..Settings::default() };
    let client = Egress::new(settings).unwrap().without_proxies().client_for(Reach::any());
    let error = get_from(&client, url(address, "/never?key=s3cret")).await.unwrap_err();
    assert_eq!(error.to_string(), format!("`http://{address}/never` did not answer in time"));
    assert!(!error.is_unsent());
    let answer = get_from(&client, url(address, "/stalls")).await.unwrap();
    let error = answer.read_capped(10).await.unwrap_err();
    assert!(matches!(error, EgressError::Timeout { .. }), "{error}");
}

#[tokio::test]
async fn an_error_shows_no_secret_of_the_url() {
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let target = Url::parse(&format!("http://us3r:s3cret@{nobody}/a?key=s3cret#s3cret")).unwrap();
    assert_eq!(redacted(&target), format!("http://{nobody}/a"));
    let error = get_from(&open_client(), target).await.unwrap_err();
    assert!(matches!(error, EgressError::Connect { .. }) && error.is_unsent(), "{error}");
    let shown = format!("{} {error:?}", chain(&error));
    assert!(!shown.contains("s3cret") && !shown.contains("us3r"), "{shown}");
}

#[tokio::test]
async fn only_http_is_spoken() {
    let client = open_client();
    for text in ["file:///etc/passwd", "ftp://127.0.0.1/", "data:,x"] {
        let error = get_from(&client, Url::parse(text).unwrap()).await.unwrap_err();
        assert!(matches!(error, EgressError::Url { .. }), "{text}: {error}");
    }
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let peers = Router::new().route(
        "/",
        get(|info: axum::extract::ConnectInfo<SocketAddr>| async move { info.0.to_string() }),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = peers.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
    let client = open_client();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let answer = get_from(&client, url(address, "/")).await.unwrap();
        seen.push(body_of(answer).await);
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
}

#[tokio::test]
async fn any_status_is_an_answer() {
    let router = Router::new().fallback(|| async {
        (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "1")], "later")
    });
    let address = serve(router).await;
    let answer = get_from(&open_client(), url(address, "/")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
}
