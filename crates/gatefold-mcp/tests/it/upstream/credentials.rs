//! Credentials that change, or cannot be obtained, while a session is open.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use gatefold_core::{CallError, Domain, Principal, Secret, UpstreamIdentity, UserId};
use gatefold_dispatch::{
    Caller, Credential, CredentialError, CredentialRefusal, CredentialSet, Credentials,
    IdentityScope,
};
use gatefold_mcp::Transport;
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::support::{LONG, http, trial};
use super::world::{World, WorldOptions};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("each_request_carries_the_token_that_is_good_then", changing),
        trial("credentials_that_cannot_be_had_make_a_source_unavailable", lacking),
        trial("a_session_is_opened_as_soon_as_there_are_credentials_for_it", opening),
        trial("credentials_are_those_of_the_identity", own),
        trial("each_user_sees_and_calls_what_the_server_lists_for_them", listed),
        trial("a_refusal_is_of_what_the_request_carried", refusing),
        trial("headers_of_the_configuration_go_beside_credentials", beside),
        trial("a_new_sign_in_gets_a_new_session_and_a_new_list", signed_in_again),
    ]
}

/// A port whose token a test sets.
#[derive(Default)]
struct Tokens {
    /// What is at hand, or none if it has to be obtained.
    at_hand: Mutex<Option<CredentialSet>>,
    /// What `obtain` returns.
    obtained: Mutex<Option<String>>,
    /// What was refused.
    refused: Mutex<Vec<String>>,
    /// The number of the sign-in.
    sign_in: Mutex<Option<u64>>,
}

fn bearer(token: &str) -> CredentialSet {
    let value = Secret::new(format!("Bearer {token}"));
    Arc::from([Credential { name: "authorization".to_owned(), value }])
}

impl Credentials for Tokens {
    fn at_hand(&self, _: &Domain, identity: &UpstreamIdentity) -> Option<CredentialSet> {
        match identity {
            UpstreamIdentity::User(user) => Some(bearer(user.as_str())),
            UpstreamIdentity::Client(credential) => {
                credential.value.as_ref().map(|value| bearer(value.expose()))
            }
            UpstreamIdentity::Shared => self.at_hand.lock().unwrap().clone(),
        }
    }

    fn sign_in(&self, _: &Domain, _: &UpstreamIdentity) -> Option<u64> {
        *self.sign_in.lock().unwrap()
    }

    fn obtain<'a>(
        &'a self,
        domain: &'a Domain,
        _: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        Box::pin(async move {
            let token = self.obtained.lock().unwrap().clone();
            let token = token.ok_or_else(|| {
                CredentialError::new(format!("nobody has signed in to `{domain}`"))
            })?;
            Ok(bearer(&token))
        })
    }

    fn refused<'a>(
        &'a self,
        _: &'a Domain,
        _: &'a UpstreamIdentity,
        refusal: CredentialRefusal,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        let carried = refusal.carried.first().map(|own| own.value.expose().to_owned());
        self.refused.lock().unwrap().extend(carried);
        let current = self.at_hand.lock().unwrap().clone();
        Box::pin(std::future::ready(current.ok_or_else(|| CredentialError::new("none"))))
    }
}

/// How long a call with the token `slow` takes before it is refused.
const SLOW: std::time::Duration = std::time::Duration::from_millis(500);

