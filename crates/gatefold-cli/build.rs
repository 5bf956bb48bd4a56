//! Tells the program which commit it is built from, for `gatefold --version`.

#![expect(clippy::disallowed_methods, reason = "a build script is configured by the environment")]

use std::env;
use std::process::Command;

/// Names the commit where there is no repository, as in an archive of the sources.
const GIVEN: &str = "GATEFOLD_COMMIT";
const COMMIT_LENGTH: usize = 12;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={GIVEN}");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let commit = env::var(GIVEN).ok().filter(|commit| is_commit(commit)).or_else(commit_of_head);
    let version = commit
        .map_or(version.clone(), |commit| format!("{version} ({})", &commit[..COMMIT_LENGTH]));
    println!("cargo:rustc-env=GATEFOLD_VERSION={version}");
}

fn commit_of_head() -> Option<String> {
    // While working on it, a new commit is no reason to compile everything again.
    if env::var("PROFILE").as_deref() != Ok("release") {
        return None;
    }
    let head = git(&["rev-parse", "HEAD"]).filter(|commit| is_commit(commit))?;
    // Written whenever the commit that is checked out changes.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    Some(head)
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn is_commit(text: &str) -> bool {
    text.len() >= COMMIT_LENGTH && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
