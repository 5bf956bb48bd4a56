//! The first thing that a text says about what its tool or server does.
//!
//! Descriptions begin with headings, labels, emoji, numbers and warnings. The summary is the first
//! sentence that is none of these, without an opening such as `This tool is used to`.

/// How much of a text to read, in bytes: it says at the beginning what a tool does.
const READ_BYTES: usize = 8192;

/// The longest label, in words: `Usage guidance:` is one, a sentence before a list is not.
const LABEL_WORDS: usize = 4;

/// A paragraph's bold opening of at least this many words is a notice, not an emphasised word.
const NOTICE_WORDS: usize = 3;

/// Labels of sections that say what a tool does.
const PURPOSES: [&str; 6] =
    ["purpose", "description", "overview", "summary", "about", "what it does"];

/// Labels of what a reader must know besides what the tool does.
const NOTICES: [&str; 13] = [
    "attention",
    "caution",
    "critical",
    "deprecated",
    "important",
    "important note",
    "mandatory",
    "note",
    "notes",
    "prerequisite",
    "required",
    "tip",
    "warning",
];

/// Labels of sections that say how to call a tool.
const DETAILS: [&str; 18] = [
    "args",
    "arguments",
    "best for",
    "common use cases",
    "example",
    "examples",
    "guardrails",
    "input",
    "output",
    "parameters",
    "prerequisites",
    "requirements",
    "returns",
    "usage",
    "usage guidance",
    "use cases",
    "when to use",
    "workflow",
];

/// What descriptions call the thing that they describe.
const SUBJECTS: [&str; 10] = [
    "action",
    "api",
    "command",
    "endpoint",
    "function",
    "method",
    "operation",
    "server",
    "service",
    "tool",
];

/// Words between the subject and the verb that matters.
const BRIDGES: [&[&str]; 15] = [
    &["allows", "users", "to"],
    &["allows", "you", "to"],
    &["can", "be", "used", "to"],
    &["enables", "you", "to"],
    &["helps", "you", "to"],
    &["is", "designed", "to"],
    &["is", "used", "to"],
    &["lets", "you"],
    &["should", "be", "used", "to"],
    &["that"],
    &["which"],
    &["for"],
    &["can"],
    &["will"],
    &["to"],
];

/// How many paragraphs of instructions to search for what a server does.
const DEED_PARAGRAPHS: usize = 4;

/// First words of sentences that tell the reader what to do.
const REQUESTS: [&str; 21] = [
    "after", "always", "audience", "avoid", "before", "call", "do", "ensure", "follow", "if",
    "never", "once", "only", "please", "prefer", "start", "use", "when", "while", "you", "your",
];

/// How likely a block of text says what the tool does, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Purpose,
    Detail,
    Notice,
    Heading,
}

struct Block {
    role: Role,
    text: String,
}

/// The first sentence about the tool or server; empty if there is no letter in the text.
pub(crate) fn summary(text: &str) -> String {
    let blocks = blocks(head(text));
    let told = blocks.iter().filter(|block| block.text.contains(char::is_alphabetic));
    told.min_by_key(|block| block.role).map(Block::sentence).unwrap_or_default()
}

/// The first sentence of a server's instructions that says what the server does. Most of what
/// servers write there tells their reader what to do instead.
pub(crate) fn deed(instructions: &str) -> Option<String> {
    let blocks = blocks(head(instructions));
    let paragraphs = blocks.iter().filter(|block| block.role == Role::Purpose);
    let mut sentences = paragraphs.take(DEED_PARAGRAPHS).map(|block| (block, block.sentence()));
    let told = |(block, sentence): &(&Block, String)| {
        let first = sentence.split([' ', ':', ',']).next().unwrap_or_default().to_lowercase();
        let opened = !block.text.starts_with(sentence.as_str());
        let asks = REQUESTS.contains(&first.as_str()) || sentence.starts_with("The user");
        let heads_a_list = block.text.trim_end().ends_with(':');
        opened || !(sentence.is_empty() || asks || heads_a_list)
    };
    sentences.find(told).map(|(_, sentence)| sentence)
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(READ_BYTES)]
}

