//! What belongs to one principal is unknown to every other.

use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_core::{Narrowing, Principal, TokenGrant, TokenId, UserId};
use gatefold_http::{Authenticated, Authenticator, HttpEndpoint, Unauthenticated, Validity};
use gatefold_policy::Policy;
use libtest_mimic::Trial;
use reqwest::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::edge::{Edge, Reply, Sse, event_id, initialize, request, said, standing_alone, trial};
use super::scripted::ScriptedServer;
use crate::upstream::asking::ReferenceUpstream;
use crate::upstream::support::{Era, Wire};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("who_is_not_known_is_refused_and_told_how_to_prove_it", unknown),
        trial("the_session_of_another_principal_looks_unknown", session),
        trial("the_stream_of_another_principal_looks_unknown", stream),
        trial("the_parked_call_of_another_principal_looks_unknown", parked),
        trial("a_client_of_another_name_is_no_other_principal", claims),
        trial("what_another_token_of_the_same_user_began_looks_unknown", tokens),
        trial("what_runs_ends_when_it_is_no_longer_known_who_asked", validity),
    ]
}

/// The header by which a test says who it is.
const WHO: &str = "x-test-user";

/// Believes a header: `ann`, or `ann/7` for her token of this id.
#[derive(Default)]
struct HeaderAuthenticator {
    /// How long all that it says holds.
    validity: Option<Arc<Validity>>,
}

impl HeaderAuthenticator {
    fn principal(who: &str) -> Principal {
        let (user, token) = who.split_once('/').unwrap_or((who, ""));
        let grant = |id: &str| TokenGrant {
            id: TokenId::new(id),
            name: "token".into(),
            narrowing: Narrowing::default(),
        };
        let token = (!token.is_empty()).then(|| Arc::new(grant(token)));
        Principal { token, ..Principal::user(UserId::new(user)) }
    }
}

impl Authenticator for HeaderAuthenticator {
    fn authenticate<'a>(
        &'a self,
        request: &'a http::request::Parts,
    ) -> BoxFuture<'a, Result<Authenticated, Unauthenticated>> {
        let user = request.headers.get(WHO).and_then(|value| value.to_str().ok());
        let authenticated = user.map(|user| Authenticated {
            principal: Arc::new(Self::principal(user)),
            validity: self.validity.clone(),
        });
        let unauthenticated = || Unauthenticated {
            status: http::StatusCode::UNAUTHORIZED,
            message: "say who you are".to_owned(),
            challenge: Some(http::HeaderValue::from_static("Test realm=\"gatefold\"")),
        };
        Box::pin(std::future::ready(authenticated.ok_or_else(unauthenticated)))
    }
}

async fn edge_over(settings: &gatefold_mcp::McpSettings) -> Edge {
    edge_with(settings, HeaderAuthenticator::default()).await
}

async fn edge_with(
    settings: &gatefold_mcp::McpSettings,
    authenticator: HeaderAuthenticator,
) -> Edge {
    let authenticator = Arc::new(authenticator);
    let endpoint = HttpEndpoint { authenticator, ..HttpEndpoint::default() };
    Edge::with(&[settings], Policy::default(), endpoint).await
}

/// Opens a session for someone and gives its id.
async fn open(edge: &Edge, who: &str, path: &str, capabilities: &Value) -> String {
    let body = initialize(Some("2025-11-25"), capabilities);
    let reply = edge.post(path, &[(WHO, who)], &body).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.header("mcp-session-id")
}

/// Status and body of an answer, which together are all that a client learns.
async fn told(edge: &Edge, method: Method, headers: &[(&str, &str)], body: &str) -> (u16, String) {
    let reply = Reply::of(edge.send(method, "/mcp/source/up", headers, body).await).await;
    (reply.status, reply.body)
}

async fn unknown() {
    let up = ScriptedServer::new("up").await;
    let edge = edge_over(&up.settings).await;
    for path in ["/mcp", "/mcp/source/up", "/mcp/source/nothing", "/mcp?disclosure=loud"] {
        for method in [Method::POST, Method::GET, Method::DELETE] {
            let body = request(1, "ping", &json!({}));
            let reply = Reply::of(edge.send(method, path, &[], body).await).await;
            assert_eq!(reply.status, 401, "{path}");
            assert_eq!(reply.header("www-authenticate"), "Test realm=\"gatefold\"");
            let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"say who you are"}}"#;
            assert_eq!(reply.body, error);
        }
    }
    assert_eq!(up.script.count("tools/call"), 0);
}

