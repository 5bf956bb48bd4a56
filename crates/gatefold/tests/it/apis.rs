//! HTTP APIs as sources, from the configuration to what arrives at a real server.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use gatefold::App;
use gatefold_core::{Operation, Outcome, SystemClock, ToolName};
use gatefold_dispatch::{BreakerState, Caller};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::scratch::{Scratch, toml};
use crate::worker::worker;

/// An API on a free port that records what arrives.
struct Api {
    url: String,
    arrived: Arc<Mutex<Vec<String>>>,
}

const BODY_LIMIT: usize = 1024 * 1024;

impl Api {
    async fn start() -> Self {
        let arrived = Arc::<Mutex<Vec<String>>>::default();
        let router = Router::new().fallback(answer).with_state(arrived.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, arrived }
    }

    /// What has arrived since this was last asked.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.arrived.lock().unwrap())
    }
}

async fn answer(
    State(arrived): State<Arc<Mutex<Vec<String>>>>,
    request: Request,
) -> impl IntoResponse {
    let (head, body) = request.into_parts();
    #[expect(clippy::disallowed_methods, reason = "a test's own server caps it here")]
    let body = axum::body::to_bytes(body, BODY_LIMIT).await.unwrap();
    let mut line = format!("{} {}", head.method, head.uri);
    for name in ["authorization", "cookie", "x-key", "x-trace", "content-type"] {
        if let Some(value) = head.headers.get(name) {
            let _ = write!(line, " {name}: {}", value.to_str().unwrap());
        }
    }
    if !body.is_empty() {
        let _ = write!(line, " {}", String::from_utf8_lossy(&body));
    }
    arrived.lock().unwrap().push(line);
    match head.uri.path() {
        "/v1/token" => {
            (StatusCode::OK, r#"{"access_token":"t0ken-of-client","expires_in":60}"#.to_owned())
        }
        "/v1/gone" => {
            (StatusCode::NOT_FOUND, r#"{"message":"no such thing, s3cret-key"}"#.to_owned())
        }
        "/v1/openapi.json" => (StatusCode::OK, DESCRIPTION.to_owned()),
        "/v1/heavy" => {
            let answer =
                json!({ "n": 1_000_000_000_000_u64, "text": "x", "deep": "[".repeat(2_000_000) });
            (StatusCode::OK, answer.to_string())
        }
        path => {
            let answer =
                json!({ "data": { "id": 9_007_199_254_740_993_u64, "path": path, "noise": 1 } });
            (StatusCode::OK, answer.to_string())
        }
    }
}

async fn app(scratch: &Scratch, text: &str) -> App {
    let config = toml(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let state = scratch.path().join("state");
    let app = App::builder(config, state).worker(worker()).build().await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    app
}

async fn call(app: &App, tool: &str, arguments: Value) -> Result<Value, String> {
    let arguments = RawValue::from_string(arguments.to_string()).unwrap();
    let operation = Operation::Tool { name: ToolName::parse(tool).unwrap(), arguments };
    let outcome = app.pin().call(operation, None, Caller::silent()).await;
    match outcome.map_err(|error| error.to_string())? {
        Outcome::Done(payload) => Ok(serde_json::from_str(payload.json.get()).unwrap()),
        other => panic!("{other:?}"),
    }
}

const ACTIONS: &str = r#"
[[sources.crm.actions]]
name = "get_contact"
method = "GET"
path = "/contacts/{id}"
description = "Returns a contact."
parameters = { properties = { id = { type = "integer" }, fields = { type = "array", items = { type = "string" } } } }
extract = ".data | {id, path}"

[[sources.crm.actions]]
name = "rename"
method = "put"
path = "/contacts/{id}"
body = '{"contact": {"name": "{name}"}}'
in = { }

[[sources.crm.actions]]
name = "gone"
method = "GET"
path = "/gone"

[[sources.crm.actions]]
name = "drop"
method = "DELETE"
path = "/contacts/{id}"
confirm = true
"#;

#[tokio::test]
async fn an_api_without_a_description_is_called_as_its_actions_say() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    let head = format!(
        "[sources.crm]\nbase_url = '{}'\nheaders = {{ X-Trace = 'abc' }}\n\
         auth = {{ api_key = 's3cret-key', in = 'header', name = 'X-Key' }}\n",
        api.url
    );
    let app = app(&scratch, &format!("{head}{ACTIONS}")).await;

    let found = call(&app, "crm__get_contact", json!({ "id": 7, "fields": ["a b", "c"] })).await;
    assert_eq!(
        api.take(),
        ["GET /v1/contacts/7?fields=a%20b&fields=c x-key: s3cret-key x-trace: abc"]
    );
    let exact = r#"{"id":9007199254740993,"path":"/v1/contacts/7"}"#;
    assert_eq!(found.unwrap()["structuredContent"].to_string(), exact);

    call(&app, "crm__rename", json!({ "id": "1/2", "name": "Ann \"A\"" })).await.unwrap();
    assert_eq!(
        api.take(),
        [
            r#"PUT /v1/contacts/1%2F2 x-key: s3cret-key x-trace: abc content-type: application/json {"contact":{"name":"Ann \"A\""}}"#
        ]
    );

    let gone = call(&app, "crm__gone", json!({})).await.unwrap();
    assert_eq!(gone["isError"], true);
    let text = gone["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("404") && text.contains("no such thing"), "{text}");
    assert!(!gone.to_string().contains("s3cret"), "{gone}");
    api.take();
    app.close().await;
}

/// The answer decides what the program of an action takes.
#[tokio::test]
async fn a_program_over_an_answer_is_bounded_and_its_end_counts_against_nobody() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    let mut text = format!(
        "[limits]\nbreaker_failures = 1\ncall_deadline = '20s'\n[sources.crm]\nbase_url = '{}'\n",
        api.url
    );
    for (name, method, extract) in [
        ("memory", "GET", "reduce range(.n) as $i (.text; . + .)"),
        ("sent", "POST", "reduce range(.n) as $i (.text; . + .)"),
        ("list", "GET", ".n | [range(.)] | length"),
        ("time", "GET", "last(range(.n))"),
        ("depth", "GET", ".deep | fromjson"),
        ("well", "GET", ".text"),
    ] {
        let action = format!("name = '{name}'\nmethod = '{method}'\npath = '/heavy'");
        writeln!(text, "[[sources.crm.actions]]\n{action}\nextract = '{extract}'").unwrap();
    }
    let app = app(&scratch, &text).await;
    let program = "the API answered 200 OK, but this action's program";
    let memory = "needed more than 256 MiB of memory and was stopped";
    for (tool, expected) in [
        ("memory", vec![format!("{program} {memory}; ask for less")]),
        ("sent", vec![format!("{program} {memory}; it took effect, so do not call it again")]),
        (
            "list",
            // It depends on how fast this machine is.
            vec![
                format!("{program} {memory}; ask for less"),
                format!("{program} took too long and was stopped; ask for less"),
            ],
        ),
        ("time", vec![format!("{program} took too long and was stopped; ask for less")]),
        ("depth", vec![format!("{program} went too deep and was stopped; ask for less")]),
        ("well", vec!["x".to_owned()]),
    ] {
        let answer = call(&app, &format!("crm__{tool}"), json!({})).await.unwrap();
        let answer = answer["content"][0]["text"].as_str().unwrap();
        assert!(expected.iter().any(|text| text == answer), "{tool}: {answer}");
    }
    let report = app.reports().into_iter().find(|report| report.domain.as_str() == "crm");
    assert_eq!(report.unwrap().breaker, BreakerState::Closed);
    app.close().await;
}

#[tokio::test]
async fn without_a_worker_an_action_with_a_program_is_left_out() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    let text = format!("[sources.crm]\nbase_url = '{}'\n{ACTIONS}", api.url);
    let (config, state) = (toml(&text).unwrap(), scratch.path().join("state"));
    let app = gatefold::build(config, &state, Arc::new(SystemClock)).await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    let missing = call(&app, "crm__get_contact", json!({ "id": 7 })).await.unwrap_err();
    assert!(missing.starts_with("unknown tool `crm__get_contact`"), "{missing}");
    call(&app, "crm__rename", json!({ "id": "1", "name": "Ann" })).await.unwrap();
    assert_eq!(api.take().len(), 1);
    app.close().await;
}

#[tokio::test]
async fn a_wrong_call_and_one_that_nobody_approved_cost_no_request() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    let head = format!("[sources.crm]\nbase_url = '{}'\n", api.url);
    let app = app(&scratch, &format!("{head}{ACTIONS}")).await;
    let wrong = call(&app, "crm__get_contact", json!({ "id": "seven" })).await.unwrap_err();
    assert!(wrong.contains("refused the call"), "{wrong}");
    let unapproved = call(&app, "crm__drop", json!({ "id": "7" })).await.unwrap_err();
    assert!(unapproved.contains("needs a person's approval"), "{unapproved}");
    assert_eq!(api.take(), [""; 0]);
    app.close().await;
}

