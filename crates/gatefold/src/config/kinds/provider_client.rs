//! The keys of Gatefold's client at an OAuth provider, wherever one is registered.

use gatefold_config::{HandRead, Table, Text};
use gatefold_core::Secret;
use gatefold_oauth::{ClientSecret, ClientSettings, SigningKey};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::DigestParts;
use super::shared_values::pem;

/// A client as the configuration describes it, if it does.
#[derive(Debug, Clone, Default)]
pub(super) struct ProviderClient {
    pub(super) settings: ClientSettings,
    key_text: Option<Secret>,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend(
    "dependencies" = {
        "client_secret": ["client_id"],
        "private_key": ["client_id"],
        "key_id": ["client_id"],
    },
    "additionalProperties" = false
))]
pub(super) struct RegisteredClientKeys {
    client_id: Option<Text>,
    client_secret: Option<Text>,
    private_key: HandRead<Text>,
    key_id: Option<Text>,
    scopes: Option<Vec<Text>>,
}

impl ProviderClient {
    pub(super) fn of(settings: ClientSettings) -> Self {
        Self { settings, key_text: None }
    }

    pub(super) fn read(table: &mut Table<'_>) -> Option<Self> {
        let keys: Option<RegisteredClientKeys> = table.read();
        let key_text = match table.peek("private_key") {
            Some(field) => Some(pem(&field)?),
            None => None,
        };
        let fault = |key: &str, problem: &str, hint: &str| {
            if let Some(field) = table.peek(key) {
                field.key_fault(problem, hint);
            }
        };
        let keys = keys?;
        let mut is_right = true;
        if keys.client_secret.is_some() && key_text.is_some() {
            fault("private_key", "is set beside `client_secret`", "keep one of the two");
            is_right = false;
        }
        for key in ["client_secret", "private_key", "key_id"] {
            if keys.client_id.is_none() && table.peek(key).is_some() {
                fault(key, "needs `client_id`", "write the `client_id` that the provider gave you");
                is_right = false;
            }
        }
        let key_id = keys.key_id.map(|id| id.0);
        let key = key_text.as_ref().map(|text| SigningKey::from_pem(text, key_id)).transpose();
        let key = key.map_err(|error| fault("private_key", &error.to_string(), "check the key"));
        let secret = match (keys.client_secret, key.ok()?) {
            (Some(Text(secret)), _) => Some(ClientSecret::Text(Secret::new(secret))),
            (None, key) => key.map(ClientSecret::Key),
        };
        let settings = ClientSettings {
            id: keys.client_id.map(|id| id.0),
            secret,
            metadata_url: None,
            redirect: None,
            scopes: keys.scopes.map(|scopes| scopes.into_iter().map(|scope| scope.0).collect()),
        };
        is_right.then(|| Self { settings, key_text: key_text.map(Secret::new) })
    }

    /// What must not be shown, whatever it is used for.
    pub(super) fn secret(&self) -> Option<&Secret> {
        match &self.settings.secret {
            Some(ClientSecret::Text(text)) => Some(text),
            _ => self.key_text.as_ref(),
        }
    }

    pub(super) fn digest(&self, parts: &mut DigestParts) {
        // Where a browser comes back to says nothing about what is reached.
        let ClientSettings { id, secret: _, metadata_url, scopes, redirect: _ } = &self.settings;
        let secret = self.secret().map(Secret::expose);
        for text in [id.as_deref(), secret, metadata_url.as_deref()] {
            parts.add_list(text.as_slice(), |parts, text| parts.add(text));
        }
        parts.add_list(scopes.as_deref().unwrap_or_default(), |parts, scope| parts.add(scope));
    }

    /// The keys that are set as JSON, without secrets.
    pub(super) fn shown(&self) -> Json {
        let ClientSettings { id, secret, metadata_url, scopes, redirect } = &self.settings;
        let mut shown = json!({});
        if let Some(id) = id {
            shown["client_id"] = id.as_str().into();
        }
        match secret {
            Some(ClientSecret::Text(_)) => shown["client_secret"] = "***".into(),
            Some(ClientSecret::Key(_)) => shown["private_key"] = "***".into(),
            None => {}
        }
        if let Some(url) = metadata_url {
            shown["client_metadata_url"] = url.as_str().into();
        }
        if let Some(scopes) = scopes {
            shown["scopes"] = scopes.clone().into();
        }
        if let Some(redirect) = redirect {
            shown["redirect_url"] = redirect.to_string().into();
        }
        shown
    }
}
