//! What is sent again, and what is not.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use gatefold_egress::{EgressError, HttpRequest, Lookup, Reach, Resolver};
use http::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::{body_of, chain, egress, open_client, send, serve, url};

/// Answers `status` with `Retry-After: after` twice, then 200, and counts.
async fn failing_twice(status: u16, after: Option<&'static str>) -> (SocketAddr, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let router = Router::new().fallback(move || async move {
        if counter.fetch_add(1, Ordering::SeqCst) >= 2 {
            return "at last".into_response();
        }
        let status = StatusCode::from_u16(status).unwrap();
        match after {
            Some(after) => (status, [(header::RETRY_AFTER, after)]).into_response(),
            None => status.into_response(),
        }
    });
    (serve(router).await, count)
}

/// How often a request was sent, and the status of its last answer.
async fn check(method: Method, status: u16, after: Option<&'static str>, expected: (usize, u16)) {
    let (address, count) = failing_twice(status, after).await;
    let request = HttpRequest::new(method, url(address, "/"));
    let answer = send(&open_client(), request).await.unwrap();
    let found = (count.load(Ordering::SeqCst), answer.status().as_u16());
    assert_eq!(found, expected, "{status} {after:?}");
}

#[tokio::test]
async fn a_safe_request_waits_as_long_as_the_server_says() {
    check(Method::GET, 503, Some("0"), (3, 200)).await;
    check(Method::OPTIONS, 429, Some("0"), (3, 200)).await;
    check(Method::GET, 503, None, (1, 503)).await;
    check(Method::GET, 500, Some("0"), (1, 500)).await;
    check(Method::POST, 503, Some("0"), (1, 503)).await;
    check(Method::DELETE, 429, Some("0"), (1, 429)).await;
    // Longer than the deadline of the test's requests.
    check(Method::GET, 503, Some("3600"), (1, 503)).await;
}

/// Accepts connections and closes each after it has read a request, until one is answered.
async fn closing(refused: usize) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
            if counter.fetch_add(1, Ordering::SeqCst) >= refused {
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhere")
                    .await
                    .unwrap();
            }
        }
    });
    (address, count)
}

#[tokio::test]
async fn a_connection_that_closes_before_its_answer_is_tried_once_more_if_that_is_safe() {
    for (method, refused, expected) in
        [(Method::GET, 1, Some("here")), (Method::GET, 2, None), (Method::POST, 1, None)]
    {
        let (address, count) = closing(refused).await;
        let is_safe = method == Method::GET;
        let sent = send(&open_client(), HttpRequest::new(method, url(address, "/"))).await;
        match (sent, expected) {
            (Ok(answer), Some(expected)) => assert_eq!(body_of(answer).await, expected),
            (Err(error), None) => {
                assert!(matches!(error, EgressError::Failed { .. }), "{}", chain(&error));
            }
            (sent, expected) => panic!("{sent:?} instead of {expected:?}"),
        }
        assert_eq!(count.load(Ordering::SeqCst), if is_safe { 2 } else { 1 });
    }
}

/// Leads twice to where nobody listens, then to this machine.
struct MovingName(Arc<AtomicUsize>);

impl Resolver for MovingName {
    fn look_up(&self, _: &str) -> Lookup {
        let is_back = self.0.fetch_add(1, Ordering::SeqCst) >= 2;
        let address = Ipv4Addr::new(127, 0, 0, if is_back { 1 } else { 99 });
        Box::pin(async move { Ok(vec![address.into()]) })
    }
}

#[tokio::test]
async fn whatever_was_not_sent_is_sent_again() {
    let address = serve(Router::new().fallback(async || "here")).await;
    let count = Arc::new(AtomicUsize::new(0));
    let egress = egress().with_resolver(MovingName(count.clone()));
    let target = format!("http://api.test:{}/", address.port()).parse().unwrap();
    let request = HttpRequest::new(Method::POST, target);
    let answer = send(&egress.client_for(Reach::any()), request).await.unwrap();
    assert_eq!((body_of(answer).await.as_str(), count.load(Ordering::SeqCst)), ("here", 3));
}