/// What arrives with each way to sign in, for the same action.
#[tokio::test]
async fn each_way_to_sign_in_arrives() {
    let api = Api::start().await;
    for (auth, expected) in [
        ("{ bearer = 'tok' }", "GET /v1/gone authorization: Bearer tok"),
        (
            "{ basic = { username = 'me', password = '' } }",
            "GET /v1/gone authorization: Basic bWU6",
        ),
        ("{ api_key = 'k&', in = 'query', name = 'key' }", "GET /v1/gone?key=k%26"),
        ("{ api_key = 'k', in = 'cookie', name = 'sid' }", "GET /v1/gone cookie: sid=k"),
    ] {
        let scratch = Scratch::new();
        let head = format!("[sources.crm]\nbase_url = '{}'\nauth = {auth}\n", api.url);
        let app = app(&scratch, &format!("{head}{ACTIONS}")).await;
        call(&app, "crm__gone", json!({})).await.unwrap();
        assert_eq!(api.take(), [expected], "{auth}");
        app.close().await;
    }
}

#[tokio::test]
async fn a_token_is_fetched_once_for_many_calls() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    let head = format!(
        "[sources.crm]\nbase_url = '{0}'\n[sources.crm.auth.client_credentials]\n\
         token_url = '{0}/token'\nclient_id = 'me'\nclient_secret = 'p:w'\nscopes = ['a', 'b']\n",
        api.url
    );
    let app = app(&scratch, &format!("{head}{ACTIONS}")).await;
    for _ in 0..2 {
        call(&app, "crm__gone", json!({})).await.unwrap();
    }
    let called = "GET /v1/gone authorization: Bearer t0ken-of-client";
    let fetched = "POST /v1/token authorization: Basic bWU6cCUzQXc= \
                   content-type: application/x-www-form-urlencoded \
                   grant_type=client_credentials&scope=a+b";
    assert_eq!(api.take(), [fetched, called, called]);
    app.close().await;
}

