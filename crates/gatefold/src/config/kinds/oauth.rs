//! The key `oauth`: how users of a remote server sign in there.

use gatefold_config::{Field, Table, Text};
use gatefold_core::Secret;
use gatefold_dispatch::IdentityScope;
use gatefold_oauth::{ClientSecret, ClientSettings, KnownProvider, SignInNeed, SigningKey};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::credentials::{ClientHeaders, SourceCredentials};
use super::shared_values::{ServerAddress, pem};
use super::{AllowPrivate, DigestParts};
use crate::config::key::{Key, Kind};

/// The key for sources that have one of the keys `needs`.
pub(crate) const fn oauth_key(needs: &'static [&'static str]) -> Key {
    Key {
        details: "Most servers need none of it: `gatefold login NAME` finds out where to sign in and \
                  registers Gatefold there. A provider that registers no programs needs the `client_id` \
                  that it gave you, and perhaps a `client_secret` or a `private_key`. \
                  `client_metadata_url` is where a client-id metadata document describes your \
                  Gatefold. With `grant = \"client_credentials\"` nobody signs in: Gatefold proves \
                  itself. The secrets are never shown.",
        unset: "found out at `gatefold login`",
        example: "{ client_id = \"my-client\", scopes = [\"read\"] }",
        needs,
        ..Key::new("oauth", Kind::OAuth, "How Gatefold signs in at the server.")
    }
}

/// How a source's users sign in.
#[derive(Debug, Clone)]
pub struct SignInSettings {
    /// The source's address.
    pub url: String,
    pub client: ClientSettings,
    /// Where its users sign in. None if the source says it.
    pub known: Option<KnownProvider>,
    /// The addresses of the provider that the configuration names.
    pub provider_urls: Vec<String>,
    /// Which private networks its names may lead to.
    pub private: AllowPrivate,
    pub scope: IdentityScope,
    pub need: SignInNeed,
}

/// The keys.
#[derive(Debug, Clone)]
pub(crate) struct SignInKeys {
    oauth: Option<OAuthKeys>,
    credentials: SourceCredentials,
}

#[derive(Debug, Clone)]
struct OAuthKeys {
    client: ClientSettings,
    key_text: Option<Secret>,
    grant: GrantWord,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "snake_case")]
enum GrantWord {
    #[default]
    AuthorizationCode,
    ClientCredentials,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct OAuthClientKeys {
    client_id: Option<Text>,
    client_secret: Option<Text>,
    key_id: Option<Text>,
    client_metadata_url: Option<ServerAddress>,
    scopes: Option<Vec<Text>>,
    grant: Option<GrantWord>,
}

impl SignInKeys {
    pub(crate) fn read(table: &mut Table<'_>) -> Option<Self> {
        let credentials = SourceCredentials::read(table)?;
        let oauth = match table.field("oauth") {
            Some(field) => Some(oauth(&field)?),
            None => None,
        };
        if credentials.client_headers().is_some()
            && let Some(field) = table.peek("oauth")
        {
            field.key_fault("is set beside `credentials = \"client\"`", "keep one of the two");
            return None;
        }
        let is_machine = oauth.as_ref().is_some_and(OAuthKeys::is_machine);
        if is_machine && credentials == SourceCredentials::PerUser {
            let field = table.peek("credentials")?;
            let hint = "remove it: with `client_credentials` nobody signs in";
            field.key_fault("is set beside `grant = \"client_credentials\"`", hint);
            return None;
        }
        Some(Self { oauth, credentials })
    }

    /// Whether a key is set that makes no sense beside a header that signs in.
    pub(crate) fn is_set(&self) -> bool {
        self.oauth.is_some() || self.credentials != SourceCredentials::Shared
    }

