//! Where the pages of a text end.

use std::ops::Range;

use gatefold_catalog::token_bound;

use crate::lines::floor;

/// The bytes that a token is first taken to have.
const GUESSED_BYTES: usize = 4;

/// How often the length of a page is tried before it is taken so short that it must fit.
const TRIES: usize = 6;

/// Which part of a text one of its pages is, counted from one, if it has so many. A page has at most
/// so many tokens. Pages are cut from the start, so the same text always has the same ones.
pub(crate) fn page(text: &str, number: usize, tokens: usize) -> Option<Range<usize>> {
    let mut guess = tokens * GUESSED_BYTES;
    let mut start = 0;
    for turn in 1.. {
        let end = start + page_length(&text[start..], tokens, &mut guess);
        if turn == number {
            return Some(start..end);
        }
        start = end;
        if start >= text.len() {
            break;
        }
    }
    None
}

/// How much of a text fits, in bytes. `guess` is what fitted of the part before it.
fn page_length(text: &str, tokens: usize, guess: &mut usize) -> usize {
    for _ in 0..TRIES {
        let end = floor(text, *guess);
        let bound = token_bound(&text[..end]);
        if bound <= tokens {
            // The next page is allowed to be longer, should its tokens be.
            let end = at_line_end(text, end);
            *guess = grown(*guess, tokens, bound);
            return end;
        }
        *guess = (*guess * tokens / bound * 15 / 16).max(1);
    }
    // No text has more tokens than bytes. A character has at most four.
    let least = floor(text, tokens);
    *guess = tokens;
    if least == 0 {
        text.chars().next().map_or(0, char::len_utf8)
    } else {
        at_line_end(text, least)
    }
}

fn grown(guess: usize, tokens: usize, bound: usize) -> usize {
    if bound * 8 < tokens * 7 { guess * 9 / 8 + 1 } else { guess }
}

/// A page ends with a line, if that leaves more than half of it.
fn at_line_end(text: &str, end: usize) -> usize {
    if end >= text.len() {
        return text.len();
    }
    match memchr::memrchr(b'\n', &text.as_bytes()[..end]) {
        Some(at) if at >= end / 2 => at + 1,
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_without_lines_has_pages_too() {
        let text = "ß".repeat(3_000);
        let first = page(&text, 1, 500).unwrap();
        assert_eq!(page(&text, 2, 500).unwrap().start, first.end);
        assert_eq!(page("", 1, 500), Some(0..0));
        assert_eq!(page("a", 2, 500), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn pages_are_the_text(text in "[a-z ß\u{1f600}\u{10ffff}\n]{0,3000}", tokens in 10_usize..200) {
            let (mut whole, mut number) = (String::new(), 1);
            while let Some(range) = page(&text, number, tokens) {
                prop_assert!(token_bound(&text[range.clone()]) <= tokens);
                whole.push_str(&text[range]);
                number += 1;
            }
            prop_assert_eq!(whole, text);
        }
    }
}
