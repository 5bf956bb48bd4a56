//! Sources that lead back to the gateway.

use gatefold_http::HttpEndpoint;
use gatefold_mcp::McpSettings;
use libtest_mimic::Trial;
use serde_json::json;
use tokio::net::TcpListener;

use super::edge::{Edge, trial};
use super::scripted::{ScriptedServer, tool_names};
use crate::upstream::support::http;
use crate::upstream::world::World;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("a_source_that_is_the_gateway_itself_is_refused_at_the_greeting", itself),
        trial("two_gateways_that_name_each_other_grow_no_list", each_other),
        trial("gateways_in_a_row_are_no_loop", in_a_row),
    ]
}

/// Where a gateway will be, and itself as a source of this name.
async fn place(domain: &str) -> (TcpListener, McpSettings) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?disclosure=flat", listener.local_addr().unwrap());
    (listener, http(domain, &url))
}

fn serve(listener: TcpListener, sources: &[&McpSettings]) -> Edge {
    Edge::at(listener, World::new(sources), HttpEndpoint::default())
}

/// Why each source gives no list, if it does not.
async fn refusals(edge: &Edge) -> Vec<String> {
    let refreshed = edge.world.refresh().await;
    refreshed.into_iter().filter_map(|(_, fared)| fared.err()).collect()
}

async fn tools(edge: &Edge) -> usize {
    tool_names(&edge.result("/mcp?disclosure=flat", "tools/list", json!({})).await).len()
}

async fn itself() {
    let up = ScriptedServer::new("up").await;
    let (listener, own) = place("own").await;
    let edge = serve(listener, &[&own, &up.settings]);
    let refused = refusals(&edge).await;
    assert!(refused.len() == 1 && refused[0].contains("leads back"), "{refused:?}");
    let listed = tools(&edge).await;
    assert_eq!(refusals(&edge).await.len(), 1);
    assert_eq!(tools(&edge).await, listed);
}

async fn each_other() {
    let up = ScriptedServer::new("up").await;
    let ((one_at, one), (other_at, other)) = (place("one").await, place("other").await);
    let gateway = serve(one_at, &[&other, &up.settings]);
    let (one, other) = (gateway, serve(other_at, &[&one]));
    tokio::join!(one.world.refresh(), other.world.refresh());
    let listed = (tools(&one).await, tools(&other).await);
    for _ in 0..4 {
        tokio::join!(one.world.refresh(), other.world.refresh());
    }
    assert_eq!((tools(&one).await, tools(&other).await), listed, "no list has grown");
    let refused = [refusals(&one).await, refusals(&other).await].concat();
    assert!(refused.iter().any(|why| why.contains("leads back")), "{refused:?}");
}

async fn in_a_row() {
    let up = ScriptedServer::new("up").await;
    let ((last_at, last), (middle_at, middle), (first_at, _)) =
        (place("last").await, place("middle").await, place("first").await);
    let last_gateway = serve(last_at, &[&up.settings]);
    assert_eq!(refusals(&last_gateway).await, Vec::<String>::new());
    let middle_gateway = serve(middle_at, &[&last]);
    assert_eq!(refusals(&middle_gateway).await, Vec::<String>::new());
    let first_gateway = serve(first_at, &[&middle, &last]);
    assert_eq!(refusals(&first_gateway).await, Vec::<String>::new());
    assert_eq!(refusals(&middle_gateway).await, Vec::<String>::new(), "it has one in front now");
    assert!(tools(&first_gateway).await > tools(&middle_gateway).await);
}
