//! Reads one document and prints what was read as JSON, for `tests/documents`.

use std::ops::Range;
use std::time::{Duration, Instant};

use gatefold_documents::{BlockKind, Document, Hints, Place, read_document};
use serde_json::{Value, json};

fn main() {
    let path = std::env::args().nth(1).expect("the path of a document");
    let bytes = std::fs::read(&path).expect("a document that can be read");
    let hints = Hints { name: Some(&path), ..Hints::default() };
    let before = processor_time();
    let read = read_document(&bytes, &hints, Instant::now() + Duration::from_secs(30));
    let cpu = processor_time().saturating_sub(before).as_secs_f64();
    let peak = peak_kb();
    let mut said = match read {
        Ok(document) => shown(&document),
        Err(fault) => json!({ "error": fault.to_string(), "state": fault.state() }),
    };
    said["cpu"] = json!(cpu);
    said["peak"] = json!(peak);
    let mut out = std::io::stdout().lock();
    std::io::Write::write_all(&mut out, said.to_string().as_bytes()).expect("an open output");
}

fn shown(document: &Document) -> Value {
    let starts: Vec<_> = document.places.iter().filter(|(_, place)| is_page(*place)).collect();
    let pages = starts.iter().enumerate().map(|(index, (start, _))| {
        let end = starts.get(index + 1).map_or(document.text.len(), |(next, _)| *next);
        &document.text[*start..end]
    });
    let blocks = document.blocks.iter().map(|block| {
        let Range { start, end } = block.span;
        json!({
            "kind": kind(block.kind),
            "text": &document.text[start..end],
            "headings": document.heading_path(start),
            "place": document.place(start).map(|place| format!("{place:?}")),
        })
    });
    let cells = document.places.iter().filter_map(|(start, place)| match place {
        Place::Cell { sheet, row, column } => {
            let text = document.text[*start..].split(" |").next().unwrap_or_default();
            Some(json!({ "sheet": sheet, "row": row, "column": column, "text": text }))
        }
        _ => None,
    });
    json!({
        "format": document.format.name(),
        "title": document.title,
        "text": document.text,
        "pages": pages.collect::<Vec<_>>(),
        "blocks": blocks.collect::<Vec<_>>(),
        "cells": cells.collect::<Vec<_>>(),
        "faults": document.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn is_page(place: Place) -> bool {
    matches!(place, Place::Page(_) | Place::Slide(_))
}

fn kind(kind: BlockKind) -> String {
    match kind {
        BlockKind::Heading(level) => format!("heading {level}"),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// What this thread took so far, as Linux tells it. Elsewhere nothing.
fn processor_time() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let spent = times.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok());
    Duration::from_nanos(spent.unwrap_or_default())
}

fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
