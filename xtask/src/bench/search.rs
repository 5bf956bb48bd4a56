//! The quality of the ranking over sets of tools and requests, and its cost.
//!
//! A set is a folder with `tools.jsonl` and `queries.jsonl`, as `gatefold_search::measure` reads
//! them.

mod encoded;
mod foreign;
mod learning;
mod varied;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use gatefold_encoder::Embedder;
use gatefold_search::measure::{
    DEPTH, Figures, ListedTool, Request, ask, read_requests, read_tools,
};
use gatefold_search::{Analysis, Document, Entry, Findings, Index, Mode, Parameters, passage};
use serde::Deserialize;
use serde_json::value::RawValue;

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
    let lists = std::env::var_os("GATEFOLD_CATALOGS");
    let lists = lists.context("GATEFOLD_CATALOGS must name a folder of tool lists")?;
    let sets = folders(&sets)?;
    let encoder = encoded::open(root)?;
    let (quality, requests) = quality(&sets, encoder.as_ref())?;
    say(&quality);
    let unfit = foreign::table(&sets, encoder.as_ref())?;
    say(&unfit);
    let learnt = learning::table(&sets, encoder.as_ref())?.unwrap_or_default();
    say(&learnt);
    let cost = cost(Path::new(&lists), &requests)?;
    say(&cost);
    let dearer = match &encoder {
        Some(encoder) => encoded::cost(encoder, &real(Path::new(&lists))?, &requests),
        None => String::new(),
    };
    say(&dearer);
    if write {
        let section = format!("\n{quality}\n{unfit}\n{learnt}\n{cost}\n{dearer}");
        write_section(&root.join("docs/benchmarks.md"), "search", &section)?;
    }
    Ok(())
}

/// The sets in a folder, sorted.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut sets = Vec::new();
    for entry in std::fs::read_dir(folder).context("the folder of sets cannot be read")? {
        let path = entry?.path();
        if path.join("queries.jsonl").exists() {
            sets.push(path);
        }
    }
    sets.sort();
    Ok(sets)
}

