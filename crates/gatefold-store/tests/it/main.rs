//! The store through its public API, with real files and, where it matters, other processes.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod access_tokens;
mod approvals;
mod directory;
mod fixture;
mod grants;
mod migrations;
mod model_uses;
mod notes;
mod past;
mod processes;
mod providers;
mod records;
mod results;
mod retention;
mod runs;
mod sign_ins;
mod sources;
mod threads;
mod used;
