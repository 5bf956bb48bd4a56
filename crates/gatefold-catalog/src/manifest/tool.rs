use std::sync::Arc;

use gatefold_core::{Digest, Hints};
use serde::{Deserialize, Serialize};

use super::{Span, span};

/// One tool as its source defines it.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    pub(super) text: Arc<str>,
    pub(super) places: ToolPlaces,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ToolPlaces {
    pub(super) name: Span,
    pub(super) title: Option<Span>,
    pub(super) description: Option<Span>,
    pub(super) raw: Span,
    pub(super) input_schema: Span,
    pub(super) output_schema: Option<Span>,
    pub(super) annotations: Option<Span>,
    pub(super) hints: Hints,
    pub(super) digest: Digest,
    /// The resource that a host shows for it.
    pub(super) ui_resource: Option<Span>,
    pub(super) for_apps_only: bool,
    /// Written after the definition, which does not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<Span>,
}

impl ToolDefinition {
    fn at(&self, place: Span) -> &str {
        &self.text[span(place)]
    }

    pub fn name(&self) -> &str {
        self.at(self.places.name)
    }

    /// The title, or else the one in the annotations.
    pub fn title(&self) -> Option<&str> {
        self.places.title.map(|place| self.at(place))
    }

    pub fn description(&self) -> Option<&str> {
        self.places.description.map(|place| self.at(place))
    }

    /// The input schema's JSON text, as the source wrote it.
    pub fn input_schema(&self) -> &str {
        self.at(self.places.input_schema)
    }

    /// The output schema's JSON text, as the source wrote it.
    pub fn output_schema(&self) -> Option<&str> {
        self.places.output_schema.map(|place| self.at(place))
    }

    /// The annotations' JSON text, as the source wrote it.
    pub fn annotations(&self) -> Option<&str> {
        self.places.annotations.map(|place| self.at(place))
    }

    pub fn hints(&self) -> Hints {
        self.places.hints
    }

    /// The whole definition's JSON text, including fields unknown to us.
    pub fn raw(&self) -> &str {
        self.at(self.places.raw)
    }

    /// Its place among what the source listed: of two, the one that came first has the smaller.
    pub fn listed_at(&self) -> u32 {
        self.places.raw.0
    }

    /// The digest of the definition, regardless of its key order.
    pub fn digest(&self) -> Digest {
        self.places.digest
    }

    /// Whether its source offers it only to its own apps and not to models: MCP Apps,
    /// `_meta.ui.visibility` without `model`.
    pub fn is_for_apps_only(&self) -> bool {
        self.places.for_apps_only
    }

    /// The group that its source puts it in. The configuration's rules take precedence.
    pub fn group(&self) -> Option<&str> {
        self.places.group.map(|place| self.at(place))
    }

    /// The resource that a host shows for the tool, by the source's own URI: MCP Apps,
    /// `_meta.ui.resourceUri`.
    pub fn ui_resource(&self) -> Option<&str> {
        self.places.ui_resource.map(|place| self.at(place))
    }
}
