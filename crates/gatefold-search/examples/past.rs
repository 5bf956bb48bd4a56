//! Prints what past queries gain on a set: `past SET_FOLDER [keyword|semantic]`. Some requests
//! become past queries of the tools that fit them; the others are asked.

#![expect(clippy::print_stdout, reason = "figures for people")]

use std::error::Error;
use std::path::PathBuf;

use gatefold_search::Mode;
use gatefold_search::measure::{
    Comparison, LearningEffect, QuerySplit, learning, read_requests, read_tools,
};

/// How many requests are asked.
const REQUESTS: usize = 500;

/// How many past queries a tool gets, and one in how many tools gets any.
const TRIALS: [(usize, usize); 5] = [(1, 1), (3, 1), (10, 1), (3, 2), (3, 10)];

fn main() -> Result<(), Box<dyn Error>> {
    let (mut folder, mut mode) = (None, Mode::Hybrid);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "keyword" => mode = Mode::Keyword,
            "semantic" => mode = Mode::Semantic,
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    let folder = folder.ok_or("usage: past SET_FOLDER [keyword|semantic]")?;
    let tools = read_tools(&std::fs::read_to_string(folder.join("tools.jsonl"))?)?;
    let requests = read_requests(&std::fs::read_to_string(folder.join("queries.jsonl"))?)?;
    println!("NDCG@10 without -> with past queries, requests asked, 99th percentile with them");
    for (past_queries, one_in) in TRIALS {
        let trial = QuerySplit { past_queries, one_in, asked: REQUESTS, mode };
        let LearningEffect { own, others } = learning(&tools, &requests, &trial, None);
        println!("{past_queries} past queries, one tool in {one_in}");
        for (whose, Comparison { without, with }) in [("its own", own), ("others", others)] {
            let (before, after) = (without.ndcg_10, with.ndcg_10);
            println!(
                "  {whose:8}{before:.3} -> {after:.3} ({:+.3}), {}, {:?}",
                after - before,
                with.queries,
                with.p99
            );
        }
    }
    Ok(())
}
