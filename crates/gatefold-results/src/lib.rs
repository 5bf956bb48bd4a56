//! What a model is shown of a result that is too large, and how it reads on.
//!
//! [`preview`] says what a text is and shows the most telling parts of it within a budget of tokens;
//! [`read`] gives any other part. Everything shown stands in the original where the preview says that
//! it stands, and whatever is left out is counted.
//!
//! [`compact`] says the same JSON in fewer tokens.
//!
//! All of this is a function of a text. This crate knows no runtime, no storage, no principals and no
//! protocol: who may read a result, how long it is kept and under which handle is decided elsewhere.

mod arguments;
mod budget;
mod calls;
mod compact;
mod content;
mod error;
mod excerpt;
mod grep;
mod jq;
mod json;
mod lines;
mod pages;
mod paths;
mod preview;
mod reading;
mod rows;
mod shape;
mod sql;
mod survey;
mod table_rows;

pub use arguments::{READ_DESCRIPTION, READ_SCHEMA, ReadRequest};
pub use budget::TokenBudget;
pub use calls::KeptResult;
pub use compact::compact;
pub use content::ContentKind;
pub use error::{ReadingError, ReadingErrorKind};
pub use grep::{GrepPattern, LetterCase};
pub use jq::{JqFault, JqOutcome, check as check_jq, run as run_jq};
pub use preview::{ResultPreview, preview};
pub use reading::{PartRange, ReadAnswer, ResultPart, ResultReading, read};
