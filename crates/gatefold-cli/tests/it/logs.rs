//! A log that nobody reads, and sources that fill it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use gatefold_testkit::{RawClient, wait_until};
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{Gateway, LIMIT, command, two_sources};
use crate::scratch::Scratch;

/// The capacity of a pipe on Linux, see pipe(7).
const PIPE_BYTES: usize = 64 * 1024;

/// A server that writes log lines without end, and answers nothing.
const TALKING: &str =
    "while sleep 0.01; do head -c 3000 /dev/zero | tr '\\0' x >&2; echo >&2; done";

/// How long it takes to fill the pipe, at the rate that one source's lines are logged.
const FILLING: Duration = Duration::from_secs(4);

#[tokio::test]
async fn a_log_that_nobody_reads_holds_up_neither_calls_nor_the_end() {
    let scratch = Scratch::new();
    scratch.write("talking.sh", TALKING);
    let talking = "[sources.talking]\ncommand = 'sh'\nargs = ['talking.sh']\n";
    scratch.write("gatefold.toml", format!("{talking}{}", two_sources(&scratch)));
    let mut gateway = command(&scratch, &["serve", "--listen", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(gateway.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("/mcp") {
        line.clear();
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "it ended");
    }
    // From here on nobody reads.
    let url = &line[line.find("http://").unwrap()..];
    let url = url.split_whitespace().next().unwrap();
    let client = RawClient::new(url).unwrap().with_limit(LIMIT);
    let (began, mut calls, mut slowest) = (Instant::now(), 0, Duration::ZERO);
    while began.elapsed() < FILLING {
        let call = Instant::now();
        client.call("execute_tool", r#"{"tool_name": "units__list_units"}"#).await.unwrap();
        slowest = slowest.max(call.elapsed());
        calls += 1;
    }
    println!("{calls} calls took {slowest:?} at most");
    kill_process(Pid::from_child(&gateway), Signal::TERM).unwrap();
    let stopped = wait_until(Duration::from_secs(10), || gateway.try_wait().unwrap().is_some());
    assert!(stopped.await, "it does not end");
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert!(rest.len() > PIPE_BYTES / 2, "the pipe was not full: {} bytes", rest.len());
}

/// A server that writes 100 MB to its standard error before it answers anything, and lists many
/// malformed tools.
const NOISY: &str = r#"
head -c 100000000 /dev/zero | tr '\\0' x | fold -w 400 >&2
while read -r line; do
  id=${line#*'"id":'}; id=${id%%,*}
  is() { printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",%s}}\n' "$id" "$1"; }
  case $line in
    *'"server/discover"'*) is '"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}' ;;
    *'"tools/list"'*) is "\"tools\":[$(seq -s, 20000 | sed 's/[0-9]*/{"name":"t&","inputSchema":[]}/g')]" ;;
  esac
done
"#;

#[tokio::test]
async fn a_source_that_floods_its_log_fills_little_of_ours() {
    let scratch = Scratch::new();
    scratch.write("noisy.sh", NOISY);
    let noisy = "[sources.noisy]\ncommand = 'sh'\nargs = ['noisy.sh']\nconnect_deadline = '60s'\n";
    scratch.write("gatefold.toml", format!("{noisy}{}", two_sources(&scratch)));
    let gateway = Gateway::serve(&scratch).await;
    let client = RawClient::new(gateway.url()).unwrap().with_limit(LIMIT);
    let starts_noisy = client.call("discover_tools", r#"{"domain": "noisy"}"#);
    let neighbour = async {
        let mut slowest = Duration::ZERO;
        while !gateway.log().contains("further definitions were altered") {
            let began = Instant::now();
            let own = RawClient::new(gateway.url()).unwrap().with_limit(LIMIT);
            own.call("execute_tool", r#"{"tool_name": "units__list_units"}"#).await.unwrap();
            slowest = slowest.max(began.elapsed());
        }
        slowest
    };
    let (_, slowest) = tokio::join!(starts_noisy, neighbour);
    let log = gateway.log();
    println!("a call beside it took {slowest:?} at most, and the log has {} bytes", log.len());
    assert!(log.contains("left out lines of the source in this log"), "{log}");
    assert!(log.len() < 2_000_000, "{} bytes", log.len());
    assert!(log.lines().filter(|line| line.contains("was altered")).count() <= 5);
}
