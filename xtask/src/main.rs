//! Chores of the repository: `cargo xtask tidy|docs|soak`, `cargo xtask bench calls|search|start|tokens`.

#![expect(clippy::cast_precision_loss, reason = "figures for people need no 53 bits")]

mod bench;
mod docs;
mod tidy;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask <chore>

  tidy           check file lengths, crate edges, circles of modules, names of types, bounds of shared
                 state, and what must not stand in the repository
  docs           write the configuration reference and its JSON Schema
  bench start    measure start, first discovery and idle memory over $GATEFOLD_CATALOGS [--write]
  bench tokens   print what models see of the real tool lists in $GATEFOLD_CATALOGS, in tokens, and of
                 answers to the requests in $GATEFOLD_REQUESTS [--write]
  bench surfaces compare all ways to show the real tool lists in $GATEFOLD_CATALOGS: tokens at rest and of a
                 typical task, its calls, and the time to make a surface and to serve it again [--write]
  bench search   measure the ranking over the sets in SETS or $GATEFOLD_SETS, and its cost over
                 $GATEFOLD_CATALOGS [SETS] [--write]; --ablation measures what each part of it adds instead
  bench knowledge
                 measure knowledge bases over the sets that tests/knowledge/sets made: what they find, how well they
                 quote, whether they know what they do not know, and time
                 --sets FOLDER [--set scifact|chroma|finance] [--encoder builtin|none|PATH] [--half fit|tell]
  bench calls    measure the call path against a direct call and a peer; --write keeps the table
                 [--seconds N] [--rounds N] [--clients 1,32,256] [--peer COMMAND] [--write]
  bench http     measure calls of an HTTP API by its OpenAPI description against a plain request and a
                 peer, with the options of `bench calls`
  bench sql      measure queries of a PostgreSQL, which $GATEFOLD_POSTGRES names, against sqlx and a peer, with
                 the options of `bench calls`
  bench discovery
                 measure whole answers to our own requests over HTTP, with the real tool lists in
                 $GATEFOLD_CATALOGS, without an encoder and with one [--write]
  bench allocations
                 count allocations and instructions a call, under valgrind; --peer compares two builds
                 [--binary PATH] [--peer PATH] [--calls N] [--write]
  bench files    list the files that one call runs through, under valgrind, of a debug build
                 [--binary PATH]
  bench results  measure previews of the texts in a folder, and of generated ones, in tokens and time
                 FOLDER [--write]
  bench openapi  read all descriptions in a folder, each in a process of its own
                 FOLDER [--half even|odd] [--counts FILE], or compare the memory that listed ones take in
                 two builds: FOLDER --list FILE --peer PATH
  soak           set a gateway among hostile servers and clients, beside one that is left alone
                 [--minutes N] [--binary PATH] [--write]";

fn main() -> ExitCode {
    // The upstream of the load is this same binary.
    if let Some(code) = gatefold_testkit::run_if_asked() {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            bench::say_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["tidy"] => tidy::run(&root()),
        ["docs"] => docs::run(&root()),
        ["bench", "start", options @ ..] => bench::start::run(&root(), options),
        ["bench", "tokens", options @ ..] => bench::tokens::run(&root(), options),
        ["bench", "surfaces", options @ ..] => bench::surfaces::run(&root(), options),
        ["bench", "search", options @ ..] => bench::search::run(&root(), options),
        ["bench", "knowledge", options @ ..] => bench::knowledge::run(options),
        ["bench", "calls", options @ ..] => bench::calls::run(&root(), options),
        ["bench", "http", options @ ..] => bench::http::run(&root(), options),
        ["bench", "sql", options @ ..] => bench::sql::run(&root(), options),
        ["bench", "allocations", options @ ..] => bench::allocations::run(&root(), options),
        ["bench", "discovery", options @ ..] => bench::discovery::run(&root(), options),
        ["bench", "files", options @ ..] => bench::files::run(&root(), options),
        ["bench", "results", options @ ..] => bench::results::run(&root(), options),
        ["bench", "openapi", options @ ..] => bench::openapi::run(options),
        ["soak", options @ ..] => bench::soak::run(&root(), options),
        _ => bail!("{USAGE}"),
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.parent().map_or(own.clone(), PathBuf::from)
}

/// Cargo as a shell would find it. The one that built this binary may belong to a toolchain, and it
/// starts `rustc` by name: where that is a proxy, it obeys the toolchain file of each dependency it
/// compiles.
fn cargo() -> Command {
    Command::new("cargo")
}