/// A description whose server is where the description itself is.
const DESCRIPTION: &str = r##"{
  "openapi": "3.1.0",
  "info": { "title": "Contacts", "version": "1" },
  "servers": [{ "url": "/v1" }],
  "security": [{ "key": [] }],
  "components": { "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "X-Key" } } },
  "paths": {
    "/contacts/{id}": {
      "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }],
      "get": { "operationId": "getContact", "tags": ["contacts"], "summary": "Returns a contact." },
      "put": {
        "operationId": "putContact",
        "requestBody": { "content": { "application/json": { "schema": {
          "type": "object", "properties": { "name": { "type": "string" }, "age": { "type": "integer" } } } } } }
      }
    },
    "/bad": { "get": { "operationId": "bad", "parameters": [{ "$ref": "#/nowhere" }] } }
  }
}"##;

#[tokio::test]
async fn an_api_is_called_by_its_description() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    let text = format!(
        "[sources.crm]\nopenapi = '{}/openapi.json'\nauth = {{ api_key = 's3cret-key' }}\n",
        api.url
    );
    let app = app(&scratch, &text).await;
    assert_eq!(api.take(), ["GET /v1/openapi.json"]);

    call(&app, "crm__getContact", json!({ "id": 7 })).await.unwrap();
    assert_eq!(api.take(), ["GET /v1/contacts/7 x-key: s3cret-key"]);
    call(&app, "crm__putContact", json!({ "id": 7, "name": "Ann", "age": 9 })).await.unwrap();
    assert_eq!(
        api.take(),
        [
            r#"PUT /v1/contacts/7 x-key: s3cret-key content-type: application/json {"name":"Ann","age":9}"#
        ]
    );
    let wrong = call(&app, "crm__putContact", json!({ "id": 7, "nme": "Ann" })).await.unwrap_err();
    assert!(wrong.contains("nme"), "{wrong}");
    assert_eq!(api.take(), [""; 0]);
    app.close().await;
}

