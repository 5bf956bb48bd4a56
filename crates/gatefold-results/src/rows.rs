//! Parts of a text in rows that say where they stand, so that nothing in the text can be taken for a
//! row or a mark of ours: each row is `LINE| text`, or `LINE:COLUMN| text` where it does not begin
//! with its line.

use std::fmt::Write as _;

use crate::lines::{NumberedLine, grouped, head, tail};

/// How long a line is shown whole, in characters.
pub(crate) const LONG_LINE: usize = 500;

/// How much of a longer one is shown.
const LONG_HEAD: usize = 300;
const LONG_TAIL: usize = 100;

/// A line, its middle left out if it is long.
pub(crate) fn row(line: &NumberedLine<'_>) -> String {
    let number = line.number;
    let characters = line.text.chars().count();
    if characters <= LONG_LINE {
        return format!("{number}| {}\n", line.text);
    }
    let mut text = format!("{number}| {}\n", head(line.text, LONG_HEAD));
    let left_out = mark(&format!("{} characters", grouped(characters - LONG_HEAD - LONG_TAIL)));
    let column = characters - LONG_TAIL + 1;
    writeln!(text, "{left_out}\n{number}:{column}| {}", tail(line.text, LONG_TAIL))
        .expect("a String takes everything");
    text
}

/// `…[12 lines left out]…`
pub(crate) fn mark(what: &str) -> String {
    format!("…[{what} left out]…")
}
