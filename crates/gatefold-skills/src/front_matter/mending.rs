//! A second try at front matter that is not quite YAML.
//!
//! People write `description: Use when: ...`, and other clients read it: the format's guide for
//! clients asks for a second try with quotes. Entries are found by their lines, each is tried alone,
//! and one that is no YAML, or that YAML would cut, is put in quotes. Every line stays in its place,
//! so that findings name the right one.

use gatefold_located::{Node, Value, parse_yaml};

use super::KEYS;

/// The keys whose values are texts.
const TEXTS: [&str; 4] = ["name", "description", "license", "compatibility"];

/// How deep entries within entries are mended: `metadata` has one level.
const DEPTH: usize = 2;

/// Front matter after a second try.
#[derive(Debug, Default)]
pub(super) struct MendedText {
    /// None where nothing had to change.
    pub(super) text: Option<String>,
    pub(super) notes: Vec<MendNote>,
}

/// What was noticed about one entry.
#[derive(Debug)]
pub(super) struct MendNote {
    /// Counted from 0.
    pub(super) line: usize,
    key: String,
    what: MendKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MendKind {
    Quoted,
    Untabbed,
    /// YAML takes the rest for a comment, and it may be one.
    Commented,
}

impl MendNote {
    pub(super) fn message(&self) -> String {
        let key = &self.key;
        match self.what {
            MendKind::Quoted => {
                format!("`{key}` was read as a text, which YAML would not do: put it in quotes")
            }
            MendKind::Untabbed => format!("`{key}` is indented with tabs: use spaces"),
            MendKind::Commented => format!(
                "`{key}` ends before ` #`, where a comment begins: put it in quotes if the rest belongs \
                 to it"
            ),
        }
    }
}

/// Mends a text. `root` is what it means as it is, if it can be read.
pub(super) fn mend(front: &str, root: Option<&Node>) -> MendedText {
    let root = root.filter(|root| matches!(root.value, Value::Table(_)));
    mend_lines(front, root, DEPTH)
}

fn mend_lines(text: &str, root: Option<&Node>, depth: usize) -> MendedText {
    let mut mended = MendedText::default();
    let mut out = String::with_capacity(text.len());
    let mut has_changed = false;
    for entry in entries(text) {
        let changed = entry.mend(root, depth, &mut mended.notes);
        has_changed |= changed.is_some();
        out.push_str(changed.as_deref().unwrap_or(entry.raw));
    }
    mended.text = has_changed.then_some(out);
    mended
}

/// One entry of a mapping, with the lines that belong to it.
struct EntryLines<'t> {
    /// Empty for lines before the first entry.
    key: &'t str,
    /// What stands behind the colon in its first line.
    value: &'t str,
    raw: &'t str,
    line: usize,
}

/// The entries of a text, by the lines that begin with a key.
fn entries(text: &str) -> Vec<EntryLines<'_>> {
    let mut entries: Vec<EntryLines<'_>> = Vec::new();
    let mut at = 0;
    for (line, raw) in text.split_inclusive('\n').enumerate() {
        let end = at + raw.len();
        match (head(raw), entries.last_mut()) {
            (None, Some(last)) => {
                let start = at - last.raw.len();
                last.raw = &text[start..end];
            }
            (found, _) => {
                let (key, value) = found.unwrap_or_default();
                entries.push(EntryLines { key, value, raw, line });
            }
        }
        at = end;
    }
    entries
}

/// The key and the value of a line that begins an entry. Without a space after the colon it may be
/// an address, so only a key of the format counts then.
fn head(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_key = key.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && key.chars().all(is_letter);
    let is_apart = value.is_empty() || value.starts_with(char::is_whitespace);
    (is_key && (is_apart || KEYS.contains(&key))).then_some((key, value.trim()))
}

