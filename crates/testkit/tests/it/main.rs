//! The fixture seen through the raw clients. The binary runs itself again as the fixture.

mod http;
mod lists;
mod starts;
mod support;
mod tools;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = gatefold_testkit::run_if_asked() {
        return code;
    }
    let args = libtest_mimic::Arguments::from_args();
    let trials = [tools::trials(), lists::trials(), starts::trials(), http::trials()];
    libtest_mimic::run(&args, trials.into_iter().flatten().collect()).exit_code()
}
