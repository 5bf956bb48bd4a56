use gatefold_core::BoxError;

/// Why the issuer itself failed. Nobody outside is told more than that it did.
#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    #[error("what the issuer keeps cannot be reached")]
    Store(#[source] BoxError),
    #[error("the system gives no random numbers")]
    Random(#[source] getrandom::Error),
    #[error("a password could not be hashed")]
    Hash,
    #[error("too many are signing in at once: try again in a moment")]
    Busy,
}

impl IssuerError {
    /// The kind of the error, for counters. Its text never changes.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Store(_) => "store",
            Self::Random(_) => "random",
            Self::Hash => "hash",
            Self::Busy => "busy",
        }
    }
}
