//! The key `credentials`: whose credentials a call to a remote source uses.

use gatefold_config::{Field, Table, fault};
use gatefold_core::{Domain, Secret};
use gatefold_dispatch::IdentityScope;
use gatefold_located::Value;
use http::HeaderName;
use http::header::AUTHORIZATION;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer};
use serde_json::{Value as Json, json};

use super::DigestParts;
use super::exchange::{ExchangeKeys, ExchangeTableKeys};
use super::provider_client::RegisteredClientKeys;
use super::shared_values::{HEADER_NAME, Joined};

/// Headers that say how a request is to be read, in which no credential can be.
const FRAMING: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Headers in which clients send something else to us.
const TAKEN: &[&str] = &["authorization", "cookie", "forwarded", "origin", "proxy-authorization"];

/// How the names of further ones begin: for all requests, and for those to us.
const FRAMING_PREFIX: &str = "mcp-";
const TAKEN_PREFIXES: &[&str] = &["sec-", "x-forwarded-"];

/// Whose credentials a call uses.
///
/// `shared`: one sign-in, which everybody's calls use. `per_user`: each user signs in, with sessions of
/// their own, and sees what the server shows to them. `client`: each client sends a credential of its own
/// with its requests, in the header `X-Gatefold-NAME` (with `-` for `_`), and it goes on as
/// `Authorization`; a table names other headers. `exchange`: the identity provider gives a token for the
/// source in exchange for the one that the caller came in with (RFC 8693); a table `exchange` says with
/// which client and for what.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(schema_with = "credentials_schema", extend("examples" = ["per_user"], "x-unset" = "`shared`"))]
pub(crate) enum SourceCredentials {
    #[default]
    Shared,
    PerUser,
    Client(ClientHeaders),
    Exchange(Box<ExchangeKeys>),
}

fn credentials_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            generator.subschema_for::<CredentialsWord>(),
            generator.subschema_for::<ClientHeaderKeys>(),
            generator.subschema_for::<ExchangeCredentials>(),
        ],
        "x-type": "\"shared\", \"per_user\", \"client\", \"exchange\" or table",
        "x-constraint": "a table has `client_header` and `upstream_header`, as needed, or `exchange`, a table \
                         with `client_id`, `client_secret` or `private_key` (and `key_id`), `issuer`, \
                         `audience`, `resource` and `scopes`, as needed",
    })
}

/// The headers of a credential that clients send themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientHeaders {
    sent: Option<HeaderName>,
    passed_on: Option<HeaderName>,
}

impl SourceCredentials {
    pub(super) fn read(table: &mut Table<'_>) -> Option<Self> {
        let Some(field) = table.peek("credentials") else { return Some(Self::Shared) };
        if matches!(field.value(), Value::Table(_)) {
            return Self::of_table(&field);
        }
        let word: CredentialsWord = field.read()?;
        Some(match word {
            CredentialsWord::Shared => Self::Shared,
            CredentialsWord::PerUser => Self::PerUser,
            CredentialsWord::Client => Self::Client(ClientHeaders::default()),
            CredentialsWord::Exchange => Self::Exchange(Box::default()),
        })
    }

    fn of_table(field: &Field<'_>) -> Option<Self> {
        let mut table = field.table()?;
        let Some(exchange) = table.field("exchange") else {
            return ClientHeaders::read(table).map(Self::Client);
        };
        let headers = ["client_header", "upstream_header"];
        let beside = headers.into_iter().find_map(|key| table.peek(key));
        for key in headers {
            table.know(key);
        }
        table.finish();
        if let Some(field) = beside {
            field.key_fault("is set beside `exchange`", "keep one of the two");
            return None;
        }
        ExchangeKeys::read(&exchange).map(|keys| Self::Exchange(Box::new(keys)))
    }

