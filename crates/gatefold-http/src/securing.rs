//! The beginning of a connection that TLS secures.

use std::io;

use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::parting;
use crate::tls::{ListenerTls, begins_handshake};

/// What a client is told that speaks plain HTTP where only HTTPS is spoken, with status 400.
pub const HTTPS_ONLY: &str = "this address speaks HTTPS: write `https://`";

/// A connection once its client has agreed on keys. A client that asks in plain HTTP is told what
/// is wrong, and nothing else.
pub(crate) async fn secured(stream: TcpStream, tls: &ListenerTls) -> Option<TlsStream<TcpStream>> {
    match begins_handshake(&stream).await {
        Ok(true) => {}
        Ok(false) => {
            refuse_plain(stream).await;
            return None;
        }
        Err(error) => return ended(&error),
    }
    match tls.handshake(stream).await {
        Ok(secured) => Some(secured),
        Err(error) => ended(&error),
    }
}

/// Clients end handshakes for many reasons, a certificate that they do not trust among them.
fn ended(error: &io::Error) -> Option<TlsStream<TcpStream>> {
    tracing::debug!(%error, "a connection could not be secured");
    None
}

async fn refuse_plain(stream: TcpStream) {
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{HTTPS_ONLY}",
        HTTPS_ONLY.len()
    );
    parting::answer(stream, &answer).await;
}
