//! The fixture and the reference server as the raw clients see them. The binary runs itself again
//! as either.

mod http;
mod lists;
mod reference;
mod starts;
mod support;
mod tools;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = gatefold_testkit::run_if_asked() {
        return code;
    }
    if let Some(code) = gatefold_testkit::reference::run_if_asked() {
        return code;
    }
    let args = libtest_mimic::Arguments::from_args();
    let trials =
        [tools::trials(), lists::trials(), starts::trials(), http::trials(), reference::trials()];
    libtest_mimic::run(&args, trials.into_iter().flatten().collect()).exit_code()
}
