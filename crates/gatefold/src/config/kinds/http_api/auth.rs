//! `auth` of an HTTP API.

use gatefold_config::{Field, Table, Text, Value, parsed};
use gatefold_connect::{KeyPart, KeyPlace, SchemeCredential, SchemeCredentials};
use gatefold_core::Secret;
use gatefold_egress::Identity;
use serde::{Deserialize, Deserializer};

use super::super::shared_values::{HeaderSecret, ServerAddress, missing, pem};
use super::code_flow::CodeFlow;
use super::section::{ApiAuth, ApiCertificate, ApiSignIn};

/// The ways to sign in within a request. At most one of them is set; `schemes` and `tls` may stand beside it, or
/// alone.
const WAYS: [&str; 5] = ["bearer", "basic", "api_key", "client_credentials", "authorization_code"];

#[derive(Deserialize, Default)]
#[serde(default)]
struct BearerKeys {
    bearer: Option<HeaderSecret>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct KeyKeys {
    api_key: Option<HeaderSecret>,
    #[serde(rename = "in")]
    place: Option<KeyPartWord>,
    name: Option<Text>,
}

struct KeyPartWord(KeyPart);

impl<'de> Deserialize<'de> for KeyPartWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "write \"header\", \"query\" or \"cookie\"";
        let part = |text: &str| match text {
            "header" => Some(KeyPart::Header),
            "query" => Some(KeyPart::Query),
            "cookie" => Some(KeyPart::Cookie),
            _ => None,
        };
        parsed(deserializer, "a part of a request", hint, part).map(Self)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct BasicKeys {
    username: Option<Text>,
    password: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ClientKeys {
    token_url: Option<ServerAddress>,
    client_id: Option<Text>,
    client_secret: Option<Text>,
    scopes: Vec<Text>,
}

pub(super) fn read(field: &Field<'_>) -> Option<ApiSignIn> {
    let mut table = field.table()?;
    table.know(&WAYS);
    table.know(&["schemes", "tls"]);
    let mut ways = WAYS.into_iter().filter(|way| table.peek(way).is_some());
    let found = (ways.next(), ways.next());
    let auth = match found {
        (None, _) if table.peek("schemes").is_some() || table.peek("tls").is_some() => Some(None),
        (None, _) => {
            let hint = "write one of `bearer`, `basic`, `api_key`, `client_credentials`, \
                        `authorization_code`, `schemes` and `tls`";
            field.fault("names no way to sign in", hint);
            None
        }
        (Some(first), Some(second)) => {
            let second = table.peek(second)?;
            second.key_fault(format!("is set beside `{first}`"), "keep one of the two");
            None
        }
        (Some(way), None) => sent(&mut table, way).map(Some),
    };
    let schemes = match table.field("schemes") {
        Some(field) => schemes(&field),
        None => Some(SchemeCredentials::new()),
    };
    let certificate = match table.field("tls") {
        Some(field) => certificate(&field).map(Some),
        None => Some(None),
    };
    table.finish();
    Some(ApiSignIn { auth: auth?, schemes: schemes?, certificate: certificate? })
}

/// A credential for each scheme, by the name that the description gives it.
fn schemes(field: &Field<'_>) -> Option<SchemeCredentials> {
    let credentials: Vec<_> = field
        .table()?
        .fields()
        .map(|(name, field)| Some((name.to_owned(), scheme(&field)?)))
        .collect();
    if credentials.is_empty() {
        field.fault("is empty", "write the name of a scheme and its credential, or remove it");
        return None;
    }
    credentials.into_iter().collect()
}

fn scheme(field: &Field<'_>) -> Option<SchemeCredential> {
    if !matches!(field.value(), Value::Table(_)) {
        let HeaderSecret(secret) = field.read()?;
        return Some(SchemeCredential::Text(secret));
    }
    let mut table = field.table()?;
    let user = user(field, &mut table);
    table.finish();
    let (username, password) = user?;
    Some(SchemeCredential::User { username, password })
}

/// What a request carries.
fn sent(table: &mut Table<'_>, way: &str) -> Option<ApiAuth> {
    match way {
        "bearer" => {
            let keys: Option<BearerKeys> = table.read();
            keys.and_then(|keys| keys.bearer).map(|own| ApiAuth::Bearer(own.0))
        }
        "basic" => inner(table, "basic", basic),
        "api_key" => api_key(table),
        "client_credentials" => inner(table, "client_credentials", client_credentials),
        _ => inner(table, "authorization_code", |field, table| {
            CodeFlow::read(field, table).map(Box::new).map(ApiAuth::AuthorizationCode)
        }),
    }
}

fn certificate(field: &Field<'_>) -> Option<ApiCertificate> {
    let mut table = field.table()?;
    table.know(&["cert", "key"]);
    for key in ["cert", "key"] {
        if table.peek(key).is_none() {
            missing(field, key);
        }
    }
    let cert = table.field("cert").and_then(|field| pem(&field));
    let key = table.field("key").and_then(|field| pem(&field));
    table.finish();
    let (cert, key) = (cert?, key?);
    match Identity::from_pem(&cert, &key) {
        Ok(identity) => Some(ApiCertificate { identity, cert, key: Secret::new(key) }),
        Err(error) => {
            field.fault(format!("cannot be used: {error}"), "check the two files");
            None
        }
    }
}

fn inner<'a>(
    table: &mut Table<'a>,
    key: &'static str,
    read: fn(&Field<'a>, &mut Table<'a>) -> Option<ApiAuth>,
) -> Option<ApiAuth> {
    let field = table.field(key)?;
    let mut table = field.table()?;
    let auth = read(&field, &mut table);
    table.finish();
    auth
}

fn basic(field: &Field<'_>, table: &mut Table<'_>) -> Option<ApiAuth> {
    user(field, table).map(|(username, password)| ApiAuth::Basic { username, password })
}

fn user(field: &Field<'_>, table: &mut Table<'_>) -> Option<(String, Secret)> {
    let keys: BasicKeys = table.read()?;
    let Some(Text(username)) = keys.username else {
        if table.peek("username").is_none() {
            missing(field, "username");
        }
        return None;
    };
    let Some(password) = keys.password else {
        if table.peek("password").is_none() {
            missing(field, "password");
        }
        return None;
    };
    if username.contains(':') {
        let name = table.peek("username")?;
        name.fault("has a colon, which ends the name on the wire", "remove it");
        return None;
    }
    Some((username, Secret::new(password)))
}

fn api_key(table: &mut Table<'_>) -> Option<ApiAuth> {
    let keys: KeyKeys = table.read()?;
    let place = match (keys.place, keys.name) {
        (Some(place), Some(Text(name))) => {
            let is_header = place.0 == KeyPart::Header;
            if is_header && http::HeaderName::try_from(&name).is_err() {
                table
                    .peek("name")?
                    .fault("is not the name of a header", "use letters, digits and `-`");
                return None;
            }
            Some(KeyPlace { place: place.0, name })
        }
        (None, None) if table.peek("in").is_none() && table.peek("name").is_none() => None,
        (Some(_), None) if table.peek("name").is_none() => {
            table
                .peek("in")?
                .key_fault("needs `name`", "write the name that the API gives the key");
            return None;
        }
        (None, Some(_)) if table.peek("in").is_none() => {
            table
                .peek("name")?
                .key_fault("needs `in`", "write `in = \"header\"`, \"query\" or \"cookie\"");
            return None;
        }
        _ => return None,
    };
    Some(ApiAuth::ApiKey { key: keys.api_key?.0, place })
}

fn client_credentials(field: &Field<'_>, table: &mut Table<'_>) -> Option<ApiAuth> {
    let keys: ClientKeys = table.read()?;
    for key in ["token_url", "client_id", "client_secret"] {
        if table.peek(key).is_none() {
            missing(field, key);
        }
    }
    let scopes: Vec<_> = keys.scopes.into_iter().map(|scope| scope.0).collect();
    Some(ApiAuth::ClientCredentials {
        token_url: keys.token_url?.0,
        client_id: keys.client_id?.0,
        client_secret: Secret::new(keys.client_secret?.0),
        scopes,
    })
}
