//! Why a token lets nobody in.

/// What is wrong with a token. Its text may go to whoever sent it: it holds nothing of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFault {
    #[error("it cannot be read")]
    Malformed,
    #[error("nobody who is trusted here issued it")]
    Foreign,
    #[error("it is signed in a way that is not accepted")]
    Algorithm,
    #[error("it is a token of another type")]
    Type,
    #[error("its issuer has no such key")]
    Key,
    #[error("its signature is wrong")]
    Signature,
    #[error("its issuer says that it is not good")]
    Inactive,
    #[error("it has expired")]
    Expired,
    #[error("it is not good yet")]
    Early,
    #[error("it does not say whose it is")]
    Subject,
    #[error("it is for another resource")]
    Audience,
    #[error("it is for another client")]
    Client,
    #[error("it belongs to another sign-in")]
    Nonce,
    #[error("it lacks a scope")]
    Scope,
    #[error("its issuer cannot be asked at the moment")]
    Unavailable,
}
