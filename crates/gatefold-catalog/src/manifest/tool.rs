use std::sync::Arc;

use gatefold_core::{AbleClients, Digest, Hints};
use serde::{Deserialize, Serialize};

use super::{Span, span};
use crate::keys;
use crate::raw::with_fields;

/// One tool as its source defines it.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    pub(super) text: Arc<String>,
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
    /// The input schema under names that model providers take, if its own are not all such. It too is
    /// written after the definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) listed_schema: Option<Span>,
    /// To whom its source lists it, which its definition does not say.
    #[serde(default, skip_serializing_if = "AbleClients::are_everybody")]
    pub(super) clients: AbleClients,
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

    /// The input schema as it stands in a list of tools: its arguments have names that model providers
    /// take, or else those would refuse the whole list.
    pub fn listed_schema(&self) -> &str {
        self.at(self.places.listed_schema.unwrap_or(self.places.input_schema))
    }

    /// Arguments under the source's own names, if some were given by names of
    /// [`ToolDefinition::listed_schema`]. Both names of an argument are taken.
    pub fn own_arguments(&self, arguments: &str) -> Option<String> {
        self.places.listed_schema?;
        keys::own_arguments(self.input_schema(), arguments)
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

    /// The definition's JSON text under another name. `None` if it is no object.
    pub fn renamed(&self, name: &str) -> Option<String> {
        let name = serde_json::Value::from(name).to_string();
        match self.around_name() {
            Some((before, after)) => Some([before, &name, after].concat()),
            None => with_fields(self.raw(), |key, value| match key {
                "name" => name.clone().into(),
                _ => value.into(),
            }),
        }
    }

    /// What stands before and behind the name, if the definition need not be parsed to know that this
    /// is the only one.
    fn around_name(&self) -> Option<(&str, &str)> {
        let (raw, name) = (span(self.places.raw), span(self.places.name));
        // A name with escapes was decoded elsewhere.
        let before = self.text.get(raw.start..name.start.checked_sub(1)?)?;
        let after = self.text.get(name.end + 1..raw.end)?;
        // Of two members with one key the last counts, and a key may be written with escapes.
        let is_only_one = !before.contains('\\') && before.matches(r#""name""#).count() == 1;
        is_only_one.then_some((before, after))
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

    /// The clients to which its source lists it.
    pub fn clients(&self) -> AbleClients {
        self.places.clients
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
