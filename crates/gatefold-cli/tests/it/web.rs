//! A plain HTTP client, which shows what a gateway answers as it comes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::process::{Gateway, LIMIT};

/// A client of one gateway, with headers for each of its requests.
pub(crate) struct Web {
    address: String,
    headers: String,
}

/// An answer whose body is still to be read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In small letters, line by line.
    pub(crate) head: String,
    body: BufReader<TcpStream>,
}

/// One of the events of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SentEvent {
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: String,
}

impl Web {
    pub(crate) fn new(gateway: &Gateway) -> Self {
        Self { address: gateway.address(), headers: String::new() }
    }

    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let headers = format!("{}{name}: {value}\r\n", self.headers);
        Self { address: self.address.clone(), headers }
    }

    pub(crate) fn bearer(&self, token: &str) -> Self {
        self.with("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "", "")
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, "", "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, "content-type: application/json\r\n", &body.to_string())
    }

    /// Posts something and leaves without an answer, once it is time.
    pub(crate) fn leave_after(&self, path: &str, body: &Value, is_time: impl Fn() -> bool) {
        let stream =
            self.write("POST", path, "content-type: application/json\r\n", &body.to_string());
        let by = Instant::now() + LIMIT;
        while !is_time() {
            assert!(Instant::now() < by, "it is never time to leave");
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(stream);
    }

    /// Sends a request of HTTP/1.0, whose answer comes without chunks.
    pub(crate) fn send(&self, method: &str, path: &str, more: &str, body: &str) -> Answer {
        let mut body = BufReader::new(self.write(method, path, more, body));
        let mut head = String::new();
        loop {
            let mut line = String::new();
            body.read_line(&mut line).unwrap();
            if line.trim_end().is_empty() {
                break;
            }
            head.push_str(&line.to_lowercase());
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head, body }
    }

    fn write(&self, method: &str, path: &str, more: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let host = if self.headers.contains("host: ") { "" } else { "host: localhost\r\n" };
        let (own, length) = (&self.headers, body.len());
        let head = format!(
            "{method} {path} HTTP/1.0\r\n{host}{own}{more}content-length: {length}\r\n\r\n"
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        stream
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    pub(crate) fn text(mut self) -> String {
        let mut text = String::new();
        self.body.read_to_string(&mut text).unwrap();
        text
    }

    /// The body, of an answer with this status.
    #[track_caller]
    pub(crate) fn json(self, status: u16) -> Value {
        let (head, own) = (self.head.clone(), self.status);
        let text = self.text();
        assert_eq!(own, status, "{head}{text}");
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {head}{text}"))
    }

    /// The next event of a stream; none at its end.
    pub(crate) fn next(&mut self) -> Option<SentEvent> {
        let mut event = SentEvent::default();
        loop {
            let mut line = String::new();
            if self.body.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end();
            match line.split_once(": ") {
                Some(("id", id)) => event.id = Some(id.parse().unwrap()),
                Some(("event", name)) => name.clone_into(&mut event.name),
                Some(("data", data)) => event.data.push_str(data),
                _ if line.is_empty() && event != SentEvent::default() => return Some(event),
                _ => {}
            }
        }
    }

    /// The events to the end of the stream.
    pub(crate) fn rest(&mut self) -> Vec<SentEvent> {
        std::iter::from_fn(|| self.next()).collect()
    }
}

impl SentEvent {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }
}
