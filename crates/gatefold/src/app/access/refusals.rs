//! The token of a request, or why it has none (RFC 6750).

use std::sync::Arc;

use gatefold_core::{PresentedToken, is_like_token};
use gatefold_http::Unauthenticated;
use gatefold_oauth::TokenFault;
use http::StatusCode;
use http::header::AUTHORIZATION;
use http::request::Parts;

use super::resource::{self, ProtectedResource};

/// The name of a token's parameter in a query (RFC 6750, section 2.3), which we do not take.
const QUERY_PARAMETER: &str = "access_token";

/// Why nobody is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Missing,
    /// A query is written to logs all along the way.
    InQuery,
    Several,
    Mistyped,
    Unknown,
    Expired,
    /// It was revoked, or expired, while the request ran.
    Over,
    /// What was revoked is not known.
    Unavailable,
    /// A token of an issuer lets nobody in.
    Faulty(TokenFault),
}

/// How refusals are answered.
#[derive(Debug, Clone, Default)]
pub(super) struct RefusalForm {
    /// None where only our own tokens let anybody in: nothing says then how to get one.
    pub(super) resource: Option<Arc<ProtectedResource>>,
}

impl Refusal {
    fn message(self) -> String {
        let text = match self {
            Self::Faulty(TokenFault::Unavailable) => Self::Unavailable.text(),
            Self::Faulty(fault) => return format!("this access token is not accepted: {fault}"),
            other => other.text(),
        };
        text.to_owned()
    }

    fn text(self) -> &'static str {
        match self {
            Self::Missing => "send an access token: `Authorization: Bearer gf_...`",
            Self::InQuery => {
                "a token in the address is not accepted, and has to be replaced now: send another in \
                 `Authorization: Bearer gf_...`"
            }
            Self::Several => "send one `Authorization` header",
            Self::Mistyped => "this is no whole access token: it was cut off or mistyped",
            Self::Unknown => "this access token is not known, or was revoked",
            Self::Expired => "this access token has expired",
            Self::Over => "this access token was revoked or has expired",
            Self::Unavailable | Self::Faulty(_) => {
                "access tokens cannot be checked at the moment; try again later"
            }
        }
    }

    /// Which status and which error of a challenge answer it. Only a token that was sent is said to
    /// be invalid. Without a challenge, nothing that the client does would change anything.
    fn answer(self) -> (StatusCode, Challenge) {
        let unauthorized = StatusCode::UNAUTHORIZED;
        match self {
            Self::Missing => (unauthorized, Challenge::Bare),
            Self::InQuery | Self::Several => {
                (StatusCode::BAD_REQUEST, Challenge::Error("invalid_request"))
            }
            Self::Unavailable | Self::Faulty(TokenFault::Unavailable) => {
                (StatusCode::SERVICE_UNAVAILABLE, Challenge::None)
            }
            Self::Faulty(TokenFault::Scope) => {
                (StatusCode::FORBIDDEN, Challenge::Error("insufficient_scope"))
            }
            Self::Mistyped | Self::Unknown | Self::Expired | Self::Over | Self::Faulty(_) => {
                (unauthorized, Challenge::Error("invalid_token"))
            }
        }
    }
}

/// What the header `WWW-Authenticate` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Challenge {
    None,
    Bare,
    Error(&'static str),
}

impl RefusalForm {
    /// The answer to a request for a path.
    pub(super) fn unauthenticated(&self, refusal: Refusal, path: &str) -> Unauthenticated {
        let (status, challenge) = refusal.answer();
        let error = match challenge {
            Challenge::Error(error) => Some(error),
            Challenge::None | Challenge::Bare => None,
        };
        let resource = self.resource.as_deref();
        let challenge =
            (challenge != Challenge::None).then(|| resource::challenge(resource, path, error));
        Unauthenticated { status, message: refusal.message(), challenge }
    }
}

/// A token that a request presents.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Presented<'a> {
    Own(PresentedToken),
    /// It may be an issuer's.
    Other(&'a str),
}

/// The token that a request presents, in its one `Authorization` header.
pub(super) fn presented(request: &Parts) -> Result<Presented<'_>, Refusal> {
    if request.uri.query().is_some_and(has_token) {
        return Err(Refusal::InQuery);
    }
    let mut values = request.headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(Refusal::Missing)?;
    if values.next().is_some() {
        return Err(Refusal::Several);
    }
    let token = value.to_str().ok().and_then(bearer).ok_or(Refusal::Missing)?;
    if !is_like_token(token) {
        return Ok(Presented::Other(token));
    }
    PresentedToken::read(token).map(Presented::Own).ok_or(Refusal::Mistyped)
}

/// The credentials of the scheme `Bearer`, whose name may be written in any case (RFC 9110, 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, rest) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| rest.trim_start())
}

fn has_token(query: &str) -> bool {
    query.split('&').any(|part| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        key.eq_ignore_ascii_case(QUERY_PARAMETER) || is_like_token(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPO: &str = "Bearer gf_a123";

    #[track_caller]
    fn check(uri: &str, headers: &[&str], expected: Refusal) {
        let mut request = http::Request::get(uri);
        for value in headers {
            request = request.header(AUTHORIZATION, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        assert_eq!(presented(&parts), Err(expected), "{uri} {headers:?}");
    }

    #[test]
    fn only_one_header_brings_a_token() {
        check("/mcp", &[], Refusal::Missing);
        check("/mcp", &["Basic YTpi"], Refusal::Missing);
        check("/mcp", &["Bearer"], Refusal::Missing);
        check("/mcp", &["gf_a123"], Refusal::Missing);
        check("/mcp", &[TYPO], Refusal::Mistyped);
        check("/mcp", &["bEARER  gf_a123"], Refusal::Mistyped);
        check("/mcp", &[TYPO, TYPO], Refusal::Several);
        check("/mcp", &["Basic YTpi", TYPO], Refusal::Several);
        check("/mcp?for=gf_what&access_token=x", &[TYPO], Refusal::InQuery);
        check("/mcp?ACCESS_TOKEN", &[], Refusal::InQuery);
        check("/mcp?token=gf_a123", &[TYPO], Refusal::InQuery);
        check("/mcp?for=find+gf_a123", &[TYPO], Refusal::Mistyped);
    }

    #[test]
    fn only_a_token_that_was_sent_is_called_invalid() {
        let shown = |refusal| {
            let form = RefusalForm::default();
            let Unauthenticated { status, challenge, .. } = form.unauthenticated(refusal, "/mcp");
            let challenge = challenge.map(|value| value.to_str().unwrap().to_owned());
            (status.as_u16(), challenge.unwrap_or_default())
        };
        let bare = r#"Bearer realm="gatefold""#;
        assert_eq!(shown(Refusal::Missing), (401, bare.to_owned()));
        for refusal in [Refusal::Mistyped, Refusal::Unknown, Refusal::Expired, Refusal::Over] {
            assert_eq!(shown(refusal), (401, format!(r#"{bare}, error="invalid_token""#)));
        }
        for refusal in [Refusal::InQuery, Refusal::Several] {
            assert_eq!(shown(refusal), (400, format!(r#"{bare}, error="invalid_request""#)));
        }
        assert_eq!(shown(Refusal::Unavailable), (503, String::new()));
    }
}
