//! Refuses connections while HTTP cannot express the system's date.
//!
//! hyper formats the date for its answers on every thread that serves a connection, whether or not
//! they carry it, and panics on a date before 1970 or after 9999.

use std::sync::Once;

use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{RefusalFormat, parting};

const REASON: &str = "the system's date is before 1970 or after 9999, so nothing can be answered over HTTP: set the clock";

/// Answers with the reason for the refusal.
pub(crate) async fn refuse(stream: impl AsyncRead + AsyncWrite + Unpin, refusals: RefusalFormat) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| tracing::error!("{REASON}"));
    let RefusalFormat { content_type, body } = refusals;
    let body = body(StatusCode::SERVICE_UNAVAILABLE, REASON);
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: {content_type}\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    parting::answer(stream, &answer).await;
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    #[tokio::test]
    async fn a_refused_client_reads_why_whatever_it_sends() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (accepted, _) = listener.accept().await.unwrap();
        client.write_all(&[b'x'; 10_000]).await.unwrap();
        let refused = tokio::spawn(refuse(accepted, RefusalFormat::PLAIN));
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains(REASON), "{answer}");
        drop(client);
        refused.await.unwrap();
    }
}
