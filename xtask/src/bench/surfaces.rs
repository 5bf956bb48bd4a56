//! What each way to show tools costs over the real tool lists: in tokens at rest and on the way to a
//! call, and in time.

mod listed;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use gatefold_catalog::Tool;
use gatefold_core::{ClientName, Principal};
use gatefold_disclose::{
    AutoDisclosure, ClientLimits, Disclosure, Gateway, IntentDisclosure, NamespaceDisclosure,
    TypedDisclosure, typical_tools,
};
use gatefold_exchange::{
    Audience, ClientProfile, ClientProfiles, Disclosures, Exchange, NamingScheme, Scope, Turn,
};
use tiktoken_rs::CoreBPE;

use super::reading::count;
use super::say;
use super::table::{markdown, write_section};
use super::tokens::{compact, entries};

/// How often a surface is made anew. The figure is of the fastest: what else the machine does only
/// adds to it.
const MADE: usize = 21;
/// How often a surface that was made before is served. The figure is of the fastest.
const SERVED: usize = 1001;
/// The most tokens of definitions that `auto` shows in full, as it is configured by default.
const AUTO_TOKENS: usize = 20_000;

#[expect(clippy::disallowed_methods, reason = "a chore reads its own variables")]
pub(crate) fn run(root: &Path, options: &[&str]) -> Result<()> {
    let folder = std::env::var_os("GATEFOLD_CATALOGS");
    let folder = folder.context("GATEFOLD_CATALOGS must name a folder of tool lists")?;
    let entries = entries(Path::new(&folder))?;
    let sources = entries.len();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _entered = runtime.enter();
    let exchange = listed::exchange(entries, disclosures());
    exchange.set_clients(clients(exchange.disclosures())?);
    let vocabulary = tiktoken_rs::o200k_base()?;
    let rows = Disclosures::OURS.map(|name| row(&exchange, name, &vocabulary, sources));
    let rows = rows.into_iter().collect::<Result<Vec<_>>>()?;
    let head = [
        "disclosure",
        "tools shown",
        "tokens at rest",
        "tokens of a task: mean",
        "median",
        "most",
        "calls: mean",
        "made anew ms",
        "served again ms",
    ];
    let tools = turn(&exchange, &audience(&exchange, Disclosures::GATEWAY)?)?.view().tool_count();
    let table = markdown(&head, &rows);
    let section =
        format!("\n{tools} tools of {sources} servers, a task for each server:\n\n{table}\n");
    say(&section);
    if options.contains(&"--write") {
        write_section(&root.join("docs/benchmarks.md"), "surfaces", &section)?;
    }
    Ok(())
}

/// All that Gatefold has, as they are configured by default.
fn disclosures() -> Disclosures {
    let gateway: Arc<dyn Disclosure> = Arc::new(Gateway::default());
    let public = NamingScheme::Public;
    Disclosures::standard(&gateway)
        .with(Disclosures::NAMESPACE, public, |_| Arc::new(NamespaceDisclosure::default()))
        .with(Disclosures::TYPED, public, |_| Arc::new(TypedDisclosure::default()))
        .with(Disclosures::INTENT, public, |_| Arc::new(IntentDisclosure::default()))
        .with(Disclosures::AUTO, public, |_| {
            Arc::new(AutoDisclosure { gateway: Gateway::default(), flat_tokens: AUTO_TOKENS })
        })
}

/// Clients that differ in what they take, so that no surface of one serves another.
fn clients(disclosures: &Disclosures) -> Result<ClientProfiles> {
    let profile = |number: usize| {
        let usual = ClientLimits::default().instructions_bytes;
        let limits = ClientLimits { instructions_bytes: usual + number };
        (client(number), ClientProfile { disclosure: None, limits })
    };
    Ok(ClientProfiles::new((1..=MADE).map(profile), disclosures)?)
}

fn client(number: usize) -> ClientName {
    ClientName::new(format!("client-{number}"))
}

fn audience(exchange: &Exchange, disclosure: &str) -> Result<Audience> {
    Ok(exchange.audience(Scope::Everything, Some(disclosure))?)
}

fn turn(exchange: &Exchange, audience: &Audience) -> Result<Turn> {
    exchange.turn(audience, Arc::new(Principal::local())).context("everything is in scope")
}

fn row(
    exchange: &Exchange,
    disclosure: &str,
    vocabulary: &CoreBPE,
    tasks: usize,
) -> Result<Vec<String>> {
    let audience = audience(exchange, disclosure)?;
    let turn = turn(exchange, &audience)?;
    let lists = turn.lists();
    let surface = lists.surface();
    let definitions = surface.tools.iter().map(|tool| compact(tool.definition.get()));
    let definitions = definitions.map(|definition| count(vocabulary, &definition));
    let at_rest = count(vocabulary, &surface.instructions) + definitions.sum::<usize>();
    let tools = typical_tools(turn.view(), tasks);
    let (tokens, calls) = typical_tasks(&turn, &tools, vocabulary)?;
    let most = tokens.last().copied().unwrap_or_default();
    let (made, served) = (made_anew(exchange, &audience)?, served_again(exchange, &audience)?);
    Ok(vec![
        disclosure.to_owned(),
        surface.tools.len().to_string(),
        at_rest.to_string(),
        format!("{:.0}", mean(&tokens)),
        tokens.get(tokens.len() / 2).copied().unwrap_or_default().to_string(),
        most.to_string(),
        format!("{:.1}", mean(&calls)),
        format!("{:.2}", made.as_secs_f64() * 1e3),
        format!("{:.4}", served.as_secs_f64() * 1e3),
    ])
}

/// The tokens read for each task, and the calls of each, in ascending order.
fn typical_tasks(
    turn: &Turn,
    tools: &[&Tool],
    vocabulary: &CoreBPE,
) -> Result<(Vec<usize>, Vec<usize>)> {
    let disclosure = turn.audience().disclosure_name();
    let (mut tokens, mut calls) = (Vec::new(), Vec::new());
    for tool in tools {
        let rehearsal = turn.rehearse(tool);
        let rehearsal =
            rehearsal.with_context(|| format!("`{disclosure}` does not lead to {}", tool.id()))?;
        tokens.push(rehearsal.read.iter().map(|text| count(vocabulary, text)).sum());
        calls.push(rehearsal.calls);
    }
    tokens.sort_unstable();
    calls.sort_unstable();
    Ok((tokens, calls))
}

fn mean(numbers: &[usize]) -> f64 {
    numbers.iter().sum::<usize>() as f64 / numbers.len().max(1) as f64
}

/// The time of a turn that is the first to need a surface, with its lists as JSON.
fn made_anew(exchange: &Exchange, audience: &Audience) -> Result<Duration> {
    let clients = (1..=MADE).map(|number| exchange.for_client(audience, Some(&client(number))));
    fastest(clients.map(|audience| timed(exchange, &audience)))
}

/// The time of a turn whose surface was made before.
fn served_again(exchange: &Exchange, audience: &Audience) -> Result<Duration> {
    fastest((0..SERVED).map(|_| timed(exchange, audience)))
}

fn timed(exchange: &Exchange, audience: &Audience) -> Result<Duration> {
    let began = Instant::now();
    let turn = turn(exchange, audience)?;
    std::hint::black_box(turn.lists());
    Ok(began.elapsed())
}

fn fastest(times: impl Iterator<Item = Result<Duration>>) -> Result<Duration> {
    let times = times.collect::<Result<Vec<_>>>()?;
    times.into_iter().min().context("nothing was timed")
}
