//! An HTTP API as it was read from a configuration.

use std::fmt;
use std::sync::Arc;

use gatefold_catalog::KindName;
use gatefold_connect::{
    ApiDefinition, Auth, ClientCredentials, DescribedOperations, DescriptionPlace, HttpApi,
    HttpApiSettings, KeyPlace, Routing, SchemeCredential, SchemeCredentials, WrittenAction,
};
use gatefold_core::Secret;
use gatefold_dispatch::{Source, StatelessAdapter, StatelessSettings};
use gatefold_egress::{Identity, Rate, Reach};
use serde_json::{Value as Json, json};

use super::super::credentials::{ClientHeaders, SourceCredentials};
use super::super::{
    AllowPrivate, DigestParts, KindSection, SignInSettings, SourceIdentity, SourcePorts,
};
use super::code_flow::CodeFlow;
use super::{ActionsKind, OpenApiKind};

/// Where an API is and what every request carries.
#[derive(Clone, Default)]
pub(super) struct ApiConnection {
    pub(super) base_url: Option<String>,
    pub(super) sign_in: ApiSignIn,
    pub(super) headers: Vec<(String, Secret)>,
    pub(super) rate: Option<Rate>,
    pub(super) routing: Routing,
    pub(super) private: AllowPrivate,
    /// Whose sign-in a call uses.
    pub(super) credentials: SourceCredentials,
    /// What must not be shown, whatever it is used for: all that comes from the keyring, and keys.
    pub(super) secrets: Vec<Secret>,
}

/// Who calls it: what each request carries, and the certificate of its connections.
#[derive(Clone, Default)]
pub(super) struct ApiSignIn {
    pub(super) auth: Option<ApiAuth>,
    /// Credentials for single schemes of the description.
    pub(super) schemes: SchemeCredentials,
    pub(super) certificate: Option<ApiCertificate>,
}

/// A client certificate, with the texts that it was read from.
#[derive(Clone)]
pub(super) struct ApiCertificate {
    pub(super) identity: Identity,
    pub(super) cert: String,
    pub(super) key: Secret,
}

/// How to sign in, before there is anything that signs in.
#[derive(Clone)]
pub(super) enum ApiAuth {
    Bearer(Secret),
    Basic {
        username: String,
        password: Secret,
    },
    ApiKey {
        key: Secret,
        place: Option<KeyPlace>,
    },
    ClientCredentials {
        token_url: String,
        client_id: String,
        client_secret: Secret,
        scopes: Vec<String>,
    },
    AuthorizationCode(Box<CodeFlow>),
}

/// One source that is an HTTP API.
pub(super) struct ApiSection {
    connection: ApiConnection,
    operations: ApiOperations,
}

/// What says which operations there are.
enum ApiOperations {
    Described(DescribedOperations),
    Written(Arc<[WrittenAction]>),
}

impl ApiSection {
    pub(super) fn of_actions(connection: ApiConnection, actions: Vec<WrittenAction>) -> Self {
        Self { connection, operations: ApiOperations::Written(actions.into()) }
    }

    pub(super) fn of_description(
        connection: ApiConnection,
        described: DescribedOperations,
    ) -> Self {
        Self { connection, operations: ApiOperations::Described(described) }
    }
}

impl ApiSection {
    /// The hosts that the configuration itself names or allows.
    fn reach(&self) -> Reach {
        let token_url = match &self.connection.sign_in.auth {
            Some(ApiAuth::ClientCredentials { token_url, .. }) => Some(token_url),
            _ => None,
        };
        let described = match &self.operations {
            ApiOperations::Described(described) => match &described.place {
                DescriptionPlace::Url(url) => Some(url.as_str()),
                DescriptionPlace::File(_) => None,
            },
            ApiOperations::Written(_) => None,
        };
        let urls = self.connection.base_url.iter().chain(token_url);
        let urls = urls.map(String::as_str).chain(described);
        Reach::for_source(urls, self.connection.private.0.clone())
    }
}

impl ApiSignIn {
    pub(super) fn code_flow(&self) -> Option<&CodeFlow> {
        match &self.auth {
            Some(ApiAuth::AuthorizationCode(flow)) => Some(flow),
            _ => None,
        }
    }

    /// The keys that are set in `auth`.
    fn ways(&self) -> Vec<&'static str> {
        let auth = self.auth.as_ref().map(ApiAuth::name);
        let schemes = (!self.schemes.is_empty()).then_some("schemes");
        auth.into_iter().chain(schemes).chain(self.certificate.as_ref().map(|_| "tls")).collect()
    }
}

