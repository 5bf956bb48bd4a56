//! `exchange` of the key `credentials`: how the tokens that callers have become those of a source.

use gatefold_config::{Field, Text};
use gatefold_core::Secret;
use gatefold_oauth::{ClientSecret, ClientSettings, KnownServer, TokenExchange, TokenExchanger};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::DigestParts;
use super::provider_client::ProviderClient;
use crate::config::ServerConfig;
use crate::config::issuers::IssuerAddress;

/// How callers' tokens are exchanged for those of a source.
#[derive(Debug, Clone, Default)]
pub struct ExchangeKeys {
    /// Who exchanges them, if not the issuer of each.
    provider: Option<String>,
    /// Gatefold's client there. Without an id, that of the issuer's own keys.
    client: ProviderClient,
    audience: Option<String>,
    resource: Option<String>,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
pub(super) struct ExchangeTableKeys {
    issuer: Option<IssuerAddress>,
    audience: Option<Text>,
    resource: Option<Text>,
}

impl ExchangeKeys {
    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        let mut table = field.table()?;
        let client = ProviderClient::read(&mut table);
        let keys: Option<ExchangeTableKeys> = table.read();
        table.finish();
        let keys = keys?;
        Some(Self {
            provider: keys.issuer.map(|issuer| issuer.0),
            client: client?,
            audience: keys.audience.map(|audience| audience.0),
            resource: keys.resource.map(|resource| resource.0),
        })
    }

    /// The same for tokens that are for this address, unless the keys say what they are for.
    pub(super) fn at(&self, url: &str) -> Self {
        let is_said = self.audience.is_some() || self.resource.is_some();
        let resource = if is_said { self.resource.clone() } else { Some(url.to_owned()) };
        Self { resource, ..self.clone() }
    }

    /// The exchange for the tokens of the issuers that let people in.
    pub fn of(&self, server: &ServerConfig) -> TokenExchange {
        let scopes = self.client.settings.scopes.clone().unwrap_or_default();
        let is_trusted = |name: &str| server.issuers.iter().any(|own| own.issuer == name);
        let exchanger = |issuer: &str| {
            let provider = match self.provider.as_deref() {
                // No other issuer's tokens are its business.
                Some(named) if is_trusted(named) && named != issuer => return None,
                Some(named) => named,
                None if self.is_ambiguous(server) => return None,
                None => issuer,
            };
            let client = self.client_at(provider, server)?;
            let (issuer, provider) = (issuer.to_owned(), provider.to_owned());
            Some(TokenExchanger { issuer, provider, client, known: KnownServer::default() })
        };
        TokenExchange {
            exchangers: server.issuers.iter().filter_map(|own| exchanger(&own.issuer)).collect(),
            audience: self.audience.clone(),
            resource: self.resource.clone(),
            scopes,
        }
    }

    /// Whether the keys have a client and do not say whose. It must not show its secret to the others.
    fn is_ambiguous(&self, server: &ServerConfig) -> bool {
        let has_client = self.client.settings.id.is_some();
        has_client && self.provider.is_none() && server.issuers.len() > 1
    }

    /// Gatefold's client at a provider: the one of the source, or else the one that asks about opaque
    /// tokens.
    fn client_at(&self, provider: &str, server: &ServerConfig) -> Option<ClientSettings> {
        if self.client.settings.id.is_some() {
            return Some(self.client.settings.clone());
        }
        let issuer = server.issuers.iter().find(|own| own.issuer == provider)?;
        let own = issuer.introspection.as_ref()?;
        let secret = Some(ClientSecret::Text(own.client_secret.clone()));
        Some(ClientSettings {
            id: Some(own.client_id.clone()),
            secret,
            ..ClientSettings::default()
        })
    }

    /// What is missing before any token can be exchanged, and what to do.
    pub(crate) fn lack(&self, server: &ServerConfig) -> Option<(&'static str, &'static str)> {
        if server.issuers.is_empty() {
            let hint =
                "name the provider in `[[server.issuers]]`: `issuer = \"https://id.example\"`";
            return Some(("exchanges tokens of an identity provider, and none is trusted", hint));
        }
        if self.is_ambiguous(server) {
            let hint = "write the `issuer` beside it, one of those in `[[server.issuers]]`";
            return Some(("does not say at which issuer its client is", hint));
        }
        if self.of(server).exchangers.is_empty() {
            let hint = "write it: `credentials = { exchange = { client_id = \"gatefold\", \
                        client_secret = \"${secret:gatefold-client}\" } }`";
            return Some(("needs Gatefold's client at the identity provider", hint));
        }
        None
    }

    /// What must not be shown, whatever it is used for.
    pub(super) fn secret(&self) -> Option<&Secret> {
        self.client.secret()
    }

    pub(super) fn digest(&self, parts: &mut DigestParts) {
        for text in [&self.provider, &self.audience, &self.resource] {
            parts.add_list(text.as_slice(), |parts, text| parts.add(text));
        }
        self.client.digest(parts);
    }

    /// The keys that are set as JSON, without secrets.
    pub(super) fn shown(&self) -> Json {
        let mut shown = self.client.shown();
        let texts = [
            ("issuer", &self.provider),
            ("audience", &self.audience),
            ("resource", &self.resource),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                shown[key] = json!(text);
            }
        }
        shown
    }
}
