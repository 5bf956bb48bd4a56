//! What a request carries besides its arguments, which may not give it a second time: servers take the first of two
//! values, or the last.

use http::HeaderMap;
use http::header::COOKIE;
use percent_encoding::percent_decode_str;
use url::Url;

use super::HttpApi;
use crate::action::Action;
use crate::auth::KeyPart;
use crate::request::{OutgoingRequest, RequestError};

impl HttpApi {
    /// Refuses a request whose arguments, an object with members of the caller's for instance, have the name of a
    /// credential in the query or among the cookies.
    pub(super) fn check_names(
        &self,
        action: &Action,
        base: &Url,
        request: &OutgoingRequest,
    ) -> Result<(), RequestError> {
        let keys = self.settings.sign_in().key_places(action);
        let key_in =
            |part| keys.iter().filter(move |key| key.place == part).map(|key| key.name.clone());
        let given = query_names(&request.url);
        let configured = query_names(base);
        let mut own = configured.iter().cloned().chain(key_in(KeyPart::Query));
        let count =
            |names: &[String], name: &str| names.iter().filter(|own| is_same(own, name)).count();
        if let Some(name) = own.find(|name| count(&given, name) > count(&configured, name)) {
            return Err(RequestError::Credential { name });
        }
        let given = cookie_names(&request.headers);
        let headers = self
            .settings
            .headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case(COOKIE.as_str()));
        let configured = headers.flat_map(|(_, value)| names_of_cookies(value.expose()));
        let mut own = configured.chain(key_in(KeyPart::Cookie));
        match own.find(|name| count(&given, name) > 0) {
            Some(name) => Err(RequestError::Credential { name }),
            None => Ok(()),
        }
    }
}

fn query_names(url: &Url) -> Vec<String> {
    url.query_pairs().map(|(name, _)| name.into_owned()).collect()
}

fn cookie_names(headers: &HeaderMap) -> Vec<String> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies.flat_map(names_of_cookies).collect()
}

fn names_of_cookies(text: &str) -> Vec<String> {
    let name = |pair: &str| Some(decoded(pair.split_once('=')?.0.trim()));
    text.split(';').filter_map(name).collect()
}

/// A name as servers read it that decode cookies.
fn decoded(name: &str) -> String {
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

/// Whether some server takes two names for one: many ignore case, and PHP changes signs and reads brackets.
fn is_same(left: &str, right: &str) -> bool {
    let normal = |name: &str| -> String {
        let bare = name.trim_start().split('[').next().unwrap_or_default();
        let signs = |c: char| if matches!(c, '.' | ' ') { '_' } else { c };
        bare.to_lowercase().chars().map(signs).collect()
    };
    normal(left) == normal(right)
}
