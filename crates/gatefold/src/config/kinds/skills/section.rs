//! A folder of skills as it was read from a configuration.

use std::sync::Arc;

use gatefold_catalog::KindName;
use gatefold_core::Domain;
use gatefold_dispatch::{Source, StatelessAdapter, StatelessSettings};
use gatefold_policy::Policy;
use gatefold_skills::{SkillFolder, SkillSource, SkillSourceSettings};
use serde_json::{Value as Json, json};

use super::super::open_resources::{is_seen_by_all, rules_about};
use super::super::{DigestParts, KindSection, SourceIdentity, SourcePorts};
use super::SkillsKind;

/// One source that is a folder of skills.
#[derive(Debug)]
pub(super) struct SkillsSection {
    pub(super) folder: SkillFolder,
    pub(super) domains: Vec<Domain>,
}

impl KindSection for SkillsSection {
    fn kind(&self) -> KindName {
        SkillsKind::NAME
    }

    fn digest(&self, parts: &mut DigestParts) {
        parts.add(SkillsKind::NAME.as_str());
        parts.add(self.folder.path.as_os_str().as_encoded_bytes());
        parts.add_list(&self.folder.link_targets, |parts, target| {
            parts.add(target.as_os_str().as_encoded_bytes());
        });
        parts.add_list(&self.domains, |parts, domain| parts.add(domain.as_str()));
    }

    fn summary(&self) -> String {
        self.folder.path.display().to_string()
    }

    fn shown(&self) -> Json {
        let domains: Vec<_> = self.domains.iter().map(Domain::as_str).collect();
        let targets = self.folder.link_targets.iter();
        let targets: Vec<_> = targets.map(|target| target.display().to_string()).collect();
        json!({
            "kind": SkillsKind::NAME.as_str(),
            "skills": self.folder.path.display().to_string(),
            "follow_links_to": targets,
            "for": domains,
        })
    }

    fn surroundings(&self, domain: &Domain, policy: &Policy) -> Option<String> {
        Some(rules_about(domain, policy))
    }

    fn build(&self, identity: SourceIdentity, ports: &SourcePorts) -> Arc<dyn Source> {
        let (domain, policy) = (identity.domain.clone(), identity.policy);
        let source = SkillSource::new(
            SkillSourceSettings {
                domain: identity.domain.clone(),
                folder: self.folder.clone(),
                domains: self.domains.clone(),
                seen_by_all: Arc::new(move |uri: &str| is_seen_by_all(&policy, &domain, uri)),
            },
            ports.clock.clone(),
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
