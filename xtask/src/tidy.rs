//! Checks that neither the compiler nor clippy makes.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::bench::say;
use crate::docs;

mod bounds;
mod circles;
mod crate_tree;
mod readers;
mod scope;
#[cfg(test)]
mod tests;
mod type_names;

use crate_tree::CrateTree;

/// The longest source file, in lines, without its tests.
const FILE_LINES: usize = 500;

/// Crates and what they must not depend on, directly or indirectly.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("gatefold-core", &["tokio", "reqwest", "hyper", "axum", "sqlx", "rmcp"]),
    ("gatefold-worker", &["reqwest", "hyper", "axum", "sqlx", "rmcp", "gatefold-core"]),
    ("gatefold-search", &["tokio", "reqwest", "hyper", "axum", "sqlx", "rmcp", "gatefold-core"]),
    (
        "gatefold-encoder",
        &[
            "tokio",
            "reqwest",
            "hyper",
            "axum",
            "sqlx",
            "rmcp",
            "gatefold-core",
            "gatefold-catalog",
            "gatefold-search",
        ],
    ),
    ("gatefold-catalog", &["rten", "tokio", "reqwest", "hyper", "axum", "sqlx", "rmcp"]),
    ("gatefold-secrecy", &["tokio", "reqwest", "hyper", "axum", "sqlx", "rmcp", "gatefold-core"]),
    (
        "gatefold-documents",
        &["tokio", "reqwest", "hyper", "axum", "sqlx", "rmcp", "gatefold-core", "gatefold-builtin"],
    ),
    ("gatefold-policy", &["tokio", "reqwest", "hyper", "axum", "sqlx", "rmcp", "gatefold-catalog"]),
    ("gatefold-disclose", &["tokio", "reqwest", "axum", "sqlx", "rmcp", "gatefold-dispatch"]),
    (
        "gatefold-dispatch",
        &["rten", "reqwest", "hyper", "axum", "sqlx", "rmcp", "gatefold-disclose"],
    ),
    (
        "gatefold-exchange",
        &[
            "rten",
            "reqwest",
            "hyper",
            "axum",
            "sqlx",
            "rmcp",
            "gatefold-egress",
            "gatefold-mcp",
            "gatefold-store",
        ],
    ),
    ("gatefold-egress", &["rmcp", "sqlx", "axum", "gatefold-dispatch"]),
    (
        "gatefold-oauth",
        &["rmcp", "sqlx", "axum", "gatefold-config", "gatefold-mcp", "gatefold-store"],
    ),
    (
        "gatefold-identity",
        &["tokio", "reqwest", "hyper", "axum", "sqlx", "rmcp", "gatefold-dispatch"],
    ),
    (
        "gatefold-issuer",
        &["rmcp", "sqlx", "gatefold-config", "gatefold-mcp", "gatefold-oauth", "gatefold-store"],
    ),
    (
        "gatefold-store",
        &["rmcp", "axum", "reqwest", "gatefold-disclose", "gatefold-issuer", "gatefold-oauth"],
    ),
    (
        "gatefold-skills",
        &[
            "rmcp",
            "axum",
            "reqwest",
            "sqlx",
            "gatefold-config",
            "gatefold-store",
            "gatefold-mcp",
            "gatefold-egress",
        ],
    ),
    (
        "gatefold-sql",
        &["rmcp", "axum", "reqwest", "gatefold-store", "gatefold-mcp", "gatefold-egress"],
    ),
    (
        "gatefold-builtin",
        &["rmcp", "axum", "sqlx", "gatefold-config", "gatefold-mcp", "gatefold-store"],
    ),
    (
        "gatefold-http",
        &[
            "rmcp",
            "sqlx",
            "gatefold-config",
            "gatefold-dispatch",
            "gatefold-mcp",
            "gatefold-policy",
            "gatefold-store",
        ],
    ),
    ("gatefold-mcp", &["rmcp", "sqlx", "gatefold-store"]),
    (
        "gatefold-model",
        &[
            "rmcp",
            "axum",
            "sqlx",
            "gatefold-config",
            "gatefold-dispatch",
            "gatefold-mcp",
            "gatefold-store",
        ],
    ),
    (
        "gatefold-agent",
        &["rmcp", "axum", "sqlx", "gatefold-config", "gatefold-mcp", "gatefold-store"],
    ),
    (
        "gatefold-located",
        &["tokio", "reqwest", "hyper", "axum", "sqlx", "rmcp", "gatefold-core", "gatefold-config"],
    ),
    ("gatefold-config", &["tokio", "reqwest", "hyper", "axum", "sqlx", "rmcp", "gatefold-core"]),
    ("gatefold-clients", &["tokio", "reqwest", "hyper", "axum", "sqlx", "rmcp", "gatefold-core"]),
    ("gatefold-demo", &["gatefold-dispatch", "gatefold-catalog"]),
    (
        "gatefold",
        &[
            "rmcp",
            "clap",
            "inquire",
            "comfy-table",
            "crossterm",
            "indicatif",
            "rpassword",
            "tiktoken-rs",
            "secret-service",
            "keyring-core",
            "gatefold-setup",
            "gatefold-demo",
        ],
    ),
    (
        "gatefold-operations",
        &[
            "rmcp",
            "clap",
            "inquire",
            "comfy-table",
            "crossterm",
            "indicatif",
            "rpassword",
            "tiktoken-rs",
            "secret-service",
            "keyring-core",
            "gatefold-setup",
            "gatefold-demo",
        ],
    ),
    (
        "gatefold-api",
        &[
            "rmcp",
            "clap",
            "inquire",
            "comfy-table",
            "crossterm",
            "indicatif",
            "rpassword",
            "tiktoken-rs",
            "keyring-core",
            "gatefold-cli",
            "gatefold-setup",
            "gatefold-demo",
        ],
    ),
    (
        "gatefold-setup",
        &[
            "clap",
            "inquire",
            "comfy-table",
            "crossterm",
            "indicatif",
            "rpassword",
            "rmcp",
            "tiktoken-rs",
            "gatefold-cli",
            "gatefold-demo",
        ],
    ),
    ("gatefold-testkit", &["sqlx", "gatefold-core", "gatefold-catalog", "gatefold-mcp"]),
];

