//! Folders of skills, good and hostile ones.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod format;
mod hostile;
mod race;
mod scratch;