impl Block {
    fn sentence(&self) -> String {
        let sentence = first_sentence(&self.text);
        // After a warning, the next sentence may say what the tool does.
        let rest = self.text[sentence.len()..].trim();
        let behind = self.role == Role::Notice && rest.contains(char::is_alphabetic);
        let sentence = if behind { first_sentence(rest) } else { sentence };
        let plain = without_links(sentence.trim().trim_end_matches([':', '-', '–']).trim_end());
        without_opening(&plain)
    }
}

/// The paragraphs and list items of a text.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut section = Role::Purpose;
    let mut joins = false;
    for line in text.lines().map(str::trim) {
        // A list explains the text before it, unless there was none yet.
        let told = blocks.iter().any(|block| block.role == Role::Purpose);
        let Line { marker, label, body } = Line::of(line, told);
        if let Some((role, lasts)) = label {
            let kept = section;
            section = role;
            joins = false;
            if !body.is_empty() {
                blocks.push(Block { role, text: body.to_owned() });
                joins = true;
            }
            if !lasts {
                section = kept;
            }
            continue;
        }
        match (marker, blocks.last_mut()) {
            _ if body.is_empty() => joins = false,
            (Marker::None, Some(block)) if joins => {
                block.text.push(' ');
                block.text.push_str(body);
            }
            (Marker::Heading, _) => {
                blocks.push(Block { role: Role::Heading, text: body.to_owned() });
                (section, joins) = (Role::Purpose, false);
            }
            (marker, _) => {
                let explains = marker == Marker::Item && told && section == Role::Purpose;
                let role = if explains { Role::Detail } else { section };
                // The items below a warning are part of it.
                let warned = joins
                    && marker == Marker::Item
                    && blocks.last().is_some_and(|block| block.role == Role::Notice);
                let role = if is_notice(body) || warned { Role::Notice } else { role };
                blocks.push(Block { role, text: body.replace("**", "") });
                joins = true;
            }
        }
    }
    blocks
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    None,
    Heading,
    Item,
}

/// A line without the marks that make it a heading, an item or the beginning of a section.
struct Line<'a> {
    marker: Marker,
    /// The section that the line begins, and whether it goes on after the line's paragraph.
    label: Option<(Role, bool)>,
    body: &'a str,
}

impl<'a> Line<'a> {
    /// Once the purpose was `told`, any short line before a list begins a section.
    fn of(line: &'a str, told: bool) -> Self {
        let (marker, body) = unmarked(line);
        let plain = body.trim_matches(['*', '_', ' ']);
        let (head, rest) = plain.split_once(':').unwrap_or((plain, ""));
        let head = head.trim_matches(['*', '_', ' ']);
        let rest = rest.trim_matches(['*', '_', ' ']);
        let name = head.to_lowercase();
        let alone = rest.is_empty();
        let ends_with_colon = plain.ends_with(':');
        let label = if PURPOSES.contains(&name.as_str()) {
            (!alone || ends_with_colon || plain.len() == head.len())
                .then_some((Role::Purpose, true))
        } else if NOTICES.contains(&name.as_str()) {
            Some((Role::Notice, alone))
        } else {
            let short = told && alone && head.split_whitespace().count() <= LABEL_WORDS;
            let begins = ends_with_colon && (short || DETAILS.contains(&name.as_str()));
            begins.then_some((Role::Detail, true))
        };
        match label {
            Some(label) => Self { marker, label: Some(label), body: unmarked(rest).1 },
            None => Self { marker, label: None, body },
        }
    }
}

/// A line without heading marks, bullets, numbering and emoji before its first word.
fn unmarked(line: &str) -> (Marker, &str) {
    let mut marker = Marker::None;
    let mut rest = line.trim();
    loop {
        let heading = rest.trim_start_matches('#');
        let ruled = rest.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '~'));
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = digits.strip_prefix(['.', ')']).filter(|_| digits.len() < rest.len());
        let numbered = numbered.filter(|rest| rest.starts_with(' ') || rest.is_empty());
        let bullet = ["- ", "* ", "• ", "+ "].iter().find_map(|mark| rest.strip_prefix(mark));
        rest = if ruled {
            return (Marker::None, "");
        } else if heading.len() < rest.len() && heading.starts_with(' ') {
            marker = Marker::Heading;
            heading
        } else if let Some(item) = numbered.or(bullet) {
            marker = if marker == Marker::Heading { marker } else { Marker::Item };
            item
        } else if rest.starts_with(is_ornament) {
            rest.trim_start_matches(is_ornament)
        } else {
            return (marker, rest);
        };
        rest = rest.trim_start();
    }
}