impl EntryLines<'_> {
    /// The entry in a form that can be read as it is meant, if it has to change.
    fn mend(&self, root: Option<&Node>, depth: usize, notes: &mut Vec<MendNote>) -> Option<String> {
        if self.key.is_empty() {
            return None;
        }
        let mut note = |what| {
            notes.push(MendNote { line: self.line, key: self.key.to_owned(), what });
        };
        let is_text = TEXTS.contains(&self.key);
        let is_readable = match root.map(|root| root.get(self.key)) {
            Some(value) => value.is_none_or(|value| fits(is_text, value)),
            None => self.reads(self.raw, is_text),
        };
        let hidden = if is_text { self.hidden_part() } else { None };
        if is_readable && hidden != Some(MendKind::Quoted) {
            hidden.into_iter().for_each(note);
            return None;
        }
        let replace_tabs = self.replace_tabs();
        if let Some(text) = replace_tabs.filter(|text| self.reads(text, is_text)) {
            note(MendKind::Untabbed);
            return Some(text);
        }
        if !is_text && self.value.is_empty() && depth > 1 {
            return self.mend_within(depth, notes);
        }
        let text = self.text();
        // Brackets and quotes alone are no text that anybody meant.
        if !text.contains(char::is_alphanumeric) {
            return None;
        }
        note(MendKind::Quoted);
        let quoted = serde_json::to_string(&text).expect("a text is valid JSON");
        let more = self.raw.matches('\n').count();
        Some(format!("{}: {quoted}{}", self.key, "\n".repeat(more)))
    }

    /// Mends the entries of a mapping below this entry.
    fn mend_within(&self, depth: usize, notes: &mut Vec<MendNote>) -> Option<String> {
        let (first, rest) = self.raw.split_once('\n')?;
        let indent = rest.lines().find(|line| !line.trim().is_empty())?;
        let indent = &indent[..indent.len() - indent.trim_start_matches(' ').len()];
        let lines = rest.split_inclusive('\n').map(|line| match line.strip_prefix(indent) {
            Some(line) => Some(line),
            None => line.trim().is_empty().then_some("\n"),
        });
        let within: String = lines.collect::<Option<_>>()?;
        let MendedText { text, notes: inner } = mend_lines(&within, None, depth - 1);
        let text = text?;
        let lines = text.split_inclusive('\n').flat_map(|line| [indent, line]);
        let whole: String = [first, "\n"].into_iter().chain(lines).collect();
        if !self.reads(&whole, false) {
            return None;
        }
        let below = self.line + 1;
        notes.extend(inner.into_iter().map(|note| MendNote { line: note.line + below, ..note }));
        Some(whole)
    }

    /// Whether YAML reads these lines alone as this entry.
    fn reads(&self, lines: &str, is_text: bool) -> bool {
        let Ok(root) = parse_yaml(lines) else { return false };
        root.get(self.key).is_some_and(|node| fits(is_text, node))
    }

    /// What YAML would silently leave out of a text: a word after `!` is a tag, and ` #` begins a
    /// comment. With a letter right behind it, as in `#4711`, it is more likely a number or a topic.
    fn hidden_part(&self) -> Option<MendKind> {
        if self.value.starts_with('!') && !self.value.starts_with("!!") {
            return Some(MendKind::Quoted);
        }
        if self.value.starts_with(['"', '\'', '|', '>', '&', '*', '#', '[', '{', '!']) {
            return None;
        }
        // A line that is not indented may be an entry in another notation.
        let own = self.raw.lines().skip(1).filter(|line| line.starts_with([' ', '\t']));
        let mut comments =
            std::iter::once(self.value).chain(own).filter_map(|line| line.split_once(" #"));
        let (_, rest) = comments.next()?;
        let is_word = rest.starts_with(char::is_alphanumeric);
        Some(if is_word { MendKind::Quoted } else { MendKind::Commented })
    }

    /// The entry with each tab at the start of a line as two spaces, if there is one.
    fn replace_tabs(&self) -> Option<String> {
        let mut has_tab = false;
        let line = |line: &str| {
            let words = line.trim_start_matches([' ', '\t']);
            let indent = &line[..line.len() - words.len()];
            has_tab |= indent.contains('\t');
            indent.replace('\t', "  ") + words
        };
        let text: String = self.raw.split_inclusive('\n').map(line).collect();
        has_tab.then_some(text)
    }

    /// Its lines without the key, and without those that are comments as a whole.
    fn lines(&self) -> impl Iterator<Item = &str> {
        let rest = self.raw.lines().skip(1).map(str::trim);
        let rest = rest.filter(|line| !line.starts_with('#'));
        std::iter::once(self.value).chain(rest).filter(|line| !line.is_empty())
    }

    /// What is meant, on one line.
    fn text(&self) -> String {
        self.lines().collect::<Vec<_>>().join(" ")
    }
}

/// Whether a value can be what its key is for.
fn fits(is_text: bool, node: &Node) -> bool {
    !is_text || !matches!(node.value, Value::List(_) | Value::Table(_))
}
