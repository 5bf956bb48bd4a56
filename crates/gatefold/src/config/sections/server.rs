//! `[server]` of `gatefold.toml`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use gatefold_config::schemas::or_reference;
use gatefold_config::{Field, FilePath, HandRead, LimitedItems, Table, Text, Time, fault, parsed};
use gatefold_egress::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use url::Url;

use super::super::issuers::{self, IssuerKeys, PublicAddress};
use super::super::key::SectionKeys;
use super::super::kinds::allow_private::Network;
use super::super::kinds::shared_values::missing;
use super::super::sign_in::{self, PeopleSignInKeys};
use super::super::{
    AuthenticationMode, Config, IssuerConfig, ProviderConfig, ServerConfig, SignInConfig, TlsFiles,
};

/// The HTTP endpoint of `gatefold serve`.
///
/// On a loopback address, whoever can reach it may use it. On any other it starts only where `authentication` says
/// who may.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(in crate::config) struct ServerKeys {
    /// Where to listen.
    ///
    /// `--listen` wins over it.
    #[schemars(extend("examples" = ["127.0.0.1:9000"], "x-restart" = true))]
    listen: ListenAddress,
    /// Whether callers have to say who they are.
    ///
    /// With "token" every request needs an access token, on a loopback address too; `gatefold token create`
    /// makes one. With "none" whoever can reach the endpoint may use it. Without either, only a loopback
    /// address is served, and whoever can reach it may use it.
    #[schemars(extend("examples" = ["token"], "x-unset" = "nobody has to, and only a loopback address is served",
        "x-restart" = true))]
    authentication: Option<AuthenticationWord>,
    /// The certificate and key that secure the endpoint.
    ///
    /// Then it speaks HTTPS and nothing else, with TLS 1.2 or 1.3. `cert` has the certificate, followed by
    /// those of its issuers; `key` has its key: PKCS #8, SEC1 or PKCS #1, without a passphrase. Both are read
    /// again when they change and on SIGHUP; a pair that cannot be used leaves the one in use, and the log says
    /// why. The certificate's name has to be in `public_url` or `allowed_hosts`. It says nothing about who may
    /// come in: see `authentication`.
    #[schemars(extend("examples" = [{"cert": "tls/fullchain.pem", "key": "tls/privkey.pem"}],
        "x-unset" = "plain HTTP", "x-restart" = true))]
    tls: HandRead<TlsKeys>,
    /// The address by which clients know the gateway.
    ///
    /// Scheme, host and port, as behind a proxy, and the path that the proxy takes off:
    /// `https://apps.example/gatefold`. It is what tokens of `[[server.issuers]]` are for, and one of the
    /// `allowed_hosts`. `http` is for addresses of this machine.
    #[schemars(extend("examples" = ["https://tools.example"], "x-unset" = "clients do not have to know it",
        "x-restart" = true))]
    public_url: Option<PublicAddress>,
    /// Whose tokens let people in, beside our own.
    ///
    /// An identity provider that people sign in at. Clients find it by the gateway's metadata (RFC 9728). Its
    /// tokens are JWTs, signed with RS256, ES256 or EdDSA, whose audience is `audience` or the address of the
    /// gateway; or opaque ones, about which it is asked (RFC 7662) as `client_id`, which also exchanges tokens
    /// where a source says so. `jwks_uri` and `introspection_endpoint` are found in its metadata if they are
    /// not here. A token has to have all `scopes`. `groups_claim` is the claim with a person's groups, by
    /// default `groups`; dots lead into objects. It needs `authentication = "token"`.
    #[schemars(extend("examples" = [[{"issuer": "https://id.example", "audience": "gatefold"}]],
        "x-unset" = "only tokens of `gatefold token create`", "x-needs" = ["public_url"], "x-restart" = true))]
    issuers: HandRead<Vec<IssuerKeys>>,
    /// How people sign in at the gateway itself.
    ///
    /// People sign in, see what a client wants, and let it in or not; clients find it by the gateway's
    /// metadata. With `password`, they have a password here: `gatefold user link NAME` makes a link with which
    /// a person sets one. With `provider`, they sign in at an OpenID provider, where the gateway is the client
    /// `client_id`, and comes back to `/oauth/callback` below `public_url`. `name` is what the button says, by
    /// default the issuer's host; `scopes` are asked for beside `openid`; `groups_claim` is the claim of ID
    /// tokens with a person's groups, by default `groups`, and dots lead into objects. `password` is on by
    /// default where there is no provider. With `registration = true` clients may register themselves (RFC
    /// 7591), and anybody can make one look like another; without it, they publish a metadata document. It
    /// needs `authentication = "token"`.
    #[schemars(extend("examples" = [{"password": true}], "x-unset" = "nobody signs in here",
        "x-needs" = ["public_url"], "x-restart" = true))]
    sign_in: HandRead<PeopleSignInKeys>,
    /// Names by which the endpoint may be addressed, beside those of the loopback.
    ///
    /// `Host` headers to accept. A name without a port allows any port.
    #[schemars(extend("examples" = [["gatefold.example"]], "x-restart" = true))]
    allowed_hosts: Vec<Text>,
    /// Web pages that may use the endpoint, beside those of the loopback.
    ///
    /// `Origin` headers to accept.
    #[schemars(extend("examples" = [["https://console.example"]], "x-restart" = true))]
    allowed_origins: Vec<WebOrigin>,
    /// The proxies that say where requests come from.
    ///
    /// A request from one comes from where its `X-Forwarded-For` says, which decides on limits on addresses:
    /// guesses at passwords, registrations, new sessions. What the header says before the last address of no
    /// proxy is not believed.
    #[schemars(extend("examples" = [["127.0.0.1", "10.0.0.0/8"]], "x-restart" = true))]
    trusted_proxies: LimitedItems<Vec<ProxyNetwork>>,
    /// How long a session may be silent before it is forgotten.
    ///
    /// Only clients that begin with `initialize` have sessions, and hardly any says goodbye. A session with a
    /// stream or a call under way is not silent.
    #[schemars(extend("examples" = ["1h"], "x-restart" = true))]
    session_idle: Time,
}

