//! Folders of skills.

mod section;

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use gatefold_catalog::{AssemblyStep, KindName, ToolPlace, TopicTool, TopicUse};
use gatefold_config::{FilePath, LimitedItems, Table, Text, parsed};
use gatefold_core::Domain;
use gatefold_skills::{READ_SKILL, SkillFolder};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::{ConnectionMethod, KindSection, SourceKind};
use crate::config::SourceSection;
use crate::config::key::{Key, keys_of};

use section::SkillsSection;

/// The kind of sources that are folders of skills.
#[derive(Debug)]
pub struct SkillsKind;

/// What stands above the stubs of skills.
pub const SKILLS_HEADING: &str = "## Available Skills\n\
    Call read_skill(name) to load full content before executing any of these:";

const PLACE: ToolPlace = ToolPlace::Topics(&[TopicTool {
    name: READ_SKILL,
    step: AssemblyStep::Skills,
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
}]);

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

    fn keys(&self) -> Vec<Key> {
        keys_of::<SkillKeys>()
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        let SkillKeys { skills, link_targets, domains } = table.read()?;
        let link_targets = link_targets.0.into_iter().map(|target| target.0).collect();
        let folder = SkillFolder { path: skills?.0, link_targets };
        let domains = domains.0.into_iter().map(|name| name.0).collect();
        Some(Arc::new(SkillsSection { folder, domains }))
    }
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct SkillKeys {
    /// A folder of skills in the open Agent Skills format.
    ///
    /// A folder with a `SKILL.md` is a skill, wherever it lies, and so is a Markdown file with front matter
    /// right in the folder. Links are followed only into `follow_links_to`, and nothing is run. Named `skills`,
    /// the source has the tool `skills__read_skill`.
    #[schemars(extend("examples" = ["./skills"]))]
    skills: Option<FilePath>,
    /// The folders that links in it may lead into.
    ///
    /// A link to a skill, to its `SKILL.md` or to one of its files is followed if it ends in one of these
    /// folders, and left out otherwise. The paths are relative to the file.
    #[schemars(extend("examples" = [["~/.agents/skills"]], "x-unset" = "none"))]
    #[serde(rename = "follow_links_to")]
    link_targets: LimitedItems<Vec<FilePath>>,
    /// The domains that its skills are for.
    ///
    /// A skill may name more of them, with `for` below `metadata` in its front matter.
    #[schemars(extend("examples" = [["tickets"]], "x-unset" = "none"))]
    #[serde(rename = "for")]
    domains: LimitedItems<Vec<DomainName>>,
}

#[derive(JsonSchema)]
#[schemars(with = "Text")]
struct DomainName(Domain);

impl<'de> Deserialize<'de> for DomainName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "write the domain of a source, as `gatefold list` shows it";
        parsed(deserializer, "a domain", hint, |text| Domain::parse(text).ok()).map(Self)
    }
}