const KEYS: &str = r#"{
  "openapi": "3.0.3",
  "info": { "title": "Monitors", "version": "1" },
  "security": [{ "apiKey": [], "aKey": [] }],
  "paths": {
    "/both": { "get": { "operationId": "both" } },
    "/first": { "get": { "operationId": "first", "security": [{ "apiKey": [] }] } },
    "/second": { "get": { "operationId": "second", "security": [{ "aKey": [] }] } },
    "/mixed": { "get": { "operationId": "mixed", "security": [{ "bearer": [], "tenant": [] }] } },
    "/open": { "get": { "operationId": "open", "security": [] } }
  },
  "components": { "securitySchemes": {
    "aKey": { "type": "apiKey", "in": "header", "name": "X-Trace" },
    "apiKey": { "type": "apiKey", "in": "header", "name": "X-Key" },
    "tenant": { "type": "apiKey", "in": "query", "name": "tenant_key" },
    "bearer": { "type": "http", "scheme": "bearer" }
  } }
}"#;

#[tokio::test]
async fn a_key_goes_to_its_own_schemes_place_only() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    scratch.write("api.json", KEYS);
    let path = scratch.path().join("api.json");
    let head = format!("[sources.m]\nopenapi = {path:?}\nbase_url = '{}'\n", api.url);
    let app = app(&scratch, &format!("{head}auth = {{ api_key = 's3cret-key' }}\n")).await;
    for (tool, expected) in [
        ("both", "GET /v1/both x-key: s3cret-key"),
        ("first", "GET /v1/first x-key: s3cret-key"),
        ("second", "GET /v1/second"),
        ("mixed", "GET /v1/mixed"),
        ("open", "GET /v1/open"),
    ] {
        call(&app, &format!("m__{tool}"), json!({})).await.unwrap();
        assert_eq!(api.take(), [expected]);
    }
    app.close().await;
}

#[tokio::test]
async fn each_scheme_of_a_description_gets_its_own_value() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    let mut description: Value = serde_json::from_str(KEYS).unwrap();
    description["paths"]["/either"] = json!({ "get": { "operationId": "either",
        "security": [{ "user": [] }, { "aKey": [] }] } });
    description["components"]["securitySchemes"]["user"] =
        json!({ "type": "http", "scheme": "basic" });
    scratch.write("api.json", description.to_string());
    let path = scratch.path().join("api.json");
    let head = format!("[sources.m]\nopenapi = {path:?}\nbase_url = '{}'\n", api.url);
    let schemes = "apiKey = 'A', tenant = 'K', user = { username = 'me', password = 'p%w' }";
    for (auth, expected) in [
        (
            format!("{{ schemes = {{ {schemes}, aKey = 'B', bearer = 'T' }} }}"),
            [
                ("both", "GET /v1/both x-key: A x-trace: B"),
                ("first", "GET /v1/first x-key: A"),
                ("second", "GET /v1/second x-trace: B"),
                ("mixed", "GET /v1/mixed?tenant_key=K authorization: Bearer T"),
                ("either", "GET /v1/either authorization: Basic bWU6cCV3"),
                ("open", "GET /v1/open"),
            ],
        ),
        (
            format!("{{ bearer = 'T', schemes = {{ {schemes} }} }}"),
            [
                ("both", "GET /v1/both x-key: A"),
                ("first", "GET /v1/first x-key: A"),
                ("second", "GET /v1/second"),
                ("mixed", "GET /v1/mixed?tenant_key=K authorization: Bearer T"),
                ("either", "GET /v1/either authorization: Basic bWU6cCV3"),
                ("open", "GET /v1/open"),
            ],
        ),
    ] {
        let app = app(&scratch, &format!("{head}auth = {auth}\n")).await;
        for (tool, expected) in expected {
            call(&app, &format!("m__{tool}"), json!({})).await.unwrap();
            assert_eq!(api.take(), [expected]);
        }
        app.close().await;
    }
}

