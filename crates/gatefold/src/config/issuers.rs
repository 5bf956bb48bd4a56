//! `[[server.issuers]]` and `server.public_url`: whose tokens let people in, and what we are called.

use gatefold_config::schemas;
use gatefold_config::{Field, Table, Text, fault};
use gatefold_core::Secret;
use gatefold_identity::{PublicUrl, PublicUrlError, is_this_machine};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

use super::{AuthenticationMode, ServerConfig};

/// The most issuers of one configuration.
const ISSUERS: usize = 16;

/// The claim that has a person's groups at most issuers.
pub(super) const GROUPS_CLAIM: &str = "groups";

/// An issuer whose tokens let people in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerConfig {
    /// Its name, letter for letter as its tokens have it.
    pub issuer: String,
    /// What its tokens for us name as their audience, where that is not our own address.
    pub audience: Option<String>,
    /// Where its keys are, if its metadata does not say it.
    pub jwks_uri: Option<Url>,
    /// The scopes that its tokens have to have.
    pub scopes: Vec<String>,
    /// The claim with a person's groups.
    pub groups_claim: String,
    pub introspection: Option<IntrospectionConfig>,
}

/// How an issuer is asked about tokens that say nothing themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntrospectionConfig {
    /// Where, if the issuer's metadata does not say it.
    pub endpoint: Option<Url>,
    pub client_id: String,
    pub client_secret: Secret,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend(
    "required" = ["issuer"],
    "dependencies" = {
        "client_id": ["client_secret"],
        "client_secret": ["client_id"],
        "introspection_endpoint": ["client_id"],
    },
    "additionalProperties" = false,
    "x-constraint" = "`issuer`, and as needed `audience`, `jwks_uri`, `scopes`, `groups_claim`, \
                      `introspection_endpoint`, `client_id` and `client_secret`"
))]
pub(super) struct IssuerKeys {
    issuer: Option<IssuerAddress>,
    audience: Option<Text>,
    jwks_uri: Option<IssuerAddress>,
    scopes: Vec<ScopeName>,
    groups_claim: Option<Text>,
    introspection_endpoint: Option<IssuerAddress>,
    client_id: Option<Text>,
    client_secret: Option<Text>,
}

/// An address of an issuer, as it is written. What it says decides who comes in, so it has to be
/// encrypted on its way from other machines.
#[derive(JsonSchema)]
#[schemars(schema_with = "schemas::web_address")]
pub(super) struct IssuerAddress(pub(super) String, pub(super) Url);

impl<'de> Deserialize<'de> for IssuerAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let url = web_address(&text).map_err(|problem| {
            fault::<D::Error>(problem, "write it in full: \"https://id.example\"")
        })?;
        Ok(Self(text, url))
    }
}

/// The address by which clients know us.
#[derive(JsonSchema)]
#[schemars(schema_with = "schemas::web_address")]
pub(super) struct PublicAddress(pub(super) PublicUrl);

impl Serialize for PublicAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for PublicAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let hint =
            "write scheme and host, and a path if there is one: \"https://tools.example/gatefold\"";
        web_address(&text).map_err(|problem| fault::<D::Error>(problem, hint))?;
        let url = PublicUrl::parse(&text);
        url.map(Self).map_err(|error| match error {
            PublicUrlError::Path => {
                let hint = "use letters, digits, `-`, `_`, `.` and `~` between single slashes";
                fault("has a path that no proxy passes on as it is", hint)
            }
            _ => fault("has more than a scheme, a host, a port and a path", hint),
        })
    }
}

/// A name of a scope, as it may stand in a header (RFC 6749, section 3.3).
#[derive(JsonSchema)]
#[schemars(with = "Text")]
pub(super) struct ScopeName(pub(super) String);

impl<'de> Deserialize<'de> for ScopeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let is_legal = |b: u8| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
        if text.bytes().all(is_legal) {
            return Ok(Self(text));
        }
        Err(fault("is not the name of a scope", "list each one as a text of its own"))
    }
}

