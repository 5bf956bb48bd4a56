//! Knowledge bases: documents that are kept with their past versions, searched and cited.
//!
//! A [`KnowledgeBase`] is one folder on disk. What it keeps is in one SQLite file; the index of
//! words beside it is derived, and made anew where it is missing or disagrees. A search gives
//! [`Passage`]s with absolute scores.
//!
//! [`ground`] answers a question with sentences of passages, and [`check_citations`] compares the
//! quotes of any answer with the texts that it cites. Both are functions of their input and ask no
//! model.
//!
//! The API blocks: call it on threads that may wait. This crate must not know the configuration,
//! MCP, calls, the store of the gateway, an async runtime or the network, and it reads no document's
//! format: `gatefold-documents` does, in a worker.

mod checking;
mod citation;
mod grounding;
mod passage;
mod sentences;

pub use checking::{
    CheckedAnswer, CheckedQuote, CitableText, CitedText, CitedTexts, FoundQuote, MAX_ANSWER,
    MAX_QUOTES, Misattribution, Verdict, check_citations,
};
pub use citation::{Citation, InvalidCitation, InvalidVersion, Version};
pub use grounding::{
    Calibration, Claim, Features, Grounded, GroundingSettings, MAX_GROUNDING_QUOTES, Quote,
    Similarity, ground,
};
pub use passage::Passage;
pub use sentences::sentences;
