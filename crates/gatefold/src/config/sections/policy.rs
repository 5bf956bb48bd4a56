//! `[policy]` of `gatefold.toml`: what may be seen and used of all sources.

use gatefold_config::Table;
use gatefold_core::EntryPattern as PolicyPattern;
use gatefold_policy::{Effect, Entries, Rule, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Config;
use super::super::common_keys::{
    AskSelections, EntryEffect, EntryPattern, EntrySelection, PatternKeys, effects,
};
use super::super::key::SectionKeys;

/// What may be seen and used of all sources.
///
/// Patterns over the ids of tools and prompts, `{domain}__{name}`, and over the addresses of resources:
/// `gatefold://{domain}/{uri}`, or `ui://gatefold/{domain}/...` where the URI begins with `ui://`. `tool:`,
/// `prompt:` or `resource:` before a pattern narrows it to these. What is denied is not shown, not found and not
/// suggested, and calling it gives the same error as a name that does not exist.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(in crate::config) struct PolicyKeys {
    /// What to show.
    ///
    /// Everything that no pattern names is hidden, prompts and resources included.
    #[schemars(extend("minItems" = 1, "examples" = [["*__get_*", "notes__*", "resource:gatefold://notes/*"]],
        "x-unset" = "all of them"))]
    allow: Vec<EntryPattern>,
    /// Which calls need a person's approval.
    ///
    /// A client that can ask its user does so. For other clients the call is refused until a person approves it
    /// with `gatefold approvals`. An approval is for one call, with the same arguments. Wins over `allow`.
    #[schemars(extend("examples" = ["writes"], "x-unset" = "none"))]
    ask: AskSelections,
    /// Which of the calls in `ask` need no approval.
    ///
    /// Exceptions to `ask` of this section alone: what a source asks for stays as it is.
    #[schemars(extend("examples" = [["mail__create_draft"]], "x-unset" = "none"))]
    ask_unless: Vec<EntryPattern>,
    /// What to hide.
    ///
    /// Wins over `allow` and `ask`.
    #[schemars(extend("examples" = [["*__drop_*"]], "x-unset" = "none"))]
    deny: Vec<EntryPattern>,
    /// What `deny` does not hide, though it matches.
    ///
    /// Exceptions to `deny` of this section alone: what a source denies stays hidden.
    #[schemars(extend("examples" = [["*__drop_draft"]], "x-unset" = "none"))]
    deny_unless: Vec<EntryPattern>,
}

pub(super) fn read(table: &mut Table<'_>) -> Vec<EntryEffect> {
    let keys: PolicyKeys = table.read().unwrap_or_default();
    let PolicyKeys { allow, ask, ask_unless, deny, deny_unless } = keys;
    effects(table, PatternKeys { allow, ask, ask_unless, deny, deny_unless })
}

impl SectionKeys for PolicyKeys {
    fn of(config: &Config) -> Self {
        Self {
            allow: rules(config, Effect::Allow).map(pattern).collect(),
            ask: AskSelections(rules(config, Effect::Ask).map(selection).collect()),
            ask_unless: exceptions(config, Effect::Ask),
            deny: rules(config, Effect::Deny).map(pattern).collect(),
            deny_unless: exceptions(config, Effect::Deny),
        }
    }
}

/// The rules with an effect in all sources.
fn rules(config: &Config, effect: Effect) -> impl Iterator<Item = &Rule> {
    let rules = config.policy.rules().iter();
    rules.filter(move |rule| rule.scope == Scope::Everywhere && rule.effect == effect)
}

fn selection(rule: &Rule) -> EntrySelection {
    match rule.entries {
        Entries::Writes => EntrySelection::Writes,
        Entries::Every | Entries::Only(_) => EntrySelection::Pattern(pattern(rule).0),
    }
}

fn pattern(rule: &Rule) -> EntryPattern {
    let pattern = rule.pattern.as_str();
    match rule.entries {
        Entries::Only(kind) => EntryPattern(format!("{}:{pattern}", kind.as_str())),
        Entries::Every | Entries::Writes => EntryPattern(pattern.to_owned()),
    }
}

/// The exceptions of the rules with an effect: they are the same for each.
fn exceptions(config: &Config, effect: Effect) -> Vec<EntryPattern> {
    let unless = rules(config, effect).next().map(|rule| &rule.unless).into_iter().flatten();
    let written = |pattern: &PolicyPattern| match pattern.kind {
        Some(kind) => format!("{}:{}", kind.as_str(), pattern.name.as_str()),
        None => pattern.name.as_str().to_owned(),
    };
    unless.map(|pattern| EntryPattern(written(pattern))).collect()
}
