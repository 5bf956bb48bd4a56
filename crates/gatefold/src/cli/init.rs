//! `gatefold init`.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use gatefold::Environment;
use gatefold::config::{FILE_NAME, template, user_config_file};

use super::failure::{usage, with_help};
use super::output::Output;

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Where to write it; without it `./gatefold.toml`
    #[arg(long, value_name = "FILE")]
    path: Option<PathBuf>,
    /// Write it to the user's own place, `~/.config/gatefold/gatefold.toml`
    #[arg(long, conflicts_with = "path")]
    user: bool,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

/// Writes the file whole or not at all, and over no other unless it is told to.
pub(super) fn run(
    init: &Init,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let path = if init.user {
        user_config_file(environment).ok_or_else(|| {
            usage("there is no home directory: `HOME` is not set\n  help: name a file with `--path FILE`")
        })?
    } else {
        init.path.clone().unwrap_or_else(|| FILE_NAME.into())
    };
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
    output
        .line("It configures nothing yet. Put a source in it, then `gatefold check` connects it.");
    Ok(ExitCode::SUCCESS)
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
    // A link that leads nowhere is something too.
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
    file.write_all(template().as_bytes())
}
