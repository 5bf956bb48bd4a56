//! The one-line descriptions of tools and domains.

use crate::catalogue::Catalogue;

/// A line that was cut keeps at least this many words.
const LEAST_WORDS: usize = 6;

fn fault(line: &str) -> Option<&'static str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let telling = words.iter().any(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 1);
    let opening = line.to_lowercase();
    if !telling {
        Some("it says nothing")
    } else if line.ends_with('…') && words.len() < LEAST_WORDS {
        Some("it is cut too early")
    } else if words.last().is_some_and(|last| last.trim_end_matches('.').parse::<u32>().is_ok()) {
        Some("it ends with a number")
    } else if line.starts_with(|c: char| !c.is_alphanumeric() && !"[`'\"(".contains(c)) {
        Some("it begins with an ornament")
    } else if ["this tool", "purpose", "use this tool to", "important"]
        .iter()
        .any(|said| opening.starts_with(said))
    {
        Some("it begins with words that say nothing")
    } else {
        None
    }
}

pub(crate) fn every_line_says_what_its_tool_does(catalogue: &Catalogue) {
    let mut faults = Vec::new();
    for tool in catalogue.view.tools() {
        if let Some(fault) = fault(tool.line()) {
            faults.push(format!("{}: {fault}: {}", tool.id(), tool.line()));
        }
    }
    assert!(faults.is_empty(), "{} lines\n{}", faults.len(), faults.join("\n"));
}