/// Words that would tie the repository to one machine or one mirror, each split so that this file
/// does not contain it.
const FOREIGN: &[&[&str]] = &[&["/wo", "rk/"], &["/ro", "ot/"], &["://", "index."]];

pub(crate) fn run(root: &Path) -> Result<()> {
    let mut faults = Vec::new();
    let files = tracked(root)?;
    for file in &files {
        let Ok(text) = std::fs::read_to_string(root.join(file)) else { continue };
        if Path::new(file).extension().is_some_and(|kind| kind == "rs") && !is_test(file) {
            long_file(file, &text, &mut faults);
        }
        foreign_words(file, &text, &mut faults);
        dead_links(root, file, &text, &mut faults);
        if file.contains(".pending-snap") || file.ends_with(".snap.new") {
            faults.push(format!("{file}: a snapshot that nobody reviewed"));
        }
    }
    faults.extend(docs::stale(root)?);
    faults.extend(sources_faults(root)?);
    for (krate, forbidden) in FORBIDDEN {
        edges(root, krate, forbidden, &mut faults)?;
    }
    if !faults.is_empty() {
        bail!("{} faults:\n{}", faults.len(), faults.join("\n"));
    }
    say(&format!("tidy: {} files and {} crates are in order", files.len(), FORBIDDEN.len()));
    Ok(())
}

/// What is wrong in the modules of all crates: circles, names that mean two things, state without a
/// bound, settings that nothing reads.
fn sources_faults(workspace: &Path) -> Result<Vec<String>> {
    let roots = crate_tree::roots(workspace)?.into_iter();
    let trees = roots.map(|(name, file)| CrateTree::read(workspace, &name, &file));
    let trees: Vec<_> = trees.collect::<Result<_>>()?;
    let mut faults = Vec::new();
    for tree in &trees {
        faults.extend(circles::faults(tree));
        faults.extend(type_names::faults(tree));
        faults.extend(bounds::faults(tree));
    }
    faults.extend(readers::faults(&trees));
    Ok(faults)
}

fn tracked(root: &Path) -> Result<Vec<String>> {
    let listed = Command::new("git").args(["ls-files"]).current_dir(root).output();
    let listed = listed.context("`git ls-files` could not be run")?;
    Ok(String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect())
}

fn is_test(file: &str) -> bool {
    file.contains("/tests/") || file.ends_with("/tests.rs")
}

/// The length without the test module at the end.
fn long_file(file: &str, text: &str, faults: &mut Vec<String>) {
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = code.lines().count();
    if lines > FILE_LINES {
        faults.push(format!("{file}: {lines} lines, more than {FILE_LINES}; split it"));
    }
}

fn foreign_words(file: &str, text: &str, faults: &mut Vec<String>) {
    if file.ends_with("Cargo.lock") || file.ends_with("package-lock.json") {
        return;
    }
    for word in FOREIGN.iter().map(|parts| parts.concat()) {
        if let Some(line) = text.lines().position(|line| line.contains(&word)) {
            faults.push(format!("{file}:{}: holds `{word}`", line + 1));
        }
    }
}

/// Markdown links to files that are not in the repository.
fn dead_links(root: &Path, file: &str, text: &str, faults: &mut Vec<String>) {
    if Path::new(file).extension().is_none_or(|kind| kind != "md") {
        return;
    }
    let folder = root.join(file).parent().map_or_else(|| root.to_owned(), Path::to_owned);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    for target in targets.filter(|target| !target.is_empty() && !target.contains(':')) {
        if !folder.join(target).exists() {
            faults.push(format!("{file}: links to `{target}`, which is not there"));
        }
    }
}

fn edges(root: &Path, krate: &str, forbidden: &[&str], faults: &mut Vec<String>) -> Result<()> {
    let tree = crate::cargo()
        .args(["tree", "--offline", "-p", krate, "-e", "normal", "--prefix", "none", "-f", "{p}"])
        .current_dir(root)
        .output()
        .context("`cargo tree` could not be run")?;
    if !tree.status.success() {
        bail!("`cargo tree -p {krate}` failed: {}", String::from_utf8_lossy(&tree.stderr));
    }
    let tree = String::from_utf8_lossy(&tree.stdout);
    let known = |name: &str| tree.lines().any(|line| line.split(' ').next() == Some(name));
    for name in forbidden.iter().filter(|name| known(name)) {
        faults.push(format!("{krate}: must not know `{name}`; see ARCHITECTURE.md"));
    }
    Ok(())
}
