use std::fmt;

use reqwest::redirect::{Attempt, Policy};

use crate::AddressPolicy;
use crate::redaction::redacted;
use crate::resolve::NonPublicHost;

/// How many redirects in a row are followed.
const REDIRECT_LIMIT: usize = 5;

/// Which redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// None: the redirect is the answer.
    None,
    /// Those to the same scheme, host and port. Another origin is an error: the request's content,
    /// including credentials in headers of any name, was meant for the first one.
    SameOrigin,
}

/// A redirect that was not followed because it leads to another origin.
#[derive(Debug)]
pub(crate) struct CrossOriginRedirect {
    pub(crate) to: String,
}

impl fmt::Display for CrossOriginRedirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "redirected to another origin: {}", self.to)
    }
}

impl std::error::Error for CrossOriginRedirect {}

pub(crate) fn redirect_policy(redirects: Redirects, addresses: AddressPolicy) -> Policy {
    if redirects == Redirects::None {
        return Policy::none();
    }
    let limited = Policy::limited(REDIRECT_LIMIT);
    Policy::custom(move |attempt: Attempt<'_>| {
        let is_same_origin =
            attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
        if !is_same_origin {
            let to = redacted(attempt.url());
            return attempt.error(CrossOriginRedirect { to });
        }
        if !addresses.allows_host(attempt.url()) {
            let host = attempt.url().host_str().unwrap_or_default().to_owned();
            return attempt.error(NonPublicHost { host });
        }
        limited.redirect(attempt)
    })
}
