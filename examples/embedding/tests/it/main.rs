//! Every part of the example, at work in a gateway that a client speaks to over HTTP.

#![expect(clippy::unwrap_used, reason = "test helpers may fail the test")]

mod claims;
mod concierge;
mod desk;
mod diary;
mod greetings;
mod menu;
mod poet;
mod routes;
mod sizes;
mod tokens;
mod vault;
mod world;
