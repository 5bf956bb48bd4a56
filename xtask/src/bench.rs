//! Measurements whose figures are in `docs/benchmarks.md`.

pub(crate) mod allocations;
mod answers;
pub(crate) mod calls;
pub(crate) mod discovery;
pub(crate) mod files;
pub(crate) mod http;
pub(crate) mod knowledge;
mod load;
pub(crate) mod openapi;
mod process;
mod reading;
pub(crate) mod results;
pub(crate) mod search;
pub(crate) mod soak;
pub(crate) mod sql;
pub(crate) mod start;
pub(crate) mod surfaces;
mod table;
pub(crate) mod tokens;

#[expect(clippy::print_stdout, reason = "a chore's whole purpose is what it prints")]
pub(crate) fn say(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "a chore's errors are read by whoever ran it")]
pub(crate) fn say_error(error: &anyhow::Error) {
    eprintln!("{error:#}");
}
