//! `gatefold.toml`, section by section.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use gatefold_config::{
    Count, Document, Field, FilePath, ForeignKey, LimitedItems, Node, Share, Size, Table, Text,
    Time, fault, parsed,
};
use gatefold_core::{AgentId, ClientName, UserId};
use gatefold_disclose::ExecuteTools;
use gatefold_dispatch::Limits;
use gatefold_egress::IpNet;
use gatefold_encoder::ModelPlace;
use gatefold_exchange::{ClientProfile, ResultFormat};
use gatefold_mcp::StartLimits;
use gatefold_store::{Durability, RootKey};
use gatefold_worker::WorkerSettings;
use serde::{Deserialize, Deserializer};

use super::agents;
use super::common_keys::{CallKeys, EntryEffect, SourceLimits, effects, set};
use super::issuers::{self, PublicAddress};
use super::kinds::allow_private::Network;
use super::kinds::shared_values::missing;
use super::models::{self, ModelConfig};
use super::pins::{self, Pin};
use super::profiles::{self, DisclosureNames, RegisteredNames};
use super::root_key;
use super::sign_in;
use super::sources::{self, SourceDraft};
use super::tool_modes::{ModeKeys, SetModes};
use super::users;
use super::{
    AgentConfig, AuditConfig, AuthenticationMode, DisclosureConfig, ResultsConfig, SearchConfig,
    ServerConfig, TlsFiles, UserConfig,
};

/// The content of one `gatefold.toml`.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) sources: Vec<SourceDraft>,
    /// The effects on entries of all sources.
    pub(super) effects: Vec<EntryEffect>,
    pub(super) disclosure: DisclosureConfig,
    pub(super) clients: BTreeMap<ClientName, ClientProfile>,
    pub(super) models: Vec<ModelConfig>,
    pub(super) agents: BTreeMap<AgentId, AgentConfig>,
    pub(super) users: BTreeMap<UserId, UserConfig>,
    pub(super) search: SearchConfig,
    pub(super) limits: Limits,
    pub(super) statement_memory: Option<u64>,
    pub(super) results: ResultsConfig,
    pub(super) source_limits: SourceLimits,
    pub(super) starts: StartLimits,
    pub(super) server: ServerConfig,
    pub(super) state_dir: Option<PathBuf>,
    pub(super) secrets_file: Option<PathBuf>,
    pub(super) root_key: RootKey,
    pub(super) audit: AuditConfig,
}

/// Other programs' names for the keys of a `gatefold.toml`, without those of the kinds.
pub(super) const FOREIGN_KEYS: &[ForeignKey] = &[
    ForeignKey { name: "disabled", own: "enabled", hint: "write `enabled = false`" },
    ForeignKey {
        name: "mcpServers",
        own: "sources",
        hint: "write `[sources.NAME]`, or pass the file as `--mcp-config FILE`",
    },
    ForeignKey { name: "servers", own: "sources", hint: "write `[sources.NAME]`" },
    ForeignKey { name: "includeTools", own: "allow", hint: "write `allow`" },
    ForeignKey { name: "enabledTools", own: "allow", hint: "write `allow`" },
    ForeignKey { name: "excludeTools", own: "deny", hint: "write `deny`" },
    ForeignKey { name: "disabledTools", own: "deny", hint: "write `deny`" },
    ForeignKey { name: "host", own: "listen", hint: LISTEN },
    ForeignKey { name: "port", own: "listen", hint: LISTEN },
    ForeignKey {
        name: "timeout",
        own: "connect_deadline",
        hint: "write `connect_deadline`, or `call_deadline` in `[limits]`",
    },
];

const LISTEN: &str = "write `listen = \"ADDRESS:PORT\"`";

/// Reads the whole file. Faults are noted in the document; the rest is used.
pub(super) fn read<'a>(
    document: &'a Document<'a>,
    root: &'a Node,
    known: &RegisteredNames<'_>,
) -> Draft {
    let mut draft = Draft::default();
    let Some(mut root) = document.root(root) else {
        return draft;
    };
    let sources = root.field("sources");
    section(&mut root, "limits", |table| limits(table, &mut draft));
    section(&mut root, "policy", |table| draft.effects = effects(table));
    section(&mut root, "disclosure", |table| {
        disclosure(table, known.disclosures, &mut draft.disclosure);
    });
    if let Some(field) = root.field("clients") {
        draft.clients = profiles::read(&field, known.disclosures);
    }
    section(&mut root, "search", |table| search(table, &mut draft.search));
    section(&mut root, "server", |table| server(table, &mut draft.server));
    section(&mut root, "state", |table| {
        let keys: StateKeys = table.read().unwrap_or_default();
        draft.state_dir = keys.dir.map(|path| path.0);
    });
    section(&mut root, "secrets", |table| {
        let keys: SecretsKeys = table.read().unwrap_or_default();
        draft.secrets_file = keys.file.map(|path| path.0);
        draft.root_key = root_key::read(table);
    });
    section(&mut root, "results", |table| {
        let keys: ResultsKeys = table.read().unwrap_or_default();
        set(&mut draft.results.format, keys.format);
    });
    section(&mut root, "audit", |table| {
        let keys: AuditKeys = table.read().unwrap_or_default();
        set(&mut draft.audit.durability, keys.durability);
        set(&mut draft.audit.retention.age, keys.retention);
        set(&mut draft.audit.retention.rows, keys.records.map(|count| count.0));
    });
    let (models, agents) = (root.field("models"), root.field("agents"));
    if let Some(field) = root.field("users") {
        draft.users = users::read(&field, &draft.server);
    }
    root.finish();
    if let Some(sources) = sources {
        draft.sources = sources::read(&sources, draft.source_limits, known.kinds, &draft.server);
    }
    let model_names = models.as_ref().map(models::names).unwrap_or_default();
    if let Some(models) = models {
        draft.models = models::read(&models, &model_names);
    }
    if let Some(agents) = agents {
        draft.agents = agents::read(&agents, known, &draft.sources, &model_names);
    }
    draft
}

