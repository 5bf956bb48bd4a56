//! The file that sources are written to.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use gatefold::Environment;
use gatefold::config::FILE_NAME;
use gatefold_setup as setup;

use crate::cli::arguments::SharedOptions;
use crate::cli::{failure, visible};

/// Whose configuration it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// `~/.config/gatefold/gatefold.toml`
    #[value(alias = "global")]
    User,
    /// `gatefold.toml` in the working directory
    #[value(alias = "local")]
    Project,
}

/// Formats that only clients' files have, not Gatefold's own configuration.
const FOREIGN_FORMATS: [&str; 4] = ["json", "jsonc", "yaml", "yml"];

/// A configuration as it was read.
pub(super) struct Target {
    pub(super) path: PathBuf,
    /// `None` if there is no such file yet.
    pub(super) before: Option<String>,
}

impl Target {
    /// The configuration that the command line names, else the one that other commands would read,
    /// else the one that an import would create.
    pub(super) fn chosen(
        scope: Option<ScopeName>,
        shared: &SharedOptions,
        environment: &Environment,
    ) -> anyhow::Result<Self> {
        refuse_clients_files(shared)?;
        let here = environment.directory().join(FILE_NAME);
        let path = match (&shared.config, scope) {
            (Some(_), Some(_)) => {
                return Err(failure::usage(
                    "`--scope` and `--config` both say where to write\n  help: leave one of them out",
                ));
            }
            (Some(named), None) => environment.directory().join(named),
            (None, Some(ScopeName::Project)) => here,
            (None, None) if here.is_file() => here,
            (None, Some(ScopeName::User) | None) => setup::user_config_file(environment)?,
        };
        let format = path.extension().and_then(|format| format.to_str()).unwrap_or_default();
        if FOREIGN_FORMATS.contains(&format.to_ascii_lowercase().as_str()) {
            return Err(failure::usage(format!(
                "`{}` cannot hold sources: Gatefold's own configuration is TOML\n  help: name a file \
                 that ends in `.toml`; a client's file is read with `--mcp-config` and written by \
                 its client",
                path.display()
            )));
        }
        let before = setup::read(&path)?;
        Ok(Self { path, before })
    }

    /// A configuration that exists.
    pub(super) fn existing(
        shared: &SharedOptions,
        environment: &Environment,
    ) -> anyhow::Result<Self> {
        refuse_clients_files(shared)?;
        // Its errors say where it looked.
        let inputs = shared.inputs().located(environment)?;
        let path = inputs.config.unwrap_or_else(|| FILE_NAME.into());
        let target = Self::chosen(
            None,
            &SharedOptions { config: Some(path), ..shared.clone() },
            environment,
        )?;
        if target.before.is_none() {
            return Err(failure::usage(format!(
                "{}: there is no such file\n  help: check the path",
                target.path.display()
            )));
        }
        Ok(target)
    }

    pub(super) fn text(&self) -> &str {
        self.before.as_deref().unwrap_or_default()
    }

    /// Returns the name if the file has a source of that name.
    pub(super) fn known<'n>(&self, name: &'n str) -> anyhow::Result<&'n str> {
        let names = setup::source_names(self.text(), &self.path)?;
        if names.iter().any(|known| known == name) {
            return Ok(name);
        }
        let nearest = setup::nearest_source(name, &names);
        let help = match (nearest, names.as_slice()) {
            (_, []) => "it has none yet; `gatefold add` adds one".to_owned(),
            (Some(nearest), _) => format!("did you mean `{nearest}`?"),
            (None, names) => format!("it has `{}`", names.join("`, `")),
        };
        Err(failure::usage(format!(
            "there is no source `{}` in {}\n  help: {help}",
            visible::on_one_line(name),
            self.path.display()
        )))
    }

    pub(super) fn write(&self, text: &str) -> anyhow::Result<()> {
        Ok(setup::write(&self.path, self.before.as_deref(), text)?)
    }

    /// Whether other commands would read this file without being told to.
    pub(super) fn is_usual(&self, environment: &Environment) -> bool {
        let here = environment.directory().join(FILE_NAME);
        let usual =
            if here.is_file() { Some(here) } else { setup::user_config_file(environment).ok() };
        usual.is_some_and(|usual| usual == *self.path)
    }

    /// The file as other commands' options would name it.
    pub(super) fn as_given<'p>(&'p self, environment: &Environment) -> &'p Path {
        self.path.strip_prefix(environment.directory()).unwrap_or(&self.path)
    }
}

/// Refuses clients' files, which belong to their clients.
fn refuse_clients_files(shared: &SharedOptions) -> anyhow::Result<()> {
    let Some(file) = shared.mcp_config.first() else { return Ok(()) };
    Err(failure::usage(format!(
        "`{}` is a client's file, which Gatefold reads and does not change\n  help: leave \
         `--mcp-config` out, and change that file in its client; `gatefold import` makes sources of \
         its servers",
        file.display()
    )))
}
