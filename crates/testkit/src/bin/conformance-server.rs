//! The reference server as a program, for the official conformance suite and other peers.
//!
//! The flags are those of [`gatefold_testkit::reference`].

use std::process::ExitCode;

fn main() -> ExitCode {
    gatefold_testkit::reference::run(std::env::args().skip(1))
}
