//! Real files of every client, and files that nobody would write.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod edits;
mod fixtures;
mod hostile;
mod places;
mod shapes;
mod tables;
