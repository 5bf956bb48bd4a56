//! Clients that connect and say nothing, or send much and never finish.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use gatefold_testkit::{RAW_TOOL, RawClient, serve_raw};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::process::{BINARY, Gateway, LIMIT, WITHOUT_ENCODER, command};
use crate::scratch::Scratch;

/// The largest request, unless the configuration says otherwise.
const LARGEST: usize = 4 * 1024 * 1024;
/// The most memory that a debug build may use when clients send all they can. Idle, it uses about
/// 30 MiB.
const MOST_MIB: u64 = 256;

/// A gateway that starts with as few file descriptors as many systems allow.
pub(crate) async fn serve(scratch: &Scratch) -> Gateway {
    let served = command(scratch, &[]);
    let mut shell = Command::new("/bin/sh");
    let few = r#"ulimit -S -n 1024 && exec "$0" serve --listen 127.0.0.1:0"#;
    shell.args(["-c", few, BINARY]).env_clear().current_dir(scratch.path());
    for (name, value) in served.get_envs() {
        shell.env(name, value.unwrap());
    }
    let gateway = Gateway::of(shell);
    gateway.await_log("listening").await;
    gateway
}

/// The most memory that a process has had, see proc_pid_status(5).
pub(crate) fn peak_mib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}

pub(crate) async fn discovers(gateway: &Gateway) -> Duration {
    let began = Instant::now();
    let client = RawClient::new(gateway.url()).unwrap().with_limit(Duration::from_secs(5));
    client.call("discover_tools", r#"{"query": "anything"}"#).await.unwrap();
    began.elapsed()
}

/// Sends the head of a call and the first part of its body.
fn begin(stream: &mut TcpStream, length: usize, body: &[u8]) -> std::io::Result<()> {
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: execute_tool\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

#[tokio::test]
async fn eleven_hundred_silent_connections_keep_nobody_out() {
    let own = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: own.maximum, maximum: own.maximum }).unwrap();
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "[limits]\nhead_deadline = '3s'\n");
    let gateway = serve(&scratch).await;
    let before = discovers(&gateway).await;
    let mut silent: Vec<_> =
        (0..1100).map(|_| TcpStream::connect(gateway.address()).unwrap()).collect();
    for half in &mut silent[..100] {
        half.write_all(b"POST /mcp HTTP/1.1\r\nhost: loc").unwrap();
    }
    let during = discovers(&gateway).await;
    println!("a search took {before:?} before and {during:?} beside 1100 silent connections");
    for stream in &mut silent {
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let mut rest = Vec::new();
        // Connections that sent half a request are reset. None may end by the timeout.
        if let Err(error) = stream.read_to_end(&mut rest) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        }
    }
}

#[tokio::test]
async fn two_hundred_unfinished_bodies_hold_little() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "");
    let gateway = serve(&scratch).await;
    discovers(&gateway).await;
    let most = vec![b' '; LARGEST - 1];
    let unfinished = (0..200).map(|_| {
        let mut stream = TcpStream::connect(gateway.address()).unwrap();
        // A connection that finds no room is closed while it writes.
        let _ = begin(&mut stream, LARGEST, &most);
        stream
    });
    let unfinished: Vec<_> = unfinished.collect();
    let during = discovers(&gateway).await;
    let peak = peak_mib(gateway.pid());
    println!("200 unfinished bodies: at most {peak} MiB, and a search took {during:?}");
    assert!(peak < MOST_MIB, "{peak} MiB");
    drop(unfinished);
}

#[tokio::test]
async fn sixty_large_calls_to_a_source_that_stopped_reading_hold_little() {
    let url = serve_raw(|_| {
        thread::sleep(LIMIT);
        Ok(())
    })
    .unwrap();
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", format!("[sources.up]\nurl = '{url}'\n"));
    let gateway = serve(&scratch).await;
    gateway.await_log("took up a new list of tools domain=up").await;
    let arguments = format!(r#"{{"text": "{}"}}"#, "x".repeat(LARGEST - 1024));
    let meta = r#"{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}"#;
    let call = format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"_meta": {meta}, "name": "execute_tool", "arguments": {{"tool_name": "up__{RAW_TOOL}", "arguments": {arguments}}}}}}}"#
    );
    let calls = (0..60).map(|_| {
        let mut stream = TcpStream::connect(gateway.address()).unwrap();
        let _ = begin(&mut stream, call.len(), call.as_bytes());
        stream
    });
    let calls: Vec<_> = calls.collect();
    let during = discovers(&gateway).await;
    let peak = peak_mib(gateway.pid());
    println!("60 large calls: at most {peak} MiB, and a search took {during:?}");
    assert!(peak < MOST_MIB, "{peak} MiB");
    for call in calls {
        let _ = call.shutdown(Shutdown::Both);
    }
}

/// How large an answer would be if anybody read it to its end, and by how much memory may grow for it: a
/// result of 16 MiB is read, and may be held twice for a moment.
const ENDLESS: usize = 1 << 30;
const MOST_GROWTH_MIB: u64 = 34;

/// Sends the beginning of an answer and then the same bytes on and on, without saying how many.
fn send_endless(stream: &mut TcpStream, begins: &str) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    stream.write_all(format!("{head}{begins}").as_bytes())?;
    let bytes = vec![b'x'; 64 * 1024];
    for _ in 0..ENDLESS / bytes.len() {
        stream.write_all(&bytes)?;
    }
    Ok(())
}

