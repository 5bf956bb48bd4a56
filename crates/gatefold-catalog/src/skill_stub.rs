//! How a skill is named to a model before it is read.

use crate::one_line;

/// What stands above the stubs of skills.
pub const SKILLS_HEADING: &str = "## Available Skills\n\
    Call read_skill(name) to load full content before executing any of these:";

/// The longest description in a stub, in characters.
pub const SKILL_STUB_LENGTH: usize = 120;

/// The last characters of a description that was cut.
const DOTS: &str = "...";

/// A skill in one line: `- **refunds**: Step-by-step refund workflow...`. Its description has at most
/// `length` characters; where none fit, the name stands alone.
pub fn skill_stub(name: &str, description: &str, length: usize) -> String {
    let name = one_line(name, usize::MAX);
    match short_description(description, length) {
        about if about.is_empty() => format!("- **{name}**"),
        about => format!("- **{name}**: {about}"),
    }
}

/// A skill's description in one line of at most so many characters, of which the last three are dots if
/// it is longer.
pub fn short_description(description: &str, length: usize) -> String {
    let line = one_line(description, usize::MAX);
    if line.chars().count() <= length {
        return line;
    }
    let Some(kept) = length.checked_sub(DOTS.len()) else { return String::new() };
    line.chars().take(kept).chain(DOTS.chars()).collect()
}

/// Whether two texts name the same skill: case, and what stands between words, do not matter. Models
/// write `Pay Back` for `pay-back`.
pub fn is_same_skill(name: &str, other: &str) -> bool {
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
        let stub = |name: &str, about: &str| skill_stub(name, about, SKILL_STUB_LENGTH);
        assert_eq!(stub("refunds", "Pay\n  back."), "- **refunds**: Pay back.");
        let exact = "x".repeat(SKILL_STUB_LENGTH);
        assert_eq!(stub("a", &exact), format!("- **a**: {exact}"));
        let cut = format!("- **a**: {}...", "é".repeat(117));
        assert_eq!(stub("a", &"é".repeat(121)), cut);
        assert_eq!(skill_stub("a", "long", 0), "- **a**");
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
            assert_eq!(is_same_skill(name, other), expected, "{name} {other}");
        }
    }
}
