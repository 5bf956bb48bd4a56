//! Knowledge bases as a user of the crate meets them.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod checking;
mod citations;
mod crash;
mod folders;
mod grounding;
mod hostile;
mod keeping;
mod prose;
mod repairs;
mod scratch;
mod searching;
mod source;
mod vectors;
