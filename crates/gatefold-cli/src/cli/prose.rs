//! Sentences on a terminal, broken between words.

use unicode_width::UnicodeWidthStr as _;

use super::visible;

/// A text broken into lines of at most `width`. Lines after the first begin with `hang` spaces; the
/// first keeps its own. A word longer than a line, such as a path, stays whole, so that it can be
/// copied.
pub(super) fn wrapped(text: &str, width: Option<usize>, hang: usize) -> Vec<String> {
    let Some(width) = width else {
        return vec![text.to_owned()];
    };
    let mut lines = Vec::new();
    let first = text.len() - text.trim_start_matches(' ').len();
    let mut line = " ".repeat(first);
    let mut taken = first;
    let mut is_empty = true;
    for word in text.split_whitespace() {
        // Colour marks take no columns.
        let columns = visible::unpainted(word).0.width();
        if !is_empty && taken + 1 + columns > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(hang)));
            (taken, is_empty) = (hang, true);
        }
        if !is_empty {
            line.push(' ');
            taken += 1;
        }
        line.push_str(word);
        taken += columns;
        is_empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_words_stay_whole() {
        for (text, width, expected) in [
            ("one two", None, &["one two"][..]),
            ("one  two", Some(20), &["one two"]),
            ("  one two three", Some(10), &["  one two", "    three"]),
            ("in /a/very/long/path", Some(8), &["in", "    /a/very/long/path"]),
            ("在所有 文档 中", Some(11), &["在所有 文档", "    中"]),
            ("", Some(8), &[""]),
        ] {
            assert_eq!(wrapped(text, width, 4), expected, "{text}");
        }
    }
}
