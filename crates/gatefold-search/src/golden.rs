//! The table as it is read here, compared with what the script that trained it computed.

use serde::Deserialize;

use crate::Document;
use crate::document::meaning;
use crate::embedding::{Table, unit};

/// How far apart two values of the same vector may be: the two sides round differently.
const TOLERANCE: f32 = 2e-3;

/// One line: a text, or a tool.
#[derive(Deserialize)]
struct GoldenCase {
    text: Option<String>,
    tool: Option<Tool>,
    /// The first values of its vector, at unit length.
    head: Vec<f32>,
    /// The lines of the texts that are most like a text.
    #[serde(default)]
    nearest: Vec<usize>,
}

#[derive(Deserialize)]
struct Tool {
    server: String,
    name: String,
    description: String,
}

fn golden() -> Vec<GoldenCase> {
    let lines = include_str!("../../../models/golden.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn begins(vector: &[f32], head: &[f32], what: &str) {
    assert!(!head.is_empty());
    for (value, expected) in vector.iter().zip(head) {
        assert!((value - expected).abs() < TOLERANCE, "{what}: {value} is not {expected}");
    }
}

#[test]
fn a_text_means_what_it_was_trained_to_mean() {
    let texts: Vec<_> = golden()
        .into_iter()
        .filter_map(|golden| Some((golden.text?, golden.head, golden.nearest)))
        .collect();
    assert!(texts.len() > 10);
    let vectors: Vec<_> =
        texts.iter().map(|(text, ..)| unit(Table::built_in().embed(text))).collect();
    let like = |a: usize, b: usize| -> f32 {
        vectors[a].iter().zip(&vectors[b]).map(|(a, b)| a * b).sum()
    };
    for (line, (text, head, nearest)) in texts.iter().enumerate() {
        begins(&vectors[line], head, text);
        let mut others: Vec<_> = (0..texts.len()).filter(|other| *other != line).collect();
        others.sort_by(|a, b| like(line, *b).total_cmp(&like(line, *a)));
        let is_known = vectors[line].iter().any(|value| *value != 0.0);
        assert!(!is_known || others.starts_with(nearest), "{text}: {others:?}");
    }
}

#[test]
fn a_tool_means_what_it_was_measured_to_mean() {
    let mut tools = 0;
    for golden in golden() {
        let GoldenCase { tool: Some(tool), head, .. } = golden else { continue };
        tools += 1;
        let vector = unit(meaning(&Document {
            name: &tool.name,
            domain: &[&tool.server],
            description: &[&tool.description],
            ..Document::default()
        }));
        begins(&vector, &head, &tool.name);
    }
    assert!(tools > 2);
}
