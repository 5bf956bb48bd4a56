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
}
