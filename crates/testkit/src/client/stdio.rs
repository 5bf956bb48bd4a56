//! A raw client on the stdin and stdout of a process.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::message::MessageWriter;
use super::{ANSWER_LIMIT_BYTES, DEFAULT_LIMIT, Exchange, message};
use crate::Error;
use crate::fixture::{Era, Incoming, lock, read};

/// How much of the process's stderr is kept.
const STDERR_LIMIT_BYTES: u64 = 1 << 20;

/// The status of an exchange on stdio.
const STATUS_OK: u16 = 200;

/// Speaks to a child process; dropping it kills the process.
pub struct StdioClient {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: Arc<Mutex<String>>,
    speaker: MessageWriter,
    answer: Option<String>,
    limit: Duration,
    last_id: u64,
}

impl StdioClient {
    /// Starts a command, such as that of [`fixture_command`](crate::fixture_command).
    ///
    /// Must be called inside a runtime.
    pub fn spawn((program, args): (PathBuf, Vec<String>)) -> Result<Self, Error> {
        let mut command = Command::new(program);
        command.args(args);
        Self::from_command(command)
    }

    /// Starts a command with its own environment or directory.
    pub fn from_command(mut command: Command) -> Result<Self, Error> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.kill_on_drop(true).spawn().map_err(Error::io("starting the process"))?;
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let stderr = Arc::default();
        tokio::spawn(collect(child.stderr.take().expect("stderr is piped"), Arc::clone(&stderr)));
        Ok(Self {
            child,
            stdin,
            stdout,
            stderr,
            speaker: MessageWriter::default(),
            answer: None,
            limit: DEFAULT_LIMIT,
            last_id: 0,
        })
    }

    /// Waits at most this long for an answer.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Answers every request of the server with this result, JSON text.
    #[must_use]
    pub fn with_answer(mut self, result: &str) -> Self {
        self.answer = Some(result.to_owned());
        self
    }

    /// Offers these capabilities, JSON text, instead of elicitation alone.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: &str) -> Self {
        self.set_capabilities(capabilities);
        self
    }

    /// Answers every request of the server with this result from now on, or none of them.
    pub fn set_answer(&mut self, result: Option<&str>) {
        self.answer = result.map(str::to_owned);
    }

    /// Offers these capabilities from now on; a session keeps those that it began with.
    pub fn set_capabilities(&mut self, capabilities: &str) {
        capabilities.clone_into(&mut self.speaker.capabilities);
    }

    /// Changes to the handshake era: sends `initialize`, then `notifications/initialized`.
    pub async fn initialize(&mut self) -> Result<Exchange, Error> {
        self.speaker.era = Era::Handshake;
        let exchange = self.request("initialize", &self.speaker.initialize_params()).await?;
        self.notify("notifications/initialized", "{}").await?;
        Ok(exchange)
    }

    /// Calls a tool with arguments given as the JSON text of an object.
    pub async fn call(&mut self, tool: &str, arguments: &str) -> Result<Exchange, Error> {
        self.request("tools/call", &message::call_params(tool, arguments)).await
    }

    /// Asks for the first page of tools.
    pub async fn list(&mut self) -> Result<Exchange, Error> {
        self.request("tools/list", "{}").await
    }

    /// Sends a request and reads until it is answered.
    pub async fn request(&mut self, method: &str, params: &str) -> Result<Exchange, Error> {
        let id = self.start(method, params).await?;
        self.finish(id, method).await
    }

    /// Sends a request and returns its id at once.
    pub async fn start(&mut self, method: &str, params: &str) -> Result<u64, Error> {
        self.last_id += 1;
        let request = self.speaker.request(self.last_id, method, params);
        self.send(&request).await?;
        Ok(self.last_id)
    }

    /// Reads until request `id` is answered; `what` names it in an error.
    pub async fn finish(&mut self, id: u64, what: &str) -> Result<Exchange, Error> {
        let limit = self.limit;
        timeout(limit, self.read_answer(id, what))
            .await
            .map_err(|_| Error::Late { what: what.to_owned(), limit_ms: limit.as_millis() })?
    }

    /// Sends a notification with parameters given as the JSON text of an object.
    pub async fn notify(&mut self, method: &str, params: &str) -> Result<(), Error> {
        self.send(&self.speaker.notification(method, params)).await
    }

    /// Writes one line unchanged.
    pub async fn send(&mut self, line: &str) -> Result<(), Error> {
        let what = || Error::Closed { what: "a message, as stdin was closed".to_owned() };
        let stdin = self.stdin.as_mut().ok_or_else(what)?;
        stdin.write_all(format!("{line}\n").as_bytes()).await.map_err(Error::io("writing"))
    }

    /// Reads one line unchanged.
    pub async fn receive(&mut self) -> Result<String, Error> {
        let limit = self.limit;
        timeout(limit, self.next_line("a line"))
            .await
            .map_err(|_| Error::Late { what: "a line".to_owned(), limit_ms: limit.as_millis() })?
    }

    /// The process id, until the process has been waited for.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// What the process has written to stderr so far.
    pub fn stderr(&self) -> String {
        lock(&self.stderr).clone()
    }

    /// Closes stdin, which makes a well-behaved server exit.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for the process to exit by itself.
    pub async fn wait(&mut self) -> Result<ExitStatus, Error> {
        let what = || Error::Late { what: "exit".to_owned(), limit_ms: self.limit.as_millis() };
        let status = timeout(self.limit, self.child.wait()).await;
        status.map_err(|_| what())?.map_err(Error::io("waiting for the process"))
    }

    async fn read_answer(&mut self, id: u64, what: &str) -> Result<Exchange, Error> {
        let wanted = id.to_string();
        let mut notices = Vec::new();
        loop {
            let line = self.next_line(what).await?;
            match read(&line) {
                Ok(Incoming::Response { id, .. }) if id.get() == wanted => {
                    return Ok(Exchange { notices, response: line, status: STATUS_OK });
                }
                Ok(Incoming::Request(request)) => {
                    if let Some(result) = &self.answer {
                        let response = message::response(request.id.get(), result);
                        self.send(&response).await?;
                    }
                }
                Ok(Incoming::Response { .. } | Incoming::Notification { .. }) | Err(_) => {}
            }
            notices.push(line);
        }
    }

    async fn next_line(&mut self, what: &str) -> Result<String, Error> {
        let mut line = String::new();
        let limit = u64::try_from(ANSWER_LIMIT_BYTES).unwrap_or(u64::MAX);
        let mut stdout = (&mut self.stdout).take(limit);
        let read = stdout.read_line(&mut line).await.map_err(Error::io("reading"))?;
        if read == 0 {
            return Err(Error::Closed { what: what.to_owned() });
        }
        if read == ANSWER_LIMIT_BYTES {
            return Err(Error::TooLarge { limit_bytes: ANSWER_LIMIT_BYTES });
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}

async fn collect(stderr: ChildStderr, collected: Arc<Mutex<String>>) {
    let mut lines = BufReader::new(stderr.take(STDERR_LIMIT_BYTES)).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let mut collected = lock(&collected);
        collected.push_str(&line);
        collected.push('\n');
    }
}