    /// How users sign in. None if their clients send what the server wants.
    pub(crate) fn settings(&self, url: &str, private: &AllowPrivate) -> Option<SignInSettings> {
        if self.client_headers().is_some() {
            return None;
        }
        let client = self.oauth.as_ref().map(|own| own.client.clone()).unwrap_or_default();
        let need = match &self.oauth {
            Some(own) if own.is_machine() => SignInNeed::Machine,
            Some(_) => SignInNeed::Always,
            None => SignInNeed::IfAsked,
        };
        Some(SignInSettings {
            url: url.to_owned(),
            client,
            known: None,
            provider_urls: Vec::new(),
            private: private.clone(),
            scope: self.credentials.scope(),
            need,
        })
    }

    pub(crate) fn credentials(&self) -> &SourceCredentials {
        &self.credentials
    }

    /// How clients send the server's credential, if they do.
    pub(crate) fn client_headers(&self) -> Option<&ClientHeaders> {
        self.credentials.client_headers()
    }

    /// Adds them to a source's digest. Without them, the digest is that of a version that did not
    /// know the keys.
    pub(crate) fn digest(&self, parts: &mut DigestParts) {
        self.credentials.digest(parts);
        let Some(own) = &self.oauth else { return };
        parts.add("oauth");
        let ClientSettings { id, secret, metadata_url, scopes } = &own.client;
        let secret = match secret {
            Some(ClientSecret::Text(text)) => Some(text.expose()),
            _ => own.key_text.as_ref().map(Secret::expose),
        };
        for text in [id.as_deref(), secret, metadata_url.as_deref()] {
            parts.add_list(text.as_slice(), |parts, text| parts.add(text));
        }
        parts.add_list(scopes.as_deref().unwrap_or_default(), |parts, scope| parts.add(scope));
        parts.add(if own.is_machine() { "client_credentials" } else { "authorization_code" });
    }

    /// The values as JSON, without secrets. None for keys that are not set.
    pub(crate) fn shown(&self) -> (Option<Json>, Option<Json>) {
        let oauth = self.oauth.as_ref().map(|own| {
            let ClientSettings { id, secret, metadata_url, scopes } = &own.client;
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
            if own.is_machine() {
                shown["grant"] = "client_credentials".into();
            }
            shown
        });
        (oauth, self.credentials.shown())
    }
}

impl OAuthKeys {
    fn is_machine(&self) -> bool {
        self.grant == GrantWord::ClientCredentials
    }
}

fn oauth(field: &Field<'_>) -> Option<OAuthKeys> {
    let mut table = field.table()?;
    table.know(&["private_key"]);
    let keys: Option<OAuthClientKeys> = table.read();
    let key_text = match table.field("private_key") {
        Some(field) => Some(pem(&field)?),
        None => None,
    };
    let fault = |key: &str, problem: &str, hint: &str| {
        if let Some(field) = table.peek(key) {
            field.key_fault(problem, hint);
        }
    };
    let keys = keys?;
    let grant = keys.grant.unwrap_or_default();
    let mut is_right = true;
    if keys.client_secret.is_some() && key_text.is_some() {
        fault("private_key", "is set beside `client_secret`", "keep one of the two");
        is_right = false;
    }
    for key in ["client_secret", "private_key", "key_id", "grant"] {
        let needs_id = key != "grant" || grant == GrantWord::ClientCredentials;
        if keys.client_id.is_none() && table.peek(key).is_some() && needs_id {
            fault(key, "needs `client_id`", "write the `client_id` that the provider gave you");
            is_right = false;
        }
    }
    let key_id = keys.key_id.map(|id| id.0);
    let key = key_text.as_ref().map(|text| SigningKey::from_pem(text, key_id)).transpose();
    let key = key.map_err(|error| fault("private_key", &error.to_string(), "check the key")).ok();
    table.finish();
    let secret = match (keys.client_secret, key?) {
        (Some(Text(secret)), _) => Some(ClientSecret::Text(Secret::new(secret))),
        (None, key) => key.map(ClientSecret::Key),
    };
    let client = ClientSettings {
        id: keys.client_id.map(|id| id.0),
        secret,
        metadata_url: keys.client_metadata_url.map(|url| url.0),
        scopes: keys.scopes.map(|scopes| scopes.into_iter().map(|scope| scope.0).collect()),
    };
    is_right.then(|| OAuthKeys { client, key_text: key_text.map(Secret::new), grant })
}
