//! A database as it was read from a configuration.

use std::fmt;
use std::sync::Arc;

use gatefold_catalog::KindName;
use gatefold_core::Secret;
use gatefold_dispatch::{Source, StatelessAdapter, StatelessSettings};
use gatefold_sql::{
    DatabaseAddress, DatabaseSettings, DatabaseSource, DatabaseSourceSettings, TableNotes,
    TableRules, Writes,
};
use serde_json::{Value as Json, json};

use super::super::{DigestParts, KindSection, SourceIdentity, SourcePorts};
use super::DatabaseKind;

/// One source that is a database.
pub(super) struct DatabaseSection {
    pub(super) settings: DatabaseSettings,
    pub(super) rules: TableRules,
    pub(super) notes: TableNotes,
    pub(super) rows: usize,
    /// What must not be shown, whatever it is used for: all that comes from the keyring.
    pub(super) secrets: Vec<Secret>,
}

impl DatabaseSection {
    /// Those that are set, the one that is used first.
    fn passwords(&self) -> impl Iterator<Item = &Secret> {
        let in_address = match &self.settings.address {
            DatabaseAddress::Server(server) => server.password.as_ref(),
            DatabaseAddress::Sqlite(_) => None,
        };
        self.settings.password.iter().chain(in_address)
    }
}

impl KindSection for DatabaseSection {
    fn kind(&self) -> KindName {
        DatabaseKind::NAME
    }

    fn digest(&self, parts: &mut DigestParts) {
        let DatabaseSettings { address, writes, privileged_role, tls, .. } = &self.settings;
        parts.add(DatabaseKind::NAME.as_str());
        parts.add(address.to_string());
        for secret in self.passwords() {
            parts.add(secret.expose());
        }
        parts.add(format!("{writes:?} {privileged_role} {tls:?}"));
        let DatabaseSettings { statement_timeout, connect_timeout, connections, .. } =
            &self.settings;
        parts.add(format!("{statement_timeout:?} {connect_timeout:?} {connections}"));
        parts.add(format!("{:?} {:?} {}", self.rules, self.notes, self.rows));
    }

    fn summary(&self) -> String {
        let password = self.passwords().next().map_or("", |_| " password=***");
        format!("{}{password}", self.settings.address)
    }

    fn shown(&self) -> Json {
        let texts = |patterns: Vec<String>| Json::from(patterns);
        let TableRules { allow, deny, hide, mask, functions } = &self.rules;
        json!({
            "kind": DatabaseKind::NAME.as_str(),
            "database": self.settings.address.to_string(),
            "writes": match self.settings.writes {
                Writes::Refuse => "refuse",
                Writes::Ask => "ask",
            },
            "rows": self.rows,
            "allow_tables": texts(allow.iter().map(ToString::to_string).collect()),
            "deny_tables": texts(deny.iter().map(ToString::to_string).collect()),
            "hide_columns": texts(hide.iter().map(ToString::to_string).collect()),
            "mask": texts(mask.iter().map(ToString::to_string).collect()),
            "allow_functions": texts(functions.iter().map(ToString::to_string).collect()),
            "secrets": self.secrets.len(),
        })
    }

    fn build(&self, identity: SourceIdentity, ports: &SourcePorts) -> Arc<dyn Source> {
        let source = DatabaseSource::new(
            DatabaseSourceSettings {
                domain: identity.domain.clone(),
                rules: self.rules.clone(),
                notes: self.notes.clone(),
                writes: self.settings.writes,
                rows: self.rows,
                statement_timeout: self.settings.statement_timeout,
            },
            gatefold_sql::open(&self.settings, &ports.workers)
                .expect("its settings were tried when they were read"),
            ports.clock.clone(),
            identity.known.as_deref(),
        );
        let settings = StatelessSettings {
            domain: identity.domain,
            config_digest: identity.config_digest,
            describe_deadline: identity.connect_deadline,
            known: identity.known,
        };
        let (manifests, clock) = (ports.manifests.clone(), ports.clock.clone());
        StatelessAdapter::new(Arc::new(source), settings, manifests, clock)
    }
}

impl fmt::Debug for DatabaseSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseSection").field("summary", &self.summary()).finish_non_exhaustive()
    }
}
