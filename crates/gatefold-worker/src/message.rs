//! What goes through a worker's pipes: a kind, a short head and a long body.

use std::io::{self, Read, Write};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The line that a worker begins with. What a test harness prints comes before it.
pub(crate) const GREETING: &str = "gatefold-worker 1";

/// The longest head, in bytes.
const MAX_HEAD: u64 = 8 << 20;

/// The kind, and the lengths of head and body.
const HEADER_BYTES: usize = 17;

/// What one side tells the other. What head and body hold is between the task and who asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    pub head: String,
    pub body: Vec<u8>,
}

impl Message {
    pub fn new(head: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self { head: head.into(), body: body.into() }
    }
}

/// What a message is in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum MessageKind {
    /// From either side: more follows.
    Part = 1,
    /// The last answer; the worker takes another job.
    Done = 2,
    /// The last answer; the worker ends.
    Last = 3,
}

struct Header {
    kind: MessageKind,
    head: u64,
    body: u64,
}

impl Header {
    fn new(kind: MessageKind, head: &str, body: &[u8]) -> Self {
        Self { kind, head: head.len() as u64, body: body.len() as u64 }
    }

    fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [self.kind as u8; HEADER_BYTES];
        bytes[1..9].copy_from_slice(&self.head.to_le_bytes());
        bytes[9..].copy_from_slice(&self.body.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: [u8; HEADER_BYTES], max_body: u64) -> io::Result<Self> {
        let kind = match bytes[0] {
            1 => MessageKind::Part,
            2 => MessageKind::Done,
            3 => MessageKind::Last,
            _ => return Err(malformed()),
        };
        let length = |at: usize| {
            let mut length = [0; 8];
            length.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(length)
        };
        let header = Self { kind, head: length(1), body: length(9) };
        if header.head > MAX_HEAD || header.body > max_body {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        Ok(header)
    }
}

fn malformed() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| malformed())
}

fn buffer(length: u64) -> Vec<u8> {
    vec![0; usize::try_from(length).unwrap_or(usize::MAX)]
}

pub(crate) async fn send(
    to: &mut (impl AsyncWrite + Unpin),
    kind: MessageKind,
    head: &str,
    body: &[u8],
) -> io::Result<()> {
    to.write_all(&Header::new(kind, head, body).to_bytes()).await?;
    to.write_all(head.as_bytes()).await?;
    to.write_all(body).await?;
    to.flush().await
}

/// A body that is longer than `max_body` is an error of the kind `FileTooLarge`.
pub(crate) async fn receive(
    from: &mut (impl AsyncRead + Unpin),
    max_body: u64,
) -> io::Result<(MessageKind, Message)> {
    let mut header = [0; HEADER_BYTES];
    from.read_exact(&mut header).await?;
    let header = Header::from_bytes(header, max_body)?;
    let (mut head, mut body) = (buffer(header.head), buffer(header.body));
    from.read_exact(&mut head).await?;
    from.read_exact(&mut body).await?;
    Ok((header.kind, Message { head: text(head)?, body }))
}

pub(crate) fn write(to: &mut impl Write, kind: MessageKind, message: &Message) -> io::Result<()> {
    to.write_all(&Header::new(kind, &message.head, &message.body).to_bytes())?;
    to.write_all(message.head.as_bytes())?;
    to.write_all(&message.body)?;
    to.flush()
}

/// `None` at the end of the stream.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Message>> {
    let mut header = [0; HEADER_BYTES];
    match from.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    // Whoever started this process decides what it is given.
    let header = Header::from_bytes(header, u64::MAX)?;
    let (mut head, mut body) = (buffer(header.head), buffer(header.body));
    from.read_exact(&mut head)?;
    from.read_exact(&mut body)?;
    Ok(Some(Message { head: text(head)?, body }))
}
