//! Documents that are made from what tests already hold true.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::bench::say;

const REFERENCE: &str = "examples/reference.toml";
const DOCUMENT: &str = "docs/configuration.md";

/// Writes the configuration reference.
pub(crate) fn run(root: &Path) -> Result<()> {
    std::fs::write(root.join(DOCUMENT), configuration(root)?)?;
    say(&format!("wrote {DOCUMENT}"));
    Ok(())
}

/// A fault when the reference on disk is not the one that would be written now.
pub(crate) fn stale(root: &Path) -> Result<Option<String>> {
    let written = std::fs::read_to_string(root.join(DOCUMENT)).unwrap_or_default();
    let is_stale = written != configuration(root)?;
    Ok(is_stale.then(|| format!("{DOCUMENT}: not what {REFERENCE} says; run `cargo xtask docs`")))
}

fn configuration(root: &Path) -> Result<String> {
    let reference = std::fs::read_to_string(root.join(REFERENCE)).context(REFERENCE)?;
    Ok(format!(
        "# Configuration reference\n\n\
         <!-- Written by `cargo xtask docs` from {REFERENCE}; edit that. -->\n\n\
         Tests load this file, and hold the defaults it states against those in the code.\n\n\
         ```toml\n{reference}```\n\n\
         ## Other clients' files\n\n\
         `--mcp-config FILE` reads any client's JSON as it is: `mcpServers`, `servers` or \
         `context_servers`, comments and trailing commas included. It may be given more than once, and \
         beside `--config`. A server in it that cannot work is reported as a failing source; the others \
         do.\n\n\
         ## Where files are looked for\n\n\
         Without `--config` and `--mcp-config`: `./gatefold.toml`, then \
         `$XDG_CONFIG_HOME/gatefold/gatefold.toml` or `~/.config/gatefold/gatefold.toml`. State lies in \
         `--state-dir`, `GATEFOLD_STATE_DIR`, `state.dir`, or `$XDG_STATE_HOME/gatefold`.\n"
    ))
}
