//! HTTP APIs: those with an OpenAPI description, and those whose actions are written down here.

mod actions;
mod auth;
mod code_flow;
mod section;

use std::collections::BTreeMap;
use std::sync::Arc;

use gatefold_catalog::KindName;
use gatefold_config::schemas::or_reference;
use gatefold_config::{
    Field, FilePath, HandRead, LimitedItems, LooseText, Pairs, Table, Text, parsed,
};
use gatefold_connect::{DescribedOperations, DescriptionPlace, OperationOverlay, Overlay, Routing};
use gatefold_core::Secret;
use gatefold_egress::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::credentials::SourceCredentials;
use super::exchange::ExchangeKeys;
use super::mcp::{RequestHeaders, VariableName, headers};
use super::shared_values::ServerAddress;
use super::{AllowPrivate, CONNECTOR, ConnectionMethod, KindSection, SourceKind};
use crate::config::SourceSection;
use crate::config::key::{Key, keys_of};
use crate::files;

use actions::ActionKeys;
use auth::AuthKeys;
use code_flow::CodeFlow;
use section::{ApiConnection, ApiSection, ApiSignIn};

/// The kind of sources that are HTTP APIs with an OpenAPI description.
pub struct OpenApiKind;

impl OpenApiKind {
    pub const NAME: KindName = KindName::at("openapi", &CONNECTOR);

    /// An API whose description is at this address, for a configuration that is made in code.
    /// [`Config::of`](crate::config::Config::of) makes a person approve each call of the tools in
    /// `ask`. `None` if the address is no URL.
    pub fn described_at(address: &str, ask: &[&str]) -> Option<SourceSection> {
        let place = DescriptionPlace::Url(address.parse().ok()?);
        let wanted = |name: &&str| {
            ((*name).to_owned(), OperationOverlay { ask: true, ..OperationOverlay::default() })
        };
        let overlay = Overlay { operations: ask.iter().map(wanted).collect() };
        let server_variables = BTreeMap::new();
        let described = DescribedOperations { place, server_variables, overlay: Arc::new(overlay) };
        Some(ApiSection::of_description(ApiConnection::default(), described).into())
    }
}

impl SourceKind for OpenApiKind {
    fn name(&self) -> KindName {
        Self::NAME
    }

    fn noun(&self) -> &'static str {
        "HTTP API"
    }

    fn details(&self) -> &'static str {
        "An HTTP API has an OpenAPI description (`openapi`), or its operations are written down in the \
         configuration (`actions`)."
    }

    fn ways(&self) -> &'static [ConnectionMethod] {
        &[ConnectionMethod {
            key: "openapi",
            purpose: "for an HTTP API with an OpenAPI description",
            heading: "An HTTP API with an OpenAPI description:",
            example: "described",
        }]
    }

    fn keys(&self) -> Vec<Key> {
        [
            keys_of::<OpenApiKeys>(),
            keys_of::<AddressKeys>(),
            keys_of::<DescriptionKeys>(),
            keys_of::<ConnectionKeys>(),
        ]
        .concat()
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        let connection = connection(table);
        let variables = table.read::<DescriptionKeys>();
        let overlay = match table.peek("overlay") {
            Some(field) => overlay(&field)?,
            None => Overlay::default(),
        };
        let place = description_place(&table.peek("openapi")?)?;
        let variables = variables?.server_variables.0.0.into_iter();
        let server_variables = variables.map(|(name, value)| (name, value.0)).collect();
        let described = DescribedOperations { place, server_variables, overlay: Arc::new(overlay) };
        Some(Arc::new(ApiSection::of_description(connection?, described)))
    }
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "the key is read by hand")]
struct OpenApiKeys {
    /// The description of an HTTP API.
    ///
    /// OpenAPI 3.0, 3.1 or 3.2, or Swagger 2, in JSON or YAML. A file may refer to other files in its folder.
    #[schemars(extend("x-type" = "path or URL", "x-constraint" = "a path is relative to the file that names it",
        "examples" = ["openapi.json"]))]
    openapi: HandRead<Text>,
}

/// The keys of an API with a description.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct DescriptionKeys {
    /// Values for the variables in the addresses of a description's servers.
    #[schemars(with = "LimitedItems<Pairs<VariableName, LooseText>>",
        extend("examples" = [{"region": "eu"}], "x-unset" = "the defaults in the description"))]
    server_variables: LimitedItems<Pairs<String, LooseText>>,
    /// Changes to what the description says.
    ///
    /// A TOML file with tables `[operations.NAME]`, by the names of the tools: `name` renames one, `hide =
    /// true` leaves it out, `description` and `group` take the place of its own, `ask = true` makes a person
    /// approve each call. A change takes effect at the next reload.
    #[schemars(extend("examples" = ["api.overlay.toml"], "x-unset" = "none"))]
    overlay: HandRead<FilePath>,
}