#[tokio::test]
async fn a_changed_description_is_read_on_reload() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    scratch.write("api.json", KEYS);
    let path = scratch.path().join("api.json");
    let text = format!("[sources.m]\nopenapi = {path:?}\nbase_url = '{}'\n", api.url);
    let app = app(&scratch, &text).await;
    call(&app, "m__added", json!({})).await.unwrap_err();
    let mut epochs = app.dispatcher().epochs();
    scratch
        .write("api.json", KEYS.replace(r#""operationId": "first""#, r#""operationId": "added""#));
    assert_eq!(app.apply(toml(&text).unwrap()).await.unwrap().kept, 1);
    let read = async {
        while call(&app, "m__added", json!({})).await.is_err() {
            epochs.changed().await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(30), read).await.expect("it is read again");
    assert_eq!(api.take(), ["GET /v1/first"]);
    app.close().await;
}

#[tokio::test]
async fn a_restart_does_not_read_a_description_again() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    let text = |more: &str| format!("[sources.crm]\nopenapi = '{}/openapi.json'\n{more}", api.url);
    let other = format!("base_url = '{}'\n", api.url);
    for (more, fetches) in [("", 1), ("", 0), ("", 0), (&other, 1), (&other, 0)] {
        let app = app(&scratch, &text(more)).await;
        call(&app, "crm__getContact", json!({ "id": 7 })).await.unwrap();
        app.close().await;
        let arrived = api.take();
        let read = arrived.iter().filter(|line| *line == "GET /v1/openapi.json").count();
        assert_eq!((read, arrived.len()), (fetches, fetches + 1), "{more}: {arrived:?}");
    }
}

#[tokio::test]
async fn arguments_do_not_give_a_credential_a_second_time() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    let described = |place: &str| {
        json!({
            "openapi": "3.1.0",
            "info": { "title": "Search", "version": "1" },
            "paths": { "/search": { "get": { "operationId": "search", "parameters": [
                { "name": "filter", "in": place, "explode": true,
                  "schema": { "type": "object", "additionalProperties": true } }
            ] } } }
        })
    };
    for place in ["query", "cookie"] {
        scratch.write("api.json", described(place).to_string());
        let path = scratch.path().join("api.json");
        let text = format!(
            "[sources.s]\nopenapi = {path:?}\nbase_url = '{}?tenant=t'\n\
             auth = {{ api_key = 's3cret-key', in = '{place}', name = 'api_key' }}\n",
            api.url
        );
        let app = app(&scratch, &text).await;
        let search =
            async |filter: Value| call(&app, "s__search", json!({ "filter": filter })).await;
        let mut names = vec!["api_key", "API_KEY", "api_key[]"];
        names.extend(if place == "query" { vec!["tenant", "api.key"] } else { vec![] });
        for name in names {
            let refused = search(json!({ "a": 1, (name): "evil" })).await.unwrap_err();
            assert!(refused.contains("set without them"), "{place} {name}: {refused}");
        }
        assert_eq!(api.take(), [""; 0]);
        search(json!({ "my_api_key": "x" })).await.unwrap();
        let arrived = api.take().join("");
        assert!(
            arrived.contains("my_api_key=x") && arrived.contains("api_key=s3cret-key"),
            "{arrived}"
        );
        app.close().await;
    }
}

