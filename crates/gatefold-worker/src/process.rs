//! One worker, as its pool sees it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use crate::WorkerError;
use crate::message::{self, GREETING, Message, MessageKind};
use crate::serving::VARIABLE;

/// The most bytes before a worker's greeting.
const MAX_NOISE: u64 = 64 << 10;

/// How long a worker whose pipe closed may take to end, before it is killed.
const ENDING: Duration = Duration::from_secs(1);

/// How much of a worker's last words is read, in bytes.
const MAX_LAST_WORDS: u64 = 4096;

/// What a pool starts: a program that calls [`crate::run_if_asked`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    path: PathBuf,
    arguments: Vec<OsString>,
}

impl WorkerProgram {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), arguments: Vec::new() }
    }

    /// This program itself, also after its file was replaced.
    pub fn this() -> io::Result<Self> {
        if cfg!(target_os = "linux") {
            return Ok(Self::new("/proc/self/exe"));
        }
        std::env::current_exe().map(Self::new)
    }

    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }
}

impl From<PathBuf> for WorkerProgram {
    fn from(path: PathBuf) -> Self {
        Self::new(path)
    }
}

/// Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct WorkerProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    errors: ChildStderr,
    memory: u64,
    is_greeted: bool,
    _count: LiveCount,
}

/// Counts a worker as long as it lives.
#[derive(Debug)]
struct LiveCount(Arc<AtomicUsize>);

impl Drop for LiveCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl WorkerProcess {
    pub(crate) fn start(
        program: &WorkerProgram,
        memory: u64,
        live: &Arc<AtomicUsize>,
    ) -> Result<Self, WorkerError> {
        live.fetch_add(1, Ordering::AcqRel);
        let count = LiveCount(live.clone());
        // It gets nothing of what this process was given, such as secrets of its environment.
        let mut child = Command::new(&program.path)
            .args(&program.arguments)
            .env_clear()
            .env(VARIABLE, memory.to_string())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // What interrupts the gateway at a terminal lets its calls end first.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(WorkerError::Start)?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(WorkerError::Start(io::ErrorKind::BrokenPipe.into()));
        };
        let output = BufReader::new(output);
        Ok(Self { child, input, output, errors, memory, is_greeted: false, _count: count })
    }

    /// Whether it still waits for a job.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a message and reads what is said to it, of at most so many bytes.
    pub(crate) async fn exchange(
        &mut self,
        head: &str,
        body: &[u8],
        max_answer: u64,
    ) -> Result<(MessageKind, Message), WorkerError> {
        let memory = self.memory;
        let pid = self.child.id();
        let talk = async {
            message::send(&mut self.input, MessageKind::Part, head, body).await?;
            if !self.is_greeted {
                skip_to_greeting(&mut self.output).await?;
                self.is_greeted = true;
            }
            message::receive(&mut self.output, max_answer).await
        };
        let answer = tokio::select! {
            answer = talk => answer,
            () = outgrows(pid, memory) => return Err(WorkerError::Memory(memory)),
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                Err(WorkerError::Answer(max_answer))
            }
            Err(error) => Err(self.end(&error).await),
        }
    }

    /// Why the process ended.
    async fn end(&mut self, error: &io::Error) -> WorkerError {
        let status = tokio::time::timeout(ENDING, self.child.wait()).await;
        let mut words = Vec::new();
        let mut errors = (&mut self.errors).take(MAX_LAST_WORDS);
        // What it has said by now is all that counts.
        let _ = tokio::time::timeout(ENDING, errors.read_to_end(&mut words)).await;
        let words = String::from_utf8_lossy(&words);
        let signal = match status {
            Ok(Ok(status)) => status.signal(),
            _ => None,
        };
        // The standard library's own words for it.
        if words.contains("memory allocation of") || signal == Some(SIGKILL) {
            return WorkerError::Memory(self.memory);
        }
        if words.contains("overflowed its stack") {
            return WorkerError::Depth;
        }
        WorkerError::Broken(format!("{error}; signal {signal:?}; {}", words.trim()))
    }
}

/// What a system sends to a process when there is no memory left.
const SIGKILL: i32 = 9;

async fn skip_to_greeting(output: &mut BufReader<ChildStdout>) -> io::Result<()> {
    let mut output = output.take(MAX_NOISE);
    loop {
        let mut line = Vec::new();
        if output.read_until(b'\n', &mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line.trim_ascii() == GREETING.as_bytes() {
            return Ok(());
        }
    }
}

/// Ends when a process holds more memory than it may. On Linux the kernel sees to that by itself.
async fn outgrows(pid: Option<u32>, memory: u64) {
    let Some(pid) = pid.filter(|_| !cfg!(target_os = "linux")) else {
        return std::future::pending().await;
    };
    watch_memory(pid, memory).await;
}

/// How often memory is measured where the kernel does not bound it.
const LOOK_EVERY: Duration = Duration::from_millis(50);

async fn watch_memory(pid: u32, memory: u64) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let shown = Command::new("ps").args(["-o", "rss=", "-p", &pid.to_string()]).output().await;
        let kib = shown.ok().and_then(|shown| String::from_utf8(shown.stdout).ok());
        let kib: Option<u64> = kib.and_then(|kib| kib.trim().parse().ok());
        if kib.is_some_and(|kib| kib << 10 > memory) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_that_outgrows_its_memory_is_noticed() {
        let pid = std::process::id();
        let within = tokio::time::timeout(Duration::from_secs(10), watch_memory(pid, 1 << 10));
        assert!(within.await.is_ok());
        let never = tokio::time::timeout(Duration::from_millis(300), watch_memory(pid, u64::MAX));
        assert!(never.await.is_err());
    }
}
