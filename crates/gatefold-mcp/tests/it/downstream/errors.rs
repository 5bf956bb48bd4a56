//! How the gateway refuses requests.

use futures::future::join_all;
use gatefold_http::HttpEndpoint;
use gatefold_policy::Policy;
use libtest_mimic::Trial;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::edge::{Edge, Reply, STATELESS, initialize, request, standing_alone, trial};
use super::scripted::ScriptedServer;
use crate::upstream::support::LONG;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("what_is_no_message_is_refused_with_its_code", unreadable),
        trial("an_unknown_method_is_not_found_in_either_era", unknown_method),
        trial("a_request_that_stands_alone_says_all_there_is_to_say", incomplete),
        trial("a_version_that_is_not_served_is_refused_with_those_that_are", unsupported),
        trial("headers_have_to_say_what_the_body_says", mirrored),
        trial("headers_may_come_in_base64", encoded),
        trial("arguments_that_headers_mirror_are_checked", arguments),
        trial("a_request_of_no_session_or_anothers_is_told_apart", sessions),
        trial("the_types_of_bodies_are_settled_first", types),
        trial("an_address_may_end_with_a_slash", a_slash),
        trial("methods_that_need_a_session_are_not_allowed_without", not_allowed),
        trial("a_body_too_large_is_refused", too_large),
        trial("a_tool_name_too_long_is_refused_by_every_disclosure", long_name),
        trial("a_client_with_too_many_requests_under_way_is_refused_one_more", crowded),
        trial("headers_too_large_are_refused", headers_too_large),
        trial("foreign_hosts_and_pages_are_kept_out", foreign),
        trial("pages_of_allowed_origins_may_read_answers_and_their_sessions", pages),
        trial("a_request_with_two_hosts_or_origins_is_refused", doubled),
    ]
}

async fn edge() -> (ScriptedServer, Edge) {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    (up, edge)
}

#[track_caller]
fn refused(reply: &Reply, status: u16, code: i64, what: &str) {
    assert_eq!((reply.status, reply.code()), (status, Some(code)), "{what}: {}", reply.body);
}

async fn long_name() {
    let (up, edge) = edge().await;
    let session = edge.session("/mcp").await;
    for length in [513, 1_000_000] {
        let name = "n".repeat(length);
        let message = format!("a tool name has {length} bytes, more than the limit: 512");
        for path in ["/mcp", "/mcp?disclosure=flat", "/mcp/source/up"] {
            let session = edge.session(path).await;
            let reply = session.ask(1, "tools/call", json!({"name": name})).await;
            let error = &reply.message()["error"];
            assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!(message)));
        }
        let behind = json!({"name": "execute_tool", "arguments": {"tool_name": name}});
        let result = session.result("tools/call", behind).await;
        assert_eq!(result["isError"], true);
        assert!(result.to_string().len() < 1000, "the request is not echoed in full");
    }
    assert_eq!(up.script.count("tools/call"), 0);
}

async fn crowded() {
    // Batches, so that the test needs no connection for each request.
    const BATCHES: [usize; 6] = [100, 100, 100, 100, 100, 12];
    let (up, edge) = edge().await;
    let session = edge.session_of("/mcp", "2025-03-26", json!({})).await;
    let hold = json!({"name": "execute_tool", "arguments": {"tool_name": "up__hold"}});
    let batches = BATCHES.map(async |calls| {
        let calls = vec![request(1, "tools/call", &hold); calls];
        let reply = session.post(&format!("[{}]", calls.join(","))).await;
        serde_json::from_str::<Vec<Value>>(&reply.body).unwrap()
    });
    let one_more = async {
        let refused = async {
            loop {
                let reply = session.ask(9, "ping", json!({})).await;
                if reply.code().is_some() {
                    return reply;
                }
            }
        };
        let refused = timeout(LONG, refused).await.expect("there is a limit");
        let other = edge.session("/mcp").await;
        assert_eq!(other.ask(1, "ping", json!({})).await.code(), None, "it has its own places");
        up.script.release();
        refused
    };
    let (answers, refused) = tokio::join!(join_all(batches), one_more);
    let error = &refused.message()["error"];
    assert_eq!(error["message"], "512 requests are under way, which is the limit");
    let is_answered = |answer: &Value| answer["result"]["content"].is_array();
    let answers = answers.iter().map(|answers| answers.iter().filter(|a| is_answered(a)).count());
    assert_eq!(answers.collect::<Vec<_>>(), BATCHES);
    assert_eq!(session.ask(9, "ping", json!({})).await.code(), None, "a place is free again");
}

