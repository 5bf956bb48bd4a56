//! The loop of a turn over a source that answers with what it was called with.

#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod searches;
mod turns;
mod world;
