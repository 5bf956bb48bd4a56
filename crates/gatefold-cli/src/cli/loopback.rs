//! The few requests that commands make to a gateway on this machine.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The largest answer that is read.
const ANSWER_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// How long an answer to a question about the gateway itself may take.
const ANSWER_DEADLINE: Duration = Duration::from_secs(2);

/// How long an answer may take, including a tool's work.
const WORK_DEADLINE: Duration = Duration::from_secs(70);

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

/// The address on this machine that reaches a listener on `listen`, which may be "all addresses".
pub(super) fn reachable(listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() {
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), listen.port())
    } else {
        listen
    }
}

/// Where MCP is served on an address.
pub(super) fn mcp_url(address: SocketAddr, is_secured: bool) -> String {
    let scheme = if is_secured { "https" } else { "http" };
    format!("{scheme}://{address}/mcp")
}

pub(super) async fn get(address: SocketAddr, path: &str) -> io::Result<Answer> {
    let head = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
    exchange(address, head, ANSWER_DEADLINE).await
}

pub(super) async fn post(
    address: SocketAddr,
    path: &str,
    headers: &[(&str, &str)],
    json: &str,
) -> io::Result<Answer> {
    let mut request = format!(
        "POST {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n",
        json.len()
    );
    for (name, value) in headers {
        request.extend([name, ": ", value, "\r\n"]);
    }
    exchange(address, request + "\r\n" + json, WORK_DEADLINE).await
}

/// Sends one request and reads until the other side closes, as it does in HTTP/1.0 (RFC 1945).
async fn exchange(address: SocketAddr, request: String, deadline: Duration) -> io::Result<Answer> {
    let exchanged = timeout(deadline, async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.take(ANSWER_LIMIT_BYTES).read_to_string(&mut answer).await?;
        io::Result::Ok(answer)
    });
    let answer = exchanged.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    parse(&answer).ok_or_else(|| io::Error::other("the answer is not HTTP"))
}

fn parse(answer: &str) -> Option<Answer> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, body: body.to_owned() })
}
