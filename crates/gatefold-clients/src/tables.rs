//! Adds a table to a TOML text that a person wrote, removes one, or sets a switch in one.
//!
//! These edits are for Gatefold's own file. They differ from edits of a client's file in one way:
//! the comments of a removed table go with it.

use std::ops::Range;

use crate::EditError;
use crate::edit::{parse, prove, split_mark};
use crate::piece::{Insertion, Piece, PieceKind, Position};
use crate::places::Format;
use crate::text::{is_blank, line_start, newline, next_line};
use crate::toml::{
    NOTATION, Statement, braces_at, insert_lines, insert_pairs, runs, span_at, statements,
    toml_key, without_blank_line,
};
use crate::tree::Tree;

/// The members of a new table, in both ways in which TOML writes them.
#[derive(Debug, Clone)]
pub struct TableText {
    /// A line for each, which ends in `\n`.
    pub lines: String,
    /// All in braces.
    pub inline: String,
}

/// A switch of a table, and its value if it is not set.
#[derive(Debug, Clone, Copy)]
pub struct Switch<'a> {
    pub key: &'a str,
    pub default: bool,
}

/// The names of the tables in the table at `path`, in order.
pub fn table_names(text: &str, path: &[String]) -> Result<Vec<String>, EditError> {
    let (_, text) = split_mark(text)?;
    parse(Format::Toml, text)?.names(path)
}

/// Adds a table to those at `path`. It goes to the end of the text or, if all of them are in braces
/// or have dotted keys, after the last of them.
pub fn add_table(
    text: &str,
    path: &[String],
    name: &str,
    table: &TableText,
) -> Result<String, EditError> {
    let (mark, text) = split_mark(text)?;
    let tree = parse(Format::Toml, text)?;
    if tree.names(path)?.iter().any(|known| known == name) {
        return Err(EditError::NameTaken(name.to_owned()));
    }
    let proved = |after: String| {
        prove(Format::Toml, path, tree.clone(), &after, &[], &[name])?;
        Ok(format!("{mark}{after}"))
    };
    if let Some(braces) = braces_at(text, path)? {
        let piece = Piece { text: member(&toml_key(name), &table.inline), kind: PieceKind::Braced };
        let insertion = Insertion::Restored(std::slice::from_ref(&piece));
        return proved(braces.insert(text, name, insertion, Position::End, &NOTATION)?);
    }
    let line = newline(text);
    let section = format!("[{}]\n{}", dotted(path, name), table.lines).replace('\n', line);
    let after = proved(insert_lines(text, text.len(), &section, Some(line)));
    // Tables under a dotted key cannot get a header of their own.
    let beside = |statement: &Statement| statement.path.starts_with(path) && !statement.is_header;
    match (after, statements(text)?.iter().rfind(|statement| beside(statement))) {
        (Err(_), Some(last)) if last.section.len() <= path.len() => {
            let pair = member(&dotted(&path[last.section.len()..], name), &table.inline);
            let at = next_line(text, last.end);
            proved(insert_lines(text, at, &pair, None))
        }
        (after, _) => after,
    }
}

/// Removes a table from those at `path`, with the comments within it, right below it and right
/// above it, except those at the very start of the file.
pub fn remove_table(text: &str, path: &[String], name: &str) -> Result<String, EditError> {
    let (mark, text) = split_mark(text)?;
    let tree = parse(Format::Toml, text)?;
    if !tree.names(path)?.iter().any(|known| known == name) {
        return Err(EditError::NoSuchServer(name.to_owned()));
    }
    let mut after = text.to_owned();
    if let Some(braces) = braces_at(text, path)? {
        after = braces.take(text, name)?.0;
    } else {
        for (run, kind) in runs(&statements(text)?, text, path, name).into_iter().rev() {
            let run = with_comments(text, run, &kind);
            let start = without_blank_line(&after, run.start, run.end);
            after = spliced(&after, start..run.end);
        }
    }
    prove(Format::Toml, path, tree, &after, &[name.to_owned()], &[])?;
    Ok(format!("{mark}{after}"))
}

/// Sets a switch of the table at `path`. A line that would only repeat the default is removed.
pub fn set_switch(
    text: &str,
    path: &[String],
    switch: Switch<'_>,
    is_on: bool,
) -> Result<String, EditError> {
    let (mark, text) = split_mark(text)?;
    let tree = parse(Format::Toml, text)?;
    if !matches!(tree.at(path), Some(Tree::Table(_))) {
        return Err(EditError::NotATable { path: path.to_vec() });
    }
    let own: Vec<_> = path.iter().cloned().chain([switch.key.to_owned()]).collect();
    let is_plain = is_on == switch.default;
    let after = match tree.at(&own) {
        Some(Tree::Leaf(now)) if *now == is_on.to_string() => text.to_owned(),
        Some(_) => {
            let without = without_pair(text, path, &own)?.filter(|_| is_plain);
            without.map_or_else(|| with_value(text, &own, is_on), Ok)?
        }
        None if is_plain => text.to_owned(),
        None => with_pair(text, path, switch.key, is_on)?,
    };
    let wanted = Tree::Leaf(is_on.to_string());
    let now = parse(Format::Toml, &after)?;
    let is_there = now.at(&own).map_or(is_plain, |value| *value == wanted);
    if is_there && now.rest(path, &[switch.key]) == tree.rest(path, &[switch.key]) {
        return Ok(format!("{mark}{after}"));
    }
    Err(unlike(switch.key))
}