pub(super) fn read(table: &mut Table<'_>, server: &mut ServerConfig) {
    let keys: ServerKeys = table.read().unwrap_or_default();
    server.listen = keys.listen.0;
    server.authentication = keys.authentication.map(AuthenticationMode::from);
    server.public_url = keys.public_url.map(|own| own.0);
    server.issuers = table.peek("issuers").map(|field| issuers::read(&field)).unwrap_or_default();
    server.sign_in = table.peek("sign_in").and_then(|field| sign_in::read(&field));
    let has_issuers = !server.issuers.is_empty();
    if let Some(field) = table.peek("issuers").filter(|_| has_issuers) {
        issuers::check_access(&field, server, "which tokens have to be for");
    }
    if let Some(field) = table.peek("sign_in").filter(|_| server.sign_in.is_some()) {
        issuers::check_access(&field, server, "where people sign in");
    }
    server.allowed_hosts = keys.allowed_hosts.into_iter().map(|host| host.0).collect();
    server.allowed_origins = keys.allowed_origins.into_iter().map(|origin| origin.0).collect();
    server.trusted_proxies = keys.trusted_proxies.0.into_iter().map(|own| own.0).collect();
    server.session_idle = keys.session_idle.0;
    server.tls = table.peek("tls").and_then(|field| tls(&field));
}

impl SectionKeys for ServerKeys {
    fn of(config: &Config) -> Self {
        let own = &config.server;
        Self {
            listen: ListenAddress(own.listen),
            authentication: own.authentication.map(AuthenticationWord::from),
            tls: HandRead::shown(own.tls.as_ref().map(shown_files)),
            public_url: own.public_url.clone().map(PublicAddress),
            issuers: HandRead::shown(shown_issuers(&own.issuers)),
            sign_in: HandRead::shown(own.sign_in.as_ref().map(shown_sign_in)),
            allowed_hosts: own.allowed_hosts.iter().cloned().map(Text).collect(),
            allowed_origins: own.allowed_origins.iter().cloned().map(WebOrigin).collect(),
            trusted_proxies: LimitedItems(
                own.trusted_proxies.iter().copied().map(ProxyNetwork).collect(),
            ),
            session_idle: Time(own.session_idle),
        }
    }
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("required" = ["cert", "key"], "additionalProperties" = false,
    "x-constraint" = "`cert` and `key`, both files with PEM"))]
struct TlsKeys {
    cert: Option<FilePath>,
    key: Option<FilePath>,
}

fn tls(field: &Field<'_>) -> Option<TlsFiles> {
    let mut table = field.table()?;
    for key in ["cert", "key"] {
        if table.peek(key).is_none() {
            missing(field, key);
        }
    }
    let keys: TlsKeys = table.read()?;
    table.finish();
    Some(TlsFiles { cert: keys.cert?.0, key: keys.key?.0 })
}

#[derive(Deserialize, Serialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum AuthenticationWord {
    None,
    Token,
}

