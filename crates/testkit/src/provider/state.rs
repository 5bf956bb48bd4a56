//! What a provider knows.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use super::{KEPT, ProviderCounts, ProviderRules};

pub(super) struct ProviderState {
    pub(super) issuer: String,
    pub(super) rules: ProviderRules,
    pub(super) counts: ProviderCounts,
    /// At most [`KEPT`], as is everything below, of which each piece has a secret.
    pub(super) secrets: Vec<String>,
    /// At most [`KEPT`].
    pub(super) codes: HashMap<String, IssuedCode>,
    /// At most [`KEPT`].
    pub(super) access: HashMap<String, AccessToken>,
    /// Refresh tokens, at most [`KEPT`], used ones too, by which a reuse is told.
    pub(super) refresh: HashMap<String, RefreshToken>,
    /// The redirect addresses of each client, at most [`KEPT`].
    pub(super) clients: HashMap<String, Vec<String>>,
    /// The clients that may sign devices in, at most [`KEPT`].
    pub(super) device_clients: HashSet<String>,
    made: u64,
}

#[derive(Clone)]
pub(super) struct IssuedCode {
    pub(super) client: String,
    pub(super) redirect: String,
    pub(super) challenge: String,
    pub(super) scope: String,
    pub(super) resource: String,
}

pub(super) struct AccessToken {
    pub(super) family: u64,
    pub(super) scope: String,
    pub(super) ends: Option<Instant>,
}

#[derive(Clone)]
pub(super) struct RefreshToken {
    pub(super) family: u64,
    pub(super) client: String,
    pub(super) scope: String,
    pub(super) is_used: bool,
}

impl ProviderState {
    pub(super) fn new(issuer: String) -> Self {
        Self {
            issuer,
            rules: ProviderRules::default(),
            counts: ProviderCounts::default(),
            secrets: Vec::new(),
            codes: HashMap::new(),
            access: HashMap::new(),
            refresh: HashMap::new(),
            clients: HashMap::new(),
            device_clients: HashSet::new(),
            made: 0,
        }
    }

    /// A new text that nothing else contains.
    pub(super) fn secret(&mut self, kind: &str) -> String {
        self.made += 1;
        assert!(self.secrets.len() < KEPT, "a test asked for too much");
        let text = format!("{kind}-planted-{}-{:08x}", self.made, self.made * 0x9e37_79b9);
        self.secrets.push(text.clone());
        text
    }

    /// Gives tokens of a family, and says so as the standard wants it.
    pub(super) fn give(&mut self, family: u64, client: &str, scope: &str) -> serde_json::Value {
        let access = self.secret("access");
        let ends = self.rules.lifetime_s.map(|life| Instant::now() + Duration::from_secs(life));
        let token = AccessToken { family, scope: scope.to_owned(), ends };
        self.access.insert(access.clone(), token);
        let mut answer = serde_json::json!({
            "access_token": access,
            "token_type": "Bearer",
            "scope": scope,
        });
        if let Some(life) = self.rules.lifetime_s {
            answer["expires_in"] = life.into();
        }
        if self.rules.refreshes {
            let refresh = self.secret("refresh");
            let (client, scope) = (client.to_owned(), scope.to_owned());
            let token = RefreshToken { family, client, scope, is_used: false };
            self.refresh.insert(refresh.clone(), token);
            answer["refresh_token"] = refresh.into();
        }
        answer
    }

    /// Begins a new family of tokens.
    pub(super) fn family(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    pub(super) fn end_family(&mut self, family: u64) {
        self.access.retain(|_, token| token.family != family);
        self.refresh.retain(|_, token| token.family != family);
    }

    /// The scopes of a token that is good now.
    pub(super) fn scopes_of(&self, token: &str) -> Option<&str> {
        let token = self.access.get(token)?;
        let is_alive = token.ends.is_none_or(|ends| Instant::now() < ends);
        is_alive.then_some(token.scope.as_str())
    }
}
