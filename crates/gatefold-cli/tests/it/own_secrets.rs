//! Secrets that a source repeats after being given them: none of them leaves the process.

use std::io::{Read as _, Write as _};
use std::path::Path;

use gatefold_testkit::{RAW_TOOL, RawClient, serve_raw};
use serde_json::json;

use crate::process::{Gateway, LIMIT, run};
use crate::scratch::Scratch;

/// The value of `TOKEN` in the environment of every test.
const SECRET: &str = "s3cret";

/// A server in a shell that puts its secret wherever it can.
const SERVER: &str = r#"
while read -r line; do
  id=${line#*'"id":'}; id=${id%%,*}
  is() { printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",%s}}\n' "$id" "$1"; }
  tool() { printf '{"name":"%s","description":"uses %s","inputSchema":{"type":"object"}}' "$1" "$API_TOKEN"; }
  case $line in
    *'"server/discover"'*) is '"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}' ;;
    *'"tools/list"'*) is "\"tools\":[$(tool plain),$(tool failing),$(tool refusing),$(tool dying)]" ;;
    *'"name":"plain"'*) is "\"content\":[{\"type\":\"text\",\"text\":\"key $API_TOKEN\"}],\"structuredContent\":{\"key\":\"$API_TOKEN\"}" ;;
    *'"name":"failing"'*) is "\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"key $API_TOKEN\"}]" ;;
    *'"name":"refusing"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"key %s","data":{"key":"%s"}}}\n' "$id" "$API_TOKEN" "$API_TOKEN" ;;
    *'"name":"dying"'*) echo "error: bad key $API_TOKEN" >&2; exit 1 ;;
  esac
done
"#;

/// Answers every call with the header that it came with, so that the secret is in the answer.
fn telling(status: &'static str) -> String {
    let tell = move |socket: &mut std::net::TcpStream| {
        let mut body = [0; 4096];
        let length = socket.read(&mut body)?;
        let id = String::from_utf8_lossy(&body[..length]);
        let id = id.split_once(r#""id":"#).map_or("", |(_, id)| id);
        let id: String = id.chars().take_while(char::is_ascii_digit).collect();
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"key {SECRET}"}}}}"#
        );
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n");
        socket.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes())
    };
    serve_raw(tell).unwrap()
}

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("server.sh", SERVER);
    let (good, bad) = (telling("200 OK"), telling("500 Internal Server Error"));
    let configuration = format!(
        "[sources.local]\ncommand = 'sh'\nargs = ['server.sh']\nenv = {{ API_TOKEN = '${{TOKEN}}' }}\n\
         [sources.dead]\ncommand = 'sh'\nargs = ['-c', 'echo \"error: bad key $2\" >&2; exit 1', 'x', \
         '--api-key', '${{TOKEN}}']\n\
         [sources.inherits]\ncommand = 'sh'\nargs = ['-c', 'echo \"error: bad key $TOKEN\" >&2; exit 1']\n\
         inherit_env = ['TOKEN']\n\
         [sources.good]\nurl = '{good}'\nheaders = {{ Authorization = 'Bearer ${{TOKEN}}' }}\n\
         [sources.bad]\nurl = '{bad}?api_key=${{TOKEN}}'\n"
    );
    scratch.write("gatefold.toml", configuration);
    scratch
}

/// The files under a folder that contain the secret.
fn files_with_secret(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            files_with_secret(&path, found);
        } else if std::fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()))
        {
            found.push(path.display().to_string());
        }
    }
}

#[tokio::test]
async fn a_secret_of_a_source_stays_within_the_process() {
    let scratch = scratch();
    let mut told = Vec::new();
    for args in [
        &["check"][..],
        &["check", "-v"],
        &["check", "--json"],
        &["doctor", "-v"],
        &["doctor", "--json"],
    ] {
        let ran = run(&scratch, args);
        told.push((args.join(" "), ran.stdout + &ran.stderr));
    }
    let gateway = Gateway::serve(&scratch).await;
    let client = RawClient::new(gateway.url()).unwrap().with_limit(LIMIT);
    let raw = |source: &str| format!("{source}__{RAW_TOOL}");
    let (good, bad) = (raw("good"), raw("bad"));
    for tool in ["local__plain", "local__failing", "local__refusing", "local__dying", &good, &bad] {
        let arguments = json!({"tool_name": tool, "arguments": {}}).to_string();
        let answer = client.call("execute_tool", &arguments).await.unwrap();
        told.push((tool.to_owned(), answer.value().to_string()));
    }
    let answer = client.call("discover_tools", r#"{"query": "plain"}"#).await.unwrap();
    told.push(("discover_tools".to_owned(), answer.value().to_string()));
    let listen = gateway.address();
    let status = run(&scratch, &["status", "--json", "--listen", &listen]);
    told.push(("status".to_owned(), status.stdout));
    gateway.await_log("gatefold::upstream: error: bad key").await;
    told.push(("the log".to_owned(), gateway.log()));
    let masked = told.iter().filter(|(_, text)| text.contains("[redacted]")).count();
    let mut leaks: Vec<_> =
        told.into_iter().filter(|(_, text)| text.contains(SECRET)).map(|(from, _)| from).collect();
    files_with_secret(scratch.path(), &mut leaks);
    assert!(leaks.is_empty(), "it is in {leaks:#?}");
    assert!(masked >= 12, "only {masked} of them say what was left out");
}
