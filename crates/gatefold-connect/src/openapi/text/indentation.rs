//! Indents the lines of flow collections and quoted texts, which in YAML 1.2 have to stand further to the right
//! than the key before them (YAML 1.2.2, rule 81 and section 7.4).

/// How many times as long a repaired text may be.
const GROWTH_LIMIT: usize = 4;

/// The same text with every line indented that continues brackets or quotes, and the number of the first one.
/// `None` if there are no such lines, or far too deep ones. Spaces before such a line mean nothing, so the value stays the same.
pub(super) fn indent(text: &str) -> Option<(String, usize)> {
    let mut scan = LineScan::default();
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut first = None;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if scan.is_inside() {
            first.get_or_insert(index + 1);
            out.extend(std::iter::repeat_n(' ', scan.column + 1));
        }
        out.push_str(line);
        if out.len() > GROWTH_LIMIT * text.len() {
            return None;
        }
        scan.line(line.trim_end_matches(['\n', '\r']));
    }
    first.map(|first| (out, first))
}

/// What the end of a line is within.
#[derive(Debug, Default)]
struct LineScan {
    /// How many brackets are open.
    depth: usize,
    quote: Option<char>,
    /// The column of the last key or item outside brackets.
    column: usize,
    is_block_text: bool,
    is_plain_text: bool,
}

impl LineScan {
    fn is_inside(&self) -> bool {
        self.depth > 0 || self.quote.is_some()
    }

    fn line(&mut self, line: &str) {
        if self.is_inside() {
            let rest = self.inside(line);
            // What follows on the same line is not read: no key may stand there.
            return self.after(rest);
        }
        let content = line.trim_start_matches(' ');
        let column = line.len() - content.len();
        if content.trim().is_empty() || content.starts_with('#') {
            return;
        }
        if (self.is_block_text || self.is_plain_text) && column > self.column {
            return;
        }
        (self.is_block_text, self.is_plain_text) = (false, false);
        self.column = column;
        self.value(content);
    }

    /// Reads a value, or a key and its value, from outside brackets.
    fn value(&mut self, content: &str) {
        let mut rest = content;
        loop {
            // Items of lists and complex keys stand further to the right than their mark.
            while let Some(item) = ["- ", "? "].iter().find_map(|mark| rest.strip_prefix(mark)) {
                let inner = item.trim_start_matches(' ');
                self.column += rest.len() - inner.len();
                rest = inner;
            }
            rest = without_properties(rest);
            match rest.chars().next() {
                None | Some('#') => return,
                Some('|' | '>') => {
                    self.is_block_text = true;
                    return;
                }
                Some('"' | '\'' | '[' | '{') => rest = self.inside(rest),
                Some(_) => {
                    let Some(end) = key_end(rest) else {
                        self.is_plain_text = true;
                        return;
                    };
                    rest = &rest[end..];
                }
            }
            if self.is_inside() {
                return;
            }
            // Only behind a key there is another value.
            let Some(value) = rest.trim_start_matches(' ').strip_prefix(':') else {
                return self.after(rest);
            };
            rest = value.trim_start_matches([' ', '\t']);
        }
    }

    /// Reads on within brackets and quotes. Returns what is behind them.
    fn inside<'t>(&mut self, text: &'t str) -> &'t str {
        let mut chars = text.char_indices().peekable();
        let mut before = ' ';
        while let Some((at, c)) = chars.next() {
            match (self.quote, c) {
                (Some('"'), '\\') => _ = chars.next(),
                (Some('\''), '\'') if chars.peek().is_some_and(|(_, next)| *next == '\'') => {
                    chars.next();
                }
                (Some(quote), _) => self.quote = Some(quote).filter(|quote| *quote != c),
                (None, '[' | '{') => self.depth += 1,
                (None, ']' | '}') => self.depth = self.depth.saturating_sub(1),
                // Within a word they are letters.
                (None, '"' | '\'') if " \t,:[{".contains(before) => self.quote = Some(c),
                (None, '#') if before.is_whitespace() => return "",
                (None, _) => {}
            }
            before = c;
            if !self.is_inside() {
                return &text[at + c.len_utf8()..];
            }
        }
        ""
    }

    /// What is behind brackets or quotes may make them a key.
    fn after(&mut self, rest: &str) {
        if !self.is_inside()
            && let Some(value) = rest.trim_start_matches(' ').strip_prefix(": ")
        {
            self.value(value.trim_start_matches(' '));
        }
    }
}

/// A value without its anchor and its tag.
fn without_properties(text: &str) -> &str {
    let mut rest = text;
    while rest.starts_with(['&', '!']) {
        let Some((_, behind)) = rest.split_once(' ') else { return "" };
        rest = behind.trim_start_matches(' ');
    }
    rest
}

/// Where a plain key ends: at a colon with a space or nothing behind it.
fn key_end(text: &str) -> Option<usize> {
    let mut colons = text.match_indices(':').map(|(at, _)| at);
    let is_end = |at: &usize| text[at + 1..].chars().next().is_none_or(|next| " \t".contains(next));
    // A line may hold a million keys: what is behind this one is not looked at for it.
    colons.find(is_end).filter(|at| !text[..*at].contains(" #"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::parse;

    #[test]
    fn a_line_of_many_keys_is_read_in_a_moment() {
        let begun = Instant::now();
        parse("a: ".repeat(500_000).as_bytes()).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }

    #[test]
    fn brackets_and_quotes_may_end_below_their_key() {
        for (yaml, json) in [
            (
                "x:\n  b:\n    e: {\n      \"k\": {}\n    }\n  c: 1\n",
                r#"{"x":{"b":{"e":{"k":{}}},"c":1}}"#,
            ),
            (
                "x: {\n\"k\": 1\n}\ny: [\na,\nb # ]\n]\nz: 2\n",
                r#"{"x":{"k":1},"y":["a","b"],"z":2}"#,
            ),
            ("- a: [\n1\n  ]\n  b: 2\n- - {\nc: 3\n}\n", r#"[{"a":[1],"b":2},[{"c":3}]]"#),
            ("x: \"one\ntwo\"\ny: 'it''s\n{'\nz: {\n}\n", r#"{"x":"one two","y":"it's {","z":{}}"#),
            ("t: |\n  e: {\n  [\nx: {\n}\n", r#"{"t":"e: {\n[\n","x":{}}"#),
            ("t: see\n  [this {\nx: {\n}\n", r#"{"t":"see [this {","x":{}}"#),
            ("it's: don't {\nx: &a !!map {\n}\ny: *a\n", r#"{"it's":"don't {","x":{},"y":{}}"#),
            ("\"q\": {\n}\nhttp://x: {\n'a': \"}\"\n}\n", r#"{"q":{},"http://x":{"a":"}"}}"#),
            ("a: {b: \"\\\"}\",\nc: 1}\r\nd: 2\r\n", r#"{"a":{"b":"\"}","c":1},"d":2}"#),
        ] {
            let parsed = parse(yaml.as_bytes()).unwrap_or_else(|error| panic!("{yaml}: {error}"));
            assert_eq!(parsed.value.to_string(), json, "{yaml}");
            assert!(parsed.repair.is_some(), "{yaml}");
        }
    }

    #[test]
    fn what_a_parser_reads_is_not_touched_and_what_none_reads_stays_a_fault() {
        let fine = parse(b"x: {\n  k: 1\n  }\n").unwrap();
        assert_eq!(fine.repair, None);
        let told = parse(b"x: {\n  k: 1\n  }\ny: {\n").unwrap_err().to_string();
        assert!(told.starts_with("it is neither JSON nor YAML: "), "{told}");
    }
}
