//! The bases of the configuration, opened, with their documents read.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use anyhow::Context as _;
use gatefold::config::{Config, load};
use gatefold::{ConfiguredBase, Environment, UnreadFiles, configured_bases};
use gatefold_catalog::nearest_texts;
use gatefold_core::{Clock, SystemClock};
use gatefold_knowledge::{IngestProgress, KnowledgeBase, KnowledgeError};
use tokio::task::spawn_blocking;

use crate::cli::arguments::SharedOptions;
use crate::cli::failure::with_help;
use crate::cli::output::Output;
use crate::cli::progress::{CountProgress, REFRESH};
use crate::cli::session;
use crate::cli::table::number_of;

/// What a configuration says of knowledge bases.
pub(super) struct ConfiguredBases {
    pub(super) config: Config,
    pub(super) state_dir: PathBuf,
    pub(super) bases: Vec<ConfiguredBase>,
}

/// A base that was opened, and whose files were read as far as they could.
pub(super) struct OpenedBase {
    pub(super) configured: ConfiguredBase,
    pub(super) base: Arc<KnowledgeBase>,
    /// What could not be read.
    pub(super) unread: Option<UnreadFiles>,
}

impl ConfiguredBases {
    pub(super) fn load(shared: &SharedOptions, environment: &Environment) -> anyhow::Result<Self> {
        let config = load(&shared.inputs().located(environment)?, environment)?;
        Self::of(config, shared, environment)
    }

    pub(super) fn of(
        config: Config,
        shared: &SharedOptions,
        environment: &Environment,
    ) -> anyhow::Result<Self> {
        let state_dir = session::state_dir(shared, &config, environment)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let bases = configured_bases(&config, &state_dir, &clock);
        Ok(Self { config, state_dir, bases })
    }

    /// The bases that a command is about: the one of this name, or all.
    pub(super) fn choose(self, name: Option<&str>) -> anyhow::Result<Vec<ConfiguredBase>> {
        let Self { config, mut bases, .. } = self;
        let Some(name) = name else {
            return if bases.is_empty() { Err(without_any()) } else { Ok(bases) };
        };
        let is_meant = |base: &ConfiguredBase| base.name == name || base.domain().as_str() == name;
        if let Some(at) = bases.iter().position(is_meant) {
            return Ok(vec![bases.swap_remove(at)]);
        }
        if config.sources.iter().any(|source| source.origin.key == name) {
            let help = "`gatefold list` shows what it is, and whether it is enabled";
            return Err(with_help(format!("`{name}` is no knowledge base that can be used"), help));
        }
        if bases.is_empty() {
            return Err(without_any());
        }
        let names: Vec<_> = bases.iter().map(|base| base.name.as_str()).collect();
        let near = nearest_texts(name, names.iter().copied());
        let help = near.first().map_or_else(
            || format!("there is `{}`", names.join("`, `")),
            |near| format!("did you mean `{near}`?"),
        );
        Err(with_help(format!("there is no knowledge base `{name}`"), help))
    }

    /// The only base, or the one of this name.
    pub(super) fn choose_one(self, name: Option<&str>) -> anyhow::Result<ConfiguredBase> {
        let mut chosen = self.choose(name)?;
        if chosen.len() > 1 {
            let names: Vec<_> = chosen.iter().map(|base| base.name.as_str()).collect();
            let help = format!("name one of `{}`", names.join("`, `"));
            return Err(with_help("there are several knowledge bases", help));
        }
        chosen.pop().ok_or_else(without_any)
    }
}

fn without_any() -> anyhow::Error {
    with_help("no source is a knowledge base", "run `gatefold knowledge add FOLDER`")
}

/// Opens bases and reads what is new or changed, with progress at a terminal.
pub(super) async fn open(
    bases: Vec<ConfiguredBase>,
    output: &Output,
) -> anyhow::Result<Vec<OpenedBase>> {
    let mut opened = Vec::with_capacity(bases.len());
    for configured in bases {
        let base = configured.open().await.with_context(|| failure_words(&configured, "opened"))?;
        let unread = read(&configured, &base, output).await;
        let unread = unread.with_context(|| failure_words(&configured, "read"))?;
        opened.push(OpenedBase { configured, base, unread });
    }
    Ok(opened)
}

fn failure_words(base: &ConfiguredBase, what: &str) -> String {
    format!("the knowledge base `{}` cannot be {what}", base.name)
}

async fn read(
    configured: &ConfiguredBase,
    base: &Arc<KnowledgeBase>,
    output: &Output,
) -> Result<Option<UnreadFiles>, KnowledgeError> {
    let progress: Arc<IngestProgress> = Arc::default();
    let bar = CountProgress::new(output, &format!("reading `{}`", configured.name));
    let mut reading = pin!(configured.read_files(base, &progress));
    let mut refresh = tokio::time::interval(REFRESH);
    let mut total = 0;
    loop {
        tokio::select! {
            read = &mut reading => return read,
            _ = refresh.tick() => {
                let unread = progress.unread();
                total = total.max(unread);
                bar.set(total - unread, total);
            }
        }
    }
}

impl OpenedBase {
    /// Does something with the base where that holds nobody up.
    pub(super) async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&KnowledgeBase) -> Result<T, KnowledgeError> + Send + 'static,
    ) -> anyhow::Result<T> {
        let base = Arc::clone(&self.base);
        let done = spawn_blocking(move || work(&base)).await?;
        done.with_context(|| failure_words(&self.configured, "read"))
    }

    /// Says what may be missing from any answer.
    pub(super) fn warn(&self, output: &Output) {
        if output.is_json() {
            return;
        }
        let name = &self.configured.name;
        for (root, error) in self.configured.missing_roots() {
            output.warning(&format!("`{name}`: `{}` cannot be read: {error}", root.display()));
        }
        if let Some(unread) = &self.unread {
            output.warning(&format!("`{name}`: {}", unread_words(unread)));
        }
    }
}

/// "3 files are not read yet: ..."
pub(super) fn unread_words(unread: &UnreadFiles) -> String {
    let files = number_of(unread.count, "file");
    let are = if unread.count == 1 { "is" } else { "are" };
    if unread.is_busy {
        return format!(
            "{files} {are} not read yet: another process writes to the base, such as a gateway that reads them"
        );
    }
    format!("{files} {are} not read yet: {}", unread.reason)
}
