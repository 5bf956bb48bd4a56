//! Knowledge bases among the sources, and the tools for all of them at once.

use gatefold_config::{Field, Text};
use gatefold_core::Domain;
use schemars::JsonSchema;
use serde::Deserialize;

#[cfg(feature = "knowledge")]
use super::Config;
use super::sources::SourceDraft;
use super::{SourceConfig, SourceSection};

/// The kind of sources that are knowledge bases. A build without the feature has none.
const KIND: &str = "knowledge";

/// What the tools for all bases are called by.
pub(crate) fn knowledge_domain() -> Domain {
    Domain::from_key(KIND)
}

/// Whether a source is a knowledge base; unknown of one that cannot be used.
pub(super) fn is_base(section: &SourceSection) -> Option<bool> {
    Some(section.usable()?.kind().as_str() == KIND)
}

/// Whether there are tools for all bases: there is a base, and no source is called as they are.
pub(super) fn has_all_knowledge(sources: &[SourceConfig]) -> bool {
    let domain = knowledge_domain();
    sources.iter().any(|source| is_base(&source.section) == Some(true))
        && sources.iter().all(|source| source.domain != domain)
}

#[cfg(feature = "knowledge")]
impl Config {
    pub(crate) fn has_all_knowledge(&self) -> bool {
        has_all_knowledge(&self.sources)
    }
}

/// How an agent asks its knowledge bases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Grounding {
    /// For verbatim quotes that answer a question, or that there are none.
    #[default]
    Quotes,
    /// For passages.
    Off,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum GroundingWord {
    Quotes,
    Off,
}

impl From<GroundingWord> for Grounding {
    fn from(word: GroundingWord) -> Self {
        match word {
            GroundingWord::Quotes => Self::Quotes,
            GroundingWord::Off => Self::Off,
        }
    }
}

impl Grounding {
    /// The tool of a base that the agent does not have.
    pub(super) fn hidden_tool(self) -> &'static str {
        match self {
            Self::Quotes => "kb_retrieve",
            Self::Off => "grounded_retrieve",
        }
    }
}

/// The knowledge bases that an agent's list names.
pub(super) fn bases(
    names: &[Text],
    field: Option<&Field<'_>>,
    sources: &[SourceDraft],
) -> Vec<Domain> {
    let known = names.iter().filter_map(|Text(name)| {
        let domain = base(name, sources);
        if let (Err((message, hint)), Some(field)) = (&domain, field) {
            field.fault(message.clone(), hint.clone());
        }
        domain.ok()
    });
    known.collect()
}

/// The knowledge base of this name, or why there is none.
fn base(name: &str, sources: &[SourceDraft]) -> Result<Domain, (String, String)> {
    let named = sources.iter().find(|source| source.domain.domain().as_str() == name);
    if let Some(source) = named.filter(|source| is_base(&source.section) != Some(false)) {
        return Ok(source.domain.domain().clone());
    }
    let known = sources.iter().filter(|source| is_base(&source.section) == Some(true));
    let known: Vec<_> = known.map(|source| format!("`{}`", source.domain.domain())).collect();
    let hint = match known.as_slice() {
        [] => "configure a source with `knowledge` first".to_owned(),
        known => format!("use {}", known.join(", ")),
    };
    let message = match named {
        Some(_) => format!("has `{name}`, which is no knowledge base"),
        None => format!("has `{name}`, and there is no such source"),
    };
    Err((message, hint))
}

#[cfg(all(test, feature = "knowledge"))]
mod tests {
    use gatefold_knowledge::{KnowledgeHub, KnowledgeSource};

    use super::*;

    #[test]
    fn bases_and_their_common_tools_are_called_as_their_crate_calls_them() {
        assert_eq!(KnowledgeSource::KIND.as_str(), KIND);
        assert_eq!(KnowledgeHub::DOMAIN, knowledge_domain().as_str());
    }
}
