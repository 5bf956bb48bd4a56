//! Sources that are not reached over a connection: folders of skills and built-in tools.

use std::path::Path;

use gatefold::Environment;
use gatefold_setup::{NewBuiltin, NewSkills};

use super::{SourceDescription, below_config};
use crate::cli::failure;

impl SourceDescription {
    pub(super) fn builtin(&self) -> anyhow::Result<NewBuiltin> {
        if self.is_for_others() {
            return Err(failure::usage(
                "`--builtin` says what the source is, and so does the rest\n  help: leave the rest out; \
                 what a tool needs goes into the file",
            ));
        }
        Ok(NewBuiltin { names: self.builtin.clone() })
    }

    pub(super) fn skills(
        &self,
        folder: &str,
        config: &Path,
        environment: &Environment,
    ) -> anyhow::Result<NewSkills> {
        if self.is_for_others() {
            return Err(failure::usage(
                "`--skills` says all there is to say about where a folder of skills is\n  help: leave the \
                 rest out",
            ));
        }
        Ok(NewSkills { folder: folder_at(folder, config, environment)? })
    }

    /// Whether anything is given that only servers and APIs have.
    fn is_for_others(&self) -> bool {
        self.url.is_some()
            || self.url_option.is_some()
            || !self.command.is_empty()
            || self.transport.is_some()
            || !self.env.is_empty()
            || self.cwd.is_some()
            || !self.header.is_empty()
            || !self.auth.is_empty()
            || self.bearer_token_env_var.is_some()
    }
}

/// A folder of skills as a configuration names it.
fn folder_at(folder: &str, config: &Path, environment: &Environment) -> anyhow::Result<String> {
    if folder.starts_with(['$', '~']) {
        return Ok(folder.to_owned());
    }
    let path = environment.directory().join(folder);
    if !path.is_dir() {
        return Err(failure::usage(format!(
            "there is no folder `{folder}`\n  help: check the path; Gatefold makes no folder"
        )));
    }
    Ok(below_config(&path, config, environment))
}
