//! Clients that do not read what they asked for, next to one that does. The memory is the gateway's
//! process's own.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gatefold_testkit::{RAW_TOOL, serve_raw, wait_until};

use crate::floods::{discovers, peak_mib, serve};
use crate::process::{Gateway, LIMIT};
use crate::scratch::Scratch;

const EVENTS: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// A call of the only tool of the source `up`, on a connection that nobody reads.
fn call_unread(gateway: &Gateway) -> TcpStream {
    let meta = r#"{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/logLevel": "debug"}"#;
    let body = format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"_meta": {meta}, "name": "{RAW_TOOL}", "arguments": {{}}}}}}"#
    );
    post(gateway, "tools/call", RAW_TOOL, &body)
}

fn post(gateway: &Gateway, method: &str, name: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(gateway.address()).unwrap();
    let head = format!(
        "POST /mcp/source/up HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: {method}\r\nmcp-name: {name}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// A gateway in front of this server, under these limits.
async fn gateway(url: &str, limits: &str) -> (Scratch, Gateway) {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", format!("{limits}[sources.up]\nurl = '{url}'\n"));
    let gateway = serve(&scratch).await;
    gateway.await_log("took up a new list of tools domain=up").await;
    discovers(&gateway).await;
    (scratch, gateway)
}

/// The slowest search beside something, until it is over.
async fn slowest_search(gateway: &Gateway, is_over: impl Fn() -> bool) -> Duration {
    let mut slowest = Duration::ZERO;
    while !is_over() {
        slowest = slowest.max(discovers(gateway).await);
    }
    slowest
}

/// Calls at once whose server sends notices of a mebibyte without end, and for how long.
const NOTICED_CALLS: usize = 8;
const NOTICING: Duration = Duration::from_secs(10);
/// By how much memory may grow for all of them. Each had a queue of 64 such notices before.
const NOTICES_MIB: u64 = 150;

#[tokio::test(flavor = "multi_thread")]
async fn notices_that_nobody_reads_hold_little() {
    let url = serve_raw(|stream| {
        let text = "x".repeat(1024 * 1024);
        let notice = format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\
             \"params\":{{\"level\":\"error\",\"data\":\"{text}\"}}}}\n\n"
        );
        stream.write_all(EVENTS.as_bytes())?;
        loop {
            stream.write_all(notice.as_bytes())?;
        }
    });
    let (_scratch, gateway) = gateway(&url.unwrap(), "").await;
    let idle = peak_mib(gateway.pid());
    let unread: Vec<_> = (0..NOTICED_CALLS).map(|_| call_unread(&gateway)).collect();
    let until = Instant::now() + NOTICING;
    let slowest = slowest_search(&gateway, || Instant::now() > until).await;
    let grown = peak_mib(gateway.pid()) - idle;
    println!("unread notices took {grown} MiB; the slowest search beside them {slowest:?}");
    assert!(grown < NOTICES_MIB, "{grown} MiB");
    drop(unread);
}

/// Answers of so many bytes to so many clients that read none of it, under a limit of 64 MiB.
const ANSWER_BYTES: usize = 8 * 1024 * 1024;
const ANSWERS: usize = 30;
const ANSWERS_MIB: u64 = 120;

/// A server whose only tool answers with a picture. Counts the calls that it has answered.
fn pictures(answered: Arc<AtomicUsize>) -> String {
    let url = serve_raw(move |stream| {
        assert!(stream.read(&mut [0; 4096])? > 0);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
        let data = format!("iVBORw0KGgoA{}", "A".repeat(ANSWER_BYTES - 12));
        let result = format!(
            r#"{{"resultType":"complete","content":[{{"type":"image","mimeType":"image/png","data":"{data}"}}]}}"#
        );
        write!(stream, r#"{head}{{"jsonrpc":"2.0","id":100000002,"result":{result}}}"#)?;
        answered.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    url.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_nobody_reads_count_until_they_are_written() {
    let answered = Arc::<AtomicUsize>::default();
    let url = pictures(answered.clone());
    let limits = "[limits]\nresults_size = '64MiB'\ncall_deadline = '5m'\n";
    let (_scratch, gateway) = gateway(&url, limits).await;
    let idle = peak_mib(gateway.pid());
    let unread: Vec<_> = (0..ANSWERS).map(|_| call_unread(&gateway)).collect();
    let until = Instant::now() + Duration::from_secs(10);
    let slowest = slowest_search(&gateway, || Instant::now() > until).await;
    let grown = peak_mib(gateway.pid()) - idle;
    println!("{ANSWERS} unread answers took {grown} MiB; the slowest search {slowest:?}");
    assert!(grown < ANSWERS_MIB, "{grown} MiB");
    // Once they are read or given up, the others have their turn.
    drop(unread);
    let mut read = call_unread(&gateway);
    read.set_read_timeout(Some(LIMIT)).unwrap();
    let mut start = [0; 15];
    read.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 200 OK");
    let has_room = wait_until(LIMIT, || answered.load(Ordering::Relaxed) > 0).await;
    assert!(has_room);
}
