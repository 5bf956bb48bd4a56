//! A turn's loop over a source that echoes its arguments.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod delegated;
mod hidden;
mod past;
mod results;
mod searches;
mod turns;
mod unlisted;
mod used;
mod world;
