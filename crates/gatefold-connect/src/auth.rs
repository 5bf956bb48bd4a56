//! How a source signs in at its API.

use gatefold_core::Secret;
use gatefold_secrecy::SecretValues;
use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::action::{Action, ParameterPlace, SecurityScheme};

mod client_credentials;
mod schemes;

pub use client_credentials::ClientCredentials;
pub(crate) use client_credentials::TokenError;
use client_credentials::form_encoded;
pub(crate) use schemes::SignIn;
pub use schemes::{SchemeCredential, SchemeCredentials};

/// How a source signs in at its API, as its configuration says.
#[derive(Debug)]
pub enum Auth {
    Bearer(Secret),
    Basic {
        username: String,
        password: Secret,
    },
    /// A key, and where it goes. Without a place it goes where the API's description says.
    ApiKey {
        key: Secret,
        place: Option<KeyPlace>,
    },
    ClientCredentials(Box<ClientCredentials>),
    /// A person's sign-in, which the port for credentials gives.
    SignedIn,
}

/// Where an API expects its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPlace {
    pub place: KeyPart,
    pub name: String,
}

/// The parts of a request that a key may be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPart {
    Header,
    Query,
    Cookie,
}

/// Why a request could not be given its credentials. Nothing was sent to the API.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error(
        "its description does not say where the API key goes; set `in` and `name` beside `api_key`"
    )]
    NoPlace,
    #[error("the credential in its configuration has characters that no {0} may have")]
    Illegal(&'static str),
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl Auth {
    /// What a call was signed with, in the words of a message.
    pub(crate) fn told(&self) -> &'static str {
        match self {
            Self::Bearer(_) => "it was called with the bearer token of its configuration",
            Self::Basic { .. } => "it was called with the user name of its configuration",
            Self::ApiKey { .. } => "it was called with the API key of its configuration",
            Self::ClientCredentials(_) => "it was called with a token for its client credentials",
            Self::SignedIn => "it was called with the token of a sign-in",
        }
    }

    /// Adds its secrets to those that are masked in what the API says.
    pub fn collect_secrets(&self, values: &mut SecretValues) {
        match self {
            Self::Bearer(secret) => values.add(secret.expose()),
            Self::ApiKey { key, .. } => {
                values.add(key.expose());
                // As a query has it.
                values.add(&form_encoded(key.expose()));
            }
            Self::Basic { username, password } => {
                values.add(password.expose());
                values.add(&basic(username, password));
            }
            Self::ClientCredentials(own) => {
                values.add(own.client_secret.expose());
                values.add(own.encoded_secret().expose());
            }
            // Its tokens are known when a call has them.
            Self::SignedIn => {}
        }
    }

    /// Adds the credentials to a request: to its URL, or to the headers, which must not go to another
    /// origin. An operation that needs none gets none.
    pub fn apply(
        &self,
        action: &Action,
        token: Option<&Secret>,
        url: &mut Url,
        headers: &mut HeaderMap,
    ) -> Result<(), AuthError> {
        if action.is_free() {
            return Ok(());
        }
        match (self, token) {
            (Self::Bearer(token), _) | (Self::ClientCredentials(_), Some(token)) => {
                let value = format!("Bearer {}", token.expose());
                insert(headers, AUTHORIZATION, &value)
            }
            (Self::ClientCredentials(_), None) | (Self::SignedIn, _) => Ok(()),
            (Self::Basic { username, password }, _) => {
                insert(headers, AUTHORIZATION, &format!("Basic {}", basic(username, password)))
            }
            (Self::ApiKey { key, .. }, _) => match self.key_place(action) {
                Some(place) => put_key(&place, key, url, headers),
                // It wants another key than the one that is configured.
                None if action.schemes().any(SecurityScheme::is_key) => Ok(()),
                None => Err(AuthError::NoPlace),
            },
        }
    }

    /// Where an operation takes the API key of the configuration, if it does.
    pub(crate) fn key_place(&self, action: &Action) -> Option<KeyPlace> {
        let Self::ApiKey { place, .. } = self else { return None };
        let described =
            || action.schemes().filter(|scheme| self.fits(scheme)).find_map(KeyPlace::of);
        place.clone().or_else(described).filter(|_| !action.is_free())
    }

    /// Whether it is what a scheme asks for.
    fn fits(&self, scheme: &SecurityScheme) -> bool {
        match (self, scheme) {
            (Self::ApiKey { place: None, .. }, SecurityScheme::Key { is_further, .. }) => {
                !is_further
            }
            (Self::ApiKey { place: Some(own), .. }, _) => {
                KeyPlace::of(scheme).is_some_and(|place| own.is_same(&place))
            }
            (Self::Basic { .. }, SecurityScheme::Basic)
            | (
                Self::Bearer(_) | Self::ClientCredentials(_) | Self::SignedIn,
                SecurityScheme::Bearer | SecurityScheme::Other(_),
            ) => true,
            (Self::ApiKey { .. }, _) => false,
            // Many describe their tokens as a key in this header.
            (_, scheme) => KeyPlace::of(scheme).is_some_and(|place| place.is_authorization()),
        }
    }
}

