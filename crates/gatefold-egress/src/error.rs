use std::error::Error;
use std::io;

use reqwest::Url;

use crate::redaction::redacted;
use crate::redirect::CrossOriginRedirect;
use crate::resolve::{NonPublicHost, UnresolvedName};

/// Why a request got no answer, or no usable one.
///
/// URLs in the messages contain no query, user name or password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EgressError {
    #[error("the URL cannot be requested: {reason}")]
    Url { reason: &'static str },
    #[error("`{host}` is not on the public Internet, so it is not requested")]
    NotPublic { host: String },
    #[error("`{url}` redirects to `{to}`; use that address if you trust it")]
    Redirected { url: String, to: String },
    #[error("{}", too_large(*size, *limit))]
    TooLarge {
        /// As the server announced it.
        size: Option<u64>,
        limit: u64,
    },
    #[error("`{url}` did not answer in time")]
    Timeout {
        url: String,
        #[source]
        source: reqwest::Error,
    },
    #[error("`{url}` could not be reached")]
    Connect {
        url: String,
        #[source]
        source: reqwest::Error,
    },
    #[error("the request to `{url}` failed")]
    Failed {
        url: String,
        #[source]
        source: reqwest::Error,
    },
    #[error(
        "this machine has no CA certificates, so no server can be trusted over HTTPS; install \
         `ca-certificates` or set `SSL_CERT_FILE`"
    )]
    NoRoots,
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

    /// Classifies an error of the client, and removes the URL from it.
    pub(crate) fn new(url: &Url, error: reqwest::Error) -> Self {
        if let Some(NonPublicHost { host }) = cause(&error) {
            return Self::NotPublic { host: host.clone() };
        }
        let url = redacted(url);
        if let Some(CrossOriginRedirect { to }) = cause(&error) {
            return Self::Redirected { url, to: to.clone() };
        }
        let source = error.without_url();
        if source.is_timeout() {
            Self::Timeout { url, source }
        } else if source.is_connect() {
            Self::Connect { url, source }
        } else {
            Self::Failed { url, source }
        }
    }

    /// Whether the request certainly reached nobody, so that sending it again is harmless.
    pub fn is_unsent(&self) -> bool {
        match self {
            Self::Url { .. }
            | Self::NotPublic { .. }
            | Self::Connect { .. }
            | Self::NoRoots
            | Self::Setup(_) => true,
            Self::Timeout { source, .. } => source.is_connect(),
            Self::Redirected { .. } | Self::TooLarge { .. } | Self::Failed { .. } => false,
        }
    }
}

fn cause<T: Error + 'static>(error: &reqwest::Error) -> Option<&T> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

/// An error and its causes. An I/O error that wraps another one is replaced by it, because `source`
/// skips it.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| {
        let error: &'a (dyn Error + 'static) = *error;
        let within = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        within.map(|within| within as &(dyn Error + 'static)).or_else(|| error.source())
    })
}

fn obstacle(error: &(dyn Error + 'static)) -> Obstacle {
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
