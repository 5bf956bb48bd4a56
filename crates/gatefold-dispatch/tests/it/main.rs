//! The dispatcher's claims, proved on fake sources: no network, no processes, paused time.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod approvals;
mod cancellation;
mod catalogue;
mod clients;
mod identities;
mod limits;
mod nesting;
mod obligations;
mod operations;
mod own_sources;
mod parked;
mod permits;
mod questions;
mod records;
mod reload;
mod rounds;
mod source;
mod spans;
mod stateless;
mod suspension;
mod views;
mod world;
