//! Connecting and disconnecting, and the stored undo.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::entry::shape;
use crate::piece::{Insertion, Piece, Position};
use crate::tree::Tree;
use crate::{ConfigFile, EditError, Entry, FILE_BYTES, Format, SERVERS, json, toml, yaml};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A file with an entry in it, and how to undo that.
#[derive(Debug, Clone)]
pub struct Change {
    pub text: String,
    pub undo: Undo,
}

/// How to undo [`connect`].
///
/// It holds the file as it was, secrets included: store it where only those who may read the file
/// can read it. Its `Debug` shows no text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The file before; `None` if there was none.
    original: Option<String>,
    written: String,
    name: String,
    /// How many of the tables on the path to the servers existed before.
    found: usize,
    /// In the file's order.
    taken: Vec<RemovedServer>,
}

/// A server that was taken out.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RemovedServer {
    name: String,
    /// The servers that came before it.
    before: Vec<String>,
    pieces: Vec<Piece>,
}

impl Undo {
    /// The name of the entry that was put in.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The servers that were taken out, in the file's order.
    pub fn taken(&self) -> impl Iterator<Item = &str> {
        self.taken.iter().map(|taken| taken.name.as_str())
    }

    /// The file as it was before; `None` if there was none.
    pub fn original(&self) -> Option<&str> {
        self.original.as_deref()
    }

    /// The file as it was written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether the text still has the entry, unchanged since it went in.
    pub fn is_in(&self, file: &ConfigFile, text: &str) -> Result<bool, EditError> {
        if text == self.written {
            return Ok(true);
        }
        let path: Vec<_> = file.servers.iter().chain([&self.name]).cloned().collect();
        let entry = |text| {
            let (_, text) = split_mark(text)?;
            Ok(parse(file.format, text)?.at(&path).cloned())
        };
        let now = entry(text)?;
        Ok(now.is_some() && now == entry(&self.written)?)
    }
}

impl fmt::Debug for Undo {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken: Vec<_> = self.taken().collect();
        let mut out = out.debug_struct("Undo");
        out.field("name", &self.name).field("taken", &taken).finish_non_exhaustive()
    }
}

/// The outcome of [`disconnect`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restoration {
    /// `None` if the file should be deleted: it did not exist before and is empty now.
    pub text: Option<String>,
    /// Whether this is exactly the file from before, byte for byte. Otherwise the file was changed
    /// in between, and those changes stayed.
    pub is_exact: bool,
    /// Servers that could not be put back, mostly because there is another server of that name now.
    pub not_restored: Vec<String>,
}

/// Puts `entry` into the file and takes the servers in `take_out` out of it. `text` is `None` if
/// there is no file yet. If `take_out` has the entry's own name, that server is replaced.
pub fn connect(
    file: &ConfigFile,
    text: Option<&str>,
    entry: &Entry,
    take_out: &[String],
) -> Result<Change, EditError> {
    let value = shape(file, entry)?;
    change(file, text, &entry.name, Insertion::New(&value), take_out)
}

/// Applies the same change as [`connect`] to another text of the file: the same entry goes in, and
/// the same servers go out as far as they are there.
pub fn repeat(file: &ConfigFile, text: Option<&str>, undo: &Undo) -> Result<Change, EditError> {
    let (_, written) = split_mark(&undo.written)?;
    let (_, pieces) = take(file.format, written, &file.servers, &undo.name)?;
    let (_, before) = split_mark(text.unwrap_or_default())?;
    let known = order(file, &parse(file.format, before)?)?;
    let mut take_out: Vec<_> = undo.taken().map(str::to_owned).collect();
    take_out.retain(|name| known.contains(name));
    change(file, text, &undo.name, Insertion::Restored(&pieces), &take_out)
}

