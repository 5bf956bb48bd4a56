//! Values for the schemes that a description names, and which of the ways to sign in a request uses.

use std::collections::BTreeMap;

use gatefold_core::Secret;
use gatefold_secrecy::SecretValues;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use url::Url;

use super::{Auth, AuthError, KeyPart, KeyPlace, basic, form_encoded, insert, put_key};
use crate::action::{Action, SecurityRequirement, SecurityScheme};

/// What a source signs in with, where a description names the scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemeCredential {
    /// A key, or the token of a scheme of the header `Authorization`.
    Text(Secret),
    User {
        username: String,
        password: Secret,
    },
}

/// Credentials by the names that a description gives its schemes.
pub type SchemeCredentials = BTreeMap<String, SchemeCredential>;

/// All that a source has to sign in with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignIn<'a> {
    /// For schemes without a credential of their own.
    pub(crate) auth: Option<&'a Auth>,
    pub(crate) schemes: &'a SchemeCredentials,
    /// The headers that every request carries.
    pub(crate) headers: &'a [(String, Secret)],
    /// The address that every request begins with.
    pub(crate) base: Option<&'a Url>,
    pub(crate) has_certificate: bool,
}

impl SchemeCredential {
    pub(crate) fn collect_secrets(&self, values: &mut SecretValues) {
        match self {
            Self::Text(text) => {
                values.add(text.expose());
                // As a query has it.
                values.add(&form_encoded(text.expose()));
                if let Some((username, password)) = user_of(text) {
                    values.add(password);
                    values.add(&basic(username, &Secret::new(password)));
                }
            }
            Self::User { username, password } => {
                values.add(password.expose());
                values.add(&basic(username, password));
            }
        }
    }

    fn fits(&self, scheme: &SecurityScheme) -> bool {
        match (self, scheme) {
            (Self::Text(text), SecurityScheme::Basic) => user_of(text).is_some(),
            (Self::Text(_), scheme) => *scheme != SecurityScheme::MutualTls,
            (Self::User { .. }, scheme) => *scheme == SecurityScheme::Basic,
        }
    }

    /// Puts it where its scheme wants it.
    fn apply(
        &self,
        scheme: &SecurityScheme,
        url: &mut Url,
        headers: &mut HeaderMap,
    ) -> Result<(), AuthError> {
        let value = match (self, scheme) {
            (Self::Text(text), SecurityScheme::Basic) => match user_of(text) {
                Some((username, password)) => {
                    format!("Basic {}", basic(username, &Secret::new(password)))
                }
                None => return Ok(()),
            },
            (Self::User { username, password }, _) => {
                format!("Basic {}", basic(username, password))
            }
            (Self::Text(text), SecurityScheme::Bearer) => format!("Bearer {}", text.expose()),
            (Self::Text(text), SecurityScheme::Other(name)) => {
                format!("{name} {}", text.expose())
            }
            (Self::Text(text), scheme) => {
                return match KeyPlace::of(scheme) {
                    Some(place) => put_key(&place, text, url, headers),
                    None => Ok(()),
                };
            }
        };
        insert(headers, AUTHORIZATION, &value)
    }
}

impl<'a> SignIn<'a> {
    /// Adds the credentials of one way to sign in to a request: of the first for which all are there, else of the
    /// one that lacks the fewest. What an operation does not ask for stays away from it.
    pub(crate) fn apply(
        &self,
        action: &Action,
        token: Option<&Secret>,
        url: &mut Url,
        headers: &mut HeaderMap,
    ) -> Result<(), AuthError> {
        if self.uses_auth(action)
            && let Some(auth) = self.auth
        {
            auth.apply(action, token, url, headers)?;
        }
        let way = self.way(action).into_iter().flatten();
        for (scheme, own) in
            way.filter_map(|(name, scheme)| Some((scheme, self.own(name, scheme)?)))
        {
            own.apply(scheme, url, headers)?;
        }
        Ok(())
    }

    /// Whether an operation is signed in by what is not for one scheme alone.
    pub(crate) fn uses_auth(&self, action: &Action) -> bool {
        let Some(auth) = self.auth.filter(|_| !action.is_free()) else { return false };
        // It is all that there is, and descriptions are often wrong about how it is sent.
        let is_alone = self.schemes.is_empty() || action.security.is_none();
        let is_for = |(name, scheme): (&String, &SecurityScheme)| {
            self.own(name, scheme).is_none() && auth.fits(scheme)
        };
        is_alone || self.way(action).into_iter().flatten().any(is_for)
    }

