//! Characters that people do not see, with which a definition can tell a model something that its
//! reader does not know.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use gatefold_core::is_hidden;
use serde_json::Value;

/// The text with such characters replaced by their numbers, `<U+202E>`. Joiners and variation
/// selectors stay where writing needs them: one at a time, within a word that is not ASCII or
/// within an emoji.
pub fn marked(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut marked = String::with_capacity(text.len());
    for (c, is_hidden) in judged(text) {
        if is_hidden {
            let _ = write!(marked, "<U+{:04X}>", u32::from(c));
        } else {
            marked.push(c);
        }
    }
    marked.into()
}

/// The characters of a text, and whether each would be marked.
fn judged(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut before = None;
    let mut chars = text.chars().peekable();
    std::iter::from_fn(move || {
        let c = chars.next()?;
        let is_marked = is_hidden(c) && !is_spelling(before, c, chars.peek().copied());
        before = Some(c);
        Some((c, is_marked))
    })
}

/// Whether a character is part of how a word or an emoji is written.
fn is_spelling(before: Option<char>, c: char, after: Option<char>) -> bool {
    const KEYCAP: char = '\u{20e3}';
    const AS_EMOJI: char = '\u{fe0f}';
    // Programs use noncharacters as marks for themselves.
    let is_shown =
        |c: char| !c.is_ascii() && !is_hidden(c) && !matches!(c, '\u{fdd0}'..='\u{fdef}');
    let shown_before = before.is_some_and(is_shown);
    match c {
        '\u{200c}' | '\u{200d}' => {
            (shown_before || before == Some(AS_EMOJI)) && after.is_some_and(is_shown)
        }
        '\u{fe0e}' | AS_EMOJI => shown_before || after == Some(KEYCAP),
        _ => false,
    }
}

/// One definition with invisible characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenText {
    /// The kind of entry, and its name or URI with such characters marked.
    entry: String,
    /// Which characters, and how often.
    characters: BTreeMap<char, usize>,
}

impl HiddenText {
    /// The hidden text in a definition's JSON, or None if everything in it is visible.
    pub(crate) fn of(noun: &str, key: &str, definition: &str) -> Option<Self> {
        if definition.is_ascii() && !definition.contains("\\u") {
            return None;
        }
        let definition: Value = serde_json::from_str(definition).ok()?;
        let mut characters = BTreeMap::new();
        count(&definition, &mut characters);
        let entry = format!("{noun} `{}`", marked(key));
        (!characters.is_empty()).then_some(Self { entry, characters })
    }
}

fn count(value: &Value, characters: &mut BTreeMap<char, usize>) {
    let mut in_text = |text: &str| {
        for (c, _) in judged(text).filter(|(_, is_marked)| *is_marked) {
            *characters.entry(c).or_default() += 1;
        }
    };
    match value {
        Value::String(text) => in_text(text),
        Value::Array(values) => values.iter().for_each(|value| count(value, characters)),
        Value::Object(fields) => {
            fields.keys().for_each(|key| in_text(key));
            fields.values().for_each(|value| count(value, characters));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `tool `x` hides <U+200B> 3 times, <U+202E>`
impl fmt::Display for HiddenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// How many different characters to name.
        const NAMED: usize = 8;
        write!(f, "{} hides", self.entry)?;
        for (number, (c, count)) in self.characters.iter().take(NAMED).enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma} <U+{:04X}>", u32::from(*c))?;
            if *count > 1 {
                write!(f, " {count} times")?;
            }
        }
        match self.characters.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} others"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_marked_and_writing_stays() {
        for (text, expected) in [
            ("plain ünïcode 工具 👍🏽", "plain ünïcode 工具 👍🏽"),
            ("evil\u{202e}txt.exe", "evil<U+202E>txt.exe"),
            ("a\u{200b}b\u{feff}\u{ad}c", "a<U+200B>b<U+FEFF><U+00AD>c"),
            ("\u{e0049}\u{e0067}", "<U+E0049><U+E0067>"),
            ("\u{2066}x\u{2069}\u{200f}", "<U+2066>x<U+2069><U+200F>"),
            ("x\u{fe01}\u{fe02}\u{e0100}", "x<U+FE01><U+FE02><U+E0100>"),
            (
                "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
                "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
            ),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("pay\u{200c}pal", "pay<U+200C>pal"),
            ("می\u{200c}\u{200d}خ", "می<U+200C><U+200D>خ"),
            ("\u{3164}", "<U+3164>"),
        ] {
            assert_eq!(marked(text), expected);
        }
    }

    #[track_caller]
    fn check(definition: &str, expected: Option<&str>) {
        let hidden = HiddenText::of("tool", "x", definition).map(|hidden| hidden.to_string());
        assert_eq!(hidden.as_deref(), expected, "{definition}");
    }

    #[test]
    fn a_definition_says_what_it_hides_and_where_nothing_is_hidden_nothing() {
        check(r#"{"name":"x","description":"Does it."}"#, None);
        check(r#"{"name":"x","description":"Größer \u00fc"}"#, None);
        check(
            r#"{"description":"a\u200bb\u200bc\u202ed"}"#,
            Some("tool `x` hides <U+200B> 2 times, <U+202E>"),
        );
        check(
            "{\"inputSchema\":{\"properties\":{\"a\u{2063}\":{}}}}",
            Some("tool `x` hides <U+2063>"),
        );
        check(r#"{"annotations":{"title":["\udb40\udc41"]}}"#, Some("tool `x` hides <U+E0041>"));
        let tags: String = ('\u{e0041}'..='\u{e004f}').collect();
        let expected = "tool `x` hides <U+E0041>, <U+E0042>, <U+E0043>, <U+E0044>, <U+E0045>, \
                        <U+E0046>, <U+E0047>, <U+E0048> and 7 others";
        check(&format!("{{\"description\":\"{tags}\"}}"), Some(expected));
    }
}
