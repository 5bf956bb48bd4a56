//! Suggestions over the real catalogue: the `tools/list` answers of 56 servers, in the directory that
//! `GATEFOLD_CATALOGS` names. Without it these tests are listed as ignored.

#![expect(clippy::unwrap_used, reason = "these are tests without the standard harness")]

use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

mod brute_force;
mod ids;
mod suggestions;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    #[expect(clippy::disallowed_methods, reason = "the path of an external data set")]
    let directory = std::env::var_os("GATEFOLD_CATALOGS").map(PathBuf::from);
    let trial = |(name, claim): &suggestions::Claim| {
        let (claim, directory) = (*claim, directory.clone());
        let ignored = directory.is_none();
        let run = move || {
            claim(&directory.unwrap_or_default());
            Ok(())
        };
        Trial::test(*name, run).with_ignored_flag(ignored)
    };
    let trials = suggestions::ALL.iter().chain(&ids::ALL).map(trial).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