    pub(super) fn scope(&self) -> IdentityScope {
        match self {
            Self::Shared => IdentityScope::Shared,
            Self::PerUser => IdentityScope::PerUser,
            Self::Client(_) | Self::Exchange(_) => IdentityScope::Client,
        }
    }

    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::PerUser => "per_user",
            Self::Client(_) => "client",
            Self::Exchange(_) => "exchange",
        }
    }

    /// Whether they come with each request, so that nobody signs in at the source.
    pub(super) const fn are_of_callers(&self) -> bool {
        matches!(self, Self::Client(_) | Self::Exchange(_))
    }

    pub(super) fn client_headers(&self) -> Option<&ClientHeaders> {
        match self {
            Self::Client(headers) => Some(headers),
            Self::Shared | Self::PerUser | Self::Exchange(_) => None,
        }
    }

    pub(super) fn exchange(&self) -> Option<&ExchangeKeys> {
        match self {
            Self::Exchange(keys) => Some(keys),
            Self::Shared | Self::PerUser | Self::Client(_) => None,
        }
    }

    /// The header in which callers' credentials go on, if they have some.
    fn passed_on(&self) -> Option<HeaderName> {
        match self {
            Self::Client(headers) => Some(headers.passed_on()),
            Self::Exchange(_) => Some(AUTHORIZATION),
            Self::Shared | Self::PerUser => None,
        }
    }

    /// Whether a configured header does not take the place of callers' credentials: a caller without
    /// one would then come in with the configuration's.
    pub(super) fn check(&self, table: &Table<'_>, headers: &[(String, Secret)]) -> Option<()> {
        let Some(passed_on) = self.passed_on() else { return Some(()) };
        let mut names = headers.iter().map(|(name, _)| name);
        if !names.any(|name| name.eq_ignore_ascii_case(passed_on.as_str())) {
            return Some(());
        }
        let field = table.peek("headers")?;
        let problem = format!("has `{passed_on}`, in which callers' credentials go on");
        field.fault(problem, "remove it: a caller without a credential would come in with it");
        None
    }

    /// Adds it to a source's digest. Without it, the digest is that of a version that did not know
    /// the key.
    pub(super) fn digest(&self, parts: &mut DigestParts) {
        match self {
            Self::Shared => {}
            Self::PerUser => {
                parts.add("credentials");
                parts.add(self.word());
            }
            Self::Client(ClientHeaders { sent, passed_on }) => {
                parts.add("credentials");
                parts.add(self.word());
                for name in [sent, passed_on] {
                    parts.add(name.as_ref().map_or("", HeaderName::as_str));
                }
            }
            Self::Exchange(keys) => {
                parts.add("credentials");
                parts.add(self.word());
                keys.digest(parts);
            }
        }
    }

    /// The value as JSON. None if the key has no effect.
    pub(super) fn shown(&self) -> Option<Json> {
        match self {
            Self::Shared => None,
            Self::PerUser | Self::Client(ClientHeaders { sent: None, passed_on: None }) => {
                Some(json!(self.word()))
            }
            Self::Client(ClientHeaders { sent, passed_on }) => {
                let named = [("client_header", sent), ("upstream_header", passed_on)];
                let named = named.into_iter();
                Some(named.filter_map(|(key, name)| Some((key, name.as_ref()?.as_str()))).collect())
            }
            Self::Exchange(keys) => {
                let keys = keys.shown();
                let is_bare = keys.as_object().is_some_and(serde_json::Map::is_empty);
                Some(if is_bare { json!(self.word()) } else { json!({ "exchange": keys }) })
            }
        }
    }
}

impl ClientHeaders {
    /// The header of a client's request.
    pub fn sent(&self, domain: &Domain) -> HeaderName {
        self.sent.clone().unwrap_or_else(|| {
            let name = format!("x-gatefold-{}", domain.as_str().replace('_', "-"));
            HeaderName::try_from(name).expect("a domain has only letters, digits and `_`")
        })
    }

    /// The header of the request to the source.
    pub fn passed_on(&self) -> HeaderName {
        self.passed_on.clone().unwrap_or(AUTHORIZATION)
    }

    fn read(mut table: Table<'_>) -> Option<Self> {
        table.know("exchange");
        let keys: ClientHeaderKeys = table.read()?;
        let (sent, passed_on) = (keys.client_header, keys.upstream_header);
        let (sent, passed_on) = (sent.map(|name| name.0), passed_on.map(|name| name.0));
        let taken = table.peek("client_header").filter(|_| sent.as_ref().is_some_and(is_taken));
        let framing =
            table.peek("upstream_header").filter(|_| passed_on.as_ref().is_some_and(is_framing));
        table.finish();
        let is_right = taken.is_none() && framing.is_none();
        for field in [taken, framing].into_iter().flatten() {
            field.fault("has a meaning of its own", "use another, such as \"X-Tickets-Token\"");
        }
        is_right.then_some(Self { sent, passed_on })
    }
}

fn is_framing(name: &HeaderName) -> bool {
    FRAMING.contains(&name.as_str()) || name.as_str().starts_with(FRAMING_PREFIX)
}

fn is_taken(name: &HeaderName) -> bool {
    let text = name.as_str();
    is_framing(name)
        || TAKEN.contains(&text)
        || TAKEN_PREFIXES.iter().any(|prefix| text.starts_with(prefix))
}

#[derive(serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CredentialsWord {
    Shared,
    PerUser,
    Client,
    Exchange,
}

#[derive(serde::Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("additionalProperties" = false))]
struct ClientHeaderKeys {
    client_header: Option<NamedHeader>,
    upstream_header: Option<NamedHeader>,
}

/// The same for a table with `exchange`, which [`ExchangeKeys`] reads.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
struct ExchangeCredentials {
    #[expect(dead_code, reason = "it describes the key")]
    exchange: Joined<RegisteredClientKeys, ExchangeTableKeys>,
}

#[derive(JsonSchema)]
#[schemars(with = "String", extend("pattern" = HEADER_NAME))]
struct NamedHeader(HeaderName);

impl<'de> Deserialize<'de> for NamedHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = HeaderName::try_from(String::deserialize(deserializer)?);
        let hint = "use letters, digits and `-`";
        name.map(Self).map_err(|_| fault("is not the name of a header", hint))
    }
}
