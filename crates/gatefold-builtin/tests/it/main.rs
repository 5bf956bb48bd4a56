//! The tools as a caller sees them.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod ask_user;
mod calculate;
mod datetime;
mod diff;
mod documents;
mod files;
mod fixture;
mod json_query;
mod memory;
mod pdf;
mod text;
mod todo;
mod web;
