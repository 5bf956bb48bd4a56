//! What previews of large results cost, in tokens and time.
//!
//! The texts of results stand in a folder outside of the repository, one a file. Beside them are
//! generated ones, up to the most that is kept.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use gatefold_results::{KeptResult, TokenBudget, preview};
use tiktoken_rs::CoreBPE;

use super::say;
use super::table::{markdown, write_section};

/// The budget that previews have by default.
const BUDGET: usize = 4_000;

/// How often each preview is made. The fastest counts.
const ROUNDS: usize = 5;

/// The sizes of generated results, in bytes.
const GENERATED: [usize; 2] = [10_000_000, 16 << 20];

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let (folder, write) = match words {
        [folder] => (Path::new(folder), false),
        [folder, "--write"] => (Path::new(folder), true),
        _ => bail!("give the folder with the texts of results"),
    };
    let mut paths = Vec::new();
    for file in std::fs::read_dir(folder).context("the folder cannot be read")? {
        paths.push(file?.path());
    }
    paths.sort();
    let o200k = tiktoken_rs::o200k_base()?;
    let mut rows = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).with_context(|| format!("{name} is no text"))?;
        rows.push(row(&name, &text, &o200k)?);
    }
    for bytes in GENERATED {
        let megabytes = bytes / 1_000_000;
        rows.push(row(&format!("generated issues, {megabytes} MB"), &issues(bytes), &o200k)?);
    }
    rows.push(row("generated, one line", &"x1 ".repeat(GENERATED[1] / 3), &o200k)?);
    let head = ["result", "kind", "bytes", "tokens", "tokens of the preview", "ms"];
    let section = format!("\n{}\n", markdown(&head, &rows));
    say(&section);
    if write {
        write_section(&root.join("docs/benchmarks.md"), "results", &section)?;
    }
    Ok(())
}

fn row(name: &str, text: &str, o200k: &CoreBPE) -> Result<Vec<String>> {
    let kept = KeptResult { handle: "r_8fKq2Lx0TzYw", tool: "results__read_result" };
    let mut fastest = f64::MAX;
    let mut shown = None;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        shown = Some(preview(text, &kept, TokenBudget::new(BUDGET)));
        fastest = fastest.min(begun.elapsed().as_secs_f64() * 1000.0);
    }
    let shown = shown.context("no round was run")?;
    let tokens = o200k.count_ordinary(&shown.text);
    anyhow::ensure!(tokens <= BUDGET, "the preview of {name} has {tokens} tokens");
    Ok(vec![
        name.to_owned(),
        shown.kind.to_string(),
        text.len().to_string(),
        o200k.count_ordinary(text).to_string(),
        tokens.to_string(),
        format!("{fastest:.1}"),
    ])
}

/// Issues as a tracker lists them, of so many bytes.
fn issues(bytes: usize) -> String {
    let mut text = "{\"items\":[".to_owned();
    for number in 1.. {
        if text.len() >= bytes {
            break;
        }
        let body =
            "It stops with an error when the second file is opened. ".repeat(number * 7 % 23);
        let comma = if number == 1 { "" } else { "," };
        write!(
            text,
            "{comma}{{\"number\":{number},\"title\":\"Crash no. {number} on start\",\"user\":{{\"login\":\
             \"user{}\",\"id\":{}}},\"labels\":[{{\"name\":\"bug\"}}],\"body\":\"{body}\\n\",\
             \"closed_at\":null,\"score\":{}.25}}",
            number % 97,
            number * 31,
            number % 100
        )
        .expect("a String takes everything");
    }
    text + "]}"
}
