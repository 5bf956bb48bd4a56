//! A knowledge base as it was read from a configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::KindName;
use gatefold_config::{duration_text, size_text};
use gatefold_core::Domain;
use gatefold_dispatch::{Source, StatelessAdapter, StatelessSettings};
use gatefold_egress::{Egress, Reach};
use gatefold_knowledge::{
    Folder, KnowledgePorts, KnowledgeSource, KnowledgeSourceSettings, PastLimits, RemoteDocuments,
    SeenByAll,
};
use gatefold_policy::Policy;
use gatefold_worker::WorkerPool;
use serde_json::{Value as Json, json};

use super::super::open_resources::{is_seen_by_all, rules_about};
use super::super::{AllowPrivate, DigestParts, KindSection, SourceIdentity, SourcePorts};
use super::KnowledgeKind;
use crate::documents::{AddressDocuments, WorkerDocumentReader};

/// How much of the digest of its places stands in the name of a base's folder.
const DIGITS: usize = 12;

/// One source that is a knowledge base.
#[derive(Debug)]
pub(crate) struct KnowledgeSection {
    pub(super) roots: Vec<PathBuf>,
    /// What is fetched, whole addresses, none of them twice.
    pub(super) addresses: Vec<String>,
    pub(super) refresh: Duration,
    pub(super) private: AllowPrivate,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) title: Option<String>,
    pub(super) past: PastLimits,
}

impl KnowledgeSection {
    /// Where its documents are, as people write it.
    fn written_places(&self) -> Vec<String> {
        let roots = self.roots.iter().map(|root| root.display().to_string());
        roots.chain(self.addresses.iter().cloned()).collect()
    }

    /// The base as the source with this domain, kept below this folder.
    pub(crate) fn settings(
        &self,
        domain: &Domain,
        folder_of_bases: &Path,
        seen_by_all: SeenByAll,
    ) -> KnowledgeSourceSettings {
        let folder = Folder::new(&self.roots, &self.include, &self.exclude)
            .or_else(|_| Folder::new(&self.roots, &[], &[]))
            .expect("patterns were checked when they were read, and none are right too");
        KnowledgeSourceSettings {
            domain: domain.clone(),
            title: self.title.clone(),
            roots: self.roots.clone(),
            folder: Arc::new(folder),
            state: folder_of_bases.join(self.folder_name(domain)),
            past: self.past,
            refresh: self.refresh,
            seen_by_all,
        }
    }

    /// What reads the documents of the source with this domain.
    pub(crate) fn reader(&self, domain: &Domain, workers: WorkerPool) -> WorkerDocumentReader {
        // Its own place among the owners of jobs, which are digests of principals otherwise.
        let owner = format!("knowledge {}", self.folder_name(domain)).into_bytes();
        WorkerDocumentReader::new(workers, owner)
    }

    /// The name of the folder that the base is kept in. Other patterns make the same base with other
    /// documents, and other places another base.
    fn folder_name(&self, domain: &Domain) -> String {
        let mut parts = DigestParts::new();
        self.add_places(&mut parts);
        let digest = parts.finish().to_string();
        format!("{domain}-{}", digest.get(..DIGITS).unwrap_or(&digest))
    }

    /// Adds its places to a digest, which is that of a version without addresses where there are none.
    fn add_places(&self, parts: &mut DigestParts) {
        parts.add_list(&self.roots, |parts, root| parts.add(root.as_os_str().as_encoded_bytes()));
        if !self.addresses.is_empty() {
            parts.add("addresses");
            parts.add_list(&self.addresses, |parts, address| parts.add(address));
        }
    }

    /// What is fetched, through a client with the reach of the addresses.
    pub(crate) fn remote(&self, egress: &Egress) -> Option<Arc<dyn RemoteDocuments>> {
        let addresses = self.addresses.clone();
        if addresses.is_empty() {
            return None;
        }
        let named = addresses.iter().map(String::as_str);
        let reach = Reach::for_source(named, self.private.0.clone());
        let client = egress.client_for(reach);
        Some(Arc::new(AddressDocuments::new(client, addresses)))
    }
}

impl KindSection for KnowledgeSection {
    fn kind(&self) -> KindName {
        KnowledgeKind::NAME
    }

    fn digest(&self, parts: &mut DigestParts) {
        parts.add(KnowledgeKind::NAME.as_str());
        self.add_places(parts);
        parts.add_list(&self.include, |parts, pattern| parts.add(pattern));
        parts.add_list(&self.exclude, |parts, pattern| parts.add(pattern));
        parts.add_list(self.title.as_slice(), |parts, title| parts.add(title));
        let PastLimits { versions, time, bytes } = self.past;
        parts.add(versions.to_le_bytes());
        parts.add(time.as_millis().to_le_bytes());
        parts.add(bytes.to_le_bytes());
        if !self.addresses.is_empty() {
            parts.add(self.refresh.as_millis().to_string());
        }
        self.private.digest(parts);
    }

    fn summary(&self) -> String {
        self.written_places().join(", ")
    }

    fn shown(&self) -> Json {
        let mut shown = json!({
            "kind": KnowledgeKind::NAME.as_str(),
            "knowledge": self.written_places(),
            "include": self.include,
            "exclude": self.exclude,
            "title": self.title,
            "keep_versions": self.past.versions,
            "keep_time": duration_text(self.past.time),
            "keep_size": size_text(self.past.bytes),
        });
        if !self.addresses.is_empty() {
            shown["refresh"] = duration_text(self.refresh).into();
        }
        if let Some(allowed) = self.private.shown() {
            shown["allow_private"] = allowed;
        }
        shown
    }

    fn surroundings(&self, domain: &Domain, policy: &Policy) -> Option<String> {
        Some(rules_about(domain, policy))
    }

    fn build(&self, identity: SourceIdentity, ports: &SourcePorts) -> Arc<dyn Source> {
        let (domain, policy) = (identity.domain.clone(), identity.policy);
        let reader = self.reader(&domain, ports.workers.clone());
        let named = domain.clone();
        let seen_by_all = Arc::new(move |uri: &str| is_seen_by_all(&policy, &named, uri));
        let source = KnowledgeSource::new(
            self.settings(&domain, &ports.knowledge, seen_by_all),
            KnowledgePorts {
                reader: Arc::new(reader),
                remote: self.remote(&ports.egress),
                encoder: Arc::clone(&ports.encoder),
                clock: ports.clock.clone(),
            },
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
