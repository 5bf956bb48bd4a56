//! Tokens that the configuration does not hold, from the configuration to what arrives at an API and its token endpoint.

use std::future::ready;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::{get, post};
use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};
use gatefold::App;
use gatefold_core::{Domain, Operation, Outcome, Secret, SystemClock, ToolName, UpstreamIdentity};
use gatefold_dispatch::{
    Caller, Credential, CredentialError, CredentialRefusal, CredentialSet, Credentials,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::scratch::{Scratch, toml};

/// An API that takes some tokens, and the endpoint that gives them: `t1`, `t2` and so on.
#[derive(Clone)]
struct TokenApi {
    /// What arrived, in order.
    arrived: Arc<Mutex<Vec<String>>>,
    /// Whether the API takes a token.
    takes: fn(&str) -> bool,
    expires_in: Value,
    /// Whether the endpoint knows clients by the body alone.
    wants_body: bool,
}

impl TokenApi {
    fn new() -> Self {
        Self {
            arrived: Arc::default(),
            takes: |_| true,
            expires_in: json!(3600),
            wants_body: false,
        }
    }

    async fn start(&self) -> String {
        let router = Router::new().route("/token", post(token)).route("/x", get(answer));
        let router = router.with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    /// Notes what arrived, and how often that had arrived before.
    fn note(&self, what: String) -> usize {
        let mut arrived = self.arrived.lock().unwrap();
        let before = arrived.iter().filter(|known| **known == what).count();
        arrived.push(what);
        before
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.arrived.lock().unwrap())
    }
}

async fn token(
    State(api): State<TokenApi>,
    headers: HeaderMap,
    body: String,
) -> (StatusCode, String) {
    let is_in_body = body.contains("client_secret=");
    if api.wants_body && !is_in_body {
        api.note("refused".to_owned());
        assert!(headers.contains_key(header::AUTHORIZATION));
        return (StatusCode::UNAUTHORIZED, r#"{"error":"invalid_client"}"#.to_owned());
    }
    assert_eq!(is_in_body, api.wants_body, "{body}");
    let number = 1 + api.note("token".to_owned());
    let token = json!({ "access_token": format!("t{number}"), "expires_in": api.expires_in });
    (StatusCode::OK, token.to_string())
}

async fn answer(State(api): State<TokenApi>, headers: HeaderMap) -> (StatusCode, String) {
    let token = headers[header::AUTHORIZATION].to_str().unwrap().replace("Bearer ", "");
    api.note(token.clone());
    let status = if (api.takes)(&token) { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
    (status, json!({ "token": token }).to_string())
}

async fn app(scratch: &Scratch, url: &str) -> App {
    let text = format!(
        "[sources.a]\nbase_url = '{url}'\nactions = [{{ name = 'x', method = 'GET', path = '/x' }}]\n\
         auth = {{ client_credentials = {{ token_url = '{url}/token', client_id = 'me', \
         client_secret = 'pw' }} }}\n"
    );
    let state = scratch.path().join("state");
    let app = gatefold::build(toml(&text).unwrap(), &state, Arc::new(SystemClock)).await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    app
}

/// The text of a result, or of an error.
async fn call(app: &App) -> Result<String, String> {
    let arguments = RawValue::from_string("{}".to_owned()).unwrap();
    let operation = Operation::Tool { name: ToolName::parse("a__x").unwrap(), arguments };
    let outcome = app.pin().call(operation, None, Caller::silent()).await;
    let Outcome::Done(payload) = outcome.map_err(|error| error.to_string())? else { panic!() };
    let result: Value = serde_json::from_str(payload.json.get()).unwrap();
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    if payload.is_error { Err(text) } else { Ok(text) }
}

/// What arrives for so many calls one after the other, and whether they succeed.
async fn check(api: &TokenApi, calls: usize, succeed: bool, expected: &[&str]) {
    let scratch = Scratch::new();
    let app = app(&scratch, &api.start().await).await;
    for _ in 0..calls {
        assert_eq!(call(&app).await.is_ok(), succeed, "{expected:?}");
    }
    assert_eq!(api.take(), expected);
    app.close().await;
}

#[tokio::test]
async fn a_token_is_used_until_shortly_before_it_ends() {
    let with = |expires_in: Value| TokenApi { expires_in, ..TokenApi::new() };
    let once = ["token", "t1", "t1"];
    check(&with(json!(3600)), 2, true, &once).await;
    // Some endpoints leave it out, and some write it as a text.
    check(&with(Value::Null), 2, true, &once).await;
    check(&with(json!("3600")), 2, true, &once).await;
    check(&with(json!(0)), 2, true, &["token", "t1", "token", "t2"]).await;
}

#[tokio::test]
async fn a_token_that_the_api_refuses_is_renewed_once_for_a_call() {
    let second = TokenApi { takes: |token| token == "t2", ..TokenApi::new() };
    check(&second, 2, true, &["token", "t1", "token", "t2", "t2"]).await;
    let none = TokenApi { takes: |_| false, ..TokenApi::new() };
    check(&none, 1, false, &["token", "t1", "token", "t2"]).await;
}

#[tokio::test]
async fn an_endpoint_that_knows_clients_by_the_body_is_learnt_once() {
    let api = TokenApi { wants_body: true, expires_in: json!(0), ..TokenApi::new() };
    check(&api, 2, true, &["refused", "token", "t1", "token", "t2"]).await;
}

#[tokio::test]
async fn calls_at_the_same_time_share_one_token() {
    let (api, scratch) = (TokenApi::new(), Scratch::new());
    let app = app(&scratch, &api.start().await).await;
    assert!(join_all((0..8).map(|_| call(&app))).await.into_iter().all(|result| result.is_ok()));
    let arrived = api.take();
    assert_eq!(arrived.iter().filter(|what| *what == "token").count(), 1, "{arrived:?}");
    assert_eq!(arrived.iter().filter(|what| *what == "t1").count(), 8, "{arrived:?}");
    app.close().await;
}

/// Gives a token once, and then none.
#[derive(Default)]
struct Tokens {
    asked: AtomicUsize,
}

impl Credentials for Tokens {
    fn at_hand(&self, _: &Domain, _: &UpstreamIdentity) -> Option<CredentialSet> {
        None
    }

    fn obtain<'a>(
        &'a self,
        domain: &'a Domain,
        _: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        if self.asked.fetch_add(1, Ordering::SeqCst) > 0 {
            let error = CredentialError::new(format!("nobody has signed in to `{domain}`"));
            return ready(Err(error)).boxed();
        }
        let value = Secret::new("Bearer given-by-the-port");
        let name = "authorization".to_owned();
        ready(Ok(CredentialSet::from([Credential { name, value }]))).boxed()
    }
}

#[tokio::test]
async fn an_api_is_called_with_the_credentials_that_a_port_gives() {
    let (api, scratch) = (TokenApi::new(), Scratch::new());
    let url = api.start().await;
    let text = format!(
        "[sources.a]\nbase_url = '{url}'\n\
         actions = [{{ name = 'x', method = 'GET', path = '/x' }}]\n"
    );
    let builder = App::builder(toml(&text).unwrap(), scratch.path().join("state"));
    let app = builder.credentials(Arc::new(Tokens::default())).build().await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    assert_eq!(call(&app).await.as_deref(), Ok(r#"{"token":"[redacted]"}"#));
    assert_eq!(api.take(), ["given-by-the-port"]);
    let refused = call(&app).await.unwrap_err();
    assert!(refused.contains("nobody has signed in to `a`"), "{refused}");
    assert_eq!(api.take(), [""; 0]);
    app.close().await;
}

/// Gives one token until it is refused, then another one.
#[derive(Default)]
struct RenewedToken {
    /// What each refusal said.
    refusals: Mutex<Vec<String>>,
}

impl RenewedToken {
    fn current(&self) -> CredentialSet {
        let number = 1 + self.refusals.lock().unwrap().len();
        let value = Secret::new(format!("Bearer p{number}"));
        CredentialSet::from([Credential { name: "authorization".to_owned(), value }])
    }
}

impl Credentials for RenewedToken {
    fn at_hand(&self, _: &Domain, _: &UpstreamIdentity) -> Option<CredentialSet> {
        Some(self.current())
    }

    fn obtain<'a>(
        &'a self,
        _: &'a Domain,
        _: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        ready(Ok(self.current())).boxed()
    }

    fn refused<'a>(
        &'a self,
        _: &'a Domain,
        _: &'a UpstreamIdentity,
        refusal: CredentialRefusal,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        let CredentialRefusal { carried, cause, .. } = refusal;
        let mut refusals = self.refusals.lock().unwrap();
        refusals.push(format!("{cause:?} {}", carried[0].value.expose()));
        if refusals.len() > 2 {
            let error = CredentialError::needs_sign_in("needs a sign-in");
            return ready(Err(error)).boxed();
        }
        drop(refusals);
        ready(Ok(self.current())).boxed()
    }
}

#[tokio::test]
async fn a_port_hears_of_a_refusal_and_the_call_is_made_once_more() {
    let text = |url: &str| {
        format!(
            "[sources.a]\nbase_url = '{url}'\n\
             actions = [{{ name = 'x', method = 'GET', path = '/x' }}]\n"
        )
    };
    let second = TokenApi { takes: |token| token == "p2", ..TokenApi::new() };
    let none = TokenApi { takes: |_| false, ..TokenApi::new() };
    for (api, arrives, refusals) in [
        (second, ["p1", "p2"], &["Unknown Bearer p1"][..]),
        (none, ["p1", "p2"], &["Unknown Bearer p1", "Unknown Bearer p2"]),
    ] {
        let (scratch, port) = (Scratch::new(), Arc::new(RenewedToken::default()));
        let builder =
            App::builder(toml(&text(&api.start().await)).unwrap(), scratch.path().join("state"));
        let app = builder.credentials(port.clone()).build().await.unwrap();
        assert_eq!(app.learn(&()).await, []);
        let answer = call(&app).await;
        assert_eq!(answer.is_ok(), refusals.len() == 1, "{answer:?}");
        assert_eq!(api.take(), arrives);
        assert_eq!(*port.refusals.lock().unwrap(), refusals);
        if refusals.len() == 2 {
            // The third token is refused, too, and only a person can help.
            let refused = call(&app).await.unwrap_err();
            assert!(refused.starts_with("`a` needs a sign-in"), "{refused}");
            assert_eq!(api.take(), ["p3"]);
        }
        app.close().await;
    }
}
