//! `gatefold knowledge rebuild` and `remove`.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use gatefold::{Environment, unnamed_bases};
use gatefold_catalog::nearest_texts;
use gatefold_knowledge::{KnowledgeBase, KnowledgeError};
use serde_json::json;
use tokio::task::spawn_blocking;

use super::listing::UnnamedBase;
use super::opening::{self, ConfiguredBases};
use crate::cli::arguments::{Format, SharedOptions, WriteOptions};
use crate::cli::failure::{usage_with_help, with_help};
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::prompt::{PromptMode, agree};
use crate::cli::table::number_of;
use crate::cli::{control, paths};

#[derive(Debug, Args)]
pub(crate) struct RebuildBase {
    /// The knowledge base, if there are several
    #[arg(value_name = "NAME")]
    base: Option<String>,
    #[command(flatten)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveBase {
    /// The folder's name, as `gatefold knowledge list` shows it
    #[arg(value_name = "NAME")]
    name: String,
    /// Delete it without asking; required with `--json`, which asks no questions
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

pub(super) async fn rebuild(
    it: &RebuildBase,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let base = ConfiguredBases::load(shared, environment)?.choose_one(it.base.as_deref())?;
    for own in opening::open(vec![base], output).await? {
        let (name, base) = (&own.configured.name, own.base.clone());
        let progress = Progress::new(output, "rebuilding");
        let rebuilding = spawn_blocking(move || base.rebuild());
        match progress.during(name, rebuilding).await? {
            Ok(()) => {}
            Err(KnowledgeError::Busy) => return Err(busy(name, shared, environment).await),
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("the index of `{name}` cannot be made anew"));
            }
        }
        drop(progress);
        let counts = own.with(KnowledgeBase::counts).await?;
        if output.is_json() {
            let (documents, passages) = (counts.documents, counts.chunks);
            output.json(&json!({ "name": name, "documents": documents, "passages": passages }));
            continue;
        }
        let documents = number_of(counts.documents, "document");
        let passages = number_of(counts.chunks, "passage");
        output.line(&format!("made the index of `{name}` anew: {documents}, {passages}"));
        own.warn(output);
    }
    Ok(ExitCode::SUCCESS)
}

/// The error about a base that somebody else writes to, with who that may be.
async fn busy(name: &str, shared: &SharedOptions, environment: &Environment) -> anyhow::Error {
    let first = match control::locate(shared, environment).await {
        Ok(located) => located.into_first(),
        Err(_) => None,
    };
    let help = match first {
        Some((gateway, _)) => {
            let (role, process) = (gateway.identity.role, gateway.identity.process);
            format!("stop the gateway first: `gatefold {role}`, process {process}")
        }
        None => "wait until the other command is done".to_owned(),
    };
    with_help(format!("another process writes to `{name}`"), help)
}

pub(super) async fn remove(
    it: &RemoveBase,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let caution = WriteOptions { dry_run: false, yes: it.yes };
    let asking = PromptMode::new(&caution, output.is_json())?;
    let configured = ConfiguredBases::load(shared, environment)?;
    let folders = unnamed_bases(&configured.config, &configured.state_dir);
    let folders =
        folders.with_context(|| format!("`{}` cannot be read", configured.state_dir.display()))?;
    let names: Vec<_> = folders
        .iter()
        .map(|folder| folder.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    let Some(at) = names.iter().position(|name| *name == it.name) else {
        return Err(unknown(&it.name, &configured, &names));
    };
    let base = UnnamedBase::look(folders[at].clone()).await?;
    if asking == PromptMode::Person {
        output.paragraph("", &base.words());
        let warning =
            "Its citations cannot be read or checked afterwards. Another configuration may use it.";
        output.paragraph("", warning);
        if !agree(&format!("Delete `{}`?", it.name))? {
            output.line("nothing was deleted");
            return Ok(ExitCode::SUCCESS);
        }
    }
    let folder = base.folder.clone();
    match spawn_blocking(move || KnowledgeBase::delete(&folder)).await? {
        Ok(()) => {}
        Err(KnowledgeError::Busy) => return Err(busy(&it.name, shared, environment).await),
        Err(error) => return Err(error).with_context(|| format!("`{}` was not deleted", it.name)),
    }
    if output.is_json() {
        output.json(&json!({ "name": it.name, "folder": base.folder, "removed": true }));
    } else {
        let folder = paths::shown(&base.folder, environment);
        output.line(&format!("{} {folder}", output.style().good("deleted")));
    }
    Ok(ExitCode::SUCCESS)
}

/// The error about a name that is no folder that may be deleted.
fn unknown(name: &str, configured: &ConfiguredBases, unnamed: &[String]) -> anyhow::Error {
    let is_meant = |base: &&gatefold::ConfiguredBase| {
        base.name == name || base.folder().file_name().is_some_and(|folder| folder == name)
    };
    if let Some(base) = configured.bases.iter().find(is_meant) {
        let own = &base.name;
        return usage_with_help(
            format!("`{name}` is in the configuration"),
            format!("`gatefold remove {own}` takes it out there, and leaves what was read"),
        );
    }
    let near = nearest_texts(name, unnamed.iter().map(String::as_str));
    let help = match (near.first(), unnamed) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "`gatefold knowledge list` shows none".to_owned(),
        (None, _) => "`gatefold knowledge list` shows them".to_owned(),
    };
    with_help(format!("there is no folder `{name}` of a base that is not configured"), help)
}
