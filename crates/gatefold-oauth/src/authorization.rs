//! The way of a person's browser: to the provider with a request, and back with a code.

use gatefold_core::Secret;
use reqwest::Url;

use crate::discovery::Discovery;
use crate::pkce::{self, Verifier};
use crate::{Refused, SignInError};

/// The longest address that a browser comes back with, in bytes.
const ANSWER_LIMIT: usize = 16 * 1024;

/// A sign-in that a browser was sent on.
#[derive(Debug, Clone)]
pub struct AuthorizationRequest {
    /// Where the person signs in.
    pub url: Url,
    pub(crate) redirect: String,
    pub(crate) verifier: Verifier,
    state: Secret,
    issuer: String,
    /// Whether the issuer is a whole origin, as any name there is the provider's.
    is_origin: bool,
    /// Whether the provider promised to name itself in the answer.
    names_issuer: bool,
}

/// What only whoever began a sign-in knows of its request.
pub(crate) struct RequestSecrets {
    pub(crate) verifier: Verifier,
    pub(crate) state: Secret,
}

impl AuthorizationRequest {
    pub(crate) fn new(
        discovery: &Discovery,
        client: &str,
        redirect: &str,
        scopes: &[String],
    ) -> Result<Self, SignInError> {
        let secrets = RequestSecrets { verifier: Verifier::new()?, state: pkce::random()? };
        Self::with(discovery, client, redirect, scopes, secrets)
    }

    /// A request whose secrets are known before, or anew.
    pub(crate) fn with(
        discovery: &Discovery,
        client: &str,
        redirect: &str,
        scopes: &[String],
        RequestSecrets { verifier, state }: RequestSecrets,
    ) -> Result<Self, SignInError> {
        let Discovery { server, parameters, is_written, .. } = discovery;
        let issuer = server.issuer.clone();
        let page = server.authorization_endpoint.clone();
        let Some(mut url) = page else { return Err(SignInError::NoPage { issuer }) };
        if !server.has_pkce() {
            return Err(SignInError::NoPkce { issuer });
        }
        {
            let mut query = url.query_pairs_mut();
            query.append_pair("response_type", "code");
            query.append_pair("client_id", client);
            query.append_pair("redirect_uri", redirect);
            query.append_pair("state", state.expose());
            query.append_pair("code_challenge", &verifier.challenge());
            query.append_pair("code_challenge_method", "S256");
            query.extend_pairs(discovery.resource_field());
            if !scopes.is_empty() {
                query.append_pair("scope", &scopes.join(" "));
            }
            // Without being asked again, a person gets no refresh token the second time (OpenID
            // Connect Core, section 11).
            let is_prompted = parameters.iter().any(|(name, _)| name == "prompt");
            if scopes.iter().any(|scope| scope == OFFLINE_ACCESS) && !is_prompted {
                query.append_pair("prompt", "consent");
            }
            query.extend_pairs(parameters);
        }
        let names_issuer = server.authorization_response_iss_parameter_supported;
        let redirect = redirect.to_owned();
        let is_origin = *is_written && issuer == url.origin().ascii_serialization();
        Ok(Self { url, redirect, verifier, state, issuer, is_origin, names_issuer })
    }

    /// The code that a browser came back with.
    pub(crate) fn code(&self, answer: RedirectAnswer) -> Result<Secret, SignInError> {
        let is_ours =
            answer.state.as_deref().is_some_and(|state| pkce::is_same(state, self.state.expose()));
        if !is_ours {
            return Err(SignInError::OtherState);
        }
        // Before anything else is believed (RFC 9207, section 2.4).
        match answer.iss {
            Some(found) if !self.is_issuer(&found) => {
                let (expected, found) = (self.issuer.clone(), crate::error::said(&found));
                return Err(SignInError::WrongIssuer { expected, found });
            }
            None if self.names_issuer => {
                return Err(SignInError::NoIssuer { expected: self.issuer.clone() });
            }
            _ => {}
        }
        if let Some(error) = answer.error {
            let description = answer.error_description.as_deref();
            let status = http::StatusCode::BAD_REQUEST;
            return Err(SignInError::Denied(Refused::new(Some(&error), description, status)));
        }
        answer.code.ok_or(SignInError::NoCode)
    }
}

impl AuthorizationRequest {
    fn is_issuer(&self, found: &str) -> bool {
        let is_there = || {
            found.parse::<Url>().is_ok_and(|url| url.origin().ascii_serialization() == self.issuer)
        };
        found == self.issuer || (self.is_origin && is_there())
    }
}

/// The scope that asks for a refresh token (OpenID Connect Core, section 11).
pub(crate) const OFFLINE_ACCESS: &str = "offline_access";

/// What a browser came back with.
#[derive(Debug, Clone, Default)]
pub struct RedirectAnswer {
    code: Option<Secret>,
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

impl RedirectAnswer {
    /// Reads the query of an address. `None` if it is none of a sign-in, or has a part twice.
    pub fn of_query(query: &str) -> Option<Self> {
        if query.len() > ANSWER_LIMIT {
            return None;
        }
        let mut answer = Self::default();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let place = match &*name {
                "code" => {
                    let is_first = answer.code.is_none();
                    answer.code = Some(Secret::new(value));
                    if is_first {
                        continue;
                    }
                    return None;
                }
                "state" => &mut answer.state,
                "iss" => &mut answer.iss,
                "error" => &mut answer.error,
                "error_description" => &mut answer.error_description,
                _ => continue,
            };
            if place.replace(value.into_owned()).is_some() {
                return None;
            }
        }
        (answer.code.is_some() || answer.error.is_some()).then_some(answer)
    }

