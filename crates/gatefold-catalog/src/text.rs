/// The longest one-line description of a tool, in characters, ellipsis included.
pub const LINE_LIMIT: usize = 80;

/// Makes one line of at most `limit` characters out of any text, cut at a word.
///
/// White space and control characters become single spaces. Characters that are invisible or change
/// the writing direction are left out, since a text from a source must not hide another.
pub fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    let mut words = words(text).peekable();
    while let Some(word) = words.next() {
        let gap = usize::from(length > 0);
        let grown = length + gap + word.chars().count();
        // The last word may fill the line; before any other, there must be room for the ellipsis.
        if grown + usize::from(words.peek().is_some()) > limit {
            return cut(line, &word, limit);
        }
        line.extend((gap == 1).then_some(' '));
        line.push_str(&word);
        length = grown;
    }
    line
}

/// Ends a line before `word`, or within it if it is the line's first.
fn cut(mut line: String, word: &str, limit: usize) -> String {
    if line.is_empty() {
        line.extend(word.chars().take(limit.saturating_sub(1)));
    }
    let kept = line.trim_end_matches([',', ';', ':', '-', '(']).trim_end().len();
    line.truncate(kept);
    line.extend((limit > 0).then_some('…'));
    line
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .map(|word| word.chars().filter(|c| !is_invisible(*c)).collect::<String>())
        .filter(|word| !word.is_empty())
}

/// Zero-width characters, bidirectional control characters (Unicode annex 9) and tag characters, in
/// which a text can be hidden from people.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The first sentence of a text's first paragraph that is not a heading, white space kept.
pub(crate) fn first_sentence(text: &str) -> &str {
    let text = text.trim_start();
    let body = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let start = body.map_or(0, |line| line.as_ptr() as usize - text.as_ptr() as usize);
    let paragraph = text[start..].split("\n\n").next().unwrap_or_default();
    let end = paragraph
        .match_indices(['.', '!', '?', '。'])
        .map(|(at, mark)| (at, at + mark.len()))
        .find(|(at, end)| ends_sentence(&paragraph[..*at], &paragraph[*end..]))
        .map_or(paragraph.len(), |(_, end)| end);
    paragraph[..end].trim()
}

/// Whether a full stop between these texts ends a sentence: not in `e.g. this`, `v1.2` or `U.S.
/// law`.
fn ends_sentence(before: &str, after: &str) -> bool {
    let last_word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    let abbreviation = last_word.contains('.')
        || matches!(last_word, "vs" | "etc" | "approx" | "incl" | "Inc" | "No" | "St" | "Dr");
    let goes_on = after.trim_start().starts_with(|c: char| c.is_lowercase());
    (after.is_empty() || after.starts_with(char::is_whitespace)) && !abbreviation && !goes_on
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_a_word() {
        for (text, limit, line) in [
            ("Search for people", 17, "Search for people"),
            ("Search for people", 16, "Search for…"),
            ("Search, people", 10, "Search…"),
            ("Searching", 5, "Sear…"),
            ("größer als", 7, "größer…"),
            ("a", 1, "a"),
            ("ab", 1, "…"),
            ("ab", 0, ""),
            ("", 9, ""),
        ] {
            assert_eq!(one_line(text, limit), line, "{text} {limit}");
        }
    }

    #[test]
    fn a_line_hides_nothing() {
        let text = "one\r\n\ttwo\u{0}\u{1b}[31m \u{202e}eerht\u{200b}\u{e0041}";
        assert_eq!(one_line(text, 80), "one two [31m eerht");
    }

    #[test]
    fn the_first_sentence_ends_where_it_ends() {
        for (text, sentence) in [
            ("Get it. Then go.", "Get it."),
            ("Use e.g. this one. No more", "Use e.g. this one."),
            ("Version 1.2 of it", "Version 1.2 of it"),
            ("# Heading\n\nThe body\ngoes on. And on.", "The body\ngoes on."),
            ("First\n\nArgs: x", "First"),
            ("# Only a heading", "# Only a heading"),
            ("  ", ""),
        ] {
            assert_eq!(first_sentence(text), sentence);
        }
    }
}
