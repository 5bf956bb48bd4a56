//! Credentials of sources that clients send themselves (`credentials = "client"`).

use std::sync::{Arc, Mutex};

use gatefold_testkit::RawClient;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::access_tokens::{call, everything};
use crate::process::{Gateway, LIMIT, Run, run};
use crate::raw_api::{RawApi, RawRequest, answer};
use crate::scratch::Scratch;

const HEADER: &str = "x-gatefold-tickets";

/// What came to a server: each request whole.
pub(crate) type Seen = Arc<Mutex<Vec<String>>>;

pub(crate) fn header<'a>(request: &'a RawRequest, name: &str) -> Option<&'a str> {
    request.lines.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// A server that wants a token which says that it is planted.
fn tickets() -> (RawApi, Seen) {
    server_of(|token| token.starts_with("planted-").then(|| token.replace('-', "_")))
}

/// A server that wants a token. It lists `echo`, `whole` and a tool that is named after whose the token
/// is, and repeats the token in what it says.
pub(crate) fn server_of(
    whose: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> (RawApi, Seen) {
    let seen = Seen::default();
    let noted = seen.clone();
    let api = RawApi::start(move |request| {
        noted.lock().unwrap().push(request.text());
        let token = header(request, "authorization").and_then(|own| own.split(' ').nth(1));
        let Some((token, own)) = token.and_then(|token| Some((token, whose(token)?))) else {
            return Some(answer("401 Unauthorized", "www-authenticate: Bearer\r\n", ""));
        };
        let asked: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let result = match asked["method"].as_str().unwrap_or_default() {
            "server/discover" => {
                json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
            }
            "tools/list" => {
                let names = ["echo", "whole", own.as_str()];
                let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
                json!({"tools": names.map(tool)})
            }
            "tools/call" if asked["params"]["name"] == "whole" => {
                let rows: Vec<_> = (0..5_000).map(|n| json!({"row": n})).collect();
                json!({"content": [{"type": "text", "text": json!(rows).to_string()}]})
            }
            "tools/call" => {
                let text = format!("it said {token}");
                json!({"content": [{"type": "text", "text": text}]})
            }
            _ => return Some(answer("405 Method Not Allowed", "", "")),
        };
        let body = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string();
        Some(answer("200 OK", "content-type: application/json\r\n", &body))
    });
    (api, seen)
}

fn configured(tickets: &RawApi, further: &str) -> Scratch {
    let scratch = Scratch::new();
    let source = format!(
        "[sources.tickets]\nurl = 'http://127.0.0.1:{}/mcp'\ncredentials = 'client'\n{further}\n",
        tickets.port
    );
    scratch.write("gatefold.toml", source);
    scratch
}

fn client(gateway: &Gateway, path: &str, credential: &str) -> RawClient {
    let client = RawClient::new(format!("{}{path}", gateway.url())).unwrap().with_limit(LIMIT);
    if credential.is_empty() { client } else { client.with_header(HEADER, credential) }
}

async fn names(client: &RawClient) -> Vec<String> {
    client.list().await.unwrap().tool_names()
}

async fn knows(gateway: &Gateway, credential: &str, tool: &str) {
    let own = client(gateway, "?disclosure=flat", credential);
    let deadline = tokio::time::Instant::now() + LIMIT;
    while !names(&own).await.contains(&tool.to_owned()) {
        assert!(tokio::time::Instant::now() < deadline, "{tool} is not listed");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_client_sees_and_calls_with_the_credential_that_it_sends() {
    let (tickets, seen) = tickets();
    let gateway = Gateway::serve(&configured(&tickets, "")).await;
    let (ann, bob) = ("planted-ann", "Token planted-bob");
    knows(&gateway, ann, "tickets__planted_ann").await;
    knows(&gateway, bob, "tickets__planted_bob").await;
    for (own, other) in [(ann, "tickets__planted_bob"), (bob, "tickets__planted_ann")] {
        assert!(
            !names(&client(&gateway, "?disclosure=flat", own)).await.contains(&other.to_owned())
        );
        let told = call(&client(&gateway, "", own), other, json!({})).await;
        assert!(told.contains("\"error\"") && !told.contains("it said"), "{told}");
    }
    seen.lock().unwrap().clear();
    for own in [ann, bob, ann] {
        let told = call(&client(&gateway, "", own), "tickets__echo", json!({})).await;
        assert!(told.contains("it said [redacted]"), "what the client sent is masked: {told}");
    }
    let carried: Vec<_> = seen
        .lock()
        .unwrap()
        .iter()
        .map(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("authorization: "));
            line.unwrap().to_owned()
        })
        .collect();
    assert_eq!(carried, ["Bearer planted-ann", "Token planted-bob", "Bearer planted-ann"]);
    let told = call(&client(&gateway, "", ""), "tickets__echo", json!({})).await;
    assert!(
        told.contains("which the client has to send in the header `x-gatefold-tickets`"),
        "{told}"
    );
    let told = call(&client(&gateway, "", "stale"), "tickets__echo", json!({})).await;
    assert!(told.contains("does not accept the credential"), "{told}");
    let told = call(&client(&gateway, "", ann), "tickets__echo", json!({})).await;
    assert!(told.contains("it said"), "the others' failures are their own: {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_and_a_result_belong_to_the_credential_that_began_them() {
    let (tickets, _) = tickets();
    let scratch = configured(&tickets, "[limits]\nresult_preview = 200");
    let gateway = Gateway::serve(&scratch).await;
    knows(&gateway, "planted-ann", "tickets__whole").await;
    let mut ann = client(&gateway, "", "planted-ann");
    ann.initialize().await.unwrap();
    let session = ann.session().unwrap().to_owned();
    let mut headers = HeaderMap::new();
    headers.insert("mcp-session-id", HeaderValue::from_str(&session).unwrap());
    headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));
    let ping = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
    for (credential, status) in [("planted-ann", 200), ("planted-bob", 404), ("", 404)] {
        let reply = client(&gateway, "", credential).post_raw(ping, headers.clone()).await.unwrap();
        assert_eq!(reply.status, status, "{credential}: {}", reply.body);
    }
    let kept = call(&client(&gateway, "", "planted-ann"), "tickets__whole", json!({})).await;
    let handle = kept.split("\"handle\":\"").nth(1).and_then(|rest| rest.split('"').next());
    let read = json!({"handle": handle.unwrap(), "path": "[17]"});
    for (credential, is_own) in [("planted-ann", true), ("planted-bob", false), ("", false)] {
        let client = client(&gateway, "", credential);
        let asked = json!({"tool_name": "results__read_result", "arguments": read.clone()});
        let told = client.call("execute_tool", &asked.to_string()).await.unwrap().response;
        assert_eq!(told.contains("17"), is_own, "{credential}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_goes_in_its_header_to_its_source_alone_and_shows_up_nowhere() {
    let (tickets, _) = tickets();
    let seen = Seen::default();
    let noted = seen.clone();
    let api = RawApi::start(move |request| {
        noted.lock().unwrap().push(request.text());
        let key = header(request, "x-api-key").unwrap_or("nobody");
        let body = json!({"key": key}).to_string();
        Some(answer("200 OK", "content-type: application/json\r\n", &body))
    });
    let actions = "actions = [{ name = 'look', method = 'GET', path = '/look' }]";
    let base = format!("base_url = 'http://127.0.0.1:{}'\n{actions}\n", api.port);
    let further = format!(
        "[sources.crm]\n\
         credentials = {{ client_header = 'X-Crm-Key', upstream_header = 'X-Api-Key' }}\n\
         {base}[sources.other]\n{base}"
    );
    let scratch = configured(&tickets, &further);
    let mut command =
        crate::process::command(&scratch, &["serve", "--listen", "127.0.0.1:0", "--log", "trace"]);
    command.env("RUST_LOG", "trace");
    let mut gateway = Gateway::of(command);
    gateway.await_log("listening").await;
    let both = || client(&gateway, "", "planted-ann").with_header("x-crm-key", "planted-key");
    for tool in ["crm__look", "other__look", "tickets__echo"] {
        call(&both(), tool, json!({})).await;
    }
    let told = call(&client(&gateway, "", ""), "crm__look", json!({})).await;
    assert!(told.contains("send in the header `x-crm-key`"), "{told}");
    for wrong in [&["planted-twice", "planted-twice"][..], &[""], &[&"planted-long".repeat(1000)]] {
        let wrong = wrong.iter();
        let client =
            wrong.fold(client(&gateway, "", ""), |own, value| own.with_header(HEADER, value));
        let reply = client.post_raw("{}", HeaderMap::new()).await.unwrap();
        assert_eq!(reply.status, 400, "{}", reply.body);
        assert!(reply.body.contains("has to be there once") && !reply.body.contains("planted"));
    }
    let seen = seen.lock().unwrap().clone();
    let keys: Vec<_> =
        seen.iter().map(|text| text.contains("\nx-api-key: planted-key\n")).collect();
    assert_eq!(
        keys,
        [true, false],
        "one for the source whose header it is, and no call without one: {seen:?}"
    );
    assert!(seen.iter().all(|text| !text.contains("planted-ann") && !text.contains("x-crm-key")));
    let told: Vec<_> =
        [&["calls", "--json"][..], &["config", "show"], &["status", "--json"], &["doctor"]]
            .iter()
            .map(|args| run(&scratch, args))
            .collect();
    gateway.signal("-TERM");
    gateway.ended().await;
    for planted in ["planted-ann", "planted-key", "planted-twice", "planted-long"] {
        assert!(!gateway.log().contains(planted), "{planted} is in the log");
        for Run { stdout, stderr, .. } in &told {
            assert!(!stdout.contains(planted) && !stderr.contains(planted), "{stdout}{stderr}");
        }
        let on_disk = everything(scratch.path());
        assert!(
            !on_disk.windows(planted.len()).any(|part| part == planted.as_bytes()),
            "{planted}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_clients_is_asked_for_the_credential() {
    let (tickets, _) = tickets();
    let scratch = configured(&tickets, "");
    let login = run(&scratch, &["login", "tickets"]);
    assert!(login.stderr.contains("its `credentials` are the clients' own"), "{}", login.stderr);
    let shown = run(&scratch, &["config", "show", "--json"]);
    assert!(shown.stdout.contains("\"credentials\": \"client\""), "{}", shown.stdout);
    let check = run(&scratch, &["check"]);
    assert_eq!(check.code, Some(0), "{}", check.stdout);
    let told = check.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("send its credential in the header `x-gatefold-tickets`"), "{told}");
    let doctor = run(&scratch, &["doctor", "--verbose"]);
    let told = doctor.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("each client sends in `x-gatefold-tickets`"), "{told}");
    assert!(!told.contains("clear text"), "{told}");
    let told = run(&scratch, &["tools", "call", "tickets__echo"]);
    let text = format!("{}{}", told.stdout, told.stderr);
    assert!(told.code != Some(0) && !text.contains("it said"), "{text}");
}