impl KeyPlace {
    /// Where a scheme has a key.
    fn of(scheme: &SecurityScheme) -> Option<Self> {
        let SecurityScheme::Key { place, name, .. } = scheme else { return None };
        let place = match place {
            ParameterPlace::Header => KeyPart::Header,
            ParameterPlace::Query => KeyPart::Query,
            ParameterPlace::Cookie => KeyPart::Cookie,
            ParameterPlace::Path | ParameterPlace::QueryString => return None,
        };
        Some(Self { place, name: name.clone() })
    }

    fn is_same(&self, other: &Self) -> bool {
        let is_header = self.place == KeyPart::Header;
        self.place == other.place
            && (self.name == other.name || is_header && self.name.eq_ignore_ascii_case(&other.name))
    }

    fn is_authorization(&self) -> bool {
        self.place == KeyPart::Header && self.name.eq_ignore_ascii_case(AUTHORIZATION.as_str())
    }
}

fn put_key(
    KeyPlace { place, name }: &KeyPlace,
    key: &Secret,
    url: &mut Url,
    headers: &mut HeaderMap,
) -> Result<(), AuthError> {
    match place {
        KeyPart::Header => {
            let name = HeaderName::try_from(name).map_err(|_| AuthError::Illegal("header"))?;
            insert(headers, name, key.expose())
        }
        KeyPart::Query => {
            url.query_pairs_mut().append_pair(name, key.expose());
            Ok(())
        }
        KeyPart::Cookie => {
            let is_legal = |text: &str| {
                !text.contains(|c: char| c.is_ascii_control() || matches!(c, ';' | ',' | ' ' | '"'))
            };
            if !is_legal(name) || !is_legal(key.expose()) {
                return Err(AuthError::Illegal("cookie"));
            }
            // There may be another one, and a request has one header of cookies.
            let other = headers.get(COOKIE).and_then(|other| other.to_str().ok());
            let others = other.map(|other| format!("{other}; ")).unwrap_or_default();
            insert(headers, COOKIE, &format!("{others}{name}={}", key.expose()))
        }
    }
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) -> Result<(), AuthError> {
    let mut value = HeaderValue::try_from(value).map_err(|_| AuthError::Illegal("header"))?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

/// RFC 7617: user name and password in Base64.
fn basic(username: &str, password: &Secret) -> String {
    use base64::Engine as _;
    let pair = format!("{username}:{}", password.expose());
    base64::engine::general_purpose::STANDARD.encode(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(security: &str) -> Action {
        let text = format!(r#"{{"method":"GET","path":"/","security":{security}}}"#);
        serde_json::from_str(&text).unwrap()
    }

    /// The URL and the headers of a request that had none.
    fn applied(auth: &Auth, security: &str) -> Result<String, String> {
        let (mut url, mut headers) =
            (Url::parse("http://a.example/?q=1").unwrap(), HeaderMap::new());
        auth.apply(&action(security), None, &mut url, &mut headers)
            .map_err(|error| error.to_string())?;
        assert!(headers.values().all(HeaderValue::is_sensitive));
        let headers =
            headers.iter().map(|(name, value)| format!(" {name}: {}", value.to_str().unwrap()));
        Ok(format!("?{}{}", url.query().unwrap(), headers.collect::<String>()))
    }

    fn check(auth: &Auth, security: &str, expected: &str) {
        assert_eq!(applied(auth, security).unwrap_or_else(|error| error), expected, "{auth:?}");
    }

    #[test]
    fn a_credential_goes_where_the_configuration_or_the_description_says() {
        let key = |place| Auth::ApiKey { key: Secret::new("k v"), place };
        let bearer = Auth::Bearer(Secret::new("t"));
        check(&bearer, "null", "?q=1 authorization: Bearer t");
        check(&bearer, r#"[{"b":"bearer"}]"#, "?q=1 authorization: Bearer t");
        check(&bearer, "[]", "?q=1");
        let basic = Auth::Basic { username: "me".to_owned(), password: Secret::new("pw") };
        check(&basic, "null", "?q=1 authorization: Basic bWU6cHc=");
        let described = r#"[{"b":"bearer"},{"k":{"key":{"in":"query","name":"key"}}}]"#;
        check(&key(None), described, "?q=1&key=k+v");
        let header = KeyPlace { place: KeyPart::Header, name: "X-Key".to_owned() };
        check(&key(Some(header)), described, "?q=1 x-key: k v");
        let further =
            r#"[{"b":"bearer","k":{"key":{"in":"query","name":"key","is_further":true}}}]"#;
        check(&key(None), further, "?q=1");
        let nowhere = "its description does not say where the API key goes; set `in` and `name` beside `api_key`";
        check(&key(None), r#"[{"b":"bearer"}]"#, nowhere);
        let cookie = KeyPlace { place: KeyPart::Cookie, name: "sid".to_owned() };
        let illegal = "the credential in its configuration has characters that no cookie may have";
        check(&key(Some(cookie)), "null", illegal);
    }
}
