//! A client's request for a code, with whatever an attacker changes in it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use url::form_urlencoded::Serializer;

pub(crate) const PUBLIC: &str = "https://tools.example.com";
pub(crate) const REDIRECT: &str = "http://127.0.0.1:4711/callback";
pub(crate) const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-one-of-them";

#[derive(Clone)]
pub(crate) struct Ask(Vec<(String, String)>);

pub(crate) fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

pub(crate) fn form(pairs: &[(&str, &str)]) -> String {
    Serializer::new(String::new()).extend_pairs(pairs).finish()
}

impl Ask {
    pub(crate) fn of(client: &str) -> Self {
        let ask = Self(Vec::new());
        ask.with("response_type", "code")
            .with("client_id", client)
            .with("redirect_uri", REDIRECT)
            .with("state", "a state & more")
            .with("code_challenge", &challenge(VERIFIER))
            .with("code_challenge_method", "S256")
            .with("resource", &format!("{PUBLIC}/mcp"))
            .with("scope", "mcp:read mcp:write")
    }

    /// One more of a parameter.
    pub(crate) fn and(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(own, _)| own != name);
        self
    }

    /// A parameter in the place of what it was.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value)
    }

    pub(crate) fn query(&self) -> String {
        Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }

    pub(crate) fn path(&self) -> String {
        format!("/oauth/authorize?{}", self.query())
    }
}