/// Emoji, arrows and other pictures, and what joins them.
fn is_ornament(c: char) -> bool {
    matches!(c,
        '\u{200d}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2500}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0f}' | '\u{20e3}'
        | '\u{1f000}'..='\u{1faff}')
}

/// Whether a paragraph begins with a bold sentence, as warnings do.
fn is_notice(body: &str) -> bool {
    let bold = body.strip_prefix("**").and_then(|body| body.split_once("**"));
    bold.is_some_and(|(bold, _)| bold.split_whitespace().count() >= NOTICE_WORDS)
}

fn first_sentence(paragraph: &str) -> &str {
    let end = paragraph
        .match_indices(['.', '!', '?', '。'])
        .map(|(at, mark)| (at, at + mark.len()))
        .find(|(at, end)| ends_sentence(&paragraph[..*at], &paragraph[*end..]))
        .map_or(paragraph.len(), |(_, end)| end);
    &paragraph[..end]
}

/// Whether a full stop between these texts ends a sentence: not in `e.g. this`, `v1.2`, `U.S. law`
/// or before the first item of `one of: 1. this`.
fn ends_sentence(before: &str, after: &str) -> bool {
    let mut words = before.rsplit(|c: char| c.is_whitespace() || c == '(');
    let last_word = words.next().unwrap_or("");
    let abbreviation = last_word.contains('.')
        || matches!(last_word, "vs" | "etc" | "approx" | "incl" | "Inc" | "No" | "St" | "Dr");
    let is_number = !last_word.is_empty() && last_word.bytes().all(|byte| byte.is_ascii_digit());
    let numbering =
        is_number && words.next().is_none_or(|word| word.ends_with([':', ';', '.', ',']));
    let goes_on = after.trim_start().starts_with(|c: char| c.is_lowercase());
    let at_gap = after.is_empty() || after.starts_with(char::is_whitespace);
    at_gap && !abbreviation && !numbering && !goes_on
}

/// `Lists [issues](https://...)` as `Lists issues`: an address takes most of a line.
fn without_links(sentence: &str) -> String {
    let mut plain = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some((before, behind)) = rest.split_once('[') {
        plain.push_str(before);
        let link = behind.split_once("](").and_then(|(text, target)| {
            let (target, behind) = target.split_once(')')?;
            let is_link = !text.contains(['[', ']']) && !target.contains(char::is_whitespace);
            is_link.then_some((text, behind))
        });
        rest = if let Some((text, behind)) = link {
            plain.push_str(text);
            behind
        } else {
            plain.push('[');
            behind
        };
    }
    plain.push_str(rest);
    plain
}

