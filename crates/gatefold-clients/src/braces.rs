//! Members between braces and commas: JSON's objects, TOML's inline tables, YAML's flow mappings.

use crate::text::{indent, is_blank, line_end, line_start, newline, next_line};

/// A table in braces, as byte offsets into its text.
#[derive(Debug)]
pub(crate) struct Braces {
    /// Of the opening brace.
    pub open: usize,
    /// Of the closing brace.
    pub close: usize,
    pub members: Vec<Member>,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub name: String,
    /// Of the key.
    pub start: usize,
    /// Past the value.
    pub end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    /// `// ..` and `/* .. */`.
    Slashes,
    /// `# ..`.
    Hash,
}

/// How the members beside a new one are written.
#[derive(Debug)]
pub(crate) struct Layout {
    pub newline: &'static str,
    /// Before the member; `None` when it shares its line with others.
    pub indent: Option<String>,
    /// What one more level of nesting adds.
    pub unit: String,
    /// Whether there is a space after a colon.
    pub is_spaced: bool,
}

impl Braces {
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|member| member.name == name)
    }

    /// The index behind the last of `before` that is here, which is where something that came
    /// after them belongs.
    pub(crate) fn index_after(&self, before: &[String]) -> usize {
        let last = self.members.iter().rposition(|member| before.contains(&member.name));
        last.map_or(0, |index| index + 1)
    }

    /// How a new member is to be written. `unit` is the text's step of indentation.
    pub(crate) fn layout(&self, text: &str, unit: &str) -> Layout {
        let starts_line = |offset| is_blank(&text[line_start(text, offset)..offset]);
        let indent = match self.members.iter().find(|member| starts_line(member.start)) {
            Some(member) => Some(indent(text, member.start).to_owned()),
            None if !self.members.is_empty() => None,
            // An empty table opens up, unless everything is on one line.
            None if text.trim_end().contains('\n') || text.trim().len() <= self.width() => {
                Some(format!("{}{unit}", indent(text, self.open)))
            }
            None => None,
        };
        let colon = self.members.first().and_then(|member| {
            let key = &text[member.start..member.end];
            key.find("\":").map(|at| key[at + 2..].starts_with([' ', '\n', '\r', '\t']))
        });
        let is_spaced = colon.unwrap_or_else(|| !text.contains("\":") || text.contains("\": "));
        Layout { newline: newline(text), indent, unit: unit.to_owned(), is_spaced }
    }

    fn width(&self) -> usize {
        self.close + 1 - self.open
    }

    /// The text with `member` at `index` of the table.
    pub(crate) fn insert(
        &self,
        text: &str,
        comments: Comments,
        index: usize,
        layout: &Layout,
        member: &str,
    ) -> String {
        let index = index.min(self.members.len());
        let mut edits = Edits::default();
        let (lead, gap) = match &layout.indent {
            Some(indent) => (format!("{}{indent}", layout.newline), String::new()),
            None => (String::new(), if layout.is_spaced { " " } else { "" }.to_owned()),
        };
        if self.members.is_empty() {
            self.open_up(text, layout, member, &mut edits);
        } else if index == 0 {
            let at = if lead.is_empty() {
                self.members[0].start
            } else {
                end_of_remark(text, self.open + 1, comments)
            };
            edits.insert(at, format!("{lead}{member},{gap}"));
        } else {
            let last = &self.members[index - 1];
            let comma = skip(text, last.end, comments);
            let has_comma = text[comma..].starts_with(',');
            let behind = if has_comma { comma + 1 } else { last.end };
            if !has_comma {
                edits.insert(last.end, ",".to_owned());
            }
            let at = if lead.is_empty() { behind } else { end_of_remark(text, behind, comments) };
            let tail = if has_comma { "," } else { "" };
            edits.insert(at, format!("{lead}{gap}{member}{tail}"));
        }
        edits.apply(text)
    }

    /// Puts the first member in; comments that are there stay before it.
    fn open_up(&self, text: &str, layout: &Layout, member: &str, edits: &mut Edits) {
        let inside = &text[self.open + 1..self.close];
        let kept = inside.trim_end().len();
        let at = self.open + 1 + kept;
        let Some(lead) = &layout.indent else {
            edits.replace(at, self.close, member.to_owned());
            return;
        };
        let outer = indent(text, self.open).to_owned();
        let line = layout.newline;
        edits.replace(at, self.close, format!("{line}{lead}{member}{line}{outer}"));
    }

    /// The text without the member at `index`, and its comma.
    pub(crate) fn take(&self, text: &str, comments: Comments, index: usize) -> String {
        let member = &self.members[index];
        let mut edits = Edits::default();
        let comma = skip(text, member.end, comments);
        let has_comma = text[comma..].starts_with(',');
        let (mut start, mut end) = (member.start, member.end);
        if has_comma {
            if is_blank(&text[member.end..comma]) {
                end = comma + 1;
            } else {
                edits.remove(comma, comma + 1);
            }
        } else if let Some(previous) = index.checked_sub(1).map(|index| &self.members[index]) {
            let before = skip(text, previous.end, comments);
            if text[before..].starts_with(',') {
                edits.remove(before, before + 1);
                // `}` on the same line moves up, unless that would put it into a comment.
                let closes =
                    is_blank(&text[end..self.close]) && !text[end..self.close].contains('\n');
                if closes
                    && text[before + 1..start].contains('\n')
                    && is_blank(&text[before + 1..start])
                {
                    start = before + 1;
                }
            }
        }
        let is_bare = |start, end| is_blank(&text[start..end]);
        if self.members.len() == 1
            && is_bare(self.open + 1, member.start)
            && is_bare(end, self.close)
        {
            edits.remove(self.open + 1, self.close);
            return edits.apply(text);
        }
        if start == member.start {
            (start, end) = self.with_blanks(text, start, end);
        }
        edits.remove(start, end);
        edits.apply(text)
    }

    /// The range with its line when nothing else is on it, otherwise with the blanks on one side.
    fn with_blanks(&self, text: &str, start: usize, end: usize) -> (usize, usize) {
        let line = line_start(text, start).max(self.open + 1);
        let stop = line_end(text, end).min(self.close);
        let starts_line = line > self.open + 1 || text[..line].ends_with('\n');
        if is_blank(&text[line..start]) && is_blank(&text[end..stop]) {
            if starts_line && stop < self.close {
                return (line, next_line(text, end).min(self.close));
            }
            if starts_line {
                // `}` follows on the line.
                return (start, stop);
            }
        }
        let after = end + (text[end..stop].len() - text[end..stop].trim_start().len());
        let blanks = text[line..start].len() - text[line..start].trim_end().len();
        let is_last = after >= self.close;
        if is_last && self.members.first().is_some_and(|first| first.start < start) {
            return (start - blanks, end);
        }
        (start, if is_last { end } else { after })
    }
}