async fn session() {
    let up = ScriptedServer::new("up").await;
    let edge = edge_over(&up.settings).await;
    let ann = open(&edge, "ann", "/mcp/source/up", &json!({})).await;
    let unheard = "0".repeat(32);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}).to_string();
    let answer = json!({"jsonrpc": "2.0", "id": "gatefold-0", "result": {}}).to_string();
    let call = request(1, "tools/call", &json!({"name": "say", "arguments": {}}));
    for (method, body) in [
        (Method::POST, call.as_str()),
        (Method::POST, cancel.as_str()),
        (Method::POST, answer.as_str()),
        (Method::GET, ""),
        (Method::DELETE, ""),
    ] {
        let told = async |id: &str| {
            told(&edge, method.clone(), &[(WHO, "bob"), ("mcp-session-id", id)], body).await
        };
        let (of_ann, of_nobody) = (told(&ann).await, told(&unheard).await);
        assert_eq!(of_ann, of_nobody, "{method} {body}");
        assert_eq!(of_ann.0, 404);
    }
    assert_eq!(up.script.count("tools/call"), 0);
    let own = told(&edge, Method::POST, &[(WHO, "ann"), ("mcp-session-id", &ann)], &call).await;
    assert_eq!(own.0, 200, "it is still there for whom it belongs to: {}", own.1);
}

async fn stream() {
    let up = ScriptedServer::new("up").await;
    let edge = edge_over(&up.settings).await;
    let ann = open(&edge, "ann", "/mcp/source/up", &json!({})).await;
    let bob = open(&edge, "bob", "/mcp/source/up", &json!({})).await;
    let headers = [(WHO, "ann"), ("mcp-session-id", ann.as_str())];
    let call = request(7, "tools/call", &json!({"name": "hold", "arguments": {}}));
    let mut call = Sse::of(edge.send(Method::POST, "/mcp/source/up", &headers, call).await);
    let first = call.event().await.unwrap();
    let event = event_id(&first);
    up.script.reached("tools/call", 1).await;
    drop(call);
    let resume = async |who: &str, session: &str, event: &str| {
        let headers = [(WHO, who), ("mcp-session-id", session), ("last-event-id", event)];
        told(&edge, Method::GET, &headers, "").await
    };
    let in_hers = resume("bob", &ann, event).await;
    assert_eq!(in_hers, resume("bob", &"0".repeat(32), event).await);
    let in_his = resume("bob", &bob, event).await;
    assert_eq!(in_his, resume("bob", &bob, "99-0").await);
    assert_eq!((in_hers.0, in_his.0), (404, 400));
    up.script.release();
    let (status, body) = resume("ann", &ann, event).await;
    assert_eq!(status, 200);
    assert!(body.contains("hold {}"), "{body}");
}

