use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderMap};
use http::{HeaderName, HeaderValue, Method};
use reqwest::Url;

/// Which redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// None: the redirect is the answer.
    None,
    /// Those that repeat nothing that may have an effect, and stay on HTTPS where it was used.
    /// Another one is an error. Across origins, credentials and cookies are dropped.
    Follow,
}

/// A request with all that it carries.
#[derive(Clone)]
pub struct HttpRequest {
    pub method: Method,
    pub url: Url,
    /// Headers that may go to any origin. Cookies and authorization among them do not.
    pub headers: HeaderMap,
    /// Headers that go to the URL's own origin alone.
    pub credentials: HeaderMap,
    pub body: Bytes,
    pub redirects: Redirects,
}

impl HttpRequest {
    /// A request without headers and body, for whose answer redirects are followed.
    pub fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            credentials: HeaderMap::new(),
            body: Bytes::new(),
            redirects: Redirects::Follow,
        }
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    #[must_use]
    pub fn redirects(mut self, redirects: Redirects) -> Self {
        self.redirects = redirects;
        self
    }

    /// All headers. A credential replaces a header of the same name.
    pub(crate) fn all_headers(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        let mut credentials = self.credentials.clone();
        credentials.values_mut().for_each(|value| value.set_sensitive(true));
        headers.extend(credentials);
        headers
    }

    /// Moves user name and password of the URL to the credentials, where they are dropped across
    /// origins.
    pub(crate) fn take_user_info(&mut self, authorization: Option<&HeaderValue>) {
        // Both fail only for URLs that cannot have these parts.
        let _ = self.url.set_username("");
        let _ = self.url.set_password(None);
        if let Some(value) = authorization {
            self.credentials.entry(AUTHORIZATION).or_insert_with(|| value.clone());
        }
    }
}