    /// Where the keys of an operation are.
    pub(crate) fn key_places(&self, action: &Action) -> Vec<KeyPlace> {
        let of_auth = self.auth.filter(|_| self.uses_auth(action));
        let of_auth = of_auth.and_then(|auth| auth.key_place(action));
        let way = self.way(action).into_iter().flatten();
        let own = way.filter(|(name, scheme)| self.own(name, scheme).is_some());
        of_auth.into_iter().chain(own.filter_map(|(_, scheme)| KeyPlace::of(scheme))).collect()
    }

    /// The schemes for which nothing is there, by their names, where these are the ways to sign in.
    pub(crate) fn missing<'s>(
        &self,
        ways: &'s [SecurityRequirement],
    ) -> impl Iterator<Item = (&'s String, &'s SecurityScheme)> {
        let way = self.best_of(ways).into_iter().flatten();
        way.filter(|(name, scheme)| !self.has(name, scheme))
    }

    /// The way that an operation is signed in, if its description names any.
    fn way<'s>(&self, action: &'s Action) -> Option<&'s SecurityRequirement> {
        self.best_of(action.security.as_deref()?)
    }

    fn best_of<'s>(&self, ways: &'s [SecurityRequirement]) -> Option<&'s SecurityRequirement> {
        let rank = |way: &&SecurityRequirement| {
            let known = way.iter().filter(|(name, scheme)| self.has(name, scheme)).count();
            let is_whole = known == way.len();
            // A way without credentials is better than half of another one.
            (!is_whole, way.is_empty(), way.len() - known)
        };
        ways.iter().min_by_key(rank)
    }

    fn has(&self, name: &str, scheme: &SecurityScheme) -> bool {
        self.own(name, scheme).is_some()
            || self.auth.is_some_and(|auth| auth.fits(scheme))
            || self.is_carried(scheme)
    }

    fn own(&self, name: &str, scheme: &SecurityScheme) -> Option<&'a SchemeCredential> {
        self.schemes.get(name).filter(|own| own.fits(scheme))
    }

    /// Whether every request carries it anyway.
    fn is_carried(&self, scheme: &SecurityScheme) -> bool {
        let has_header =
            |name: &str| self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        match KeyPlace::of(scheme) {
            None if *scheme == SecurityScheme::MutualTls => self.has_certificate,
            None => has_header(AUTHORIZATION.as_str()),
            Some(KeyPlace { place: KeyPart::Header, name }) => has_header(&name),
            Some(KeyPlace { place: KeyPart::Query, name }) => {
                let mut pairs = self.base.into_iter().flat_map(Url::query_pairs);
                pairs.any(|(own, _)| own == name)
            }
            Some(KeyPlace { place: KeyPart::Cookie, .. }) => has_header("cookie"),
        }
    }
}