fn unlike(key: &str) -> EditError {
    EditError::Unsafe(format!("`{key}` cannot be set without changing something else"))
}

fn dotted(path: &[String], name: &str) -> String {
    let keys = path.iter().map(String::as_str).chain([name]);
    keys.map(toml_key).collect::<Vec<_>>().join(".")
}

/// `key` is already in TOML's notation.
fn member(key: &str, value: &str) -> String {
    format!("{key} = {value}")
}

/// The text with the value replaced.
fn with_value(text: &str, own: &[String], is_on: bool) -> Result<String, EditError> {
    let key = own.last().map_or("", String::as_str);
    let span = span_at(text, own)?.ok_or_else(|| unlike(key))?;
    Ok(format!("{}{is_on}{}", &text[..span.start], &text[span.end..]))
}

/// The text without a pair, if the pair has a line, or a place between braces, to itself.
fn without_pair(text: &str, path: &[String], own: &[String]) -> Result<Option<String>, EditError> {
    if let (Some(braces), Some(key)) = (braces_at(text, path)?, own.last()) {
        return Ok(Some(braces.take(text, key)?.0));
    }
    let known = statements(text)?;
    let pair = known.iter().find(|statement| statement.path == own && !statement.is_header);
    Ok(pair.and_then(|pair| {
        let line = line_start(text, pair.start)..next_line(text, pair.end);
        is_blank(&text[pair.end..line.end]).then(|| spliced(text, line))
    }))
}

/// The text without these lines. One without a final line break keeps having none.
fn spliced(text: &str, lines: Range<usize>) -> String {
    let (before, after) = (&text[..lines.start], &text[lines.end..]);
    if after.is_empty() && !text.ends_with('\n') {
        return before.trim_end_matches(['\n', '\r']).to_owned();
    }
    format!("{before}{after}")
}

/// The text with a new pair in the table at `path`, in the style of the table.
fn with_pair(text: &str, path: &[String], key: &str, is_on: bool) -> Result<String, EditError> {
    let known = statements(text)?;
    for depth in (0..=path.len()).rev() {
        if let Some(braces) = braces_at(text, &path[..depth])? {
            let pair = format!("{} = {is_on}", dotted(&path[depth..], key));
            let piece = Piece { text: pair, kind: PieceKind::Braced };
            let insertion = Insertion::Restored(std::slice::from_ref(&piece));
            return braces.insert(text, key, insertion, Position::End, &NOTATION);
        }
    }
    if known.iter().any(|statement| statement.path == path && statement.is_header) {
        let last = known.iter().rfind(|it| it.section == path && !it.is_header);
        let start = last.map(|pair| line_start(text, pair.start)..pair.start);
        let indent = start.map(|range| &text[range]).filter(|indent| is_blank(indent));
        let line = format!("{}{key} = {is_on}", indent.unwrap_or_default());
        return Ok(insert_pairs(text, &known, path, &line));
    }
    let last = known.iter().rfind(|it| it.path.starts_with(path) && !it.is_header);
    let last = last.filter(|pair| pair.section.len() < path.len()).ok_or_else(|| unlike(key))?;
    let line = format!("{} = {is_on}", dotted(&path[last.section.len()..], key));
    Ok(insert_lines(text, next_line(text, last.end), &line, None))
}

/// Whole lines with the comments that are about them.
fn with_comments(text: &str, run: Range<usize>, kind: &PieceKind) -> Range<usize> {
    let is_comment = |line: &str| line.trim_start().starts_with('#');
    let mut start = run.start;
    while start > 0 {
        let above = line_start(text, start - 1);
        if !is_comment(&text[above..start]) {
            break;
        }
        start = above;
    }
    // The comments at the start of a file are about the file.
    if start == 0 {
        start = run.start;
    }
    let mut end = run.end;
    while matches!(kind, PieceKind::Sections) && end < text.len() {
        let below = next_line(text, end);
        if !is_comment(&text[end..below]) {
            break;
        }
        end = below;
    }
    // A comment right above the next statement belongs to that statement.
    if end < text.len() && !is_blank(&text[end..next_line(text, end)]) {
        end = run.end;
    }
    start..end
}