/// Past the blanks and comments from `at` on.
pub(crate) fn skip(text: &str, mut at: usize, comments: Comments) -> usize {
    loop {
        let rest = &text[at..];
        let blanks = rest.len() - rest.trim_start().len();
        if blanks > 0 {
            at += blanks;
            continue;
        }
        let length = match comments {
            Comments::Slashes if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            Comments::Slashes if rest.starts_with("/*") => {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            }
            Comments::Hash if rest.starts_with('#') => rest.find('\n').unwrap_or(rest.len()),
            _ => return at,
        };
        at += length;
    }
}

/// Past a comment that follows `at` on the same line: it speaks of what stands before it.
fn end_of_remark(text: &str, at: usize, comments: Comments) -> usize {
    let end = line_end(text, at);
    let past = skip(&text[..end], at, comments);
    let remark = &text[at..end];
    let runs_on = remark.rfind("/*") > remark.rfind("*/");
    // Something else than a comment ends the line, `}` or a member: stay before it.
    if past < end || runs_on { at } else { text[..end].trim_end().len().max(at) }
}

/// Changes to a text, made together so that offsets stay those of the text before.
#[derive(Default)]
struct Edits(Vec<(usize, usize, String)>);

impl Edits {
    fn insert(&mut self, at: usize, text: String) {
        self.0.push((at, at, text));
    }

    fn remove(&mut self, start: usize, end: usize) {
        self.0.push((start, end, String::new()));
    }

    fn replace(&mut self, start: usize, end: usize, text: String) {
        self.0.push((start, end, text));
    }

    fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(start, ..)| *start);
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (start, end, new) in self.0 {
            out.push_str(&text[done..start.max(done)]);
            out.push_str(&new);
            done = end.max(done);
        }
        out.push_str(&text[done..]);
        out
    }
}
