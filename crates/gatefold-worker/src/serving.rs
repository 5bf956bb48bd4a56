//! The side of the worker.

use std::io::{self, BufReader, Stdin, Stdout, Write as _};
use std::time::Duration;

use crate::limits;
use crate::message::{self, GREETING, Message, MessageKind};

/// Has a program that is started with it be a worker. It holds the memory limit in bytes.
pub(crate) const VARIABLE: &str = "GATEFOLD_WORKER_MEMORY";

/// The stack on which tasks run. What reads expressions recurses with their depth.
const STACK_BYTES: usize = 32 << 20;

/// A worker that holds more than this for itself after a job ends, and leaves its place to a new one.
const IDLE_BYTES: u64 = 10 << 20;

/// Something that a worker can do.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    pub name: &'static str,
    /// Answers a job. It may talk with the other side before.
    pub run: fn(&Message, &mut Conversation<'_>) -> Message,
}

/// What a task may say and hear before its last answer.
pub struct Conversation<'a> {
    input: &'a mut BufReader<Stdin>,
    output: &'a mut Stdout,
}

impl Conversation<'_> {
    /// Gives an answer that is not the last, and waits for what comes then. `None` if nobody is there any more.
    pub fn ask(&mut self, answer: &Message) -> Option<Message> {
        message::write(self.output, MessageKind::Part, answer).ok()?;
        message::read(self.input).ok().flatten()
    }
}

/// Serves jobs and ends the process, if a [`crate::WorkerPool`] started it. Otherwise it returns at once.
pub fn run_if_asked(tasks: &'static [Task]) {
    #[expect(clippy::disallowed_methods, reason = "whoever starts a worker speaks to it so")]
    let Some(memory) = std::env::var_os(VARIABLE) else { return };
    let memory = memory.to_str().and_then(|memory| memory.parse().ok());
    let served = memory.map(|memory| serve_within(memory, tasks));
    std::process::exit(i32::from(!matches!(served, Some(Ok(())))))
}

fn serve_within(memory: u64, tasks: &'static [Task]) -> io::Result<()> {
    limits::confine(memory)?;
    let thread = std::thread::Builder::new().name("worker".to_owned()).stack_size(STACK_BYTES);
    // A panic has been written to the standard error, where the pool reads it.
    thread.spawn(|| serve(tasks))?.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

fn serve(tasks: &[Task]) -> io::Result<()> {
    let (mut input, mut output) = (BufReader::new(io::stdin()), io::stdout());
    write!(output, "\n{GREETING}\n")?;
    output.flush()?;
    while let Some(Message { head, body }) = message::read(&mut input)? {
        let (assignment, head) = head.split_once('\n').unwrap_or((&head, ""));
        let (name, milliseconds) = assignment.split_once(' ').unwrap_or((assignment, "0"));
        let task = tasks.iter().find(|task| task.name == name).ok_or(io::ErrorKind::Unsupported)?;
        limits::allow_time(Duration::from_millis(milliseconds.parse().unwrap_or(0)))?;
        let mut conversation = Conversation { input: &mut input, output: &mut output };
        let answer = (task.run)(&Message::new(head, body), &mut conversation);
        let is_light = limits::own_bytes().is_some_and(|bytes| bytes <= IDLE_BYTES);
        let kind = if is_light { MessageKind::Done } else { MessageKind::Last };
        message::write(&mut output, kind, &answer)?;
        if kind == MessageKind::Last {
            break;
        }
    }
    Ok(())
}
