//! How well a knowledge base finds and quotes, over the sets that `tests/knowledge/sets` makes.

mod asking;
mod base;
mod figures;
mod pages;
mod sets;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use gatefold_encoder::ModelPlace;

use self::asking::Asker;
use self::base::BenchEncoder;
use self::figures::{Figure, PAGE_RECALL};
use self::sets::{Half, KnowledgeSet};
use super::say;
use super::table::markdown;

struct KnowledgeOptions {
    sets: PathBuf,
    /// The sets that are asked.
    names: Vec<&'static str>,
    encoder: Option<ModelPlace>,
    half: Half,
}

pub(crate) fn run(options: &[&str]) -> Result<()> {
    let options = parse(options)?;
    let encoder = options.encoder.as_ref().map(BenchEncoder::open).transpose()?;
    for name in &options.names {
        let set = KnowledgeSet::read(&options.sets.join(name), name, options.half)?;
        say(&measure(&set, encoder.as_ref())?);
    }
    Ok(())
}

fn parse(options: &[&str]) -> Result<KnowledgeOptions> {
    let (mut sets, mut names) = (None, sets::NAMES.to_vec());
    let (mut encoder, mut half) = (ModelPlace::builtin(), Half::Tell);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let value = options.next().with_context(|| format!("`{option}` needs a value"))?;
        match (*option, *value) {
            ("--sets", folder) => sets = Some(PathBuf::from(folder)),
            ("--set", name) => {
                names.retain(|known| *known == name);
                if names.is_empty() {
                    bail!("there is no set `{name}`, only {}", sets::NAMES.join(", "));
                }
            }
            ("--encoder", name) => encoder = ModelPlace::named(name),
            ("--half", "fit") => half = Half::Fit,
            ("--half", "tell") => half = Half::Tell,
            _ => bail!("unknown option `{option} {value}`"),
        }
    }
    let sets = sets.context("`--sets` must name the folder that `tests/knowledge/sets` filled")?;
    Ok(KnowledgeOptions { sets, names, encoder, half })
}

/// Fills a base with a set, asks it, first by words alone, and gives a table.
fn measure(set: &KnowledgeSet, encoder: Option<&Arc<BenchEncoder>>) -> Result<String> {
    let scratch = tempfile::tempdir()?;
    let start = Instant::now();
    let by_words = ask(scratch.path(), set, None)?;
    let counts = base::open(scratch.path(), set, None)?.counts()?;
    let mut head = vec!["figure", "words alone"];
    let mut columns = vec![by_words];
    if encoder.is_some() {
        head.push("with an encoder");
        columns.push(ask(scratch.path(), set, encoder)?);
    }
    let is_paged = columns[0].iter().any(|(name, _)| *name == PAGE_RECALL);
    if is_paged {
        head.push("plain BM25 of pages");
        columns.push(vec![(PAGE_RECALL, format!("{:.3}", pages::recall_by_words(set)?))]);
    }
    let value = |column: &Vec<Figure>, name: &str| {
        let own = column.iter().find(|(own, _)| *own == name);
        own.map_or("-".to_owned(), |(_, value)| value.clone())
    };
    let row = |(name, _): &Figure| {
        let values = columns.iter().map(|column| value(column, name));
        std::iter::once((*name).to_owned()).chain(values).collect()
    };
    let rows: Vec<Vec<String>> = columns[0].iter().map(row).collect();
    Ok(format!(
        "{}: {} documents, {} chunks, {} questions; read in {:.0} s, asked in {:.0} s\n\n{}",
        set.name,
        counts.documents,
        counts.chunks,
        set.questions.len(),
        set.reading.as_secs_f64(),
        start.elapsed().as_secs_f64(),
        markdown(&head, &rows)
    ))
}

fn ask(
    folder: &Path,
    set: &KnowledgeSet,
    encoder: Option<&Arc<BenchEncoder>>,
) -> Result<Vec<Figure>> {
    let base = base::open(folder, set, encoder)?;
    let asker = Asker { set, base: &base, encoder: encoder.map(|encoder| &**encoder) };
    let with = asker.ask_all()?;
    let without = asker.ask_without_answers()?;
    Ok(figures::figures(set, &with, &without))
}
