//! `auth` of an HTTP API.

use gatefold_config::{Field, HandRead, Table, Text, parsed};
use gatefold_connect::{KeyPart, KeyPlace, SchemeCredential, SchemeCredentials};
use gatefold_core::Secret;
use gatefold_egress::Identity;
use gatefold_located::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::{Value as Json, json};

use super::super::shared_values::{HeaderSecret, ServerAddress, missing, pem};
use super::code_flow::{CodeFlow, CodeFlowKeys};
use super::section::{ApiAuth, ApiCertificate, ApiSignIn};

/// The ways to sign in within a request. At most one of them is set; `schemes` and `tls` may stand beside it, or
/// alone.
const WAYS: [&str; 5] = ["bearer", "basic", "api_key", "client_credentials", "authorization_code"];

/// The keys of the table.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend(
    "additionalProperties" = false,
    "oneOf" = allowed_ways(),
    "dependencies" = { "in": ["api_key", "name"], "name": ["api_key", "in"] },
    "x-type" = "table with a way to sign in",
    "x-constraint" = "`bearer`, `basic = { username, password }`, `api_key` with `in` (\"header\", \"query\" or \
                      \"cookie\") and `name`, `client_credentials = { token_url, client_id, client_secret, \
                      scopes }`, or `authorization_code` with `authorize_url` and `token_url` or an `issuer`, \
                      `client_id`, and as needed `client_secret`, `scopes`, `redirect_url`, `device_url`, \
                      `revoke_url`, `resource` and `parameters`; alone or beside each, `schemes`, with a text or \
                      `{ username, password }` for each security scheme of the description by its name, and \
                      `tls = { cert, key }`, with files or PEM text"
))]
pub(super) struct AuthKeys {
    api_key: Option<HeaderSecret>,
    authorization_code: HandRead<CodeFlowKeys>,
    basic: HandRead<BasicKeys>,
    bearer: Option<HeaderSecret>,
    client_credentials: HandRead<ClientKeys>,
    #[serde(rename = "in")]
    place: Option<KeyPartWord>,
    name: Option<Text>,
    #[schemars(schema_with = "schemes_schema")]
    schemes: HandRead<BasicKeys>,
    tls: HandRead<CertificateKeys>,
}

/// One way, and what may stand beside each or alone.
fn allowed_ways() -> Vec<Json> {
    let with = |way: &str| json!({ "required": [way] });
    let (ways, beside) = (WAYS.map(with), ["schemes", "tls"].map(with));
    let alone = json!({ "anyOf": beside, "not": { "anyOf": ways } });
    WAYS.map(with).into_iter().chain([alone]).collect()
}

fn schemes_schema(generator: &mut SchemaGenerator) -> Schema {
    let text = generator.subschema_for::<Text>();
    let credential = json!({ "anyOf": [text, generator.subschema_for::<BasicKeys>()] });
    json_schema!({ "type": "object", "minProperties": 1, "additionalProperties": credential })
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("required" = ["cert", "key"], "additionalProperties" = false))]
struct CertificateKeys {
    cert: HandRead<Text>,
    key: HandRead<Text>,
}

#[derive(JsonSchema)]
#[schemars(with = "String", extend("enum" = ["header", "query", "cookie"]))]
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

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("required" = ["username", "password"], "additionalProperties" = false))]
struct BasicKeys {
    password: Option<String>,
    username: Option<Text>,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("required" = ["token_url", "client_id", "client_secret"], "additionalProperties" = false))]
struct ClientKeys {
    client_id: Option<Text>,
    client_secret: Option<Text>,
    scopes: Vec<Text>,
    token_url: Option<ServerAddress>,
}

pub(super) fn read(field: &Field<'_>) -> Option<ApiSignIn> {
    let mut table = field.table()?;
    let keys: AuthKeys = table.read().unwrap_or_default();
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
        (Some(way), None) => sent(&table, way, keys).map(Some),
    };
    for key in ["in", "name"] {
        if let Some(field) = table.peek(key).filter(|_| table.peek("api_key").is_none()) {
            field.key_fault("needs `api_key`", "write `api_key` beside it, or remove it");
        }
    }
    let schemes = match table.peek("schemes") {
        Some(field) => schemes(&field),
        None => Some(SchemeCredentials::new()),
    };
    let certificate = match table.peek("tls") {
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
fn sent(table: &Table<'_>, way: &str, keys: AuthKeys) -> Option<ApiAuth> {
    match way {
        "bearer" => keys.bearer.map(|own| ApiAuth::Bearer(own.0)),
        "basic" => inner(table, "basic", basic),
        "api_key" => api_key(table, keys),
        "client_credentials" => inner(table, "client_credentials", client_credentials),
        _ => inner(table, "authorization_code", |field, table| {
            CodeFlow::read(field, table).map(Box::new).map(ApiAuth::AuthorizationCode)
        }),
    }
}

fn certificate(field: &Field<'_>) -> Option<ApiCertificate> {
    let mut table = field.table()?;
    let _: Option<CertificateKeys> = table.read();
    for key in ["cert", "key"] {
        if table.peek(key).is_none() {
            missing(field, key);
        }
    }
    let cert = table.peek("cert").and_then(|field| pem(&field));
    let key = table.peek("key").and_then(|field| pem(&field));
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
    table: &Table<'a>,
    key: &str,
    read: fn(&Field<'a>, &mut Table<'a>) -> Option<ApiAuth>,
) -> Option<ApiAuth> {
    let field = table.peek(key)?;
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

fn api_key(table: &Table<'_>, keys: AuthKeys) -> Option<ApiAuth> {
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
