//! Everything about the crate that can be seen from outside, the binary included.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

mod app;
mod client_configs;
mod commands;
mod config;
mod connect;
mod demo;
mod doctor;
mod eval;
mod examples;
mod faults;
mod faulty_files;
mod import;
mod json;
mod keys;
mod model;
mod process;
mod queries;
mod scratch;
mod secrets;
mod serving;
mod setup;
mod terminal;
mod wrong_inputs;
