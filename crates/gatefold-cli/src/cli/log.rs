//! The log of a command that serves, written by a thread of its own.
//!
//! Standard error may be a pipe that nobody reads. Writing to it then blocks, and must not block a
//! thread that handles calls or signals. Lines that do not fit into the queue are dropped and
//! counted. `tracing-appender` also queues, but its shutdown prints to the same pipe, or to
//! standard output, where the protocol is.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

use super::stderr;

/// The most lines waiting to be written. Sources' lines are bounded, so this is a few megabytes at
/// most.
const QUEUED_LINES: usize = 1024;
/// How long the exit of the process waits for the last lines.
const LAST_LINES: Duration = Duration::from_millis(500);
/// How often the exit of the process retries on a full queue.
const RETRY: Duration = Duration::from_millis(10);

enum Entry {
    Line(Vec<u8>),
    /// Answered once everything before it is written.
    Flush(SyncSender<()>),
}

/// Takes lines without ever waiting.
#[derive(Clone)]
pub(super) struct LogQueue {
    entries: SyncSender<Entry>,
    left_out: Arc<AtomicU64>,
}

impl LogQueue {
    /// A queue whose thread writes to standard error.
    pub(super) fn start() -> io::Result<Self> {
        Self::over(stderr::Log)
    }

    fn over(out: impl io::Write + Send + 'static) -> io::Result<Self> {
        let (entries, queued) = sync_channel(QUEUED_LINES);
        let left_out = Arc::new(AtomicU64::new(0));
        let counter = left_out.clone();
        thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write(&queued, &counter, out))?;
        Ok(Self { entries, left_out })
    }

    /// Waits until everything is written, but not for long.
    pub(super) fn flush(&self) {
        let until = Instant::now() + LAST_LINES;
        let (done, written) = sync_channel(1);
        let mut entry = Entry::Flush(done);
        while let Err(TrySendError::Full(back)) = self.entries.try_send(entry) {
            if Instant::now() >= until {
                return;
            }
            entry = back;
            thread::sleep(RETRY);
        }
        // Either it took too long or the thread has ended. Nothing more can be done for these
        // lines.
        let _ = written.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}

fn write(queued: &Receiver<Entry>, left_out: &AtomicU64, mut out: impl io::Write) {
    while let Ok(entry) = queued.recv() {
        // If the log cannot be written, there is nowhere to report that.
        match entry {
            Entry::Line(line) => drop(out.write_all(&line)),
            Entry::Flush(done) => drop(done.try_send(())),
        }
        let missing = left_out.swap(0, Ordering::Relaxed);
        if missing > 0 {
            let _ = writeln!(
                out,
                "gatefold: {missing} lines of the log were left out, as standard error was not read"
            );
        }
    }
}

impl io::Write for &LogQueue {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.entries.try_send(Entry::Line(bytes.to_vec())).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for LogQueue {
    type Writer = &'w Self;

    fn make_writer(&'w self) -> Self::Writer {
        self
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    /// A pipe in place of standard error.
    fn piped() -> (LogQueue, io::PipeReader) {
        let (reader, writer) = io::pipe().unwrap();
        (LogQueue::over(writer).unwrap(), reader)
    }

    #[test]
    fn lines_arrive_in_order_and_a_flush_waits_for_them() {
        let (queue, mut reader) = piped();
        for line in ["one\n", "two\n", "three\n"] {
            (&queue).write_all(line.as_bytes()).unwrap();
        }
        queue.flush();
        let mut text = [0; 14];
        reader.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"one\ntwo\nthree\n");
    }

    #[test]
    fn a_pipe_that_nobody_reads_holds_nobody_up_and_the_rest_is_counted() {
        let (queue, mut reader) = piped();
        let line = [b"x".repeat(1023), b"\n".to_vec()].concat();
        let began = Instant::now();
        for _ in 0..4 * QUEUED_LINES {
            (&queue).write_all(&line).unwrap();
        }
        queue.flush();
        assert!(began.elapsed() < 10 * LAST_LINES, "{:?}", began.elapsed());
        drop(queue);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        let written = text.lines().filter(|line| line.starts_with('x')).count();
        let counts = text.lines().filter_map(|line| line.strip_prefix("gatefold: "));
        let counts = counts.filter_map(|told| told.split_once(" lines of the log were left out"));
        let left_out: usize = counts.map(|(count, _)| count.parse::<usize>().unwrap()).sum();
        assert!(left_out > 0);
        assert_eq!(written + left_out, 4 * QUEUED_LINES);
    }
}
