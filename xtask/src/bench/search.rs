//! The quality of the ranking over sets of tools and requests, and its cost.
//!
//! A set is a folder with `tools.jsonl` and `queries.jsonl`, as `gatefold_search::measure` reads
//! them.

mod ablation;
mod encoded;
mod encoder_cost;
mod foreign;
mod learning;
mod quality;
mod real;
mod sets;
mod varied;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use encoded::Encoders;
use gatefold_search::measure::Half;
use gatefold_search::{Entry, Index, Mode};
use quality::SetAnswers;
use real::{RealIndex, RealTool};
use sets::ToolSet;

use super::say;
use super::table::{markdown, write_section};

/// The most requests asked of a set.
const REQUESTS: usize = 500;

/// How often each request is asked; its fastest answer counts, because delays that do not repeat
/// come from the machine's other work.
const ROUNDS: usize = 5;

/// How many generated tools are searched.
const MANY: usize = 100_000;

/// The most tools of an answer: a page and those that follow it.
const RESULTS: usize = 100;

const MODES: [(&str, Mode); 3] =
    [("keyword", Mode::Keyword), ("semantic", Mode::Semantic), ("hybrid", Mode::Hybrid)];

#[expect(clippy::disallowed_methods, reason = "a chore reads its own variables")]
pub(crate) fn run(root: &Path, options: &[&str]) -> Result<()> {
    let write = options.contains(&"--write");
    let given = options.iter().find(|option| !option.starts_with("--")).map(PathBuf::from);
    let sets = given.or_else(|| std::env::var_os("GATEFOLD_SETS").map(PathBuf::from));
    let sets = sets.context("name a folder of sets, or set GATEFOLD_SETS to one")?;
    if options.contains(&"--ablation") {
        return ablate(root, &sets, write);
    }
    let lists = std::env::var_os("GATEFOLD_CATALOGS");
    let lists = lists.context("GATEFOLD_CATALOGS must name a folder of tool lists")?;
    let (sets, lists) = (sets::read(&sets)?, PathBuf::from(lists));
    let encoders = Encoders::open(root)?;
    let answers = quality::ask_all(&sets, &encoders);
    let index = RealIndex::read(&lists, &encoders.builtin)?;
    let mut section = String::new();
    for half in Half::BOTH {
        // Only the half that nothing was tuned to is for the documents.
        section = of_half(&sets, &answers, half, &encoders);
        section += &real::table(&index, &root.join(real::OWN), half)?;
        say(&section);
    }
    if let Some(file) = std::env::var_os("GATEFOLD_REQUESTS") {
        say(&real::of_file(&index, Path::new(&file))?);
    }
    let asked = sets.iter().flat_map(sets::ToolSet::asked);
    let requests: Vec<_> = asked.map(|request| request.text.clone()).collect();
    let cost = cost(&lists, &requests)?;
    say(&cost);
    let dearer = encoder_cost::cost(&encoders, &real::read(&lists)?, &requests);
    say(&dearer);
    if write {
        let section = format!("\n{section}\n{cost}\n{dearer}");
        write_section(&root.join("docs/benchmarks.md"), "search", &section)?;
    }
    Ok(())
}

/// What each part of the ranking adds.
fn ablate(root: &Path, sets: &Path, write: bool) -> Result<()> {
    let (sets, encoders) = (sets::read(sets)?, Encoders::open(root)?);
    let table = ablation::table(root, &sets, &encoders)?;
    say(&table);
    if write {
        write_section(&root.join("docs/benchmarks.md"), "ablation", &format!("\n{table}"))?;
    }
    Ok(())
}

/// The tables about one half of the sets.
fn of_half(
    sets: &[ToolSet],
    answers: &[SetAnswers<'_>],
    half: Half,
    encoders: &Encoders,
) -> String {
    let quality = quality::table(answers, half, encoders);
    let unfit = foreign::table(sets, half, &encoders.builtin);
    let learnt = learning::table(sets, half, &encoders.builtin).unwrap_or_default();
    format!("{quality}\n{unfit}\n{learnt}\n")
}

/// The time of the fastest of several answers to a request.
fn timed(index: &Index, request: &str, mode: Mode) -> Duration {
    let mut fastest = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let found = index.search(request, mode, |_| true, RESULTS).matches;
        fastest = fastest.min(start.elapsed());
        std::hint::black_box(found);
    }
    fastest
}

/// The cost of searching the real lists and many generated tools, as a table.
fn cost(lists: &Path, requests: &[String]) -> Result<String> {
    let tools = real::read(lists)?;
    let start = Instant::now();
    let analyses: Vec<_> = tools.iter().map(RealTool::analysis).collect();
    let read = start.elapsed();
    let mut rows = cost_rows("real", &real::entries(&tools, analyses), read, requests);
    let tools = varied::tools(MANY);
    let start = Instant::now();
    let analyses: Vec<_> = tools.iter().map(varied::VariedTool::analysis).collect();
    let read = start.elapsed();
    let entries = tools.iter().zip(analyses).map(|(tool, analysis)| Entry {
        id: &tool.id,
        domain: &tool.domain,
        analysis,
        service: None,
    });
    let requests = varied::requests(REQUESTS);
    rows.extend(cost_rows("generated", &entries.collect::<Vec<_>>(), read, &requests));
    let head = ["tools", "read ms", "build ms", "bytes a tool", "ranking", "median ms", "p99 ms"];
    Ok(format!(
        "Reading every tool, building the index, and the first {RESULTS} for a request, on one \
         core:\n\n{}",
        markdown(&head, &rows)
    ))
}

fn cost_rows(
    kind: &str,
    entries: &[Entry<'_>],
    read: Duration,
    requests: &[String],
) -> Vec<Vec<String>> {
    let start = Instant::now();
    let index = Index::build(entries);
    let built = start.elapsed();
    let analyses: usize = entries.iter().map(|entry| entry.analysis.memory()).sum();
    let bytes = (analyses + index.memory()) / entries.len().max(1);
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    MODES
        .iter()
        .map(|(name, mode)| {
            let mut took: Vec<_> =
                requests.iter().map(|request| timed(&index, request, *mode)).collect();
            took.sort_unstable();
            let at = |share: usize| took.get(took.len() * share / 100).copied().unwrap_or_default();
            vec![
                format!("{} {kind}", entries.len()),
                format!("{:.0}", ms(read)),
                format!("{:.0}", ms(built)),
                bytes.to_string(),
                (*name).to_owned(),
                format!("{:.3}", ms(at(50))),
                format!("{:.3}", ms(at(99))),
            ]
        })
        .collect()
}
