//! Secrets in a text, masked.

use std::borrow::Cow;
use std::ops::Range;

use super::REFERENCE;
use super::texts::{blocks, merged, secrets_in};

/// Stands where a secret stood.
pub const MASK: &str = "[redacted]";

/// The longest text that is looked through, in bytes. What goes on behind it is masked whole.
const LONGEST_TEXT: usize = 1024 * 1024;

/// How much is looked through at once, in bytes: the search takes time by the square of a text that
/// is made for it.
const WINDOW: usize = 1024;

/// How far windows overlap, in bytes, so that a name and its secret are in one of them together.
const OVERLAP: usize = 256;

/// Shorter values are not masked by [`mask_values`]: they would be found within words.
const SHORTEST_VALUE: usize = 4;

/// The text with its secrets masked.
///
/// At most the first mebibyte is looked through, in windows that overlap, so the work grows with the
/// length and no faster. Doubt masks: what is longer than that is cut off with a mask.
pub fn redact(text: &str) -> Cow<'_, str> {
    let end = text.floor_char_boundary(LONGEST_TEXT);
    // A text from outside could hide a secret with a reference's stand-in; a letter hides nothing.
    let searched = text[..end].replace(REFERENCE, "_");
    let mut spans = Vec::new();
    // A private key may be longer than a window.
    blocks(&searched, &mut spans);
    for window in windows(&searched) {
        for mut span in secrets_in(&searched[window.clone()]) {
            span.range = span.range.start + window.start..span.range.end + window.start;
            spans.push(span);
        }
    }
    let mut ranges: Vec<_> = merged(spans).into_iter().map(|span| span.range).collect();
    if end < text.len() {
        ranges.push(end..text.len());
    }
    masked(text, &ranges)
}

/// The text with these known values masked, wherever they stand.
pub fn mask_values<'t, 'v>(
    text: &'t str,
    values: impl IntoIterator<Item = &'v str>,
) -> Cow<'t, str> {
    let known = values.into_iter().filter(|value| value.len() >= SHORTEST_VALUE);
    let mut ranges: Vec<Range<usize>> = known
        .flat_map(|value| text.match_indices(value).map(|(at, _)| at..at + value.len()))
        .collect();
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    masked(text, &ranges)
}

/// Windows over a text that overlap. One begins between words where there is a gap near: the end of a
/// word alone would be taken for a key.
fn windows(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut next = (!text.is_empty()).then_some(0);
    std::iter::from_fn(move || {
        let window = next?..text.floor_char_boundary(next? + WINDOW);
        next = (window.end < text.len()).then(|| {
            let start = text.floor_char_boundary(window.end - OVERLAP);
            start + text[start..window.end].find(char::is_whitespace).unwrap_or_default()
        });
        Some(window)
    })
}

/// The text with a mask in the place of each range. The ranges are in order and apart.
fn masked<'t>(text: &'t str, ranges: &[Range<usize>]) -> Cow<'t, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for range in ranges {
        out.push_str(&text[done..range.start]);
        out.push_str(MASK);
        done = range.end;
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_the_rest_stays() {
        for (text, expected) in [
            ("nothing to hide", "nothing to hide"),
            ("use token=hunter2 to log in", "use token=[redacted] to log in"),
            ("postgres://ann:pw@db/app", "postgres://ann:[redacted]@db/app"),
            ("{\"apiKey\": \"S\", \"level\": 3}", "{\"apiKey\": \"[redacted]\", \"level\": 3}"),
            ("curl -H 'Authorization: Bearer S1'", "curl -H 'Authorization: Bearer [redacted]'"),
            ("ä ghp_0123456789abcdef ö", "ä [redacted] ö"),
            // A stand-in for references hides nothing.
            ("ghp_0123\u{1a}456789abcdef", "[redacted]"),
            ("password=\u{1a}", "password=[redacted]"),
        ] {
            assert_eq!(redact(text), expected);
        }
        assert!(matches!(redact("nothing to hide"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_secret_is_found_wherever_windows_meet() {
        for before in WINDOW - 40..WINDOW + 40 {
            let text =
                format!("{}token=hunter2 {}", "a b ".repeat(before / 4), "c ".repeat(WINDOW));
            assert!(!redact(&text).contains("hunter2"), "{before}");
        }
        let key = format!("-----BEGIN KEY-----\n{}-----END KEY-----", "MIIB abc\n".repeat(WINDOW));
        assert_eq!(redact(&format!("see {key} there")), "see [redacted] there");
    }

    #[test]
    fn the_work_is_bounded() {
        let hostile = "key:$".repeat(LONGEST_TEXT / 5);
        assert!(windows(&hostile).count() <= hostile.len() / (WINDOW - OVERLAP) + 1);
        assert!(windows(&hostile).all(|window| window.len() <= WINDOW));
        let long = " ".repeat(LONGEST_TEXT) + "token=hunter2";
        let kept = redact(&long);
        assert!(kept.ends_with(MASK) && !kept.contains("hunter2"));
    }

    #[test]
    fn known_values_are_masked_wherever_they_stand() {
        let values = ["hunter2", "ter2-more", "abc", ""];
        assert_eq!(
            mask_values("xhunter2-more, abc hunter2", values),
            "x[redacted], abc [redacted]"
        );
        assert!(matches!(mask_values("plain", values), Cow::Borrowed(_)));
    }
}
