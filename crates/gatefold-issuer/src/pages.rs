//! The pages that people see: plain HTML, one style, no scripts.

use std::fmt::{self, Write as _};
use std::sync::LazyLock;

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatefold_core::UserId;
use gatefold_identity::PublicUrl;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{Response, StatusCode};
use sha2::{Digest as _, Sha256};

use crate::authorization::AuthorizationRequest;
use crate::passwords::{PASSWORD_BYTES, PASSWORD_CHARS};
use crate::settings::{IssuerSettings, PasswordSignIn};

const STYLE: &str = include_str!("pages.css");

/// The one style that the pages may have, in the words of a content security policy.
static STYLE_SOURCE: LazyLock<String> =
    LazyLock::new(|| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(STYLE))));

/// A page to be sent.
pub(crate) struct Page {
    status: StatusCode,
    title: &'static str,
    body: String,
    /// Where its form may lead besides here. Browsers also ask that of the redirect that answers it.
    form_target: Option<String>,
    /// Where the browser goes on to by itself.
    onward: Option<String>,
}

/// Text in HTML, between tags or in a quoted attribute.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

impl Page {
    fn new(status: StatusCode, title: &'static str, body: String) -> Self {
        Self { status, title, body, form_target: None, onward: None }
    }

    /// Says what went wrong, and leads nowhere.
    pub(crate) fn fault(status: StatusCode, text: &str) -> Self {
        let body = format!(
            "<p class=\"fault\">{}</p><p>Go back to the program that sent you here, and begin anew.</p>",
            Escaped(text)
        );
        Self::new(status, "This does not work", body)
    }

    pub(crate) fn sign_in(
        settings: &IssuerSettings,
        request: &str,
        fault: Option<(StatusCode, &str)>,
    ) -> Self {
        let (status, text) = fault.unwrap_or((StatusCode::OK, ""));
        let (request, path) = (Escaped(request), settings.public_url.path());
        let provider =
            settings.provider.as_ref().map(|own| provider_form(path, own.name(), &request));
        let password =
            (settings.password == PasswordSignIn::On).then(|| password_form(path, &request));
        let body = format!(
            "<p>to <code>{host}</code></p>{fault}{}{}",
            provider.unwrap_or_default(),
            password.unwrap_or_default(),
            host = Escaped(host(&settings.public_url)),
            fault = fault_line(text),
        );
        Self::new(status, "Sign in", body)
    }

    /// Sends a browser on to a provider. A form cannot: browsers ask of every redirect that follows it
    /// whether the page with the form allows it, and where a provider sends people on to is its own
    /// business.
    pub(crate) fn onward(name: &str, address: String) -> Self {
        let body = format!(
            "<p>You sign in at <strong>{}</strong>, and come back.</p><p><a href=\"{}\">Go on</a></p>",
            Escaped(name),
            Escaped(&address),
        );
        let page = Self::new(StatusCode::OK, "Sign in", body);
        Self { onward: Some(address), ..page }
    }

    /// Asks whether a client may come in. `seal` and `leave_seal` show that the answer is to this page.
    pub(crate) fn consent(
        public: &PublicUrl,
        asked: &AuthorizationRequest,
        user: &UserId,
        request: &str,
        seal: &str,
        leave_seal: &str,
    ) -> Self {
        let name = Escaped(&asked.client.name);
        let who = match &asked.client.host {
            Some(host) => {
                format!("<strong>{name}</strong> of <code>{}</code> wants", Escaped(host))
            }
            None => format!(
                "A program that calls itself <strong>{name}</strong> (nobody has checked that name) \
                 wants"
            ),
        };
        let (kind, part) = asked.resource.shown();
        let part = part.map(|part| format!(" <code>{}</code>", Escaped(part))).unwrap_or_default();
        let place = if asked.redirect.is_on_this_machine() {
            "to a program on the computer that you are looking at"
        } else {
            "to this site"
        };
        let reading = if asked.scopes.is_read_only() {
            "<p>It asks for tools that only read.</p>"
        } else {
            "<label><input type=\"checkbox\" name=\"read_only\" value=\"on\"> Let it use only tools \
             that read</label>"
        };
        let body = format!(
            "<p>{who} to use <code>{here}</code> for you, <strong>{user}</strong>: {kind}{part}.</p>\
             <p class=\"to\">You go back to <strong>{to}</strong>, {place}. Whoever is there gets the \
             access. Allow it only if you have just begun this yourself.</p>\
             <form method=\"post\" action=\"{path}/oauth/consent\">\
             <input type=\"hidden\" name=\"request\" value=\"{request}\">\
             <input type=\"hidden\" name=\"seal\" value=\"{seal}\">{reading}\
             <button class=\"go\" name=\"decision\" value=\"allow\">Allow</button>\
             <button name=\"decision\" value=\"deny\">Do not allow</button></form>\
             <form method=\"post\" action=\"{path}/oauth/sign-out\">\
             <input type=\"hidden\" name=\"request\" value=\"{request}\">\
             <input type=\"hidden\" name=\"seal\" value=\"{leave_seal}\">\
             <small>You are not {user}? <button class=\"plain\">Sign in as somebody else</button></small>\
             </form>",
            path = public.path(),
            here = Escaped(host(public)),
            user = Escaped(user.as_str()),
            to = Escaped(asked.redirect.shown_host()),
            request = Escaped(request),
        );
        let page = Self::new(StatusCode::OK, "Let a program in?", body);
        Self { form_target: Some(asked.redirect.form_target()), ..page }
    }