const USERS: &str = r##"{
  "openapi": "3.1.0",
  "info": { "title": "Users", "version": "1" },
  "paths": {
    "/users/{id}": { "get": { "operationId": "getUser",
      "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }] } },
    "/users/{id}/salary": { "get": { "operationId": "getSalary",
      "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }] } },
    "/users/{id}/notes": { "get": { "operationId": "getNotes",
      "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }] } },
    "/users/all": { "get": { "operationId": "bad", "parameters": [{ "$ref": "#/nowhere" }] } }
  }
}"##;

#[tokio::test]
async fn a_path_argument_does_not_reach_what_is_denied_hidden_or_no_tool() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    scratch
        .write("api.json", USERS)
        .write("api.overlay.toml", "[operations.getNotes]\nhide = true\n");
    let path = |name: &str| scratch.path().join(name);
    let head = format!(
        "[sources.crm]\nopenapi = {:?}\nbase_url = '{}'\noverlay = {:?}\ndeny = ['getSalary']\n",
        path("api.json"),
        api.url,
        path("api.overlay.toml")
    );
    let get = async |app: &App, id: &str| call(app, "crm__getUser", json!({ "id": id })).await;
    let first = app(&scratch, &head).await;
    for id in ["5/salary", "5/notes", "all", "x/../../admin/secrets", "x%2F..%2Fsecrets"] {
        let refused = get(&first, id).await.unwrap_err();
        assert!(refused.contains("path") && !refused.contains("encoded_slashes"), "{refused}");
    }
    assert_eq!(api.take(), [""; 0]);
    get(&first, "group/project").await.unwrap();
    assert_eq!(api.take(), ["GET /v1/users/group%2Fproject"]);
    first.close().await;

    // What was read before counts while the description cannot be read.
    std::fs::rename(path("api.json"), path("gone.json")).unwrap();
    let state = path("state");
    let config = toml(&head).unwrap();
    let second = gatefold::build(config, &state, Arc::new(SystemClock)).await.unwrap();
    get(&second, "5/notes").await.unwrap_err();
    assert_eq!(api.take(), [""; 0]);
    second.close().await;
    std::fs::rename(path("gone.json"), path("api.json")).unwrap();

    // A server that looks for segments first takes the slash for a part of one.
    let third = app(&scratch, &format!("{head}encoded_slashes = true\n")).await;
    get(&third, "5/salary").await.unwrap();
    assert_eq!(api.take(), ["GET /v1/users/5%2Fsalary"]);
    for id in ["all", "x/../../admin/secrets"] {
        get(&third, id).await.unwrap_err();
    }
    assert_eq!(api.take(), [""; 0]);
    third.close().await;
}

#[tokio::test]
async fn an_api_is_called_while_its_description_is_gone() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    scratch.write("crm.json", DESCRIPTION);
    let file = scratch.path().join("crm.json");
    let text = format!("[sources.crm]\nopenapi = {file:?}\nbase_url = '{}'\n", api.url);
    let first = app(&scratch, &text).await;
    first.close().await;
    std::fs::remove_file(&file).unwrap();
    let state = scratch.path().join("state");
    let second =
        gatefold::build(toml(&text).unwrap(), &state, Arc::new(SystemClock)).await.unwrap();
    call(&second, "crm__getContact", json!({ "id": 7 })).await.unwrap();
    assert_eq!(api.take(), ["GET /v1/contacts/7"]);
    second.close().await;
}

#[tokio::test]
async fn a_changed_description_is_taken_up_when_it_is_read_again() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    scratch.write("crm.json", DESCRIPTION);
    let file = scratch.path().join("crm.json");
    let text =
        format!("[sources.crm]\nopenapi = {file:?}\nbase_url = '{}'\ndeny = ['put*']\n", api.url);
    let app = app(&scratch, &text).await;
    let unknown = "unknown tool `crm__getPerson`";
    assert_eq!(call(&app, "crm__getPerson", json!({ "id": 7 })).await.unwrap_err(), unknown);
    // What is denied looks as if it were not there.
    let denied = call(&app, "crm__putContact", json!({ "id": 7 })).await.unwrap_err();
    assert_eq!(denied, "unknown tool `crm__putContact`");
    scratch.write("crm.json", DESCRIPTION.replace("getContact", "getPerson"));
    app.connect(&()).await;
    // The catalogue follows a moment later.
    let taken_up = async {
        while call(&app, "crm__getPerson", json!({ "id": 7 })).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), taken_up).await.unwrap();
    assert_eq!(api.take(), ["GET /v1/contacts/7"]);
    // A broken one changes nothing.
    scratch.write("crm.json", "{");
    app.connect(&()).await;
    call(&app, "crm__getPerson", json!({ "id": 8 })).await.unwrap();
    assert_eq!(api.take(), ["GET /v1/contacts/8"]);
    app.close().await;
}

#[tokio::test]
async fn a_call_beyond_the_rate_says_when_to_come_back() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    let head = format!("[sources.crm]\nbase_url = '{}'\nrate = '2/h'\n", api.url);
    let app = app(&scratch, &format!("{head}{ACTIONS}")).await;
    for _ in 0..2 {
        call(&app, "crm__gone", json!({})).await.unwrap();
    }
    let refused = call(&app, "crm__gone", json!({})).await.unwrap_err();
    let told =
        "`crm` has had as many calls as its `rate` allows, and nothing was sent; try again in ";
    assert!(refused.starts_with(told) && refused.ends_with(" s"), "{refused}");
    assert_eq!(api.take().len(), 2);
    app.close().await;
}

