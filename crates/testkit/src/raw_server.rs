//! A server over HTTP with one tool, whose calls a test answers byte by byte, or not at all.
//!
//! It speaks the stateless era. It has threads of its own, so that a gateway that is kept busy in the
//! same process does not slow it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

use crate::Error;

/// The only tool.
pub const RAW_TOOL: &str = "raw";

/// Serves until the process ends and gives the address. `call` gets the socket of each call once the
/// head of its request was read; the body is still to come. The connection is closed when it returns.
pub fn serve_raw(
    call: impl Fn(&mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
) -> Result<String, Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::io("listening"))?;
    let address = listener.local_addr().map_err(Error::io("listening"))?;
    let call = Arc::new(call);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let call = call.clone();
            // It fails when the gateway closes the connection, which is how a call ends here.
            thread::spawn(move || drop(serve_connection(stream, &*call)));
        }
    });
    Ok(format!("http://{address}/mcp"))
}

fn serve_connection(
    mut stream: TcpStream,
    call: &dyn Fn(&mut TcpStream) -> io::Result<()>,
) -> io::Result<()> {
    // Small, so that it holds nothing of a body that the test is to read.
    let mut reader = BufReader::with_capacity(1, stream.try_clone()?);
    loop {
        let head = head(&mut reader)?;
        if head.is_call {
            return call(&mut stream);
        }
        let mut body = vec![0; head.length];
        reader.read_exact(&mut body)?;
        let message: Value = serde_json::from_slice(&body)?;
        let body = answer(&message).to_string();
        let length = body.len();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        stream.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes())?;
    }
}

struct Head {
    length: usize,
    is_call: bool,
}

fn head(reader: &mut impl BufRead) -> io::Result<Head> {
    let mut head = Head { length: 0, is_call: false };
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            return Ok(head);
        }
        if let Some(length) = line.strip_prefix("content-length: ") {
            head.length = length.parse().map_err(io::Error::other)?;
        }
        head.is_call |= line == "mcp-method: tools/call";
    }
}

fn answer(message: &Value) -> Value {
    let mut result = match message["method"].as_str() {
        Some("server/discover") => {
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        }
        _ => json!({"tools": [{"name": RAW_TOOL, "inputSchema": {"type": "object"}}]}),
    };
    result["resultType"] = "complete".into();
    result["ttlMs"] = 0.into();
    result["cacheScope"] = "private".into();
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
}