    pub(crate) fn password(
        public: &PublicUrl,
        user: &UserId,
        link: &str,
        fault: Option<&str>,
    ) -> Self {
        let path = public.path();
        let status = if fault.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        let body = format!(
            "<p>for <strong>{user}</strong></p>{fault}<form method=\"post\" action=\"{path}/oauth/password\">\
             <input type=\"hidden\" name=\"link\" value=\"{link}\">\
             <input type=\"hidden\" autocomplete=\"username\" value=\"{user}\">\
             <label>New password, at least {PASSWORD_CHARS} characters <input type=\"password\" \
             name=\"password\" autocomplete=\"new-password\" minlength=\"{PASSWORD_CHARS}\" \
             maxlength=\"{PASSWORD_BYTES}\" required autofocus></label>\
             <label>The same again <input type=\"password\" name=\"again\" \
             autocomplete=\"new-password\" maxlength=\"{PASSWORD_BYTES}\" required></label>\
             <button class=\"go\">Set password</button></form>",
            user = Escaped(user.as_str()),
            fault = fault_line(fault.unwrap_or_default()),
            link = Escaped(link),
        );
        Self::new(status, "Set a password", body)
    }

    pub(crate) fn password_is_set(user: &UserId) -> Self {
        let user = Escaped(user.as_str());
        let body = format!(
            "<p>From now on, sign in as <strong>{user}</strong> with it when a program sends you here. \
             The link is used up.</p>"
        );
        Self::new(StatusCode::OK, "The password is set", body)
    }

    pub(crate) fn response(self) -> Response<Body> {
        let Self { status, title, body, form_target, onward } = self;
        let onward = onward.map(|address| {
            format!("<meta http-equiv=\"refresh\" content=\"0;url={}\">", Escaped(&address))
        });
        let onward = onward.unwrap_or_default();
        let html = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\">{onward}<title>{title} - Gatefold</title>\
             <style>{STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>"
        );
        let target = form_target.map(|target| format!(" {target}")).unwrap_or_default();
        let policy = format!(
            "default-src 'none'; style-src {}; form-action 'self'{target}; frame-ancestors 'none'; \
             base-uri 'none'",
            *STYLE_SOURCE
        );
        let mut response = Response::new(Body::from(html));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        let fixed = HeaderValue::from_static;
        headers.insert(CONTENT_TYPE, fixed("text/html; charset=utf-8"));
        headers.insert(CACHE_CONTROL, fixed("no-store"));
        headers.insert(X_FRAME_OPTIONS, fixed("DENY"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, fixed("nosniff"));
        // Nothing of an address leaves this origin. With `no-referrer`, browsers would also hide
        // from us that a form is ours.
        headers.insert(REFERRER_POLICY, fixed("same-origin"));
        let policy = HeaderValue::try_from(policy).expect("targets of forms are plain ASCII");
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        response
    }
}

fn provider_form(path: &str, name: &str, request: &Escaped<'_>) -> String {
    let name = Escaped(name);
    format!(
        "<form method=\"post\" action=\"{path}/oauth/provider\">\
         <input type=\"hidden\" name=\"request\" value=\"{request}\">\
         <button class=\"go\">Sign in with {name}</button>\
         <button class=\"plain\" name=\"account\" value=\"another\">Use another account</button>\
         </form>"
    )
}

fn password_form(path: &str, request: &Escaped<'_>) -> String {
    format!(
        "<form method=\"post\" action=\"{path}/oauth/sign-in\">\
         <input type=\"hidden\" name=\"request\" value=\"{request}\">\
         <label>Name <input type=\"text\" name=\"user\" autocomplete=\"username\" \
         autocapitalize=\"none\" spellcheck=\"false\" maxlength=\"128\" required autofocus></label>\
         <label>Password <input type=\"password\" name=\"password\" \
         autocomplete=\"current-password\" maxlength=\"{PASSWORD_BYTES}\" required></label>\
         <button class=\"go\">Sign in</button></form>\
         <small>No password yet? Whoever runs this gateway can make you a link to set one.</small>"
    )
}

fn fault_line(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("<p class=\"fault\">{}</p>", Escaped(text)),
    }
}

/// The address without its scheme.
fn host(public: &PublicUrl) -> &str {
    public.as_str().split_once("://").map_or(public.as_str(), |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_shown_becomes_html() {
        let text = Escaped("<b a='1' c=\"2\">&amp;").to_string();
        assert_eq!(text, "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;");
    }
}
