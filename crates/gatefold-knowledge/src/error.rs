//! Why a knowledge base did not do something.

use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::Version;

#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    #[error("the folder `{path}` cannot be read or written")]
    Folder {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the documents of this base cannot be read or written: look whether its disk is full")]
    Storage(#[source] rusqlite::Error),
    #[error("the index of this base cannot be read or written: rebuild it, no document is lost")]
    Index(#[from] tantivy::TantivyError),
    #[error("another process writes to this base: wait for it or stop it")]
    Busy,
    #[error("this base was written by a newer Gatefold: use that one, or delete the base's folder")]
    NewerFormat,
    #[error(
        "what this base keeps is damaged ({0}): delete the base's folder and add its documents again"
    )]
    Damaged(&'static str),
    #[error("`{0}` cannot be the name of a document: use 1 to {max} bytes without control characters", max = crate::limits::MAX_NAME)]
    Name(String),
    #[error("this base has {max} documents, which is the most: use several bases", max = crate::limits::MAX_DOCUMENTS)]
    Full,
    #[error("`{0}` is no pattern of names: use `*`, `?` and `**` between slashes")]
    Pattern(String),
    #[error("{}", missing(name, *version, *present))]
    Missing {
        name: String,
        version: Version,
        /// The version that the document has now.
        present: Option<Version>,
    },
}

impl From<rusqlite::Error> for KnowledgeError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Storage(error),
        }
    }
}

fn missing(name: &str, version: Version, present: Option<Version>) -> String {
    match present {
        Some(present) => {
            format!("version {version} of `{name}` is gone; its present version is {present}")
        }
        None => format!("version {version} of `{name}` is gone, and so is the document"),
    }
}
