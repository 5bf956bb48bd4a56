//! Where the sentences of a text are.

use std::ops::Range;

/// The longest sentence, in bytes. A longer one is cut at a pause.
const MAX_SENTENCE: usize = 1000;

/// How many characters after a full stop are looked at for the next letter.
const MAX_LOOK_AHEAD: usize = 64;

/// Words that end in a full stop and go on before a capital letter or a number.
const OPEN_ABBREVIATIONS: &[&str] = &[
    "adm", "al", "approx", "art", "ave", "bd", "bzw", "ca", "cap", "capt", "cf", "ch", "chap",
    "cit", "col", "dept", "dr", "ed", "eds", "eq", "eqs", "esp", "est", "e.g", "fig", "figs", "fr",
    "gen", "gov", "hon", "hr", "i.e", "inkl", "lt", "max", "messrs", "min", "mr", "mrs", "ms",
    "mt", "nos", "nr", "op", "p", "para", "pp", "prof", "ref", "refs", "rep", "rev", "sec", "sect",
    "sen", "sr", "st", "tab", "univ", "v", "viz", "vol", "vols", "vs", "z.b", "d.h", "u.a",
];

/// Words that end in a full stop and may end a sentence as well: it does before a word with which
/// sentences often begin.
const CLOSING_ABBREVIATIONS: &[&str] = &[
    "a.m", "apr", "aug", "bros", "co", "corp", "dec", "etc", "feb", "inc", "jan", "jr", "ltd",
    "no", "nov", "oct", "p.m", "ph.d", "sep", "sept", "usw", "u.k", "u.n", "u.s", "u.s.a", "b.c",
    "a.d",
];

const FIRST_WORDS: &[&str] = &[
    "a", "after", "all", "although", "an", "and", "as", "at", "but", "by", "during", "each", "for",
    "from", "he", "her", "his", "how", "however", "i", "if", "in", "it", "its", "many", "most",
    "no", "on", "one", "our", "she", "since", "some", "such", "that", "the", "their", "there",
    "these", "they", "this", "those", "to", "we", "what", "when", "while", "who", "with", "you",
    "der", "die", "das", "es", "wir", "sie",
];

/// The sentences within a part of a canonical text, in order, without the white space around them and
/// the markers of headings and lists before them.
///
/// Rows of tables, lines of code, headings and items of lists are sentences of their own. What has no
/// letter and no digit is left out.
pub fn sentences(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    let start = text.ceil_char_boundary(within.start.min(text.len()));
    let end = text.floor_char_boundary(within.end.min(text.len())).max(start);
    let mut found = Vec::new();
    for unit in units(text, start..end) {
        if unit.is_prose {
            split_prose(text, &unit.span, &mut found);
        } else {
            push(text, unit.span, &mut found);
        }
    }
    found
}

/// A run of lines whose sentences are looked for together, or one line that is a sentence.
struct Unit {
    span: Range<usize>,
    is_prose: bool,
}

fn units(text: &str, within: Range<usize>) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut is_open = false;
    let mut is_code = false;
    let mut at = within.start;
    for line in text[within].split_inclusive('\n') {
        let span = at..at + line.len();
        at = span.end;
        let words = line.trim();
        if words.starts_with("```") || words.starts_with("~~~") {
            is_code = !is_code;
            is_open = false;
            continue;
        }
        let marker = if is_code { 0 } else { marker_length(words) };
        let is_line = is_code || words.starts_with(['#', '|']) || line.starts_with(['\t']);
        match units.last_mut().filter(|_| is_open && marker == 0 && !is_line) {
            _ if !words.contains(char::is_alphanumeric) => {}
            Some(unit) => unit.span.end = span.end,
            None => {
                let start = span.start + line.len() - line.trim_start().len() + marker;
                units.push(Unit { span: start.min(span.end)..span.end, is_prose: !is_line });
            }
        }
        // A blank line ends a paragraph, and so does a rule, or what underlines a heading.
        is_open = words.contains(char::is_alphanumeric) && !is_line;
    }
    units
}

/// The bytes of a marker of a heading, a list or a block quote, with the space after it.
pub(crate) fn marker_length(line: &str) -> usize {
    let marks = line.trim_start_matches(['#', '>', '-', '*', '+', '\u{2022}', '\u{b7}']);
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = (1..=3).contains(&(line.len() - digits.len()));
    let rest = match digits.strip_prefix(['.', ')']).filter(|_| is_number) {
        Some(rest) => rest,
        None => marks,
    };
    let words = rest.trim_start();
    // `#1`, `-5` and `**bold**` are words.
    if rest.len() < line.len() && words.len() < rest.len() { line.len() - words.len() } else { 0 }
}

fn split_prose(text: &str, unit: &Range<usize>, found: &mut Vec<Range<usize>>) {
    let is_small = !text[unit.clone()].contains(char::is_uppercase);
    let mut start = unit.start;
    let mut ends = text[unit.clone()].char_indices().peekable();
    while let Some((offset, c)) = ends.next() {
        if !is_terminator(c) {
            continue;
        }
        let mut end = unit.start + offset + c.len_utf8();
        while let Some((next, closing)) = ends.next_if(|(_, c)| is_terminator(*c) || is_closing(*c))
        {
            end = unit.start + next + closing.len_utf8();
        }
        let rest = &text[end..unit.end];
        if is_end(&text[start..end], rest, c, is_small) {
            push(text, start..end, found);
            start = end;
        }
    }
    push(text, start..unit.end, found);
}

fn is_terminator(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '\u{2026}') || is_full_width(c)
}