#[tokio::test]
async fn an_overlay_renames_hides_and_asks() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    scratch.write("crm.json", DESCRIPTION).write(
        "crm.overlay.toml",
        "[operations.getContact]\nname = 'contact'\nask = true\n[operations.putContact]\nhide = true\n\
         [operations.nothing]\nhide = true\n",
    );
    let path = |name: &str| scratch.path().join(name);
    let text = format!(
        "[sources.crm]\nopenapi = {:?}\nbase_url = '{}'\noverlay = {:?}\n",
        path("crm.json"),
        api.url,
        path("crm.overlay.toml")
    );
    let app = app(&scratch, &text).await;
    let asked = call(&app, "crm__contact", json!({ "id": 7 })).await.unwrap_err();
    assert!(asked.contains("needs a person's approval"), "{asked}");
    let hidden = call(&app, "crm__putContact", json!({ "id": 7 })).await.unwrap_err();
    assert_eq!(hidden, "unknown tool `crm__putContact`");
    let notes = app.reports()[0].alterations.join("; ");
    assert!(notes.contains("`nothing` is the name of no operation"), "{notes}");
    app.close().await;

    scratch.write("crm.overlay.toml", "[operations.x]\nhid = true\n");
    let wrong = toml(&text).unwrap_err().to_string();
    assert!(wrong.contains("`sources.crm.overlay` is wrong in line 2"), "{wrong}");
}

/// A server that only a description names must not lead into the private network.
#[tokio::test]
async fn a_description_leads_to_no_private_address() {
    let (api, scratch) = (Api::start().await, Scratch::new());
    let host = api.url.trim_end_matches("/v1");
    let described = DESCRIPTION.replace("\"/v1\"", &format!("\"{host}/v1\""));
    scratch.write("crm.json", &described);
    let file = scratch.path().join("crm.json");
    let app = app(&scratch, &format!("[sources.crm]\nopenapi = {file:?}\n")).await;
    let refused = call(&app, "crm__getContact", json!({ "id": 7 })).await.unwrap_err();
    assert!(refused.contains("127.0.0.1"), "{refused}");
    assert_eq!(api.take(), [""; 0]);
    app.close().await;
}

