//! What was read of an API, and the manifest made from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use gatefold_catalog::{
    Alteration, Change, Manifest, ManifestBuilder, Supplement, ToolSpec, one_line,
};
use gatefold_core::Hints;
use serde_json::Map;
use url::Url;

use super::library::Node;
use super::security::{CodeFlowUrls, SecuritySchemes};
use crate::action::{ACTION_KEY, Action, SecurityRequirement};
use crate::request::OperationPath;

/// How many changes a manifest tells, and in how many characters each: they are kept with it.
const NOTES_LIMIT: usize = 200;
const NOTE_LENGTH: usize = 240;

/// What a configuration says beside a description.
#[derive(Debug, Clone, Default)]
pub struct DescriptionOptions {
    /// Where the API is, instead of the servers that the description names.
    pub base_url: Option<Url>,
    /// Values for the variables of servers, instead of their defaults.
    pub server_variables: BTreeMap<String, String>,
}

/// What was read of an API besides its tools.
#[derive(Debug, Clone)]
pub struct ApiDescription {
    pub title: String,
    pub version: String,
    pub description: Option<String>,
    /// How many tools there are.
    pub tools: usize,
    /// The ways to sign in that tools name.
    pub sign_ins: BTreeMap<Vec<SecurityRequirement>, SignInUse>,
    /// Where all operations are, hidden and unusable ones included.
    pub paths: Vec<OperationPath>,
    /// Operations that are no tools.
    pub unusable: Vec<UnusableOperation>,
    /// What was changed or left out of tools.
    pub notes: Vec<DescriptionNote>,
    /// The ways to sign in that it declares, by their names.
    pub schemes: SecurityRequirement,
    /// Where tokens for a client's own credentials come from.
    pub token_urls: Vec<String>,
    /// Where people sign in.
    pub code_flows: Vec<CodeFlowUrls>,
}

/// Which tools name the same ways to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInUse {
    /// The place of the first of them among all tools.
    pub first: usize,
    pub tools: usize,
}

/// One operation as a tool. Its schemas are JSON texts.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDraft {
    pub name: String,
    /// The operation's method and path.
    pub operation: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub group: Option<String>,
    pub input_schema: String,
    /// Many operations answer with the same.
    pub output_schema: Option<Arc<str>>,
    pub hints: Hints,
    pub action: Action,
}

/// An operation that is no tool, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableOperation {
    /// Its method and path.
    pub operation: String,
    pub why: String,
}

/// What was changed or left out of a tool, or of the description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptionNote {
    pub tool: Option<String>,
    pub what: String,
}

impl ApiDescription {
    /// With what a description says of itself.
    pub(super) fn of(
        root: Node<'_>,
        security: &SecuritySchemes,
        notes: Vec<DescriptionNote>,
    ) -> Self {
        let info = |key: &str| root.get("info").and_then(|info| info.text(key)).unwrap_or_default();
        Self {
            title: one_line(info("title"), 200),
            version: one_line(info("version"), 60),
            description: Some(info("description").trim().to_owned())
                .filter(|text| !text.is_empty()),
            tools: 0,
            sign_ins: BTreeMap::new(),
            paths: Vec::new(),
            unusable: Vec::new(),
            notes,
            schemes: security.by_name().clone(),
            token_urls: security.token_urls.clone(),
            code_flows: security.code_flows.clone(),
        }
    }

    pub(super) fn count(&mut self, action: &Action) {
        if let Some(ways) = &action.security {
            if let Some(known) = self.sign_ins.get_mut(ways) {
                known.tools += 1;
            } else {
                self.sign_ins.insert(ways.clone(), SignInUse { first: self.tools, tools: 1 });
            }
        }
        self.tools += 1;
    }

    /// The manifest of the tools that were added to it. What was changed or left out is among its alterations.
    pub fn into_manifest(self, tools: ManifestBuilder) -> Manifest {
        let attachment = serde_json::to_string(&self.paths).expect("it is all texts");
        let supplement = Supplement { topics: Vec::new(), attachment };
        let mut builder = tools.supplement(supplement);
        for alteration in alterations(&self.unusable, &self.notes) {
            builder = builder.alteration(alteration);
        }
        builder.build()
    }
}

impl ToolDraft {
    /// The tool as it goes into a manifest.
    pub fn into_spec(self) -> ToolSpec {
        let action = serde_json::to_value(&self.action).expect("its keys are texts");
        let meta = Map::from_iter([(ACTION_KEY.to_owned(), action)]);
        let mut spec = ToolSpec::new(self.name)
            .input_schema_text(self.input_schema)
            .hints(self.hints)
            .meta(meta);
        if let Some(title) = self.title {
            spec = spec.title(title);
        }
        if let Some(description) = self.description {
            spec = spec.description(description);
        }
        if let Some(output) = self.output_schema {
            spec = spec.output_schema_text(&*output);
        }
        match self.group {
            Some(group) => spec.group(group),
            None => spec,
        }
    }
}

fn alterations(unusable: &[UnusableOperation], notes: &[DescriptionNote]) -> Vec<Alteration> {
    let short = |text: &str| one_line(text, NOTE_LENGTH);
    let left_out = unusable.iter().map(|one| Alteration {
        entry: short(&format!("operation `{}`", one.operation)),
        what: Change::LeftOut(short(&one.why)),
    });
    let repaired = notes.iter().map(|note| Alteration {
        entry: note
            .tool
            .as_ref()
            .map_or("the description".to_owned(), |tool| format!("tool `{tool}`")),
        what: Change::Repaired(short(&note.what)),
    });
    let mut all: Vec<Alteration> = left_out.chain(repaired).take(NOTES_LIMIT).collect();
    let more = (unusable.len() + notes.len()).saturating_sub(NOTES_LIMIT);
    if more > 0 {
        let what = Change::Repaired(format!("{more} more changes are not listed"));
        all.push(Alteration { entry: "the description".to_owned(), what });
    }
    all
}
