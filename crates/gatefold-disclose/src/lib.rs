//! Ways to show a catalogue to a language model: which tool definitions and instructions it gets,
//! what its calls of them mean, and how results are worded.
//!
//! A disclosure is pure: a function of the view, the request and the outcome. This crate must not
//! know how a call is made, who made it, the protocol library, or whether a source is up.

mod arguments;
mod auto;
mod blocks;
mod bounded;
mod cursor;
mod executing;
mod flat;
mod gateway;
mod hints;
mod intent;
mod levels;
mod listing;
mod namespace;
mod pinned;
mod rehearsal;
mod selection;
mod shortened;
mod surface;
#[cfg(test)]
#[path = "../tests/it/kinds.rs"]
mod test_kinds;
mod typed;
mod wording;

pub use auto::AutoDisclosure;
pub use executing::ExecuteTools;
pub use flat::{FlatDisclosure, Names};
pub use gateway::{Gateway, GatewayLimits};
pub use intent::IntentDisclosure;
pub use namespace::NamespaceDisclosure;
pub use pinned::Pins;
pub use rehearsal::{Rehearsal, rehearse, typical_tools};
pub use selection::{CHOSEN_TOOLS, SelectedDisclosure, SelectionLimits};
pub use shortened::{PreviewPlace, StructuredContent, result_text, separate_text, with_preview};
pub use surface::{
    ClientLimits, Disclosure, Reply, SearchAnswer, Step, Surface, TOOLS_LIMIT, ToolSurface,
    TopLevelCall, UsageError,
};
pub use typed::{ToolModes, TypedDisclosure, with_skill_stubs};