fn web_address(text: &str) -> Result<Url, &'static str> {
    let url: Url = text.parse().map_err(|_| "is not an address")?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err("has no `https` scheme");
    }
    if url.scheme() == "http" && !is_this_machine(&url) {
        return Err("is not encrypted, which is for addresses of this machine alone");
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("has more than an address");
    }
    Ok(url)
}

/// Reads the list. An issuer that cannot be used is noted and left out.
pub(super) fn read(field: &Field<'_>) -> Vec<IssuerConfig> {
    let Some(items) = field.items() else { return Vec::new() };
    if items.len() > ISSUERS {
        field.fault(format!("has more than {ISSUERS} issuers"), "remove some");
    }
    let mut issuers: Vec<IssuerConfig> = Vec::new();
    for item in items.into_iter().take(ISSUERS) {
        let Some(issuer) = item.table().and_then(|table| issuer(&item, table)) else { continue };
        if issuers.iter().any(|other| other.issuer == issuer.issuer) {
            item.fault("is the same issuer as one before", "remove one of the two");
            continue;
        }
        let asks = issuer.introspection.is_some();
        if asks && issuers.iter().any(|other| other.introspection.is_some()) {
            let hint = "an opaque token does not say whose it is, and no other issuer must see it: \
                        remove the `client_id` of one";
            item.fault("would be asked about the tokens of another issuer too", hint);
            continue;
        }
        issuers.push(issuer);
    }
    issuers
}

fn issuer(field: &Field<'_>, mut table: Table<'_>) -> Option<IssuerConfig> {
    let keys: Option<IssuerKeys> = table.read();
    let needs = |key: &str, other: &str, is_there: bool| {
        let field = table.peek(key).filter(|_| !is_there);
        if let Some(field) = &field {
            field.key_fault(format!("needs `{other}`"), format!("write `{other}` beside it"));
        }
        field.is_none()
    };
    let has_issuer = table.peek("issuer").is_some();
    let keys = keys?;
    let (has_id, has_secret) = (keys.client_id.is_some(), keys.client_secret.is_some());
    let is_whole = needs("client_id", "client_secret", has_secret)
        & needs("client_secret", "client_id", has_id)
        & needs("introspection_endpoint", "client_id", has_id);
    table.finish();
    if !has_issuer {
        field.fault("has no `issuer`", "write `issuer = \"https://id.example\"` in it");
    }
    let IssuerAddress(issuer, _) = keys.issuer?;
    let introspection =
        keys.client_id.zip(keys.client_secret).map(|(id, secret)| IntrospectionConfig {
            endpoint: keys.introspection_endpoint.map(|own| own.1),
            client_id: id.0,
            client_secret: Secret::new(secret.0),
        });
    is_whole.then(|| IssuerConfig {
        issuer,
        audience: keys.audience.map(|own| own.0),
        jwks_uri: keys.jwks_uri.map(|own| own.1),
        scopes: keys.scopes.into_iter().map(|own| own.0).collect(),
        groups_claim: keys.groups_claim.map_or_else(|| GROUPS_CLAIM.to_owned(), |own| own.0),
        introspection,
    })
}

/// Notes what a key needs beside it that lets people in: nobody comes in otherwise who does not
/// anyway, and their tokens have to be for some address.
pub(super) fn check_access(field: &Field<'_>, server: &ServerConfig, use_of_url: &str) {
    if server.authentication != Some(AuthenticationMode::Token) {
        let hint = "write `authentication = \"token\"` under `[server]`";
        field.key_fault("lets nobody in who would not come in anyway", hint);
    }
    if server.public_url.is_none() {
        let hint = "write the address that clients use under `[server]`: \
                    `public_url = \"https://tools.example\"`";
        field.key_fault(format!("needs `public_url`, {use_of_url}"), hint);
    }
}
