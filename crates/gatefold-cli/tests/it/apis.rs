//! HTTP APIs behind the real binary.

mod certificate;
mod guarded;
mod raw_api;
mod secrets;