/// The largest overlay, in bytes.
const OVERLAY_LIMIT: u64 = 1024 * 1024;

/// What a file changes in a description.
fn overlay(field: &Field<'_>) -> Option<Overlay> {
    let FilePath(path) = field.read()?;
    let text = match files::read_text(&path, OVERLAY_LIMIT) {
        Ok(text) => text,
        Err(error) => {
            field.fault(format!("cannot be read: {error}"), "check the path");
            return None;
        }
    };
    match toml::from_str(&text) {
        Ok(overlay) => Some(overlay),
        Err(error) => {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            let problem = format!("is wrong in line {line}: {}", error.message());
            field.fault(
                problem,
                "write `[operations.NAME]` with `name`, `hide`, `description`, `group` or `ask`",
            );
            None
        }
    }
}

fn description_place(field: &Field<'_>) -> Option<DescriptionPlace> {
    let Text(text) = field.read()?;
    if text.starts_with("http://") || text.starts_with("https://") {
        let ServerAddress(url) = field.read()?;
        return url.parse().ok().map(DescriptionPlace::Url);
    }
    field.read::<FilePath>().map(|path| DescriptionPlace::File(path.0))
}

/// The kind of sources whose actions a person wrote.
pub struct ActionsKind;

impl ActionsKind {
    pub const NAME: KindName = KindName::at("actions", &CONNECTOR);
}

impl SourceKind for ActionsKind {
    fn name(&self) -> KindName {
        Self::NAME
    }

    fn noun(&self) -> &'static str {
        "HTTP API"
    }

    fn details(&self) -> &'static str {
        ""
    }

    fn ways(&self) -> &'static [ConnectionMethod] {
        &[ConnectionMethod {
            key: "actions",
            purpose: "for an HTTP API whose operations you write down",
            heading: "An HTTP API whose operations are written down here:",
            example: "api",
        }]
    }

    fn keys(&self) -> Vec<Key> {
        let connection = keys_of::<ConnectionKeys>();
        [keys_of::<ActionsKeys>(), keys_of::<AddressKeys>(), connection].concat()
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        let connection = connection(table);
        let actions = table.peek("actions").and_then(|field| actions::read(&field));
        if connection.as_ref().is_some_and(|own| own.base_url.is_none())
            && let Some(field) = table.peek("actions")
        {
            let hint = "write `base_url = \"https://api.example.com\"` beside it";
            field.key_fault("needs `base_url`", hint);
            return None;
        }
        if connection.as_ref().is_some_and(|own| !own.sign_in.schemes.is_empty())
            && let Some(field) = table.peek("auth")
        {
            let hint = "write one of `bearer`, `basic`, `api_key`, `client_credentials` and \
                        `authorization_code`, and other headers in `headers`";
            field.key_fault("has `schemes`, and there is no description that names any", hint);
            return None;
        }
        Some(Arc::new(ApiSection::of_actions(connection?, actions?)))
    }
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "the key is read by hand")]
struct ActionsKeys {
    /// The operations of an HTTP API without a description.
    ///
    /// `path` is below `base_url`, with parameters as `{name}`. `parameters` is the JSON Schema of the
    /// arguments, as a table or as JSON text. Those that are not in the path go into the query or, where the
    /// method has a body, into a JSON object; `in` names others: `{ trace = "header" }`. `body` is JSON text in
    /// which `{name}` stands for a parameter, where the API wants another shape. `extract` is a jq program over
    /// the answer. With `confirm = true` a person has to approve each call.
    #[schemars(extend("examples" = [[{"name": "get_contact", "method": "GET", "path": "/contacts/{id}"}]]))]
    actions: HandRead<Vec<ActionKeys>>,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct AddressKeys {
    /// Where an HTTP API is.
    ///
    /// Paths are added to it.
    #[schemars(extend("examples" = ["https://api.example.com/v1"],
        "x-unset" = "the server that the description names"))]
    base_url: Option<ServerAddress>,
}

