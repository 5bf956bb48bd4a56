//! The reasons to leave a file alone.

use crate::{Client, FILE_BYTES, NESTING, SERVERS};

/// Why a text was not edited. It names keys and places, never values, because a client's file is
/// full of secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    #[error(
        "the file is larger than {FILE_BYTES} bytes\n  help: check what is in it: no configuration is that large"
    )]
    TooLarge,
    #[error(
        "values are nested more than {NESTING} deep\n  help: check what is in it: no configuration is that large"
    )]
    TooDeep,
    #[error("the file lists more than {SERVERS} servers\n  help: remove those that nobody uses")]
    TooMany,
    /// Lines and columns count from one, columns in characters.
    #[error(
        "line {line}, column {column}: {fault}\n  help: fix the file first; nothing was changed"
    )]
    Syntax { line: usize, column: usize, fault: String },
    #[error("line {line}, column {column}: `{key}` is there twice\n  help: remove one of the two")]
    Duplicate { line: usize, column: usize, key: String },
    /// The member at `path` is not a table. An empty path means the whole file.
    #[error("{} is not a table of members\n  help: fix it or remove it", described(path))]
    NotATable { path: Vec<String> },
    #[error("there is already a server `{0}`\n  help: take it out as well, or choose another name")]
    NameTaken(String),
    #[error("there is no server `{0}`")]
    NoSuchServer(String),
    #[error("`{0}` cannot name a server\n  help: use letters, digits, `-` and `_`, at most 64")]
    BadName(String),
    #[error(
        "{0} starts its servers itself and takes no URL in this file\n  help: connect it over stdio"
    )]
    NoHttp(Client),
    /// The edit was made, but its result did not parse as intended, so it was discarded. Unusual
    /// notations end here, such as an anchor in a removed server that is used elsewhere.
    #[error(
        "the file is written in a way that cannot be edited safely: {0}\n  help: edit it by hand"
    )]
    Unsafe(String),
}

impl EditError {
    /// A server cannot be put back because the servers are now written in another notation.
    pub(crate) fn unlike() -> Self {
        Self::Unsafe("the servers are written in another way now".to_owned())
    }
}

fn described(path: &[String]) -> String {
    if path.is_empty() { "the file".to_owned() } else { format!("`{}`", path.join(".")) }
}
