//! Folders of skills.

mod keys;
mod section;

use std::path::Path;
use std::sync::Arc;

use gatefold_catalog::KindName;
use gatefold_config::{FilePath, LimitedItems, Table, parsed};
use gatefold_core::Domain;
use gatefold_skills::SkillFolder;
use serde::{Deserialize, Deserializer};

use super::{ConnectionMethod, KindSection, SourceKind};
use crate::config::SourceSection;
use crate::config::key::Key;

use section::SkillsSection;

/// The kind of sources that are folders of skills.
#[derive(Debug)]
pub struct SkillsKind;

impl SkillsKind {
    pub const NAME: KindName = KindName::new("skills");

    /// The folder at this path, for a configuration that is made in code.
    pub fn at(path: &Path) -> SourceSection {
        SkillsSection { folder: SkillFolder::at(path), domains: Vec::new() }.into()
    }
}

impl SourceKind for SkillsKind {
    fn name(&self) -> KindName {
        Self::NAME
    }

    fn noun(&self) -> &'static str {
        "folder of skills"
    }

    fn details(&self) -> &'static str {
        "A folder of skills is read from the disk (`skills`)."
    }

    fn ways(&self) -> &'static [ConnectionMethod] {
        &[ConnectionMethod {
            key: "skills",
            purpose: "for a folder of skills",
            heading: "A folder of skills, procedures that models read and follow:",
            example: "skills",
        }]
    }

    fn keys(&self) -> &'static [Key] {
        keys::SKILLS
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        table.know(&keys::NAMES);
        let SkillKeys { skills, link_targets, domains } = table.read()?;
        let link_targets = link_targets.0.into_iter().map(|target| target.0).collect();
        let folder = SkillFolder { path: skills?.0, link_targets };
        let domains = domains.0.into_iter().map(|name| name.0).collect();
        Some(Arc::new(SkillsSection { folder, domains }))
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SkillKeys {
    skills: Option<FilePath>,
    #[serde(rename = "follow_links_to")]
    link_targets: LimitedItems<Vec<FilePath>>,
    #[serde(rename = "for")]
    domains: LimitedItems<Vec<DomainName>>,
}

struct DomainName(Domain);

impl<'de> Deserialize<'de> for DomainName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "write the domain of a source, as `gatefold list` shows it";
        parsed(deserializer, "a domain", hint, |text| Domain::parse(text).ok()).map(Self)
    }
}
