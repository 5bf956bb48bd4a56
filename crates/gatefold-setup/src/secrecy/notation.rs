//! Tells references from literal text, so that only literals and defaults count as secrets.

use std::ops::Range;

use gatefold_secrecy::REFERENCE;

/// A piece of a text: literal characters, or a reference to something outside the file.
enum NotationPart<'t> {
    Literal(&'t str),
    Reference { whole: &'t str, name: &'t str, default: &'t str },
}

fn parts(text: &str) -> Vec<NotationPart<'_>> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(found) = text[at..].find("${") {
        let begin = at + found;
        at = begin + 2;
        if text[..begin].ends_with('$') {
            continue;
        }
        let Some(length) = text[at..].find('}') else { break };
        let inner = &text[at..at + length];
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, default),
            None => (inner, ""),
        };
        parts.push(NotationPart::Literal(&text[start..begin]));
        at += length + 1;
        parts.push(NotationPart::Reference { whole: &text[begin..at], name, default });
        start = at;
    }
    parts.push(NotationPart::Literal(&text[start..]));
    parts
}

/// The text with its references made unrecognizable, byte for byte. Defaults stay, because the file
/// has them in clear.
pub(super) fn masked(text: &str) -> String {
    let mask = |length: usize| String::from(REFERENCE).repeat(length);
    let one = |part: NotationPart<'_>| match part {
        NotationPart::Literal(text) => text.replace(REFERENCE, "?"),
        NotationPart::Reference { whole, default: "", .. } => mask(whole.len()),
        NotationPart::Reference { whole, default, .. } => {
            let default = default.replace(REFERENCE, "?");
            mask(whole.len() - default.len() - 1) + &default + &mask(1)
        }
    };
    parts(text).into_iter().map(one).collect()
}

/// The names of the references that have a default, and the range of each default.
pub(super) fn defaults(text: &str) -> Vec<(&str, Range<usize>)> {
    let mut at = 0;
    let mut defaults = Vec::new();
    for part in parts(text) {
        at += match part {
            NotationPart::Literal(literal) => literal.len(),
            NotationPart::Reference { whole, name, default } => {
                let end = at + whole.len() - 1;
                if !default.is_empty() {
                    defaults.push((name, end - default.len()..end));
                }
                whole.len()
            }
        };
    }
    defaults
}

/// Replaces these ranges of a text, which are in order and do not overlap. References in them stay,
/// except those whose default lies in one. `replace` is given the name of such a reference, if it
/// is one, and the text to replace as a program would see it.
pub(super) fn replaced<'r>(
    text: &str,
    ranges: &'r [Range<usize>],
    mut replace: impl FnMut(&'r Range<usize>, Option<&str>, &str) -> String,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let has_references = parts(text).len() > 1;
    for part in parts(text) {
        match part {
            NotationPart::Literal(literal) => {
                let end = at + literal.len();
                let mut done = at;
                for range in ranges.iter().filter(|range| range.start < end && range.end > at) {
                    let (from, to) = (range.start.max(at), range.end.min(end));
                    let secret = &text[from..to];
                    out.push_str(&text[done..from]);
                    // Punctuation between references is no secret.
                    if has_references && !secret.contains(char::is_alphanumeric) {
                        out.push_str(secret);
                    } else {
                        out.push_str(&replace(range, None, &secret.replace("$${", "${")));
                    }
                    done = to;
                }
                out.push_str(&text[done..end]);
                at = end;
            }
            NotationPart::Reference { whole, name, default } => {
                let end = at + whole.len();
                let hit = ranges.iter().find(|range| range.start < end && range.end > at);
                match hit.filter(|_| !default.is_empty()) {
                    Some(range) => out.push_str(&replace(range, Some(name), default)),
                    None => out.push_str(whole),
                }
                at = end;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use gatefold_secrecy::is_reference;

    use super::*;

    #[test]
    fn a_masked_text_keeps_its_places() {
        for text in ["a${B}c", "${A:-d}", "$${A} ${B", "ä${A}ö${B:-ü}"] {
            assert_eq!(masked(text).len(), text.len(), "{text}");
        }
        assert!(is_reference(&masked("${A}:${B}")) && !is_reference(&masked("x${A}")));
        assert!(!is_reference(&masked("${A:-d}")) && !is_reference("!!!"));
    }

    #[test]
    fn references_stay_where_secrets_go() {
        let replaced = |text: &str| {
            let whole = 0..text.len();
            replaced(text, &[whole], |_, name, secret| format!("<{}{secret}>", name.unwrap_or("")))
        };
        for (text, expected) in [
            ("abc", "<abc>"),
            ("abc${D}", "<abc>${D}"),
            ("${A}:${B}", "${A}:${B}"),
            ("${A:-b}c", "<Ab><c>"),
            ("a$${b}", "<a${b}>"),
            ("!!!", "<!!!>"),
        ] {
            assert_eq!(replaced(text), expected, "{text}");
        }
    }
}
