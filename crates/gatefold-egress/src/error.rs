use std::error::Error;
use std::io;

use reqwest::Url;

use crate::connector::BoxError;
use crate::redaction::redacted;
use crate::redirect::REDIRECT_LIMIT;
use crate::resolve::UnresolvedName;
use crate::{FirstRedirect, ForbiddenHost};

/// Why one request got no answer. The source has the details, and names no URL.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// No connection could be made, so nothing was sent.
    #[error("the server cannot be reached")]
    Unreachable(#[source] BoxError),
    #[error("the connection failed")]
    Failed(#[source] BoxError),
}

impl SendError {
    pub(crate) fn new(is_connect: bool, source: BoxError) -> Self {
        if is_connect { Self::Unreachable(source) } else { Self::Failed(source) }
    }
}

/// Why a request got no answer, or no usable one.
///
/// URLs in the messages contain no query, user name or password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EgressError {
    #[error("the URL cannot be requested: {reason}")]
    Url { reason: &'static str },
    #[error(transparent)]
    Forbidden(#[from] ForbiddenHost),
    #[error(
        "`{url}` redirects to `{to}`, which is not followed: {reason}; use that address if you \
         trust it"
    )]
    Redirected { url: String, to: String, reason: &'static str, redirect: FirstRedirect },
    #[error("`{url}` redirects more than {REDIRECT_LIMIT} times")]
    TooManyRedirects { url: String, redirect: FirstRedirect },
    /// The request was answered with a redirect, which led nowhere.
    #[error("`{url}` redirects elsewhere: {error}")]
    Onward {
        url: String,
        /// What happened there.
        #[source]
        error: Box<EgressError>,
        redirect: FirstRedirect,
    },
    #[error("{}", too_large(*size, *limit))]
    TooLarge {
        /// As the server announced it.
        size: Option<u64>,
        limit: u64,
    },
    #[error("the body of the answer from `{url}` cannot be decoded: {reason}")]
    Encoding { url: String, reason: &'static str },
    #[error("`{url}` did not answer in time")]
    Timeout { url: String },
    #[error("`{url}` could not be reached")]
    Connect {
        url: String,
        #[source]
        source: BoxError,
    },
    #[error("the request to `{url}` failed")]
    Failed {
        url: String,
        #[source]
        source: BoxError,
    },
    #[error(
        "this machine has no CA certificates, so no server can be trusted over HTTPS; install \
         `ca-certificates` or set `SSL_CERT_FILE`"
    )]
    NoRoots,
    #[error("the client certificate cannot be used: {reason}")]
    Identity { reason: &'static str },
    #[error("the HTTP client could not be set up")]
    Setup(#[source] reqwest::Error),
}

/// The obstacle between a request and its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The name has no address.
    Name,
    /// Nothing listens there.
    Refused,
    /// No secure connection could be negotiated.
    Tls,
    Other,
}

impl EgressError {
    /// The obstacle, as far as the kinds of the underlying errors reveal it.
    pub fn obstacle(&self) -> Obstacle {
        obstacle(self)
    }

    pub(crate) fn new(url: &Url, error: SendError) -> Self {
        let (SendError::Unreachable(source) | SendError::Failed(source)) = &error;
        let source: &(dyn Error + 'static) = &**source;
        let forbidden = causes(source).find_map(|cause| cause.downcast_ref::<ForbiddenHost>());
        if let Some(forbidden) = forbidden {
            return forbidden.clone().into();
        }
        match error {
            SendError::Unreachable(source) => Self::Connect { url: redacted(url), source },
            SendError::Failed(source) => Self::failed(url, source),
        }
    }

    pub(crate) fn failed(url: &Url, source: BoxError) -> Self {
        Self::Failed { url: redacted(url), source }
    }

    pub(crate) fn undecodable(url: &Url, reason: &'static str) -> Self {
        Self::Encoding { url: redacted(url), reason }
    }

    pub(crate) fn late(url: &Url) -> Self {
        Self::Timeout { url: redacted(url) }
    }

    pub(crate) fn redirected(
        from: &Url,
        to: &Url,
        reason: &'static str,
        redirect: FirstRedirect,
    ) -> Self {
        Self::Redirected { url: redacted(from), to: redacted(to), reason, redirect }
    }

    pub(crate) fn too_many_redirects(url: &Url, redirect: FirstRedirect) -> Self {
        Self::TooManyRedirects { url: redacted(url), redirect }
    }

    pub(crate) fn onward(from: &Url, error: Self, redirect: FirstRedirect) -> Self {
        Self::Onward { url: redacted(from), error: Box::new(error), redirect }
    }

    /// Whether the server has answered, though not with what can be used.
    pub fn is_answered(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::Encoding { .. })
            || self.first_redirect().is_some()
    }

    /// The redirect that the request was answered with, if it was.
    pub fn first_redirect(&self) -> Option<&FirstRedirect> {
        match self {
            Self::Redirected { redirect, .. }
            | Self::TooManyRedirects { redirect, .. }
            | Self::Onward { redirect, .. } => Some(redirect),
            _ => None,
        }
    }

    /// Whether the request certainly reached nobody, so that sending it again is harmless.
    pub fn is_unsent(&self) -> bool {
        match self {
            Self::Url { .. }
            | Self::Forbidden(_)
            | Self::Connect { .. }
            | Self::NoRoots
            | Self::Identity { .. }
            | Self::Setup(_) => true,
            Self::Redirected { .. }
            | Self::TooManyRedirects { .. }
            | Self::Onward { .. }
            | Self::Timeout { .. }
            | Self::TooLarge { .. }
            | Self::Encoding { .. }
            | Self::Failed { .. } => false,
        }
    }

    /// The host that may not be reached, if that is why.
    pub fn forbidden(&self) -> Option<&ForbiddenHost> {
        match self {
            Self::Forbidden(forbidden) => Some(forbidden),
            Self::Onward { error, .. } => error.forbidden(),
            _ => None,
        }
    }
}

/// An error and its causes. An I/O error that wraps another one is replaced by it, because `source`
/// skips it.
pub(crate) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| {
        let error: &'a (dyn Error + 'static) = *error;
        let within = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        within.map(|within| within as &(dyn Error + 'static)).or_else(|| error.source())
    })
}

