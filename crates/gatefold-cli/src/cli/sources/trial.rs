//! A first look at what a new source offers.

use std::collections::BTreeMap;
use std::path::Path;

use gatefold::Environment;
use gatefold::config::kinds::{DatabaseKind, skill_folder};
use gatefold::config::load;
use gatefold_skills::SkillSet;
use serde::Serialize;

use crate::cli::arguments::SharedOptions;
use crate::cli::session;
use crate::cli::skills::links_text;
use crate::cli::table::number_of;
use crate::cli::tokens::ChildCounter;

/// The most groups and changed tools to name.
const NAMED: usize = 8;

/// What a source offers, or why that is not known.
#[derive(Debug, Serialize)]
pub(super) struct SourceTrial {
    tools: usize,
    /// What all definitions would cost a model that is given every tool.
    tokens: usize,
    /// The tables of a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    tables: Option<usize>,
    /// The skills of a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    skills: Option<usize>,
    /// How many of them are links, and how many links were not followed, in words.
    #[serde(skip)]
    links: String,
    /// The groups, with their numbers of tools.
    groups: BTreeMap<String, usize>,
    /// What was left out or changed.
    alterations: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// Reaches one source of a configuration that was just written.
pub(super) async fn of_source(
    name: &str,
    path: &Path,
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<SourceTrial> {
    let shared =
        SharedOptions { config: Some(path.to_owned()), mcp_config: Vec::new(), ..shared.clone() };
    let mut config = load(&shared.inputs().located(environment)?, environment)?;
    config.sources.retain(|source| source.origin.key == name);
    let folder = config.sources.iter().find_map(|source| skill_folder(source.section.usable()?));
    let links = folder.and_then(|folder| SkillSet::read(folder).ok()).map(|set| links_text(&set));
    let is_folder = folder.is_some();
    let mut sections = config.sources.iter().filter_map(|source| source.section.usable());
    let is_database = sections.any(|section| section.kind() == DatabaseKind::NAME);
    let app = session::open_with(config, &shared, environment).await?.app;
    let connected = app.connect(&()).await;
    let failure =
        connected.into_iter().find_map(|one| one.result.err()).map(|error| error.to_string());
    let tokens = app.count_definitions(&ChildCounter).await?.values().sum();
    let alterations = app.reports().into_iter().flat_map(|report| report.alterations);
    let alterations = alterations.collect();
    let pinned = app.pin();
    let mut groups = BTreeMap::new();
    for tool in pinned.view().tools() {
        *groups.entry(tool.group().to_owned()).or_default() += 1;
    }
    let tools = pinned.view().tool_count();
    let manifests = pinned.view().domains().filter_map(|domain| domain.manifest());
    let supplements = manifests.filter_map(|manifest| manifest.supplement());
    let topics = supplements.map(|supplement| supplement.topics.len()).next();
    let (tables, skills) = (topics.filter(|_| is_database), topics.filter(|_| is_folder));
    app.close().await;
    let links = links.unwrap_or_default();
    Ok(SourceTrial { tools, tokens, tables, skills, links, groups, alterations, failure })
}

impl SourceTrial {
    /// What is printed for people, a paragraph each. `noun` is what to call one of its tools.
    pub(super) fn lines(&self, noun: &str) -> Vec<String> {
        if let Some(failure) = &self.failure {
            return vec![format!("note: it could not be read yet: {failure}")];
        }
        let groups = self.groups.iter().take(NAMED);
        let groups: Vec<_> = groups.map(|(name, count)| format!("{name} ({count})")).collect();
        let more = match self.groups.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (tools, tokens) = (self.tools, number_of(self.tokens, "token"));
        let mut lines = vec![match (self.tables, self.skills) {
            (_, Some(skills)) => format!(
                "found {}{}, and a tool to read them with, {tokens} if a model is shown it",
                number_of(skills, "skill"),
                self.links,
            ),
            (Some(tables), None) => format!(
                "found {}, and {} to read them with, {tokens} if a model is shown them all",
                number_of(tables, "table"),
                number_of(tools, "tool"),
            ),
            (None, None) => format!(
                "found {}, {tokens} if a model is shown them all, in {}: {}{more}",
                number_of(tools, noun),
                number_of(self.groups.len(), "group"),
                groups.join(", "),
            ),
        }];
        lines.extend(self.alterations.iter().take(NAMED).map(|what| format!("note: {what}")));
        if self.alterations.len() > NAMED {
            let more = self.alterations.len() - NAMED;
            lines.push(format!(
                "note: {more} more were left out or changed; `gatefold check` lists them"
            ));
        }
        lines
    }
}
