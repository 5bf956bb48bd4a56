//! Results that are too large for a model: kept whole, shown as a preview, and read on by handle.

mod keeper;
mod lent;
mod reading;
mod source;

pub(crate) use keeper::Showing;
pub use keeper::{ResultFormat, ResultKeeper, ResultLimits};
pub use lent::LentTexts;
pub use reading::READ_TASK;
pub use source::{ResultSource, read_result_id};
