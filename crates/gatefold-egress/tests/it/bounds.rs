//! Answers that would not end.

use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, header};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use gatefold_egress::{EgressError, HttpRequest};
use http::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::{body_of, chain, get_from, open_client, serve, url};

const LIMIT: u64 = 1 << 20;
/// 16 MiB of zeros in brotli.
const BROTLI_BOMB: [u8; 14] =
    [0x9f, 0xff, 0xff, 0xff, 0x00, 0x24, 0x00, 0xe2, 0xb1, 0x40, 0x72, 0xef, 0xff, 0x01];

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_compressed_answer_is_decoded_and_a_bomb_ends_at_the_limit() {
    let coded = |coding: &'static str, body: Vec<u8>| {
        get(async move || ([(header::CONTENT_ENCODING, coding)], body))
    };
    let accepted =
        async |headers: HeaderMap| headers["accept-encoding"].to_str().unwrap().to_owned();
    let router = Router::new()
        .route("/accepted", get(accepted))
        .route("/gzip", coded("gzip", gzip(b"hello")))
        .route("/gzip-bomb", coded("gzip", gzip(&vec![0; 16 << 20])))
        .route("/br-bomb", coded("br", BROTLI_BOMB.to_vec()))
        .route("/cut", coded("gzip", gzip(b"hello")[..12].to_vec()))
        .route("/zstd", coded("zstd", b"hello".to_vec()));
    let address = serve(router).await;
    let client = open_client();
    for (path, expected) in [("/accepted", "gzip, br"), ("/gzip", "hello")] {
        let answer = get_from(&client, url(address, path)).await.unwrap();
        assert!(!answer.headers().contains_key(header::CONTENT_ENCODING), "{path}");
        assert_eq!(body_of(answer).await, expected, "{path}");
    }
    let too_large = "the answer has more bytes than the limit: 1048576".to_owned();
    let undecodable = |path: &str, reason: &str| {
        format!("the body of the answer from `http://{address}{path}` cannot be decoded: {reason}")
    };
    for (path, expected) in [
        ("/gzip-bomb", too_large.clone()),
        ("/br-bomb", too_large),
        ("/cut", undecodable("/cut", "it is cut off or malformed")),
        ("/zstd", undecodable("/zstd", "it is neither plain, nor `gzip`, nor `br`")),
    ] {
        let answer = get_from(&client, url(address, path)).await.unwrap();
        assert_eq!(answer.read_capped(LIMIT).await.unwrap_err().to_string(), expected);
    }
}

/// Answers every request with `start`, then repeats `more` until the client hangs up.
async fn endless(start: &'static str, more: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
            tokio::spawn(async move {
                let mut sent = stream.write_all(start.as_bytes()).await;
                while sent.is_ok() {
                    sent = stream.write_all(more.as_bytes()).await;
                    tokio::task::yield_now().await;
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn a_head_without_end_breaks_the_connection() {
    for (start, more) in [
        ("HTTP/1.1 200 OK\r\n", "x-more: 0123456789\r\n"),
        ("HTTP/1.1 200 OK\r\nx-long: ", "0123456789"),
        ("HTTP/1.1 200 ", "0123456789"),
        ("", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"),
    ] {
        let address = endless(start, more).await;
        let error = get_from(&open_client(), url(address, "/")).await.unwrap_err();
        assert!(matches!(error, EgressError::Failed { .. }), "{start:?}: {}", chain(&error));
    }
}

#[tokio::test]
async fn a_body_that_trickles_ends_at_the_deadline() {
    let start = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let address = endless(start, "1\r\nx\r\n").await;
    let deadline = Instant::now() + Duration::from_millis(300);
    let request = HttpRequest::new(Method::GET, url(address, "/"));
    let answer = open_client().send(request, deadline).await.unwrap();
    let error = answer.read_capped(u64::MAX / 2).await.unwrap_err();
    assert!(matches!(error, EgressError::Timeout { .. }), "{}", chain(&error));
}
