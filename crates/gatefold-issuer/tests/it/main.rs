//! The issuer over a real listener, with a browser and a client that are no libraries of ours.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod ask;
mod attacks;
mod browser;
mod documents;
mod flows;
mod http;
mod memory;
mod provider;
mod registrations;
mod world;
