//! The port for results that are too large to show, until they expire.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Timestamp, ToolId};

use crate::DataOwner;

/// What a stored result is asked for by. Nobody can guess one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResultHandle(Arc<str>);

impl ResultHandle {
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResultHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A result to keep. Its `Debug` leaves out the text.
pub struct NewResult {
    pub owner: DataOwner,
    pub tool: ToolId,
    pub text: String,
    pub at: Timestamp,
    pub expires_at: Timestamp,
    /// How many results its owner may have, this one included. The oldest are dropped for it.
    pub kept_each: u32,
}

impl fmt::Debug for NewResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, text, at, expires_at, .. } = self;
        f.debug_struct("NewResult")
            .field("tool", tool)
            .field("bytes", &text.len())
            .field("at", at)
            .field("expires_at", expires_at)
            .finish_non_exhaustive()
    }
}

/// A result as it was kept. Its `Debug` leaves out the text.
pub struct StoredResult {
    pub tool: ToolId,
    pub text: String,
    pub expires_at: Timestamp,
}

impl fmt::Debug for StoredResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, text, expires_at } = self;
        f.debug_struct("StoredResult")
            .field("tool", tool)
            .field("bytes", &text.len())
            .field("expires_at", expires_at)
            .finish()
    }
}

/// What a caller is told whose handle leads to nothing that is its own.
pub const MISSING_RESULT: &str = "there is no such result: it has expired, or the handle is wrong; \
                                  call the tool again that gave it";

/// What a caller is told while the port fails.
pub const UNREADABLE_RESULTS: &str = "kept results cannot be read now";

/// Keeps results that are too large to show.
pub trait StoredResults: Send + Sync + 'static {
    /// Keeps a result until it expires.
    fn keep(&self, result: NewResult) -> BoxFuture<'_, Result<ResultHandle, BoxError>>;

    /// The result with a handle. None if there is none, if it has expired or if it is somebody
    /// else's: all three read alike.
    fn find<'a>(
        &'a self,
        owner: DataOwner,
        handle: &'a ResultHandle,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, BoxError>>;
}
