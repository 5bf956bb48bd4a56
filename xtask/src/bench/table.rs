//! Markdown tables, and their place in a document.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};

/// A table with columns just wide enough.
pub(crate) fn markdown(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        let cells: Vec<String> = cells.collect();
        writeln!(text, "| {} |", cells.join(" | ")).expect("a String takes everything");
    };
    let padded = |cell: &str, width: usize| format!("{cell:<width$}");
    line(&mut head.iter().zip(&widths).map(|(cell, width)| padded(cell, *width)));
    line(&mut widths.iter().map(|width| "-".repeat(*width)));
    for row in rows {
        line(&mut row.iter().zip(&widths).map(|(cell, width)| padded(cell, *width)));
    }
    text
}

/// Replaces the text between `<!-- name -->` and `<!-- /name -->` in a document.
pub(crate) fn write_section(document: &Path, name: &str, section: &str) -> Result<()> {
    let text = std::fs::read_to_string(document)
        .with_context(|| format!("{} could not be read", document.display()))?;
    let (open, close) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
    let missing = || format!("{} has no section {open}", document.display());
    let (before, rest) = text.split_once(&open).with_context(missing)?;
    let (_, after) = rest.split_once(&close).with_context(missing)?;
    std::fs::write(document, format!("{before}{open}\n{section}{close}{after}"))?;
    Ok(())
}
