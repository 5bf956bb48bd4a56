//! TOML, as a list of statements with their places.

use toml_parser::decoder::Encoding;
use toml_parser::parser::{Event, EventKind, RecursionGuard, parse_document};
use toml_parser::{Source, Span};

use crate::braces::{Braces, Comments, Layout, Member};
use crate::edit::{Body, Kind, Piece, Spot};
use crate::entry::Value;
use crate::text::{is_blank, line_start, newline, next_line, place, quoted};
use crate::tree::Tree;
use crate::{EditError, NESTING};

/// A header, or a key with its value.
struct Statement {
    /// From the root, the header's part included.
    path: Vec<String>,
    /// The table under whose header it stands.
    section: Vec<String>,
    is_header: bool,
    start: usize,
    end: usize,
    /// The value, when it is an inline table.
    inline: Option<Braces>,
}

pub(crate) fn tree(text: &str) -> Result<Tree, EditError> {
    let table: ::toml::Table = ::toml::from_str(text).map_err(|error| {
        let (line, column) = place(text, error.span().map_or(0, |span| span.start));
        EditError::Syntax { line, column, fault: error.message().replace('\n', ", ") }
    })?;
    Ok(convert(::toml::Value::Table(table)))
}

/// The names in the table at `path` in the order in which they first show.
pub(crate) fn order(text: &str, path: &[String]) -> Result<Vec<String>, EditError> {
    let mut names: Vec<String> = Vec::new();
    for statement in statements(text)? {
        let inline = statement.inline.filter(|_| statement.path == path);
        let members = inline.into_iter().flat_map(|braces| braces.members);
        let own = statement.path.get(path.len()).filter(|_| statement.path.starts_with(path));
        for name in own.cloned().into_iter().chain(members.map(|member| member.name)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

pub(crate) fn insert(
    text: &str,
    path: &[String],
    name: &str,
    body: Body<'_>,
    spot: Spot<'_>,
) -> Result<String, EditError> {
    let known = statements(text)?;
    let inline = known.iter().find(|statement| statement.path == path && !statement.is_header);
    if let Some(braces) = inline.and_then(|statement| statement.inline.as_ref()) {
        return insert_inline(text, braces, name, body, spot);
    }
    let mut text = text.to_owned();
    match body {
        Body::New(value) => {
            let line = newline(&text);
            let header: Vec<_> =
                path.iter().map(String::as_str).chain([name]).map(toml_key).collect();
            let members = if let Value::Table(members) = value { members.as_slice() } else { &[] };
            let lines = members
                .iter()
                .map(|(key, value)| format!("{} = {}{line}", toml_key(key), render(value)));
            let block = format!("[{}]{line}{}", header.join("."), lines.collect::<String>());
            text = insert_section(&text, &known, path, spot, &block);
        }
        Body::Back(pieces) => {
            for piece in pieces {
                let known = statements(&text)?;
                text = match &piece.kind {
                    Kind::Sections => insert_section(&text, &known, path, spot, &piece.text),
                    Kind::Pairs { home } => insert_pairs(&text, &known, home, &piece.text),
                    Kind::Braced => insert_pairs(&text, &known, path, &piece.text),
                    Kind::Block { .. } => return Err(unfit()),
                };
            }
        }
    }
    Ok(text)
}

pub(crate) fn take(
    text: &str,
    path: &[String],
    name: &str,
) -> Result<(String, Vec<Piece>), EditError> {
    let known = statements(text)?;
    let own: Vec<String> = path.iter().cloned().chain([name.to_owned()]).collect();
    let inline = known.iter().find(|statement| statement.path == path && !statement.is_header);
    if let Some(braces) = inline.and_then(|statement| statement.inline.as_ref()) {
        let index =
            braces.position(name).ok_or_else(|| EditError::NoSuchServer(name.to_owned()))?;
        let member = &braces.members[index];
        let piece = Piece { text: text[member.start..member.end].to_owned(), kind: Kind::Braced };
        return Ok((braces.take(text, Comments::Hash, index), vec![piece]));
    }
    let mut runs: Vec<(usize, usize, Kind)> = Vec::new();
    let mut last = None;
    for (index, statement) in known.iter().enumerate() {
        if !statement.path.starts_with(&own) {
            continue;
        }
        let is_pair = !statement.section.starts_with(&own);
        let end = next_line(text, statement.end);
        let goes_on = last == Some(index.wrapping_sub(1));
        last = Some(index);
        match runs.last_mut() {
            Some((_, stop, kind)) if goes_on && is_pair == matches!(kind, Kind::Pairs { .. }) => {
                *stop = end;
            }
            _ => {
                let home = statement.section.clone();
                let kind = if is_pair { Kind::Pairs { home } } else { Kind::Sections };
                runs.push((line_start(text, statement.start), end, kind));
            }
        }
    }
    if runs.is_empty() {
        return Err(EditError::NoSuchServer(name.to_owned()));
    }
    let mut after = text.to_owned();
    for (start, end, _) in runs.iter().rev() {
        let start = without_blank_line(&after, *start, *end);
        after.replace_range(start..*end, "");
    }
    let pieces = runs
        .into_iter()
        .map(|(start, end, kind)| Piece { text: text[start..end].to_owned(), kind });
    Ok((after, pieces.collect()))
}

/// Where to cut so that of two blank lines around the cut one stays.
fn without_blank_line(text: &str, start: usize, end: usize) -> usize {
    let after_is_blank = end == text.len() || is_blank(&text[end..next_line(text, end)]);
    if !after_is_blank || start == 0 {
        return start;
    }
    let previous = line_start(text, start - 1);
    if is_blank(&text[previous..start]) { previous } else { start }
}

fn insert_inline(
    text: &str,
    braces: &Braces,
    name: &str,
    body: Body<'_>,
    spot: Spot<'_>,
) -> Result<String, EditError> {
    let member = match body {
        Body::New(value) => format!("{} = {}", toml_key(name), render(value)),
        Body::Back([Piece { text, kind: Kind::Braced }]) => text.clone(),
        Body::Back(_) => return Err(unfit()),
    };
    let mut layout = braces.layout(text, "  ");
    layout.is_spaced = true;
    if braces.members.is_empty() {
        layout = Layout { indent: None, ..layout };
    }
    let index = match spot {
        Spot::End => braces.members.len(),
        Spot::After(before) => braces.index_after(before),
    };
    Ok(braces.insert(text, Comments::Hash, index, &layout, &member))
}

/// Puts a block that begins with a header behind the section of the last server before it.
fn insert_section(
    text: &str,
    known: &[Statement],
    path: &[String],
    spot: Spot<'_>,
    block: &str,
) -> String {
    let is_before = |statement: &Statement| {
        statement.path.starts_with(path)
            && match spot {
                Spot::End => true,
                Spot::After(before) => {
                    statement.path.get(path.len()).is_none_or(|name| before.contains(name))
                }
            }
    };
    let line = newline(text);
    let Some(last) = known.iter().rposition(is_before) else {
        // A client's servers stand at the end, behind its own settings.
        return insert_lines(text, text.len(), block, Some(line));
    };
    let next = known[last + 1..].iter().position(|statement| statement.is_header);
    let end = next.map_or(known.len(), |count| last + 1 + count);
    insert_lines(text, next_line(text, known[end - 1].end), block, Some(line))
}

/// Puts keys and values at the end of the table `home`, which is made if it is gone.
fn insert_pairs(text: &str, known: &[Statement], home: &[String], lines: &str) -> String {
    let last = known.iter().rposition(|statement| statement.section == home);
    match last {
        Some(last) => insert_lines(text, next_line(text, known[last].end), lines, None),
        None if home.is_empty() => insert_lines(text, 0, lines, None),
        None => {
            let line = newline(text);
            let header: Vec<_> = home.iter().map(|key| toml_key(key)).collect();
            let block = format!("[{}]{line}{lines}", header.join("."));
            insert_lines(text, text.len(), &block, Some(line))
        }
    }
}

/// Puts whole lines in at the beginning of a line; with `blank`, a blank line stands between them
/// and what is there.
fn insert_lines(text: &str, at: usize, lines: &str, blank: Option<&str>) -> String {
    let line = newline(text);
    let (before, after) = text.split_at(at);
    let lines = lines.trim_end_matches(['\n', '\r']);
    let mut out = before.to_owned();
    let was_open = !before.is_empty() && !before.ends_with('\n');
    if was_open {
        out.push_str(line);
    }
    let ends_blank = |text: &str| {
        let last = text.trim_end_matches(['\n', '\r', ' ', '\t']);
        last.is_empty() || text[last.len()..].matches('\n').count() > 1
    };
    if let Some(blank) = blank.filter(|_| !ends_blank(&out)) {
        out.push_str(blank);
    }
    out.push_str(lines);
    // A text that had no line break at its end has none now.
    if !(was_open && after.is_empty()) {
        out.push_str(line);
    }
    let next = &after[..next_line(after, 0)];
    if let Some(blank) = blank.filter(|_| !after.is_empty() && !is_blank(next)) {
        out.push_str(blank);
    }
    out.push_str(after);
    out
}

/// A key as TOML wants it, in quotes unless it can stand bare.
pub fn toml_key(key: &str) -> String {
    let bare = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    if !key.is_empty() && key.bytes().all(bare) { key.to_owned() } else { quoted(key) }
}

fn render(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Flag(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(|item| quoted(item)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(members) if members.is_empty() => "{}".to_owned(),
        Value::Table(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(key, value)| format!("{} = {}", toml_key(key), render(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

fn unfit() -> EditError {
    EditError::Unsafe("the servers are written in another way now".to_owned())
}

fn convert(value: ::toml::Value) -> Tree {
    match value {
        ::toml::Value::Table(table) => {
            Tree::Table(table.into_iter().map(|(key, value)| (key, convert(value))).collect())
        }
        ::toml::Value::Array(items) => Tree::List(items.into_iter().map(convert).collect()),
        leaf => Tree::Leaf(leaf.to_string()),
    }
}

/// The text's statements in order. The text is valid: [`tree`] read it.
fn statements(text: &str) -> Result<Vec<Statement>, EditError> {
    let source = Source::new(text);
    let tokens = source.lex().into_vec();
    let mut events: Vec<Event> = Vec::new();
    let mut errors = Vec::new();
    let mut collect = |event: Event| events.push(event);
    let depth = u32::try_from(NESTING).expect("the bound is small");
    let mut guarded = RecursionGuard::new(&mut collect, depth);
    parse_document(&tokens, &mut guarded, &mut errors);
    if let Some(error) = errors.first() {
        let (line, column) = place(text, error.unexpected().map_or(0, |span| span.start()));
        return Err(EditError::Syntax { line, column, fault: error.description().to_owned() });
    }
    events.retain(|event| {
        !matches!(event.kind(), EventKind::Whitespace | EventKind::Comment | EventKind::Newline)
    });
    Ok(Reader { source, events: &events, at: 0 }.statements())
}

struct Reader<'a> {
    source: Source<'a>,
    events: &'a [Event],
    at: usize,
}

impl Reader<'_> {
    fn statements(mut self) -> Vec<Statement> {
        let mut all = Vec::new();
        let mut section = Vec::new();
        while let Some(event) = self.events.get(self.at) {
            let start = event.span().start();
            match event.kind() {
                EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                    self.at += 1;
                    section = self.keys();
                    let end = self.end();
                    let path = section.clone();
                    let (is_header, section) = (true, section.clone());
                    all.push(Statement { path, section, is_header, start, end, inline: None });
                }
                EventKind::SimpleKey => {
                    let keys = self.keys();
                    self.at += 1;
                    let inline = self.value();
                    let end = self.end_of_last();
                    let path = section.iter().cloned().chain(keys).collect();
                    let section = section.clone();
                    all.push(Statement { path, section, is_header: false, start, end, inline });
                }
                _ => self.at += 1,
            }
        }
        all
    }

    /// The keys from here to the first event that is no part of a dotted key.
    fn keys(&mut self) -> Vec<String> {
        let mut keys = Vec::new();
        while let Some(event) = self.events.get(self.at) {
            match event.kind() {
                EventKind::SimpleKey => keys.push(self.key(event.span(), event.encoding())),
                EventKind::KeySep => {}
                _ => break,
            }
            self.at += 1;
        }
        keys
    }

    fn key(&self, span: Span, encoding: Option<Encoding>) -> String {
        let raw = &self.source.input()[span.start()..span.end()];
        let mut key = String::new();
        toml_parser::Raw::new_unchecked(raw, encoding, span).decode_key(&mut key, &mut ());
        key
    }

    /// Steps past a value; its members if it is an inline table.
    fn value(&mut self) -> Option<Braces> {
        let open = self.events.get(self.at)?;
        self.at += 1;
        match open.kind() {
            EventKind::ArrayOpen => {
                while let Some(event) = self.events.get(self.at) {
                    match event.kind() {
                        EventKind::ArrayClose => break,
                        EventKind::ValueSep => self.at += 1,
                        _ => drop(self.value()),
                    }
                }
                self.at += 1;
                None
            }
            EventKind::InlineTableOpen => {
                let mut members = Vec::new();
                while let Some(event) = self.events.get(self.at) {
                    let start = event.span().start();
                    match event.kind() {
                        EventKind::InlineTableClose => break,
                        EventKind::SimpleKey => {
                            let name = self.keys().into_iter().next().unwrap_or_default();
                            self.at += 1;
                            self.value();
                            members.push(Member { name, start, end: self.end_of_last() });
                        }
                        _ => self.at += 1,
                    }
                }
                self.at += 1;
                let close = self.end_of_last().saturating_sub(1);
                Some(Braces { open: open.span().start(), close, members })
            }
            _ => None,
        }
    }

    fn end(&self) -> usize {
        let event = self.events.get(self.at).or(self.events.last());
        event.map_or(0, |event| event.span().end())
    }

    fn end_of_last(&self) -> usize {
        let event = self.at.checked_sub(1).and_then(|last| self.events.get(last));
        event.or(self.events.last()).map_or(0, |event| event.span().end())
    }
}