impl From<AuthenticationWord> for AuthenticationMode {
    fn from(word: AuthenticationWord) -> Self {
        match word {
            AuthenticationWord::None => Self::None,
            AuthenticationWord::Token => Self::Token,
        }
    }
}

impl From<AuthenticationMode> for AuthenticationWord {
    fn from(mode: AuthenticationMode) -> Self {
        match mode {
            AuthenticationMode::None => Self::None,
            AuthenticationMode::Token => Self::Token,
        }
    }
}

#[derive(JsonSchema)]
#[schemars(with = "String", extend(
    "pattern" = or_reference(r"^(\[[0-9A-Fa-f:.]+\]|[0-9.]+|localhost):[0-9]{1,5}$"), "x-type" = "address and port",
    "x-constraint" = "such as \"127.0.0.1:8420\", \"[::1]:8420\" or \"localhost:8420\""))]
struct ListenAddress(SocketAddr);

impl Serialize for ListenAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ListenAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "write an address and a port, such as \"127.0.0.1:8420\"";
        parsed(deserializer, "an address to listen on", hint, listen_address).map(Self)
    }
}

/// Reads `127.0.0.1:8420`, `[::1]:8420` or `localhost:8420`.
pub fn listen_address(text: &str) -> Option<SocketAddr> {
    if let Some(port) = text.strip_prefix("localhost:") {
        return Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?));
    }
    text.parse().ok()
}

/// An `Origin` header, as a browser sends it.
#[derive(Serialize, JsonSchema)]
#[schemars(with = "String", extend("pattern" = or_reference("^[A-Za-z][A-Za-z0-9+.-]*://."), "x-type" = "origin",
    "x-constraint" = "scheme, host and port as a browser sends them"))]
struct WebOrigin(String);

impl<'de> Deserialize<'de> for WebOrigin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let is_origin =
            |text: &str| text.parse::<http::Uri>().is_ok_and(|uri| uri.scheme().is_some());
        let hint = "write scheme, host and port as a browser sends them: \"https://host.example\"";
        let origin = |text: &str| is_origin(text).then(|| text.to_owned());
        parsed(deserializer, "an origin", hint, origin).map(Self)
    }
}

/// A network of proxies. One of everybody would have anybody say where a request comes from.
#[derive(JsonSchema)]
#[schemars(with = "Network", extend("pattern" = or_reference("^[0-9A-Fa-f:.]+(/[1-9][0-9]{0,2})?$")))]
struct ProxyNetwork(IpNet);

impl Serialize for ProxyNetwork {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ProxyNetwork {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Network(network) = Network::deserialize(deserializer)?;
        if network.prefix_len() == 0 {
            return Err(fault("would believe anybody", "list the networks of your proxies"));
        }
        Ok(Self(network))
    }
}

fn shown_files(TlsFiles { cert, key }: &TlsFiles) -> Value {
    let text = |path: &Path| path.display().to_string();
    json!({ "cert": text(cert), "key": text(key) })
}

fn shown_sign_in(own: &SignInConfig) -> Value {
    let mut shown = json!({ "password": own.password, "registration": own.registration });
    if let Some(provider) = &own.provider {
        shown["provider"] = shown_provider(provider);
    }
    shown
}

/// A provider without its secret.
fn shown_provider(provider: &ProviderConfig) -> Value {
    let mut shown = json!({
        "issuer": provider.issuer,
        "client_id": provider.client_id,
        "client_secret": "***",
        "name": provider.name,
        "groups_claim": provider.groups_claim,
    });
    if !provider.scopes.is_empty() {
        shown["scopes"] = provider.scopes.clone().into();
    }
    shown
}

/// The issuers without their secrets.
fn shown_issuers(issuers: &[IssuerConfig]) -> Option<Value> {
    let shown = issuers.iter().map(|own| {
        let mut shown = json!({ "issuer": own.issuer });
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                shown[key] = value;
            }
        };
        let text = |url: &Url| Value::from(url.as_str());
        set("audience", own.audience.clone().map(Value::from));
        set("jwks_uri", own.jwks_uri.as_ref().map(text));
        set("scopes", (!own.scopes.is_empty()).then(|| own.scopes.clone().into()));
        set("groups_claim", Some(own.groups_claim.clone().into()));
        if let Some(asked) = &own.introspection {
            set("introspection_endpoint", asked.endpoint.as_ref().map(text));
            set("client_id", Some(asked.client_id.clone().into()));
            set("client_secret", Some("***".into()));
        }
        shown
    });
    (!issuers.is_empty()).then(|| shown.collect::<Vec<_>>().into())
}
