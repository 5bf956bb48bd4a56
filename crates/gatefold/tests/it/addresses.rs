//! Addresses of knowledge bases: how they are written, and what is made of them.

use std::time::{Duration, Instant};

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::Redirect;
use axum::routing::get;
use gatefold::App;
use gatefold_core::{Operation, Principal, Uri};
use serde_json::json;

use crate::knowledge::{call, make, put};
use crate::scratch::{LIMIT, Scratch, toml};
use crate::worker::worker;

const CANTEEN: &str = "<title>Canteen</title><main><h1>Canteen</h1><p>The canteen opens at noon and \
    serves soup to whoever works here.</p></main>";

/// A site with one page, and its address.
async fn site() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new()
        .route("/canteen", get(async || ([(header::CONTENT_TYPE, "text/html")], CANTEEN)))
        .route("/metadata", get(async || Redirect::temporary("http://169.254.169.254/latest")))
        .route("/missing", get(async || StatusCode::NOT_FOUND));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_and_addresses_are_one_base() {
    let (scratch, site) = (Scratch::new(), site().await);
    put(
        &scratch,
        "handbook/travel.md",
        b"# Travel\n\nA hotel may cost at most 140 euros a night.\n",
    );
    let text = "[sources.handbook]\nknowledge = ['HOME/handbook', 'SITE/canteen#soup', 'SITE/metadata', \
                'SITE/missing']\nrefresh = '5m'\n";
    let text = text.replace("HOME", &scratch.path().display().to_string()).replace("SITE", &site);
    let config = toml(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let builder = App::builder(config, scratch.path().join("state"));
    let app = builder.worker(worker()).build().await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    let (local, end) = (Principal::local(), Instant::now() + LIMIT);
    let said = loop {
        let listed = call(&app, &local, "handbook__list_documents", json!({})).await.unwrap();
        let said = listed["content"][0]["text"].as_str().unwrap().to_owned();
        if said.starts_with("4 documents") && !said.contains("still being read") {
            break said;
        }
        assert!(Instant::now() < end, "{said}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    for expected in [
        "- `travel.md`: Travel",
        &format!("- `{site}/canteen`: Canteen"),
        "(unreachable: its address leads to one that may not be reached)",
        "(missing: its server answered 404 Not Found)",
    ] {
        assert!(said.contains(expected), "{said}");
    }
    assert!(!said.contains("allow_private"), "a model configures nothing: {said}");
    let query = json!({ "query": "when does the canteen open" });
    let passage = loop {
        let answer = call(&app, &local, "handbook__kb_retrieve", query.clone()).await.unwrap();
        let passage = answer["structuredContent"]["passages"][0].clone();
        if passage["title"] == "Canteen" {
            break passage;
        }
        assert!(Instant::now() < end, "{answer}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let citation = Uri::new(passage["citation"].as_str().unwrap());
    let read = make(&app, &local, Operation::Resource(citation)).await.unwrap();
    assert_eq!(read["contents"][0]["text"], passage["text"]);
    app.close().await;
}

#[test]
fn what_is_no_address_of_a_document_is_refused() {
    let long = format!("'https://example.com/{}'", "x".repeat(1024));
    for (value, expected) in [
        ("'file:///etc/passwd'", "has an address with `file:`, which is not read"),
        ("['a', 'FILE:/etc/passwd']", "has an address with `file:`, which is not read"),
        ("'ftp://example.com/a.md'", "has an address with `ftp:`, which is not read"),
        ("'https://'", "is not an address"),
        ("'https://me:pass@example.com/'", "has a user name or a secret in it"),
        ("[]", "name a folder, a file or an address"),
        (long.as_str(), "is longer than 1024 bytes"),
        ("'https://example.com/'\nrefresh = '10s'", "is less than 60s"),
        ("'handbook'\nrefresh = '1h'", "is about addresses, and `knowledge` has none"),
        ("'handbook'\nallow_private = true", "is about addresses, and `knowledge` has none"),
    ] {
        let error = toml(&format!("[sources.handbook]\nknowledge = {value}\n")).unwrap_err();
        assert!(error.to_string().contains(expected), "{value}: {error}");
        assert_eq!(error.faults().len(), 1, "{error}");
    }
}

#[test]
fn addresses_are_shown_as_they_are_fetched() {
    let text = "[sources.handbook]\nknowledge = ['HTTPS://Example.com/a#b', 'https://example.com/a']\n\
                allow_private = ['10.0.0.0/8']\n";
    let config = toml(text).unwrap();
    let shown = config.sources[0].section.usable().unwrap().shown();
    assert_eq!(shown["knowledge"], json!(["https://example.com/a"]));
    assert_eq!(
        (&shown["refresh"], &shown["allow_private"]),
        (&json!("1h"), &json!(["10.0.0.0/8"]))
    );
}
