//! What follows from a redirect (RFC 9110, section 15.4, and what browsers do).

use gatefold_core::Secret;
use http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderMap,
    HeaderName, LOCATION, PROXY_AUTHORIZATION,
};
use http::{Method, StatusCode};
use reqwest::Url;

use crate::HttpRequest;

/// How many redirects in a row are followed.
pub(crate) const REDIRECT_LIMIT: usize = 5;

/// Headers that never go to another origin, whoever set them.
const OF_ORIGIN: [HeaderName; 4] = [AUTHORIZATION, COOKIE, HOST, PROXY_AUTHORIZATION];
/// Headers about a body.
const OF_BODY: [HeaderName; 3] = [CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE];

/// The first redirect that a request was answered with.
#[derive(Debug, Clone)]
pub struct FirstRedirect {
    pub status: StatusCode,
    /// The path and the query that it leads to, if it stays at the origin. They may hold secrets.
    pub path: Option<Secret>,
}

impl FirstRedirect {
    pub(crate) fn new(from: &Url, to: &Url, status: StatusCode) -> Self {
        let query = to.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = Secret::new(format!("{}{query}", to.path()));
        Self { status, path: is_same_origin(from, to).then_some(path) }
    }

    /// Whether the server has done what a request with this method asks for: then it sends its client
    /// on to read what came of it.
    pub fn follows_effect(&self, method: &Method) -> bool {
        !is_safe(method) && matches!(self.status, StatusCode::FOUND | StatusCode::SEE_OTHER)
    }
}

/// What becomes of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RedirectStep {
    /// It is no redirect that says where to go.
    Answer,
    Follow(Url),
    Refuse(Url, &'static str),
}

/// Judges the answer to a request.
pub(crate) fn step(request: &HttpRequest, status: StatusCode, headers: &HeaderMap) -> RedirectStep {
    let target = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let Some(mut to) = target.and_then(|target| request.url.join(target).ok()) else {
        return RedirectStep::Answer;
    };
    let is_origin_kept = is_same_origin(&request.url, &to);
    let refusal = match status {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => {
            let is_read = matches!(request.method, Method::GET | Method::HEAD);
            (!is_read).then_some("only GET and HEAD are repeated elsewhere")
        }
        StatusCode::SEE_OTHER => None,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => {
            let may_repeat = is_origin_kept || is_safe(&request.method);
            (!may_repeat).then_some("the request could have an effect there")
        }
        _ => return RedirectStep::Answer,
    };
    if !is_http(&to) {
        return RedirectStep::Refuse(to, "it is neither `http` nor `https`");
    }
    if request.url.scheme() == "https" && to.scheme() == "http" {
        return RedirectStep::Refuse(to, "it is not encrypted, and the first address was");
    }
    if let Some(reason) = refusal {
        return RedirectStep::Refuse(to, reason);
    }
    // Both fail only for URLs that cannot have these parts.
    let _ = to.set_username("");
    let _ = to.set_password(None);
    RedirectStep::Follow(to)
}

/// Turns a request into the one that a redirect asks for.
pub(crate) fn redirect(request: &mut HttpRequest, status: StatusCode, to: Url) {
    if status == StatusCode::SEE_OTHER && request.method != Method::HEAD {
        request.method = Method::GET;
        request.body.clear();
        for name in OF_BODY {
            request.headers.remove(name);
        }
    }
    if !is_same_origin(&request.url, &to) {
        request.credentials.clear();
        for name in OF_ORIGIN {
            request.headers.remove(name);
        }
    }
    request.url = to;
}

pub(crate) fn is_same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

pub(crate) fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Whether a method asks for no effect (RFC 9110, section 9.2.1).
pub(crate) fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    /// What becomes of an answer with this status and location to a request to `https://a.example/b`:
    /// the next method and URL, whether it keeps body and credentials, or why it is refused.
    #[track_caller]
    fn check(method: Method, status: u16, location: &str, expected: &str) {
        let mut request = HttpRequest::new(method, Url::parse("https://a.example/b").unwrap())
            .header(COOKIE, HeaderValue::from_static("a=b"))
            .header(CONTENT_TYPE, HeaderValue::from_static("text/plain"))
            .body("body");
        let key = HeaderName::from_static("x-key");
        request.credentials.insert(key, HeaderValue::from_static("s3cret"));
        let status = StatusCode::from_u16(status).unwrap();
        let headers = HeaderMap::from_iter([(LOCATION, location.parse().unwrap())]);
        let shown = match step(&request, status, &headers) {
            RedirectStep::Answer => "answer".to_owned(),
            RedirectStep::Refuse(_, reason) => reason.to_owned(),
            RedirectStep::Follow(to) => {
                redirect(&mut request, status, to);
                let headers = request.all_headers();
                let body = if request.body.is_empty() { "" } else { " body" };
                assert_eq!(headers.contains_key(CONTENT_TYPE), !body.is_empty());
                let secrets = if headers.contains_key("x-key") { " secrets" } else { "" };
                assert_eq!(headers.contains_key(COOKIE), !secrets.is_empty());
                format!("{} {}{body}{secrets}", request.method, request.url)
            }
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn only_reading_is_repeated_elsewhere() {
        let effect = "the request could have an effect there";
        let reads = "only GET and HEAD are repeated elsewhere";
        for status in [301, 302] {
            check(Method::GET, status, "/c", "GET https://a.example/c body secrets");
            check(Method::HEAD, status, "//c.example/", "HEAD https://c.example/ body");
            check(Method::POST, status, "/c", reads);
            check(Method::DELETE, status, "https://c.example/", reads);
        }
        check(Method::POST, 303, "/c", "GET https://a.example/c secrets");
        check(Method::HEAD, 303, "/c", "HEAD https://a.example/c body secrets");
        check(Method::PUT, 303, "https://c.example/c", "GET https://c.example/c");
        for status in [307, 308] {
            check(Method::POST, status, "?d", "POST https://a.example/b?d body secrets");
            check(Method::POST, status, "https://c.example/", effect);
            check(Method::OPTIONS, status, "https://c.example/", "OPTIONS https://c.example/ body");
        }
    }

    #[test]
    fn another_port_or_user_is_another_place() {
        check(Method::GET, 307, "https://a.example:8443/", "GET https://a.example:8443/ body");
        check(Method::GET, 307, "https://a.example:443/", "GET https://a.example/ body secrets");
        check(Method::GET, 302, "https://u:p@a.example/", "GET https://a.example/ body secrets");
        check(Method::GET, 302, "https://a.example@b.example/", "GET https://b.example/ body");
    }

    #[test]
    fn a_redirect_leaves_neither_http_nor_encryption() {
        check(
            Method::GET,
            302,
            "http://a.example/b",
            "it is not encrypted, and the first address was",
        );
        for target in ["file:///etc/passwd", "gopher://a.example/", "data:,x", "ftp://a.example/"] {
            check(Method::GET, 302, target, "it is neither `http` nor `https`");
        }
    }

    #[test]
    fn what_says_no_place_is_the_answer() {
        check(Method::GET, 304, "/c", "answer");
        check(Method::GET, 300, "/c", "answer");
        check(Method::GET, 200, "/c", "answer");
        check(Method::GET, 302, "http://[fe80::1%25eth0]/", "answer");
        check(Method::GET, 302, "http://a.example:99999/", "answer");
    }
}
