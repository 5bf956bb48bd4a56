//! HTTP APIs behind the real binary.

mod certificate;
mod guarded;
mod secrets;
