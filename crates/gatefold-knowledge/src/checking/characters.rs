//! What kind of character one is, for comparing a quote with its source.

/// A character that nobody sees: it may stand anywhere and says nothing.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{34f}')
}

/// A hyphen within a word, or one that may stand where a line ends.
pub(super) fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{ad}' | '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}')
}

/// A dash between the parts of a sentence.
pub(super) fn is_long_dash(c: char) -> bool {
    matches!(c, '\u{2014}' | '\u{2015}' | '\u{2e3a}' | '\u{2e3b}' | '\u{fe58}')
}

/// A quotation mark, an apostrophe, or what is typed for one.
pub(super) fn is_quotation_mark(c: char) -> bool {
    matches!(c,
        '\'' | '"' | '\u{b4}' | '\u{ab}' | '\u{bb}' | '\u{2018}'..='\u{201f}' | '\u{2032}'
        | '\u{2033}' | '\u{2039}' | '\u{203a}' | '\u{300c}'..='\u{300f}' | '\u{ff02}' | '\u{ff07}'
        | '\u{2bc}')
}

/// Punctuation that no space stands before.
pub(super) fn is_closing(c: char) -> bool {
    matches!(c, ',' | '.' | ';' | ':' | '!' | '?' | ')' | ']' | '%')
}

/// A character of a script that puts no spaces between words.
pub(crate) fn is_unspaced_script(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{30ff}' | '\u{3130}'..='\u{318f}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}' | '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}')
}

/// Whether a span begins and ends where words and numbers do: `ten days` is not within `often days`,
/// nor `300` within `1,300` or `-300`.
pub(super) fn ends_at_words(text: &str, start: usize, end: usize) -> bool {
    let mut before = text[..start].chars().rev();
    let mut inside = text[start..end].chars();
    let mut after = text[end..].chars();
    let first = inside.next();
    let last = inside.next_back().or(first);
    let (before_first, before_that) = (before.next(), before.next());
    let loses_sign = first.is_some_and(char::is_numeric)
        && before_first == Some('-')
        && !before_that.is_some_and(char::is_alphanumeric);
    !loses_sign
        && !goes_on(first, before_first, before_that)
        && !goes_on(last, after.next(), after.next())
}

/// Whether a word or number at an edge goes on past it, where these two characters are next.
fn goes_on(edge: Option<char>, next: Option<char>, after_next: Option<char>) -> bool {
    let (Some(edge), Some(next)) = (edge, next) else { return false };
    if !edge.is_alphanumeric() || is_unspaced_script(edge) {
        return false;
    }
    let is_in_number =
        edge.is_numeric() && matches!(next, '.' | ',') && after_next.is_some_and(char::is_numeric);
    is_in_number || (next.is_alphanumeric() && !is_unspaced_script(next))
}