#[test]
fn faults_of_actions_and_of_signing_in_have_their_places_and_hints() {
    let text = "[sources.a]\nbase_url = 'http://a.example'\n\
                actions = [{ name = 'x', method = 'GET', path = '/{id}', parameters = {} }]\n\
                [sources.b]\nbase_url = 'http://a.example'\nactions = []\n\
                auth = { bearer = 'x', api_key = 'y' }\n\
                [sources.c]\nactions = [{ name = 'x', path = '/', extract = '.[', body = '{' }]\n\
                auth = { api_key = 'y', in = 'header' }\n\
                [sources.d]\ncommand = 'x'\nbase_url = 'http://a.example'\n\
                [sources.e]\nopenapi = 'a.json'\nauth = { bearer = 'x', name = 'y' }\n";
    insta::assert_snapshot!(toml(text).unwrap_err(), @r#"
    gatefold.toml:3:49: `sources.a.actions[0].path` has `{id}`, which `parameters` does not describe
      help: describe it in `parameters`, or remove `parameters` if all are texts
    gatefold.toml:6:11: `sources.b.actions` is empty
      help: write at least one: name, method and path
    gatefold.toml:7:24: `sources.b.auth.api_key` is set beside `bearer`
      help: keep one of the two
    gatefold.toml:9:12: `sources.c.actions[0]` has no `method`
      help: write `method = "..."` in it
    gatefold.toml:9:48: `sources.c.actions[0].extract` is not a jq program: the jq program ends too early
      help: write a jq program over the answer: ".data | {id, name}"
    gatefold.toml:9:61: `sources.c.actions[0].body` is not JSON: EOF while parsing an object at line 1 column 1
      help: write JSON in which a text "{name}" stands for a parameter
    gatefold.toml:10:25: `sources.c.auth.in` needs `name`
      help: write the name that the API gives the key
    gatefold.toml:13:1: `sources.d.base_url` belongs to a source with `openapi`
      help: remove it
    gatefold.toml:13:1: `sources.d.base_url` belongs to a source with `actions`
      help: remove it
    gatefold.toml:16:24: `sources.e.auth.name` needs `api_key`
      help: write `api_key` beside it, or remove it
    "#);
}

#[test]
fn faults_of_a_sign_in_have_their_places_and_hints() {
    let source = |name: &str, rest: &str| {
        format!(
            "[sources.{name}]\nbase_url = 'http://a.example'\nactions = [{{ name = 'x', \
             method = 'GET', path = '/' }}]\n{rest}\n"
        )
    };
    let flow = |name: &str, flow: &str| {
        source(name, &format!("auth = {{ authorization_code = {{ {flow} }} }}"))
    };
    let text = [
        flow("a", "client_id = 'x'"),
        flow("b", "authorize_url = 'https://b.example/a', client_id = 'x'"),
        flow("c", "authorize_url = 'https://b.example/a', token_url = 'https://b.example/t'"),
        flow("d", "issuer = 'https://b.example', device_url = 'https://b.example/d'"),
        flow("e", "issuer = 'https://b.example', client_secret = 'x'"),
        flow("f", "issuer = 'https://b.example', parameters = { state = 'x' }"),
        flow("g", "issuer = 'b.example'"),
        source("h", "credentials = 'per_user'\nauth = { bearer = 'x' }"),
        "[sources.i]\nopenapi = 'https://a.example'\n\
         auth = { authorization_code = { issuer = 'https://b.example' } }\n"
            .to_owned(),
        source(
            "j",
            "auth = { bearer = 'x', authorization_code = { issuer = 'https://b.example' } }",
        ),
        source("k", "credentials = 'client'\nauth = { bearer = 'x' }"),
        "[sources.l]\nopenapi = 'https://a.example'\ncredentials = 'client'\n".to_owned(),
        source("m", "credentials = { client_header = 'Authorization' }"),
        source("n", "credentials = 'client'\nheaders = { authorization = 'x' }"),
        "[sources.o]\nurl = 'https://a.example'\nheaders = { x-api-key = 'x' }\n\
         credentials = { upstream_header = 'X-Api-Key' }\n"
            .to_owned(),
        source("p", "credentials = { upstream_header = 'Host' }"),
    ];
    insta::assert_snapshot!(toml(&text.concat()).unwrap_err(), @r#"
    gatefold.toml:4:31: `sources.a.auth.authorization_code` does not say where to sign in
      help: write `authorize_url` and `token_url`, or the `issuer` whose metadata says them
    gatefold.toml:8:31: `sources.b.auth.authorization_code` has no `token_url`
      help: write `token_url = "..."` in it
    gatefold.toml:12:31: `sources.c.auth.authorization_code` has no `client_id`
      help: write `client_id = "..."` in it
    gatefold.toml:16:63: `sources.d.auth.authorization_code.device_url` needs `authorize_url`
      help: write `authorize_url` and `token_url` too, or remove it: an issuer says it
    gatefold.toml:20:63: `sources.e.auth.authorization_code.client_secret` needs `client_id`
      help: write the `client_id` that the provider gave you
    gatefold.toml:24:76: `sources.f.auth.authorization_code.parameters` has `state`, which Gatefold writes itself
      help: remove it, or write `scopes` or `resource` beside `parameters`
    gatefold.toml:28:42: `sources.g.auth.authorization_code.issuer` has no `http` scheme
      help: write the whole address, such as "https://host.example/mcp"
    gatefold.toml:32:1: `sources.h.credentials` needs `authorization_code` in `auth`
      help: remove it, or let people sign in: `auth = { authorization_code = { ... } }`
    gatefold.toml:36:1: `sources.i.auth` needs `base_url`
      help: write `base_url = "https://api.example.com"` beside it: the credentials go there and nowhere else
    gatefold.toml:40:24: `sources.j.auth.authorization_code` is set beside `bearer`
      help: keep one of the two
    gatefold.toml:45:1: `sources.k.auth` is set beside `credentials = "client"`
      help: keep one of the two
    gatefold.toml:48:1: `sources.l.credentials` needs `base_url`
      help: write `base_url = "https://api.example.com"` beside it: the credentials go there and nowhere else
    gatefold.toml:52:33: `sources.m.credentials.client_header` has a meaning of its own
      help: use another, such as "X-Tickets-Token"
    gatefold.toml:57:11: `sources.n.headers` has `authorization`, in which callers' credentials go on
      help: remove it: a caller without a credential would come in with it
    gatefold.toml:60:11: `sources.o.headers` has `x-api-key`, in which callers' credentials go on
      help: remove it: a caller without a credential would come in with it
    gatefold.toml:65:35: `sources.p.credentials.upstream_header` has a meaning of its own
      help: use another, such as "X-Tickets-Token"
    "#);
}
