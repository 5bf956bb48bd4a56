//! Requests as a server receives them, over real sockets.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod arrival;
mod described;
mod fixture;
mod properties;
mod requests;
