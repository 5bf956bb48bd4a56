//! The smallest HTTP client: one connection a request, and everything is shown.

use std::fmt::Write as _;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;

pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(own, _)| own == name).map(|(_, value)| &**value)
    }

    /// A header that is there once, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        let own = self.headers.iter().filter(|(own, _)| own == name);
        let values: Vec<_> = own.map(|(_, value)| &**value).collect();
        assert!(values.len() < 2, "{name} is there {} times", values.len());
        values.first().copied().unwrap_or_default()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }
}

/// Sends one request, from an address of this machine.
pub(crate) async fn send(
    to: SocketAddr,
    from: [u8; 4],
    head: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut stream = socket.connect(to).await.unwrap();
    let mut request = format!("{head} HTTP/1.1\r\nconnection: close\r\n");
    for (name, value) in headers {
        write!(request, "{name}: {value}\r\n").unwrap();
    }
    if !headers.iter().any(|(name, _)| *name == "host") {
        request += "host: tools.example.com\r\n";
    }
    write!(request, "content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let header = |line: &str| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_ascii_lowercase(), value.trim().to_owned())
    };
    Answer { status, headers: lines.map(header).collect(), body: body.to_owned() }
}
