//! An HTTP server that answers exactly what a test says, byte by byte.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A request as it came.
pub(crate) struct RawRequest {
    /// The path and the query.
    pub(crate) target: String,
    /// The whole head, line by line.
    pub(crate) lines: Vec<String>,
    pub(crate) body: String,
}

impl RawRequest {
    fn read(socket: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(socket);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let length = lines.iter().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body).ok()?;
        let target = lines[0].split(' ').nth(1)?.to_owned();
        Some(Self { target, lines, body: String::from_utf8_lossy(&body).into_owned() })
    }

    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        format!("{}\n\n{}", self.lines.join("\n"), self.body)
    }
}

/// A running server.
pub(crate) struct RawApi {
    pub(crate) port: u16,
    arrived: Arc<AtomicUsize>,
}

impl RawApi {
    /// Serves each connection with one answer, a whole one with its head. None leaves it open forever.
    pub(crate) fn start(
        answer: impl Fn(&RawRequest) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (answer, arrived) = (Arc::new(answer), Arc::<AtomicUsize>::default());
        let counter = arrived.clone();
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for socket in listener.incoming().map_while(Result::ok) {
                open.push(socket.try_clone());
                let (answer, counter) = (answer.clone(), counter.clone());
                std::thread::spawn(move || {
                    let request = RawRequest::read(&socket)?;
                    counter.fetch_add(1, Ordering::SeqCst);
                    let answered = answer(&request)?;
                    // A client may leave before it has read everything.
                    let _ = (&socket).write_all(&answered);
                    socket.shutdown(std::net::Shutdown::Both).ok()
                });
            }
        });
        Self { port, arrived }
    }

    /// How many requests came since this was last asked.
    pub(crate) fn take(&self) -> usize {
        self.arrived.swap(0, Ordering::SeqCst)
    }
}

/// An answer with its length.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}
