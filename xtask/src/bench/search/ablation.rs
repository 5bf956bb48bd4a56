//! What each part of the ranking adds: the words alone, then one part more in each row.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use gatefold_encoder::Embedder;
use gatefold_search::measure::{Answer, DEPTH, Figures, Half, ask};
use gatefold_search::{Index, Mode, PastIndex, PastJudge, PastQuery, SearchEvidence, SimilarityFn};
use serde::Deserialize;

use super::encoded;
use super::encoded::Encoders;
use super::sets::ToolSet;
use crate::bench::table::markdown;

/// Where the texts are that were written for the tools of sets, a file for each set that has some.
const TEXTS: &str = "xtask/data/texts";

/// The parts of the ranking that a row has.
#[derive(Clone, Copy)]
struct Parts {
    name: &'static str,
    mode: Mode,
    services: bool,
    texts: bool,
    encoder: EncoderKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EncoderKind {
    None,
    Builtin,
    Larger,
}

const WORDS: Parts = Parts {
    name: "words alone",
    mode: Mode::Keyword,
    services: false,
    texts: false,
    encoder: EncoderKind::None,
};
const TABLE: Parts = Parts { name: "+ embedding table", mode: Mode::Hybrid, ..WORDS };
const SERVICES: Parts = Parts { name: "+ services", services: true, ..TABLE };
const WITH_TEXTS: Parts = Parts { name: "+ retrieval texts", texts: true, ..SERVICES };
const ENCODER: Parts =
    Parts { name: "+ built-in encoder", encoder: EncoderKind::Builtin, ..WITH_TEXTS };
const LARGER: Parts =
    Parts { name: "+ a larger encoder instead", encoder: EncoderKind::Larger, ..WITH_TEXTS };

/// The texts written for a tool, a line of a set's file.
#[derive(Deserialize)]
struct WrittenTexts {
    id: String,
    requests: Vec<String>,
}

/// A set, and what was written for its tools.
struct TextedSet<'a> {
    set: &'a ToolSet,
    texts: Vec<WrittenTexts>,
}

/// NDCG@10 with more and more parts, as a table: by set for the half that nothing was tuned to, and the
/// means of both halves.
pub(super) fn table(root: &Path, sets: &[ToolSet], encoders: &Encoders) -> Result<String> {
    let texted = sets.iter().map(|set| TextedSet::read(root, set));
    let texted = texted.collect::<Result<Vec<_>>>()?;
    let mut head = vec!["ranking".to_owned()];
    head.extend(
        sets.iter()
            .map(|set| format!("{} ({})", set.name, set.half(Half::Telling, set.asked()).count())),
    );
    head.extend(["mean", "mean, tuning half"].map(str::to_owned));
    let mut rows = Vec::new();
    for parts in [WORDS, TABLE, SERVICES, WITH_TEXTS, ENCODER, LARGER] {
        let encoder = match parts.encoder {
            EncoderKind::None => None,
            EncoderKind::Builtin => Some(&encoders.builtin),
            EncoderKind::Larger if encoders.larger.is_none() => continue,
            EncoderKind::Larger => encoders.larger.as_ref(),
        };
        let gains: Vec<_> = texted.iter().map(|one| one.gains(parts, encoder)).collect();
        let mean = |half: usize| {
            gains.iter().map(|gains| gains[half]).sum::<f64>() / gains.len().max(1) as f64
        };
        let figures = gains.iter().map(|[telling, _]| *telling).chain([mean(0), mean(1)]);
        let figures = figures.map(|figure| format!("{figure:.3}"));
        rows.push([parts.name.to_owned()].into_iter().chain(figures).collect());
    }
    let has_texts = |one: &&TextedSet<'_>| !one.texts.is_empty();
    let with_texts: Vec<_> =
        texted.iter().filter(has_texts).map(|one| one.set.name.as_str()).collect();
    let with_texts = if with_texts.is_empty() { "none".to_owned() } else { with_texts.join(", ") };
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    Ok(format!(
        "NDCG@10 of the telling half, each row with one part more; sets with retrieval texts: \
         {with_texts}:\n\n{}",
        markdown(&head, &rows)
    ))
}

