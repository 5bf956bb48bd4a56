//! `gatefold.toml`, section by section.

mod disclosure;
mod kept;
mod limits;
mod policy;
mod search;
mod server;

use std::collections::BTreeMap;
use std::path::PathBuf;

use gatefold_agent::AgentLimits;
use gatefold_config::{Document, ForeignKey, Table};
use gatefold_core::{AgentId, ClientName, UserId};
use gatefold_dispatch::Limits;
use gatefold_exchange::ClientProfile;
use gatefold_located::Node;
use gatefold_mcp::StartLimits;
use gatefold_store::RootKey;

use super::agents;
use super::common_keys::{EntryEffect, SourceLimits};
use super::key::SectionKeys;
use super::models::{self, ModelConfig};
use super::profiles::{self, RegisteredNames};
use super::sources::{self, SourceDraft};
use super::users;
use super::{
    AgentConfig, AuditConfig, Config, DisclosureConfig, ResultsConfig, SearchConfig, ServerConfig,
    UserConfig,
};

pub(super) use disclosure::DisclosureKeys;
pub(super) use kept::{AuditKeys, ResultsKeys, SecretsKeys, StateKeys};
pub(super) use limits::LimitsKeys;
pub(super) use policy::PolicyKeys;
pub(super) use search::SearchKeys;
pub(super) use server::ServerKeys;
pub use server::listen_address;

/// The content of one `gatefold.toml`.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) sources: Vec<SourceDraft>,
    /// The effects on entries of all sources.
    pub(super) effects: Vec<EntryEffect>,
    pub(super) disclosure: DisclosureConfig,
    pub(super) clients: BTreeMap<ClientName, ClientProfile>,
    pub(super) models: Vec<ModelConfig>,
    pub(super) model_tokens: Option<u64>,
    pub(super) agents: BTreeMap<AgentId, AgentConfig>,
    pub(super) agent_limits: AgentLimits,
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
    section(&mut root, "limits", |table| limits::read(table, &mut draft));
    section(&mut root, "policy", |table| draft.effects = policy::read(table));
    section(&mut root, "disclosure", |table| {
        disclosure::read(table, known.disclosures, &mut draft.disclosure);
    });
    if let Some(field) = root.field("clients") {
        draft.clients = profiles::read(&field, known.disclosures);
    }
    section(&mut root, "search", |table| search::read(table, &mut draft.search));
    section(&mut root, "server", |table| server::read(table, &mut draft.server));
    section(&mut root, "state", |table| kept::read_state(table, &mut draft));
    section(&mut root, "secrets", |table| kept::read_secrets(table, &mut draft));
    section(&mut root, "results", |table| kept::read_results(table, &mut draft));
    section(&mut root, "audit", |table| kept::read_audit(table, &mut draft.audit));
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
    kept::secrets_file(&mut secrets)
}

fn section<'a>(root: &mut Table<'a>, key: &'static str, read: impl FnOnce(&mut Table<'a>)) {
    if let Some(mut table) = root.field(key).and_then(|field| field.table()) {
        read(&mut table);
        table.finish();
    }
}

/// What a file need not say is as in a configuration that no file is part of.
macro_rules! defaults {
    ($($keys:ty),*) => {$(
        impl Default for $keys {
            fn default() -> Self {
                Self::of(&Config::default())
            }
        }
    )*};
}

defaults!(
    AuditKeys,
    DisclosureKeys,
    LimitsKeys,
    PolicyKeys,
    ResultsKeys,
    SearchKeys,
    SecretsKeys,
    ServerKeys,
    StateKeys
);
