//! Server-sent events (WHATWG HTML, section 9.2), decoded from bytes as they come.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// Empty if the server names none.
    pub name: String,
    pub data: String,
}

/// An event has more bytes than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event has more bytes than the limit: {limit}")]
pub struct EventTooLarge {
    pub limit: usize,
}

/// Decodes events from bytes that may be cut anywhere.
#[derive(Debug)]
pub struct SseDecoder {
    /// The most bytes of one event.
    limit: usize,
    /// The line that has no end yet.
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// Whether a line feed still belongs to the line before.
    after_return: bool,
    is_first_line: bool,
}

impl SseDecoder {
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            after_return: false,
            is_first_line: true,
        }
    }

    /// Takes in more bytes, and adds the events that they complete.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), EventTooLarge> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + self.event.data.len() + part.len() > self.limit {
                return Err(EventTooLarge { limit: self.limit });
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { return Ok(()) };
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.end_line(events);
        }
        Ok(())
    }

    /// The last event, if the bytes ended without the empty line after it.
    pub fn finish(mut self) -> Option<SseEvent> {
        let mut events = Vec::new();
        self.end_line(&mut events);
        self.end_event(&mut events);
        events.pop()
    }

    fn end_line(&mut self, events: &mut Vec<SseEvent>) {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let is_first = std::mem::take(&mut self.is_first_line);
        let line = line.strip_prefix('\u{feff}').filter(|_| is_first).unwrap_or(&line);
        if line.is_empty() {
            return self.end_event(events);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            _ => {}
        }
    }

    fn end_event(&mut self, events: &mut Vec<SseEvent>) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            events.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(parts: &[&[u8]]) -> Vec<(String, String)> {
        let (mut decoder, mut events) = (SseDecoder::new(1024), Vec::new());
        for part in parts {
            decoder.push(part, &mut events).unwrap();
        }
        events.extend(decoder.finish());
        events.into_iter().map(|event| (event.name, event.data)).collect()
    }

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        let text = "\u{feff}: hello\r\nevent: a\r\ndata: é\r\ndata:two\r\n\r\ndata\n\nid: 7\n\revent: \
                    lost\n\ndata: 漢字\r\rdata: last";
        let bytes = text.as_bytes();
        let expected = [("a", "é\ntwo"), ("", ""), ("", "漢字"), ("", "last")];
        let expected = expected.map(|(name, data)| (name.to_owned(), data.to_owned()));
        assert_eq!(decode(&[bytes]), expected);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let parts = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(decode(&parts), expected, "{first} {second}");
            }
        }
        let single: Vec<_> = bytes.chunks(1).collect();
        assert_eq!(decode(&single), expected);
    }

    #[test]
    fn an_event_has_a_limit_and_a_stream_has_none() {
        let mut decoder = SseDecoder::new(16);
        let mut events = Vec::new();
        for _ in 0..100 {
            decoder.push(b"data: 0123\n\n", &mut events).unwrap();
        }
        assert_eq!(events.len(), 100);
        let refused = (0..100).find_map(|_| decoder.push(b"data: 0123\n", &mut events).err());
        assert_eq!(refused, Some(EventTooLarge { limit: 16 }));
        let mut decoder = SseDecoder::new(16);
        assert!((0..100).any(|_| decoder.push(b"data", &mut events).is_err()));
    }
}
