//! The lines of a text, as people count them.

/// A line without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberedLine<'a> {
    /// From one.
    pub(crate) number: usize,
    /// Where it begins, in bytes.
    pub(crate) start: usize,
    pub(crate) text: &'a str,
}

/// A line ends at `\n`, `\r\n` or `\r`, so that none can look like two. The last has no end.
pub(crate) fn of(text: &str) -> impl Iterator<Item = NumberedLine<'_>> {
    let bytes = text.as_bytes();
    let (mut start, mut number) = (0, 0);
    std::iter::from_fn(move || {
        if start >= bytes.len() {
            return None;
        }
        let end =
            memchr::memchr2(b'\n', b'\r', &bytes[start..]).map_or(bytes.len(), |at| start + at);
        number += 1;
        let line = NumberedLine { number, start, text: &text[start..end] };
        let is_pair = bytes[end..].starts_with(b"\r\n");
        start = end + if is_pair { 2 } else { 1 };
        Some(line)
    })
}

pub(crate) fn count(text: &str) -> usize {
    of(text).count()
}

/// The first so many characters, or all.
pub(crate) fn head(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(at, _)| &text[..at])
}

/// The last so many characters, or all.
pub(crate) fn tail(text: &str, characters: usize) -> &str {
    let Some(skipped) = characters.checked_sub(1) else { return "" };
    text.char_indices().rev().nth(skipped).map_or(text, |(at, _)| &text[at..])
}

/// The largest place up to `at` that is not within a character.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

/// `1,234,567`
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_three_ways() {
        let lines: Vec<_> = of("a\r\nb\rc\n\nd").map(|line| (line.start, line.text)).collect();
        assert_eq!(lines, [(0, "a"), (3, "b"), (5, "c"), (7, ""), (8, "d")]);
        assert_eq!((count(""), count("\n"), count("a\n")), (0, 1, 1));
    }

    #[test]
    fn characters_are_not_cut() {
        assert_eq!((head("äöü", 2), tail("äöü", 2), tail("äöü", 9)), ("äö", "öü", "äöü"));
        assert_eq!((head("", 2), tail("ä", 0)), ("", ""));
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
