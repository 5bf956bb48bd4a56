//! The key `oauth`: how users of a remote server sign in there.

use gatefold_config::{Field, Table};
use gatefold_dispatch::IdentityScope;
use gatefold_oauth::{ClientSettings, KnownProvider, SignInNeed};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::credentials::{ClientHeaders, SourceCredentials};
use super::exchange::ExchangeKeys;
use super::provider_client::{ProviderClient, RegisteredClientKeys};
use super::shared_values::{Joined, RedirectAddress, ServerAddress};
use super::{AllowPrivate, DigestParts};

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
    /// How its tokens come from those of the callers, if nobody signs in there.
    pub exchange: Option<ExchangeKeys>,
}

impl SignInSettings {
    /// Where nobody signs in, because callers' tokens are exchanged.
    pub(crate) fn exchanged(url: &str, private: &AllowPrivate, exchange: ExchangeKeys) -> Self {
        Self {
            url: url.to_owned(),
            client: ClientSettings::default(),
            known: None,
            provider_urls: Vec::new(),
            private: private.clone(),
            scope: IdentityScope::Client,
            need: SignInNeed::Always,
            exchange: Some(exchange),
        }
    }
}

/// The keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct SignInKeys {
    oauth: Option<OAuthKeys>,
    credentials: SourceCredentials,
}

#[derive(Debug, Clone)]
struct OAuthKeys {
    client: ProviderClient,
    grant: GrantWord,
}

#[derive(Deserialize, JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "snake_case")]
enum GrantWord {
    #[default]
    AuthorizationCode,
    ClientCredentials,
}

/// What describes the table.
pub(super) type OAuthTable = Joined<RegisteredClientKeys, OAuthOwnKeys>;

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
pub(super) struct OAuthOwnKeys {
    client_metadata_url: Option<ServerAddress>,
    redirect_url: Option<RedirectAddress>,
    grant: Option<GrantWord>,
}

impl SignInKeys {
    /// The keys of a server whose client at the provider a client's file names, if it does.
    pub(crate) fn of_client(client: Option<ClientSettings>) -> Self {
        let oauth = client.map(|settings| OAuthKeys {
            client: ProviderClient::of(settings),
            grant: GrantWord::default(),
        });
        Self { oauth, credentials: SourceCredentials::default() }
    }

    pub(crate) fn read(table: &mut Table<'_>) -> Option<Self> {
        let credentials = SourceCredentials::read(table)?;
        let oauth = match table.peek("oauth") {
            Some(field) => Some(oauth(&field)?),
            None => None,
        };
        if credentials.are_of_callers()
            && let Some(field) = table.peek("oauth")
        {
            let problem = format!("is set beside `credentials = \"{}\"`", credentials.word());
            field.key_fault(problem, "keep one of the two");
            return None;
        }
        let is_machine = oauth.as_ref().is_some_and(OAuthKeys::is_machine);
        if is_machine && matches!(credentials, SourceCredentials::PerUser) {
            let field = table.peek("credentials")?;
            let hint = "remove it: with `client_credentials` nobody signs in";
            field.key_fault("is set beside `grant = \"client_credentials\"`", hint);
            return None;
        }
        Some(Self { oauth, credentials })
    }

    /// Whether a key is set that makes no sense beside a header that signs in.
    pub(crate) fn is_set(&self) -> bool {
        self.oauth.is_some() || !matches!(self.credentials, SourceCredentials::Shared)
    }

    /// How users sign in. None if their clients send what the server wants.
    pub(crate) fn settings(&self, url: &str, private: &AllowPrivate) -> Option<SignInSettings> {
        if self.client_headers().is_some() {
            return None;
        }
        if let Some(exchange) = self.credentials.exchange() {
            return Some(SignInSettings::exchanged(url, private, exchange.at(url)));
        }
        let client = self.oauth.as_ref().map(|own| own.client.settings.clone());
        let client = client.unwrap_or_default();
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
            exchange: None,
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
        own.client.digest(parts);
        parts.add(if own.is_machine() { "client_credentials" } else { "authorization_code" });
    }

    /// The values as JSON, without secrets. None for keys that are not set.
    pub(crate) fn shown(&self) -> (Option<Json>, Option<Json>) {
        let oauth = self.oauth.as_ref().map(|own| {
            let mut shown = own.client.shown();
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
    let client = ProviderClient::read(&mut table);
    let keys: Option<OAuthOwnKeys> = table.read();
    let grant = keys.as_ref().and_then(|keys| keys.grant).unwrap_or_default();
    let lacks_id = grant == GrantWord::ClientCredentials && table.peek("client_id").is_none();
    if let Some(field) = table.peek("grant").filter(|_| lacks_id) {
        let hint = "write the `client_id` that the provider gave you";
        field.key_fault("needs `client_id`", hint);
    }
    table.finish();
    let (mut client, keys) = (client.filter(|_| !lacks_id)?, keys?);
    client.settings.metadata_url = keys.client_metadata_url.map(|url| url.0);
    client.settings.redirect = keys.redirect_url.map(|url| url.0);
    Some(OAuthKeys { client, grant })
}
