//! What a search answers to requests over the real tool lists: its length, and whether the right
//! tool is in it.

use std::path::Path;

use anyhow::{Context as _, Result};
use gatefold_catalog::{Hit, Scope, SearchMode, View, search};
use gatefold_core::Domain;
use gatefold_disclose::Gateway;
use serde::Deserialize;
use serde_json::value::RawValue;
use tiktoken_rs::CoreBPE;

use super::reading::{count, discover, text_of};
use super::table::markdown;

/// How many tools count as shown first.
const FIRST: usize = 5;

/// One request, and the tools of which any one is right, as `server/name`.
#[derive(Deserialize)]
struct Request {
    text: String,
    relevant: Vec<String>,
}

#[derive(Deserialize)]
struct Page {
    results: Vec<Box<RawValue>>,
}

/// The table over a file of requests, one JSON object a line.
pub(super) fn table(vocabulary: &CoreBPE, view: &View, requests: &Path) -> Result<String> {
    let text = std::fs::read_to_string(requests).context("the requests cannot be read")?;
    let (mut tokens, mut best, mut ranked, mut shown) = (Vec::new(), 0, 0, 0);
    for line in text.lines() {
        let request: Request = serde_json::from_str(line).context("a request cannot be read")?;
        let hits = search(view, &request.text, &Scope::default(), SearchMode::default(), FIRST);
        let place = hits.iter().position(|hit| is_right(hit, &request.relevant));
        let arguments = serde_json::json!({ "query": request.text }).to_string();
        let answer = discover(&Gateway::default(), view, &arguments)?;
        let answer = answer.content.first().map(|block| text_of(block)).unwrap_or_default();
        let page: Page = serde_json::from_str(&answer).context("an answer cannot be read")?;
        tokens.push(count(vocabulary, &answer));
        best += usize::from(place == Some(0));
        ranked += usize::from(place.is_some());
        shown += usize::from(place.is_some_and(|place| place < page.results.len()));
    }
    tokens.sort_unstable();
    let rows = [
        ("tokens of an answer, median", tokens.get(tokens.len() / 2).copied().unwrap_or_default()),
        ("... most", tokens.last().copied().unwrap_or_default()),
        ("requests with the right tool first", best),
        ("... among the first five of the ranking", ranked),
        ("... among the first five of the answer", shown),
    ];
    let rows: Vec<_> =
        rows.iter().map(|(what, number)| vec![(*what).to_owned(), number.to_string()]).collect();
    let head = [&*format!("answers to {} requests", tokens.len()), "number"];
    Ok(markdown(&head, &rows))
}

fn is_right(hit: &Hit<'_>, relevant: &[String]) -> bool {
    relevant.iter().any(|tool| {
        tool.split_once('/').is_some_and(|(server, name)| {
            hit.tool.domain() == &Domain::from_key(server) && hit.tool.definition().name() == name
        })
    })
}