/// The figures of every set as a table, and the requests that were asked.
fn quality(sets: &[PathBuf], encoder: Option<&Embedder>) -> Result<(String, Vec<String>)> {
    let mut names: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
    names.extend(encoder.map(|_| "hybrid, with the encoder"));
    let mut rows: Vec<Vec<String>> = names.iter().map(|name| vec![(*name).to_owned()]).collect();
    let mut sums = vec![0.0; rows.len()];
    let (mut head, mut asked) = (vec!["ranking".to_owned()], Vec::new());
    for set in sets {
        let name = set.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (figures, requests) =
            measure(set, encoder).with_context(|| format!("the set {name}"))?;
        head.push(format!("{name} ({})", figures[0].queries));
        for ((row, sum), figures) in rows.iter_mut().zip(&mut sums).zip(&figures) {
            row.push(format!("{:.3} / {:.3}", figures.recall_5, figures.ndcg_10));
            *sum += figures.ndcg_10;
        }
        asked.extend(requests.into_iter().map(|request| request.text));
    }
    head.push("mean NDCG@10".to_owned());
    for (row, sum) in rows.iter_mut().zip(sums) {
        row.push(format!("{:.3}", sum / sets.len().max(1) as f64));
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    Ok((format!("Recall@5 / NDCG@10:\n\n{}", markdown(&head, &rows)), asked))
}

/// The tools of a set and its first requests.
fn read_set(set: &Path) -> Result<(Vec<ListedTool>, Vec<Request>)> {
    let tools = read_tools(&std::fs::read_to_string(set.join("tools.jsonl"))?)?;
    let mut requests = read_requests(&std::fs::read_to_string(set.join("queries.jsonl"))?)?;
    requests.truncate(REQUESTS);
    Ok((tools, requests))
}

fn index_of(tools: &[ListedTool]) -> Index {
    let entries = tools.iter().map(|tool| Entry {
        id: &tool.id,
        domain: tool.server.as_deref().unwrap_or_default(),
        analysis: tool.with_document(Analysis::of),
    });
    Index::build(&entries.collect::<Vec<_>>())
}

/// The figures of a set by mode.
fn measure(set: &Path, encoder: Option<&Embedder>) -> Result<(Vec<Figures>, Vec<Request>)> {
    let (tools, requests) = read_set(set)?;
    let index = index_of(&tools);
    let ids = |places: Vec<usize>| places.iter().map(|at| tools[*at].id.clone()).collect();
    let figures = |search: &dyn Fn(&str) -> Vec<usize>| {
        let answers = ask(&requests, |text| ids(search(text)));
        Figures::of(&answers.into_iter().map(|asked| asked.answer).collect::<Vec<_>>())
    };
    let found = |found: Findings| found.matches.iter().map(|one| one.place).collect();
    let mut measured: Vec<_> = MODES
        .iter()
        .map(|(_, mode)| figures(&|text| found(index.search(text, *mode, |_| true, DEPTH))))
        .collect();
    if let Some(encoder) = encoder {
        let passages: Vec<_> = tools.iter().map(ListedTool::passage).collect();
        encoded::read(encoder, passages.iter().map(String::as_str));
        let search = |text: &str| encoded::search(encoder, &index, &passages, text, DEPTH);
        measured.push(figures(&|text| found(search(text))));
    }
    Ok((measured, requests))
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
    let tools = real(lists)?;
    let start = Instant::now();
    let analyses: Vec<_> = tools.iter().map(RealTool::analysis).collect();
    let read = start.elapsed();
    let mut rows = cost_rows("real", &entries(&tools, analyses), read, requests);
    let tools = varied::tools(MANY);
    let start = Instant::now();
    let analyses: Vec<_> = tools.iter().map(varied::VariedTool::analysis).collect();
    let read = start.elapsed();
    let entries = tools.iter().zip(analyses).map(|(tool, analysis)| Entry {
        id: &tool.id,
        domain: &tool.domain,
        analysis,
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

fn entries(tools: &[RealTool], analyses: Vec<Arc<Analysis>>) -> Vec<Entry<'_>> {
    let both = tools.iter().zip(analyses);
    both.map(|(tool, analysis)| Entry { id: &tool.id, domain: &tool.server, analysis }).collect()
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

/// One tool of a real list.
struct RealTool {
    id: String,
    server: String,
    listed: Definition,
}

#[derive(Deserialize)]
struct Definition {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(rename = "inputSchema")]
    schema: Option<Box<RawValue>>,
}

impl RealTool {
    fn passage(&self) -> String {
        let description = self.listed.description.as_deref().unwrap_or_default();
        passage(&self.server, &self.listed.name, description)
    }

    fn analysis(&self) -> Arc<Analysis> {
        let schema = self.listed.schema.as_deref().map_or("", RawValue::get);
        let parameters = Parameters::of_schema(schema);
        Analysis::of(&Document {
            name: &self.listed.name,
            domain: &[&self.server],
            description: &[self.listed.description.as_deref().unwrap_or_default()],
            parameter_names: &parameters.names,
            parameter_descriptions: &parameters.descriptions,
            enum_values: &parameters.values,
            ..Document::default()
        })
    }
}

fn real(folder: &Path) -> Result<Vec<RealTool>> {
    #[derive(Deserialize)]
    struct List {
        server: String,
        tools: Vec<Definition>,
    }
    let mut tools = Vec::new();
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).context("the catalogue cannot be read")? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.extension().is_some_and(|kind| kind == "json") && !name.starts_with('_') {
            paths.push(path);
        }
    }
    paths.sort();
    for path in paths {
        let list: List = serde_json::from_slice(&std::fs::read(&path)?)
            .with_context(|| format!("{} is not a tool list", path.display()))?;
        tools.extend(list.tools.into_iter().map(|listed| RealTool {
            id: format!("{}__{}", list.server, listed.name),
            server: list.server.clone(),
            listed,
        }));
    }
    Ok(tools)
}