/// `user:password` (RFC 7617).
fn user_of(text: &Secret) -> Option<(&str, &str)> {
    text.expose().split_once(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAYS: &str = r#"{
        "apiKey": {"key":{"in":"header","name":"X-Api-Key"}},
        "appKey": {"key":{"in":"header","name":"X-Application-Key","is_further":true}},
        "tenant": {"key":{"in":"query","name":"tenant_key","is_further":true}},
        "session": {"key":{"in":"cookie","name":"sid","is_further":true}},
        "second": {"key":{"in":"cookie","name":"more","is_further":true}},
        "user": "basic", "bearer": "bearer", "cert": "mutual_tls", "token": {"other":"Token"}
    }"#;

    /// An operation with these ways: schemes of one are joined by `+`.
    fn action(ways: &[&str]) -> Action {
        let all: SecurityRequirement = serde_json::from_str(WAYS).unwrap();
        let way = |way: &&str| -> SecurityRequirement {
            let names = way.split('+').filter(|name| !name.is_empty());
            names.map(|name| (name.to_owned(), all[name].clone())).collect()
        };
        let ways: Vec<_> = ways.iter().map(way).collect();
        let json = serde_json::json!({ "method": "GET", "path": "/", "security": ways });
        serde_json::from_value(json).unwrap()
    }

    fn sign_in<'a>(auth: Option<&'a Auth>, schemes: &'a SchemeCredentials) -> SignIn<'a> {
        SignIn { auth, schemes, headers: &[], base: None, has_certificate: false }
    }

    fn credentials(pairs: &[(&str, &str)]) -> SchemeCredentials {
        let text = |(name, text): &(&str, &str)| {
            ((*name).to_owned(), SchemeCredential::Text(Secret::new(*text)))
        };
        pairs.iter().map(text).collect()
    }

    /// What a request carries, and the schemes for which nothing is there.
    fn signed(own: SignIn<'_>, ways: &[&str]) -> (String, String) {
        let (mut url, mut headers) = (Url::parse("http://a.example/").unwrap(), HeaderMap::new());
        let action = action(ways);
        own.apply(&action, None, &mut url, &mut headers).unwrap();
        let mut carried: Vec<_> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .chain(url.query().map(|query| format!("?{query}")))
            .collect();
        carried.sort();
        let missing: Vec<_> = own
            .missing(action.security.as_deref().unwrap_or_default())
            .map(|(name, _)| name.as_str())
            .collect();
        (carried.join(", "), missing.join(", "))
    }

    #[test]
    fn each_scheme_gets_its_own_value_and_one_way_is_enough() {
        let schemes = credentials(&[
            ("apiKey", "A"),
            ("appKey", "B"),
            ("tenant", "K"),
            ("session", "S"),
            ("second", "M"),
            ("bearer", "T"),
            ("token", "O"),
            ("user", "me:pw"),
        ]);
        for (ways, expected) in [
            (&["apiKey+appKey"][..], "x-api-key: A, x-application-key: B"),
            (&["bearer+tenant"], "?tenant_key=K, authorization: Bearer T"),
            (&["user+appKey"], "authorization: Basic bWU6cHc=, x-application-key: B"),
            (&["session+second+appKey"], "cookie: more=M; sid=S, x-application-key: B"),
            (&["token"], "authorization: Token O"),
            (&["bearer", "apiKey+appKey"], "authorization: Bearer T"),
            (&["", "apiKey"], "x-api-key: A"),
            (&["cert", "apiKey"], "x-api-key: A"),
            (&["appKey"], "x-application-key: B"),
            (&[], ""),
        ] {
            let found = signed(sign_in(None, &schemes), ways);
            assert_eq!(found, (expected.to_owned(), String::new()), "{ways:?}");
        }
    }

    #[test]
    fn a_way_for_which_all_is_there_comes_first_and_what_is_missing_is_named() {
        let schemes = credentials(&[("apiKey", "A"), ("user", "no colon")]);
        for (ways, expected, missing) in [
            (&["bearer", "apiKey"][..], "x-api-key: A", ""),
            (&["bearer+tenant", "apiKey+appKey"], "x-api-key: A", "appKey"),
            (&["apiKey+appKey", ""], "", ""),
            (&["appKey"], "", "appKey"),
            (&["user"], "", "user"),
        ] {
            let found = signed(sign_in(None, &schemes), ways);
            assert_eq!(found, (expected.to_owned(), missing.to_owned()), "{ways:?}");
        }
    }

    #[test]
    fn the_way_of_the_configuration_is_for_schemes_without_a_value_of_their_own() {
        let bearer = Auth::Bearer(Secret::new("T"));
        let key = Auth::ApiKey { key: Secret::new("A"), place: None };
        let schemes = credentials(&[("appKey", "B")]);
        for (auth, ways, expected, missing) in [
            (&bearer, &["bearer+appKey"][..], "authorization: Bearer T, x-application-key: B", ""),
            (&bearer, &["appKey"], "x-application-key: B", ""),
            (&bearer, &["apiKey+appKey"], "x-application-key: B", "apiKey"),
            (&key, &["apiKey+appKey"], "x-api-key: A, x-application-key: B", ""),
            (&key, &["tenant"], "", "tenant"),
        ] {
            let found = signed(sign_in(Some(auth), &schemes), ways);
            assert_eq!(found, (expected.to_owned(), missing.to_owned()), "{auth:?} {ways:?}");
        }
        // Alone it is sent whatever the description says: that is often wrong.
        let none = SchemeCredentials::new();
        let found = signed(sign_in(Some(&bearer), &none), &["apiKey"]);
        assert_eq!(found, ("authorization: Bearer T".to_owned(), "apiKey".to_owned()));
    }

    #[test]
    fn what_every_request_carries_is_not_missing() {
        let none = SchemeCredentials::new();
        let headers = [("x-application-KEY".to_owned(), Secret::new("B"))];
        let base = Url::parse("http://a.example/?tenant_key=K").unwrap();
        let own = SignIn {
            headers: &headers,
            base: Some(&base),
            has_certificate: true,
            ..sign_in(None, &none)
        };
        let action = action(&["appKey+tenant+cert+bearer"]);
        let missing: Vec<_> = own
            .missing(action.security.as_deref().unwrap_or_default())
            .map(|(name, _)| name)
            .collect();
        assert_eq!(missing, ["bearer"]);
    }
}
