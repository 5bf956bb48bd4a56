//! Knowledge bases as a user of the crate meets them.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod crash;
mod folders;
mod hostile;
mod keeping;
mod repairs;
mod scratch;
mod searching;
mod vectors;
