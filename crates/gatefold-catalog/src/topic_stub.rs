//! How something that can be read, such as a skill, is named to a model before it is.

use crate::one_line;

/// The longest description in a stub, in characters.
pub const STUB_LENGTH: usize = 120;

/// The last characters of a description that was cut.
const DOTS: &str = "...";

/// One line for it: `- **refunds**: Step-by-step refund workflow...`. Its description has at most
/// `length` characters; where none fit, the name stands alone.
pub fn topic_stub(name: &str, description: &str, length: usize) -> String {
    let name = one_line(name, usize::MAX);
    match short_description(description, length) {
        about if about.is_empty() => format!("- **{name}**"),
        about => format!("- **{name}**: {about}"),
    }
}

/// A description in one line of at most so many characters, of which the last three are dots if
/// it is longer.
pub fn short_description(description: &str, length: usize) -> String {
    let line = one_line(description, usize::MAX);
    if line.chars().count() <= length {
        return line;
    }
    let Some(kept) = length.checked_sub(DOTS.len()) else { return String::new() };
    line.chars().take(kept).chain(DOTS.chars()).collect()
}

/// Whether two texts are the same name: case, and what stands between words, do not matter. Models
/// write `Pay Back` for `pay-back`.
pub fn is_same_name(name: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| c.is_whitespace() || matches!(c, '-' | '_'));
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    words(name) == words(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_is_one_line_of_limited_length() {
        let stub = |name: &str, about: &str| topic_stub(name, about, STUB_LENGTH);
        assert_eq!(stub("refunds", "Pay\n  back."), "- **refunds**: Pay back.");
        let exact = "x".repeat(STUB_LENGTH);
        assert_eq!(stub("a", &exact), format!("- **a**: {exact}"));
        let cut = format!("- **a**: {}...", "é".repeat(117));
        assert_eq!(stub("a", &"é".repeat(121)), cut);
        assert_eq!(topic_stub("a", "long", 0), "- **a**");
    }

    #[test]
    fn a_skill_is_known_by_its_words() {
        for (name, other, expected) in [
            ("pay-back", "Pay Back", true),
            ("PDF Tools", "pdf_tools", true),
            ("payback", "pay-back", false),
            ("größe", "GRÖSSE", false),
            ("größe", "Größe", true),
        ] {
            assert_eq!(is_same_name(name, other), expected, "{name} {other}");
        }
    }
}
