//! Single requests, as MCP sends them.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use axum::Router;
use axum::http::HeaderMap;
use axum::response::Redirect;
use axum::routing::get;
use gatefold_egress::SendError;
use http::Method;
use reqwest::Url;

use crate::{open_client, serve, url};

const EARLY_HINTS: &str = "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n";

/// Serves one connection, answering each request with these bytes.
fn answering(answer: String) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        while stream.read(&mut [0; 4096]).unwrap() > 0 {
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    url(address, "/")
}

#[tokio::test]
async fn interim_answers_are_passed_over() {
    let body = "HTTP/1.1 100 Continue\r\n\r\n".repeat(10_000);
    let length = body.len();
    let answer = format!("{EARLY_HINTS}{EARLY_HINTS}HTTP/1.1 200 OK\r\ncontent-length: {length}");
    let (client, url) = (open_client(), answering(format!("{answer}\r\n\r\n{body}")));
    for _ in 0..3 {
        let answer = client.send_once(client.request(Method::GET, url.clone())).await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.text().await.unwrap()), (200, body.clone()));
    }
}

#[tokio::test]
async fn interim_answers_without_end_break_the_connection() {
    let (client, url) = (open_client(), answering(EARLY_HINTS.repeat(10_000)));
    let error = client.send_once(client.request(Method::GET, url)).await.unwrap_err();
    assert!(matches!(error, SendError::Failed(_)), "{error:?}");
    assert!(format!("{error:?}").contains("EndlessInterim"), "{error:?}");
}

#[tokio::test]
async fn it_names_itself_and_follows_no_redirect() {
    let named = async |headers: HeaderMap| {
        let of = |name: &str| headers.get(name).map_or("", |value| value.to_str().unwrap());
        format!("{} {}", of("user-agent"), of("authorization"))
    };
    let away = async || Redirect::temporary("/");
    let router = Router::new().route("/", get(named)).route("/away", get(away));
    let address = serve(router).await;
    let client = open_client();
    let known = Url::parse(&format!("http://ann:pass@{address}/")).unwrap();
    let answer = client.send_once(client.request(Method::GET, known)).await.unwrap();
    let expected = concat!("gatefold/", env!("CARGO_PKG_VERSION"), " Basic YW5uOnBhc3M=");
    assert_eq!(answer.text().await.unwrap(), expected);
    let answer =
        client.send_once(client.request(Method::GET, url(address, "/away"))).await.unwrap();
    assert_eq!(answer.status(), 307);
}

#[tokio::test]
async fn a_server_that_is_not_there_was_sent_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = url(listener.local_addr().unwrap(), "/");
    drop(listener);
    let client = open_client();
    let error = client.send_once(client.request(Method::GET, url)).await.unwrap_err();
    assert!(matches!(error, SendError::Unreachable(_)), "{error:?}");
}
