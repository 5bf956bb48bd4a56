//! Reads a folder of OpenAPI descriptions, each in a process of its own.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use super::say;
use super::table::markdown;

mod compared;
mod one;

/// How many files are named for each fault.
const NAMED: usize = 20;
/// The goals: what a description may take, in seconds and in bytes for each of its own, and how many of
/// a hundred operations may be unusable.
const SECONDS: f64 = 2.0;
const MEMORY: f64 = 12.0;
const UNUSABLE: f64 = 0.1;
/// GitHub's own description, of some 1,100 operations, has a goal of its own.
const GITHUB: &str = "api.github.com.json";
const GITHUB_SECONDS: f64 = 1.0;
/// Below this size the memory of a process tells more about its code than about the file.
const MEASURED: u64 = 1024 * 1024;

/// What reading one file gave.
#[derive(Debug, Default, Serialize, Deserialize)]
struct FileReading {
    bytes: u64,
    failed: Option<String>,
    tools: usize,
    unusable: Vec<String>,
    notes: usize,
    /// Tools whose schemas do not compile, or whose names are not legal or not unlike all others.
    wrong: Vec<String>,
    /// Bytes of all definitions.
    written: usize,
    /// Seconds of the processor: reading waits for nothing, and other work on the machine is not its fault.
    seconds: f64,
    /// What the process grew by, in bytes, at its largest.
    memory: u64,
}

impl FileReading {
    fn is_large(&self) -> bool {
        self.bytes >= MEASURED
    }

    /// Bytes of memory for each byte of text.
    fn growth(&self) -> f64 {
        self.memory as f64 / self.bytes.max(1) as f64
    }
}

struct Options {
    folder: PathBuf,
    /// The half of the files whose names hash even (0) or odd (1).
    half: Option<u64>,
    /// Every file (1), or every so many.
    every: NonZeroUsize,
    counts: Option<PathBuf>,
    /// The files to compare the memory of, in this build and another.
    list: Option<PathBuf>,
    peer: Option<PathBuf>,
}

pub(crate) fn run(options: &[&str]) -> Result<()> {
    if let [mode @ ("--one" | "--unchecked"), file] = options {
        let file = Path::new(file);
        let reading = if *mode == "--one" { one::read(file)? } else { one::measure(file)?.0 };
        say(&serde_json::to_string(&reading)?);
        return Ok(());
    }
    let options = parse(options)?;
    if let (Some(list), Some(peer)) = (&options.list, &options.peer) {
        return compared::run(&options.folder, list, peer);
    }
    let mut files = Vec::new();
    descriptions(&options.folder, &mut files)?;
    files.sort();
    let name =
        |file: &Path| file.strip_prefix(&options.folder).unwrap_or(file).display().to_string();
    files.retain(|file| options.half.is_none_or(|half| hash(&name(file)) % 2 == half));
    // A sample has what everybody asks about too.
    let is_github = |file: &Path| file.ends_with(GITHUB);
    let mut place = 0..files.len();
    files.retain(|file| place.next().is_some_and(|at| at % options.every == 0) || is_github(file));
    let read = read_all(&std::env::current_exe()?, "--one", &files);
    let read: Vec<(String, FileReading)> =
        files.iter().zip(read).map(|(file, reading)| (name(file), reading)).collect();
    report(&read);
    if let Some(path) = &options.counts {
        let lines = read.iter().filter(|(_, one)| one.failed.is_none());
        let lines =
            lines.map(|(name, one)| format!("{name}\t{}\t{}\n", one.tools, one.unusable.len()));
        std::fs::write(path, lines.collect::<String>())?;
    }
    let missed = missed(&read);
    if !missed.is_empty() {
        bail!("goals were missed: {}", missed.join("; "));
    }
    Ok(())
}

fn parse(options: &[&str]) -> Result<Options> {
    let [folder, rest @ ..] = options else { bail!("give a folder of descriptions") };
    let mut parsed = Options {
        folder: PathBuf::from(folder),
        half: None,
        every: NonZeroUsize::MIN,
        counts: None,
        list: None,
        peer: None,
    };
    let mut rest = rest.iter();
    while let Some(option) = rest.next() {
        let value = rest.next().with_context(|| format!("`{option}` needs a value"))?;
        match (*option, *value) {
            ("--half", "even") => parsed.half = Some(0),
            ("--half", "odd") => parsed.half = Some(1),
            ("--every", count) => parsed.every = count.parse()?,
            ("--counts", path) => parsed.counts = Some(PathBuf::from(path)),
            ("--list", path) => parsed.list = Some(PathBuf::from(path)),
            ("--peer", path) => parsed.peer = Some(PathBuf::from(path)),
            _ => bail!("unknown option `{option} {value}`"),
        }
    }
    Ok(parsed)
}

fn descriptions(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let is_description =
            path.extension().is_some_and(|end| end == "json" || end == "yaml" || end == "yml");
        if path.is_dir() {
            descriptions(&path, files)?;
        } else if is_description && path.file_name().is_some_and(|name| name != "package.json") {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a, to part files in two halves whatever their order.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn read_all(program: &Path, mode: &str, files: &[PathBuf]) -> Vec<FileReading> {
    let next = Mutex::new(0..files.len());
    let read = Mutex::new(Vec::with_capacity(files.len()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(at) = next.lock().expect("no panic holds it").next() else { return };
                    let reading = in_a_process(program, mode, &files[at]).unwrap_or_else(|error| {
                        FileReading { failed: Some(format!("{error:#}")), ..FileReading::default() }
                    });
                    read.lock().expect("no panic holds it").push((at, reading));
                }
            });
        }
    });
    let mut read = read.into_inner().expect("no panic holds it");
    read.sort_by_key(|(at, _)| *at);
    read.into_iter().map(|(_, reading)| reading).collect()
}

