//! YAML: lines are moved, everything else keeps its bytes.

mod node;
mod write;

use crate::EditError;
use crate::entry::{Notation, Value};
use crate::piece::{Insertion, Piece, PieceKind, Position};
use crate::text::{is_blank, line_end, line_start, newline, next_line, quoted};
use crate::tree::Tree;

use node::{Document, LISTED, Node, Table};

const DEFAULT_UNIT: usize = 2;

/// How a member of a flow mapping is written.
const FLOW: Notation = Notation { key: quoted, colon: ": ", comma: ", ", pad: " " };

pub(crate) fn tree(text: &str) -> Result<Tree, EditError> {
    node::read(text)?.root.tree(text)
}

pub(crate) fn insert(
    text: &str,
    path: &[String],
    name: &str,
    insertion: Insertion<'_>,
    position: Position<'_>,
) -> Result<String, EditError> {
    let mut text = text.to_owned();
    for depth in 0..=path.len() {
        let document = node::read(&text)?;
        let missing = match find(&document, &path[..depth]) {
            Target::Missing => true,
            Target::Nothing { .. } | Target::Table { .. } => false,
            Target::Other(depth) => {
                return Err(EditError::NotATable { path: path[..depth].to_vec() });
            }
        };
        if missing {
            let empty = Value::Table(Vec::new());
            let (outer, key) = (&path[..depth - 1], &path[depth - 1]);
            text = insert_member(&text, outer, key, Insertion::New(&empty), Position::End)?;
        }
    }
    insert_member(&text, path, name, insertion, position)
}

pub(crate) fn take(
    text: &str,
    path: &[String],
    name: &str,
) -> Result<(String, Vec<Piece>), EditError> {
    let document = node::read(text)?;
    let missing = || EditError::NoSuchServer(name.to_owned());
    let Target::Table { table, limit, key } = find(&document, path) else { return Err(missing()) };
    if table.is_flow {
        return table.braces().take(text, name);
    }
    let index = table.position(name).ok_or_else(missing)?;
    let item = &table.items[index];
    let (start, end) = lines(text, table, index, limit);
    let column = item.start - line_start(text, item.start);
    let piece = Piece { text: text[start..end].to_owned(), kind: PieceKind::Block { column } };
    let mut after = text.to_owned();
    after.replace_range(start..end, "");
    if let Some(key) = key.filter(|_| table.items.len() == 1) {
        // A key without a value would be null, which is not a table.
        let empty = if table.is_list { " []" } else { " {}" };
        after.insert_str(past_colon(text, key), empty);
    }
    Ok((after, vec![piece]))
}

/// What stands at a path.
enum Target<'a> {
    Missing,
    /// A key without a value, or an empty document; `key` is the key's end.
    Nothing {
        column: usize,
        limit: usize,
        key: Option<usize>,
    },
    /// `limit` is the end of the lines that can belong to the table.
    Table {
        table: &'a Table,
        limit: usize,
        key: Option<usize>,
    },
    /// Something else, at this depth of the path.
    Other(usize),
}

fn find<'a>(document: &'a Document, path: &[String]) -> Target<'a> {
    let mut node = &document.root;
    let (mut limit, mut column, mut key) = (document.end, 0, None);
    for (depth, name) in path.iter().enumerate() {
        let table = match node {
            Node::Table(table) => table,
            Node::Nothing => return Target::Missing,
            _ => return Target::Other(depth),
        };
        let Some(index) = table.position(name) else { return Target::Missing };
        let item = &table.items[index];
        limit = table.items.get(index + 1).map_or(limit, |next| next.start);
        (column, key, node) = (item.column, Some(item.key_end), &item.value);
    }
    match node {
        Node::Table(table) => Target::Table { table, limit, key },
        Node::Nothing => Target::Nothing { column, limit, key },
        _ => Target::Other(path.len()),
    }
}