#[tokio::test]
async fn a_gigabyte_is_not_read_to_its_end_and_holds_little() {
    let url = serve_raw(|stream| {
        send_endless(
            stream,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""#,
        )
    });
    let url = url.unwrap();
    let api = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = api.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in api.incoming().map_while(Result::ok) {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).and_then(|_| send_endless(&mut stream, "{\"log\":\""));
        }
    });
    let scratch = Scratch::new();
    scratch.write(
        "gatefold.toml",
        format!(
            "[sources.up]\nurl = '{url}'\n[sources.api]\nbase_url = 'http://127.0.0.1:{port}'\n\
             [[sources.api.actions]]\nname = 'read_log'\nmethod = 'GET'\npath = '/log'\n\
             description = 'Read the log.'\n{WITHOUT_ENCODER}"
        ),
    );
    let gateway = serve(&scratch).await;
    gateway.await_log("took up a new list of tools domain=up").await;
    for (tool, limit) in
        [(format!("up__{RAW_TOOL}"), "16777216"), ("api__read_log".to_owned(), "16777216")]
    {
        let idle = peak_mib(gateway.pid());
        let client = RawClient::new(gateway.url()).unwrap().with_limit(LIMIT);
        let call = format!(r#"{{"tool_name": "{tool}", "arguments": {{}}}}"#);
        let told = client.call("execute_tool", &call).await.unwrap().text();
        let peak = peak_mib(gateway.pid());
        println!("{tool}: at most {peak} MiB, {idle} MiB before; {told}");
        assert!(told.contains(limit), "{told}");
        assert!(peak - idle < MOST_GROWTH_MIB, "{idle} MiB, then {peak} MiB");
    }
}

/// The length of each of many results that are read at once. They arrive in halves, with a pause
/// between, so that all are under way together.
const MANY_BYTES: usize = 4 * 1024 * 1024;
const MANY_RESULTS: usize = 40;
/// By how much memory may grow for all of them: a few times two of them, where all are 160 MiB.
const MANY_GROWTH_MIB: u64 = 150;

#[tokio::test(flavor = "multi_thread")]
async fn forty_large_results_at_once_wait_for_one_another() {
    let url = serve_raw(|stream| {
        let request = stream.read(&mut [0; 4096])?;
        assert!(request > 0);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
        let begins = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""#;
        let half = "x".repeat(MANY_BYTES / 2);
        stream.write_all(format!("{head}{begins}{half}").as_bytes())?;
        thread::sleep(Duration::from_millis(200));
        stream.write_all(format!("{half}\"}}]}}}}").as_bytes())
    });
    let scratch = Scratch::new();
    let limits = "[limits]\nstored_result = '5MiB'\nresults_size = '10MiB'\ncall_deadline = '5m'\n";
    scratch.write("gatefold.toml", format!("{limits}[sources.up]\nurl = '{}'\n", url.unwrap()));
    let gateway = serve(&scratch).await;
    gateway.await_log("took up a new list of tools domain=up").await;
    let idle = peak_mib(gateway.pid());
    let call = format!(r#"{{"tool_name": "up__{RAW_TOOL}", "arguments": {{}}}}"#);
    let calls = (0..MANY_RESULTS).map(|_| {
        let client = RawClient::new(gateway.url()).unwrap().with_limit(Duration::from_mins(5));
        let call = call.clone();
        tokio::spawn(async move { client.call("execute_tool", &call).await.unwrap().text() })
    });
    let calls: Vec<_> = calls.collect();
    let searched = discovers(&gateway).await;
    for call in calls {
        let told = call.await.unwrap();
        assert!(told.contains("results__read_result"), "{told}");
    }
    let grown = peak_mib(gateway.pid()) - idle;
    println!("{MANY_RESULTS} results took {grown} MiB; a search beside them {searched:?}");
    assert!(grown < MANY_GROWTH_MIB, "{grown} MiB");
}

/// A notice as servers send them.
const NOTICE: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\
                      \"params\":{\"uri\":\"up://doc/1\"}}\n\n";

/// A server of the handshake era that sends notices without end on the stream that belongs to no
/// request.
fn flood_standing_stream() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || drop(answer_handshake(stream)));
        }
    });
    url
}

fn answer_handshake(mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        reader.read_line(&mut first)?;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        if first.starts_with("GET") {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")?;
            let flood = NOTICE.repeat(64 * 1024 / NOTICE.len());
            loop {
                stream.write_all(flood.as_bytes())?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "serverInfo": {"name": "up", "version": "1"},
                "capabilities": {"tools": {}},
            }),
            "tools/list" => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
            _ if message["id"].is_null() => {
                stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")?;
                continue;
            }
            _ => {
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")?;
                continue;
            }
        };
        let body = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: one\r\n";
        write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len())?;
    }
}

/// How much processor time a process has taken, see proc_pid_stat(5).
fn processor_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

/// How long the processor's time is measured, and the most of it that a debug build may take.
const MEASURED: Duration = Duration::from_secs(4);
const MOST_PERCENT: u128 = 40;

#[tokio::test(flavor = "multi_thread")]
async fn a_standing_stream_that_floods_is_read_at_a_pace() {
    let scratch = Scratch::new();
    let url = flood_standing_stream();
    scratch.write("gatefold.toml", format!("[sources.up]\nurl = '{url}'\n{WITHOUT_ENCODER}"));
    let gateway = serve(&scratch).await;
    gateway.await_log("took up a new list of tools domain=up").await;
    // The first half second may be read as fast as it comes.
    tokio::time::sleep(MEASURED / 2).await;
    let before = processor_time(gateway.pid());
    tokio::time::sleep(MEASURED).await;
    let taken = processor_time(gateway.pid()).saturating_sub(before);
    let percent = taken.as_millis() * 100 / MEASURED.as_millis();
    println!("a flood on a standing stream takes {percent} % of a core");
    assert!(percent < MOST_PERCENT, "{percent} %");
}
