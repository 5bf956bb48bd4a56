//! Why a file was left alone.

use crate::{Client, FILE_BYTES, NESTING, SERVERS};

/// Why a text was not edited. It says names and places, never values: a client's file is full of
/// secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    #[error(
        "the file is larger than {FILE_BYTES} bytes\n  help: that is no configuration; look what is in it"
    )]
    TooLarge,
    #[error(
        "values are nested more than {NESTING} deep\n  help: that is no configuration; look what is in it"
    )]
    TooDeep,
    #[error("the file lists more than {SERVERS} servers\n  help: remove those that nobody uses")]
    TooMany,
    /// Lines and columns count from one, columns in characters.
    #[error(
        "line {line}, column {column}: {fault}\n  help: mend the file first; nothing was changed"
    )]
    Syntax { line: usize, column: usize, fault: String },
    #[error("line {line}, column {column}: `{key}` is there twice\n  help: remove one of the two")]
    Duplicate { line: usize, column: usize, key: String },
    /// The member at `path` holds something else than a table of members. An empty path is the
    /// file itself.
    #[error("{} is not a table of members\n  help: mend it or remove it", described(path))]
    NotATable { path: Vec<String> },
    #[error("there is a server `{0}` already\n  help: take it out as well, or choose another name")]
    NameTaken(String),
    #[error("there is no server `{0}`")]
    NoSuchServer(String),
    #[error("`{0}` cannot name a server\n  help: use letters, digits, `-` and `_`, at most 64")]
    BadName(String),
    #[error(
        "{0} starts its servers itself and takes no URL in this file\n  help: connect it over stdio"
    )]
    NoHttp(Client),
    /// The splice was made and did not read as intended, so it was thrown away. Unusual ways of
    /// writing end here, such as an anchor in a server that is taken out and used elsewhere.
    #[error(
        "the file is written in a way that cannot be edited safely: {0}\n  help: edit it by hand"
    )]
    Unsafe(String),
}

impl EditError {
    /// A server cannot be put back into a file whose servers are written in another way by now.
    pub(crate) fn unlike() -> Self {
        Self::Unsafe("the servers are written in another way now".to_owned())
    }
}

fn described(path: &[String]) -> String {
    if path.is_empty() { "the file".to_owned() } else { format!("`{}`", path.join(".")) }
}
