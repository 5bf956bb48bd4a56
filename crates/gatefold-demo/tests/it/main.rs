//! Every tool's behaviour, through the same calls that a client makes.

#![expect(clippy::unwrap_used, reason = "test helpers may fail the test")]

#[macro_use]
mod claims;

mod api;
mod calendar;
mod contacts;
mod files;
mod issues;
mod shop;
mod tables;
mod text;
mod units;
mod wire;