    /// Reads what a person pasted: the whole address that the browser ended at, or its query.
    pub fn of_pasted(text: &str) -> Option<Self> {
        let text = text.trim();
        let query = match text.split_once('?') {
            Some((_, query)) => query.split('#').next().unwrap_or(query),
            None => text,
        };
        Self::of_query(query)
    }

    /// Whether it answers this request rather than another one. Nothing else of it is judged.
    pub fn is_for(&self, request: &AuthorizationRequest) -> bool {
        let state = self.state.as_deref();
        state.is_some_and(|state| pkce::is_same(state, request.state.expose()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::ServerMetadata;

    fn discovery(server: ServerMetadata) -> Discovery {
        Discovery {
            resource: Some("https://b.example/mcp".to_owned()),
            server,
            scopes: None,
            parameters: Vec::new(),
            is_written: false,
        }
    }

    fn server(promises: bool) -> ServerMetadata {
        let origin = "https://a.example".parse().unwrap();
        let authorization_response_iss_parameter_supported = promises;
        ServerMetadata {
            authorization_response_iss_parameter_supported,
            ..ServerMetadata::assumed(&origin)
        }
    }

    fn request(promises: bool) -> AuthorizationRequest {
        let scopes = ["a".to_owned(), "offline_access".to_owned()];
        let (discovery, redirect) = (discovery(server(promises)), "http://127.0.0.1:1/callback");
        AuthorizationRequest::new(&discovery, "me", redirect, &scopes).unwrap()
    }

    fn check(promises: bool, query: &str, expected: &str) {
        let request = request(promises);
        let query = query.replace("STATE", request.state.expose());
        let answer = RedirectAnswer::of_query(&query).unwrap();
        let code = request.code(answer);
        let told = match &code {
            Ok(code) => code.expose().to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(told, expected, "{query}");
    }

    #[test]
    fn a_request_has_what_the_protocol_wants() {
        let request = request(false);
        let pairs: Vec<_> = request.url.query_pairs().into_owned().collect();
        let names: Vec<_> = pairs.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "response_type",
                "client_id",
                "redirect_uri",
                "state",
                "code_challenge",
                "code_challenge_method",
                "resource",
                "scope",
                "prompt"
            ]
        );
        assert!(!request.url.as_str().contains(request.verifier.0.expose()));
    }

    #[test]
    fn only_the_right_issuer_and_state_bring_a_code() {
        let state = "the answer belongs to another sign-in";
        let wrong =
            "the answer names the issuer `https://evil.example` instead of `https://a.example`";
        let none = "the answer does not name its issuer, as `https://a.example` promises to";
        check(false, "code=c&state=STATE", "c");
        check(false, "code=c&state=STATE&iss=https://a.example", "c");
        check(true, "code=c&state=STATE&iss=https://a.example", "c");
        check(false, "code=c&state=STATE&iss=https://evil.example", wrong);
        check(false, "error=x&state=STATE&iss=https://evil.example", wrong);
        check(true, "code=c&state=STATE", none);
        check(true, "error=x&state=STATE", none);
        check(
            true,
            "code=c&state=STATE&iss=https://a.example/",
            "the answer names the issuer `https://a.example/` instead of `https://a.example`",
        );
        check(false, "code=c&state=STATEx", state);
        check(false, "code=c", state);
        check(
            false,
            "error=access_denied&error_description=no%0Away&state=STATE",
            "the sign-in was refused: `access_denied`: no way",
        );
    }

    #[test]
    fn a_provider_without_metadata_may_have_any_name_at_its_origin() {
        let discovery = Discovery { is_written: true, ..discovery(server(false)) };
        let request =
            AuthorizationRequest::new(&discovery, "me", "http://127.0.0.1/", &[]).unwrap();
        for (found, is_its_own) in [
            ("https://a.example", true),
            ("https://a.example/", true),
            ("https://a.example/realms/x", true),
            ("https://a.example.evil.example", false),
            ("https://a.example:444", false),
            ("http://a.example", false),
            ("a.example", false),
        ] {
            assert_eq!(request.is_issuer(found), is_its_own, "{found}");
        }
    }

    #[test]
    fn nothing_may_stand_twice() {
        assert!(RedirectAnswer::of_query("code=a&code=b&state=x").is_none());
        assert!(RedirectAnswer::of_query("code=a&state=x&state=y").is_none());
        assert!(RedirectAnswer::of_query("x=y").is_none());
        assert!(
            RedirectAnswer::of_pasted(" http://127.0.0.1:1/callback?code=a&state=x#y ").is_some()
        );
        assert!(RedirectAnswer::of_pasted("code=a&state=x").is_some());
    }

    #[test]
    fn nobody_is_sent_where_codes_can_be_stolen() {
        let without = ServerMetadata {
            code_challenge_methods_supported: vec!["plain".to_owned()],
            ..server(false)
        };
        let refused =
            AuthorizationRequest::new(&discovery(without), "me", "http://127.0.0.1/", &[]);
        assert!(matches!(refused, Err(SignInError::NoPkce { .. })));
    }
}
