use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use gatefold::files::create_private_directory;
use gatefold::{EncoderTier, Environment};
use gatefold_catalog::{Encoder, Scope, SearchMode, View, search};
use gatefold_encoder::ModelPlace;
use gatefold_search::measure::{
    AnsweredRequest, DEPTH, Figures, ListedTool, Request, SetError, ask, read_requests, read_tools,
};
use gatefold_search::{Analysis, Entry, Index, SearchEvidence, SimilarityFn};
use serde::Serialize;

use super::encoder::{await_reading, configured_model, examine, prepare};
use super::{EvalSearch, ModeName};
use crate::cli::arguments::SharedOptions;
use crate::cli::failure::{usage, with_help};
use crate::cli::output::Output;
use crate::cli::table::{Table, number_of};
use crate::cli::{catalogue, session};

/// The largest file that is read, in bytes.
const FILE_BYTES: u64 = 256 * 1024 * 1024;

/// How many misses are shown to people, and how many `--json` has.
const SHOWN_MISSES: usize = 10;
const LISTED_MISSES: usize = 1000;

/// What `--json` prints. Times are in milliseconds.
#[derive(Serialize)]
struct SearchReport<'a> {
    tools: usize,
    queries: usize,
    mode: &'static str,
    #[serde(rename = "recall@1")]
    recall_1: f64,
    #[serde(rename = "recall@3")]
    recall_3: f64,
    #[serde(rename = "recall@5")]
    recall_5: f64,
    #[serde(rename = "recall@10")]
    recall_10: f64,
    #[serde(rename = "ndcg@10")]
    ndcg_10: f64,
    mrr: f64,
    ms_median: f64,
    ms_p99: f64,
    /// How many requests found none of their tools.
    missed: usize,
    misses: Vec<MissedRequest<'a>>,
}

#[derive(Serialize)]
struct MissedRequest<'a> {
    id: &'a str,
    text: &'a str,
    relevant: &'a [String],
    found: &'a [String],
}

pub(super) async fn run(
    asked: &EvalSearch,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let requests = read(&asked.queries, read_requests)?;
    if requests.is_empty() {
        return Err(usage(format!("`{}` has no requests", asked.queries.display())));
    }
    let listed = asked.tools.as_ref().map(|path| read(path, read_tools)).transpose()?;
    let model = chosen_model(asked, shared, environment)?;
    examine(model.as_ref(), environment).await?;
    if let Some(listed) = listed {
        let ids = listed.iter().map(|tool| tool.id.as_str()).collect();
        warn_of_unknown(&ids, &requests, output);
        let index = index(&listed);
        let passages: Vec<_> = listed.iter().map(ListedTool::passage).collect();
        let encoder = match &model {
            Some(model) => {
                let encoder = encoder(model, passages.clone(), shared, environment)?;
                await_reading(&encoder, output).await?;
                Some(encoder)
            }
            None => None,
        };
        let answers = ask(&requests, |text| {
            let judge = |asked: &str, places: &[usize]| {
                let passages: Vec<_> = places.iter().map(|at| passages[*at].as_str()).collect();
                encoder.as_ref().map_or_else(Vec::new, |one| one.similarities(asked, &passages))
            };
            let judge: Option<&SimilarityFn<'_>> = encoder.is_some().then_some(&judge);
            let bar = encoder.as_ref().and_then(|one| one.bar());
            let aids = SearchEvidence { judge, bar, ..SearchEvidence::default() };
            let found = index.search_with(text, asked.mode.into(), |_| true, &aids, DEPTH).matches;
            found.iter().map(|found| listed[found.place].id.clone()).collect()
        });
        print(&answers, listed.len(), asked.mode, output);
        return Ok(ExitCode::SUCCESS);
    }
    catalogue::with_catalog(
        shared,
        environment,
        output,
        |_| false,
        async |pinned, failed| {
            let view = pinned.view();
            let ids = view.tools().map(|tool| tool.id().as_str()).collect();
            warn_of_unknown(&ids, &requests, output);
            prepare(view, &requests[0].text, asked.mode.into(), output).await?;
            let answers = ask(&requests, |text| found_in(view, text, asked.mode.into()));
            print(&answers, view.tool_count(), asked.mode, output);
            Ok(catalogue::code_of(failed))
        },
    )
    .await
}

