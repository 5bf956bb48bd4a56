//! The binary, run as a person would.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

mod approvals;
mod commands;
mod config;
mod connect;
mod demo;
mod doctor;
mod eval;
mod floods;
mod import;
mod json;
mod last_words;
mod model;
mod process;
mod queries;
mod records;
mod scratch;
mod secrets;
mod serving;
mod setup;
mod terminal;
mod wrong_lines;
