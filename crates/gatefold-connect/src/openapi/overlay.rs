//! What a person says about an API's tools, kept apart from its description.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;

use super::description::ApiDescription;
use super::names::is_legal;

/// Changes to the tools of a description, by the name that the description gives them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    #[serde(default)]
    pub operations: BTreeMap<String, OperationOverlay>,
}

/// Changes to one tool. What is not set stays as the description has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationOverlay {
    /// Another name.
    #[serde(default)]
    pub name: Option<String>,
    /// Leaves the tool out.
    #[serde(default)]
    pub hide: bool,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub group: Option<String>,
    /// Whether a person is asked before each call.
    #[serde(default)]
    pub ask: bool,
}

/// What became of an overlay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OverlayReport {
    /// Its entries that no tool has the name of, or that give a name that another tool has.
    pub unmatched: Vec<String>,
    /// The tools, by their new names, before whose calls a person is asked.
    pub ask: Vec<String>,
}

impl Overlay {
    /// The names, old and new, of the tools before whose calls a person is asked.
    pub fn asks(&self) -> Vec<String> {
        let asked = self.operations.iter().filter(|(_, wanted)| wanted.ask);
        let names = asked.flat_map(|(name, wanted)| std::iter::once(name).chain(&wanted.name));
        names.cloned().collect()
    }
}

impl ApiDescription {
    /// Changes the tools as an overlay says. A new name that is not legal, or that another tool has or is to
    /// have as well, is not taken.
    pub fn apply(&mut self, overlay: &Overlay) -> OverlayReport {
        let mut report = OverlayReport::default();
        let known: HashSet<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        let unknown = overlay.operations.keys().filter(|name| !known.contains(name.as_str()));
        report
            .unmatched
            .extend(unknown.map(|name| format!("`{name}` is the name of no operation")));
        self.tools
            .retain(|tool| !overlay.operations.get(&tool.name).is_some_and(|wanted| wanted.hide));
        let claims = self.claims(overlay);
        for tool in &mut self.tools {
            let Some(wanted) = overlay.operations.get(&tool.name) else { continue };
            tool.description = wanted.description.clone().or(tool.description.take());
            tool.group = wanted.group.clone().or(tool.group.take());
            match &wanted.name {
                Some(new) if *new == tool.name => {}
                Some(new) if claims.get(new) == Some(&1) && is_legal(new) => {
                    tool.name.clone_from(new);
                }
                Some(new) => {
                    let why = if is_legal(new) {
                        "another has that name"
                    } else {
                        "that is no legal name"
                    };
                    report
                        .unmatched
                        .push(format!("`{}` cannot be called `{new}`: {why}", tool.name));
                }
                None => {}
            }
            if wanted.ask {
                report.ask.push(tool.name.clone());
            }
        }
        report
    }

    /// How many tools have or want each name.
    fn claims(&self, overlay: &Overlay) -> HashMap<String, usize> {
        let mut claims = HashMap::new();
        for tool in &self.tools {
            let wanted = overlay.operations.get(&tool.name).and_then(|wanted| wanted.name.as_ref());
            for name in wanted.filter(|new| **new != tool.name).into_iter().chain([&tool.name]) {
                *claims.entry(name.clone()).or_default() += 1;
            }
        }
        claims
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::Hints;
    use serde_json::json;

    use super::super::description::ToolDraft;
    use super::*;

    fn description(names: &[&str]) -> ApiDescription {
        let action = json!({ "method": "GET", "path": "/" });
        let tool = |name: &&str| ToolDraft {
            name: (*name).to_owned(),
            operation: "GET /".to_owned(),
            title: None,
            description: Some("before".to_owned()),
            group: None,
            input_schema: "{}".to_owned(),
            output_schema: None,
            hints: Hints::default(),
            action: serde_json::from_value(action.clone()).unwrap(),
        };
        ApiDescription {
            title: String::new(),
            version: String::new(),
            description: None,
            tools: names.iter().map(tool).collect(),
            paths: Vec::new(),
            unusable: Vec::new(),
            notes: Vec::new(),
            schemes: BTreeMap::new(),
            token_urls: Vec::new(),
            code_flows: Vec::new(),
        }
    }

    #[test]
    fn an_overlay_changes_what_it_names_and_tells_what_it_could_not() {
        let mut api = description(&["a", "b", "c", "d", "e"]);
        let overlay: Overlay = serde_json::from_value(json!({ "operations": {
            "a": { "name": "first", "description": "after", "group": "G", "ask": true },
            "b": { "hide": true },
            "c": { "name": "d" },
            "d": { "name": "same" },
            "e": { "name": "not legal" },
            "gone": { "ask": true },
        } }))
        .unwrap();
        let report = api.apply(&overlay);
        let names: Vec<&str> = api.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["first", "c", "same", "e"]);
        let first = &api.tools[0];
        assert_eq!(
            (first.description.as_deref(), first.group.as_deref()),
            (Some("after"), Some("G"))
        );
        assert_eq!(api.tools[1].description.as_deref(), Some("before"));
        assert_eq!(report.ask, ["first"]);
        assert_eq!(
            report.unmatched,
            [
                "`gone` is the name of no operation",
                "`c` cannot be called `d`: another has that name",
                "`e` cannot be called `not legal`: that is no legal name",
            ],
        );
    }

    #[test]
    fn an_unknown_key_of_an_overlay_is_refused() {
        let read =
            serde_json::from_value::<Overlay>(json!({ "operations": { "a": { "rename": "b" } } }));
        assert!(read.is_err());
    }
}
