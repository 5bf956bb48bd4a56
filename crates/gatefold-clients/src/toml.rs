//! TOML, as a list of statements with their places.
//!
//! `toml_edit` reads the text and gives the places. It does not write it: it would turn CRLF into
//! LF, add a final line break and reorder dotted keys.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Table, Value as TomlValue};

use crate::EditError;
use crate::braces::{Braces, Member};
use crate::entry::{Notation, Value};
use crate::piece::{Insertion, Piece, PieceKind, Position};
use crate::text::{is_blank, line_start, newline, next_line, place, quoted};
use crate::tree::Tree;

pub(crate) const NOTATION: Notation =
    Notation { key: toml_key, colon: " = ", comma: ", ", pad: " " };

/// A header, or a key with its value.
pub(crate) struct Statement {
    /// From the root, including the header's part.
    pub(crate) path: Vec<String>,
    /// The table under whose header it stands.
    pub(crate) section: Vec<String>,
    pub(crate) is_header: bool,
    /// Where it begins within its first line.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The value, when it is an inline table.
    inline: Option<Braces>,
}

pub(crate) fn tree(text: &str) -> Result<Tree, EditError> {
    Ok(of_table(parse(text)?.as_table()))
}

pub(crate) fn insert(
    text: &str,
    path: &[String],
    name: &str,
    insertion: Insertion<'_>,
    position: Position<'_>,
) -> Result<String, EditError> {
    let known = statements(text)?;
    let inline = known.iter().find(|statement| statement.path == path && !statement.is_header);
    if let Some(braces) = inline.and_then(|statement| statement.inline.as_ref()) {
        return braces.insert(text, name, insertion, position, &NOTATION);
    }
    let mut text = text.to_owned();
    match insertion {
        Insertion::New(value) => {
            let line = newline(&text);
            let header: Vec<_> =
                path.iter().map(String::as_str).chain([name]).map(toml_key).collect();
            let members = if let Value::Table(members) = value { members.as_slice() } else { &[] };
            let lines = members.iter().map(|(key, value)| NOTATION.pair(key, value) + line);
            let block = format!("[{}]{line}{}", header.join("."), lines.collect::<String>());
            text = insert_section(&text, &known, path, position, &block);
        }
        Insertion::Restored(pieces) => {
            for piece in pieces {
                let known = statements(&text)?;
                text = match &piece.kind {
                    PieceKind::Sections => {
                        insert_section(&text, &known, path, position, &piece.text)
                    }
                    PieceKind::Pairs { home } => insert_pairs(&text, &known, home, &piece.text),
                    PieceKind::Braced => insert_pairs(&text, &known, path, &piece.text),
                    PieceKind::Block { .. } => return Err(EditError::unlike()),
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
    let inline = known.iter().find(|statement| statement.path == path && !statement.is_header);
    if let Some(braces) = inline.and_then(|statement| statement.inline.as_ref()) {
        return braces.take(text, name);
    }
    let runs = runs(&known, text, path, name);
    if runs.is_empty() {
        return Err(EditError::NoSuchServer(name.to_owned()));
    }
    let mut after = text.to_owned();
    for (run, _) in runs.iter().rev() {
        let start = without_blank_line(&after, run.start, run.end);
        after.replace_range(start..run.end, "");
    }
    let pieces = runs.into_iter().map(|(run, kind)| Piece { text: text[run].to_owned(), kind });
    Ok((after, pieces.collect()))
}

/// The lines of the table `name` at `path`, in as many runs as other lines divide them into.
pub(crate) fn runs(
    known: &[Statement],
    text: &str,
    path: &[String],
    name: &str,
) -> Vec<(Range<usize>, PieceKind)> {
    let own: Vec<String> = path.iter().cloned().chain([name.to_owned()]).collect();
    let mut runs: Vec<(Range<usize>, PieceKind)> = Vec::new();
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
            Some((run, kind)) if goes_on && is_pair == matches!(kind, PieceKind::Pairs { .. }) => {
                run.end = end;
            }
            _ => {
                let home = statement.section.clone();
                let kind = if is_pair { PieceKind::Pairs { home } } else { PieceKind::Sections };
                runs.push((line_start(text, statement.start)..end, kind));
            }
        }
    }
    runs
}

/// Where to cut so that of two blank lines around the cut one remains.
pub(crate) fn without_blank_line(text: &str, start: usize, end: usize) -> usize {
    let after_is_blank = end == text.len() || is_blank(&text[end..next_line(text, end)]);
    if !after_is_blank || start == 0 {
        return start;
    }
    let previous = line_start(text, start - 1);
    if is_blank(&text[previous..start]) { previous } else { start }
}

/// Puts a block that begins with a header after the section of the server before it.
fn insert_section(
    text: &str,
    known: &[Statement],
    path: &[String],
    position: Position<'_>,
    block: &str,
) -> String {
    let is_before = |statement: &Statement| {
        let name = statement.path.get(path.len());
        statement.path.starts_with(path) && name.is_none_or(|name| position.is_behind(name))
    };
    let line = newline(text);
    let Some(last) = known.iter().rposition(is_before) else {
        // Clients keep servers at the end, after their own settings.
        return insert_lines(text, text.len(), block, Some(line));
    };
    let next = known[last + 1..].iter().position(|statement| statement.is_header);
    let end = next.map_or(known.len(), |count| last + 1 + count);
    insert_lines(text, next_line(text, known[end - 1].end), block, Some(line))
}

/// Puts keys and values at the end of the table `home`, which is created if it is gone.
pub(crate) fn insert_pairs(
    text: &str,
    known: &[Statement],
    home: &[String],
    lines: &str,
) -> String {
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

/// Inserts whole lines at the beginning of a line; with `blank`, a blank line separates them from
/// what is there.
pub(crate) fn insert_lines(text: &str, at: usize, lines: &str, blank: Option<&str>) -> String {
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
    // A text without a final line break keeps having none.
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

fn parse(text: &str) -> Result<Document<&str>, EditError> {
    Document::parse(text).map_err(|error| {
        let (line, column) = place(text, error.span().map_or(0, |span| span.start));
        EditError::Syntax { line, column, fault: error.message().replace('\n', ", ") }
    })
}

fn of_table(table: &Table) -> Tree {
    let member = |(key, item): (&str, &Item)| {
        let value = match item {
            Item::Table(table) => of_table(table),
            Item::ArrayOfTables(tables) => Tree::List(tables.iter().map(of_table).collect()),
            Item::Value(value) => of_value(value),
            Item::None => Tree::Nothing,
        };
        (key.to_owned(), value)
    };
    Tree::Table(table.iter().map(member).collect())
}

fn of_value(value: &TomlValue) -> Tree {
    Tree::Leaf(match value {
        TomlValue::InlineTable(table) => {
            let members = table.iter().map(|(key, value)| (key.to_owned(), of_value(value)));
            return Tree::Table(members.collect());
        }
        TomlValue::Array(items) => return Tree::List(items.iter().map(of_value).collect()),
        TomlValue::String(text) => quoted(text.value()),
        TomlValue::Integer(number) => number.value().to_string(),
        TomlValue::Float(number) => format!("{:?}", number.value()),
        TomlValue::Boolean(flag) => flag.value().to_string(),
        TomlValue::Datetime(time) => time.value().to_string(),
    })
}

/// The table in braces at `path`, if it is one.
pub(crate) fn braces_at(text: &str, path: &[String]) -> Result<Option<Braces>, EditError> {
    let document = parse(text)?;
    let table = item_at(&document, path).and_then(Item::as_inline_table);
    let table = table.filter(|table| !table.is_dotted());
    Ok(table.and_then(|table| Some(braces(table, table.span()?))))
}

/// Where the value at `path` is.
pub(crate) fn span_at(text: &str, path: &[String]) -> Result<Option<Range<usize>>, EditError> {
    let document = parse(text)?;
    Ok(item_at(&document, path).and_then(Item::span))
}

fn item_at<'d>(document: &'d Document<&str>, path: &[String]) -> Option<&'d Item> {
    path.iter().try_fold(document.as_item(), |item, key| item.get(key.as_str()))
}

/// The text's statements in order.
pub(crate) fn statements(text: &str) -> Result<Vec<Statement>, EditError> {
    let mut all = Vec::new();
    collect(parse(text)?.as_table(), &[], &mut all);
    all.sort_by_key(|statement| statement.start);
    Ok(all)
}

/// Adds the statements of a table, and of those within that have headers of their own.
fn collect(table: &Table, section: &[String], all: &mut Vec<Statement>) {
    let section = section.to_vec();
    if let Some(header) = table.span().filter(|_| !table.is_implicit() && !section.is_empty()) {
        let (start, end) = (header.start, header.end);
        let (path, section) = (section.clone(), section.clone());
        all.push(Statement { path, section, is_header: true, start, end, inline: None });
    }
    // Dotted tables have no header: their values belong to the table around them.
    let values = if table.is_dotted() { Vec::new() } else { table.get_values() };
    for (keys, value) in values {
        let (Some(key), Some(value_span)) = (keys.last().and_then(|key| key.span()), value.span())
        else {
            continue;
        };
        let (start, end) = (key.start, value_span.end);
        let keys = keys.iter().map(|key| key.get().to_owned());
        let path = section.iter().cloned().chain(keys).collect();
        let inline = value.as_inline_table().map(|table| braces(table, value_span));
        let section = section.clone();
        all.push(Statement { path, section, is_header: false, start, end, inline });
    }
    for (key, item) in table {
        let path: Vec<_> = section.iter().cloned().chain([key.to_owned()]).collect();
        match item {
            Item::Table(table) => collect(table, &path, all),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|one| collect(one, &path, all)),
            Item::Value(_) | Item::None => {}
        }
    }
}

/// An inline table. Dotted keys with a common beginning count as one member; if other keys lie
/// between them, the proof rejects the edit.
fn braces(table: &InlineTable, span: Range<usize>) -> Braces {
    let mut members: Vec<Member> = Vec::new();
    for (keys, value) in table.get_values() {
        let Some((key, value)) = keys.first().zip(value.span()) else { continue };
        match members.last_mut().filter(|member| member.name == key.get()) {
            Some(member) => member.range.end = value.end,
            None => members.push(Member {
                name: key.get().to_owned(),
                range: key.span().map_or(value.start, |key| key.start)..value.end,
            }),
        }
    }
    members.sort_by_key(|member| member.range.start);
    Braces { inside: span.start + 1..span.end - 1, members }
}