impl ApiAuth {
    fn name(&self) -> &'static str {
        match self {
            Self::Bearer(_) => "bearer",
            Self::Basic { .. } => "basic",
            Self::ApiKey { .. } => "api_key",
            Self::ClientCredentials { .. } => "client_credentials",
            Self::AuthorizationCode(_) => "authorization_code",
        }
    }

    fn digest(&self, parts: &mut DigestParts) {
        parts.add(self.name());
        match self {
            Self::Bearer(token) => parts.add(token.expose()),
            Self::Basic { username, password } => {
                parts.add(username);
                parts.add(password.expose());
            }
            Self::ApiKey { key, place } => {
                parts.add(key.expose());
                parts.add(format!("{place:?}"));
            }
            Self::ClientCredentials { token_url, client_id, client_secret, scopes } => {
                parts.add(token_url);
                parts.add(client_id);
                parts.add(client_secret.expose());
                parts.add_list(scopes, |parts, scope| parts.add(scope));
            }
            Self::AuthorizationCode(flow) => flow.digest(parts),
        }
    }

    fn build(&self) -> Option<Auth> {
        Some(match self.clone() {
            Self::Bearer(token) => Auth::Bearer(token),
            Self::Basic { username, password } => Auth::Basic { username, password },
            Self::ApiKey { key, place } => Auth::ApiKey { key, place },
            Self::ClientCredentials { token_url, client_id, client_secret, scopes } => {
                let token_url = token_url.parse().ok()?;
                let account = ClientCredentials::new(token_url, client_id, client_secret, scopes);
                Auth::ClientCredentials(Box::new(account))
            }
            Self::AuthorizationCode(_) => Auth::SignedIn,
        })
    }
}

impl KindSection for ApiSection {
    fn kind(&self) -> KindName {
        match self.operations {
            ApiOperations::Described(_) => OpenApiKind::NAME,
            ApiOperations::Written(_) => ActionsKind::NAME,
        }
    }

    fn digest(&self, parts: &mut DigestParts) {
        let ApiConnection {
            base_url,
            sign_in,
            headers,
            rate,
            routing,
            private,
            credentials,
            secrets: _,
        } = &self.connection;
        parts.add(self.kind().as_str());
        parts.add(base_url.as_deref().unwrap_or_default());
        parts.add_list(sign_in.auth.as_slice(), |parts, auth| auth.digest(parts));
        let schemes: Vec<_> = sign_in.schemes.iter().collect();
        parts.add_list(&schemes, |parts, (name, credential)| {
            parts.add(name);
            match credential {
                SchemeCredential::Text(text) => parts.add(text.expose()),
                SchemeCredential::User { username, password } => {
                    parts.add(username);
                    parts.add(password.expose());
                }
            }
        });
        if let Some(certificate) = &sign_in.certificate {
            parts.add("tls");
            parts.add(&certificate.cert);
            parts.add(certificate.key.expose());
        }
        parts.add_pairs(headers);
        parts.add(format!("{rate:?}"));
        parts.add(format!("{routing:?}"));
        private.digest(parts);
        credentials.digest(parts);
        match &self.operations {
            ApiOperations::Described(DescribedOperations { place, server_variables, overlay }) => {
                parts.add(place.to_string());
                parts.add(format!("{overlay:?}"));
                let variables: Vec<_> = server_variables.iter().collect();
                parts.add_list(&variables, |parts, variable| parts.add(format!("{variable:?}")));
            }
            ApiOperations::Written(actions) => {
                parts.add_list(actions, |parts, action| parts.add(format!("{action:?}")));
            }
        }
    }

    fn summary(&self) -> String {
        let base = self.connection.base_url.as_deref().map(host_of);
        let base = base.map(|host| format!(" at {host}")).unwrap_or_default();
        let what = match &self.operations {
            ApiOperations::Described(described) => shown_place(&described.place),
            ApiOperations::Written(actions) if actions.len() == 1 => "1 action".to_owned(),
            ApiOperations::Written(actions) => format!("{} actions", actions.len()),
        };
        let ways = self.connection.sign_in.ways();
        let auth: String = ways.into_iter().flat_map(|way| [" ", way, "=***"]).collect();
        format!("{what}{base}{auth}")
    }

