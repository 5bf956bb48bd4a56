//! A knowledge base behind the binary: read by workers, found, cited, and read again.

use std::fs;
use std::time::{Duration, Instant};

use gatefold_testkit::RawClient;
use serde_json::{Value, json};

use crate::process::Gateway;
use crate::scratch::Scratch;

const TRAVEL: &str =
    "# Travel policy\n\n## Hotels\n\nA hotel may cost at most 140 euros a night.\n";

fn put(scratch: &Scratch, path: &str, text: &str) {
    let path = scratch.path().join("handbook").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

async fn call(client: &mut RawClient, tool: &str, arguments: Value) -> Value {
    let arguments = json!({ "tool_name": tool, "arguments": arguments });
    let exchange = client.call("execute_tool", &arguments.to_string()).await.unwrap();
    serde_json::from_str(&exchange.text()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_documents_is_found_and_its_citations_read_back() {
    let scratch = Scratch::new();
    put(&scratch, "travel.md", TRAVEL);
    scratch.write("gatefold.toml", "[sources.handbook]\nknowledge = 'handbook'\n");
    let gateway = Gateway::serve(&scratch).await;
    let mut client = RawClient::new(gateway.url()).unwrap();
    client.initialize().await.unwrap();
    let end = Instant::now() + Duration::from_secs(30);
    let answer = loop {
        let query = json!({ "query": "how much may a hotel cost" });
        let answer = call(&mut client, "handbook__kb_retrieve", query).await.to_string();
        if answer.contains("140 euros") || Instant::now() > end {
            break answer;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert!(answer.contains("gatefold://handbook/kb/travel.md@"), "{answer}");
}
