//! What one document may take, whatever its format. Readers have limits of their own beside these.

use std::time::Duration;

/// The largest file that is looked into, in bytes.
pub const MAX_INPUT: usize = 64 * 1024 * 1024;

/// How long one document may take.
pub const READING_TIME: Duration = Duration::from_secs(10);

/// The most text that is made of one document, in bytes. What comes after it is left out, and said so.
pub(crate) const MAX_TEXT: usize = 8 * 1024 * 1024;

/// The most blocks, and the most changes of place, of one document.
pub(crate) const MAX_BLOCKS: usize = 200_000;
pub(crate) const MAX_MARKS: usize = 500_000;

/// The most parts whose faults are named one by one.
pub(crate) const MAX_FAULTS: usize = 1000;

/// The longest title, in characters.
pub(crate) const MAX_TITLE: usize = 300;
