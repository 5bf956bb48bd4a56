//! Exact counts of o200k tokens.
//!
//! The vocabulary takes some 46 MB, so a serving process never loads it: a child process does,
//! counts everything at once and ends.

use std::io::{BufRead as _, Write as _};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold::TokenCounter;
use gatefold_core::BoxError;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::time::timeout;

/// How long the child may take.
const DEADLINE: Duration = Duration::from_secs(60);

/// Counts in a child process of this same program.
pub(super) struct ChildCounter;

impl TokenCounter for ChildCounter {
    fn count<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<usize>, BoxError>> {
        async move { count(texts).await.map_err(Into::into) }.boxed()
    }
}

/// The number of tokens of each text, in order.
pub(super) async fn count(texts: &[String]) -> anyhow::Result<Vec<usize>> {
    let program = std::env::current_exe().context("this program's own file could not be found")?;
    let mut child = Command::new(program)
        .arg("count-tokens")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("the token counter could not be started")?;
    let mut stdin = child.stdin.take().context("the token counter has no input")?;
    let mut stdout = child.stdout.take().context("the token counter has no output")?;
    let lines = texts.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?.join("\n");
    let write = async move {
        let written = stdin.write_all(lines.as_bytes()).await;
        drop(stdin);
        written
    };
    let mut answer = String::new();
    let exchanged = async { tokio::try_join!(write, stdout.read_to_string(&mut answer)) };
    timeout(DEADLINE, exchanged).await.context("the token counter took too long")??;
    let counts = answer.lines().map(str::parse).collect::<Result<Vec<usize>, _>>()?;
    if counts.len() != texts.len() {
        bail!("the token counter gave {} counts for {} texts", counts.len(), texts.len());
    }
    Ok(counts)
}

/// The child's part: JSON strings in, one a line; counts out, one a line.
pub(super) fn count_lines() -> anyhow::Result<ExitCode> {
    let encoder = tiktoken_rs::o200k_base_singleton();
    let mut stdout = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?).context("a line is not a JSON string")?;
        writeln!(stdout, "{}", encoder.encode_ordinary(&text).len())?;
    }
    Ok(ExitCode::SUCCESS)
}
