//! Knowledge bases as a user of the crate meets them.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod checking;
mod citations;
mod grounding;
mod prose;