fn insert_member(
    text: &str,
    path: &[String],
    name: &str,
    insertion: Insertion<'_>,
    position: Position<'_>,
) -> Result<String, EditError> {
    let document = node::read(text)?;
    let unit = unit(&document);
    let is_list = path == [LISTED];
    let block = |column| block(text, name, insertion, column, unit, is_list);
    match find(&document, path) {
        Target::Table { table, limit, .. } if !table.is_flow => {
            let column = table.items.first().map_or(0, |item| item.column);
            let block = block(column)?;
            let last = table.items.iter().rposition(|item| position.is_behind(&item.name));
            let at = match last {
                Some(last) => lines(text, table, last, limit).1,
                None => line_start(text, table.items[0].start),
            };
            Ok(with_lines(text, at, &block))
        }
        Target::Table { table, key, .. } if table.items.is_empty() => {
            // `{}` is spread over lines, because one long line would help nobody.
            let inside = &text[table.start + 1..table.end - 1];
            if !is_blank(inside) || !is_blank(&text[table.end..line_end(text, table.end)]) {
                return Err(unfit());
            }
            let column = key.map_or(0, |_| indent_width(text, table.start) + unit);
            let block = block(column)?;
            let start = table.start - trailing_blanks(&text[..table.start]);
            let start = if key.is_some() { start } else { table.start };
            let mut bare = text.to_owned();
            bare.replace_range(start..table.end, "");
            let at = if key.is_some() { next_line(&bare, start) } else { start };
            if key.is_none() && is_blank(&bare) {
                return Ok(with_lines(bare.trim_end(), 0, &block));
            }
            Ok(with_lines(&bare, at, &block))
        }
        Target::Table { table, .. } => {
            table.braces().insert(text, name, insertion, position, &FLOW)
        }
        Target::Nothing { key: Some(key), column, .. } => {
            let block = block(column + unit)?;
            Ok(with_lines(text, next_line(text, key), &block))
        }
        Target::Nothing { limit, key: None, .. } => {
            let block = block(0)?;
            Ok(with_lines(text, limit, &block))
        }
        Target::Missing | Target::Other(_) => Err(unfit()),
    }
}

/// The lines of a member whose key goes into `column`.
fn block(
    text: &str,
    name: &str,
    insertion: Insertion<'_>,
    column: usize,
    unit: usize,
    is_list: bool,
) -> Result<String, EditError> {
    let line = newline(text);
    match insertion {
        Insertion::New(value) if is_list => Ok(write::item(name, value, column, unit, line)),
        Insertion::New(value) => Ok(write::member(name, value, column, unit, line)),
        Insertion::Restored([Piece { text, kind: PieceKind::Block { column: was } }]) => {
            Ok(write::shifted(text, *was, column))
        }
        Insertion::Restored([Piece { text, kind: PieceKind::Braced }]) if !text.contains('\n') => {
            Ok(format!("{}{text}{line}", " ".repeat(column)))
        }
        Insertion::Restored(_) => Err(unfit()),
    }
}

/// The lines of one member of a block, without the blank lines and comments after it that are
/// indented less.
fn lines(text: &str, table: &Table, index: usize, limit: usize) -> (usize, usize) {
    let item = &table.items[index];
    let start = line_start(text, item.start);
    let stop = table.items.get(index + 1).map_or(limit, |next| next.start);
    // The end of a document, or a key of an outer table, begins its line.
    let mut end = if stop == text.len() { stop } else { line_start(text, stop) };
    let first = next_line(text, item.start);
    while end > first {
        let last = line_start(text, end - 1);
        let line = text[last..end].trim();
        let foreign = line.starts_with('#') && indent_width(text, last) <= item.column;
        if !line.is_empty() && !foreign {
            break;
        }
        end = last;
    }
    (start, end.max(first))
}

/// Inserts whole lines at `at`, the beginning of a line or the end of the text.
fn with_lines(text: &str, at: usize, lines: &str) -> String {
    let line = newline(text);
    let (before, after) = text.split_at(at);
    let lines = lines.trim_end_matches(['\n', '\r']);
    let was_open = !before.is_empty() && !before.ends_with('\n');
    let lead = if was_open { line } else { "" };
    let tail = if was_open && after.is_empty() { "" } else { line };
    format!("{before}{lead}{lines}{tail}{after}")
}

/// The text's step of indentation, by the first nested table.
fn unit(document: &Document) -> usize {
    let Node::Table(root) = &document.root else { return DEFAULT_UNIT };
    let nested = root.items.iter().filter_map(|item| match &item.value {
        Node::Table(table) if !table.is_flow => table.items.first().map(|inner| (item, inner)),
        _ => None,
    });
    let mut steps = nested.map(|(outer, inner)| inner.column.saturating_sub(outer.column));
    steps.find(|step| (1..=8).contains(step)).unwrap_or(DEFAULT_UNIT)
}

fn past_colon(text: &str, key_end: usize) -> usize {
    text[key_end..].find(':').map_or(key_end, |colon| key_end + colon + 1)
}

fn indent_width(text: &str, offset: usize) -> usize {
    let line = &text[line_start(text, offset)..];
    line.len() - line.trim_start_matches(' ').len()
}

fn trailing_blanks(text: &str) -> usize {
    text.len() - text.trim_end_matches([' ', '\t']).len()
}

fn unfit() -> EditError {
    EditError::Unsafe("the servers are written in an unusual way".to_owned())
}
