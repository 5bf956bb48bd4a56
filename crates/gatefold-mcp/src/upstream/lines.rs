//! Lines of bounded length from a stream that may send anything.

use std::future::ready;

use gatefold_dispatch::ResultRoom;
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

use super::message::own_number;

/// One line, or what is known of one that was too long to keep.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Without its line end.
    Whole(Vec<u8>),
    /// Its length, and the message's id as JSON, if one was found.
    TooLong { bytes: u64, id: Option<String> },
}

/// The length from which a line has to be admitted, in bytes.
const LARGE_LINE: usize = ResultRoom::SMALL;

/// Reads lines, keeping at most `limit` bytes of each. The rest of a longer line is read and thrown
/// away, to find the next one.
pub(crate) struct Lines<R> {
    reader: R,
    limit: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self { reader, limit }
    }

    /// The next line, or `None` when the stream ends or fails.
    pub(crate) async fn next(&mut self) -> Option<Line> {
        self.next_admitted(|_| ready(())).await
    }

    /// The same, where a line that turns out to be large waits for `admit` before more of it is
    /// read. It is asked once a line, with what was read so far.
    pub(crate) async fn next_admitted<F: Future<Output = ()>>(
        &mut self,
        admit: impl Fn(&[u8]) -> F,
    ) -> Option<Line> {
        let mut line = Vec::new();
        let mut dropped: Option<LineScan> = None;
        loop {
            let chunk = self.reader.fill_buf().await.ok()?;
            if chunk.is_empty() {
                return None;
            }
            let end = chunk.iter().position(|&b| b == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let used = part.len() + usize::from(end.is_some());
            match &mut dropped {
                Some(dropped) => dropped.scan(part),
                None if line.len() + part.len() > self.limit => {
                    let mut started = LineScan::default();
                    started.scan(&line);
                    started.scan(part);
                    (line, dropped) = (Vec::new(), Some(started));
                }
                None => line.extend_from_slice(part),
            }
            let is_whole = end.is_some();
            let was_small = line.len().saturating_sub(part.len()) <= LARGE_LINE;
            self.reader.consume(used);
            if was_small && line.len() > LARGE_LINE {
                admit(&line).await;
            }
            if is_whole {
                return Some(match dropped {
                    Some(dropped) => Line::TooLong { bytes: dropped.bytes, id: dropped.id() },
                    None => Line::Whole(line),
                });
            }
        }
    }
}

/// The id of our request that a line answers, if the line can be followed that far.
pub(crate) fn id_of(line: &[u8]) -> Option<u64> {
    let mut read = LineScan::default();
    read.scan(line);
    own_number(&read.id()?)
}

/// The longest id that is read, in bytes.
const ID_BYTES: usize = 128;

/// Follows a JSON object just closely enough to find the value of its own `"id"` key.
#[derive(Default)]
struct LineScan {
    bytes: u64,
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// The last string at the object's own level, as far as it matters for comparing with `id`.
    key: Vec<u8>,
    state: IdSearch,
    id: Vec<u8>,
}

#[derive(Default, PartialEq, Eq)]
enum IdSearch {
    #[default]
    Key,
    Value,
    Found,
}

impl LineScan {
    fn scan(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        for &byte in part {
            if self.state == IdSearch::Found {
                return;
            }
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        let is_of_id = self.state == IdSearch::Value && self.id.len() < ID_BYTES;
        if is_of_id && (self.in_string || !matches!(byte, b',' | b'}' | b']')) {
            self.id.push(byte);
        }
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ if self.depth == 1 && self.key.len() < 3 => self.key.push(byte),
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.key.clear();
            }
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 && self.key == b"id" => self.state = IdSearch::Value,
            b',' => self.end_value(),
            _ => {}
        }
    }

    fn end_value(&mut self) {
        if self.state == IdSearch::Value {
            self.state = IdSearch::Found;
        }
    }

    fn id(&self) -> Option<String> {
        let id = std::str::from_utf8(&self.id).ok()?.trim();
        let is_one = id.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit());
        let is_whole = self.id.len() < ID_BYTES && serde_json::from_str::<IgnoredAny>(id).is_ok();
        (is_one && is_whole).then(|| id.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &str, limit: usize) -> Vec<Line> {
        // A tiny buffer, so that every boundary falls somewhere inside a line.
        let reader = tokio::io::BufReader::with_capacity(3, text.as_bytes());
        let mut lines = Lines::new(reader, limit);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await {
            all.push(line);
        }
        all
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn lines_within_the_limit_are_whole() {
        assert_eq!(lines("a\n\nbcd\nrest", 3).await, [whole("a"), whole(""), whole("bcd")]);
    }

    #[tokio::test]
    async fn a_line_too_long_is_counted_and_the_next_one_found() {
        for (text, found) in [
            (r#"{"jsonrpc":"2.0","id":75,"result":{"id":7}}"#, Some("75")),
            (r#"{"result":{"id":7,"a":["id",{}]}, "id" : 75 }"#, Some("75")),
            (r#"{"result":"\"id\":9","x":"id","id":75}"#, Some("75")),
            (r#"{"id":"a\"b,c","method":"ping"}"#, Some(r#""a\"b,c""#)),
            (r#"{"nested":{"id":75},"more":"text"}"#, None),
            (r#"{"id":{"id":75},"more":"text"}"#, None),
            (r#"{"id":null,"more":"text"}"#, None),
            (&format!(r#"{{"id":"{}","more":"text"}}"#, "x".repeat(ID_BYTES)), None),
            (&"x".repeat(100), None),
        ] {
            let bytes = text.len() as u64;
            let read = lines(&format!("{text}\nnext\n"), 8).await;
            let id = found.map(str::to_owned);
            assert_eq!(read, [Line::TooLong { bytes, id }, whole("next")], "{text}");
        }
    }

    #[test]
    fn only_an_id_of_ours_is_a_request_of_ours() {
        assert_eq!(id_of(br#"{"id":100000005,"result":NaN}"#), Some(100_000_005));
        assert_eq!(id_of(br#"{"id":12,"result":NaN}"#), None);
    }
}
