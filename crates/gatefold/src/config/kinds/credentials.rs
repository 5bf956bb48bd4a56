//! The key `credentials`: whose credentials a call to a remote source uses.

use gatefold_config::{Field, Table, Value, fault};
use gatefold_core::{Domain, Secret};
use gatefold_dispatch::IdentityScope;
use http::HeaderName;
use http::header::AUTHORIZATION;
use serde::de::{Deserialize, Deserializer};
use serde_json::{Value as Json, json};

use super::DigestParts;
use crate::config::key::{Key, Kind};

/// Headers of a request with a meaning of their own, in which no client can send a credential.
const TAKEN: &[&str] = &[
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "forwarded",
    "host",
    "last-event-id",
    "origin",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// How the names of further ones begin.
const TAKEN_PREFIXES: &[&str] = &["mcp-", "sec-", "x-forwarded-"];

pub(crate) const WORDS: [&str; 3] = ["shared", "per_user", "client"];

/// The key for sources that have one of the keys `needs`.
pub(crate) const fn key(needs: &'static [&'static str]) -> Key {
    Key {
        details: "`shared`: one sign-in, which everybody's calls use. `per_user`: each user signs in, \
                  with sessions of their own, and sees what the server shows to them. `client`: each \
                  client sends a credential of its own with its requests, in the header \
                  `X-Gatefold-NAME` (with `-` for `_`), and it goes on as `Authorization`; a table \
                  names other headers.",
        unset: "`shared`",
        example: "\"per_user\"",
        needs,
        ..Key::new("credentials", Kind::Credentials, "Whose credentials a call uses.")
    }
}

/// The value of the key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum SourceCredentials {
    #[default]
    Shared,
    PerUser,
    Client(ClientHeaders),
}

/// The headers of a credential that clients send themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientHeaders {
    sent: Option<HeaderName>,
    passed_on: Option<HeaderName>,
}

impl SourceCredentials {
    pub(super) fn read(table: &mut Table<'_>) -> Option<Self> {
        let Some(field) = table.field("credentials") else { return Some(Self::Shared) };
        if matches!(field.value(), Value::Table(_)) {
            return ClientHeaders::read(&field).map(Self::Client);
        }
        let word: CredentialsWord = field.read()?;
        Some(match word {
            CredentialsWord::Shared => Self::Shared,
            CredentialsWord::PerUser => Self::PerUser,
            CredentialsWord::Client => Self::Client(ClientHeaders::default()),
        })
    }

    pub(super) fn scope(&self) -> IdentityScope {
        match self {
            Self::Shared => IdentityScope::Shared,
            Self::PerUser => IdentityScope::PerUser,
            Self::Client(_) => IdentityScope::Client,
        }
    }

    pub(super) fn client_headers(&self) -> Option<&ClientHeaders> {
        match self {
            Self::Client(headers) => Some(headers),
            Self::Shared | Self::PerUser => None,
        }
    }

    /// Whether a configured header does not take the place of what clients send: a client without a
    /// credential would then come in with the configuration's.
    pub(super) fn check(&self, table: &Table<'_>, headers: &[(String, Secret)]) -> Option<()> {
        let Some(passed_on) = self.client_headers().map(ClientHeaders::passed_on) else {
            return Some(());
        };
        let mut names = headers.iter().map(|(name, _)| name);
        if !names.any(|name| name.eq_ignore_ascii_case(passed_on.as_str())) {
            return Some(());
        }
        let field = table.peek("headers")?;
        let problem = format!("has `{passed_on}`, in which clients' credentials go on");
        field.fault(problem, "remove it: a client without a credential would come in with it");
        None
    }

    /// Adds it to a source's digest. Without it, the digest is that of a version that did not know
    /// the key.
    pub(super) fn digest(&self, parts: &mut DigestParts) {
        match self {
            Self::Shared => {}
            Self::PerUser => {
                parts.add("credentials");
                parts.add("per_user");
            }
            Self::Client(ClientHeaders { sent, passed_on }) => {
                parts.add("credentials");
                parts.add("client");
                for name in [sent, passed_on] {
                    parts.add(name.as_ref().map_or("", HeaderName::as_str));
                }
            }
        }
    }

    /// The value as JSON. None if the key has no effect.
    pub(super) fn shown(&self) -> Option<Json> {
        match self {
            Self::Shared => None,
            Self::PerUser => Some(json!("per_user")),
            Self::Client(ClientHeaders { sent: None, passed_on: None }) => Some(json!("client")),
            Self::Client(ClientHeaders { sent, passed_on }) => {
                let named = [("client_header", sent), ("upstream_header", passed_on)];
                let named = named.into_iter();
                Some(named.filter_map(|(key, name)| Some((key, name.as_ref()?.as_str()))).collect())
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

    fn read(field: &Field<'_>) -> Option<Self> {
        let mut table = field.table()?;
        let keys: ClientHeaderKeys = table.read()?;
        let (sent, passed_on) = (keys.client_header, keys.upstream_header);
        let (sent, passed_on) = (sent.map(|name| name.0), passed_on.map(|name| name.0));
        let taken = table.peek("client_header").filter(|_| sent.as_ref().is_some_and(is_taken));
        table.finish();
        if let Some(field) = taken {
            field.fault("has a meaning of its own", "use another, such as \"X-Tickets-Token\"");
            return None;
        }
        Some(Self { sent, passed_on })
    }
}

fn is_taken(name: &HeaderName) -> bool {
    let name = name.as_str();
    TAKEN.contains(&name) || TAKEN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum CredentialsWord {
    Shared,
    PerUser,
    Client,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct ClientHeaderKeys {
    client_header: Option<NamedHeader>,
    upstream_header: Option<NamedHeader>,
}

struct NamedHeader(HeaderName);

impl<'de> Deserialize<'de> for NamedHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = HeaderName::try_from(String::deserialize(deserializer)?);
        let hint = "use letters, digits and `-`";
        name.map(Self).map_err(|_| fault("is not the name of a header", hint))
    }
}