pub(crate) fn obstacle(error: &(dyn Error + 'static)) -> Obstacle {
    let of = |error: &(dyn Error + 'static)| {
        let io = error.downcast_ref::<io::Error>().map(io::Error::kind);
        if error.is::<UnresolvedName>() {
            Some(Obstacle::Name)
        } else if error.is::<rustls::Error>() {
            Some(Obstacle::Tls)
        } else if io == Some(io::ErrorKind::ConnectionRefused) {
            Some(Obstacle::Refused)
        } else {
            None
        }
    };
    causes(error).find_map(of).unwrap_or(Obstacle::Other)
}

fn too_large(size: Option<u64>, limit: u64) -> String {
    match size {
        Some(size) => format!("the answer has {size} bytes, more than the limit: {limit}"),
        None => format!("the answer has more bytes than the limit: {limit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stood_in_the_way_is_told_by_kinds_and_not_by_words() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let tls = io::Error::new(io::ErrorKind::InvalidData, rustls::Error::DecryptError);
        let name = UnresolvedName(io::Error::other("no address"));
        let words = io::Error::other("lookup of a tls certificate refused");
        assert_eq!(obstacle(&io::Error::other(refused)), Obstacle::Refused);
        assert_eq!(obstacle(&io::Error::other(tls)), Obstacle::Tls);
        assert_eq!(obstacle(&io::Error::other(name)), Obstacle::Name);
        assert_eq!(obstacle(&words), Obstacle::Other);
    }
}
