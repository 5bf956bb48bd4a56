//! What a sentence encoder reads of a tool.

use crate::words;

/// The longest part of a description that is read, in characters; an encoder reads less.
const DESCRIPTION_CHARS: usize = 600;

/// A tool in one sentence: what it belongs to, its name as words, and what it does. Adding
/// parameters did not help, nor did encoding names and descriptions separately.
pub fn passage(server: &str, name: &str, description: &str) -> String {
    let mut passage = words::split(server);
    passage.extend(words::split(name));
    let mut passage = passage.join(" ");
    passage.push_str(": ");
    passage.extend(description.trim().chars().take(DESCRIPTION_CHARS));
    passage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_has_names_as_words_and_a_bounded_description() {
        assert_eq!(
            passage("gitHub", "create_issue", " Files a bug. "),
            "git hub create issue: Files a bug."
        );
        assert_eq!(passage("", "ping", ""), "ping: ");
        let long = passage("a", "b", &"é".repeat(10 * DESCRIPTION_CHARS));
        assert_eq!(long.chars().count(), "a b: ".len() + DESCRIPTION_CHARS);
    }
}