fn in_a_process(program: &Path, mode: &str, file: &Path) -> Result<FileReading> {
    let output = Command::new(program).args(["bench", "openapi", mode]).arg(file).output()?;
    if !output.status.success() {
        bail!(
            "the process ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn report(read: &[(String, FileReading)]) {
    let loaded: Vec<&(String, FileReading)> =
        read.iter().filter(|(_, one)| one.failed.is_none()).collect();
    say(&markdown(&["OpenAPI", "value"], &rows(read.len(), &loaded)));
    let failed =
        read.iter().filter_map(|(name, one)| Some(format!("{name}: {}", one.failed.as_ref()?)));
    list("failed", failed);
    let named = |whys: for<'a> fn(&'a FileReading) -> &'a [String]| {
        loaded
            .iter()
            .flat_map(move |(name, one)| whys(one).iter().map(move |why| format!("{name}: {why}")))
    };
    list("unusable", named(|one| &one.unusable));
    list("wrong", named(|one| &one.wrong));
    let slow = loaded.iter().filter(|(name, one)| one.seconds > SECONDS || name.contains(GITHUB));
    list("slow, and GitHub's", slow.map(|(name, one)| format!("{name}: {:.3} s", one.seconds)));
    let large = loaded.iter().filter(|(_, one)| one.is_large() && one.growth() > MEMORY);
    list(
        "large",
        large.map(|(name, one)| format!("{name}: {:.1} times {} bytes", one.growth(), one.bytes)),
    );
}

fn rows(files: usize, loaded: &[&(String, FileReading)]) -> Vec<Vec<String>> {
    let sum = |of: fn(&FileReading) -> usize| loaded.iter().map(|(_, one)| of(one)).sum::<usize>();
    let slowest = loaded.iter().max_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds));
    let github = loaded.iter().filter(|(name, _)| name.contains(GITHUB));
    let github = github.map(|(name, one)| format!("{:.3} s, {name}", one.seconds));
    let measured = loaded.iter().filter(|(_, one)| one.is_large());
    let largest = measured.max_by(|a, b| a.1.growth().total_cmp(&b.1.growth()));
    let (tools, unusable) = (sum(|one| one.tools), sum(|one| one.unusable.len()));
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    vec![
        row("files", files.to_string()),
        row("loaded", loaded.len().to_string()),
        row("operations", (tools + unusable).to_string()),
        row("tools", tools.to_string()),
        row("unusable", format!("{unusable} ({:.4} %)", share(loaded))),
        row("wrong names or schemas", sum(|one| one.wrong.len()).to_string()),
        row("notes", sum(|one| one.notes).to_string()),
        row("bytes of definitions", sum(|one| one.written).to_string()),
        row(
            "processor seconds",
            format!("{:.1}", loaded.iter().map(|(_, one)| one.seconds).sum::<f64>()),
        ),
        row(
            "slowest",
            slowest.map(|(name, one)| format!("{:.3} s, {name}", one.seconds)).unwrap_or_default(),
        ),
        row("GitHub's", github.collect::<Vec<_>>().join("; ")),
        row(
            "most memory over text",
            largest
                .map(|(name, one)| format!("{:.1} times, {name}", one.growth()))
                .unwrap_or_default(),
        ),
    ]
}

/// How many of a hundred operations are unusable.
fn share(loaded: &[&(String, FileReading)]) -> f64 {
    let unusable: usize = loaded.iter().map(|(_, one)| one.unusable.len()).sum();
    let tools: usize = loaded.iter().map(|(_, one)| one.tools).sum();
    100.0 * unusable as f64 / (tools + unusable).max(1) as f64
}

/// The goals that these files miss, in words.
fn missed(read: &[(String, FileReading)]) -> Vec<String> {
    let loaded: Vec<&(String, FileReading)> =
        read.iter().filter(|(_, one)| one.failed.is_none()).collect();
    let count = |is_wrong: &dyn Fn(&str, &FileReading) -> bool| {
        loaded.iter().filter(|(name, one)| is_wrong(name, one)).count()
    };
    let slow = count(&|_, one| one.seconds > SECONDS);
    let github = count(&|name, one| name.contains(GITHUB) && one.seconds > GITHUB_SECONDS);
    let wrong = count(&|_, one| !one.wrong.is_empty());
    let large = count(&|_, one| one.is_large() && one.growth() > MEMORY);
    let share = share(&loaded);
    [
        (read.len() > loaded.len(), format!("{} files did not load", read.len() - loaded.len())),
        (wrong > 0, format!("{wrong} files have wrong names or schemas")),
        (share > UNUSABLE, format!("{share:.4} % are unusable, at most {UNUSABLE} % should be")),
        (slow > 0, format!("{slow} files took over {SECONDS} s")),
        (github > 0, format!("{github} of GitHub's took over {GITHUB_SECONDS} s")),
        (large > 0, format!("{large} files took over {MEMORY} times their size in memory")),
    ]
    .into_iter()
    .filter_map(|(is_missed, words)| is_missed.then_some(words))
    .collect()
}

fn list(what: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    for line in lines.iter().take(NAMED) {
        say(&format!("{what}: {line}"));
    }
    if lines.len() > NAMED {
        say(&format!("{what}: {} more", lines.len() - NAMED));
    }
}
