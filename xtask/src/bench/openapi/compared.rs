//! The memory that listed descriptions take in two builds: this one and another.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use super::{FileReading, list, read_all};
use crate::bench::say;
use crate::bench::table::markdown;

/// The most that this build may take of the other's memory.
const GOAL: f64 = 0.55;
/// How many files are named, those that take the most.
const LARGEST: usize = 12;
const KIB: u64 = 1024;

/// Reads the files that a list names, in both builds. Each line is a package as npm names it, and a path in it;
/// `folder` has the packages unpacked.
pub(super) fn run(folder: &Path, list_file: &Path, peer: &Path) -> Result<()> {
    let named = named(list_file)?;
    let files: Vec<PathBuf> = named
        .iter()
        .map(|(package, path)| {
            folder.join(package.replace(['@', '/'], "-")).join("package").join(path)
        })
        .collect();
    if let Some(missing) = files.iter().find(|file| !file.is_file()) {
        bail!("{} is not there", missing.display());
    }
    // What was built before knows no other mode.
    let before = read_all(peer, "--one", &files);
    let after = read_all(&std::env::current_exe()?, "--unchecked", &files);
    let mut rows = Vec::new();
    let read = named.iter().zip(before.iter().zip(&after));
    for ((_, path), (before, after)) in read {
        for one in [before, after] {
            ensure!(one.failed.is_none(), "{path} was not read: {:?}", one.failed);
        }
        rows.push((path.as_str(), before, after));
    }
    rows.sort_by_key(|(_, before, _)| std::cmp::Reverse(before.memory));
    say(&markdown(&["", "text KiB", "tools", "before KiB", "after KiB", "ratio"], &table(&rows)));
    let unlike = rows.iter().filter(|(_, before, after)| before.tools != after.tools);
    list("another number of tools", unlike.map(|(path, ..)| (*path).to_owned()));
    let share = ratio(sum(&rows, |row| row.1.memory), sum(&rows, |row| row.2.memory));
    ensure!(share <= GOAL, "the goal was missed: {share:.3}, at most {GOAL} should be");
    Ok(())
}

fn named(list_file: &Path) -> Result<Vec<(String, String)>> {
    let text = std::fs::read_to_string(list_file)
        .with_context(|| format!("{} could not be read", list_file.display()))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let words = line.split_once(' ').with_context(|| format!("`{line}` has no path"))?;
            Ok((words.0.to_owned(), words.1.to_owned()))
        })
        .collect()
}

type Row<'a> = (&'a str, &'a FileReading, &'a FileReading);

/// All together, then the largest.
fn table(rows: &[Row<'_>]) -> Vec<Vec<String>> {
    let line = |name: String, bytes: u64, tools: usize, before: u64, after: u64| {
        let ratio = format!("{:.2}", ratio(before, after));
        let numbers = [bytes / KIB, tools as u64, before / KIB, after / KIB];
        std::iter::once(name).chain(numbers.iter().map(u64::to_string)).chain([ratio]).collect()
    };
    let tools = rows.iter().map(|row| row.2.tools).sum();
    let [bytes, before, after] =
        [|row: &Row<'_>| row.2.bytes, |row: &Row<'_>| row.1.memory, |row: &Row<'_>| row.2.memory]
            .map(|of| sum(rows, of));
    let whole = line(format!("all {}", rows.len()), bytes, tools, before, after);
    let largest = rows.iter().take(LARGEST).map(|(path, before, after)| {
        line((*path).to_owned(), after.bytes, after.tools, before.memory, after.memory)
    });
    std::iter::once(whole).chain(largest).collect()
}

fn sum(rows: &[Row<'_>], of: impl Fn(&Row<'_>) -> u64) -> u64 {
    rows.iter().map(of).sum()
}

fn ratio(before: u64, after: u64) -> f64 {
    after as f64 / before.max(1) as f64
}
