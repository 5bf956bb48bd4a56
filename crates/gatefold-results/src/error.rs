use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a part of a kept result could not be given.
///
/// The message is for the model that asked, and says how to ask instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ReadingError {
    /// What was asked cannot be understood.
    #[error("{0}")]
    Arguments(String),
    /// A pattern, a path, a jq program or a query that is malformed.
    #[error("{0}")]
    Syntax(String),
    /// The result has no such part.
    #[error("{0}")]
    Missing(String),
    /// The result is of a kind that cannot be read in this way.
    #[error("{0}")]
    Unsuitable(String),
    /// More time or memory than one reading may take.
    #[error("{0}")]
    TooMuch(String),
}

/// What sort of error it is, for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReadingErrorKind(&'static str);

impl ReadingErrorKind {
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for ReadingErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl ReadingError {
    pub fn kind(&self) -> ReadingErrorKind {
        ReadingErrorKind(match self {
            Self::Arguments(_) => "arguments",
            Self::Syntax(_) => "syntax",
            Self::Missing(_) => "missing",
            Self::Unsuitable(_) => "unsuitable",
            Self::TooMuch(_) => "too_much",
        })
    }
}
