//! Interim answers: heads with a status below 200, which a server may send before its answer (RFC
//! 9110, section 15.2). The HTTP library skips any number of them, as many as it can read in one
//! go, and nothing else runs on its thread while it does.

use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{fmt, io};

use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

/// The most bytes of interim answers before one answer.
const INTERIM_BYTES: usize = 64 * 1024;
/// How much is read at once before an answer has begun.
const HEAD_BYTES: usize = 8 * 1024;
/// How an interim answer begins. The version's last digit and the last two digits of its status
/// vary.
const INTERIM: &[u8; 10] = b"HTTP/1.? 1";
/// The only such status that is a final answer: the connection switches to another protocol.
const SWITCHED: &[u8; 3] = b"101";

/// A connection that breaks when its server sends interim answers without end.
#[derive(Debug)]
pub(crate) struct BoundedStream<T> {
    stream: T,
    heads: AnswerHeads,
}

/// A server sent too many interim answers.
#[derive(Debug)]
pub(crate) struct EndlessInterim;

impl fmt::Display for EndlessInterim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it sent more than {INTERIM_BYTES} bytes of interim answers (1xx) and no other")
    }
}

impl std::error::Error for EndlessInterim {}

impl<T> BoundedStream<T> {
    pub(crate) fn new(stream: T) -> Self {
        Self { stream, heads: AnswerHeads::default() }
    }
}

impl<T: Read + Unpin> Read for BoundedStream<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, heads } = self.get_mut();
        if heads.has_answer {
            return Pin::new(stream).poll_read(cx, into);
        }
        let mut room = [MaybeUninit::uninit(); HEAD_BYTES];
        let size = room.len().min(into.remaining());
        let mut read = ReadBuf::uninit(&mut room[..size]);
        ready!(Pin::new(stream).poll_read(cx, read.unfilled()))?;
        heads.take(read.filled()).map_err(io::Error::other)?;
        into.put_slice(read.filled());
        Poll::Ready(Ok(()))
    }
}

impl<T: Write + Unpin> Write for BoundedStream<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.heads.expect_answer();
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.heads.expect_answer();
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<T: Connection> Connection for BoundedStream<T> {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}

/// Finds out where an answer begins.
#[derive(Debug, Default)]
struct AnswerHeads {
    /// Whether the answer to the last request has begun.
    has_answer: bool,
    /// The beginning of the current head, without the line breaks before it.
    start: Vec<u8>,
    /// The number of consecutive line breaks at the end of what was read.
    breaks: usize,
    /// The bytes read since a request was written.
    bytes: usize,
}

impl AnswerHeads {
    fn expect_answer(&mut self) {
        if self.has_answer {
            *self = Self::default();
        }
    }

    /// Examines bytes that were read.
    fn take(&mut self, bytes: &[u8]) -> Result<(), EndlessInterim> {
        for byte in bytes {
            if self.has_answer {
                return Ok(());
            }
            self.take_one(*byte);
        }
        self.bytes += bytes.len();
        if !self.has_answer && self.bytes > INTERIM_BYTES {
            return Err(EndlessInterim);
        }
        Ok(())
    }

    fn take_one(&mut self, byte: u8) {
        if self.start.len() < INTERIM.len() + 2 {
            if !self.start.is_empty() || !matches!(byte, b'\r' | b'\n') {
                self.start.push(byte);
            }
            self.has_answer = !may_be_interim(&self.start);
            return;
        }
        match byte {
            b'\n' => self.breaks += 1,
            b'\r' => {}
            _ => self.breaks = 0,
        }
        if self.breaks == 2 {
            self.start.clear();
            self.breaks = 0;
        }
    }
}

/// Whether a head with this beginning may be that of an interim answer.
fn may_be_interim(start: &[u8]) -> bool {
    let fits = |(byte, expected): (&u8, &u8)| *expected == b'?' || byte == expected;
    start.iter().zip(INTERIM).all(fits) && !start.ends_with(SWITCHED)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLY: &str = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";

    /// Whether an answer begins in the text, wherever it is split.
    #[track_caller]
    fn check(text: &str, expected: bool) {
        for size in 1..=text.len() {
            let mut heads = AnswerHeads::default();
            for part in text.as_bytes().chunks(size) {
                heads.take(part).unwrap();
            }
            assert_eq!(heads.has_answer, expected, "{text:?} in pieces of {size}");
        }
    }

    #[test]
    fn an_answer_is_told_from_what_comes_before_it() {
        check("HTTP/1.1 200 OK\r\n", true);
        check("HTTP/1.0 404 Not Found\r\n", true);
        check("HTTP/1.1 101 Switching Protocols\r\n\r\n", true);
        check("HTTP/1.1 ", false);
        check("HTTP/1.1 100 Continue\r\n\r\n", false);
        check("\r\nHTTP/1.1 100 Continue\n\n", false);
        check(EARLY, false);
        check(&format!("{EARLY}{EARLY}HTTP/1.1 200 OK\r\n\r\n"), true);
        check("HTTP/1.1 103 HTTP/1.1 200 OK\r\nx: HTTP/1.1 200 OK\r\n", false);
        check("no HTTP at all", true);
    }

    #[test]
    fn interim_answers_have_a_limit_for_each_answer() {
        let many = EARLY.repeat(INTERIM_BYTES / EARLY.len());
        let mut heads = AnswerHeads::default();
        heads.take(many.as_bytes()).unwrap();
        heads.take(EARLY.as_bytes()).unwrap_err();
        let mut heads = AnswerHeads::default();
        for _ in 0..2 {
            heads.take(many.as_bytes()).unwrap();
            heads.take(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            heads.take(&b" ".repeat(2 * INTERIM_BYTES)).unwrap();
            heads.expect_answer();
        }
    }
}
