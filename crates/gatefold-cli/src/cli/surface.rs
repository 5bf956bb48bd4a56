//! `gatefold surface`: what a model is shown, to the byte, and what it costs.

mod limits;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use gatefold::{App, Environment};
use gatefold_disclose::Surface as ShownSurface;
use gatefold_exchange::Disclosures;

use super::arguments::{Format, SharedOptions};
use super::catalogue;
use super::output::Output;
use super::progress::Progress;
use super::table::Table;
use super::{control, session, stop, tokens};
use limits::excesses;

#[derive(Debug, Args)]
pub(crate) struct SurfaceArguments {
    /// How tools are shown: `gateway`, `namespace`, `typed`, `intent`, `flat` or `auto` [default:
    /// `disclosure.default`]
    #[arg(long, value_name = "NAME", conflicts_with = "table")]
    disclosure: Option<String>,
    /// Compare all of them
    #[arg(long)]
    table: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

/// What one disclosure shows, with its cost.
struct CountedSurface {
    name: String,
    shown: ShownSurface,
    instructions: usize,
    /// Of each tool's definition, in order.
    tools: Vec<usize>,
}

impl CountedSurface {
    /// What it costs before a model has done anything.
    fn at_rest(&self) -> usize {
        self.instructions + self.tools.iter().sum::<usize>()
    }
}

pub(super) async fn run(
    surface: &SurfaceArguments,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        let session = session::open(shared, environment).await.map_err(control::without_any)?;
        let progress = Progress::new(output, "learning");
        let left_out = catalogue::complete(&session.app, &progress, |_| false).await;
        let shown = counted(&session.app, surface).await;
        session.app.close().await;
        catalogue::warn_of(&left_out, output);
        let shown = shown?;
        if surface.table {
            compare(&shown, output);
        } else {
            for one in &shown {
                print(one, output);
            }
        }
        Ok(ExitCode::SUCCESS)
    })
    .await
}

/// The surfaces that were asked for, counted all at once.
async fn counted(app: &App, asked: &SurfaceArguments) -> anyhow::Result<Vec<CountedSurface>> {
    let usual = app.config().disclosure.default;
    let names: Vec<String> = match &asked.disclosure {
        _ if asked.table => Disclosures::OURS.map(str::to_owned).to_vec(),
        Some(name) => vec![name.clone()],
        None => vec![usual],
    };
    let mut shown = Vec::new();
    for name in names {
        let surface = app.surface_of(&name)?;
        shown.push((name, surface));
    }
    let texts: Vec<_> = shown.iter().flat_map(|(_, surface)| texts(surface)).collect();
    let mut counts = tokens::count(&texts).await?.into_iter();
    let mut next = || counts.next().context("a count is missing");
    let mut counted = Vec::new();
    for (name, shown) in shown {
        let instructions = next()?;
        let tools = shown.tools.iter().map(|_| next()).collect::<anyhow::Result<_>>()?;
        counted.push(CountedSurface { name, shown, instructions, tools });
    }
    Ok(counted)
}

fn texts(surface: &ShownSurface) -> impl Iterator<Item = String> {
    let tools = surface.tools.iter().map(|tool| tool.definition.get().to_owned());
    std::iter::once(surface.instructions.clone()).chain(tools)
}

fn print(one: &CountedSurface, output: &Output) {
    let exceeds = excesses(&one.shown);
    if output.is_json() {
        let tools = one.shown.tools.iter().zip(&one.tools).map(
            |(tool, tokens)| serde_json::json!({ "definition": tool.definition, "tokens": tokens }),
        );
        output.json(&serde_json::json!({
            "disclosure": one.name,
            "tokens": one.at_rest(),
            "instructions": { "text": one.shown.instructions, "tokens": one.instructions },
            "tools": tools.collect::<Vec<_>>(),
            "exceeds": exceeds,
        }));
        return;
    }
    let style = output.style();
    let count = one.tools.len();
    let noun = if count == 1 { "tool" } else { "tools" };
    output.line(&format!("{}: {count} {noun}, {} tokens", style.strong(&one.name), one.at_rest()));
    for excess in exceeds {
        output.warning(&format!("beyond what some clients take: {excess}"));
    }
    output.line(&format!("\n{} ({} tokens)", style.strong("instructions"), one.instructions));
    one.shown.instructions.lines().for_each(|line| output.line(&format!("  {line}")));
    for (tool, tokens) in one.shown.tools.iter().zip(&one.tools) {
        output.line(&format!("\n{} ({tokens} tokens)", style.strong(&tool.name)));
        output.line(&format!("  {}", tool.definition.get()));
    }
}

fn compare(shown: &[CountedSurface], output: &Output) {
    if output.is_json() {
        let rows = shown.iter().map(|one| {
            serde_json::json!({
                "disclosure": one.name,
                "tools": one.tools.len(),
                "tokens": one.at_rest(),
                "exceeds": excesses(&one.shown),
            })
        });
        output.json(&serde_json::json!({ "disclosures": rows.collect::<Vec<_>>() }));
        return;
    }
    let heads = ["disclosure", "tools", "tokens at rest", "beyond what clients take"];
    let mut table = Table::new(&heads).numbers(&[1, 2]);
    for one in shown {
        let exceeds = excesses(&one.shown).join("; ");
        let name = output.style().strong(&one.name);
        table.row([name, one.tools.len().to_string(), one.at_rest().to_string(), exceeds]);
    }
    output.lines(&table.lines(output.style()));
}
