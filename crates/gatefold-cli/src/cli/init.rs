//! `gatefold init`.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use gatefold::Environment;
use gatefold::config::kinds::Kinds;
use gatefold::config::{FILE_NAME, sections, template, user_config_file};

use super::arguments::SharedOptions;
use super::failure::{usage, with_help};
use super::output::Output;
use super::paths;

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Where to write it; the same as `--config` [default: `./gatefold.toml`]
    #[arg(long, value_name = "FILE")]
    path: Option<PathBuf>,
    /// Write it to the user's own place, `~/.config/gatefold/gatefold.toml`
    #[arg(long, conflicts_with = "path")]
    user: bool,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// Writes the whole file or nothing, and replaces an existing file only if told to.
pub(super) fn run(
    init: &Init,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let path = target(init, shared, environment)?;
    write(&environment.directory().join(&path), init.force).map_err(|error| {
        let shown = path.display();
        match error.kind() {
            io::ErrorKind::AlreadyExists => usage(format!(
                "`{shown}` is there already\n  help: name another with `--path FILE`, or replace \
                 it with `--force`"
            )),
            kind => with_help(
                format!("`{shown}` cannot be written: {}", reason(kind, &error)),
                "name another file with `--path FILE`",
            ),
        }
    })?;
    output.line(&format!("wrote {}", path.display()));
    output.line("");
    output.paragraph("", &next_steps(&path, environment));
    Ok(ExitCode::SUCCESS)
}

/// The one file that the command line names.
fn target(
    init: &Init,
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<PathBuf> {
    let named = match (&init.path, &shared.config) {
        (Some(_), Some(_)) => {
            let fault = "`--path` and `--config` both say where to write";
            return Err(usage(format!("{fault}\n  help: leave one of them out")));
        }
        (path, config) => path.as_ref().or(config.as_ref()),
    };
    match named {
        Some(_) if init.user => {
            let fault = "`--user` and `--config` both say where to write";
            Err(usage(format!("{fault}\n  help: leave one of them out")))
        }
        Some(named) => Ok(named.clone()),
        None if init.user => user_config_file(environment).ok_or_else(|| {
            let fault = "there is no home directory: `HOME` is not set";
            usage(format!("{fault}\n  help: name a file with `--path FILE`"))
        }),
        None => Ok(FILE_NAME.into()),
    }
}

/// What to do next with a file that configures nothing yet. The commands name the file if they
/// would not find it by themselves.
fn next_steps(path: &Path, environment: &Environment) -> String {
    let is_users = user_config_file(environment).is_some_and(|users| path == users);
    let chosen = format!(" --config {}", paths::as_argument(path, environment));
    let import = if is_users { "" } else { &chosen };
    let check = if is_users || path == Path::new(FILE_NAME) { "" } else { &chosen };
    format!(
        "It configures nothing yet. `gatefold import{import}` puts the servers of your MCP clients \
         in it, or write a source yourself. Then `gatefold check{check}` connects them."
    )
}

fn reason(kind: io::ErrorKind, error: &io::Error) -> String {
    match kind {
        io::ErrorKind::PermissionDenied => "this user may not write there".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::NotADirectory => "a part of its path is a file".to_owned(),
        _ => error.to_string(),
    }
}

fn write(path: &Path, is_forced: bool) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // A dangling link counts as an existing file.
    if !is_forced && path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => io::ErrorKind::NotADirectory.into(),
            _ => error,
        })?;
    }
    let mut file = if is_forced { File::create(path)? } else { File::create_new(path)? };
    file.write_all(template(&sections(&Kinds::default())).as_bytes())
}
