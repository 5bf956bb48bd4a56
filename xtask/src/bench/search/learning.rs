//! What past queries are worth, on the sets that have enough requests for each tool.

use std::path::Path;

use anyhow::Result;
use gatefold_encoder::Embedder;
use gatefold_search::Mode;
use gatefold_search::measure::{
    Gain, Learning, Likenesses, ListedTool, Request, Trial, learning, read_requests, read_tools,
};

use super::encoded;
use crate::bench::table::markdown;

/// How many requests for each tool a set must have.
const LEAST_REQUESTS: usize = 4;

/// How many past queries a tool gets, and of how many tools one gets any.
const TRIALS: [(usize, usize); 4] = [(1, 1), (3, 1), (10, 1), (3, 2)];

/// The most requests that are asked in a trial.
const ASKED: usize = 500;

/// A table with a row for each trial, if a set is large enough for any.
pub(super) fn table(
    sets: &[impl AsRef<Path>],
    encoder: Option<&Embedder>,
) -> Result<Option<String>> {
    let mut rows = Vec::new();
    for set in sets {
        let set = set.as_ref();
        let tools = read_tools(&std::fs::read_to_string(set.join("tools.jsonl"))?)?;
        let requests = read_requests(&std::fs::read_to_string(set.join("queries.jsonl"))?)?;
        if requests.len() < LEAST_REQUESTS * tools.len() {
            continue;
        }
        let name = set.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut rankings: Vec<(&str, Option<&Likenesses<'_>>)> = vec![("", None)];
        let likenesses;
        if let Some(encoder) = encoder {
            let passages: Vec<_> = tools.iter().map(ListedTool::passage).collect();
            let texts = requests.iter().map(|request| &*request.text);
            encoded::read(encoder, passages.iter().map(String::as_str).chain(texts));
            likenesses =
                |request: &str, texts: &[&str]| encoded::likenesses(encoder, request, texts);
            rankings.push((", with the encoder", Some(&likenesses)));
        }
        for (ranking, likenesses) in rankings {
            let name = format!("{name}{ranking}");
            let row = |trial| row(&name, &tools, &requests, trial, likenesses);
            rows.extend(TRIALS.map(row));
        }
    }
    let head = ["set", "past queries", "tools that learn", "their requests", "other requests"];
    Ok((!rows.is_empty())
        .then(|| format!("NDCG@10 without and with past queries:\n\n{}", markdown(&head, &rows))))
}

fn row(
    name: &str,
    tools: &[ListedTool],
    requests: &[Request],
    (past_queries, one_in): (usize, usize),
    encoder: Option<&Likenesses<'_>>,
) -> Vec<String> {
    let trial = Trial { past_queries, one_in, asked: ASKED, mode: Mode::Hybrid };
    let Learning { own, others } = learning(tools, requests, &trial, encoder);
    let learners = if one_in == 1 { "all".to_owned() } else { format!("one in {one_in}") };
    vec![name.to_owned(), past_queries.to_string(), learners, shown(&own), shown(&others)]
}

fn shown(gain: &Gain) -> String {
    if gain.without.queries == 0 {
        return String::new();
    }
    let (without, with) = (gain.without.ndcg_10, gain.with.ndcg_10);
    format!("{without:.3} -> {with:.3} ({:+.3})", with - without)
}
