//! Secrets in a text, masked.

use std::borrow::Cow;
use std::ops::Range;

use super::REFERENCE;
use super::texts::secrets_in_any;

/// Replaces a secret.
pub const MASK: &str = "[redacted]";

/// The longest text that is searched, in bytes. Everything after it is masked.
const LONGEST_TEXT: usize = 1024 * 1024;

/// Shorter values are not masked by [`mask_values`], because they would be found within words.
const SHORTEST_VALUE: usize = 4;

/// The text with its secrets masked.
///
/// At most the first mebibyte is searched, in time linear in its length. When in doubt, this masks:
/// the rest of a longer text is replaced by a mask.
pub fn redact(text: &str) -> Cow<'_, str> {
    let end = text.floor_char_boundary(LONGEST_TEXT);
    // A foreign text could use the stand-in for references to hide a secret. A letter in its place
    // hides nothing.
    let searched = text[..end].replace(REFERENCE, "_");
    let spans = secrets_in_any(&searched).into_iter();
    let mut ranges: Vec<_> = spans.map(|span| span.range).collect();
    if end < text.len() {
        ranges.push(end..text.len());
    }
    masked(text, &ranges)
}

/// The text with these known values masked, wherever they occur.
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

/// The text with each range replaced by a mask. The ranges are sorted and do not overlap.
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
    use std::time::{Duration, Instant};

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
            // The stand-in for references hides nothing.
            ("ghp_0123\u{1a}456789abcdef", "[redacted]"),
            ("password=\u{1a}", "password=[redacted]"),
        ] {
            assert_eq!(redact(text), expected);
        }
        assert!(matches!(redact("nothing to hide"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_secret_is_found_however_much_stands_around_it() {
        let text = format!("{}token=hunter2 {}", "a b ".repeat(10_000), "c ".repeat(10_000));
        assert!(!redact(&text).contains("hunter2"));
        let key = format!("-----BEGIN KEY-----\n{}-----END KEY-----", "MIIB abc\n".repeat(1000));
        assert_eq!(redact(&format!("see {key} there")), "see [redacted] there");
    }

    #[test]
    fn what_is_too_long_is_cut_off_with_a_mask() {
        let long = " ".repeat(LONGEST_TEXT) + "token=hunter2";
        let kept = redact(&long);
        assert!(kept.ends_with(MASK) && !kept.contains("hunter2"));
    }

    /// Texts that are built so that one part of them belongs to many matches.
    const HOSTILE: &[&str] = &[
        "a:",
        "key:",
        "key:$",
        "id:",
        "key='",
        "key=\"\\",
        "key=a;",
        "a=",
        "token ",
        "bearer x",
        "a://",
        "a://b:c/",
        "a://b:c/@",
        "a://:-",
        "a://b?c#",
        "a://?key=",
        "-----BEGIN",
        "-----END",
        "=",
        "x==",
        "\\",
        "\"'",
        "--key ",
        "-u a:",
        "a_",
        "aB3-",
        "/a",
        "@",
        " ",
        "\u{1a}",
    ];

    /// The fastest of three searches of a text.
    fn time_for(text: &str) -> Duration {
        let once = || {
            let begin = Instant::now();
            std::hint::black_box(redact(text));
            begin.elapsed()
        };
        (0..3).map(|_| once()).min().expect("three")
    }

    #[test]
    fn the_time_grows_with_the_length_and_no_faster() {
        const SHORT: usize = 512;
        const TIMES_LONGER: u32 = 64;
        const ATTEMPTS: usize = 4;
        let mixed = |piece: &str, length: usize| {
            let half = length / 2 / piece.len();
            // What comes behind is what many of the pieces may be searching for.
            [piece.repeat(half * 2), piece.repeat(half) + &" ".repeat(length / 2) + "@;"]
        };
        for piece in HOSTILE {
            for (short, long) in
                mixed(piece, SHORT).iter().zip(&mixed(piece, SHORT * TIMES_LONGER as usize))
            {
                // Quadratic time would take 4096 times as long, each time; a busy machine does so once.
                let is_within = || {
                    let (short, long) = (time_for(short), time_for(long));
                    long < short.max(Duration::from_micros(50)) * 8 * TIMES_LONGER
                };
                assert!((0..ATTEMPTS).any(|_| is_within()), "{piece:?}");
            }
        }
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
