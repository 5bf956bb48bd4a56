//! What tells one browser from another: a cookie, and where a form was sent from.

use std::time::Duration;

use gatefold_core::{Digest, DrawnToken, PresentedToken, TokenKind, UserId};
use gatefold_identity::{BrowserSession, IssuerSubject, KeepOutcome, PublicUrl};
use http::HeaderMap;
use http::header::{COOKIE, HeaderValue, ORIGIN};

use crate::IssuerError;
use crate::keys::is_same_hash;
use crate::state::IssuerState;

/// How long somebody stays signed in, in a browser.
pub const SESSION_LIFE: Duration = Duration::from_secs(8 * 60 * 60);

/// How long a browser may be away at a provider.
pub const VISIT_LIFE: Duration = Duration::from_secs(10 * 60);

/// Browsers take a cookie of such a name only over TLS, for this host alone and all of its paths.
const SECURE_COOKIE: &str = "__Host-gatefold";
/// The same for a gateway below a path, whose neighbours are other applications: over TLS, for its paths alone.
const SECURE_PATH_COOKIE: &str = "__Secure-gatefold";
/// On this machine without TLS.
const PLAIN_COOKIE: &str = "gatefold";
/// The same for a browser that is away at a provider. Browsers send such cookies along when another site
/// leads them here (`SameSite=Lax`), as the provider does.
const SECURE_VISIT_COOKIE: &str = "__Host-gatefold-visit";
const SECURE_PATH_VISIT_COOKIE: &str = "__Secure-gatefold-visit";
const PLAIN_VISIT_COOKIE: &str = "gatefold-visit";

/// Where a request comes from, as browsers say it. Pages cannot set it.
const FETCH_SITE: &str = "sec-fetch-site";

impl IssuerState {
    /// The session of the browser that sends a request.
    pub(crate) async fn session(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<BrowserSession>, IssuerError> {
        let name = cookie_name(&self.settings.public_url);
        let Some(presented) = cookie(headers, TokenKind::Browser, name) else { return Ok(None) };
        let session = self.store.session(&presented.id, self.clock.now()).await;
        let session = session.map_err(IssuerError::Store)?;
        let now = self.clock.now();
        let is_good = |it: &BrowserSession| {
            is_same_hash(&it.hash, &presented.hash)
                && it.expires_at > now
                && self.admits(&it.user, it.provided.as_ref())
        };
        Ok(session.filter(is_good))
    }

    /// Tells a browser from others that is sent to a provider. Returns the hash of its cookie, and the
    /// cookie; several pages of one browser may be away at once.
    pub(crate) fn visitor(
        &self,
        headers: &HeaderMap,
    ) -> Result<(Digest, HeaderValue), IssuerError> {
        let public = &self.settings.public_url;
        let known = cookie_text(headers, visit_cookie_name(public));
        let known = known.and_then(|text| Some((visitor_hash(text)?, text.to_owned())));
        let (hash, text) = if let Some(known) = known {
            known
        } else {
            let drawn = DrawnToken::draw(TokenKind::Visit).map_err(IssuerError::Random)?;
            (drawn.hash, drawn.text.expose().to_owned())
        };
        let more = format!("; Max-Age={}", VISIT_LIFE.as_secs());
        Ok((hash, set_cookie(visit_cookie_name(public), public, &text, &more)))
    }

    /// The hash of the cookie of a browser that is back.
    pub(crate) fn returned_visitor(&self, headers: &HeaderMap) -> Option<Digest> {
        let text = cookie_text(headers, visit_cookie_name(&self.settings.public_url));
        text.and_then(visitor_hash)
    }

    /// Begins a session, instead of the one that the browser may have had. Returns its cookie.
    pub(crate) async fn begin_session(
        &self,
        headers: &HeaderMap,
        user: UserId,
        provided: Option<IssuerSubject>,
    ) -> Result<HeaderValue, IssuerError> {
        if let Some(former) = self.session(headers).await? {
            self.store.close_session(&former.id).await.map_err(IssuerError::Store)?;
        }
        let drawn = DrawnToken::draw(TokenKind::Browser).map_err(IssuerError::Random)?;
        let (public, expires_at) = (&self.settings.public_url, self.clock.now().plus(SESSION_LIFE));
        let session = BrowserSession { id: drawn.id, hash: drawn.hash, user, provided, expires_at };
        match self
            .store
            .open_session(session, self.clock.now())
            .await
            .map_err(IssuerError::Store)?
        {
            KeepOutcome::Kept => Ok(session_cookie(public, drawn.text.expose(), "")),
            KeepOutcome::Full | KeepOutcome::Refused => Err(IssuerError::Busy),
        }
    }

    /// Ends the browser's session. Returns a cookie that removes the one it has.
    pub(crate) async fn end_session(
        &self,
        session: &BrowserSession,
    ) -> Result<HeaderValue, IssuerError> {
        self.store.close_session(&session.id).await.map_err(IssuerError::Store)?;
        Ok(session_cookie(&self.settings.public_url, "", "; Max-Age=0"))
    }
}

/// Whether a form was sent by a page of ours. Browsers name the origin with every form.
pub(crate) fn is_own_form(headers: &HeaderMap, public: &PublicUrl) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    let is_own =
        origins.next().is_some_and(|origin| origin.as_bytes() == public.origin().as_bytes());
    let is_sole = origins.next().is_none();
    let site = headers.get(FETCH_SITE);
    is_own && is_sole && site.is_none_or(|site| site.as_bytes() == b"same-origin")
}

