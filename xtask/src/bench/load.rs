//! A load generator that does as little as possible: requests are written once, answers are only
//! measured for their length and searched for a sign of success.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use hdrhistogram::Histogram;
use sqlx::{PgPool, Row as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The call to make, and how to recognise success.
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) authority: String,
    /// The JSON-RPC `params` of `tools/call`.
    pub(crate) params: String,
    /// A text that every right answer contains.
    pub(crate) expected: &'static str,
    /// The access token that the server requires, if it does.
    pub(crate) token: Option<String>,
}

/// The result of a load.
pub(crate) struct LoadResult {
    /// Latencies in nanoseconds.
    pub(crate) latencies: Histogram<u64>,
    pub(crate) elapsed: Duration,
}

impl LoadResult {
    pub(crate) fn calls(&self) -> u64 {
        self.latencies.len()
    }

    pub(crate) fn calls_per_second(&self) -> f64 {
        self.calls() as f64 / self.elapsed.as_secs_f64()
    }

    pub(crate) fn millis(&self, quantile: f64) -> f64 {
        self.latencies.value_at_quantile(quantile) as f64 / 1e6
    }
}

/// Makes calls from `clients` clients, each over its own connection and session, one call at a
/// time, for `time`. Every answer must be right.
pub(crate) async fn run(scenario: &Scenario, clients: usize, time: Duration) -> Result<LoadResult> {
    // All at once: a server may close a connection that is idle while the others are opened.
    let opening = (0..clients).map(|_| {
        let scenario = scenario.clone();
        tokio::spawn(async move { Connection::open(&scenario).await })
    });
    let mut connections = Vec::new();
    for opened in opening.collect::<Vec<_>>() {
        connections.push(opened.await??);
    }
    drive(connections, time).await
}

/// A client that makes one call at a time.
pub(crate) trait LoadClient: Send + 'static {
    /// Makes one call and checks its answer.
    fn call(&mut self) -> impl Future<Output = Result<()>> + Send;
}

impl LoadClient for Connection {
    fn call(&mut self) -> impl Future<Output = Result<()>> + Send {
        self.call()
    }
}

/// Makes calls from these clients for `time`.
pub(crate) async fn drive(clients: Vec<impl LoadClient>, time: Duration) -> Result<LoadResult> {
    let started = Instant::now();
    let tasks: Vec<_> = clients
        .into_iter()
        .map(|mut client| {
            tokio::spawn(async move {
                let mut latencies = histogram()?;
                while started.elapsed() < time {
                    let sent = Instant::now();
                    client.call().await?;
                    latencies.record(u64::try_from(sent.elapsed().as_nanos())?)?;
                }
                anyhow::Ok(latencies)
            })
        })
        .collect();
    let mut latencies = histogram()?;
    for task in tasks {
        latencies.add(task.await??)?;
    }
    Ok(LoadResult { latencies, elapsed: started.elapsed() })
}

fn histogram() -> Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1_000, 120_000_000_000, 3)?)
}

/// A request to an HTTP API as a program makes it that uses no gateway.
#[derive(Clone)]
pub(crate) struct PlainCall {
    pub(crate) client: reqwest::Client,
    pub(crate) url: String,
    /// JSON.
    pub(crate) body: &'static str,
    /// A text that every right answer contains.
    pub(crate) expected: &'static str,
}

impl LoadClient for PlainCall {
    async fn call(&mut self) -> Result<()> {
        let request = self.client.post(&self.url).header("content-type", "application/json");
        let answer = request.body(self.body).send().await?.error_for_status()?.text().await?;
        if !answer.contains(self.expected) {
            bail!("a wrong answer: {answer}");
        }
        Ok(())
    }
}

/// A query as a program makes it that has the database to itself.
#[derive(Clone)]
pub(crate) struct PlainQuery {
    pub(crate) pool: PgPool,
    pub(crate) sql: &'static str,
    /// A text that one of its columns has.
    pub(crate) expected: &'static str,
}

