//! What a search costs with sentence encoders.

use std::time::{Duration, Instant};

use gatefold_encoder::Embedder;
use gatefold_search::Index;

use super::RESULTS;
use super::encoded::{self, Encoders};
use super::real::{RealTool, entries};
use crate::bench::table::markdown;

/// How many requests are timed. No encoding is reused.
const TIMED: usize = 500;

/// What a search over real tools costs with the encoders, as a table.
pub(super) fn cost(encoders: &Encoders, tools: &[RealTool], requests: &[String]) -> String {
    let row = |(name, encoder): (&'static str, &Embedder)| {
        let [median, p99] = took(encoder, tools, requests);
        let ms = |duration: Duration| format!("{:.1}", duration.as_secs_f64() * 1e3);
        vec![name.to_owned(), tools.len().to_string(), ms(median), ms(p99)]
    };
    let rows: Vec<_> = encoders.named().map(row).collect();
    let head = ["encoder", "real tools", "median ms", "p99 ms"];
    format!(
        "The same with an encoder on two cores, each request encoded once:\n\n{}",
        markdown(&head, &rows)
    )
}

/// The median and the 99th percentile of searches with an encoder.
fn took(encoder: &Embedder, tools: &[RealTool], requests: &[String]) -> [Duration; 2] {
    let passages: Vec<_> = tools.iter().map(RealTool::passage).collect();
    encoded::read(encoder, passages.iter().map(String::as_str));
    let index = Index::build(&entries(tools, tools.iter().map(RealTool::analysis).collect()));
    // Evenly spread, so that requests of all sets are among them.
    let asked = requests.iter().step_by(requests.len().div_ceil(TIMED).max(1));
    let mut took: Vec<_> = asked
        .enumerate()
        .map(|(number, request)| {
            // A repeated request would come from memory; a number makes it new.
            let request = format!("{request} {number}");
            let start = Instant::now();
            std::hint::black_box(encoded::search(encoder, &index, &passages, &request, RESULTS));
            start.elapsed()
        })
        .collect();
    took.sort_unstable();
    let at = |share: usize| took.get(took.len() * share / 100).copied().unwrap_or_default();
    [at(50), at(99)]
}
