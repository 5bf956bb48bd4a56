use std::sync::Arc;

use gatefold_core::Digest;
use serde::{Deserialize, Serialize};

use super::{Span, span};

/// One prompt, resource or resource template as its source defines it.
#[derive(Debug, Clone)]
pub struct EntryDefinition {
    pub(super) text: Arc<String>,
    pub(super) places: EntryPlaces,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct EntryPlaces {
    pub(super) key: Span,
    pub(super) name: Span,
    pub(super) title: Option<Span>,
    pub(super) description: Option<Span>,
    pub(super) raw: Span,
    pub(super) digest: Digest,
}

impl EntryDefinition {
    fn at(&self, place: Span) -> &str {
        &self.text[span(place)]
    }

    /// What identifies it at the source: a prompt's name, a resource's `uri`, a template's
    /// `uriTemplate`.
    pub fn key(&self) -> &str {
        self.at(self.places.key)
    }

    /// The source's name for it. For resources and templates it identifies nothing.
    pub fn name(&self) -> &str {
        self.at(self.places.name)
    }

    pub fn title(&self) -> Option<&str> {
        self.places.title.map(|place| self.at(place))
    }

    pub fn description(&self) -> Option<&str> {
        self.places.description.map(|place| self.at(place))
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
}
