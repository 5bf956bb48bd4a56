//! The servers and clients that misbehave.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream as BlockingStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use gatefold_testkit::{RAW_TOOL, fixture_command, serve_raw};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::super::load::{Connection, Scenario};

/// The pause between two attacks of one kind.
const PAUSE: Duration = Duration::from_millis(200);
/// Arguments for a source that stops reading.
const LARGE: usize = 1 << 20;
/// Connections that are opened and left alone, time and again.
const SILENT: usize = 100;
/// Bodies that are begun and not ended, time and again.
const UNFINISHED: usize = 20;

/// Writes one line to standard error and one that is not JSON to standard output, without end.
const NOISY: &str = "yes noise-noise-noise-noise >&2 & yes nonsense";

/// Offers another tool each time it is asked, and says at once that its list has changed.
const RESTLESS: &str = r#"n=0
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
  *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"restless","version":"1"}}' ;;
  *'"tools/list"'*) n=$((n + 1)); result='{"tools":[{"name":"tool_'$n'","inputSchema":{"type":"object"}}]}' ;;
  *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}'; continue ;;
  *) continue ;;
  esac
  echo '{"jsonrpc":"2.0","id":'$id',"result":'$result'}'
  echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
done"#;

/// The sources, as they stand in a configuration.
pub(super) fn sources() -> Result<String> {
    let mut config = String::new();
    for (name, flags) in [
        ("dies", &["--era", "both"][..]),
        ("exits", &["--exit", "3"]),
        ("hangs", &["--hang"]),
        ("garbage", &["--garbage-only"]),
        ("endless_pages", &["--endless-pages"]),
        ("wordy", &["--stderr-lines", "1000000"]),
    ] {
        let (program, args) = fixture_command(flags);
        let program = program.to_str().context("the path of xtask is no text")?;
        writeln!(config, "[sources.{name}]\ncommand = {program:?}\nargs = {args:?}")?;
    }
    for (name, script) in [("noisy", NOISY), ("restless", RESTLESS)] {
        // In a configuration, `${` begins a reference.
        let script = script.replace("${", "$${");
        writeln!(config, "[sources.{name}]\ncommand = \"sh\"\nargs = [\"-c\", '''{script}''']")?;
    }
    for (name, url) in [
        ("early_hints", serve_raw(|stream| flood(stream, "", EARLY_HINTS))?),
        ("events", serve_raw(|stream| flood(stream, EVENT_STREAM, EVENTS))?),
        ("deaf", serve_raw(wait_for_end)?),
    ] {
        writeln!(config, "[sources.{name}]\nurl = {url:?}")?;
    }
    Ok(config)
}

const EARLY_HINTS: &str = "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n";
const EVENT_STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const EVENTS: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\
                      \"params\":{\"level\":\"info\",\"data\":\"flood\"}}\n\n";

/// Writes as fast as it is read, until the gateway closes the connection.
fn flood(stream: &mut BlockingStream, head: &str, part: &str) -> std::io::Result<()> {
    stream.write_all(head.as_bytes())?;
    let parts = part.repeat(100);
    loop {
        stream.write_all(parts.as_bytes())?;
    }
}

/// Reads a byte of the body and then nothing more.
fn wait_for_end(stream: &mut BlockingStream) -> std::io::Result<()> {
    stream.read_exact(&mut [0])?;
    std::thread::sleep(Duration::from_mins(1));
    Ok(())
}

/// Does all of it until the time is up. Says what was done.
pub(super) async fn attack(authority: &str, until: Instant) -> String {
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(LARGE));
    let raw = |domain: &str| format!("{domain}__{RAW_TOOL}");
    let called = async |tool: String, arguments: &str| {
        let mut calls = 0_usize;
        while Instant::now() < until {
            let params = format!(
                r#"{{"name":"execute_tool","arguments":{{"tool_name":"{tool}","arguments":{arguments}}}}}"#
            );
            // How they end does not matter here: most are meant to fail.
            let scenario = Scenario {
                authority: authority.to_owned(),
                params,
                expected: "jsonrpc",
                token: None,
            };
            if let Ok(mut connection) = Connection::open(&scenario).await {
                calls += usize::from(connection.call().await.is_ok());
            }
            sleep(PAUSE).await;
        }
        calls
    };
    let large_calls = futures_of(8, || called(raw("deaf"), &large));
    let (hints, events, dead, hung, large, silent, unfinished) = tokio::join!(
        called(raw("early_hints"), "{}"),
        called(raw("events"), "{}"),
        called("dies__die".to_owned(), "{}"),
        called("hangs__echo".to_owned(), "{}"),
        large_calls,
        connect(authority, SILENT, "", until),
        connect(authority, UNFINISHED, UNFINISHED_REQUEST, until),
    );
    let calls = hints + events + dead + hung + large;
    format!(
        "{calls} calls of hostile sources, {silent} silent connections, {unfinished} unfinished bodies"
    )
}

const UNFINISHED_REQUEST: &str = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
                                  content-length: 1000000\r\n\r\n{";

async fn futures_of<F: Future<Output = usize>>(count: usize, each: impl Fn() -> F) -> usize {
    futures::future::join_all((0..count).map(|_| each())).await.into_iter().sum()
}

/// Opens so many connections, says a little and leaves them for a while, again and again.
async fn connect(authority: &str, count: usize, said: &str, until: Instant) -> usize {
    let mut opened = 0;
    while Instant::now() < until {
        let mut open = Vec::new();
        for _ in 0..count {
            if let Ok(mut stream) = TcpStream::connect(authority).await
                && stream.write_all(said.as_bytes()).await.is_ok()
            {
                open.push(stream);
            }
        }
        opened += open.len();
        sleep(Duration::from_secs(5)).await;
    }
    opened
}
