//! The library as an embedder sees it: configurations in, a gateway out.

#![expect(clippy::unwrap_used, reason = "test helpers may fail the test")]

#[cfg(feature = "knowledge")]
mod addresses;
mod agents;
mod api_tokens;
mod apis;
mod app;
mod builtin;
mod client_configs;
mod config;
mod examples;
mod exchanges;
mod failed_calls;
mod faults;
mod faulty_files;
mod keys;
mod kinds;
#[cfg(feature = "knowledge")]
mod knowledge;
mod loop_tools;
mod models;
mod patterns;
mod refused_lists;
mod retries;
mod scratch;
mod secrets;
mod skills;
mod typed;
mod used;
mod worker;
mod wrong_inputs;
