//! The built-in tools that our own loops have without a source.

use std::collections::BTreeSet;

use gatefold_builtin::BuiltinName;
use gatefold_core::Domain;

use super::kinds::KindSection;
use super::{Config, SourceConfig};

/// What these tools are called by.
pub(crate) fn builtin_domain() -> Domain {
    Domain::from_key("builtin")
}

/// Those of the wanted tools that no source has. None where a source is called as they are.
pub(super) fn loop_tools(
    wanted: &BTreeSet<BuiltinName>,
    sources: &[SourceConfig],
) -> BTreeSet<BuiltinName> {
    if sources.iter().any(|source| source.domain == builtin_domain()) {
        return BTreeSet::new();
    }
    let sections = sources.iter().filter_map(|source| source.section.usable());
    let offered: BTreeSet<_> =
        sections.flat_map(KindSection::tool_categories).map(|(_, tool)| tool).collect();
    let is_free = |name: &&BuiltinName| !name.tools().iter().any(|tool| offered.contains(tool));
    wanted.iter().filter(is_free).copied().collect()
}

impl Config {
    /// The built-in tools that loops have without a source.
    pub(crate) fn loop_tools(&self) -> BTreeSet<BuiltinName> {
        loop_tools(&self.disclosure.builtin_tools, &self.sources)
    }
}
