//! Access tokens to the gateway: who gets in, how far, and for how long.

use std::path::Path;
use std::time::{Duration, Instant};

use gatefold_core::{Clock as _, SystemClock};
use gatefold_testkit::{Exchange, Fixture, HttpFixture, RawClient, serve_http, wait_until};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};

use crate::process::{BINARY, Gateway, LIMIT, Run, run, two_sources};
use crate::raw_api::RawApi;
use crate::scratch::Scratch;

/// What a revocation may take to hold.
const REVOCATION: Duration = Duration::from_secs(2);

const REQUIRED: &str = "[server]\nauthentication = 'token'\n";

/// Two servers and a folder of files, behind tokens.
fn guarded() -> Scratch {
    let scratch = Scratch::new();
    let (binary, data) = (BINARY, scratch.path().display());
    let files = format!(
        "[sources.files]\ncommand = '{binary}'\n\
         args = ['demo-server', 'files', '--scratch', '{data}/data']\n\
         [agents.sales]\ntool_categories = ['mcp']\n[agents.other]\n"
    );
    scratch.write("gatefold.toml", format!("{REQUIRED}{}{files}", two_sources(&scratch)));
    scratch
}

/// Creates a token and returns it.
pub(crate) fn create(scratch: &Scratch, name: &str, more: &[&str]) -> String {
    let args = [&["token", "create", "--name", name, "--for", "ann"], more].concat();
    let run = run(scratch, &args);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.stdout.trim_end().to_owned()
}

/// Serves, and waits until every source is known.
pub(crate) async fn serve(scratch: &Scratch) -> Gateway {
    let gateway = Gateway::serve(scratch).await;
    let are_known = || {
        let status = run(scratch, &["status", "--json"]).json();
        let Some(sources) = status["running"]["sources"].as_array() else { return false };
        let tools = |source: &Value| source["tools"].as_u64().unwrap();
        let all: u64 = sources.iter().map(tools).sum();
        // Agents that can be called are a tool too.
        let known = status["running"]["tools"].as_u64().unwrap();
        sources.iter().all(|source| tools(source) > 0) && known >= all
    };
    assert!(wait_until(LIMIT, are_known).await, "{}", gateway.log());
    gateway
}

pub(crate) fn client(gateway: &Gateway, token: &str, path: &str) -> RawClient {
    RawClient::new(format!("{}{path}", gateway.url())).unwrap().with_bearer(token)
}

/// Status and challenge of a request that lists tools with these headers.
pub(crate) async fn refusal(gateway: &Gateway, path: &str, tokens: &[&str]) -> (u16, String) {
    let mut headers = HeaderMap::new();
    for token in tokens {
        headers.append(AUTHORIZATION, HeaderValue::from_str(token).unwrap());
    }
    let client = RawClient::new(format!("{}{path}", gateway.url())).unwrap();
    let reply = client.post_raw("{}", headers).await.unwrap();
    let challenge = reply.headers.get("www-authenticate").map(|it| it.to_str().unwrap().to_owned());
    (reply.status, challenge.unwrap_or_default())
}

/// Runs a statement on the state directory's database, and has gateways look.
async fn alter(scratch: &Scratch, statement: &str) {
    let file = scratch.path().join(".local/state/gatefold/gatefold.db");
    let mut database = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
    database.execute(sqlx::AssertSqlSafe(statement.to_owned())).await.unwrap();
    let changed = "UPDATE access_token_changes SET changes = changes + 1";
    database.execute(changed).await.unwrap();
}

fn millis_from_now(millis: u64) -> u64 {
    SystemClock.now().as_millis() + millis
}

