//! A knowledge base behind the binary: read by workers, found, cited, and read again.

use std::fs;
use std::time::{Duration, Instant};

use axum::Router;
use axum::response::Html;
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

/// Repeats a search until its answer has these words.
async fn found(client: &mut RawClient, query: &Value, words: &str) -> String {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let answer = call(client, "handbook__kb_retrieve", query.clone()).await.to_string();
        if answer.contains(words) || Instant::now() > end {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A server with one page for every path, and its address.
async fn serve_page(page: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(async move || Html(page));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_documents_is_found_and_its_citations_read_back() {
    let scratch = Scratch::new();
    put(&scratch, "travel.md", TRAVEL);
    scratch.write("gatefold.toml", "[sources.handbook]\nknowledge = 'handbook'\n");
    let gateway = Gateway::serve(&scratch).await;
    let mut client = RawClient::new(gateway.url()).unwrap();
    client.initialize().await.unwrap();
    let query = json!({ "query": "how much may a hotel cost" });
    let answer = found(&mut client, &query, "140 euros").await;
    assert!(answer.contains("gatefold://handbook/kb/travel.md@"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_fetched_and_found_beside_a_folder() {
    let scratch = Scratch::new();
    put(&scratch, "travel.md", TRAVEL);
    let page = "<main><h1>Canteen</h1><p>The canteen opens at noon on all days.</p></main>";
    let site = serve_page(page).await;
    let config = format!("[sources.handbook]\nknowledge = ['handbook', '{site}/canteen']\n");
    scratch.write("gatefold.toml", &config);
    let gateway = Gateway::serve(&scratch).await;
    let mut client = RawClient::new(gateway.url()).unwrap();
    client.initialize().await.unwrap();
    let query = json!({ "query": "when does the canteen open" });
    let answer = found(&mut client, &query, "opens at noon").await;
    let port = site.rsplit(':').next().unwrap();
    let citation = format!("gatefold://handbook/kb/http%3A//127.0.0.1%3A{port}/canteen@");
    assert!(answer.contains(&citation), "{answer}");
    let query = json!({ "query": "how much may a hotel cost" });
    let answer = found(&mut client, &query, "140 euros").await;
    assert!(answer.contains("gatefold://handbook/kb/travel.md@"), "{answer}");
}
