//! Whether the ranking notices that no tool fits: a set's own requests, and those of sets about
//! other tools.

use std::collections::HashSet;
use std::iter;
use std::path::PathBuf;

use anyhow::Result;
use gatefold_encoder::Embedder;
use gatefold_search::measure::{DEPTH, ListedTool, Request};
use gatefold_search::{Index, Mode};

use super::{encoded, index_of, read_set};
use crate::bench::table::markdown;

/// A table of how many requests of each set are reported to fit nothing.
pub(super) fn table(sets: &[PathBuf], encoder: Option<&Embedder>) -> Result<String> {
    let mut read = Vec::new();
    for set in sets {
        let name = set.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        read.push((name, read_set(set)?));
    }
    let mut rows = Vec::new();
    for (name, (tools, own)) in &read {
        let ids: HashSet<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
        let fits_none =
            |request: &&Request| !request.relevant.iter().any(|id| ids.contains(id.as_str()));
        let all = read.iter().flat_map(|(_, (_, requests))| requests);
        let foreign: Vec<_> = all.filter(fits_none).collect();
        let own: Vec<_> = own.iter().collect();
        let index = index_of(tools);
        let passages: Vec<_> = tools.iter().map(ListedTool::passage).collect();
        if let Some(encoder) = encoder {
            encoded::read(encoder, passages.iter().map(String::as_str));
        }
        let mut row = vec![format!("{name} ({}, {})", own.len(), foreign.len())];
        for encoder in iter::once(None).chain(encoder.map(Some)) {
            row.push(share(&index, &passages, &own, encoder));
            row.push(share(&index, &passages, &foreign, encoder));
        }
        rows.push(row);
    }
    let mut head = vec!["set (its requests, others)", "its own", "others"];
    if encoder.is_some() {
        head.extend(["its own, with the encoder", "others, with the encoder"]);
    }
    Ok(format!("Requests that are said to fit nothing:\n\n{}", markdown(&head, &rows)))
}

fn share(
    index: &Index,
    passages: &[String],
    requests: &[&Request],
    encoder: Option<&Embedder>,
) -> String {
    let fits = |request: &&&Request| match encoder {
        Some(encoder) => encoded::search(encoder, index, passages, &request.text, DEPTH).fits,
        None => index.search(&request.text, Mode::Hybrid, |_| true, DEPTH).fits,
    };
    let fitting = requests.iter().filter(fits).count();
    format!("{:.1} %", 100.0 * (1.0 - fitting as f64 / requests.len().max(1) as f64))
}