fn change(
    file: &ConfigFile,
    text: Option<&str>,
    entry: &str,
    insertion: Insertion<'_>,
    take_out: &[String],
) -> Result<Change, EditError> {
    let path = &file.servers;
    let (mark, before) = split_mark(text.unwrap_or_default())?;
    let tree = parse(file.format, before)?;
    let names = order(file, &tree)?;
    if let Some(missing) = take_out.iter().find(|name| !names.contains(name)) {
        return Err(EditError::NoSuchServer(missing.clone()));
    }
    let has = |names: &[String]| names.iter().any(|name| name == entry);
    let is_replaced = has(take_out);
    if has(&names) && !is_replaced {
        return Err(EditError::NameTaken(entry.to_owned()));
    }
    let found = (1..=path.len()).take_while(|&depth| tree.at(&path[..depth]).is_some()).count();

    let mut after = before.to_owned();
    let mut taken = Vec::new();
    // The entry goes in first: a table that is empty in between would be written differently.
    if !is_replaced {
        after = insert(file, &after, entry, insertion, Position::End)?;
    }
    for (index, name) in names.iter().enumerate().filter(|(_, name)| take_out.contains(name)) {
        let (rest, pieces) = take(file.format, &after, path, name)?;
        after = rest;
        taken.push(RemovedServer { name: name.clone(), before: names[..index].to_vec(), pieces });
        if name == entry {
            let position = Position::After(&names[..index]);
            after = insert(file, &after, name, insertion, position)?;
        }
    }
    prove(file.format, &file.servers, tree, &after, take_out, &[entry])?;
    let written = format!("{mark}{after}");
    let undo = Undo {
        original: text.map(str::to_owned),
        written: written.clone(),
        name: entry.to_owned(),
        found,
        taken,
    };
    Ok(Change { text: written, undo })
}

/// Takes the entry out again and puts back what [`connect`] took out.
///
/// A file that is unchanged since `connect` becomes exactly what it was. In a changed file, the
/// members are put back one by one and everything else stays.
pub fn disconnect(file: &ConfigFile, text: &str, undo: &Undo) -> Result<Restoration, EditError> {
    if text == undo.written {
        return Ok(Restoration {
            text: undo.original.clone(),
            is_exact: true,
            not_restored: Vec::new(),
        });
    }
    let (mark, rest) = split_mark(text)?;
    let tree = parse(file.format, rest)?;
    if order(file, &tree)?.contains(&undo.name) {
        let without = taken_out(file, rest, tree, &undo.name)?;
        return restore(file, &format!("{mark}{without}"), undo);
    }
    restore(file, text, undo)
}

/// Puts back the servers that [`connect`] took out and nobody has put back since, and does not
/// touch the entry.
pub fn restore(file: &ConfigFile, text: &str, undo: &Undo) -> Result<Restoration, EditError> {
    let (mark, text) = split_mark(text)?;
    let mut now = text.to_owned();
    let mut tree = parse(file.format, &now)?;
    let mut not_restored = Vec::new();
    for taken in &undo.taken {
        match put_back(file, &now, &tree, taken) {
            Ok(text) => {
                now = text;
                tree = parse(file.format, &now)?;
            }
            Err(_) => not_restored.push(taken.name.clone()),
        }
    }
    now = without_empty(file, now, undo.found)?;
    let original = undo.original.as_deref();
    let is_bare = now.chars().all(|letter| letter.is_whitespace() || "{}".contains(letter));
    let text = match original {
        None if is_bare => None,
        Some(original) if is_bare && parse(file.format, split_mark(original)?.1)?.is_empty() => {
            Some(original.to_owned())
        }
        _ => Some(format!("{mark}{now}")),
    };
    Ok(Restoration { is_exact: text.as_deref() == original, text, not_restored })
}

/// Removes the server `name`, for an entry that was made by hand.
pub fn remove(file: &ConfigFile, text: &str, name: &str) -> Result<String, EditError> {
    let (mark, text) = split_mark(text)?;
    let tree = parse(file.format, text)?;
    if !order(file, &tree)?.iter().any(|known| known == name) {
        return Err(EditError::NoSuchServer(name.to_owned()));
    }
    Ok(format!("{mark}{}", taken_out(file, text, tree, name)?))
}

fn taken_out(file: &ConfigFile, text: &str, tree: Tree, name: &str) -> Result<String, EditError> {
    let (after, _) = take(file.format, text, &file.servers, name)?;
    prove(file.format, &file.servers, tree, &after, &[name.to_owned()], &[])?;
    Ok(after)
}