    fn shown(&self) -> Json {
        let headers: Vec<_> = self.connection.headers.iter().map(|(name, _)| name).collect();
        let mut shown = json!({
            "kind": self.kind().as_str(),
            "host": self.connection.base_url.as_deref().map(host_of),
            "auth": self.connection.sign_in.auth.as_ref().map(ApiAuth::name),
            "headers": headers,
        });
        if !self.connection.sign_in.schemes.is_empty() {
            let names: Vec<_> = self.connection.sign_in.schemes.keys().collect();
            shown["schemes"] = json!(names);
        }
        if self.connection.sign_in.certificate.is_some() {
            shown["tls"] = true.into();
        }
        if let Some(credentials) = self.connection.credentials.shown() {
            shown["credentials"] = credentials;
        }
        if let Some(allowed) = self.connection.private.shown() {
            shown["allow_private"] = allowed;
        }
        if self.connection.routing == Routing::BeforeDecoding {
            shown["encoded_slashes"] = true.into();
        }
        match &self.operations {
            ApiOperations::Described(described) => {
                shown["openapi"] = shown_place(&described.place).into();
            }
            ApiOperations::Written(actions) => shown["actions"] = actions.len().into(),
        }
        shown
    }

    fn sign_in(&self) -> Option<SignInSettings> {
        let ApiConnection { base_url, sign_in, private, credentials, .. } = &self.connection;
        let base_url = base_url.as_deref()?;
        if let Some(exchange) = credentials.exchange() {
            return Some(SignInSettings::exchanged(base_url, private, exchange.clone()));
        }
        Some(sign_in.code_flow()?.settings(base_url, private, credentials.scope()))
    }

    fn client_headers(&self) -> Option<ClientHeaders> {
        self.connection.credentials.client_headers().cloned()
    }

    fn is_read_on_reload(&self) -> bool {
        matches!(self.operations, ApiOperations::Described(_))
    }

    fn asks(&self) -> Vec<String> {
        match &self.operations {
            ApiOperations::Described(described) => described.overlay.asks(),
            ApiOperations::Written(actions) => {
                let confirmed = actions.iter().filter(|action| action.confirm);
                confirmed.map(|action| action.name.clone()).collect()
            }
        }
    }

    fn build(&self, identity: SourceIdentity, ports: &SourcePorts) -> Arc<dyn Source> {
        let certificate = self.connection.sign_in.certificate.as_ref();
        let client = match certificate {
            Some(certificate) => ports.egress.client_as(&certificate.identity, self.reach()),
            None => ports.egress.client_for(self.reach()),
        };
        let api = HttpApi::new(
            HttpApiSettings {
                domain: identity.domain.clone(),
                base: self.connection.base_url.as_deref().and_then(|url| url.parse().ok()),
                auth: self.connection.sign_in.auth.as_ref().and_then(ApiAuth::build),
                schemes: self.connection.sign_in.schemes.clone(),
                has_certificate: certificate.is_some(),
                secrets: self.connection.secrets.clone(),
                headers: self.connection.headers.clone(),
                rate: self.connection.rate,
                routing: self.connection.routing,
                known: identity.known.clone(),
                definition: match &self.operations {
                    ApiOperations::Described(described) => {
                        ApiDefinition::Described(described.clone())
                    }
                    ApiOperations::Written(actions) => ApiDefinition::Written(actions.clone()),
                },
            },
            client,
            ports.credentials_at(&identity.domain),
            ports.workers.clone(),
            ports.clock.clone(),
        );
        let settings = StatelessSettings {
            domain: identity.domain,
            config_digest: identity.config_digest,
            describe_deadline: identity.connect_deadline,
            known: identity.known,
        };
        let (manifests, clock) = (ports.manifests.clone(), ports.clock.clone());
        StatelessAdapter::new(Arc::new(api), settings, manifests, clock)
    }
}

impl fmt::Debug for ApiSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiSection").field("summary", &self.summary()).finish_non_exhaustive()
    }
}

fn shown_place(place: &DescriptionPlace) -> String {
    match place {
        DescriptionPlace::File(path) => path.display().to_string(),
        DescriptionPlace::Url(url) => host_of(url.as_str()),
    }
}

/// The scheme, host and port of a URL.
fn host_of(url: &str) -> String {
    let uri: http::Uri = url.parse().unwrap_or_default();
    let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
    let (scheme, host) = (uri.scheme_str().unwrap_or("http"), uri.host().unwrap_or_default());
    format!("{scheme}://{host}{port}/...")
}
