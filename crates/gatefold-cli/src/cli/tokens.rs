//! Exact counts of tokens.
//!
//! The vocabulary o200k takes some 46 MB, so a serving process never loads it: a child process does,
//! counts everything at once and ends.

use std::fmt;
use std::io::{BufRead as _, Write as _};
use std::iter::Sum;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::ValueEnum;
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

/// A vocabulary of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Vocabulary {
    #[value(name = "o200k")]
    O200k,
    #[value(name = "cl100k")]
    Cl100k,
}

impl Vocabulary {
    const BOTH: [Self; 2] = [Self::O200k, Self::Cl100k];

    fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
        }
    }

    fn count(self, text: &str) -> usize {
        let encoder = match self {
            Self::O200k => tiktoken_rs::o200k_base_singleton(),
            Self::Cl100k => tiktoken_rs::cl100k_base_singleton(),
        };
        encoder.count_ordinary(text)
    }
}

/// How many tokens something has in each vocabulary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) o200k: usize,
    pub(super) cl100k: usize,
}

impl Tokens {
    /// `120 (118)`, for a table whose heading names the vocabulary in the brackets.
    pub(super) fn in_brackets(self) -> String {
        format!("{} ({})", self.o200k, self.cl100k)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens, {} in cl100k", self.o200k, self.cl100k)
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self {
            o200k: sum.o200k + part.o200k,
            cl100k: sum.cl100k + part.cl100k,
        })
    }
}

/// The number of o200k tokens of each text, in order.
pub(super) async fn count(texts: &[String]) -> anyhow::Result<Vec<usize>> {
    let counts = count_in([Vocabulary::O200k], texts).await?;
    Ok(counts.into_iter().map(|[o200k]| o200k).collect())
}

/// The number of tokens of each text in each vocabulary, in order.
pub(super) async fn count_in_both(texts: &[String]) -> anyhow::Result<Vec<Tokens>> {
    let counts = count_in(Vocabulary::BOTH, texts).await?;
    Ok(counts.into_iter().map(|[o200k, cl100k]| Tokens { o200k, cl100k }).collect())
}

async fn count_in<const N: usize>(
    vocabularies: [Vocabulary; N],
    texts: &[String],
) -> anyhow::Result<Vec<[usize; N]>> {
    let program = std::env::current_exe().context("this program's own file could not be found")?;
    let mut child = Command::new(program)
        .arg("count-tokens")
        .args(vocabularies.map(Vocabulary::name))
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
    let counts = answer.lines().map(numbers).collect::<anyhow::Result<Vec<_>>>()?;
    if counts.len() != texts.len() {
        bail!("the token counter gave {} counts for {} texts", counts.len(), texts.len());
    }
    Ok(counts)
}

/// The numbers of a line, one for each vocabulary.
fn numbers<const N: usize>(line: &str) -> anyhow::Result<[usize; N]> {
    let numbers = line.split(' ').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
    numbers.try_into().map_err(|_| anyhow::anyhow!("the token counter left out a vocabulary"))
}

/// The child's part: JSON strings in, one a line; for each a line of counts out, one for each
/// vocabulary.
pub(super) fn count_lines(vocabularies: &[Vocabulary]) -> anyhow::Result<ExitCode> {
    let mut stdout = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?).context("a line is not a JSON string")?;
        let counts = vocabularies.iter().map(|vocabulary| vocabulary.count(&text).to_string());
        writeln!(stdout, "{}", counts.collect::<Vec<_>>().join(" "))?;
    }
    Ok(ExitCode::SUCCESS)
}
