use gatefold_catalog::one_line;

use crate::limits::HEADINGS;

/// The longest heading that a search knows, in characters.
const HEADING_LENGTH: usize = 100;

/// The headings of a Markdown text, outside of its code.
pub(super) fn of(body: &str) -> Vec<String> {
    let mut in_code = false;
    let headings = body.lines().filter_map(|line| {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let text = line.trim_start_matches('#');
        let is_heading = !in_code && text.len() < line.len() && text.starts_with(' ');
        is_heading.then(|| one_line(text, HEADING_LENGTH)).filter(|text| !text.is_empty())
    });
    headings.take(HEADINGS).collect()
}
