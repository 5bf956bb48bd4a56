//! What the crate promises, tested on real processes and real sockets. The binary starts itself
//! again as the fixture server.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod downstream;
mod serving;
mod upstream;

use std::process::ExitCode;

/// More than there are cores, because most tests mostly wait for other processes.
const TESTS_AT_ONCE: usize = 6;

fn main() -> ExitCode {
    if let Some(code) = gatefold_testkit::run_if_asked() {
        return code;
    }
    if let Some(code) = gatefold_testkit::reference::run_if_asked() {
        return code;
    }
    if let Some(code) = upstream::run_gateway_if_asked() {
        return code;
    }
    if let Some(code) = upstream::rooted::run_if_asked() {
        return code;
    }
    if let Some(code) = downstream::run_if_asked() {
        return code;
    }
    upstream::subscribe();
    let mut args = libtest_mimic::Arguments::from_args();
    args.test_threads.get_or_insert(TESTS_AT_ONCE);
    let trials = upstream::trials().into_iter().chain(downstream::trials()).collect();
    libtest_mimic::run(&args, trials).exit_code()
}