impl<'a> TextedSet<'a> {
    fn read(root: &Path, set: &'a ToolSet) -> Result<Self> {
        let path = root.join(TEXTS).join(format!("{}.jsonl", set.name));
        if !path.exists() {
            return Ok(Self { set, texts: Vec::new() });
        }
        let text = std::fs::read_to_string(&path)?;
        let line = |(at, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("{}, line {}, has no texts", path.display(), at + 1))
        };
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        Ok(Self { set, texts: lines.map(line).collect::<Result<_>>()? })
    }

    /// NDCG@10 of the telling half and of the tuning half.
    fn gains(&self, parts: Parts, encoder: Option<&Embedder>) -> [f64; 2] {
        let set = self.set;
        let index = if parts.services { set.index() } else { set.index_without_services() };
        let passages = set.passages();
        if let Some(encoder) = encoder {
            let written = self.written().map(|(_, text)| text);
            encoded::read(encoder, passages.iter().map(String::as_str).chain(written));
        }
        let written = self.written().filter(|_| parts.texts);
        let texts =
            PastIndex::of(written.map(|(tool, query)| PastQuery { tool, query, weight: 1.0 }));
        let places = set.tools.iter().zip(0..).map(|(tool, at)| (tool.id.as_str(), at)).collect();
        let ranking = Ranking { parts, index, texts, places, passages, encoder };
        let asked = ask(set.asked(), |text| {
            let found = ranking.search(text);
            found.into_iter().map(|at| set.tools[at].id.clone()).collect()
        });
        let answers: Vec<Answer> = asked.into_iter().map(|asked| asked.answer).collect();
        [Half::Telling, Half::Tuning].map(|half| {
            let own: Vec<_> = set.half(half, &answers).cloned().collect();
            Figures::of(&own).ndcg_10
        })
    }

    /// Each text with its tool.
    fn written(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts
            .iter()
            .flat_map(|one| one.requests.iter().map(|request| (one.id.as_str(), request.as_str())))
    }
}

/// The ranking of a set with some parts.
struct Ranking<'a> {
    parts: Parts,
    index: Index,
    texts: PastIndex,
    places: HashMap<&'a str, usize>,
    passages: Vec<String>,
    encoder: Option<&'a Embedder>,
}

impl Ranking<'_> {
    /// The places of the tools found, best first.
    fn search(&self, request: &str) -> Vec<usize> {
        let similarities = |asked: &str, texts: &[&str]| {
            let encoder = self.encoder;
            encoder.map_or_else(Vec::new, |one| encoded::similarities(one, asked, texts))
        };
        let judge = |asked: &str, places: &[usize]| {
            let passages = places.iter().map(|at| self.passages[*at].as_str());
            similarities(asked, &passages.collect::<Vec<_>>())
        };
        let similarities = |texts: &[&str]| similarities(request, texts);
        let reader: Option<&PastJudge<'_>> = self.encoder.is_some().then_some(&similarities);
        let judge: Option<&SimilarityFn<'_>> = self.encoder.is_some().then_some(&judge);
        let mode = self.parts.mode;
        let bonuses = self.texts.bonuses(request, mode, self.places.len(), |_| true, reader);
        let placed = |(id, bonus): (&str, f32)| Some((*self.places.get(id)?, bonus));
        let bonuses: Vec<_> = bonuses.into_iter().filter_map(placed).collect();
        let aids = SearchEvidence { bonuses: &bonuses, judge, bar: None };
        let found = self.index.search_with(request, mode, |_| true, &aids, DEPTH);
        found.matches.iter().map(|one| one.place).collect()
    }
}
