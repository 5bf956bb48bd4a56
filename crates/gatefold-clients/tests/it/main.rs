//! Real files of every client, and files that nobody would write.

#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod edits;
mod fixtures;
mod hostile;
mod places;
mod shapes;
mod tables;
