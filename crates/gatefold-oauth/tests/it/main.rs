//! Whole sign-ins, and what becomes of them, against a provider over sockets.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod bearer;
mod bench;
mod exchanges;
mod interleavings;
mod openid;
mod refreshes;
mod sign_ins;