/// `This tool is used to list issues` as `List issues`.
fn without_opening(sentence: &str) -> String {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let skipped = opening(&lower);
    if skipped == 0 || skipped >= words.len() {
        return sentence.to_owned();
    }
    let rest = words[skipped..].join(" ");
    let mut letters = rest.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// How many words open a sentence without saying anything.
fn opening(words: &[&str]) -> usize {
    let from = |words: &[&str], at: usize| bridge(words.get(at..).unwrap_or_default());
    match words {
        ["use", "this", subject, "to", ..] if SUBJECTS.contains(subject) => 4,
        ["use", "this", "mcp", subject, "to", ..] if SUBJECTS.contains(subject) => 5,
        ["this", "mcp", subject, ..] if SUBJECTS.contains(subject) => 3 + from(words, 3),
        ["this", subject, ..] if SUBJECTS.contains(subject) => 2 + from(words, 2),
        ["the" | "a" | "an", "tool", ..] if from(words, 2) > 0 => 2 + from(words, 2),
        ["the", "tool", verb, ..] if verb.ends_with('s') => 2,
        ["tool", ..] if from(words, 1) > 0 => 1 + from(words, 1),
        _ => 0,
    }
}

fn bridge(words: &[&str]) -> usize {
    let found = BRIDGES.iter().find(|bridge| words.starts_with(bridge));
    found.map_or(0, |bridge| bridge.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(summary(text), *expected, "{text}");
        }
    }

    #[test]
    fn the_first_sentence_ends_where_it_ends() {
        check(&[
            ("Get it. Then go.", "Get it."),
            ("Use e.g. this one. No more", "Use e.g. this one."),
            ("Version 1.2 of it", "Version 1.2 of it"),
            ("Gets the body\ngoes on. And on.", "Gets the body goes on."),
            ("First\n\nArgs: x", "First"),
            ("Modes: 1. Add. 2. Remove.", "Modes: 1. Add."),
            ("Up to version 2. Then more.", "Up to version 2."),
            ("Manage modes:\n- list: all\n- get: one", "Manage modes"),
            ("  ", ""),
            ("🎯 --- 1.", ""),
        ]);
    }

    #[test]
    fn headings_and_labels_say_nothing() {
        check(&[
            ("# Heading\n\nThe body\ngoes on. And on.", "The body goes on."),
            ("# Only a heading", "Only a heading"),
            ("Purpose: Lists issues.", "Lists issues."),
            ("🎯 Purpose:\n  1. Lists issues.\n\n📦 Returns:\n  1. Issues.", "Lists issues."),
            ("**Purpose**\nLists issues", "Lists issues"),
            ("Usage:\n- call it\n\nOverview\nLists issues.", "Lists issues."),
            ("Returns:\n- A list", "A list"),
            ("Description of an issue. More.", "Description of an issue."),
        ]);
    }

    #[test]
    fn numbers_bullets_and_pictures_are_left_out() {
        check(&[
            ("1. Lists issues", "Lists issues"),
            ("2) Lists issues", "Lists issues"),
            ("- Lists issues\n- Lists more", "Lists issues"),
            ("⚠️ ✅ Lists issues", "Lists issues"),
            ("2024 was a year", "2024 was a year"),
            ("3.5 is a number", "3.5 is a number"),
            ("-----\nLists issues", "Lists issues"),
        ]);
    }

    #[test]
    fn warnings_come_last() {
        check(&[
            ("IMPORTANT: Run this first. Lists issues. More", "Lists issues."),
            ("**Requires a plan.** It is dear.\n\nLists issues.", "Lists issues."),
            ("⚠️ **MANDATORY: Give both.**\n\nLists issues.", "Lists issues."),
            ("🛡️ Warning:\n 1. Changes data.\n\n🎯 Purpose:\n 1. Lists issues.", "Lists issues."),
            ("**Give all of it:**\n1. One\n2. Two\n\nLists issues.", "Lists issues."),
            ("Note: it is slow", "it is slow"),
            ("**Lists** issues", "Lists issues"),
        ]);
    }

    #[test]
    fn openings_are_left_out() {
        check(&[
            ("This tool lists issues.", "Lists issues."),
            ("This tool will list issues.", "List issues."),
            ("This tool is used to list issues.", "List issues."),
            ("Use this tool to list issues.", "List issues."),
            ("Use this MCP server to list issues.", "List issues."),
            ("A tool for listing issues.", "Listing issues."),
            ("Tool to list issues", "List issues"),
            ("The tool lists issues", "Lists issues"),
            ("This MCP server provides issues", "Provides issues"),
            ("This toolbox lists issues", "This toolbox lists issues"),
            ("The tool name to call", "The tool name to call"),
            ("This tool", "This tool"),
            ("Use this", "Use this"),
        ]);
    }

    #[test]
    fn links_are_shown_by_their_texts() {
        check(&[
            ("Creates a [fork](https://a.b/c#d) of it.", "Creates a fork of it."),
            ("Lists [all](x) or [some](y", "Lists all or [some](y"),
            ("[beta] Lists a[0] (all)", "[beta] Lists a[0] (all)"),
        ]);
    }

    #[test]
    fn a_text_without_end_is_read_so_far() {
        let text = format!("ü{}", "\n1. ⚠️\n".repeat(1_000_000));
        assert_eq!(summary(&text), "ü");
    }
}
