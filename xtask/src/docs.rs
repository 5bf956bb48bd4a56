//! Files that are generated from what the code says about its configuration.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::bench::say;

/// Each file and the `gatefold config` command that prints it.
const FILES: &[(&str, &[&str])] = &[
    ("docs/configuration.md", &["reference", "markdown"]),
    ("examples/reference.toml", &["reference", "toml"]),
    ("schemas/gatefold.schema.json", &["schema"]),
];

/// Writes the reference of the configuration and its schema.
pub(crate) fn run(root: &Path) -> Result<()> {
    for (file, command) in FILES {
        let path = root.join(file);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, printed(root, command)?)?;
        say(&format!("wrote {file}"));
    }
    Ok(())
}

/// A fault for every file on disk that differs from the one that would be written now.
pub(crate) fn stale(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (file, command) in FILES {
        let written = std::fs::read_to_string(root.join(file)).unwrap_or_default();
        if written != printed(root, command)? {
            faults.push(format!("{file}: not what the code says; run `cargo xtask docs`"));
        }
    }
    Ok(faults)
}

/// The binary's output. The binary is run rather than linked, so that xtask stays quick to build. It is
/// built with all of the workspace, as tests are: alone it would have other features, and all that it
/// is made of would be compiled once more.
fn printed(root: &Path, command: &[&str]) -> Result<String> {
    let built = crate::cargo()
        .args(["build", "--quiet", "--workspace", "--all-targets"])
        .current_dir(root)
        .status()
        .context("`cargo build` could not be run")?;
    if !built.success() {
        bail!("`cargo build --workspace --all-targets` failed");
    }
    // Both binaries are in the folder of the profile.
    let own = std::env::current_exe().context("xtask does not know where it is")?;
    let output = Command::new(own.with_file_name("gatefold"))
        .arg("config")
        .args(command)
        .current_dir(root)
        .output()
        .context("`gatefold config` could not be run")?;
    if !output.status.success() {
        bail!("`gatefold config` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("`gatefold config` printed no text")
}