impl LoadClient for PlainQuery {
    async fn call(&mut self) -> Result<()> {
        let row = sqlx::query(self.sql).fetch_one(&self.pool).await?;
        let name: &str = row.try_get("name")?;
        if name != self.expected {
            bail!("a wrong answer: {name}");
        }
        Ok(())
    }
}

/// One session over one connection.
pub(crate) struct Connection {
    stream: TcpStream,
    authority: String,
    /// The headers of its token and its session.
    headers: String,
    request: Vec<u8>,
    expected: &'static [u8],
    buffer: Vec<u8>,
}

const VERSION: &str = "2025-11-25";

impl Connection {
    pub(crate) async fn open(scenario: &Scenario) -> Result<Self> {
        let stream = TcpStream::connect(&scenario.authority).await?;
        stream.set_nodelay(true)?;
        let expected = scenario.expected.as_bytes();
        let mut connection = Self {
            stream,
            authority: scenario.authority.clone(),
            headers: scenario
                .token
                .as_ref()
                .map_or_else(String::new, |token| format!("authorization: Bearer {token}\r\n")),
            request: Vec::new(),
            expected,
            buffer: Vec::new(),
        };
        let hello = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{VERSION}","capabilities":{{}},"clientInfo":{{"name":"load","version":"1"}}}}}}"#
        );
        let answer =
            connection.exchange(&post(&scenario.authority, &connection.headers, &hello)).await?;
        if let Some(session) = header(&answer, "mcp-session-id") {
            let own = format!("mcp-session-id: {session}\r\nmcp-protocol-version: {VERSION}\r\n");
            connection.headers.push_str(&own);
        }
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let ready = post(&scenario.authority, &connection.headers, ready);
        connection.exchange(&ready).await?;
        connection.prepare(&scenario.params);
        Ok(connection)
    }

    /// Makes the next call one with other `params`.
    pub(crate) fn prepare(&mut self, params: &str) {
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        self.request = post(&self.authority, &self.headers, &call);
    }

    /// Makes one call and checks its answer.
    pub(crate) async fn call(&mut self) -> Result<()> {
        let request = std::mem::take(&mut self.request);
        let answer = self.exchange(&request).await;
        self.request = request;
        let answer = answer?;
        if !answer.windows(self.expected.len()).any(|part| part == self.expected) {
            bail!("a wrong answer: {}", String::from_utf8_lossy(&answer));
        }
        Ok(())
    }

    /// Sends a request and returns the answer, head and body.
    async fn exchange(&mut self, request: &[u8]) -> Result<Vec<u8>> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            let read = self.stream.read_buf(&mut self.buffer).await?;
            if read == 0 {
                bail!("closed early after: {}", String::from_utf8_lossy(&self.buffer));
            }
            if let Some(length) = whole(&self.buffer)? {
                let mut answer = std::mem::take(&mut self.buffer);
                answer.truncate(length);
                return Ok(answer);
            }
        }
    }
}

fn post(authority: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {authority}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The length of the answer, once all of it has arrived.
fn whole(buffer: &[u8]) -> Result<Option<usize>> {
    let Some(head) = buffer.windows(4).position(|part| part == b"\r\n\r\n") else {
        return Ok(None);
    };
    let body = head + 4;
    let status = buffer.get(9..12).unwrap_or_default();
    if !status.starts_with(b"2") {
        bail!("refused: {}", String::from_utf8_lossy(buffer));
    }
    if let Some(length) = header(buffer, "content-length") {
        let length: usize = length.parse().context("content-length is no number")?;
        return Ok((buffer.len() >= body + length).then_some(body + length));
    }
    if header(buffer, "transfer-encoding").is_some() {
        return Ok(buffer.ends_with(b"0\r\n\r\n").then_some(buffer.len()));
    }
    Ok(Some(body))
}

fn header(answer: &[u8], name: &str) -> Option<String> {
    let head = answer.split(|byte| *byte == b'\n').take_while(|line| line.len() > 1);
    head.filter_map(|line| std::str::from_utf8(line).ok()?.split_once(':'))
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim().to_owned())
}