/// The file of secrets alone. Faults are left for [`read`] to find.
pub(super) fn secrets_file<'a>(document: &'a Document<'a>, root: &'a Node) -> Option<PathBuf> {
    let mut secrets = document.root(root)?.field("secrets")?.table()?;
    let keys: SecretsKeys = secrets.read()?;
    keys.file.map(|path| path.0)
}

fn section<'a>(root: &mut Table<'a>, key: &'static str, read: impl FnOnce(&mut Table<'a>)) {
    if let Some(mut table) = root.field(key).and_then(|field| field.table()) {
        read(&mut table);
        table.finish();
    }
}

#[derive(Deserialize, Default)]
struct LimitsKeys {
    result_preview: Option<Count<usize>>,
    stored_result: Option<Size>,
    results_size: Option<Size>,
    statement_memory: Option<Size>,
    stored_result_expiry: Option<Time>,
    stored_results: Option<Count<u32>>,
    request_size: Option<Size>,
    requests_size: Option<Size>,
    body_deadline: Option<Time>,
    connections: Option<Count<usize>>,
    head_deadline: Option<Time>,
    connection_idle: Option<Time>,
    calls_in_flight: Option<Count<usize>>,
    calls_waiting: Option<Count<usize>>,
    breaker_failures: Option<Count<u32>>,
    breaker_pause: Option<Time>,
    nesting: Option<Count<usize>>,
    question: Option<Time>,
    suspension: Option<Time>,
    approval: Option<Time>,
    drain: Option<Time>,
    starts: Option<Count<usize>>,
    installs: Option<Count<usize>>,
    shutdown: Option<Time>,
}