fn put_back(
    file: &ConfigFile,
    text: &str,
    tree: &Tree,
    taken: &RemovedServer,
) -> Result<String, EditError> {
    if order(file, tree)?.contains(&taken.name) {
        return Err(EditError::NameTaken(taken.name.clone()));
    }
    let position = Position::After(&taken.before);
    let after = insert(file, text, &taken.name, Insertion::Restored(&taken.pieces), position)?;
    prove(file.format, &file.servers, tree.clone(), &after, &[], &[&taken.name])?;
    Ok(after)
}

/// The text without the tables that connecting created on the path to the servers. A table that is
/// no longer empty stays, even if it holds only a comment.
fn without_empty(file: &ConfigFile, text: String, found: usize) -> Result<String, EditError> {
    let mut now = text;
    for depth in (found..file.servers.len()).rev() {
        let tree = parse(file.format, &now)?;
        let is_empty = tree.at(&file.servers[..=depth]).is_some_and(Tree::is_empty);
        if !is_empty {
            break;
        }
        let (after, pieces) =
            take(file.format, &now, &file.servers[..depth], &file.servers[depth])?;
        let is_bare = |piece: &Piece| match piece.text.rsplit_once('{') {
            Some((_, inside)) => inside.trim_end().trim_end_matches('}').trim().is_empty(),
            None => !piece.text.contains('#'),
        };
        if !pieces.iter().all(is_bare) {
            break;
        }
        now = after;
    }
    Ok(now)
}

/// Proves an edit by parsing its result: the `new` servers must be there, the `gone` ones must not,
/// and everything else must have the same value as before.
pub(crate) fn prove(
    format: Format,
    path: &[String],
    before: Tree,
    after: &str,
    gone: &[String],
    new: &[&str],
) -> Result<(), EditError> {
    let broken = |fault: &str| EditError::Unsafe(fault.to_owned());
    let after = parse(format, after).map_err(|error| match error {
        EditError::Syntax { fault, .. } => broken(&format!("the result has a fault, {fault}")),
        other => other,
    })?;
    let names = after.names(path)?;
    let is_there = |name: &str| names.iter().any(|known| known == name);
    if !new.iter().all(|name| is_there(name)) {
        return Err(broken("the entry does not show"));
    }
    if gone.iter().any(|name| is_there(name) && !new.contains(&name.as_str())) {
        return Err(broken("a server that is to go stays"));
    }
    let gone: Vec<_> = gone.iter().map(String::as_str).collect();
    if before.rest(path, &gone) == after.rest(path, new) {
        return Ok(());
    }
    Err(broken("something else would change with it"))
}

/// The byte order mark and the text after it.
pub(crate) fn split_mark(text: &str) -> Result<(&str, &str), EditError> {
    if text.len() > FILE_BYTES {
        return Err(EditError::TooLarge);
    }
    Ok(match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (&text[..BYTE_ORDER_MARK.len_utf8()], rest),
        None => ("", text),
    })
}

pub(crate) fn parse(format: Format, text: &str) -> Result<Tree, EditError> {
    match format {
        Format::Json => json::tree(text),
        Format::Toml => toml::tree(text),
        Format::Yaml => yaml::tree(text),
    }?
    .bounded()
}

/// The servers by name in the order of the text.
fn order(file: &ConfigFile, tree: &Tree) -> Result<Vec<String>, EditError> {
    let names = tree.names(&file.servers)?;
    if names.len() > SERVERS { Err(EditError::TooMany) } else { Ok(names) }
}

fn insert(
    file: &ConfigFile,
    text: &str,
    name: &str,
    insertion: Insertion<'_>,
    position: Position<'_>,
) -> Result<String, EditError> {
    match file.format {
        Format::Json => json::insert(text, &file.servers, name, insertion, position),
        Format::Toml => toml::insert(text, &file.servers, name, insertion, position),
        Format::Yaml => yaml::insert(text, &file.servers, name, insertion, position),
    }
}

fn take(
    format: Format,
    text: &str,
    path: &[String],
    name: &str,
) -> Result<(String, Vec<Piece>), EditError> {
    match format {
        Format::Json => json::take(text, path, name),
        Format::Toml => toml::take(text, path, name),
        Format::Yaml => yaml::take(text, path, name),
    }
}
