//! A resource that is not there, said in the words of the client's own era.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::edge::{Edge, Reply, trial};
use crate::upstream::asking::ReferenceUpstream;
use crate::upstream::support::{Era, Upstream, Wire};

pub(super) fn trials() -> Vec<Trial> {
    let ways = [Era::Handshake, Era::Stateless]
        .into_iter()
        .flat_map(|server| [(server, Era::Handshake), (server, Era::Stateless)].into_iter());
    ways.flat_map(|(server, client)| {
        let way = format!("{client:?}_client_{server:?}_server").to_lowercase();
        [
            trial(
                format!("a_missing_resource_has_the_code_of_the_clients_era::{way}"),
                move || missing(server, client),
            ),
            trial(format!("other_refusals_keep_their_codes::{way}"), move || {
                untouched(server, client)
            }),
        ]
    })
    .collect()
}

/// The answer to a client of this era.
async fn asked(edge: &Edge, client: Era, path: &str, method: &str, params: Value) -> Reply {
    match client {
        Era::Handshake => edge.session(path).await.ask(1, method, params).await,
        Era::Stateless => edge.ask(path, method, params).await,
    }
}

async fn missing(server: Era, client: Era) {
    let code = match client {
        Era::Handshake => -32002,
        Era::Stateless => -32602,
    };
    for wire in [Wire::Http, Wire::Stdio] {
        let up = ReferenceUpstream::new(wire, server).await;
        let edge = Edge::over(&[&up.settings]).await;
        for (path, uri) in
            [("/mcp", "gatefold://up/test://nowhere"), ("/mcp/source/up", "test://nowhere")]
        {
            let reply = asked(&edge, client, path, "resources/read", json!({"uri": uri})).await;
            let error = &reply.message()["error"];
            assert_eq!(error["code"], code, "{wire:?} {path}: {}", reply.body);
            assert_eq!(error["message"], "Resource not found", "{wire:?} {path}: {}", reply.body);
            assert_eq!(error["data"], json!({"uri": "test://nowhere"}), "{wire:?} {path}");
        }
    }
}

async fn untouched(server: Era, client: Era) {
    let up = ReferenceUpstream::new(Wire::Http, server).await;
    let edge = Edge::over(&[&up.settings]).await;
    for (path, name) in [
        ("/mcp", "up__test_prompt_with_arguments"),
        ("/mcp/source/up", "test_prompt_with_arguments"),
    ] {
        let params = json!({"name": name, "arguments": {}});
        let reply = asked(&edge, client, path, "prompts/get", params).await;
        assert_eq!(reply.code(), Some(-32602), "{path}: {}", reply.body);
    }
    let up = Upstream::new("up", Wire::Http, server, &[]);
    let edge = Edge::over(&[&up.settings]).await;
    for code in [-32602, -32002, -32042, -1, -32600, -32601, -32700, -32020, -32022] {
        let arguments = json!({"code": code, "message": "no"});
        let params = json!({"name": "protocol_error", "arguments": arguments});
        let reply = asked(&edge, client, "/mcp/source/up", "tools/call", params).await;
        let error = &reply.message()["error"];
        let data = json!({"why": "asked", "big": 9_007_199_254_740_993_u64});
        assert_eq!((&error["code"], &error["data"]), (&json!(code), &data), "{}", reply.body);
        assert_eq!(error["message"], "no", "{code}");
    }
}
