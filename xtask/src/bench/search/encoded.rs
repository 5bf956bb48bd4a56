//! What a sentence encoder gains and costs, if `GATEFOLD_ENCODER` names one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use gatefold_encoder::{Embedder, Model, REQUEST_TOKENS, Vector, VectorCache, passage_key};
use gatefold_search::{Findings, Index, Mode, SearchEvidence};

use super::RESULTS;
use super::real::{RealTool, entries};
use crate::bench::say;
use crate::bench::table::markdown;

/// How long reading a set may take.
const READING: Duration = Duration::from_mins(20);

/// How many requests are timed. No encoding is reused.
const TIMED: usize = 500;

/// The encoder in the folder that the variable names; its vectors are kept for the next run.
#[expect(clippy::disallowed_methods, reason = "a chore reads its own variables")]
pub(super) fn open(root: &Path) -> Result<Option<Embedder>> {
    let Some(folder) = std::env::var_os("GATEFOLD_ENCODER").map(PathBuf::from) else {
        return Ok(None);
    };
    let model = Arc::new(Model::open(&folder)?);
    let cache = VectorCache::open(&root.join("target/bench.vectors"), &model)?;
    Ok(Some(Embedder::start(model, cache)))
}

/// Makes an encoder read texts.
pub(super) fn read<'a>(encoder: &Embedder, texts: impl Iterator<Item = &'a str>) {
    encoder.want(texts.map(Arc::from).collect());
    if !encoder.wait(READING) {
        say("some texts were not read in time and are ranked without the encoder");
    }
}

/// How similar a request is to texts that were read.
pub(super) fn similarities(encoder: &Embedder, request: &str, texts: &[&str]) -> Vec<Option<f32>> {
    let asked = encoder.request(request, REQUEST_TOKENS);
    let asked: Arc<Vector> = asked.expect("a model that was opened encodes any text");
    let similarity = |text: &&str| Some(encoder.vector(&passage_key(text))?.cosine(&asked));
    texts.iter().map(similarity).collect()
}

/// A search that asks the encoder, which has read the tools' passages.
pub(super) fn search(
    encoder: &Embedder,
    index: &Index,
    passages: &[String],
    request: &str,
    limit: usize,
) -> Findings {
    let judge = |places: &[usize]| {
        let texts: Vec<_> = places.iter().map(|at| passages[*at].as_str()).collect();
        similarities(encoder, request, &texts)
    };
    let aids = SearchEvidence { judge: Some(&judge), ..SearchEvidence::default() };
    index.search_with(request, Mode::Hybrid, |_| true, &aids, limit)
}

/// What a search over real tools costs with the encoder, as a table.
pub(super) fn cost(encoder: &Embedder, tools: &[RealTool], requests: &[String]) -> String {
    let passages: Vec<_> = tools.iter().map(RealTool::passage).collect();
    read(encoder, passages.iter().map(String::as_str));
    let index = Index::build(&entries(tools, tools.iter().map(RealTool::analysis).collect()));
    // Evenly spread, so that requests of all sets are among them.
    let asked = requests.iter().step_by(requests.len().div_ceil(TIMED).max(1));
    let mut took: Vec<_> = asked
        .enumerate()
        .map(|(number, request)| {
            // A repeated request would come from memory; a number makes it new.
            let request = format!("{request} {number}");
            let start = Instant::now();
            std::hint::black_box(search(encoder, &index, &passages, &request, RESULTS));
            start.elapsed()
        })
        .collect();
    took.sort_unstable();
    let at = |share: usize| took.get(took.len() * share / 100).copied().unwrap_or_default();
    let ms = |duration: Duration| format!("{:.1}", duration.as_secs_f64() * 1e3);
    let row = vec![format!("{} real", tools.len()), ms(at(50)), ms(at(99))];
    let head = ["tools", "median ms", "p99 ms"];
    format!(
        "The same with the encoder on two cores, each request encoded once:\n\n{}",
        markdown(&head, &[row])
    )
}