fn cookie_name(public: &PublicUrl) -> &'static str {
    name_of(public, SECURE_COOKIE, SECURE_PATH_COOKIE, PLAIN_COOKIE)
}

fn visit_cookie_name(public: &PublicUrl) -> &'static str {
    name_of(public, SECURE_VISIT_COOKIE, SECURE_PATH_VISIT_COOKIE, PLAIN_VISIT_COOKIE)
}

fn name_of(
    public: &PublicUrl,
    secure: &'static str,
    secure_path: &'static str,
    plain: &'static str,
) -> &'static str {
    match (public.is_secure(), public.path()) {
        (true, "") => secure,
        (true, _) => secure_path,
        (false, _) => plain,
    }
}

fn visitor_hash(text: &str) -> Option<Digest> {
    Some(PresentedToken::read_as(TokenKind::Visit, text)?.hash)
}

fn cookie(headers: &HeaderMap, kind: TokenKind, name: &str) -> Option<PresentedToken> {
    PresentedToken::read_as(kind, cookie_text(headers, name)?)
}

/// A cookie. Two of a name are none: one was put there by somebody else.
fn cookie_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.split_once('='));
    let mut found = pairs.filter(|(own, _)| own.trim() == name).map(|(_, value)| value.trim());
    let value = found.next()?;
    found.next().is_none().then_some(value)
}

fn session_cookie(public: &PublicUrl, value: &str, more: &str) -> HeaderValue {
    set_cookie(cookie_name(public), public, value, more)
}

fn set_cookie(name: &str, public: &PublicUrl, value: &str, more: &str) -> HeaderValue {
    let secure = if public.is_secure() { "; Secure" } else { "" };
    let path = if public.path().is_empty() { "/" } else { public.path() };
    let text = format!("{name}={value}; Path={path}; HttpOnly; SameSite=Lax{secure}{more}");
    HeaderValue::try_from(text).expect("it is ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_cookie_goes_only_where_it_should() {
        let secure = PublicUrl::parse("https://tools.example.com").unwrap();
        let plain = PublicUrl::parse("http://127.0.0.1:8420").unwrap();
        assert_eq!(
            session_cookie(&secure, "x", ""),
            "__Host-gatefold=x; Path=/; HttpOnly; SameSite=Lax; Secure"
        );
        assert_eq!(session_cookie(&plain, "x", ""), "gatefold=x; Path=/; HttpOnly; SameSite=Lax");
        let below = PublicUrl::parse("https://tools.example.com/gate/").unwrap();
        assert_eq!(
            session_cookie(&below, "x", ""),
            "__Secure-gatefold=x; Path=/gate; HttpOnly; SameSite=Lax; Secure"
        );
    }

    #[test]
    fn a_second_cookie_makes_the_first_none() {
        let drawn = DrawnToken::draw(TokenKind::Browser).unwrap();
        let text = drawn.text.expose();
        let one = format!("other=1; gatefold={text}");
        let read = |sent: &[(&'static str, &str)], name: &str| {
            cookie(&headers(sent), TokenKind::Browser, name)
        };
        let found = read(&[("cookie", &one)], "gatefold").unwrap();
        assert_eq!(found.hash, drawn.hash);
        let twice = [("cookie", &*one), ("cookie", "gatefold=x")];
        assert_eq!(read(&twice, "gatefold"), None);
        assert_eq!(read(&[("cookie", &one)], "__Host-gatefold"), None);
        let code = DrawnToken::draw(TokenKind::Code).unwrap();
        let other_kind = format!("gatefold={}", code.text.expose());
        assert_eq!(read(&[("cookie", &other_kind)], "gatefold"), None);
    }

    #[test]
    fn a_form_comes_from_a_page_of_ours() {
        let public = PublicUrl::parse("https://tools.example.com").unwrap();
        let own = ("origin", "https://tools.example.com");
        for (sent, expected) in [
            (&[own][..], true),
            (&[own, ("sec-fetch-site", "same-origin")], true),
            (&[own, ("sec-fetch-site", "cross-site")], false),
            (&[own, ("sec-fetch-site", "same-site")], false),
            (&[], false),
            (&[("origin", "null")], false),
            (&[("origin", "https://evil.example")], false),
            (&[("origin", "http://tools.example.com")], false),
            (&[("origin", "https://tools.example.com.evil.example")], false),
            (&[own, ("origin", "https://evil.example")], false),
        ] {
            assert_eq!(is_own_form(&headers(sent), &public), expected, "{sent:?}");
        }
    }
}
