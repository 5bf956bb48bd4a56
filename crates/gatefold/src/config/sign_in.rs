//! `[server.sign_in]`: whether people sign in at the gateway itself, and how.

use gatefold_config::{Field, HandRead, Text, fault};
use gatefold_core::{Secret, is_hidden};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::issuers::{GROUPS_CLAIM, IssuerAddress, ScopeName};
use super::kinds::shared_values::missing;

/// The longest name of a provider, in characters: a button has to hold it.
const NAME_CHARS: usize = 64;

/// How people sign in at the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInConfig {
    /// Whether they may with a password of ours.
    pub password: bool,
    /// Where they may instead.
    pub provider: Option<ProviderConfig>,
    /// Whether clients may register themselves.
    pub registration: bool,
}

/// An OpenID provider that says who people are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Its name, letter for letter as its ID tokens have it.
    pub issuer: String,
    /// Who we are there.
    pub client_id: String,
    pub client_secret: Secret,
    /// What people call it.
    pub name: String,
    /// What is asked for beside `openid`.
    pub scopes: Vec<String>,
    /// The claim with a person's groups.
    pub groups_claim: String,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend(
    "anyOf" = [
        { "required": ["provider"] },
        { "properties": { "password": { "enum": [true] } } },
    ],
    "additionalProperties" = false,
    "x-constraint" = "`password`, `provider` and `registration`, as needed"
))]
pub(super) struct PeopleSignInKeys {
    password: Option<bool>,
    provider: HandRead<ProviderKeys>,
    registration: Option<bool>,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("required" = ["issuer", "client_id", "client_secret"], "additionalProperties" = false))]
struct ProviderKeys {
    issuer: Option<IssuerAddress>,
    client_id: Option<Text>,
    client_secret: Option<Text>,
    name: Option<ProviderName>,
    scopes: Vec<ScopeName>,
    groups_claim: Option<Text>,
}

/// What a button says.
#[derive(JsonSchema)]
#[schemars(with = "Text")]
struct ProviderName(String);

impl<'de> Deserialize<'de> for ProviderName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let is_seen = |c: char| !c.is_control() && !is_hidden(c);
        if text.chars().count() <= NAME_CHARS && text.chars().all(is_seen) {
            return Ok(Self(text));
        }
        Err(fault("is not a name for a button", "use up to 64 characters that can be seen"))
    }
}

/// Reads the table. Without a way to sign in, nobody could. A provider takes the place of passwords,
/// unless both are wanted.
pub(super) fn read(field: &Field<'_>) -> Option<SignInConfig> {
    let mut table = field.table()?;
    let keys: PeopleSignInKeys = table.read()?;
    let named = table.peek("provider");
    let provider = named.as_ref().and_then(provider);
    let password = keys.password.unwrap_or(named.is_none());
    let way = table.peek("password").filter(|_| !password && named.is_none());
    if let Some(field) = way {
        let hint = "write a `provider` beside it, or remove `sign_in` if nobody should";
        field.fault("leaves no way to sign in", hint);
    }
    table.finish();
    Some(SignInConfig { password, provider, registration: keys.registration.unwrap_or(false) })
}

fn provider(field: &Field<'_>) -> Option<ProviderConfig> {
    let mut table = field.table()?;
    for key in ["issuer", "client_id", "client_secret"] {
        if table.peek(key).is_none() {
            missing(field, key);
        }
    }
    let keys: ProviderKeys = table.read()?;
    table.finish();
    let IssuerAddress(issuer, url) = keys.issuer?;
    let host = url.host_str().unwrap_or_default().to_owned();
    Some(ProviderConfig {
        issuer,
        client_id: keys.client_id?.0,
        client_secret: Secret::new(keys.client_secret?.0),
        name: keys.name.map_or(host, |own| own.0),
        scopes: keys.scopes.into_iter().map(|own| own.0).collect(),
        groups_claim: keys.groups_claim.map_or_else(|| GROUPS_CLAIM.to_owned(), |own| own.0),
    })
}
