//! A turn's loop over a source that echoes its arguments.

#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod searches;
mod turns;
mod unlisted;
mod world;