/// The encoder that a search would have: of listed tools the one that is asked for.
fn chosen_model(
    asked: &EvalSearch,
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<Option<ModelPlace>> {
    if !asked.mode.ranks_by_meaning() {
        return Ok(None);
    }
    if asked.tools.is_none() {
        return configured_model(shared, environment);
    }
    let Some(name) = &asked.encoder else {
        return Ok(ModelPlace::builtin());
    };
    Ok(ModelPlace::named(name).map(|model| match model {
        ModelPlace::Files(path) => ModelPlace::Files(environment.directory().join(path)),
        ModelPlace::Builtin => model,
    }))
}

/// An encoder that reads these passages.
fn encoder(
    model: &ModelPlace,
    passages: Vec<String>,
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<Arc<dyn Encoder>> {
    let state_dir = session::state_dir_alone(shared, environment)?;
    create_private_directory(&state_dir)
        .with_context(|| format!("`{}` cannot be created", state_dir.display()))?;
    let encoder = EncoderTier::new(model, &state_dir);
    encoder.read(passages);
    Ok(Arc::new(encoder))
}

fn found_in(view: &View, text: &str, mode: SearchMode) -> Vec<String> {
    let hits = search(view, text, &Scope::default(), mode, DEPTH);
    hits.iter().map(|hit| hit.tool.id().to_string()).collect()
}

fn index(listed: &[ListedTool]) -> Index {
    let analyses: Vec<_> = listed.iter().map(|tool| tool.with_document(Analysis::of)).collect();
    let entries: Vec<_> = listed
        .iter()
        .zip(analyses)
        .map(|(tool, analysis)| {
            let domain = tool.server.as_deref().unwrap_or_default();
            Entry {
                id: &tool.id,
                domain,
                analysis,
                service: tool.service().map(std::sync::Arc::new),
            }
        })
        .collect();
    Index::build(&entries)
}

fn read<T>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<Vec<T>, SetError>,
) -> anyhow::Result<Vec<T>> {
    let shown = path.display();
    let unreadable = |error| usage(format!("`{shown}` cannot be read: {error}"));
    let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
    if bytes > FILE_BYTES {
        return Err(usage(format!("`{shown}` has {bytes} bytes, more than {FILE_BYTES}")));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    parse(&text).map_err(|error| {
        with_help(format!("`{shown}`: {error}"), "`gatefold eval search --help` shows the format")
    })
}

/// Requests for tools that do not exist count as missed, which needs a warning.
fn warn_of_unknown(known: &HashSet<&str>, requests: &[Request], output: &Output) {
    let unknown: Vec<&str> = requests
        .iter()
        .flat_map(|request| &request.relevant)
        .map(String::as_str)
        .filter(|id| !known.contains(id))
        .collect();
    if let Some(first) = unknown.first() {
        output.warning(&match unknown.len() {
            1 => format!(
                "1 relevant tool is not among those that are searched: `{first}`; it counts as missed"
            ),
            count => format!(
                "{} are not among those that are searched, such as `{first}`; they count as missed",
                number_of(count, "relevant tool")
            ),
        });
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn print(answers: &[AnsweredRequest<'_>], tools: usize, mode: ModeName, output: &Output) {
    let rated: Vec<_> = answers.iter().map(|asked| asked.answer.clone()).collect();
    let figures = Figures::of(&rated);
    let misses: Vec<_> = answers.iter().filter(|asked| asked.is_miss()).collect();
    let mode = match mode {
        ModeName::Hybrid => "hybrid",
        ModeName::Keyword => "keyword",
        ModeName::Semantic => "semantic",
    };
    let report = SearchReport {
        tools,
        queries: figures.queries,
        mode,
        recall_1: figures.recall_1,
        recall_3: figures.recall_3,
        recall_5: figures.recall_5,
        recall_10: figures.recall_10,
        ndcg_10: figures.ndcg_10,
        mrr: figures.mrr,
        ms_median: milliseconds(figures.median),
        ms_p99: milliseconds(figures.p99),
        missed: misses.len(),
        misses: misses
            .iter()
            .take(LISTED_MISSES)
            .map(|asked| MissedRequest {
                id: &asked.request.id,
                text: &asked.request.text,
                relevant: &asked.request.relevant,
                found: &asked.found,
            })
            .collect(),
    };
    if output.is_json() {
        output.json(&report);
    } else {
        print_for_people(&report, output);
    }
}

fn print_for_people(report: &SearchReport<'_>, output: &Output) {
    let SearchReport { queries, tools, mode, missed, .. } = report;
    output.line(&format!("requests: {queries}, tools: {tools}, ranked by: {mode}"));
    output.line("");
    let mut table = Table::new(&["measure", "mean"]).numbers(&[1]);
    for (name, mean) in [
        ("recall@1", report.recall_1),
        ("recall@3", report.recall_3),
        ("recall@5", report.recall_5),
        ("recall@10", report.recall_10),
        ("ndcg@10", report.ndcg_10),
        ("mrr", report.mrr),
    ] {
        table.row([name.to_owned(), format!("{mean:.3}")]);
    }
    output.lines(&table.lines(output.style()));
    output.line("");
    let (median, p99) = (report.ms_median, report.ms_p99);
    output.line(&format!("{median:.2} ms at the median, {p99:.2} ms at the 99th percentile"));
    if *missed == 0 {
        return;
    }
    output.line("");
    let whose = if *missed == 1 { "its" } else { "their" };
    let requests = number_of(*missed, "request");
    output.line(&format!("{requests} found none of {whose} tools among the first {DEPTH}:"));
    let mut table = Table::new(&["request", "wanted", "found first"]);
    for miss in report.misses.iter().take(SHOWN_MISSES) {
        let first = miss.found.first().cloned().unwrap_or_default();
        table.row([miss.text.to_owned(), miss.relevant.join(", "), first]);
    }
    output.lines(&table.lines(output.style()));
    if *missed > SHOWN_MISSES {
        output.line("`--json` lists them");
    }
}