#[tokio::test]
async fn nobody_gets_in_without_a_token_that_holds() {
    let scratch = guarded();
    let (good, old) = (create(&scratch, "good", &[]), create(&scratch, "old", &[]));
    let gone = create(&scratch, "gone", &[]);
    assert_eq!(run(&scratch, &["token", "revoke", "gone"]).code, Some(0));
    alter(&scratch, "UPDATE access_tokens SET expires_at = 1 WHERE name = 'old'").await;
    let gateway = Gateway::serve(&scratch).await;
    let bare = r#"Bearer realm="gatefold""#;
    let invalid = format!(r#"{bare}, error="invalid_token""#);
    let wrong = format!(r#"{bare}, error="invalid_request""#);
    let bearer = |token: &str| format!("Bearer {token}");
    let typo = format!("{}{}", &good[..40], if good[40..].starts_with('0') { "1" } else { "0" })
        + &good[41..];
    for (tokens, status, challenge) in [
        (vec![], 401, bare),
        (vec!["Basic YTpi".to_owned()], 401, bare),
        (vec![bearer("nonsense")], 401, &invalid),
        (vec![bearer(&typo)], 401, &invalid),
        (vec![bearer(&good[..60])], 401, &invalid),
        (vec![bearer(&old)], 401, &invalid),
        (vec![bearer(&gone)], 401, &invalid),
        (vec![bearer(&good), bearer(&good)], 400, &wrong),
    ] {
        let tokens: Vec<_> = tokens.iter().map(String::as_str).collect();
        let answer = refusal(&gateway, "", &tokens).await;
        assert_eq!(answer, (status, challenge.to_owned()), "{tokens:?}");
    }
    for path in ["/source/issues", "/source/nothing", "/agent/sales", "?disclosure=loud"] {
        assert_eq!(refusal(&gateway, path, &[]).await, (401, bare.to_owned()), "{path}");
    }
    for query in [format!("?access_token={good}"), format!("?disclosure=flat&token={good}")] {
        let answer = refusal(&gateway, &query, &[&bearer(&good)]).await;
        assert_eq!(answer, (400, wrong.clone()), "a token in an address is no token");
    }
    let stranger = RawClient::new(gateway.url()).unwrap();
    assert_eq!((stranger.get().await.unwrap(), stranger.delete().await.unwrap()), (401, 401));
    assert_eq!(client(&gateway, &good, "").list().await.unwrap().status, 200);
}

/// A gateway in front of a server whose calls take as long as they are asked to.
async fn slow() -> (Scratch, HttpFixture, String, Gateway) {
    let scratch = Scratch::new();
    let server = serve_http(Fixture::new(&[]).unwrap()).unwrap();
    let source = format!("{REQUIRED}[sources.fix]\nurl = '{}'\n", server.url);
    scratch.write("gatefold.toml", source);
    let token = create(&scratch, "laptop", &[]);
    let gateway = Gateway::serve(&scratch).await;
    gateway.await_log("took up a new list of tools").await;
    let ready = client(&gateway, &token, "");
    let known_by = Instant::now() + LIMIT;
    while call(&ready, "fix__slow", json!({"ms": 1})).await.contains("Unknown tool") {
        assert!(Instant::now() < known_by);
    }
    (scratch, server, token, gateway)
}

pub(crate) async fn call(client: &RawClient, tool: &str, arguments: Value) -> String {
    let call = json!({"tool_name": tool, "arguments": arguments}).to_string();
    client.call("execute_tool", &call).await.unwrap().text()
}

/// Opens one of each kind of stream and a long call, ends the token, and expects all to be over.
async fn cut_by(end: impl AsyncFnOnce(&Scratch)) {
    let (scratch, _server, token, gateway) = slow().await;
    let mut in_session = client(&gateway, &token, "").with_limit(LIMIT);
    in_session.initialize().await.unwrap();
    let mut notices = in_session.listen().await.unwrap();
    let alone = client(&gateway, &token, "").with_limit(LIMIT);
    let wanted = r#"{"notifications":{"toolsListChanged":true}}"#;
    let mut subscription = alone.open("subscriptions/listen", wanted).await.unwrap();
    subscription.next().await.unwrap();
    let long = || json!({"tool_name": "fix__slow", "arguments": {"ms": 50_000}}).to_string();
    let calls = [&in_session, &alone].map(|client| {
        let long = long();
        async move { client.call("execute_tool", &long).await }
    });
    let calls = futures::future::join_all(calls);
    let ending = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        end(&scratch).await;
        Instant::now()
    };
    let followed = async {
        let notices = notices.next().await;
        let subscription = async { while subscription.next().await.is_ok() {} };
        subscription.await;
        notices
    };
    let (called, ended_at, notices) = tokio::join!(calls, ending, followed);
    let took = ended_at.elapsed();
    assert!(took < REVOCATION + Duration::from_secs(1), "{took:?}");
    assert!(notices.is_err(), "{notices:?}");
    for called in called {
        let is_refused = called.as_ref().is_ok_and(|answer| answer.status == 401);
        assert!(called.is_err() || is_refused, "{called:?}");
    }
    assert_eq!(refusal(&gateway, "", &[&format!("Bearer {token}")]).await.0, 401);
    let are_over = || {
        let calls = run(&scratch, &["calls", "--json"]).json()["calls"].take();
        calls.as_array().unwrap().iter().all(|call| call["outcome"] != "open")
    };
    assert!(wait_until(LIMIT, are_over).await, "calls that were cut are still open");
    let status = run(&scratch, &["status", "--json"]).json();
    assert_eq!(status["running"]["sessions"], 0, "the session is gone too");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_revokes_is_over_within_two_seconds() {
    cut_by(async |scratch| {
        assert_eq!(run(scratch, &["token", "revoke", "laptop"]).code, Some(0));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_expires_is_over_within_two_seconds() {
    cut_by(async |scratch| {
        let at = millis_from_now(100);
        alter(scratch, &format!("UPDATE access_tokens SET expires_at = {at}, name = name || '2'"))
            .await;
        alter(scratch, "UPDATE access_tokens SET id = 'aaaa-bbbb'").await;
    })
    .await;
}

#[tokio::test]
async fn a_token_shows_what_it_leaves_in_every_way() {
    let scratch = guarded();
    let wide = create(&scratch, "wide", &[]);
    let narrow = create(&scratch, "narrow", &["--tools", "issues__*", "--read-only"]);
    let gateway = serve(&scratch).await;
    let (wide, narrow) =
        (|path: &str| client(&gateway, &wide, path), |path: &str| client(&gateway, &narrow, path));
    let listed = narrow("?disclosure=flat").list().await.unwrap().tool_names();
    let all = wide("?disclosure=flat").list().await.unwrap().tool_names();
    assert!(all.len() > listed.len() && !listed.is_empty(), "{listed:?}");
    assert!(listed.iter().all(|name| name.starts_with("issues__")), "{listed:?}");
    assert!(!listed.contains(&"issues__create_issue".to_owned()), "it writes");
    assert!(listed.contains(&"issues__count_issues".to_owned()), "{listed:?}");
    let search = async |client: RawClient, query: &str| {
        let query = json!({ "query": query }).to_string();
        client.call("discover_tools", &query).await.unwrap().text()
    };
    for hidden in ["convert a unit of length", "create an issue", "read a file"] {
        let found = search(narrow(""), hidden).await;
        for word in ["units__", "create_issue", "files__"] {
            assert!(!found.contains(word), "{hidden}: {found}");
        }
    }
    let unknown = |text: String, name: &str| text.replace(name, "NAME");
    let missing = unknown(call(&narrow(""), "units__nothing", json!({})).await, "units__nothing");
    for name in ["units__convert", "issues__create_issue", "files__read_file"] {
        let text = call(&narrow(""), name, json!({})).await;
        assert!(text.contains("Unknown tool"), "{text}");
        for word in ["units__c", "create_issue'", "files__"] {
            assert!(!unknown(text.clone(), name).contains(word), "{text}");
        }
    }
    assert!(missing.contains("Unknown tool"), "{missing}");
    let counted = call(&narrow(""), "issues__count_issues", json!({"by": "state"})).await;
    assert!(counted.contains("counts"), "{counted}");
    let source = narrow("/source/units").post_raw("{}", HeaderMap::new()).await.unwrap();
    let nothing = narrow("/source/nothing").post_raw("{}", HeaderMap::new()).await.unwrap();
    assert_eq!((source.status, source.body), (nothing.status, nothing.body));
    resources(&wide(""), &narrow("")).await;
}

/// The resources of a source that no pattern names look like those of none.
async fn resources(wide: &RawClient, narrow: &RawClient) {
    let list = async |client: &RawClient| {
        client.request("resources/list", "{}").await.unwrap().result()["resources"].take()
    };
    let seen = list(wide).await;
    let uri = seen[0]["uri"].as_str().unwrap_or_else(|| panic!("{seen}")).to_owned();
    assert_eq!(list(narrow).await, json!([]));
    let read = async |client: &RawClient, uri: &str| {
        let params = json!({ "uri": uri }).to_string();
        client.request_named("resources/read", uri, &params).await.unwrap()
    };
    assert!(read(wide, &uri).await.error_code().is_none());
    let missing = "gatefold://nothing/there";
    let error =
        |exchange: Exchange, uri: &str| exchange.value()["error"].to_string().replace(uri, "URI");
    let hidden = error(read(narrow, &uri).await, &uri);
    assert_eq!(hidden, error(read(narrow, missing).await, missing));
}

#[tokio::test]
async fn what_one_token_began_is_unknown_to_another_of_the_same_user() {
    let scratch = guarded();
    let (one, other) = (create(&scratch, "one", &[]), create(&scratch, "other", &[]));
    let gateway = Gateway::serve(&scratch).await;
    let mut own = client(&gateway, &one, "");
    own.initialize().await.unwrap();
    let session = own.session().unwrap().to_owned();
    let asked = async |token: &str, session: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("mcp-session-id", HeaderValue::from_str(session).unwrap());
        headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
        let reply = client(&gateway, token, "").post_raw(&ping, headers).await.unwrap();
        (reply.status, reply.body)
    };
    let of_one = asked(&other, &session).await;
    assert_eq!(of_one, asked(&other, &"0".repeat(32)).await);
    assert_eq!(of_one.0, 404);
    assert_eq!(asked(&one, &session).await.0, 200, "it is still there for its own token");
}

#[tokio::test]
async fn a_token_of_an_agent_is_good_for_that_agent_alone() {
    let scratch = guarded();
    let token = create(&scratch, "sales", &["--agent", "sales"]);
    let lost =
        run(&scratch, &["token", "create", "--name", "lost", "--for", "ann", "--agent", "nobody"]);
    assert!(lost.stderr.contains("has no agent `nobody`"), "{}", lost.stderr);
    let free = create(&scratch, "free", &[]);
    let gateway = serve(&scratch).await;
    let status = async |token: &str, path: &str| {
        client(&gateway, token, path).request("ping", "{}").await.map_or_else(
            |error| match error {
                gatefold_testkit::Error::NotAnAnswer { status, .. } => status,
                other => panic!("{other}"),
            },
            |exchange| exchange.status,
        )
    };
    let listed = async |token: &str, path: &str| {
        let client = client(&gateway, token, &format!("{path}?disclosure=flat"));
        client.list().await.map(|list| list.tool_names().len()).unwrap_or_default()
    };
    assert!(listed(&token, "/agent/sales").await > 0);
    assert!(listed(&free, "/agent/sales").await > 0);
    for (path, expected) in
        [("", 403), ("/source/issues", 403), ("/agent/other", 404), ("/agent/nobody", 404)]
    {
        assert_eq!(status(&token, path).await, expected, "{path}");
    }
    assert_eq!(status(lost.stdout.trim_end(), "/agent/nobody").await, 404);
}

/// Reads all that is on disk below a directory.
pub(crate) fn everything(directory: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes.extend(everything(&path));
        } else {
            bytes.extend(std::fs::read(&path).unwrap_or_default());
        }
    }
    bytes
}

#[tokio::test]
async fn a_token_shows_up_nowhere() {
    let scratch = Scratch::new();
    let api = RawApi::start(|request| {
        let body = format!("{{\"seen\": {}}}", json!(request.text()));
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
        Some(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes())
    });
    let source = format!(
        "{REQUIRED}[sources.api]\nbase_url = 'http://127.0.0.1:{}'\n\
         actions = [{{ name = 'look', method = 'GET', path = '/look' }}]\n",
        api.port
    );
    scratch.write("gatefold.toml", source);
    let token = create(&scratch, "planted", &[]);
    let mut command =
        crate::process::command(&scratch, &["serve", "--listen", "127.0.0.1:0", "--log", "trace"]);
    command.env("RUST_LOG", "trace");
    let mut gateway = Gateway::of(command);
    gateway.await_log("listening").await;
    let good = client(&gateway, &token, "");
    let seen = call(&good, "api__look", json!({})).await;
    assert!(seen.contains("GET /look"), "{seen}");
    refusal(&gateway, &format!("?access_token={token}"), &[]).await;
    refusal(&gateway, "", &[&format!("Bearer {token}x")]).await;
    refusal(&gateway, "", &[&format!("Basic {token}")]).await;
    let own = [
        &["calls", "--json"][..],
        &["config", "show"],
        &["config", "show", "--json"],
        &["status", "--json"],
        &["token", "list", "--json"],
        &["token", "list"],
    ];
    let told: Vec<_> = own.iter().map(|args| run(&scratch, args)).collect();
    gateway.signal("-TERM");
    gateway.ended().await;
    let secret = &token[12..64];
    assert!(!seen.contains(secret), "it went to the source");
    assert!(!gateway.log().contains(secret), "it is in the log");
    for Run { stdout, stderr, .. } in &told {
        assert!(!stdout.contains(secret) && !stderr.contains(secret), "{stdout}{stderr}");
    }
    let on_disk = everything(scratch.path());
    assert!(!on_disk.windows(secret.len()).any(|part| part == secret.as_bytes()));
    let calls = told[0].json();
    assert_eq!(calls["calls"][0]["token"], "planted");
    assert_eq!(calls["calls"][0]["user"], "ann");
}

#[tokio::test]
async fn an_address_that_strangers_reach_is_not_served_by_accident() {
    let scratch = Scratch::new();
    let listen_anywhere = ["serve", "--listen", "0.0.0.0:0"];
    scratch.write("gatefold.toml", two_sources(&scratch));
    let refused = run(&scratch, &listen_anywhere);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    for part in ["`0.0.0.0:0`", "authentication = \"token\"", "authentication = \"none\"", "help:"]
    {
        assert!(refused.stderr.contains(part), "no {part} in {}", refused.stderr);
    }
    assert!(refused.stderr.contains("gatefold token create"), "{}", refused.stderr);
    let in_file = |more: &str| {
        let server = format!("[server]\nlisten = '0.0.0.0:0'\n{more}");
        scratch.write("gatefold.toml", two_sources(&scratch) + &server);
    };
    in_file("");
    assert_eq!(run(&scratch, &["serve"]).code, Some(2));
    in_file("authentication = 'none'");
    let open = Gateway::start(&scratch, &["serve"]);
    open.await_log("anybody who reaches this address can call every tool").await;
    drop(open);
    in_file("authentication = 'token'");
    let guarded = Gateway::start(&scratch, &["serve"]);
    guarded.await_log("listening").await;
    assert!(!guarded.log().contains("anybody"), "{}", guarded.log());
    let here = guarded.url().replace("0.0.0.0", "127.0.0.1");
    assert_eq!(RawClient::new(here).unwrap().get().await.unwrap(), 401);
    let demo = run(&scratch, &["demo", "--once", "--listen", "0.0.0.0:0"]);
    assert_eq!(demo.code, Some(2), "{}", demo.stderr);
}

#[tokio::test]
async fn a_status_for_strangers_names_no_source() {
    let scratch = guarded();
    let gateway = serve(&scratch).await;
    let address = gateway.address();
    let status = RawClient::new(format!("http://{address}/status")).unwrap();
    let status: Value = serde_json::from_str(&status.get_raw().await.unwrap().body).unwrap();
    let keys: Vec<_> = status.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["version", "process", "started_at", "authentication"]);
    let asked = run(&scratch, &["status", "--listen", &address]);
    assert!(asked.stdout.contains("requires tokens"), "{}", asked.stdout);
    let over_socket = run(&scratch, &["status", "--json"]).json();
    assert!(over_socket["running"]["sources"].is_array(), "its own user is told all");
    let second = run(&scratch, &["serve", "--listen", &address]);
    assert!(second.stderr.contains("already in use by Gatefold"), "{}", second.stderr);
}

#[tokio::test]
async fn a_reload_never_opens_what_was_guarded() {
    let scratch = guarded();
    let gateway = Gateway::serve(&scratch).await;
    scratch.write("gatefold.toml", two_sources(&scratch) + "[server]\nauthentication = 'none'\n");
    gateway.await_log("server.authentication").await;
    assert!(gateway.log().contains("after a restart"), "{}", gateway.log());
    assert_eq!(refusal(&gateway, "", &[]).await.0, 401);
}

#[tokio::test]
async fn tokens_are_made_listed_and_revoked_while_no_gateway_runs() {
    let scratch = guarded();
    let made = run(
        &scratch,
        &["token", "create", "--name", "ci", "--for", "ci", "--tools", "issues__*,units__convert"],
    );
    assert_eq!(made.stdout.lines().count(), 1, "{}", made.stdout);
    let token = made.stdout.trim_end();
    assert!(token.starts_with("gf_a") && token.len() == 70, "{token}");
    assert!(made.stderr.contains("created `ci`") && !made.stderr.contains(&token[4..]));
    let args = ["token", "create", "--name", "b", "--for", "ann", "--expires", "never", "--json"];
    let json = run(&scratch, &args).json();
    assert!(json["token"].as_str().unwrap().starts_with("gf_a"), "{json}");
    assert_eq!(json["access_token"]["expires_at"], Value::Null);
    let listed = run(&scratch, &["token", "list", "--json"]).json()["access_tokens"].take();
    assert_eq!((listed[0]["name"].as_str(), listed[1]["name"].as_str()), (Some("b"), Some("ci")));
    assert_eq!(listed[1]["tools"], json!(["issues__*", "units__convert"]));
    let days =
        listed[1]["expires_at"].as_u64().unwrap() - listed[1]["created_at"].as_u64().unwrap();
    assert_eq!(days.div_ceil(24 * 60 * 60 * 1000), 90);
    let id = listed[0]["id"].as_str().unwrap();
    let gone = run(&scratch, &["token", "revoke", id, "--json"]).json();
    assert_eq!(gone["revoked"]["name"], "b");
    let again = run(&scratch, &["token", "revoke", id]);
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    assert!(again.stderr.contains("there is no access token"), "{}", again.stderr);
    let same = run(&scratch, &["token", "create", "--name", "ci", "--for", "x"]);
    assert_eq!(same.code, Some(1));
    assert!(same.stderr.contains("already") && same.stdout.is_empty(), "{}", same.stderr);
}

#[test]
fn what_a_token_cannot_be_is_refused_before_anything_is_made() {
    let scratch = guarded();
    let long = "x".repeat(200);
    let many = vec!["a__*"; 65].join(",");
    for (option, value) in [
        ("--name", ""),
        ("--name", long.as_str()),
        ("--for", " ann"),
        ("--agent", "a/b"),
        ("--tools", "tool:"),
        ("--tools", many.as_str()),
        ("--expires", "soon"),
        ("--expires", "9999d"),
    ] {
        let mut args = vec!["token", "create", option, value];
        for (needed, value) in [("--name", "n"), ("--for", "ann")] {
            if option != needed {
                args.extend([needed, value]);
            }
        }
        let run = run(&scratch, &args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{option} {value}");
    }
    let listed = run(&scratch, &["token", "list", "--json"]).json();
    assert_eq!(listed, json!({ "access_tokens": [], "clients": [] }));
}

#[tokio::test]
async fn the_last_use_of_a_token_is_known_to_the_hour() {
    let scratch = guarded();
    let token = create(&scratch, "used", &[]);
    create(&scratch, "unused", &[]);
    let mut gateway = Gateway::serve(&scratch).await;
    for _ in 0..3 {
        client(&gateway, &token, "").list().await.unwrap();
    }
    gateway.signal("-TERM");
    gateway.ended().await;
    let listed = run(&scratch, &["token", "list", "--json"]).json()["access_tokens"].take();
    assert_eq!(listed[0]["last_used"], Value::Null);
    let last = listed[1]["last_used"].as_u64().unwrap();
    assert_eq!(last % (60 * 60 * 1000), 0);
    assert!(last <= millis_from_now(0) && last + 2 * 60 * 60 * 1000 > millis_from_now(0));
}