/// A server that records which tenant and which token came with which method.
async fn serve() -> (String, Arc<Mutex<Vec<(String, String)>>>) {
    let seen = Arc::<Mutex<Vec<_>>>::default();
    let noted = seen.clone();
    let router = Router::new().fallback(async move |headers: HeaderMap, body: Bytes| {
        let sent = ["x-tenant", "authorization"].map(|name| headers.get(name));
        let sent: Vec<_> =
            sent.into_iter().flatten().map(|value| value.to_str().unwrap()).collect();
        let (method, response) = answer(&body, &sent.join(" "));
        let is_slow = method == "tools/call" && sent.contains(&"Bearer slow");
        noted.lock().unwrap().push((method, sent.join(" ")));
        if is_slow {
            tokio::time::sleep(SLOW).await;
            return StatusCode::UNAUTHORIZED.into_response();
        }
        response
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, seen)
}

/// Every token gets `echo`, and one tool named after the token.
fn answer(body: &[u8], token: &str) -> (String, Response) {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let method = request["method"].as_str().unwrap_or_default().to_owned();
    let result = match method.as_str() {
        "server/discover" => {
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        }
        "tools/list" => {
            let own = token.rsplit(' ').next().unwrap_or_default();
            let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
            json!({"tools": [tool("echo"), tool(&format!("of_{own}"))]})
        }
        "tools/call" => json!({"content": [{"type": "text", "text": "done"}]}),
        _ => return (method, StatusCode::METHOD_NOT_ALLOWED.into_response()),
    };
    let id = &request["id"];
    (method, axum::Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response())
}

fn world(url: &str, tokens: &Arc<Tokens>, made: &WorldOptions) -> World {
    let credentials = Some(tokens.clone() as Arc<dyn Credentials>);
    World::made(&[&http("up", url)], &WorldOptions { credentials, ..made.clone() })
}

fn calls(seen: &Mutex<Vec<(String, String)>>) -> Vec<String> {
    let seen = seen.lock().unwrap();
    let calls = seen.iter().filter(|(method, _)| method == "tools/call");
    calls.map(|(_, token)| token.clone()).collect()
}

async fn signed_in_again() {
    let (url, seen) = serve().await;
    let greetings = || {
        let all = seen.lock().unwrap();
        all.iter().filter(|(method, _)| method == "server/discover").count()
    };
    let tokens = Arc::<Tokens>::default();
    let sign_in = |number, token: &str| {
        *tokens.sign_in.lock().unwrap() = Some(number);
        *tokens.at_hand.lock().unwrap() = Some(bearer(token));
    };
    sign_in(1, "ann");
    let world = world(&url, &tokens, &WorldOptions::default());
    assert_eq!(world.refresh().await[0].1, Ok(()));
    sign_in(1, "ann2");
    world.text("up__echo", "{}").await;
    assert_eq!(greetings(), 1, "a refreshed token is the same sign-in");
    sign_in(2, "bob");
    world.text("up__echo", "{}").await;
    assert_eq!(greetings(), 2, "another account's session is not used on");
    let shows = |tool: &str| world.tools().contains(&tool.to_owned());
    assert!(wait_until(LONG, || shows("up__of_bob") && !shows("up__of_ann")).await);
    world.text("up__echo", "{}").await;
    assert_eq!((greetings(), world.report("up").status.sessions), (2, 1));
    *tokens.sign_in.lock().unwrap() = None;
    world.text("up__echo", "{}").await;
    assert_eq!(greetings(), 2, "where nothing is known at once, the session stays");
}

async fn changing() {
    let (url, seen) = serve().await;
    let tokens = Arc::<Tokens>::default();
    *tokens.at_hand.lock().unwrap() = Some(bearer("one"));
    let world = world(&url, &tokens, &WorldOptions::default());
    assert_eq!(world.refresh().await[0].1, Ok(()));
    world.text("up__echo", "{}").await;
    world.text("up__echo", "{}").await;
    *tokens.at_hand.lock().unwrap() = Some(bearer("two"));
    world.text("up__echo", "{}").await;
    *tokens.at_hand.lock().unwrap() = None;
    *tokens.obtained.lock().unwrap() = Some("three".to_owned());
    world.text("up__echo", "{}").await;
    let expected = ["Bearer one", "Bearer one", "Bearer two", "Bearer three"];
    assert_eq!(calls(&seen), expected);
    let greeted = seen.lock().unwrap().iter().filter(|(own, _)| own == "server/discover").count();
    assert_eq!(greeted, 1, "the session is the same");
}

async fn lacking() {
    let (url, seen) = serve().await;
    let tokens = Arc::<Tokens>::default();
    *tokens.at_hand.lock().unwrap() = Some(bearer("one"));
    let world = world(&url, &tokens, &WorldOptions::default());
    assert_eq!(world.refresh().await[0].1, Ok(()));
    *tokens.at_hand.lock().unwrap() = None;
    let error = world.call("up__echo", "{}").await.unwrap_err();
    assert!(matches!(error, CallError::Unavailable { .. }), "{error:?}");
    let expected = "`up` is unavailable: its credentials could not be had: nobody has signed in \
                    to `up`";
    assert_eq!(error.to_string(), expected);
    assert!(calls(&seen).is_empty(), "nothing was sent");
    *tokens.obtained.lock().unwrap() = Some("two".to_owned());
    world.text("up__echo", "{}").await;
    assert_eq!(calls(&seen), ["Bearer two"], "the next request asks again");
}

/// Who gives the credentials was down for a while. The server was not, so it is asked at once.
async fn opening() {
    let (url, seen) = serve().await;
    let tokens = Arc::<Tokens>::default();
    *tokens.at_hand.lock().unwrap() = Some(bearer("one"));
    let first = world(&url, &tokens, &WorldOptions::default());
    assert_eq!(first.refresh().await[0].1, Ok(()));
    let known = Some(first.keeper.last());
    *tokens.at_hand.lock().unwrap() = None;
    let world = world(&url, &tokens, &WorldOptions { known, ..WorldOptions::default() });
    // As often as the circuit breaker lets it.
    for _ in 0..4 {
        let error = world.call("up__echo", "{}").await.unwrap_err().to_string();
        assert!(error.ends_with("nobody has signed in to `up`"), "{error}");
    }
    *tokens.obtained.lock().unwrap() = Some("two".to_owned());
    world.text("up__echo", "{}").await;
    assert_eq!(calls(&seen), ["Bearer two"]);
}

async fn own() {
    let (url, seen) = serve().await;
    let tokens = Arc::<Tokens>::default();
    *tokens.at_hand.lock().unwrap() = Some(bearer("shared"));
    let first = world(&url, &tokens, &WorldOptions::default());
    assert_eq!(first.refresh().await[0].1, Ok(()));
    let (identity, known) = (IdentityScope::PerUser, Some(first.keeper.last()));
    let world = world(&url, &tokens, &WorldOptions { identity, known, ..WorldOptions::default() });
    for user in ["ann", "bob", "ann"] {
        let principal = Principal::user(UserId::new(user));
        world.call_with("up__echo", "{}", &principal, Caller::silent()).await.unwrap();
    }
    assert_eq!(calls(&seen), ["Bearer ann", "Bearer bob", "Bearer ann"]);
}

/// A call that is refused when another one has new credentials already.
async fn refusing() {
    let (url, seen) = serve().await;
    let tokens = Arc::<Tokens>::default();
    *tokens.at_hand.lock().unwrap() = Some(bearer("slow"));
    let world = world(&url, &tokens, &WorldOptions::default());
    assert_eq!(world.refresh().await[0].1, Ok(()));
    let late = async {
        // The server has the first call by then, and lets it wait.
        let has_it = || calls(&seen).iter().any(|token| token == "Bearer slow");
        assert!(wait_until(LONG, has_it).await);
        *tokens.at_hand.lock().unwrap() = Some(bearer("new"));
        world.text("up__echo", "{}").await;
    };
    futures::join!(world.text("up__echo", "{}"), late);
    assert_eq!(*tokens.refused.lock().unwrap(), ["Bearer slow"]);
    assert_eq!(calls(&seen), ["Bearer slow", "Bearer new", "Bearer new"]);
}

async fn beside() {
    let (url, seen) = serve().await;
    let tokens = Arc::<Tokens>::default();
    *tokens.at_hand.lock().unwrap() = Some(bearer("good"));
    let mut settings = http("up", &url);
    let Transport::Http(remote) = &mut settings.transport else { panic!("it is remote") };
    let header = |name: &str, value: &str| (name.to_owned(), Secret::new(value));
    remote.headers = vec![header("x-tenant", "acme"), header("Authorization", "Bearer old")];
    let credentials = Some(tokens as Arc<dyn Credentials>);
    let world = World::made(&[&settings], &WorldOptions { credentials, ..WorldOptions::default() });
    assert_eq!(world.refresh().await[0].1, Ok(()));
    world.text("up__echo", "{}").await;
    assert_eq!(calls(&seen), ["acme Bearer good"]);
}

async fn listed() {
    let (url, seen) = serve().await;
    let made = WorldOptions { identity: IdentityScope::PerUser, ..WorldOptions::default() };
    let world = world(&url, &Arc::default(), &made);
    let user = |name: &str| Principal::user(UserId::new(name));
    let tools = |name: &str| {
        let pinned = world.dispatcher.pin(Arc::new(user(name)));
        let tools = pinned.view().tools().map(|tool| tool.id().to_string());
        tools.collect::<Vec<_>>()
    };
    for name in ["ann", "bob"] {
        assert!(wait_until(LONG, || !tools(name).is_empty()).await, "{name} is asked about");
        assert_eq!(tools(name), ["up__echo".to_owned(), format!("up__of_{name}")]);
    }
    let call = async |tool: &str| world.call_with(tool, "{}", &user("ann"), Caller::silent()).await;
    call("up__of_ann").await.unwrap();
    let error = call("up__of_bob").await.unwrap_err();
    assert_eq!(error.to_string(), "unknown tool `up__of_bob`");
    assert_eq!(calls(&seen), ["Bearer ann"]);
}