fn limits(table: &mut Table<'_>, draft: &mut Draft) {
    let calls: CallKeys = table.read().unwrap_or_default();
    draft.source_limits.set(&table.read().unwrap_or_default());
    let keys: LimitsKeys = table.read().unwrap_or_default();
    let limits = &mut draft.limits;
    set(&mut limits.call_deadline, calls.call_deadline);
    set(&mut limits.result_bytes, keys.stored_result.map(|size| size.0));
    set(&mut limits.result_memory, keys.results_size.map(|size| size.0));
    let least = WorkerSettings::LEAST_MEMORY;
    draft.statement_memory = keys.statement_memory.map(|size| size.0.max(least));
    let results = &mut draft.results;
    set(&mut results.preview_tokens, keys.result_preview.map(|count| count.0));
    set(&mut results.expiry, keys.stored_result_expiry);
    set(&mut results.kept_each, keys.stored_results.map(|count| count.0));
    let server = &mut draft.server;
    set(&mut server.request_bytes, keys.request_size.map(|size| size.0));
    set(&mut server.requests_bytes, keys.requests_size.map(|size| size.0));
    set(&mut server.body_deadline, keys.body_deadline);
    set(&mut server.connections, keys.connections.map(|count| count.0));
    set(&mut server.head_deadline, keys.head_deadline);
    set(&mut server.connection_idle, keys.connection_idle);
    set(&mut limits.calls_in_flight, keys.calls_in_flight.map(|count| count.0));
    set(&mut limits.calls_waiting, keys.calls_waiting.map(|count| count.0));
    set(&mut limits.breaker_failures, keys.breaker_failures.map(|count| count.0));
    set(&mut limits.breaker_pause, keys.breaker_pause);
    set(&mut limits.nesting, keys.nesting.map(|count| count.0));
    set(&mut limits.question, keys.question);
    set(&mut limits.suspension, keys.suspension);
    set(&mut limits.approval, keys.approval);
    set(&mut limits.drain, keys.drain);
    set(&mut draft.starts.installs, keys.installs.map(|count| count.0));
    draft.starts.starts = keys.starts.map(|count| count.0);
    set(&mut server.shutdown, keys.shutdown);
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct DisclosureKeys {
    default: Option<Text>,
    pinned: Vec<Pin>,
    discovery_tokens: Option<Count<usize>>,
    auto_share: Option<Share>,
    context_tokens: Option<Count<usize>>,
    split_execute: bool,
    register: bool,
    selection_threshold: Option<Count<usize>>,
    selection_max: Option<Count<usize>>,
}

fn disclosure(table: &mut Table<'_>, known: &DisclosureNames, disclosure: &mut DisclosureConfig) {
    let keys: DisclosureKeys = table.read().unwrap_or_default();
    disclosure.pinned = pins::pins(keys.pinned);
    set(&mut disclosure.discovery_tokens, keys.discovery_tokens.map(|count| count.0));
    set(&mut disclosure.auto_share, keys.auto_share);
    set(&mut disclosure.context_tokens, keys.context_tokens.map(|count| count.0));
    set(&mut disclosure.selection.threshold, keys.selection_threshold.map(|count| count.0));
    set(&mut disclosure.selection.most, keys.selection_max.map(|count| count.0));
    disclosure.register = keys.register;
    if keys.split_execute {
        disclosure.execute = ExecuteTools::Split;
    }
    let modes: ModeKeys = table.read().unwrap_or_default();
    disclosure.modes = SetModes::from(modes).over(std::mem::take(&mut disclosure.modes));
    if let Some((Text(name), field)) = keys.default.zip(table.peek("default")) {
        known.check(&name, &field);
        disclosure.default = name;
    }
}

#[derive(Deserialize, Default)]
struct SearchKeys {
    learn: Option<bool>,
    texts: Option<FilePath>,
}

fn search(table: &mut Table<'_>, search: &mut SearchConfig) {
    let keys: SearchKeys = table.read().unwrap_or_default();
    set(&mut search.learn, keys.learn);
    if let Some(field) = table.field("encoder") {
        search.encoder = encoder(&field);
    }
    search.texts = keys.texts.map(|path| path.0);
}

/// No encoder, the built-in one, or one in files, whose path is relative to the configuration.
fn encoder(field: &Field<'_>) -> Option<ModelPlace> {
    let Text(name) = field.read()?;
    match ModelPlace::named(&name)? {
        ModelPlace::Files(_) => field.read::<FilePath>().map(|path| ModelPlace::Files(path.0)),
        ModelPlace::Builtin => Some(ModelPlace::Builtin),
    }
}

/// A network of proxies. One of everybody would have anybody say where a request comes from.
struct ProxyNetwork(IpNet);

impl<'de> Deserialize<'de> for ProxyNetwork {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Network(network) = Network::deserialize(deserializer)?;
        if network.prefix_len() == 0 {
            return Err(fault("would believe anybody", "list the networks of your proxies"));
        }
        Ok(Self(network))
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ServerKeys {
    listen: Option<ListenAddress>,
    authentication: Option<AuthenticationWord>,
    public_url: Option<PublicAddress>,
    allowed_hosts: Vec<Text>,
    allowed_origins: Vec<WebOrigin>,
    trusted_proxies: LimitedItems<Vec<ProxyNetwork>>,
    session_idle: Option<Time>,
}

fn server(table: &mut Table<'_>, server: &mut ServerConfig) {
    let keys: ServerKeys = table.read().unwrap_or_default();
    set(&mut server.listen, keys.listen.map(|listen| listen.0));
    server.authentication = keys.authentication.map(AuthenticationMode::from);
    server.public_url = keys.public_url.map(|own| own.0);
    server.issuers = table.field("issuers").map(|field| issuers::read(&field)).unwrap_or_default();
    server.sign_in = table.field("sign_in").and_then(|field| sign_in::read(&field));
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
    set(&mut server.session_idle, keys.session_idle);
    server.tls = table.field("tls").and_then(|field| tls(&field));
}

#[derive(Deserialize, Default)]
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

#[derive(Deserialize, Clone, Copy)]
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

struct ListenAddress(SocketAddr);

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

#[derive(Deserialize, Default)]
struct StateKeys {
    dir: Option<FilePath>,
}

#[derive(Deserialize, Default)]
struct SecretsKeys {
    file: Option<FilePath>,
}

#[derive(Deserialize, Default)]
struct AuditKeys {
    durability: Option<DurabilityWord>,
    retention: Option<Time>,
    records: Option<Count<u32>>,
}

#[derive(Deserialize, Default)]
struct ResultsKeys {
    format: Option<FormatWord>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum FormatWord {
    Json,
    Compact,
}

impl From<FormatWord> for ResultFormat {
    fn from(word: FormatWord) -> Self {
        match word {
            FormatWord::Json => Self::Json,
            FormatWord::Compact => Self::Compact,
        }
    }
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum DurabilityWord {
    Process,
    Disk,
}

impl From<DurabilityWord> for Durability {
    fn from(word: DurabilityWord) -> Self {
        match word {
            DurabilityWord::Process => Self::Process,
            DurabilityWord::Disk => Self::Disk,
        }
    }
}
