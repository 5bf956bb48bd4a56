//! Whether the ranking notices that no tool fits: a set's own requests, and those of sets about
//! other tools.

use std::collections::HashSet;

use gatefold_encoder::Embedder;
use gatefold_search::measure::{DEPTH, Half, Request};
use gatefold_search::{Fit, Index, Mode};

use super::encoded;
use super::sets::ToolSet;
use crate::bench::table::markdown;

/// A table of how many requests of one half of each set are told that nothing fits.
pub(super) fn table(sets: &[ToolSet], half: Half, encoder: &Embedder) -> String {
    let mut rows = Vec::new();
    for set in sets {
        let ids: HashSet<&str> = set.tools.iter().map(|tool| tool.id.as_str()).collect();
        let fits_none =
            |request: &&Request| !request.relevant.iter().any(|id| ids.contains(id.as_str()));
        let all = sets.iter().flat_map(|set| set.half(half, set.asked()));
        let foreign: Vec<_> = all.filter(fits_none).collect();
        let own: Vec<_> = set.half(half, set.asked()).collect();
        let index = set.index();
        let passages = set.passages();
        encoded::read(encoder, passages.iter().map(String::as_str));
        let mut row = vec![format!("{} ({}, {})", set.name, own.len(), foreign.len())];
        for encoder in [None, Some(encoder)] {
            row.push(share(&index, &passages, &own, encoder));
            row.push(share(&index, &passages, &foreign, encoder));
        }
        rows.push(row);
    }
    let head = [
        "set (its requests, others)",
        "its own",
        "others",
        "its own, with the encoder",
        "others, with the encoder",
    ];
    format!(
        "Requests that are told that nothing fits, or that at best something weak does, the {} half:\n\n{}",
        half.name(),
        markdown(&head, &rows)
    )
}

fn share(
    index: &Index,
    passages: &[String],
    requests: &[&Request],
    encoder: Option<&Embedder>,
) -> String {
    let fit = |request: &&Request| match encoder {
        Some(encoder) => encoded::search(encoder, index, passages, &request.text, DEPTH).fit,
        None => index.search(&request.text, Mode::Hybrid, |_| true, DEPTH).fit,
    };
    let fits: Vec<Fit> = requests.iter().map(fit).collect();
    let share = |most: Fit| {
        let told = fits.iter().filter(|fit| **fit <= most).count();
        100.0 * told as f64 / fits.len().max(1) as f64
    };
    format!("{:.1} / {:.1} %", share(Fit::None), share(Fit::Weak))
}
