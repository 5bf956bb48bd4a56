//! Prints the figures of the tuning halves of the sets in a folder: `measure FOLDER [keyword|semantic] [SET...]`. `name=value` sets a
//! constant of the ranking, for tuning.

#![expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "figures for people")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use gatefold_search::measure::{
    DEPTH, Figures, Half, ListedTool, ask, halves, read_requests, read_tools,
};
use gatefold_search::{Analysis, Entry, Index, Mode, Tuning};

/// The most requests asked of a set, so that a large one does not take long.
const REQUESTS: usize = 500;

fn main() -> Result<(), Box<dyn Error>> {
    let mut tuning = Tuning::default();
    let (mut folder, mut sets, mut mode) = (None, Vec::new(), Mode::Hybrid);
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some((name, value)) => set(&mut tuning, name, value.parse()?)?,
            None if argument == "keyword" => mode = Mode::Keyword,
            None if argument == "semantic" => mode = Mode::Semantic,
            None if folder.is_none() => folder = Some(argument),
            None => sets.push(argument),
        }
    }
    let folder =
        folder.ok_or("usage: measure FOLDER [keyword|semantic] [SET...] [name=value...]")?;
    if sets.is_empty() {
        let all = ["metatool", "toolbench", "livemcp_step", "livemcp_agent", "restbench"];
        sets.extend(all.map(str::to_owned));
    }
    let (mut sum, mut line) = (0.0, String::new());
    for set in &sets {
        let figures = measure(&Path::new(&folder).join(set), &tuning, mode)?;
        sum += figures.ndcg_10;
        write!(line, "{:.3}/{:.3} ", figures.recall_5, figures.ndcg_10)?;
    }
    println!("{line} mean {:.4}", sum / sets.len() as f64);
    Ok(())
}

fn set(tuning: &mut Tuning, name: &str, value: f32) -> Result<(), String> {
    let field = |name: &str| name.parse::<usize>().map_err(|_| format!("no constant {name}"));
    match name {
        "saturation" => tuning.saturation = value,
        "synonym" => tuning.synonym = value,
        "compound" => tuning.compound = value,
        "clause" => tuning.clause = value,
        "domain" => tuning.domain = value,
        "meaning" => tuning.meaning = value,
        "by_weight" => tuning.by_weight = value,
        "named" => tuning.named = value,
        "service_names" => tuning.services.0 = value,
        "service_texts" => tuning.services.1 = value,
        "completion" => tuning.completion = value,
        _ if name.starts_with('w') => tuning.fields[field(&name[1..])?].0 = value,
        _ if name.starts_with('b') => tuning.fields[field(&name[1..])?].1 = value,
        _ => return Err(format!("no constant {name}")),
    }
    Ok(())
}

fn entry<'a>((tool, analysis): (&'a ListedTool, &Arc<Analysis>)) -> Entry<'a> {
    let domain = tool.server.as_deref().unwrap_or_default();
    let (analysis, service) = (Arc::clone(analysis), tool.service().map(Arc::new));
    Entry { id: &tool.id, domain, analysis, service }
}

fn measure(set: &Path, tuning: &Tuning, mode: Mode) -> Result<Figures, Box<dyn Error>> {
    let tools = read_tools(&std::fs::read_to_string(set.join("tools.jsonl"))?)?;
    let requests = read_requests(&std::fs::read_to_string(set.join("queries.jsonl"))?)?;
    let analyses: Vec<_> = tools.iter().map(|tool| tool.with_document(Analysis::of)).collect();
    let entries: Vec<_> = tools.iter().zip(&analyses).map(entry).collect();
    let index = Index::with_tuning(&entries, tuning);
    let requests = &requests[..requests.len().min(REQUESTS)];
    let answers = ask(requests, |text| {
        let found = index.search(text, mode, |_| true, DEPTH).matches;
        found.iter().map(|found| tools[found.place].id.clone()).collect()
    });
    let halves = halves(&tools, requests);
    let own = answers.into_iter().zip(halves).filter(|(_, half)| *half == Half::Tuning);
    let answers: Vec<_> = own.map(|(asked, _)| asked.answer).collect();
    Ok(Figures::of(&answers))
}
