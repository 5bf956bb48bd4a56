//! Folders of skills.

mod keys;
mod section;

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use gatefold_catalog::{KindName, ToolPlace, TopicTool, TopicUse};
use gatefold_config::{FilePath, LimitedItems, Table, parsed};
use gatefold_core::Domain;
use gatefold_skills::{READ_SKILL, SkillFolder};
use serde::{Deserialize, Deserializer};

use super::{ConnectionMethod, KindSection, SourceKind};
use crate::config::SourceSection;
use crate::config::key::Key;

use section::SkillsSection;

/// The kind of sources that are folders of skills.
#[derive(Debug)]
pub struct SkillsKind;

/// What stands above the stubs of skills.
pub const SKILLS_HEADING: &str = "## Available Skills\n\
    Call read_skill(name) to load full content before executing any of these:";

const PLACE: ToolPlace = ToolPlace::Topics(TopicTool {
    name: READ_SKILL,
    noun: "skill",
    summary: "Read a skill: a procedure to follow, with its files and the tools that it names. Scripts are \
              given, not run.",
    stubs_heading: SKILLS_HEADING,
    texts_heading: "## Skills\nFollow these procedures where they apply.",
    usage: TopicUse::Read,
    parameter: "name",
    parameters: &[(
        "file",
        r#"{"type":"string","description":"One of its files, as the skill lists them."}"#,
    )],
});

impl SkillsKind {
    pub const NAME: KindName = KindName::at("skills", &PLACE);

    /// The folder at this path, for a configuration that is made in code.
    pub fn at(path: &Path) -> SourceSection {
        SkillsSection { folder: SkillFolder::at(path), domains: Vec::new() }.into()
    }
}

/// The folder that a source is, if it is one of skills.
pub fn skill_folder(section: &dyn KindSection) -> Option<&SkillFolder> {
    (section as &dyn Any).downcast_ref::<SkillsSection>().map(|section| &section.folder)
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
