//! What a server says with a refusal: the header `WWW-Authenticate` (RFC 9110, section 11.6.1).

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;
use reqwest::Url;

/// The longest header that is read, in bytes.
const HEADER_LIMIT: usize = 8 * 1024;

/// A server's challenge for a bearer token (RFC 6750, section 3; RFC 9728, section 5.1).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BearerChallenge {
    /// Where the server's metadata is.
    pub resource_metadata: Option<Url>,
    /// The scopes that the request needs.
    pub scopes: Option<Vec<String>>,
    pub error: Option<String>,
}

impl BearerChallenge {
    /// The first challenge for a bearer token among the headers of an answer.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let texts = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|own| own.to_str().ok());
        texts.filter(|text| text.len() <= HEADER_LIMIT).find_map(Self::read)
    }

    fn read(text: &str) -> Option<Self> {
        let mut challenge: Option<Self> = None;
        for word in Words(text) {
            match word {
                Word::Scheme(scheme) => {
                    if challenge.is_some() {
                        break;
                    }
                    challenge = scheme.eq_ignore_ascii_case("bearer").then(Self::default);
                }
                Word::Parameter(name, value) => {
                    if let Some(challenge) = &mut challenge {
                        challenge.take(name, value);
                    }
                }
            }
        }
        challenge
    }

    fn take(&mut self, name: &str, value: String) {
        match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => self.resource_metadata = value.parse().ok(),
            "scope" => {
                let scopes: Vec<_> = value.split_whitespace().map(str::to_owned).collect();
                // An empty text asks for nothing in particular.
                self.scopes = Some(scopes).filter(|scopes| !scopes.is_empty());
            }
            "error" => self.error = Some(value),
            _ => {}
        }
    }

    /// Whether the token is good and its rights do not suffice (RFC 6750, section 3.1).
    pub fn wants_more_scopes(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

enum Word<'a> {
    Scheme(&'a str),
    Parameter(&'a str, String),
}

/// The words of a header. A name with `=` behind it is a parameter, one without begins a challenge.
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        self.0 = self.0.trim_start_matches([' ', '\t', ',']);
        let end = self.0.find([' ', '\t', ',', '=']).unwrap_or(self.0.len());
        let (name, rest) = self.0.split_at(end);
        if name.is_empty() {
            return None;
        }
        let Some(value) = rest.trim_start().strip_prefix('=') else {
            self.0 = rest;
            return Some(Word::Scheme(name));
        };
        let value = value.trim_start();
        let (value, rest) = if let Some(quoted) = value.strip_prefix('"') {
            unquoted(quoted)
        } else {
            let end = value.find([' ', '\t', ',']).unwrap_or(value.len());
            (value[..end].to_owned(), &value[end..])
        };
        self.0 = rest;
        Some(Word::Parameter(name, value))
    }
}

/// A quoted text without its escapes, and what follows the closing quote.
fn unquoted(text: &str) -> (String, &str) {
    let (mut value, mut is_escaped) = (String::new(), false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => {
                value.push(c);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '"' => return (value, &text[at + 1..]),
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&'static str]) -> Option<BearerChallenge> {
        let mut headers = HeaderMap::new();
        for text in texts {
            headers.append(WWW_AUTHENTICATE, http::HeaderValue::from_static(text));
        }
        BearerChallenge::of(&headers)
    }

    #[test]
    fn a_challenge_is_found_among_others() {
        let full = of(&[
            r#"Basic realm="a, b", Bearer realm="x",error="insufficient_scope", scope="a  b:c" , resource_metadata = "https://a.example/m?x=\"1\"", Digest nonce="scope=z""#,
        ])
        .unwrap();
        assert!(full.wants_more_scopes());
        assert_eq!(full.scopes.unwrap(), ["a", "b:c"]);
        assert_eq!(full.resource_metadata.unwrap().as_str(), "https://a.example/m?x=%221%22");
        assert_eq!(of(&["Basic realm=x", "bearer"]), Some(BearerChallenge::default()));
        assert_eq!(of(&["Bearer scope=a"]).unwrap().scopes.unwrap(), ["a"]);
        assert_eq!(of(&["Bearer scope=\"\""]).unwrap().scopes, None);
    }

    #[test]
    fn what_is_malformed_harms_nobody() {
        for text in ["", ",", "=", "Bearer =", "Bearer a=\"b", "Negotiate abc==", "\"", "a=b"] {
            let _ = of(&[text]);
        }
        assert_eq!(of(&["Basic x=y"]), None);
        assert_eq!(of(&["Bearer resource_metadata=\"no url\""]).unwrap().resource_metadata, None);
    }
}
