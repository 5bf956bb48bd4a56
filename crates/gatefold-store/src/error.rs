use std::io;
use std::path::{Path, PathBuf};

use gatefold_core::CallId;
use sqlx::migrate::MigrateError;

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    #[error(
        "`{path}` cannot be used: {}; make it writable for this user or set another state \
         directory",
        plain(error)
    )]
    Unusable { path: PathBuf, error: io::Error },
    #[error(
        "`{path}` was written by a newer Gatefold (schema {found}, this one knows {known}); \
         upgrade Gatefold or set another state directory"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("`{path}` is damaged; move it away and Gatefold makes a new one")]
    Damaged { path: PathBuf, source: Option<sqlx::Error> },
    #[error("`{path}` is in the way of a {expected} that Gatefold keeps there; move it away")]
    Misplaced { path: PathBuf, expected: &'static str },
    #[error("no space is left for `{path}`; free some and try again")]
    Full { path: PathBuf, source: sqlx::Error },
    #[error("`{path}` is held by another program; stop that one or try again")]
    Held { path: PathBuf, source: Option<sqlx::Error> },
    #[error("`{path}` could not be read or written")]
    Database { path: PathBuf, source: sqlx::Error },
    #[error("call `{id}` cannot be resumed: it is no longer suspended")]
    NotSuspended { id: CallId },
    #[error("too many calls are under way at once, the limit: {limit}")]
    TooManyOpen { limit: usize },
    #[error("there is no request for approval `{0}`")]
    NoApproval(String),
    #[error("the request for approval `{0}` has expired")]
    ApprovalExpired(String),
    #[error("the request for approval `{id}` was {state} by {by} before")]
    ApprovalDecided { id: String, state: String, by: String },
    #[error("the approval `{0}` is used up: its call was made")]
    ApprovalUsed(String),
    #[error("too many calls wait for a person's approval, the limit: {limit}")]
    TooManyApprovals { limit: u32 },
    #[error(
        "the sign-ins in `{path}` are sealed with another root key; set that one, or sign in again \
         after `gatefold logout`"
    )]
    OtherRootKey { path: PathBuf },
    #[error(
        "`{program}` gave no root key: {reason}; run the command of `secrets.{key}` yourself to see \
         what it prints"
    )]
    RootKeyCommand { key: &'static str, program: String, reason: String },
    #[error("a sign-in in `{path}` was altered; sign in again")]
    AlteredGrant { path: PathBuf },
    #[error("too many sign-ins are kept, the limit: {limit}")]
    TooManyGrants { limit: i64 },
    #[error("there is no access token `{0}`")]
    NoToken(String),
    #[error("there is an access token `{0}` already")]
    TokenNameTaken(String),
    #[error("there are too many access tokens, the limit: {limit}")]
    TooManyTokens { limit: u32 },
    #[error("{0}")]
    TokenRefused(String),
    #[error("too many people sign in here, the limit: {limit}")]
    TooManyPeople { limit: u32 },
    #[error("the store is closed")]
    Closed,
    #[error("the system gave no random bytes: {0}")]
    Random(getrandom::Error),
}

/// SQLite's primary result codes: <https://sqlite.org/rescode.html>.
mod code {
    pub(super) const PERM: u32 = 3;
    pub(super) const BUSY: u32 = 5;
    pub(super) const LOCKED: u32 = 6;
    pub(super) const READONLY: u32 = 8;
    pub(super) const IOERR: u32 = 10;
    pub(super) const CORRUPT: u32 = 11;
    pub(super) const FULL: u32 = 13;
    pub(super) const CANTOPEN: u32 = 14;
    pub(super) const NOTADB: u32 = 26;
    /// The byte of an extended code that holds the primary one.
    pub(super) const PRIMARY: u32 = 0xff;
}

impl StoreError {
    pub(crate) fn database(path: &Path, source: sqlx::Error) -> Self {
        let path = path.to_owned();
        match primary_code(&source) {
            Some(code::CORRUPT | code::NOTADB) => Self::Damaged { path, source: Some(source) },
            Some(code::FULL) => Self::Full { path, source },
            Some(code::BUSY | code::LOCKED) => Self::Held { path, source: Some(source) },
            Some(code::READONLY | code::CANTOPEN | code::PERM) => {
                Self::Unusable { path, error: io::Error::other(source) }
            }
            _ => Self::Database { path, source },
        }
    }

    pub(crate) fn migration(path: &Path, known: i64, source: MigrateError) -> Self {
        match source {
            MigrateError::VersionMissing(found) if found > known => {
                Self::Newer { path: path.to_owned(), found, known }
            }
            MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _) => {
                Self::database(path, source)
            }
            other => Self::Damaged {
                path: path.to_owned(),
                source: Some(sqlx::Error::Migrate(Box::new(other))),
            },
        }
    }

    pub(crate) fn unusable(path: &Path, error: io::Error) -> Self {
        Self::Unusable { path: path.to_owned(), error }
    }

    /// Whether the same write may succeed later, without anyone changing the data.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Full { .. } | Self::Held { .. } | Self::Unusable { .. } => true,
            Self::Database { source, .. } => primary_code(source) == Some(code::IOERR),
            _ => false,
        }
    }

    /// The file or folder that the error is about, if any.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Unusable { path, .. }
            | Self::Newer { path, .. }
            | Self::Damaged { path, .. }
            | Self::Misplaced { path, .. }
            | Self::Full { path, .. }
            | Self::Held { path, .. }
            | Self::Database { path, .. }
            | Self::OtherRootKey { path }
            | Self::AlteredGrant { path } => Some(path),
            _ => None,
        }
    }

    /// The kind of the error, for counters. Its text never changes.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unusable { .. } => "unusable",
            Self::Newer { .. } => "newer",
            Self::Damaged { .. } => "damaged",
            Self::Misplaced { .. } => "misplaced",
            Self::Full { .. } => "full",
            Self::Held { .. } => "held",
            Self::Database { .. } => "database",
            Self::NotSuspended { .. } => "not_suspended",
            Self::TooManyOpen { .. } => "too_many_open",
            Self::NoApproval(_) => "no_approval",
            Self::ApprovalExpired(_) => "approval_expired",
            Self::ApprovalDecided { .. } => "approval_decided",
            Self::ApprovalUsed(_) => "approval_used",
            Self::TooManyApprovals { .. } => "too_many_approvals",
            Self::OtherRootKey { .. } => "other_root_key",
            Self::RootKeyCommand { .. } => "root_key_command",
            Self::AlteredGrant { .. } => "altered_grant",
            Self::TooManyGrants { .. } => "too_many_grants",
            Self::NoToken(_) => "no_token",
            Self::TokenNameTaken(_) => "token_name_taken",
            Self::TooManyTokens { .. } => "too_many_tokens",
            Self::TokenRefused(_) => "token_refused",
            Self::TooManyPeople { .. } => "too_many_people",
            Self::Closed => "closed",
            Self::Random(_) => "random",
        }
    }
}

/// The system's message without its error number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().map(|number| format!(" (os error {number})"));
    match number.and_then(|number| text.strip_suffix(&number)) {
        Some(words) => words.to_lowercase(),
        None => text,
    }
}

fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|code| code & code::PRIMARY)
}