async fn parked() {
    let up = ReferenceUpstream::new(Wire::Http, Era::Handshake).await;
    let edge = edge_over(&up.settings).await;
    let params = json!({"name": "matrix_elicit", "arguments": {}});
    let ask = async |who: &str, params: Value| {
        let (headers, body) = standing_alone("tools/call", params);
        let own = headers.iter().map(|(key, value)| (*key, value.as_str()));
        let headers: Vec<_> = own.chain([(WHO, who)]).collect();
        edge.post("/mcp/source/up", &headers, &body).await
    };
    let asked = ask("ann", params.clone()).await.result();
    assert_eq!(asked["resultType"], "input_required");
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let answered = |state: &Value| {
        let mut again = params.clone();
        again["requestState"] = state.clone();
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        again["inputResponses"] = json!({ &key: answer });
        again
    };
    let state = &asked["requestState"];
    let of_ann = ask("bob", answered(state)).await;
    let of_nobody = ask("bob", answered(&"made up".into())).await;
    assert_eq!((of_ann.status, &of_ann.body), (of_nobody.status, &of_nobody.body));
    let own = ask("ann", answered(state)).await.result();
    assert_eq!(said(&own), r#"action=accept, content={"name":"Ada"}"#);
}

async fn claims() {
    let up = ScriptedServer::new("up").await;
    let edge = edge_over(&up.settings).await;
    let ann = open(&edge, "ann", "/mcp/source/up", &json!({})).await;
    let headers = [(WHO, "ann"), ("mcp-session-id", ann.as_str()), ("user-agent", "another/1")];
    let (status, _) = told(&edge, Method::POST, &headers, &request(1, "ping", &json!({}))).await;
    assert_eq!(status, 200);
}

async fn tokens() {
    let up = ReferenceUpstream::new(Wire::Http, Era::Handshake).await;
    let edge = edge_over(&up.settings).await;
    let session = open(&edge, "ann/one", "/mcp/source/up", &json!({})).await;
    let ping = request(1, "ping", &json!({}));
    let asked = async |who: &str, session: &str| {
        told(&edge, Method::POST, &[(WHO, who), ("mcp-session-id", session)], &ping).await
    };
    let of_one = asked("ann/two", &session).await;
    assert_eq!(of_one, asked("ann/two", &"0".repeat(32)).await);
    assert_eq!(of_one, asked("ann", &session).await, "and to her without a token");
    assert_eq!(of_one.0, 404);
    assert_eq!(asked("ann/one", &session).await.0, 200);

    let params = json!({"name": "matrix_elicit", "arguments": {}});
    let ask = async |who: &str, params: Value| {
        let (headers, body) = standing_alone("tools/call", params);
        let own = headers.iter().map(|(key, value)| (*key, value.as_str()));
        let headers: Vec<_> = own.chain([(WHO, who)]).collect();
        edge.post("/mcp/source/up", &headers, &body).await
    };
    let asked = ask("ann/one", params.clone()).await.result();
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let answered = |state: &Value| {
        let mut again = params.clone();
        again["requestState"] = state.clone();
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        again["inputResponses"] = json!({ &key: answer });
        again
    };
    let state = &asked["requestState"];
    let of_one = ask("ann/two", answered(state)).await;
    let of_nobody = ask("ann/two", answered(&"made up".into())).await;
    assert_eq!((of_one.status, &of_one.body), (of_nobody.status, &of_nobody.body));
    assert_eq!(edge.world.dispatcher.parked(), 1, "it waits for its own token");
    edge.world.dispatcher.end_parked(|principal| {
        principal.token.as_ref().is_some_and(|token| token.id.as_str() == "two")
    });
    assert_eq!(edge.world.dispatcher.parked(), 1);
    edge.world.dispatcher.end_parked(|principal| principal.token.is_some());
    assert_eq!(edge.world.dispatcher.parked(), 0, "nobody can come back for it");
}

async fn validity() {
    let up = ScriptedServer::new("up").await;
    let over = CancellationToken::new();
    let refusal = Unauthenticated {
        status: http::StatusCode::UNAUTHORIZED,
        message: "no longer".to_owned(),
        challenge: Some(http::HeaderValue::from_static("Test")),
    };
    let validity = Some(Arc::new(Validity { over: over.clone(), refusal }));
    let edge = edge_with(&up.settings, HeaderAuthenticator { validity }).await;
    let session = open(&edge, "ann", "/mcp/source/up", &json!({})).await;
    let headers = [(WHO, "ann"), ("mcp-session-id", session.as_str())];
    // One answer has not begun, one has become a stream, one is a stream of notices.
    let held = request(7, "tools/call", &json!({"name": "hold", "arguments": {}}));
    let stream = edge.send(Method::POST, "/mcp/source/up", &headers, held.clone()).await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let notices = edge.send(Method::GET, "/mcp/source/up", &headers, "").await;
    let unbegun = edge.send(Method::POST, "/mcp/source/up", &headers, held.replace('7', "8"));
    let ending = async {
        up.script.reached("tools/call", 2).await;
        over.cancel();
    };
    let (unbegun, ()) = tokio::join!(unbegun, ending);
    let unbegun = Reply::of(unbegun).await;
    assert_eq!((unbegun.status, unbegun.header("www-authenticate").as_str()), (401, "Test"));
    assert!(unbegun.body.contains("no longer"), "{}", unbegun.body);
    for stream in [stream, notices] {
        let reply = Reply::of(stream).await;
        assert!(!reply.body.contains("result"), "{}", reply.body);
    }
}
