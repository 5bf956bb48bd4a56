//! Our own tools as they were read from a configuration.

use std::sync::Arc;

use gatefold_builtin::{
    BuiltinName, BuiltinPorts, BuiltinSettings, BuiltinSource, FolderSettings, FolderWrites,
    SearchSettings,
};
use gatefold_catalog::KindName;
use gatefold_core::Secret;
use gatefold_dispatch::{Source, StatelessAdapter, StatelessSettings};
use serde_json::{Value as Json, json};

use super::super::{AllowPrivate, DigestParts, KindSection, SourceIdentity, SourcePorts};
use super::BuiltinKind;

/// One source that is tools of our own.
#[derive(Debug)]
pub(super) struct BuiltinSection {
    pub(super) settings: BuiltinSettings,
}

impl BuiltinSection {
    fn names(&self) -> Vec<&'static str> {
        self.settings.names.iter().copied().map(BuiltinName::as_str).collect()
    }
}

impl SourcePorts {
    /// Those that our own tools need.
    pub(crate) fn builtin(&self) -> BuiltinPorts {
        BuiltinPorts {
            clock: self.clock.clone(),
            notes: self.notes.clone(),
            results: self.results.clone(),
            egress: self.egress.clone(),
            workers: self.workers.clone(),
        }
    }
}

impl KindSection for BuiltinSection {
    fn kind(&self) -> KindName {
        BuiltinKind::NAME
    }

    fn tool_categories(&self) -> Vec<(&'static str, &'static str)> {
        let tools = |name: BuiltinName| {
            name.tools().iter().map(move |tool| (name.category().as_str(), *tool))
        };
        self.settings.names.iter().copied().flat_map(tools).collect()
    }

    fn digest(&self, parts: &mut DigestParts) {
        parts.add(BuiltinKind::NAME.as_str());
        parts.add_list(&self.names(), |parts, name| parts.add(name));
        if let Some(FolderSettings { path, writes, .. }) = &self.settings.folder {
            parts.add(path.as_os_str().as_encoded_bytes());
            parts.add(format!("{writes:?}"));
        }
        if let Some(SearchSettings { url, api, key }) = &self.settings.search {
            parts.add(url.as_str());
            parts.add(api.as_str());
            parts.add(key.as_ref().map(Secret::expose).unwrap_or_default());
        }
        AllowPrivate(self.settings.private.clone()).digest(parts);
    }

    fn summary(&self) -> String {
        self.names().join(", ")
    }

    fn shown(&self) -> Json {
        let folder = self.settings.folder.as_ref();
        let search = self.settings.search.as_ref();
        json!({
            "kind": BuiltinKind::NAME.as_str(),
            "builtin": self.names(),
            "folder": folder.map(|folder| &folder.path),
            "search_api": search.map(|search| search.api.as_str()),
            "search_url": search.map(|search| search.url.host_str()),
            "allow_private": AllowPrivate(self.settings.private.clone()).shown(),
            "files_write": folder.map(|folder| folder.writes == FolderWrites::Allow),
        })
    }

    fn build(&self, identity: SourceIdentity, ports: &SourcePorts) -> Arc<dyn Source> {
        let source = BuiltinSource::new(identity.domain.clone(), &self.settings, &ports.builtin());
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
