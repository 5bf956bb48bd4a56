//! Exact counts of o200k tokens.
//!
//! The vocabulary takes some 46 MB, so a process that serves never loads it: a child does, which
//! counts everything in one go and ends.

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use gatefold::App;
use gatefold_core::Domain;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::time::timeout;

/// The least time between two children, so that sources that keep changing cost little.
const COUNTING_PAUSE: Duration = Duration::from_secs(5);

/// How long the child may take.
const DEADLINE: Duration = Duration::from_secs(60);

/// What the definitions of the visible tools cost, by domain. Those never counted are counted now,
/// in one go, and kept.
pub(super) async fn of_definitions(app: &App) -> anyhow::Result<BTreeMap<Domain, usize>> {
    let uncounted = app.uncounted().await;
    let tools = uncounted.iter().flat_map(|manifest| manifest.tools());
    let texts: Vec<_> = tools.map(|tool| tool.raw().to_owned()).collect();
    let counts = if texts.is_empty() { Vec::new() } else { count(&texts).await? };
    let mut rest = counts.as_slice();
    for manifest in &uncounted {
        let (own, others) = rest.split_at(manifest.tools().len());
        app.keep_counts(manifest, own).await;
        rest = others;
    }
    app.definition_tokens().context("the tools changed while they were counted; try again")
}

/// Counts in the background what sources offer, whenever it changes. To be aborted in the end.
pub(super) async fn keep_counting(app: Arc<App>) {
    let mut epochs = app.dispatcher().epochs();
    loop {
        epochs.mark_unchanged();
        if let Err(error) = of_definitions(&app).await {
            tracing::debug!(%error, "definitions were not counted");
        }
        tokio::time::sleep(COUNTING_PAUSE).await;
        if epochs.changed().await.is_err() {
            return;
        }
    }
}

/// The number of tokens of each text, in order.
pub(super) async fn count(texts: &[String]) -> anyhow::Result<Vec<usize>> {
    let program = std::env::current_exe().context("the own program could not be found")?;
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
