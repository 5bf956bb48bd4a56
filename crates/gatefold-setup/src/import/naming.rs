//! The names under which secrets are stored.

use std::collections::HashSet;

use gatefold::Environment;
use gatefold::config::ClientServer;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::secrets::SecretError;
use gatefold_config::{SECRET, references};
use gatefold_core::{Domain, Secret};

use crate::{FoundSecret, SecretStyle, variables_in};

/// The secrets of one import, and the names that are already taken.
pub(super) struct SecretNames<'e> {
    style: SecretStyle,
    environment: &'e Environment,
    /// The names that the configuration and the clients refer to, in the same style.
    referred: HashSet<String>,
    secrets: Vec<FoundSecret>,
}

impl<'e> SecretNames<'e> {
    /// `existing` is the text of the configuration that will refer to the secrets.
    pub(super) fn new(style: SecretStyle, environment: &'e Environment, existing: &str) -> Self {
        let referred = match style {
            SecretStyle::Keyring => secrets_in(existing),
            SecretStyle::Variable => variables_in(existing),
        };
        Self { style, environment, referred: referred.into_iter().collect(), secrets: Vec::new() }
    }

    pub(super) fn style(&self) -> SecretStyle {
        self.style
    }

    pub(super) fn into_secrets(self) -> Vec<FoundSecret> {
        self.secrets
    }

    /// Reserves the variables that a server already refers to: an import must not set them.
    pub(super) fn note(&mut self, server: &ClientServer) {
        if self.style == SecretStyle::Keyring {
            return;
        }
        let texts = server.connection.iter().flat_map(McpConnection::texts);
        self.referred.extend(texts.flat_map(variables_in));
    }

    /// Stores a secret under a name that nothing else has, and returns the name.
    pub(super) fn keep(&mut self, name: String, value: &str, key: &str) -> String {
        let source = Domain::from_key(key).as_str().to_uppercase();
        let longer =
            if name.starts_with(&source) { name.clone() } else { format!("{source}_{name}") };
        let numbered = (2..).map(|n| format!("{longer}_{n}"));
        let mut names = [name, longer.clone()].into_iter().chain(numbered);
        let name = names.find(|name| self.is_free(name, value));
        let name = name.expect("there are more numbers than secrets");
        if !self.secrets.iter().any(|secret| secret.name == name) {
            let value = Secret::new(value.to_owned());
            self.secrets.push(FoundSecret { name: name.clone(), value });
        }
        name
    }

    /// Whether a name is unused, or already has this exact value.
    fn is_free(&self, name: &str, value: &str) -> bool {
        if let Some(known) = self.secrets.iter().find(|secret| secret.name == *name) {
            return known.value.expose() == value;
        }
        let is_same = match self.style {
            SecretStyle::Keyring => match self.environment.secret(name) {
                Ok(kept) => Some(kept.expose() == value),
                Err(SecretError::NotText(_)) => Some(false),
                // A keyring that does not answer now is asked again when the secret is stored.
                Err(_) => None,
            },
            SecretStyle::Variable => self.environment.get(name).map(|set| set == value),
        };
        is_same.unwrap_or_else(|| !self.referred.contains(name))
    }
}

/// The names of keyring entries that a configuration refers to.
pub(crate) fn secrets_in(text: &str) -> Vec<String> {
    // Read line by line, so that a reference left open on one line does not swallow the next.
    let inner = text.lines().flat_map(references);
    inner.filter_map(|inner| inner.strip_prefix(SECRET)).map(str::to_owned).collect()
}
