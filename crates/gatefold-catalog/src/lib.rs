//! What sources offer, and what of it a principal may see: manifests, the snapshot built from them,
//! views of that snapshot, names and addresses, groups, one-line descriptions, signatures and token
//! bounds.
//!
//! Everything here is a function of its input. This crate must not know a runtime, a network,
//! files, the environment, policy (a view takes a predicate) or whether a source happens to be up.
//! Texts from sources are untrusted data: well-formed definitions are kept unchanged, and every line
//! shown beside others is stripped of line breaks and control characters.

mod address;
mod answers;
mod bits;
mod canonical;
mod encoder;
mod entry;
mod fields;
mod groups;
mod hidden;
mod keys;
mod kind;
mod lookup;
mod manifest;
mod naming;
mod nearest;
mod pattern;
mod phrasings;
mod raw;
mod request;
mod retrieval;
pub mod schema_keywords;
mod search;
mod signature;
mod signature_text;
mod similarity;
mod snapshot;
mod summary;
mod template;
mod text;
mod tokens;
mod topic_stub;
mod twins;
mod view;

pub use address::{address, read_address};
pub use answers::{AnswerKind, media_type, repair_answer};
pub use encoder::Encoder;
pub use entry::Entry;
pub use gatefold_search::{Fit, Mode as SearchMode, PastIndex, PastQuery};
pub use groups::{GroupRules, is_group_name};
pub use hidden::{HiddenText, marked};
pub use kind::{
    Action, AssemblyStep, Command, FixedCall, KindName, MetaTool, Parts, StubForm, ToolPlace,
    TopicTool, TopicUse,
};
pub use manifest::{
    Alteration, Change, EntryDefinition, Listing, Manifest, ManifestBuilder, ManifestError,
    Necessity, PromptSpec, ResourceSpec, ServerInfo, Supplement, TemplateSpec, ToolDefinition,
    ToolSpec, ToolTopic, TopicText,
};
pub use pattern::Pattern;
pub use phrasings::{PHRASINGS, search_phrasings};
pub use raw::{
    by_ends, is_nested_deeper, object_fields, with_fields, with_whole_pairs, without_spaces,
};
pub use request::{Request, ResolvedEntry};
pub use retrieval::{RetrievalTexts, TextCoverage, ToolTexts};
pub use search::{Hit, SELECTED, SELECTION_THRESHOLD, Scope, fit, search, select};
pub use signature::{
    ParameterKind, call_signature, compact_signature, declared, differences, undeclared,
};
pub use similarity::nearest_texts;
pub use snapshot::{DomainEntry, Snapshot, SourceEntry, Tool, VisibleSet};
pub use text::{LINE_LIMIT, one_line};
pub use tokens::token_bound;
pub use topic_stub::{STUB_LENGTH, is_same_name, short_description, topic_stub};
pub use twins::{likeness, told_apart};
pub use view::{GroupCount, UnlistedSource, UnlistedState, UnresolvedTool, View, ViewKey};

#[cfg(test)]
mod tests;
