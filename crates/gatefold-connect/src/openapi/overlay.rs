//! What a person says about an API's tools, kept apart from its description.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;

use super::description::ToolDraft;
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

impl Overlay {
    /// The names, old and new, of the tools before whose calls a person is asked.
    pub fn asks(&self) -> Vec<String> {
        let asked = self.operations.iter().filter(|(_, wanted)| wanted.ask);
        let names = asked.flat_map(|(name, wanted)| std::iter::once(name).chain(&wanted.name));
        names.cloned().collect()
    }
}

/// What an overlay does to each tool of a description.
#[derive(Debug)]
pub(super) struct OverlayPlan<'o> {
    overlay: &'o Overlay,
    /// The tools that get another name.
    renamed: HashSet<&'o str>,
    /// The entries that no tool has the name of, or that give a name that no tool can have.
    pub(super) unmatched: Vec<String>,
}

impl<'o> OverlayPlan<'o> {
    /// For tools of these names. A new name that is not legal, or that another tool has or is to have as well, is
    /// not taken.
    pub(super) fn new<'n>(
        overlay: &'o Overlay,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Self
    where
        'o: 'n,
    {
        let known: HashSet<&str> = names.clone().collect();
        let unknown = overlay.operations.keys().filter(|name| !known.contains(name.as_str()));
        let mut unmatched: Vec<String> =
            unknown.map(|name| format!("`{name}` is the name of no operation")).collect();
        let mut renamed = HashSet::new();
        let claims = claims(overlay, names.clone());
        for (name, wanted) in names.filter_map(|name| overlay.operations.get_key_value(name)) {
            let Some(new) = wanted.name.as_ref().filter(|new| *new != name && !wanted.hide) else {
                continue;
            };
            if claims.get(new.as_str()) == Some(&1) && is_legal(new) {
                renamed.insert(name.as_str());
                continue;
            }
            let is_taken = is_legal(new);
            let why = if is_taken { "another has that name" } else { "that is no legal name" };
            unmatched.push(format!("`{name}` cannot be called `{new}`: {why}"));
        }
        Self { overlay, renamed, unmatched }
    }

    /// The tool with what the overlay changes of it. None if it is left out.
    pub(super) fn apply(&self, mut tool: ToolDraft) -> Option<ToolDraft> {
        let Some(wanted) = self.overlay.operations.get(&tool.name) else { return Some(tool) };
        if wanted.hide {
            return None;
        }
        tool.description = wanted.description.clone().or(tool.description);
        tool.group = wanted.group.clone().or(tool.group);
        if let Some(new) = wanted.name.as_ref().filter(|_| self.renamed.contains(&*tool.name)) {
            tool.name.clone_from(new);
        }
        Some(tool)
    }
}

/// How many of the tools that are not left out have or want each name.
fn claims<'a>(
    overlay: &'a Overlay,
    names: impl Iterator<Item = &'a str>,
) -> HashMap<&'a str, usize> {
    let mut claims = HashMap::new();
    for name in names {
        let wanted = overlay.operations.get(name);
        if wanted.is_some_and(|wanted| wanted.hide) {
            continue;
        }
        let new = wanted.and_then(|wanted| wanted.name.as_deref()).filter(|new| *new != name);
        for name in new.into_iter().chain([name]) {
            *claims.entry(name).or_default() += 1;
        }
    }
    claims
}

#[cfg(test)]
mod tests {
    use gatefold_core::Hints;
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> ToolDraft {
        ToolDraft {
            name: name.to_owned(),
            operation: "GET /".to_owned(),
            title: None,
            description: Some("before".to_owned()),
            group: None,
            input_schema: "{}".to_owned(),
            output_schema: None,
            hints: Hints::default(),
            action: serde_json::from_value(json!({ "method": "GET", "path": "/" })).unwrap(),
        }
    }

    #[test]
    fn an_overlay_changes_what_it_names_and_tells_what_it_could_not() {
        let names = ["a", "b", "c", "d", "e"];
        let overlay: Overlay = serde_json::from_value(json!({ "operations": {
            "a": { "name": "first", "description": "after", "group": "G", "ask": true },
            "b": { "hide": true },
            "c": { "name": "d" },
            "d": { "name": "same" },
            "e": { "name": "not legal" },
            "gone": { "ask": true },
        } }))
        .unwrap();
        let plan = OverlayPlan::new(&overlay, names.into_iter());
        let tools: Vec<_> = names.iter().filter_map(|name| plan.apply(tool(name))).collect();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["first", "c", "same", "e"]);
        let first = &tools[0];
        assert_eq!(
            (first.description.as_deref(), first.group.as_deref()),
            (Some("after"), Some("G"))
        );
        assert_eq!(tools[1].description.as_deref(), Some("before"));
        assert_eq!(
            plan.unmatched,
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
