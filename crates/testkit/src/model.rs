//! A model that a test scripts, behind an endpoint that speaks OpenAI's chat completions
//! (`/v1/chat/completions`) and Anthropic's messages (`/v1/messages`).
//!
//! It answers in one piece or in events, as it is asked, and cuts its events wherever the test wants.
//! It has threads of its own, so a test needs no runtime.

mod chat;
mod messages;
mod prompt;
mod validity;

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

pub use prompt::Prompt;
pub use validity::{check_chat, check_messages};

/// The most requests that one model remembers. A test ends long before.
const REQUESTS: usize = 100_000;

/// What a model does next.
#[derive(Debug, Clone)]
pub enum Move {
    Say(String),
    /// Calls functions, with arguments as it writes them.
    Call(Vec<(String, String)>),
    Turn(ModelTurn),
    /// The endpoint answers this status, these headers and this body.
    Fail(&'static str, &'static str, &'static str),
    /// The endpoint never answers.
    Hang,
}

/// An answer in full.
#[derive(Debug, Clone, Default)]
pub struct ModelTurn {
    /// A thought and its signature. Without a signature it goes over OpenAI's wire alone.
    pub thinking: Option<(String, String)>,
    pub text: String,
    /// The names and arguments of calls, as the model writes them.
    pub calls: Vec<(String, String)>,
    pub outcome: TurnOutcome,
    /// How many characters a piece of a text has in events; all of them if 0.
    pub piece_chars: usize,
    /// Whether the pieces of several calls take turns.
    pub interleaves: bool,
    /// How many bytes are sent at a time; each event by itself if 0.
    pub fragment_bytes: usize,
    pub end: StreamEnd,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TurnOutcome {
    #[default]
    Normal,
    /// The text is why the model would not answer.
    Refusal,
    /// It ran out of tokens.
    Length,
    /// There is no message at all; on Anthropic's wire an empty one.
    Nothing,
}

/// How a stream of events ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StreamEnd {
    #[default]
    Whole,
    /// After so many events, as if that were all.
    Cut(usize),
    /// After so many events the connection breaks.
    Broken(usize),
    /// After so many events comes an error, as the wire has it.
    Error(usize),
}

/// Which wire a request came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelWire {
    OpenAiChat,
    Anthropic,
}

/// A running endpoint. It serves until the process ends.
pub struct ScriptedModel {
    address: SocketAddr,
    /// At most [`REQUESTS`].
    seen: Arc<Mutex<Vec<String>>>,
}

type Script = dyn Fn(&Prompt) -> Move + Send + Sync;

impl Move {
    pub fn say(text: &str) -> Self {
        Self::Say(text.to_owned())
    }

    pub fn call(name: &str, arguments: &Value) -> Self {
        Self::Call(vec![(name.to_owned(), arguments.to_string())])
    }
}

impl ScriptedModel {
    /// A model that does what `script` says, in an endpoint that reports 100 tokens each time.
    pub fn start(script: impl Fn(&Prompt) -> Move + Send + Sync + 'static) -> Self {
        Self::reporting(Some(100), script)
    }