/// A terminator after which no space is needed.
fn is_full_width(c: char) -> bool {
    matches!(
        c,
        '\u{3002}' | '\u{ff01}' | '\u{ff1f}' | '\u{ff61}' | '\u{964}' | '\u{61f}' | '\u{6d4}'
    )
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | ')'
            | ']'
            | '*'
            | '\u{2019}'
            | '\u{201d}'
            | '\u{bb}'
            | '\u{203a}'
            | '\u{300d}'
            | '\u{300f}'
            | '\u{ff09}'
    )
}

/// Whether a sentence ends after this terminator and what closes it. Where nothing is written with capitals
/// (`is_small`), small letters begin sentences.
fn is_end(sentence: &str, rest: &str, terminator: char, is_small: bool) -> bool {
    if is_full_width(terminator) {
        return true;
    }
    let next_words = rest.trim_start();
    let mut next = next_words.chars().take(MAX_LOOK_AHEAD);
    let Some(next) = next.find(|c| c.is_alphanumeric()) else { return true };
    if next_words.len() == rest.len() || next.is_lowercase() && !is_small {
        return false;
    }
    if terminator != '.' {
        return true;
    }
    let words = sentence.trim_end_matches(|c| is_terminator(c) || is_closing(c));
    let last =
        words.rsplit(|c: char| !(c.is_alphanumeric() || c == '.')).next().unwrap_or_default();
    let last = last.to_lowercase();
    let is_initial = last.chars().count() == 1 && (is_small || words.ends_with(char::is_uppercase));
    if is_initial || OPEN_ABBREVIATIONS.contains(&last.as_str()) {
        return false;
    }
    let is_numbering = words.trim_start().chars().all(|c| c.is_ascii_digit() || c == '.');
    if is_numbering && words.len() <= 8 {
        return false;
    }
    if CLOSING_ABBREVIATIONS.contains(&last.as_str()) {
        let first = next_words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        return FIRST_WORDS.contains(&first.to_lowercase().as_str());
    }
    true
}

/// Adds a sentence without the white space around it, in parts if it is too long.
fn push(text: &str, span: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut rest = trim(text, span);
    while rest.len() > MAX_SENTENCE {
        let limit = text.floor_char_boundary(rest.start + MAX_SENTENCE);
        let head = &text[rest.start..limit];
        let least = head.floor_char_boundary(MAX_SENTENCE / 2);
        let pause = head[least..].rfind(['\n', ';', ':']);
        let pause = pause.or_else(|| head[least..].rfind([',', '|']));
        let pause = pause.or_else(|| head[least..].rfind(' '));
        let cut = pause.map_or(limit, |at| rest.start + least + at + 1);
        push_part(text, trim(text, rest.start..cut), found);
        rest = trim(text, cut..rest.end);
    }
    push_part(text, rest, found);
}

fn push_part(text: &str, span: Range<usize>, found: &mut Vec<Range<usize>>) {
    if text[span.clone()].contains(char::is_alphanumeric) {
        found.push(span);
    }
}

fn trim(text: &str, span: Range<usize>) -> Range<usize> {
    let part = &text[span.clone()];
    let start = span.end - part.trim_start().len();
    start..start + text[start..span.end].trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> =
            sentences(text, 0..text.len()).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn prose_ends_where_a_reader_pauses() {
        check("One is. Two\nis too! Is three?", &["One is.", "Two\nis too!", "Is three?"]);
        check(
            "It is 4.5 m (p. 3). Mr. J. Smith, e.g. Bob, went.",
            &["It is 4.5 m (p. 3).", "Mr. J. Smith, e.g. Bob, went."],
        );
        check(
            "He works at Acme Inc. The firm is old.",
            &["He works at Acme Inc.", "The firm is old."],
        );
        check(
            "Acme Inc. Berlin sells in the U.S. Army.",
            &["Acme Inc. Berlin sells in the U.S. Army."],
        );
        check(
            "\u{201c}We go.\u{201d} She left... then stayed. End",
            &["\u{201c}We go.\u{201d}", "She left... then stayed.", "End"],
        );
        check(
            "the debt is due in 2025. j. smith and co. hold it. we paid it.",
            &["the debt is due in 2025.", "j. smith and co. hold it.", "we paid it."],
        );
        check("The debt is due. so it is.", &["The debt is due. so it is."]);
        check("一です。二です！", &["一です。", "二です！"]);
        check("See Fig. 3. No. 5 is it.", &["See Fig. 3.", "No. 5 is it."]);
    }

    #[test]
    fn items_rows_headings_and_lines_of_code_stand_alone() {
        check(
            "# A heading\nProse\ngoes on.\n- one\n- two\n  more\n1. three\n\n| a | b |\n|---|---|\n| c. D | d |\n```\nx = 1\ny = 2. Z\n```\n",
            &[
                "A heading",
                "Prose\ngoes on.",
                "one",
                "two\n  more",
                "three",
                "| a | b |",
                "| c. D | d |",
                "x = 1",
                "y = 2. Z",
            ],
        );
        check("**Bold** is. -5 is", &["**Bold** is.", "-5 is"]);
    }

    #[test]
    fn a_long_sentence_is_cut_at_a_pause() {
        let text = "word, ".repeat(1000);
        let found = sentences(&text, 0..text.len());
        assert!(found.len() > 5 && found.iter().all(|span| span.len() <= MAX_SENTENCE));
        assert!(found.iter().all(|span| text[span.clone()].ends_with(',')));
        let text = "漢".repeat(1000);
        assert!(sentences(&text, 1..text.len() - 1).iter().all(|span| span.len() <= MAX_SENTENCE));
    }
}
