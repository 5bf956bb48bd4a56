//! Lines of bounded length from a stream that may send anything.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

use super::message::FIRST_OWN_ID;

/// One line, or what is known of one that was too long to keep.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Without its line end.
    Whole(Vec<u8>),
    /// The line's length, and the id of the request it answers, if it shows one.
    TooLong { bytes: u64, id: Option<u64> },
}

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
            self.reader.consume(used);
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
    read.id()
}

/// Follows a JSON object just closely enough to catch the number behind its own `"id"` key.
#[derive(Default)]
struct LineScan {
    bytes: u64,
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// The last string at the object's own level, as far as it matters for comparing with `id`.
    key: Vec<u8>,
    state: IdSearch,
    digits: String,
}

#[derive(Default, PartialEq, Eq)]
enum IdSearch {
    #[default]
    Key,
    Number,
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
                self.end_number();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 && self.key == b"id" => self.state = IdSearch::Number,
            b',' => self.end_number(),
            b'0'..=b'9' if self.state == IdSearch::Number && self.digits.len() < 20 => {
                self.digits.push(char::from(byte));
            }
            _ => {}
        }
    }

    fn end_number(&mut self) {
        if self.state == IdSearch::Number {
            self.state = IdSearch::Found;
        }
    }

    fn id(&self) -> Option<u64> {
        self.digits.parse().ok().filter(|id| *id >= FIRST_OWN_ID)
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
        let id = FIRST_OWN_ID + 5;
        for (text, found) in [
            (format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"id":7}}}}"#), Some(id)),
            (format!(r#"{{"result":{{"id":7,"a":["id",{{}}]}}, "id" : {id} }}"#), Some(id)),
            (format!(r#"{{"result":"\"id\":9","x":"id","id":{id}}}"#), Some(id)),
            (r#"{"id":12,"result":"somewhat longer than that"}"#.to_owned(), None),
            (format!(r#"{{"nested":{{"id":{id}}},"more":"text"}}"#), None),
            ("x".repeat(100), None),
        ] {
            let bytes = text.len() as u64;
            let read = lines(&format!("{text}\nnext\n"), 8).await;
            assert_eq!(read, [Line::TooLong { bytes, id: found }, whole("next")], "{text}");
        }
    }
}