    /// The same, in an endpoint that reports so many tokens, or none.
    pub fn reporting(
        usage: Option<u64>,
        script: impl Fn(&Prompt) -> Move + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let (log, script) = (seen.clone(), Arc::<Script>::from(Box::new(script) as Box<Script>));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, script) = (log.clone(), script.clone());
                // It fails when the client leaves early, which some tests want.
                thread::spawn(move || drop(serve(&stream, usage, &log, &*script)));
            }
        });
        Self { address, seen }
    }

    /// The address before `/chat/completions` and `/messages`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far, with their heads.
    pub fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(
    stream: &TcpStream,
    usage: Option<u64>,
    log: &Mutex<Vec<String>>,
    script: &Script,
) -> io::Result<()> {
    let (head, body) = read_request(stream)?;
    let number = {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(log.len() < REQUESTS, "a test asks too often");
        log.push(format!("{head}\n{body}"));
        log.len()
    };
    let path = head.split(' ').nth(1).unwrap_or_default();
    let wire = match path {
        "/v1/chat/completions" => ModelWire::OpenAiChat,
        "/v1/messages" => ModelWire::Anthropic,
        "/v1/models" => {
            let list = json!({ "object": "list", "data": [{ "id": "scripted" }] });
            return answer(stream, "200 OK", "", &list.to_string());
        }
        _ => return answer(stream, "404 Not Found", "", "{}"),
    };
    let Ok(body) = serde_json::from_str(&body) else {
        return answer(stream, "400 Bad Request", "", r#"{"error":{"message":"not JSON"}}"#);
    };
    let prompt = Prompt::new(wire, body);
    let turn = match script(&prompt) {
        Move::Say(text) => ModelTurn { text, ..ModelTurn::default() },
        Move::Call(calls) => ModelTurn { calls, ..ModelTurn::default() },
        Move::Turn(turn) => turn,
        Move::Fail(status, headers, body) => return answer(stream, status, headers, body),
        Move::Hang => loop {
            thread::park();
        },
    };
    let is_streamed = prompt.whole()["stream"] == true;
    match (wire, is_streamed) {
        (ModelWire::OpenAiChat, false) => {
            answer(stream, "200 OK", "", &chat::whole(&turn, number, usage).to_string())
        }
        (ModelWire::Anthropic, false) => {
            answer(stream, "200 OK", "", &messages::whole(&turn, number, usage).to_string())
        }
        (ModelWire::OpenAiChat, true) => {
            send_events(stream, &turn, chat::events(&turn, number, usage), chat::ERROR)
        }
        (ModelWire::Anthropic, true) => {
            send_events(stream, &turn, messages::events(&turn, number, usage), messages::ERROR)
        }
    }
}

fn read_request(stream: &TcpStream) -> io::Result<(String, String)> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        head.push_str(line.trim_end());
        head.push('\n');
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((head, String::from_utf8_lossy(&body).into_owned()))
}

fn answer(mut stream: &TcpStream, status: &str, headers: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}");
    let end = format!("connection: close\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(format!("{head}{end}").as_bytes())?;
    stream.shutdown(Shutdown::Both)
}

/// Sends events as far as the turn wants, in chunks of their own (RFC 9112, section 7.1).
fn send_events(
    mut stream: &TcpStream,
    turn: &ModelTurn,
    mut events: Vec<String>,
    error: &str,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n";
    let end = "connection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(format!("{head}{end}").as_bytes())?;
    match turn.end {
        StreamEnd::Whole => {}
        StreamEnd::Cut(after) | StreamEnd::Broken(after) => events.truncate(after),
        StreamEnd::Error(after) => {
            events.truncate(after);
            events.push(error.to_owned());
        }
    }
    let all = events.concat();
    let parts: Vec<&[u8]> = match turn.fragment_bytes {
        0 => events.iter().map(String::as_bytes).collect(),
        bytes => all.as_bytes().chunks(bytes).collect(),
    };
    for part in parts {
        let mut chunk = format!("{:x}\r\n", part.len()).into_bytes();
        chunk.extend_from_slice(part);
        chunk.extend_from_slice(b"\r\n");
        stream.write_all(&chunk)?;
    }
    if !matches!(turn.end, StreamEnd::Broken(_)) {
        stream.write_all(b"0\r\n\r\n")?;
    }
    stream.shutdown(Shutdown::Both)
}

/// A text in the pieces that a turn wants.
fn pieces(text: &str, chars: usize) -> Vec<String> {
    if chars == 0 || text.is_empty() {
        return vec![text.to_owned()];
    }
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(chars).map(|piece| piece.iter().collect()).collect()
}

/// The pieces of the calls' arguments, each with the number of its call, in the order of sending.
fn argument_pieces(turn: &ModelTurn) -> Vec<(usize, String)> {
    let calls = turn.calls.iter().enumerate();
    let of_call = |(call, (_, arguments)): (usize, &(String, String))| {
        let pieces = pieces(arguments, turn.piece_chars).into_iter();
        pieces.enumerate().map(move |(at, piece)| (at, call, piece)).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = calls.flat_map(of_call).collect();
    if turn.interleaves {
        all.sort_by_key(|(at, call, _)| (*at, *call));
    }
    all.into_iter().map(|(_, call, piece)| (call, piece)).collect()
}
