//! The binary, run as a person would.

#![expect(clippy::unwrap_used, reason = "test helpers may fail the test")]

mod access_tokens;
mod accounts;
mod agents;
mod api_accounts;
mod apis;
mod approvals;
mod calls;
mod commands;
mod completions;
mod config;
mod connect;
mod databases;
mod demo;
mod doctor;
mod eval;
mod eval_agent;
mod every_kind;
mod example_api;
mod floods;
mod golden;
mod import;
mod index;
mod issued_tokens;
mod json;
mod kills;
mod last_words;
mod logs;
mod model;
mod own_secrets;
mod process;
mod queries;
mod raw_api;
mod reached;
mod records;
mod registered;
mod running;
#[path = "../../../gatefold/tests/it/scratch/directory.rs"]
mod scratch;
mod scripted_model;
mod secrets;
mod serving;
mod setup;
mod signed_in;
mod skills;
mod source_logs;
mod sources;
mod surface;
mod takeover;
mod tasks;
mod terminal;
mod tls;
mod used;
mod what_is_wrong;
mod wrong_lines;
