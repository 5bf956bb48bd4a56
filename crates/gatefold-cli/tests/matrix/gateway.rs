//! The real gateway and the reference server, as processes.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use gatefold_testkit::reference_command;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader, Lines};
use tokio::process::{Child, Command};
use tokio::time::timeout;

const BINARY: &str = env!("CARGO_BIN_EXE_gatefold");

/// How long a process may take to print its address.
const START_LIMIT: Duration = Duration::from_secs(20);

/// A process that listens. Dropping it kills it.
pub(crate) struct ListeningProcess {
    pub(crate) url: String,
    _process: Child,
}

impl ListeningProcess {
    /// Starts the reference server on a free port.
    pub(crate) async fn reference(era: &str) -> Self {
        let (program, args) = reference_command(&["--http", "127.0.0.1:0", "--era", era]);
        let mut command = Command::new(program);
        command.args(args).stdout(Stdio::piped()).stdin(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().expect("the reference server starts");
        let stdout = child.stdout.take().expect("stdout is piped");
        let url = said(stdout, "listening on ").await;
        Self { url, _process: child }
    }

    /// Starts `gatefold serve` on a free port.
    pub(crate) async fn gateway(home: &TempDir, state: &str) -> Self {
        let mut command = gateway_command(home, state, &["serve", "--listen", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().expect("the gateway starts");
        let stderr = child.stderr.take().expect("stderr is piped");
        let url = said(stderr, "url=").await;
        Self { url, _process: child }
    }
}

/// The gateway with an environment of its own and the configuration in its home.
pub(crate) fn gateway_command(home: &TempDir, state: &str, args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command
        .args(args)
        .args(["--config", "gatefold.toml", "--state-dir", state, "--color", "never"])
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        // Nothing answers there, so that no test reaches the keyring of the person who runs it.
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
        .current_dir(home.path());
    command
}

/// The part of a configuration that makes a reference server on stdio a source.
pub(crate) fn stdio_source(name: &str, era: &str) -> String {
    let (program, args) = reference_command(&["--stdio", "--era", era]);
    let args: Vec<_> = args.iter().map(|arg| format!("'{arg}'")).collect();
    let (program, args) = (program.display(), args.join(", "));
    format!("[sources.{name}]\ncommand = '{program}'\nargs = [{args}]\n")
}

pub(crate) fn http_source(name: &str, url: &str) -> String {
    format!("[sources.{name}]\nurl = '{url}'\n")
}

/// A home with this configuration.
pub(crate) fn home(config: &str) -> TempDir {
    let home = tempfile::tempdir().expect("there is room for a directory");
    write(&home.path().join("gatefold.toml"), config);
    home
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("the file can be written");
}

/// The word after a text that a process prints; later output is read and discarded, so that the
/// process never blocks.
async fn said(output: impl AsyncRead + Unpin + Send + 'static, before: &'static str) -> String {
    let mut lines = BufReader::new(output).lines();
    let mut printed = Vec::new();
    let word = timeout(START_LIMIT, find(&mut lines, before, &mut printed)).await;
    let Ok(Some(word)) = word else { panic!("no `{before}` in: {}", printed.join("\n")) };
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    word
}

async fn find(
    lines: &mut Lines<BufReader<impl AsyncRead + Unpin>>,
    before: &str,
    printed: &mut Vec<String>,
) -> Option<String> {
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some((_, rest)) = line.split_once(before) {
            return rest.split_whitespace().next().map(str::to_owned);
        }
        printed.push(line);
    }
    None
}
