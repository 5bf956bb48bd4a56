//! `gatefold.toml`, section by section.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use gatefold_catalog::Pattern;
use gatefold_dispatch::Limits;
use gatefold_policy::{Effect, Entries};
use gatefold_store::Durability;

use super::reader::{Field, Reader, Table};
use super::sources::{self, SourceDraft};
use super::tree::Node;
use super::{AuditConfig, DisclosureConfig, SearchConfig, ServerConfig};

/// What one `gatefold.toml` says.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) sources: Vec<SourceDraft>,
    /// Patterns over the ids of all tools.
    pub(super) effects: Vec<(Effect, String)>,
    pub(super) disclosure: DisclosureConfig,
    pub(super) search: SearchConfig,
    pub(super) limits: Limits,
    pub(super) source_limits: SourceLimits,
    pub(super) server: ServerConfig,
    pub(super) state_dir: Option<PathBuf>,
    pub(super) audit: AuditConfig,
}

/// The limits that each source may set for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// From the start of a connection to its first list of tools.
    pub connect_deadline: Duration,
    /// How long a connection that nobody uses stays open.
    pub idle_stop: Duration,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self { connect_deadline: Duration::from_secs(15), idle_stop: Duration::from_mins(10) }
    }
}

impl SourceLimits {
    pub(super) fn read(&mut self, table: &mut Table<'_>) {
        table.duration("connect_deadline", &mut self.connect_deadline);
        table.duration("idle_stop", &mut self.idle_stop);
    }
}

/// Reads the whole file. What is wrong is noted in the reader; the rest is taken as it is.
pub(super) fn read<'a>(reader: &'a Reader<'a>, root: &'a Node) -> Draft {
    let mut draft = Draft::default();
    let Some(mut root) = reader.root(root) else {
        return draft;
    };
    let sources = root.field("sources");
    section(&mut root, "limits", |table| limits(table, &mut draft));
    section(&mut root, "policy", |table| draft.effects = effects(table));
    section(&mut root, "disclosure", |table| {
        disclosure(table, &mut draft.disclosure);
    });
    section(&mut root, "search", |table| {
        let learn = table.field("learn").and_then(|field| field.flag());
        draft.search.learn = learn.unwrap_or(draft.search.learn);
        draft.search.encoder = table.field("encoder").and_then(|field| path(&field));
    });
    section(&mut root, "server", |table| {
        server(table, &mut draft.server);
    });
    section(&mut root, "state", |table| {
        draft.state_dir = table.field("dir").and_then(|field| path(&field));
    });
    section(&mut root, "audit", |table| audit(table, &mut draft.audit));
    root.finish();
    if let Some(sources) = sources {
        draft.sources = sources::read(&sources, draft.source_limits);
    }
    draft
}

fn section<'a>(root: &mut Table<'a>, key: &'static str, read: impl FnOnce(&mut Table<'a>)) {
    if let Some(mut table) = root.field(key).and_then(|field| field.table()) {
        read(&mut table);
        table.finish();
    }
}

fn limits(table: &mut Table<'_>, draft: &mut Draft) {
    let limits = &mut draft.limits;
    table.duration("call_deadline", &mut limits.call_deadline);
    draft.source_limits.read(table);
    table.size("result_size", &mut limits.result_bytes);
    table.size("request_size", &mut draft.server.request_bytes);
    table.count("calls_in_flight", &mut limits.calls_in_flight);
    table.count("calls_waiting", &mut limits.calls_waiting);
    table.count("breaker_failures", &mut limits.breaker_failures);
    table.duration("breaker_pause", &mut limits.breaker_pause);
    table.count("nesting", &mut limits.nesting);
    table.duration("question", &mut limits.question);
    table.duration("suspension", &mut limits.suspension);
    table.duration("drain", &mut limits.drain);
    table.duration("shutdown", &mut draft.server.shutdown);
}

/// Reads the patterns under `allow` and `deny`.
pub(super) fn effects(table: &mut Table<'_>) -> Vec<(Effect, String)> {
    let mut effects = Vec::new();
    for (key, effect) in [("allow", Effect::Allow), ("deny", Effect::Deny)] {
        let Some(field) = table.field(key) else {
            continue;
        };
        if effect == Effect::Allow && field.is_empty_list() {
            field
                .fault("is empty, which would hide everything", "list patterns, or remove the key");
        }
        for item in field.items().unwrap_or_default() {
            let Some(text) = item.filled_text() else {
                continue;
            };
            if Entries::read(&text.text).1.is_empty() {
                item.fault("has no pattern after the colon", "write what it matches: `prompt:*`");
            }
            effects.push((effect, text.text));
        }
    }
    effects
}

fn disclosure(table: &mut Table<'_>, disclosure: &mut DisclosureConfig) {
    if let Some(field) = table.field("pinned") {
        disclosure.pinned = texts(&field).iter().map(|text| Pattern::new(text)).collect();
    }
    table.count("discovery_tokens", &mut disclosure.discovery_tokens);
}

fn server(table: &mut Table<'_>, server: &mut ServerConfig) {
    let hint = "write an address and a port, such as \"127.0.0.1:8420\"";
    let listen = table.field("listen");
    if let Some(address) =
        listen.and_then(|field| field.parsed("an address to listen on", hint, listen_address))
    {
        server.listen = address;
    }
    if let Some(field) = table.field("allowed_hosts") {
        server.allowed_hosts = texts(&field);
    }
    if let Some(field) = table.field("allowed_origins") {
        let is_origin =
            |text: &str| text.parse::<http::Uri>().is_ok_and(|uri| uri.scheme().is_some());
        let hint = "write scheme, host and port as a browser sends them: \"https://host.example\"";
        let items = field.items().unwrap_or_default();
        let origin = |item: &Field<'_>| {
            item.parsed("an origin", hint, |text| is_origin(text).then(|| text.to_owned()))
        };
        server.allowed_origins = items.iter().filter_map(origin).collect();
    }
    table.duration("session_idle", &mut server.session_idle);
}

/// Reads `127.0.0.1:8420`, `[::1]:8420` or `localhost:8420`.
pub fn listen_address(text: &str) -> Option<SocketAddr> {
    if let Some(port) = text.strip_prefix("localhost:") {
        return Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?));
    }
    text.parse().ok()
}

/// The strings of a list, none of them empty.
pub(super) fn texts(field: &Field<'_>) -> Vec<String> {
    let items = field.items().unwrap_or_default();
    items.iter().filter_map(|item| Some(item.filled_text()?.text)).collect()
}

/// A path, relative to the directory of the file that names it.
pub(super) fn path(field: &Field<'_>) -> Option<PathBuf> {
    let text = field.filled_text()?.text;
    if !field.is_put_in(&text) {
        return Some(text.into());
    }
    let reader = field.reader;
    let base = reader.path.parent().unwrap_or(reader.path);
    let base = reader.environment.directory().join(base);
    Some(reader.environment.resolve(&text, &base))
}

fn audit(table: &mut Table<'_>, audit: &mut AuditConfig) {
    let choices = [("process", Durability::Process), ("disk", Durability::Disk)];
    if let Some(durability) = table.field("durability").and_then(|field| field.choice(&choices)) {
        audit.durability = durability;
    }
}
