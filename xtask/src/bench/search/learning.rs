//! What past queries gain, on the sets that have enough requests for each tool.

use gatefold_encoder::Embedder;
use gatefold_search::Mode;
use gatefold_search::measure::{
    Comparison, Half, LearningEffect, ListedTool, QuerySplit, Request, Similarities, learning,
};

use super::encoded;
use super::sets::ToolSet;
use crate::bench::table::markdown;

/// The fewest requests for each tool of a usable set.
const LEAST_REQUESTS: usize = 4;

/// How many past queries a tool gets, and one in how many tools gets any.
const TRIALS: [(usize, usize); 4] = [(1, 1), (3, 1), (10, 1), (3, 2)];

/// The most requests asked in a trial.
const ASKED: usize = 500;

/// A table with a row for each trial with the requests of one half, if a set is large enough for any.
pub(super) fn table(sets: &[ToolSet], half: Half, encoder: &Embedder) -> Option<String> {
    let mut rows = Vec::new();
    for set in sets {
        let tools = &set.tools;
        if set.all.len() < LEAST_REQUESTS * tools.len() {
            continue;
        }
        let name = &set.name;
        let requests: Vec<_> = set.half(half, &set.all).cloned().collect();
        let passages = set.passages();
        let texts = requests.iter().map(|request| &*request.text);
        encoded::read(encoder, passages.iter().map(String::as_str).chain(texts));
        let similarities =
            |request: &str, texts: &[&str]| encoded::similarities(encoder, request, texts);
        let rankings: [(&str, Option<&Similarities<'_>>); 2] =
            [("", None), (", with the encoder", Some(&similarities))];
        for (ranking, similarities) in rankings {
            let name = format!("{name}{ranking}");
            let row = |trial| row(&name, tools, &requests, trial, similarities);
            rows.extend(TRIALS.map(row));
        }
    }
    let head = ["set", "past queries", "tools that learn", "their requests", "other requests"];
    let title = format!("NDCG@10 without and with past queries, the {} half:", half.name());
    (!rows.is_empty()).then(|| format!("{title}\n\n{}", markdown(&head, &rows)))
}

fn row(
    name: &str,
    tools: &[ListedTool],
    requests: &[Request],
    (past_queries, one_in): (usize, usize),
    encoder: Option<&Similarities<'_>>,
) -> Vec<String> {
    let trial = QuerySplit { past_queries, one_in, asked: ASKED, mode: Mode::Hybrid };
    let LearningEffect { own, others } = learning(tools, requests, &trial, encoder);
    let learners = if one_in == 1 { "all".to_owned() } else { format!("one in {one_in}") };
    vec![name.to_owned(), past_queries.to_string(), learners, shown(&own), shown(&others)]
}

fn shown(gain: &Comparison) -> String {
    if gain.without.queries == 0 {
        return String::new();
    }
    let (without, with) = (gain.without.ndcg_10, gain.with.ndcg_10);
    format!("{without:.3} -> {with:.3} ({:+.3})", with - without)
}
