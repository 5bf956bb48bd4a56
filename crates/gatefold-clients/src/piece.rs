//! The pieces of text that are inserted and removed, in any format.

use serde::{Deserialize, Serialize};

use crate::EditError;
use crate::entry::Value;

/// A part of a text that belongs to one server, to the byte.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Piece {
    pub text: String,
    pub kind: PieceKind,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PieceKind {
    /// Key and value from between braces.
    Braced,
    /// Whole lines of YAML whose key is in this column.
    Block { column: usize },
    /// Whole lines of TOML, keys and values of the table `home`.
    Pairs { home: Vec<String> },
    /// Whole lines of TOML that begin with a table's header.
    Sections,
}

/// What is inserted.
#[derive(Clone, Copy)]
pub(crate) enum Insertion<'a> {
    New(&'a Value),
    Restored(&'a [Piece]),
}

/// Where it is inserted.
#[derive(Clone, Copy)]
pub(crate) enum Position<'a> {
    End,
    /// After the last of these that exists; if none does, before everything else.
    After(&'a [String]),
}

impl Insertion<'_> {
    /// The text of a member between braces. `write` writes a new one.
    pub(crate) fn member(self, write: impl FnOnce(&Value) -> String) -> Result<String, EditError> {
        match self {
            Self::New(value) => Ok(write(value)),
            Self::Restored([Piece { text, kind: PieceKind::Braced }]) => Ok(text.clone()),
            Self::Restored(_) => Err(EditError::unlike()),
        }
    }
}

impl Position<'_> {
    /// Whether the piece goes after the member `name`.
    pub(crate) fn is_behind(self, name: &str) -> bool {
        match self {
            Self::End => true,
            Self::After(before) => before.iter().any(|before| before == name),
        }
    }
}
