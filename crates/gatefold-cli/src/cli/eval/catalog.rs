use std::process::ExitCode;

use gatefold::Environment;
use gatefold_catalog::{Scope, SearchMode, Tool, View, search, token_bound, told_apart};
use serde::Serialize;

use super::EvalCatalog;
use super::encoder::{configured_model, examine, prepare};
use crate::cli::arguments::SharedOptions;
use crate::cli::catalogue;
use crate::cli::output::Output;
use crate::cli::table::{Table, number_of};

/// The worst rank in a search at which a tool still counts as found.
const FOUND_WITHIN: usize = 5;

/// How close another tool's score must come to a tool's own for the two to be confusable.
const CONFUSABLE: f32 = 0.9;

/// A definition that costs more o200k tokens than this gets advice.
const COSTLY_TOKENS: usize = 1000;

/// What `--json` prints.
#[derive(Serialize)]
struct CatalogReport<'a> {
    tools: usize,
    /// An upper bound on the o200k tokens of all definitions.
    tokens: usize,
    /// Pairs of tools that one request finds about equally well.
    confusable: Vec<ConfusablePair<'a>>,
    /// Tools that a request in their own words does not find.
    hidden: Vec<HiddenTool<'a>>,
    /// The cost of each definition, highest first.
    definitions: Vec<DefinitionCost<'a>>,
}

#[derive(Serialize)]
struct ConfusablePair<'a> {
    tool: &'a str,
    other: &'a str,
    /// The other's score over the tool's own, for a request in the tool's own words.
    likeness: f32,
    /// What their names, required parameters and first lines tell them apart by.
    #[serde(skip_serializing_if = "Option::is_none")]
    apart: Option<String>,
    advice: String,
}

#[derive(Serialize)]
struct HiddenTool<'a> {
    tool: &'a str,
    request: String,
    /// What was found instead.
    found: Option<&'a str>,
    advice: String,
}

#[derive(Serialize)]
struct DefinitionCost<'a> {
    tool: &'a str,
    tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'static str>,
}

pub(super) async fn run(
    asked: &EvalCatalog,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let model = configured_model(shared, environment)?;
    examine(model.as_ref(), environment).await?;
    catalogue::with_catalog(
        shared,
        environment,
        output,
        |_| false,
        async |pinned, failed| {
            let view = pinned.view();
            if let Some(tool) = view.tools().next() {
                prepare(view, &in_own_words(tool), SearchMode::Hybrid, output).await?;
            }
            let report = report(view, asked.limit);
            if output.is_json() {
                output.json(&report);
            } else {
                print(&report, asked.limit, output);
            }
            Ok(catalogue::code_of(failed))
        },
    )
    .await
}

fn report(view: &View, limit: usize) -> CatalogReport<'_> {
    let (mut confusable, mut hidden, mut definitions) = (Vec::new(), Vec::new(), Vec::new());
    for tool in view.tools() {
        let request = in_own_words(tool);
        let hits = search(view, &request, &Scope::default(), SearchMode::Hybrid, FOUND_WITHIN);
        let own = hits.iter().find(|hit| hit.tool.id() == tool.id() && hit.fits());
        let other = hits.iter().find(|hit| hit.tool.id() != tool.id() && hit.fits());
        match (own, other) {
            (None, other) => hidden.push(HiddenTool {
                tool: tool.id().as_str(),
                found: other.map(|hit| hit.tool.id().as_str()),
                advice: advice_on_hidden(tool, other.map(|hit| hit.tool)),
                request,
            }),
            (Some(own), Some(other)) if other.score >= own.score * CONFUSABLE => {
                confusable.push(ConfusablePair {
                    tool: tool.id().as_str(),
                    other: other.tool.id().as_str(),
                    likeness: other.score / own.score,
                    apart: told_apart(tool, other.tool),
                    advice: advice_on_pair(tool, other.tool),
                });
            }
            _ => {}
        }
        let tokens = token_bound(tool.definition().raw());
        let advice = (tokens > COSTLY_TOKENS).then_some(COST_ADVICE);
        definitions.push(DefinitionCost { tool: tool.id().as_str(), tokens, advice });
    }
    let tokens = definitions.iter().map(|cost| cost.tokens).sum();
    let tools = definitions.len();
    confusable.sort_by(|a, b| b.likeness.total_cmp(&a.likeness).then_with(|| a.tool.cmp(b.tool)));
    definitions.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.tool.cmp(b.tool)));
    confusable.truncate(limit);
    hidden.truncate(limit);
    CatalogReport { tools, tokens, confusable, hidden, definitions }
}

/// A request for what a tool does: the words of its one-line description, or of its name if it has
/// none.
fn in_own_words(tool: &Tool) -> String {
    match tool.line() {
        "" => tool.definition().name().replace(['_', '-', '.'], " "),
        line => line.to_owned(),
    }
}

const COST_ADVICE: &str = "shorten its descriptions, or drop parameters that nobody sends";

fn advice_on_hidden(tool: &Tool, other: Option<&Tool>) -> String {
    if tool.definition().description().is_none_or(|text| text.trim().is_empty()) {
        return "describe it: searches only have its name".to_owned();
    }
    match other {
        Some(other) if other.line() == tool.line() => {
            format!("its description is that of `{}`: say what sets them apart", other.id())
        }
        Some(other) => format!(
            "begin its description with what it does and on what; `{}` is found instead",
            other.id()
        ),
        None => "begin its description with what it does and on what".to_owned(),
    }
}

fn advice_on_pair(tool: &Tool, other: &Tool) -> String {
    if tool.domain() == other.domain() {
        "say in each description when to use it rather than the other".to_owned()
    } else {
        format!(
            "name the service in both, because `{}` and `{}` do the same",
            tool.domain(),
            other.domain()
        )
    }
}

fn print(report: &CatalogReport<'_>, limit: usize, output: &Output) {
    let CatalogReport { tools, tokens, confusable, hidden, definitions } = report;
    let (tools, tokens) = (number_of(*tools, "tool"), number_of(*tokens, "token"));
    output.line(&format!("{tools}, at most {tokens} in all"));
    let section = |title: &str, table: &Table| {
        output.line("");
        output.line(title);
        output.lines(&table.lines(output.style()));
    };
    if !hidden.is_empty() {
        let mut table = Table::new(&["tool", "asked for as", "advice"]).spare(&[1]);
        for one in hidden {
            table.row([one.tool.to_owned(), one.request.clone(), one.advice.clone()]);
        }
        section("Not found in their own words:", &table);
    }
    if !confusable.is_empty() {
        let head = ["tool", "mistaken for", "similarity", "told apart by", "advice"];
        let mut table = Table::new(&head).numbers(&[2]).spare(&[3]);
        for pair in confusable {
            let likeness = format!("{:.2}", pair.likeness);
            let apart = pair.apart.as_deref().unwrap_or("nothing");
            let (tool, other, advice) = (pair.tool, pair.other, pair.advice.as_str());
            table.row([tool, other, &likeness, apart, advice].map(str::to_owned));
        }
        section("Hard to tell apart:", &table);
    }
    if !definitions.is_empty() {
        let mut table = Table::new(&["tool", "tokens at most", "advice"]).numbers(&[1]);
        for one in definitions.iter().take(limit) {
            let advice = one.advice.unwrap_or("-");
            table.row([one.tool.to_owned(), one.tokens.to_string(), advice.to_owned()]);
        }
        section("The most expensive definitions (`--json` lists all):", &table);
    }
    if hidden.is_empty() && confusable.is_empty() {
        output.line("");
        output.line("every tool is found in its own words, and none is mistaken for another");
    }
}