/// The keys of every HTTP API.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct ConnectionKeys {
    /// How to sign in at an HTTP API.
    ///
    /// Take secrets from variables or the keyring: `${VAR}`, `${secret:NAME}`. They are never shown. With
    /// `authorization_code` a person signs in: `gatefold login NAME`.
    #[schemars(extend("x-unset" = "none", "examples" = [{
        "authorization_code": { "issuer": "https://id.example.com", "client_id": "my-client" },
    }]))]
    auth: HandRead<AuthKeys>,
    headers: RequestHeaders,
    /// How often an HTTP API may be called.
    ///
    /// A call that would have to wait for more than 5 s is refused, and its answer says when to come back.
    #[schemars(extend("examples" = ["10/s"], "x-unset" = "no limit"))]
    rate: Option<CallRate>,
    /// Whether an HTTP API finds the operation before it decodes the path.
    ///
    /// Most servers decode a path before they look for its segments. So an argument whose slashes would lead to
    /// another operation's path is refused, `5/salary` where there is `/users/{id}/salary`; `group/project`
    /// goes on working. `true` is for a server that looks for segments first: it takes an encoded slash (`%2F`)
    /// for a part of a segment. Segments `.` and `..` are refused either way.
    #[schemars(extend("examples" = [true], "x-unset" = "false"))]
    encoded_slashes: bool,
    allow_private: AllowPrivate,
    credentials: HandRead<SourceCredentials>,
}

#[derive(JsonSchema)]
#[schemars(with = "String", extend("pattern" = or_reference("^[1-9][0-9]*/[smh]$"), "x-type" = "rate",
    "x-constraint" = "a count and `/s`, `/m` or `/h`"))]
struct CallRate(Rate);

impl<'de> Deserialize<'de> for CallRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "write a count and a unit: \"10/s\", \"100/m\" or \"1000/h\"";
        parsed(deserializer, "a rate", hint, |text| text.parse().ok()).map(Self)
    }
}

/// Where the API is and what every request carries.
fn connection(table: &mut Table<'_>) -> Option<ApiConnection> {
    let address: AddressKeys = table.read()?;
    let keys: ConnectionKeys = table.read()?;
    let credentials = SourceCredentials::read(table)?;
    let sign_in = match table.peek("auth") {
        Some(field) => auth::read(&field)?,
        None => ApiSignIn::default(),
    };
    let code_flow = sign_in.code_flow();
    check_sign_in(table, &credentials, &sign_in)?;
    let key = sign_in.certificate.as_ref().map(|certificate| certificate.key.clone());
    let secrets = table.keyring_secrets().into_iter().map(Secret::new).chain(key);
    let exchange = credentials.exchange().and_then(ExchangeKeys::secret);
    let own = [code_flow.and_then(CodeFlow::secret), exchange];
    let secrets = secrets.chain(own.into_iter().flatten().cloned()).collect();
    let base_url = address.base_url.map(|address| address.0);
    let headers = headers(keys.headers);
    credentials.check(table, &headers)?;
    Some(ApiConnection {
        base_url,
        sign_in,
        headers,
        rate: keys.rate.map(|rate| rate.0),
        routing: if keys.encoded_slashes {
            Routing::BeforeDecoding
        } else {
            Routing::AfterDecoding
        },
        private: keys.allow_private,
        credentials,
        secrets,
    })
}

/// Whether the keys that say whose credentials a call uses go together. What a person or a client
/// gives goes to `base_url` and nowhere else, so that has to be known.
fn check_sign_in(
    table: &Table<'_>,
    credentials: &SourceCredentials,
    sign_in: &ApiSignIn,
) -> Option<()> {
    let are_of_callers = credentials.are_of_callers();
    let has_code_flow = sign_in.code_flow().is_some();
    if are_of_callers && let Some(field) = table.peek("auth") {
        let problem = format!("is set beside `credentials = \"{}\"`", credentials.word());
        field.key_fault(problem, "keep one of the two");
        return None;
    }
    if !are_of_callers
        && !has_code_flow
        && let Some(field) = table.peek("credentials")
    {
        let hint = "remove it, or let people sign in: `auth = { authorization_code = { ... } }`";
        field.key_fault("needs `authorization_code` in `auth`", hint);
        return None;
    }
    let key = if are_of_callers { "credentials" } else { "auth" };
    if (are_of_callers || has_code_flow)
        && table.peek("base_url").is_none()
        && let Some(field) = table.peek(key)
    {
        let hint = "write `base_url = \"https://api.example.com\"` beside it: the credentials go \
                    there and nowhere else";
        field.key_fault("needs `base_url`", hint);
        return None;
    }
    Some(())
}
