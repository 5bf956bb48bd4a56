//! `gatefold knowledge add`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use gatefold::config::load;
use gatefold::{BaseFindings, Environment};
use gatefold_core::Domain;
use gatefold_setup::{NewConnection, NewKnowledge, NewSource};
use serde_json::json;

use super::opening::{self, ConfiguredBases, unread_words};
use super::words::fault_words;
use crate::cli::arguments::{Format, SharedOptions};
use crate::cli::failure::usage_with_help;
use crate::cli::output::Output;
use crate::cli::sources::{Addition, FirstLook, ScopeName, add_source, below_config};
use crate::cli::table::number_of;
use crate::cli::visible::on_one_line;

/// How many documents without text are named.
const NAMED: usize = 5;

/// The name of a base whose path gives none. `knowledge` is what the tools for all bases are called by.
const USUAL_NAME: &str = "documents";

#[derive(Debug, Args)]
pub(crate) struct AddBase {
    /// Folders and files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// The base's name [default: made of the first path]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// What the base is called, for models
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Whose configuration to write to [default: the one in force, else the user's]
    #[arg(long, short, value_enum)]
    scope: Option<ScopeName>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

pub(super) async fn add(
    it: &AddBase,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let name = it.name.clone().unwrap_or_else(|| name_of(&it.paths, environment));
    let addition = Addition { name: &name, scope: it.scope, is_dry: it.dry_run };
    let describe = |config: &Path| -> anyhow::Result<NewSource> {
        let paths = it.paths.iter().map(|path| path_in(path, config, environment));
        Ok(NewSource {
            name: name.clone(),
            connection: NewConnection::Knowledge(NewKnowledge {
                paths: paths.collect::<anyhow::Result<_>>()?,
                title: it.title.clone(),
            }),
            description: None,
            allow: Vec::new(),
            deny: Vec::new(),
        })
    };
    let look = async |source: &NewSource, config: &Path| -> anyhow::Result<Option<FirstLook>> {
        first_look(&source.name, config, shared, environment, output).await.map(Some)
    };
    add_source(&addition, describe, look, shared, environment, output).await
}

/// A path as the configuration should have it.
fn path_in(path: &str, config: &Path, environment: &Environment) -> anyhow::Result<String> {
    if path.starts_with(['$', '~']) {
        return Ok(path.to_owned());
    }
    let whole = environment.directory().join(path);
    if !whole.exists() {
        let fault = format!("there is no file or folder `{}`", on_one_line(path));
        return Err(usage_with_help(fault, "check the path; Gatefold makes no folder"));
    }
    // Nothing in a path that is there counts as a reference.
    Ok(below_config(&whole, config, environment).replace("${", "$${"))
}

/// A name for a base with these paths: what the first is called, in letters that a name may have.
fn name_of(paths: &[String], environment: &Environment) -> String {
    let path = environment.directory().join(paths.first().map(String::as_str).unwrap_or_default());
    let path = path.canonicalize().unwrap_or(path);
    let stem = if path.is_file() { path.file_stem() } else { path.file_name() };
    let stem = stem.map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    let is_legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words: Vec<_> =
        stem.split(|letter| !is_legal(letter)).filter(|it| !it.is_empty()).collect();
    let mut name = words.join("-");
    name.truncate(Domain::MAX_LENGTH);
    if name.is_empty() || name == "knowledge" { USUAL_NAME.to_owned() } else { name }
}

/// Reads the documents of a base that was just written into a configuration.
async fn first_look(
    name: &str,
    config: &Path,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<FirstLook> {
    let own = Some(config.to_owned());
    let shared = SharedOptions { config: own, mcp_config: Vec::new(), ..shared.clone() };
    let config = load(&shared.inputs().located(environment)?, environment)?;
    let configured = ConfiguredBases::of(config, &shared, environment)?;
    let base = configured.choose_one(Some(name))?;
    let mut look = FirstLook { json: json!({}), lines: Vec::new() };
    for opened in opening::open(vec![base], output).await? {
        let findings = opened.configured.findings(&opened.base, opened.unread).await?;
        look = FirstLook {
            json: json!({
                "documents": findings.documents,
                "unreadable": findings.failed.len(),
                "unread_files": findings.unread.as_ref().map_or(0, |unread| unread.count),
            }),
            lines: lines(name, &findings),
        };
    }
    Ok(look)
}

/// What is printed for people.
fn lines(name: &str, findings: &BaseFindings) -> Vec<String> {
    let failed = &findings.failed;
    let mut found = match findings.documents {
        0 if findings.unread.is_none() => {
            "found no documents that can be read: PDF, Markdown, text and others of `docs/knowledge.md`"
                .to_owned()
        }
        count => format!("found {}", number_of(count, "document")),
    };
    if !failed.is_empty() {
        let _ = write!(found, ", {} of them without text", failed.len());
    }
    let mut lines = vec![found];
    let named = failed.iter().take(NAMED).map(|own| format!("note: {}", fault_words(own)));
    lines.extend(named.map(|line| on_one_line(&line)));
    if failed.len() > NAMED {
        let more = failed.len() - NAMED;
        lines.push(format!("note: {more} more; `gatefold knowledge check {name}` names them"));
    }
    lines.extend(findings.unread.as_ref().map(|own| format!("note: {}", unread_words(own))));
    lines
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_base_is_named_after_its_first_path() {
        let environment = Environment::new([], PathBuf::from("/home/ann/Team Notes"));
        for (path, expected) in [
            ("handbook", "handbook"),
            ("docs/Employee Handbook (2024)", "employee-handbook-2024"),
            (".", "team-notes"),
            ("knowledge", "documents"),
            ("\u{6587}\u{66f8}", "documents"),
        ] {
            assert_eq!(name_of(&[path.to_owned()], &environment), expected);
        }
    }
}
