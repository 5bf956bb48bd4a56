//! How an endpoint ends.

use std::time::Duration;

use gatefold_http::HttpEndpoint;
use gatefold_policy::Policy;
use libtest_mimic::Trial;
use serde_json::json;
use tokio::time::timeout;

use super::edge::{Edge, event_id, pass, request, said, trial};
use super::scripted::ScriptedServer;
use crate::upstream::support::LONG;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("calls_under_way_finish_before_the_endpoint_ends", finished),
        trial("calls_that_take_too_long_are_told_and_do_not_keep_the_endpoint", drained),
        trial("an_endpoint_that_nobody_uses_ends_at_once", at_once),
    ]
}

fn held() -> serde_json::Value {
    json!({"name": "execute_tool", "arguments": {"tool_name": "up__hold"}})
}

async fn finished() {
    let up = ScriptedServer::new("up").await;
    let mut edge = Edge::over(&[&up.settings]).await;
    let shutdown = edge.shutdown.clone();
    let session = edge.session("/mcp").await;
    let own = edge.session("/mcp/source/up").await;
    let mut stream = own.call(1, "hold", json!({})).await;
    stream.event().await;
    let body = request(2, "tools/call", &held());
    let end = async {
        up.script.reached("tools/call", 3).await;
        shutdown.cancel();
        // New connections are refused; those under way are left alone.
        tokio::task::yield_now().await;
        up.script.release();
    };
    let (alone, of_session, rest, ()) = tokio::join!(
        edge.ask("/mcp", "tools/call", held()),
        session.post(&body),
        stream.message(),
        end
    );
    assert_eq!(said(&alone.result()), "hold {}");
    assert_eq!(said(&of_session.result()), "hold {}");
    assert_eq!(said(&rest["result"]), "hold {}");
    drop(stream);
    let ended = timeout(LONG, &mut edge.served).await.expect("it ends").unwrap();
    ended.unwrap();
    assert_eq!(up.script.given_up(), 0);
}

async fn drained() {
    let up = ScriptedServer::new("up").await;
    let drain = Duration::from_millis(200);
    let endpoint = HttpEndpoint { drain, ..HttpEndpoint::default() };
    let mut edge = Edge::with(&[&up.settings], Policy::default(), endpoint).await;
    let shutdown = edge.shutdown.clone();
    let session = edge.session("/mcp/source/up").await;
    let mut call = session.call(1, "hold", json!({})).await;
    event_id(&call.event().await.unwrap());
    up.script.reached("tools/call", 1).await;
    let end = async {
        up.script.reached("tools/call", 3).await;
        shutdown.cancel();
    };
    let (alone, in_session, ()) = tokio::join!(
        edge.ask("/mcp", "tools/call", held()),
        session.ask(2, "tools/call", json!({"name": "hold"})),
        end
    );
    for answer in [alone.message(), in_session.message()] {
        let error = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(error.contains("stopped"), "{answer}");
    }
    let told = call.message().await;
    assert!(told["error"]["message"].as_str().unwrap().contains("stopped"), "{told}");
    assert_eq!(call.next().await, None, "the stream ends after that");
    timeout(LONG, &mut edge.served).await.expect("it ends").unwrap().unwrap();
    up.script.gave_up(3).await;
}

async fn at_once() {
    let up = ScriptedServer::new("up").await;
    let mut edge = Edge::over(&[&up.settings]).await;
    let session = edge.session("/mcp").await;
    let _notices = session.listen().await;
    edge.shutdown.clone().cancel();
    timeout(Duration::from_secs(5), &mut edge.served).await.expect("it ends").unwrap().unwrap();
    pass(Duration::from_secs(1)).await;
}
