//! `authorization_code` of an HTTP API: a person signs in for it, as at an MCP server.

use gatefold_config::{Field, LimitedItems, LooseText, Pairs, Table, Text};
use gatefold_core::Secret;
use gatefold_dispatch::IdentityScope;
use gatefold_oauth::{
    ClientSecret, ClientSettings, KnownProvider, ProviderAddresses, ProviderPlace, SignInNeed,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::oauth::SignInSettings;
use super::super::shared_values::{RedirectAddress, ServerAddress, missing};
use super::super::{AllowPrivate, DigestParts};

/// Parameters of a sign-in that Gatefold writes itself.
const OWN_PARAMETERS: [&str; 10] = [
    "client_id",
    "client_secret",
    "code_challenge",
    "code_challenge_method",
    "redirect_uri",
    "resource",
    "response_mode",
    "response_type",
    "scope",
    "state",
];

/// How people sign in for an API.
#[derive(Clone)]
pub(super) struct CodeFlow {
    client: ClientSettings,
    provider: KnownProvider,
    /// All addresses that the configuration names for it.
    urls: Vec<String>,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend(
    "anyOf" = [{ "required": ["authorize_url", "token_url"] }, { "required": ["issuer"] }],
    "dependencies" = {
        "authorize_url": ["token_url", "client_id"],
        "token_url": ["authorize_url"],
        "device_url": ["authorize_url"],
        "revoke_url": ["authorize_url"],
        "client_secret": ["client_id"],
    },
    "additionalProperties" = false
))]
pub(super) struct CodeFlowKeys {
    issuer: Option<ServerAddress>,
    authorize_url: Option<ServerAddress>,
    token_url: Option<ServerAddress>,
    device_url: Option<ServerAddress>,
    revoke_url: Option<ServerAddress>,
    client_id: Option<Text>,
    client_secret: Option<Text>,
    scopes: Option<Vec<Text>>,
    redirect_url: Option<RedirectAddress>,
    resource: Option<Text>,
    parameters: LimitedItems<Pairs<String, LooseText>>,
}

impl CodeFlow {
    pub(super) fn read(field: &Field<'_>, table: &mut Table<'_>) -> Option<Self> {
        let keys: CodeFlowKeys = table.read()?;
        let place = place(field, table, &keys);
        let is_written = table.peek("authorize_url").is_some();
        if is_written && table.peek("client_id").is_none() {
            missing(field, "client_id");
            return None;
        }
        if keys.client_id.is_none()
            && let Some(secret) = table.peek("client_secret")
        {
            let hint = "write the `client_id` that the provider gave you";
            secret.key_fault("needs `client_id`", hint);
            return None;
        }
        let parameters: Vec<_> = keys.parameters.0.0.into_iter().collect();
        let own = parameters.iter().find(|(name, _)| OWN_PARAMETERS.contains(&name.as_str()));
        if let Some((name, _)) = own {
            let hint = "remove it, or write `scopes` or `resource` beside `parameters`";
            table
                .peek("parameters")?
                .fault(format!("has `{name}`, which Gatefold writes itself"), hint);
            return None;
        }
        let urls = [
            &keys.issuer,
            &keys.authorize_url,
            &keys.token_url,
            &keys.device_url,
            &keys.revoke_url,
        ];
        let urls = urls.into_iter().flatten().map(|url| url.0.clone()).collect();
        let secret = keys.client_secret.map(|Text(text)| ClientSecret::Text(Secret::new(text)));
        let client = ClientSettings {
            id: keys.client_id.map(|id| id.0),
            secret,
            metadata_url: None,
            redirect: keys.redirect_url.map(|url| url.0),
            scopes: keys.scopes.map(|scopes| scopes.into_iter().map(|scope| scope.0).collect()),
        };
        let parameters = parameters.into_iter().map(|(name, value)| (name, value.0)).collect();
        let resource = keys.resource.map(|resource| resource.0);
        let provider = KnownProvider { place: place?, resource, parameters };
        Some(Self { client, provider, urls })
    }

    /// What must not be shown, whatever it is used for.
    pub(super) fn secret(&self) -> Option<&Secret> {
        match &self.client.secret {
            Some(ClientSecret::Text(secret)) => Some(secret),
            _ => None,
        }
    }

    /// The sign-in for the API at `url`, whose tokens go nowhere else.
    pub(super) fn settings(
        &self,
        url: &str,
        private: &AllowPrivate,
        scope: IdentityScope,
    ) -> SignInSettings {
        SignInSettings {
            url: url.to_owned(),
            client: self.client.clone(),
            known: Some(self.provider.clone()),
            provider_urls: self.urls.clone(),
            private: private.clone(),
            scope,
            need: SignInNeed::Always,
            exchange: None,
        }
    }

    pub(super) fn digest(&self, parts: &mut DigestParts) {
        let KnownProvider { place, resource, parameters } = &self.provider;
        let urls = match place {
            ProviderPlace::Issuer(issuer) => [Some(issuer.as_str()), None, None, None, None],
            ProviderPlace::Addresses(own) => [
                own.issuer.as_deref(),
                Some(own.authorization.as_str()),
                Some(own.token.as_str()),
                own.device.as_ref().map(AsRef::as_ref),
                own.revocation.as_ref().map(AsRef::as_ref),
            ],
        };
        parts.add_list(&urls, |parts, url| {
            parts.add_list(url.as_slice(), |parts, url| parts.add(url));
        });
        parts.add_list(resource.as_slice(), |parts, resource| parts.add(resource));
        parts.add_list(parameters, |parts, (name, value)| {
            parts.add(name);
            parts.add(value);
        });
        parts.add_list(self.client.id.as_slice(), |parts, id| parts.add(id));
        parts.add_list(self.secret().as_slice(), |parts, secret| parts.add(secret.expose()));
        let scopes = self.client.scopes.as_deref();
        parts.add_list(scopes.as_slice(), |parts, scopes| {
            parts.add_list(scopes, |parts, scope| parts.add(scope));
        });
    }
}

/// Where people sign in: at the addresses that are written down, or at an issuer that says them.
fn place(field: &Field<'_>, table: &Table<'_>, keys: &CodeFlowKeys) -> Option<ProviderPlace> {
    let is_set = |key: &str| table.peek(key).is_some();
    if !is_set("authorize_url") && !is_set("token_url") {
        for key in ["device_url", "revoke_url"] {
            if let Some(extra) = table.peek(key) {
                let hint =
                    "write `authorize_url` and `token_url` too, or remove it: an issuer says it";
                extra.key_fault("needs `authorize_url`", hint);
                return None;
            }
        }
        if !is_set("issuer") {
            let hint =
                "write `authorize_url` and `token_url`, or the `issuer` whose metadata says them";
            field.fault("does not say where to sign in", hint);
        }
        return Some(ProviderPlace::Issuer(keys.issuer.as_ref()?.0.clone()));
    }
    for key in ["authorize_url", "token_url"] {
        if !is_set(key) {
            missing(field, key);
        }
    }
    let url = |address: &Option<ServerAddress>| address.as_ref()?.0.parse().ok();
    Some(ProviderPlace::Addresses(Box::new(ProviderAddresses {
        authorization: url(&keys.authorize_url)?,
        token: url(&keys.token_url)?,
        device: url(&keys.device_url),
        revocation: url(&keys.revoke_url),
        issuer: keys.issuer.as_ref().map(|issuer| issuer.0.clone()),
    })))
}
