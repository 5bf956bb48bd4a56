//! The connection of a client that may disappear at any moment: bytes written, bytes awaited.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long an answer may take while a thousand clients come at once.
const LIMIT: Duration = Duration::from_secs(60);
/// The longest answer that is awaited, in bytes.
const ANSWER_BYTES: usize = 1 << 20;
const PIECE_BYTES: usize = 16 << 10;

pub(crate) struct Socket {
    stream: TcpStream,
    address: String,
}

impl Socket {
    pub(crate) async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("the gateway listens");
        stream.set_nodelay(true).expect("the option is known");
        Self { stream, address: address.to_owned() }
    }

    /// Sends a message to the endpoint; `headers` are lines, each with its end.
    pub(crate) async fn post(&mut self, headers: &str, body: &str) {
        let (address, length) = (&self.address, body.len());
        self.send(&format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}\
             Content-Length: {length}\r\n\r\n{body}"
        ))
        .await;
    }

    /// Opens the stream of a session.
    pub(crate) async fn listen(&mut self, headers: &str) {
        let address = &self.address;
        self.send(&format!(
            "GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n{headers}\r\n"
        ))
        .await;
    }

    /// Reads until these words have arrived, and returns everything read.
    pub(crate) async fn read_until(&mut self, words: &str) -> String {
        let mut read = Vec::new();
        let found = timeout(LIMIT, async {
            let mut piece = vec![0; PIECE_BYTES];
            loop {
                let count = self.stream.read(&mut piece).await.unwrap_or_default();
                let from = read.len().saturating_sub(words.len());
                read.extend_from_slice(&piece[..count]);
                if read[from..].windows(words.len()).any(|at| at == words.as_bytes()) {
                    return true;
                }
                if count == 0 || read.len() > ANSWER_BYTES {
                    return false;
                }
            }
        });
        let found = found.await.unwrap_or(false);
        let read = String::from_utf8_lossy(&read).into_owned();
        assert!(found, "no `{words}` in: {read}");
        read
    }

    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.expect("the gateway reads");
    }
}