async fn unreadable() {
    let (_up, edge) = edge().await;
    for (body, code, id) in [
        ("", -32700, Value::Null),
        ("{", -32700, Value::Null),
        ("{}}", -32700, Value::Null),
        ("[1,", -32700, Value::Null),
        ("7", -32600, Value::Null),
        ("null", -32600, Value::Null),
        (r#"[["2.0",5,"ping"]]"#, -32600, Value::Null),
        ("{}", -32600, Value::Null),
        (r#"{"id":5,"method":"ping"}"#, -32600, json!(5)),
        (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, json!("a")),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}"#, -32602, json!(5)),
        (r#"{"jsonrpc":"2.0","id":5}"#, -32600, json!(5)),
    ] {
        let reply = edge.post("/mcp", &[], body).await;
        refused(&reply, 400, code, body);
        assert_eq!(reply.message()["id"], id, "{body}");
    }
}

async fn unknown_method() {
    let (_up, edge) = edge().await;
    for path in ["/mcp", "/mcp/source/up"] {
        for method in ["no/such", "ping", "logging/setLevel", "resources/subscribe"] {
            let reply = edge.ask(path, method, json!({})).await;
            refused(&reply, 404, -32601, method);
        }
        let session = edge.session(path).await;
        for method in ["no/such", "tasks/get", "subscriptions/listen"] {
            let reply = session.ask(1, method, json!({})).await;
            refused(&reply, 200, -32601, method);
        }
    }
}

async fn incomplete() {
    let (_up, edge) = edge().await;
    let (headers, body) = standing_alone("tools/list", json!({}));
    let headers: Vec<_> = headers.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let whole: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(edge.post("/mcp", &headers, &body).await.status, 200);
    for key in ["protocolVersion", "clientCapabilities"] {
        let mut message = whole.clone();
        let meta = message["params"]["_meta"].as_object_mut().unwrap();
        meta.remove(&format!("io.modelcontextprotocol/{key}"));
        let reply = edge.post("/mcp", &headers, &message.to_string()).await;
        refused(&reply, 400, -32602, key);
    }
    let mut message = whole.clone();
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!(7);
    refused(&edge.post("/mcp", &headers, &message.to_string()).await, 400, -32602, "a number");
    message["params"] = json!({});
    refused(&edge.post("/mcp", &headers, &message.to_string()).await, 400, -32602, "no meta");
}

async fn unsupported() {
    let (_up, edge) = edge().await;
    for version in ["2099-01-01", "2025-11-25"] {
        let meta = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": version}});
        let (_, body) = standing_alone("tools/list", meta);
        let headers = [("mcp-protocol-version", version), ("mcp-method", "tools/list")];
        let reply = edge.post("/mcp", &headers, &body).await;
        refused(&reply, 400, -32022, version);
        let data = &reply.message()["error"]["data"];
        assert_eq!(data["requested"], version);
        assert_eq!(data["supported"][0], STATELESS);
        assert_eq!(data["supported"].as_array().unwrap().len(), 5);
    }
    let (_, body) = standing_alone("tools/list", json!({}));
    let session = edge.session("/mcp").await;
    let version = [("mcp-protocol-version", "1999-01-01"), ("mcp-session-id", &*session.id)];
    let ping = request(1, "ping", &json!({}));
    refused(&edge.post("/mcp", &version, &ping).await, 400, -32600, "of a session");
    drop(body);
}

async fn mirrored() {
    let (_up, edge) = edge().await;
    let call = || standing_alone("tools/call", json!({"name": "discover_tools"})).1;
    let right = [
        ("mcp-protocol-version", STATELESS),
        ("mcp-method", "tools/call"),
        ("mcp-name", "discover_tools"),
    ];
    assert_eq!(edge.post("/mcp", &right, &call()).await.status, 200);
    for header in ["mcp-protocol-version", "mcp-method", "mcp-name"] {
        let own = right.iter().find(|(name, _)| *name == header).unwrap().1;
        let others = right.iter().filter(|(name, _)| *name != header).copied();
        for (what, values) in [
            ("missing", vec![]),
            ("different", vec![(header, "else")]),
            ("the same twice", vec![(header, own), (header, own)]),
            ("two", vec![(header, own), (header, "else")]),
            ("not base64", vec![(header, "=?base64?!?=")]),
            ("base64 of another", vec![(header, "=?base64?ZWxzZQ==?=")]),
        ] {
            let headers: Vec<_> = others.clone().chain(values).collect();
            let reply = edge.post("/mcp", &headers, &call()).await;
            refused(&reply, 400, -32020, &format!("{header} {what}"));
        }
    }
}

async fn encoded() {
    let (_up, edge) = edge().await;
    let uri = "gatefold://up/scripted://page/ü";
    let (_, body) = standing_alone("resources/read", json!({"uri": uri}));
    let headers = [
        ("mcp-protocol-version", STATELESS),
        ("mcp-method", "resources/read"),
        ("mcp-name", "=?base64?Z2F0ZWZvbGQ6Ly91cC9zY3JpcHRlZDovL3BhZ2Uvw7w=?="),
    ];
    let reply = edge.post("/mcp", &headers, &body).await;
    assert_eq!(reply.result()["contents"][0]["text"], "read scripted://page/ü");
}

async fn arguments() {
    let up = crate::upstream::asking::ReferenceUpstream::new(
        crate::upstream::support::Wire::Http,
        crate::upstream::support::Era::Handshake,
    )
    .await;
    let edge = Edge::over(&[&up.settings]).await;
    let params = json!({"name": "test_custom_header", "arguments": {"region": "north"}});
    let (_, body) = standing_alone("tools/call", params);
    let usual = [
        ("mcp-protocol-version", STATELESS),
        ("mcp-method", "tools/call"),
        ("mcp-name", "test_custom_header"),
    ];
    for (region, is_right) in [
        (Some("north"), true),
        (Some("=?base64?bm9ydGg=?="), true),
        (Some("south"), false),
        (None, false),
    ] {
        let region_header = region.map(|region| ("mcp-param-region", region));
        let headers: Vec<_> = usual.into_iter().chain(region_header).collect();
        let reply = edge.post("/mcp/source/up", &headers, &body).await;
        if is_right {
            assert_eq!(super::edge::said(&reply.result()), "region: north");
        } else {
            refused(&reply, 400, -32020, &format!("{region:?}"));
        }
    }
}

async fn sessions() {
    let (_up, edge) = edge().await;
    let session = edge.session("/mcp").await;
    let ping = request(1, "ping", &json!({}));
    refused(&edge.post("/mcp", &[], &ping).await, 400, -32600, "no session");
    let answer = r#"{"jsonrpc":"2.0","id":"gatefold-0","result":{}}"#;
    refused(&edge.post("/mcp", &[], answer).await, 400, -32600, "an answer of no session");
    let unknown = "0".repeat(32);
    for (path, id) in [
        ("/mcp", &*unknown),
        ("/mcp", ""),
        ("/mcp/source/up", &session.id),
        ("/mcp?disclosure=flat", &session.id),
    ] {
        let status = if id.is_empty() { 400 } else { 404 };
        let headers = [("mcp-session-id", id)];
        for body in [&ping, answer, r#"{"jsonrpc":"2.0","method":"notifications/x"}"#] {
            let is_notice = body.contains("notifications") && id.is_empty();
            let expected = if is_notice { 202 } else { status };
            let reply = edge.post(path, &headers, body).await;
            assert_eq!(reply.status, expected, "{path} {id:?} {body}");
        }
        for method in [Method::GET, Method::DELETE] {
            let expected = if id.is_empty() { 405 } else { 404 };
            let response = edge.send(method.clone(), path, &headers, "").await;
            assert_eq!(response.status(), expected, "{method} {path} {id:?}");
        }
    }
    assert_eq!(session.ask(1, "ping", json!({})).await.status, 200, "it goes on");
}

async fn types() {
    let (_up, edge) = edge().await;
    let session = edge.session("/mcp").await;
    let ping = request(1, "ping", &json!({}));
    for (header, value, status) in [
        ("content-type", "application/json; charset=utf-8", 200),
        ("content-type", "Application/JSON", 200),
        ("content-type", "text/plain", 415),
        ("content-type", "application/jsonp", 415),
        ("content-type", "", 415),
        ("accept", "*/*", 200),
        ("accept", "application/*, text/event-stream;q=0.5", 200),
        ("accept", "application/json", 406),
        ("accept", "text/event-stream", 406),
        ("accept", "text/html", 406),
    ] {
        let headers = [("mcp-session-id", &*session.id), (header, value)];
        let reply = edge.post("/mcp", &headers, &ping).await;
        assert_eq!(reply.status, status, "{header}: {value}");
        if status != 200 {
            turned_away(&reply.body);
        }
    }
    let response = session.send(Method::GET, &[("accept", "application/json")], "").await;
    assert_eq!(response.status(), 406);
    turned_away(&response.text().await.unwrap());
}

/// Clients show the message of a JSON-RPC error, and few show any other body.
fn turned_away(body: &str) {
    let body: Value = serde_json::from_str(body).expect(body);
    assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &Value::Null), "{body}");
    assert_eq!(body["error"]["code"], -32600, "{body}");
    assert!(body["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
}

async fn a_slash() {
    let (_up, edge) = edge().await;
    for path in ["/mcp/", "/mcp/source/up/"] {
        let session = edge.session(path).await;
        assert_eq!(session.ask(1, "ping", json!({})).await.status, 200, "{path}");
    }
}

async fn not_allowed() {
    let (_up, edge) = edge().await;
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::PATCH, Method::OPTIONS] {
        for path in ["/mcp", "/mcp/source/up"] {
            let response = edge.send(method.clone(), path, &[], "").await;
            assert_eq!(response.status(), 405, "{method} {path}");
            assert_eq!(response.headers()["allow"], "POST");
        }
    }
}

async fn too_large() {
    let up = ScriptedServer::new("up").await;
    let endpoint = HttpEndpoint { request_body_bytes: 1000, ..HttpEndpoint::default() };
    let edge = Edge::with(&[&up.settings], Policy::default(), endpoint).await;
    let session = edge.session("/mcp").await;
    let ping = request(1, "ping", &json!({}));
    for (bytes, status) in [(1000, 200), (1001, 413), (100_000, 413)] {
        let body = format!("{ping}{}", " ".repeat(bytes - ping.len()));
        let reply = session.post(&body).await;
        assert_eq!(reply.status, status, "{bytes}");
        if status != 200 {
            turned_away(&reply.body);
        }
    }
}

async fn headers_too_large() {
    let (_up, edge) = edge().await;
    for (bytes, status) in [(60_000, 400), (70_000, 431)] {
        let padding = "x".repeat(bytes);
        let reply = edge.post("/mcp", &[("x-padding", &padding)], "7").await;
        assert_eq!(reply.status, status, "{bytes}");
    }
}

async fn foreign() {
    let up = ScriptedServer::new("up").await;
    let mut endpoint = HttpEndpoint::default();
    endpoint.allowed_hosts.push("gate.example".to_owned());
    endpoint.allowed_origins.push("https://page.example".to_owned());
    let edge = Edge::with(&[&up.settings], Policy::default(), endpoint).await;
    for (header, value, is_allowed) in [
        ("host", "localhost:1", true),
        ("host", "gate.example", true),
        ("host", "gate.example:8420", true),
        ("host", "evil.example", false),
        ("host", "gate.example.evil.example", false),
        ("origin", "http://localhost:5173", true),
        ("origin", "https://page.example", true),
        ("origin", "https://page.example.evil.example", false),
        ("origin", "http://evil.example", false),
        ("origin", "null", false),
    ] {
        for path in ["/mcp", "/mcp/source/up", "/elsewhere"] {
            let status = match (is_allowed, path) {
                (false, _) => 403,
                (true, "/elsewhere") => 404,
                (true, _) => 400,
            };
            let reply = edge.post(path, &[(header, value)], "7").await;
            assert_eq!(reply.status, status, "{header}: {value} at {path}");
        }
    }
}

async fn pages() {
    const PAGE: &str = "https://page.example";
    let up = ScriptedServer::new("up").await;
    let mut endpoint = HttpEndpoint::default();
    endpoint.allowed_origins.push(PAGE.to_owned());
    let edge = Edge::with(&[&up.settings], Policy::default(), endpoint).await;
    let asks = [
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type,mcp-protocol-version,mcp-param-region"),
    ];
    let preflight = async |origin: Option<&str>| {
        let origin = origin.map(|origin| ("origin", origin));
        let headers: Vec<_> = asks.into_iter().chain(origin).collect();
        edge.send(Method::OPTIONS, "/mcp", &headers, "").await
    };
    let response = preflight(Some(PAGE)).await;
    assert_eq!(response.status(), 200);
    assert_eq!(cors(&response, "allow-origin"), Some(PAGE));
    assert_eq!(cors(&response, "allow-methods"), Some("GET,POST,DELETE"));
    assert_eq!(cors(&response, "allow-headers"), Some(asks[1].1));
    let response = preflight(Some("https://evil.example")).await;
    assert_eq!((response.status().as_u16(), cors(&response, "allow-origin")), (403, None));
    assert_eq!(preflight(None).await.status(), 405, "no page asks");

    let begin = initialize(Some("2025-11-25"), &json!({}));
    let response = edge.send(Method::POST, "/mcp", &[("origin", PAGE)], &begin).await;
    assert_eq!(response.status(), 200);
    assert_eq!(cors(&response, "allow-origin"), Some(PAGE));
    assert_eq!(cors(&response, "expose-headers"), Some("mcp-session-id,www-authenticate"));
    assert!(response.headers().contains_key("mcp-session-id"));
    assert!(response.headers()["vary"].to_str().unwrap().contains("origin"));
    let response = edge.send(Method::POST, "/mcp", &[("origin", PAGE)], "{").await;
    assert_eq!(response.status(), 400);
    assert_eq!(cors(&response, "allow-origin"), Some(PAGE), "a page may read its errors");
    let response = edge.send(Method::POST, "/mcp", &[], &begin).await;
    assert_eq!(cors(&response, "allow-origin"), None);
}

fn cors<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    let value = response.headers().get(format!("access-control-{name}"))?;
    value.to_str().ok()
}

/// Sends a request exactly as given, and returns the status of its answer.
async fn status_of(edge: &Edge, headers: &[&str]) -> String {
    let address = edge.base.strip_prefix("http://").unwrap();
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let headers = headers.join("\r\n");
    let request = format!("GET /mcp HTTP/1.1\r\n{headers}\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).unwrap().to_owned()
}

async fn doubled() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let (host, page) = ("host: localhost", "origin: http://localhost");
    // In the first two, only the method is wrong.
    for (headers, expected) in [
        (&[host][..], "405"),
        (&[host, page], "405"),
        (&[host, host], "400"),
        (&[host, "Host: evil.example"], "400"),
        (&["host: evil.example", host], "400"),
        (&[host, page, page], "400"),
        (&[host, page, "Origin: https://evil.example"], "400"),
        (&[host, "origin: https://evil.example", page], "400"),
        (&["host: evil.example"], "403"),
    ] {
        assert_eq!(status_of(&edge, headers).await, expected, "{headers:?}");
    }
}
