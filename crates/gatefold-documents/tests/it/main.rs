//! Documents of each format, read as a user of the crate reads them.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod builder;
mod formats;
mod hostile;
mod mutations;
mod offices;
