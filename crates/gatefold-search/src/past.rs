//! What people asked for before they used a tool. It is a separate index, so that learning changes
//! neither the catalogue nor what is known of a tool itself.
//!
//! A past query counts for its tool twice: as a text of the tool (a field, as in Robertson et al.
//! 2004), and as a neighbour of the request (Cover and Hart 1967, "Nearest neighbor pattern
//! classification"), where the nearest query of each tool counts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::document::{Analysis, Document};
use crate::embedding::RequestVector;
use crate::index::{Entry, Index};
use crate::query::Query;
use crate::ranking::Mode;
use crate::tuning::Tuning;

/// The share of a tool's past queries read together as one text, relative to the nearest of them.
const FIELD: f32 = 0.25;
const NEIGHBOUR: f32 = 0.2;

/// By how many deviations a tool's past queries must be more similar to a request than those of
/// other tools before they count. The way people phrase requests makes all of them somewhat
/// similar; without this bar, tools that were used would overtake tools that were not, whatever is
/// asked.
const OUTSTANDING: f32 = 2.0;

/// The same bar for both similarities, where an encoder has read most past queries. It recognises
/// similar requests more reliably, so the bar can be higher and tools without past queries lose
/// less.
const OUTSTANDING_READ: f32 = 2.5;

/// How many tools, the most similar ones, a request may be about: the bar is computed from the
/// others.
const MEANT: usize = 3;

/// The similarity to assume of most past queries while there are few: the mean, the deviation, and
/// how many tools this prior counts as.
const USUAL: (f32, f32, f32) = (0.1, 0.1, 10.0);

/// The most a tool loses when no past query supports it, if every tool has past queries. Where few
/// tools have any, their absence is no reason to doubt a tool.
const DOUBT: f32 = 0.1;

/// The share of meaning, relative to words.
const MEANING: f32 = 0.5;

/// How soon repetitions of a word stop counting: a past query repeated should score close to 1.
const SATURATION: f32 = 0.3;

/// The number of past queries to assume when there are fewer, so that the rarity of words is not
/// overestimated.
const ASSUMED_QUERIES: f32 = 200.0;

/// The weight at which a past query is half believed. One successful use weighs 1.
const HALF_BELIEVED: f32 = 0.25;

/// How many parts are kept: so many combinations of rights use what one tenant has learnt.
const PARTS: usize = 4;

/// A request after which its sender used a tool.
#[derive(Debug, Clone, Copy)]
pub struct PastQuery<'a> {
    /// The tool's id.
    pub tool: &'a str,
    pub query: &'a str,
    /// How often the tool was used, decayed by age; above zero.
    pub weight: f32,
}

/// How similar a request is to each of these texts, as a sentence encoder sees it: cosines, in
/// their order; none for a text that it has not read yet.
pub type PastJudge<'a> = dyn Fn(&[&str]) -> Vec<Option<f32>> + 'a;

/// Past queries, read for ranking.
#[derive(Debug)]
pub struct PastIndex {
    /// Ids, sorted.
    tools: Box<[Box<str>]>,
    /// How far each tool's past queries together are believed.
    belief: Box<[f32]>,
    /// One document for each tool: all requests it was used for.
    fields: Index,
    /// One document for each past query.
    queries: Index,
    /// Its text.
    texts: Box<[Box<str>]>,
    /// The place of its tool and how far it is believed, for each past query.
    origins: Box<[(u32, f32)]>,
    /// How often its tool was used, for each past query.
    weights: Box<[f32]>,
    /// The latest parts for those who do not see all tools, with the tools that each is about; at
    /// most [`PARTS`].
    parts: Mutex<Vec<PastPart>>,
}

/// Which tools a part is about, and the part.
type PastPart = (Box<[bool]>, Arc<PastIndex>);

impl PastIndex {
    /// Reads past queries, in any order. The same queries make the same index.
    pub fn of<'a>(queries: impl IntoIterator<Item = PastQuery<'a>>) -> Self {
        let mut by_tool: BTreeMap<&str, Vec<PastQuery<'_>>> = BTreeMap::new();
        for query in queries {
            by_tool.entry(query.tool).or_default().push(query);
        }
        let (mut belief, mut origins, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let mut weights = Vec::new();
        let (mut fields, mut neighbours) = (Vec::new(), Vec::new());
        for (place, (tool, queries)) in (0_u32..).zip(&mut by_tool) {
            queries.sort_unstable_by(|a, b| a.query.cmp(b.query));
            let texts: Vec<_> = queries.iter().map(|query| query.query).collect();
            fields.push(entry(tool, &texts));
            neighbours.extend(texts.iter().map(|text| entry(tool, &[text])));
            origins.extend(queries.iter().map(|query| (place, believed(query.weight))));
            weights.extend(queries.iter().map(|query| query.weight));
            belief.push(believed(queries.iter().map(|query| query.weight).sum()));
            all.extend(texts.into_iter().map(Box::from));
        }
        let tuning =
            Tuning { saturation: SATURATION, assumed_tools: ASSUMED_QUERIES, ..Tuning::default() };
        Self {
            tools: by_tool.keys().map(|tool| (*tool).into()).collect(),
            belief: belief.into(),
            fields: Index::with_tuning(&fields, &tuning),
            queries: Index::with_tuning(&neighbours, &tuning),
            texts: all.into(),
            origins: origins.into(),
            weights: weights.into(),
            parts: Mutex::default(),
        }
    }

    /// The past queries of the tools that somebody sees, as if nobody had used any other; `None` if
    /// those are all. How rare a word is, and which request stands out, tells of nothing else then.
    pub fn part(&self, sees: impl Fn(&str) -> bool) -> Option<Arc<Self>> {
        let visible: Box<[bool]> = self.tools.iter().map(|tool| sees(tool)).collect();
        if visible.iter().all(|is_visible| *is_visible) {
            return None;
        }
        let kept = || self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            kept().iter().find(|(tools, _)| *tools == visible).map(|(_, part)| part.clone());
        if known.is_some() {
            return known;
        }
        let queries = self.texts.iter().zip(&self.origins).zip(&self.weights);
        let queries = queries.map(|((query, (tool, _)), weight)| (query, *tool as usize, *weight));
        let part =
            Self::of(
                queries.filter(|(_, tool, _)| visible[*tool]).map(|(query, tool, weight)| {
                    PastQuery { tool: &self.tools[tool], query, weight }
                }),
            );
        let part = Arc::new(part);
        let mut kept = kept();
        kept.truncate(PARTS - 1);
        kept.insert(0, (visible, part.clone()));
        Some(part)
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// What a request adds to the scores of tools, by their ids, which are sorted: from a little
    /// below zero to 1, on the scale of [`Match::score`](crate::Match::score). Tools that are
    /// missing get nothing.
    ///
    /// Only tools that `shows` admits count; there are `tools` of them, with past queries or not.
    /// The `reader` is called at most once, for all past queries of those tools.
    pub fn bonuses(
        &self,
        request: &str,
        mode: Mode,
        tools: usize,
        shows: impl Fn(&str) -> bool,
        reader: Option<&PastJudge<'_>>,
    ) -> Vec<(&str, f32)> {
        let counts: Vec<bool> = self.tools.iter().map(|tool| shows(tool)).collect();
        let asked = ComparedRequest::new(request, mode);
        let mut fields = asked.similarities(&self.fields, &|tool| counts[tool]);
        for (field, belief) in fields.iter_mut().zip(&self.belief) {
            *field *= belief;
        }
        let mut nearest = vec![0.0_f32; self.tools.len()];
        let of_counted = |query: usize| counts[self.origins[query].0 as usize];
        let mut similarities = asked.similarities(&self.queries, &of_counted);
        let reader = reader.filter(|_| mode != Mode::Keyword);
        let is_read =
            reader.is_some_and(|reader| self.read_again(&mut similarities, &counts, reader));
        for (similarity, (tool, belief)) in similarities.iter().zip(&self.origins) {
            let nearest = &mut nearest[*tool as usize];
            *nearest = nearest.max(similarity * belief);
        }
        let doubt = DOUBT * share(counts.iter().filter(|counts| **counts).count(), tools);
        let outstanding = if is_read { OUTSTANDING_READ } else { OUTSTANDING };
        let bar = |similarities| bar(similarities, &counts, outstanding);
        let (field_bar, bar) = (bar(&fields), bar(&nearest));
        let bonus = |at: usize| {
            let least = -doubt * self.belief[at];
            FIELD * (fields[at] - field_bar).max(least) + NEIGHBOUR * (nearest[at] - bar).max(least)
        };
        let counted = (0..self.tools.len()).filter(|at| counts[*at]);
        counted.map(|at| (&*self.tools[at], bonus(at))).collect()
    }

    /// Replaces our own similarities by an encoder's for the past queries that it has read, if it
    /// has read most of them: mixing the two would mix two scales. Returns whether it did.
    fn read_again(
        &self,
        similarities: &mut [f32],
        counts: &[bool],
        reader: &PastJudge<'_>,
    ) -> bool {
        let counted = |at: &usize| counts[self.origins[*at].0 as usize];
        let places: Vec<usize> = (0..self.texts.len()).filter(counted).collect();
        let texts: Vec<&str> = places.iter().map(|at| &*self.texts[*at]).collect();
        let cosines = reader(&texts);
        let known = cosines.iter().flatten().count();
        if known == 0 || known * 2 < texts.len() {
            return false;
        }
        for (at, cosine) in places.into_iter().zip(&cosines) {
            similarities[at] = cosine.map_or(similarities[at], |cosine| cosine.max(0.0));
        }
        true
    }
}

/// A request, to be compared with past ones.
struct ComparedRequest {
    words: Query,
    meaning: RequestVector,
    mode: Mode,
}

impl ComparedRequest {
    fn new(request: &str, mode: Mode) -> Self {
        let words = Query::of(request);
        Self { meaning: RequestVector::of(&words.meaning()), words, mode }
    }

    /// How similar the request is to each document of an index, between 0 and 1. Only words of
    /// documents that count complete a word of the request.
    fn similarities(&self, index: &Index, counts: &dyn Fn(usize) -> bool) -> Vec<f32> {
        let mut scores = vec![0.0; index.tools];
        if self.mode != Mode::Semantic {
            index.keyword_scores(&self.words, counts, &mut scores);
        }
        if self.mode == Mode::Keyword {
            return scores;
        }
        let share = if self.mode == Mode::Semantic { 1.0 } else { MEANING };
        let meanings = index.vectors.similarities(&self.meaning, |_| true);
        for (score, meaning) in scores.iter_mut().zip(meanings) {
            *score = (1.0 - share) * *score + share * meaning.max(0.0);
        }
        scores
    }
}

/// What a counting tool's similarity must exceed to stand out: the mean of all but the most
/// similar, plus `outstanding` deviations. Both are drawn towards the prior while there are few.
#[expect(clippy::cast_precision_loss, reason = "far fewer tools than that")]
fn bar(similarities: &[f32], counts: &[bool], outstanding: f32) -> f32 {
    let counted = similarities.iter().zip(counts).filter(|(_, counts)| **counts);
    let mut counted: Vec<f32> = counted.map(|(similarity, _)| *similarity).collect();
    let others = if counted.len() > MEANT {
        counted.select_nth_unstable_by(MEANT - 1, |a, b| b.total_cmp(a)).2
    } else {
        &mut []
    };
    let (mean, deviation, tools) = USUAL;
    let count = others.len() as f32 + tools;
    let mean = (others.iter().sum::<f32>() + tools * mean) / count;
    let squares: f32 = others.iter().map(|one| (one - mean).powi(2)).sum();
    mean + outstanding * ((squares + tools * deviation.powi(2)) / count).sqrt()
}

#[expect(clippy::cast_precision_loss, reason = "far fewer tools than that")]
fn share(part: usize, whole: usize) -> f32 {
    (part as f32 / whole.max(1) as f32).min(1.0)
}

fn entry<'a>(tool: &'a str, texts: &[&str]) -> Entry<'a> {
    let document = Document { description: texts, ..Document::default() };
    Entry { id: tool, domain: "", analysis: Analysis::of(&document), service: None }
}

/// How far a weight is believed, between 0 and 1.
fn believed(weight: f32) -> f32 {
    let weight = weight.max(0.0);
    weight / (weight + HALF_BELIEVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEARNT: [(&str, &str, f32); 5] = [
        ("mail__send", "tell Ann about the party", 1.0),
        ("mail__send", "write to my landlord", 1.0),
        ("tickets__create", "the printer is broken", 1.0),
        ("tickets__list", "what is still open", 1.0),
        ("weather__forecast", "do I need an umbrella", 0.01),
    ];

    /// How many tools are shown.
    const SHOWN: usize = 10;

    /// The tools that past queries support.
    fn raised<'a>(bonuses: &[(&'a str, f32)]) -> Vec<&'a str> {
        bonuses.iter().filter(|(_, bonus)| *bonus > 0.0).map(|(tool, _)| *tool).collect()
    }

    fn past() -> PastIndex {
        PastIndex::of(LEARNT.map(|(tool, query, weight)| PastQuery { tool, query, weight }))
    }

    #[track_caller]
    fn check(request: &str, expected: &[&str]) {
        for mode in [Mode::Keyword, Mode::Hybrid] {
            let past = past();
            let bonuses = past.bonuses(request, mode, SHOWN, |_| true, None);
            assert_eq!(raised(&bonuses), expected, "{request}, {mode:?}");
            assert!(bonuses.iter().all(|(_, bonus)| *bonus >= -DOUBT && *bonus < 1.0));
        }
    }

    #[test]
    fn a_request_like_a_past_one_supports_its_tool() {
        check("the printer is broken", &["tickets__create"]);
        check("write the landlord", &["mail__send"]);
        check("delete everything", &[]);
        check("", &[]);
    }

    #[test]
    fn what_was_hardly_ever_used_is_not_believed() {
        check("do I need an umbrella", &[]);
    }

    #[test]
    fn what_many_tools_were_asked_for_by_tells_none_of_them() {
        let same = |tool| PastQuery { tool, query: "help me with my work", weight: 1.0 };
        let ids: Vec<_> = (0..40).map(|number| format!("tool{number}")).collect();
        for (tools, expected) in [(&ids[..], 0), (&ids[..2], 2)] {
            let past = PastIndex::of(tools.iter().map(|id| same(id)));
            let bonuses = past.bonuses("help me with my work", Mode::Keyword, 40, |_| true, None);
            assert_eq!(raised(&bonuses).len(), expected);
        }
    }

    #[test]
    fn what_is_not_shown_gets_nothing_and_takes_nothing() {
        let tools: Vec<_> = (0..40).map(|number| format!("tool{number}")).collect();
        let query = "dry socks";
        let past = PastIndex::of(tools.iter().map(|tool| PastQuery { tool, query, weight: 1.0 }));
        for mode in [Mode::Keyword, Mode::Hybrid] {
            let bonuses =
                past.bonuses(query, mode, 2, |tool| matches!(tool, "tool3" | "tool7"), None);
            assert_eq!(raised(&bonuses), ["tool3", "tool7"], "{mode:?}");
            assert_eq!(bonuses.len(), 2);
        }
    }

    #[test]
    fn a_tool_that_nothing_speaks_for_loses_little_and_less_where_few_have_past_queries() {
        let past = past();
        let lowest = |shown| {
            let bonuses = past.bonuses("delete everything", Mode::Hybrid, shown, |_| true, None);
            bonuses.iter().fold(0.0_f32, |lowest, (_, bonus)| lowest.min(*bonus))
        };
        assert!(lowest(4) < lowest(400) && lowest(400) < 0.0);
        assert!(lowest(4) >= -DOUBT * (FIELD + NEIGHBOUR));
    }

    #[test]
    fn an_encoder_knows_past_queries_that_share_no_word_and_reads_only_those_shown() {
        let reader = |texts: &[&str]| {
            assert!(!texts.contains(&"what is still open"), "{texts:?}");
            let like = |text: &&str| match *text {
                "the printer is broken" => Some(0.9),
                "write to my landlord" => None,
                _ => Some(0.0),
            };
            texts.iter().map(like).collect()
        };
        let past = past();
        let shows = |tool: &str| tool != "tickets__list";
        let asked = |mode| {
            let bonuses = past.bonuses("toner smears", mode, SHOWN, shows, Some(&reader));
            raised(&bonuses).join(" ")
        };
        assert_eq!(asked(Mode::Hybrid), "tickets__create");
        assert_eq!(asked(Mode::Keyword), "");
        let of_one = |texts: &[&str]| {
            texts.iter().map(|text| text.contains("printer").then_some(0.9_f32)).collect()
        };
        for reader in [None, Some(&of_one as &PastJudge<'_>)] {
            let bonuses = past.bonuses("toner smears", Mode::Hybrid, SHOWN, shows, reader);
            assert_eq!(raised(&bonuses), [""; 0], "it has read too few of them");
        }
    }

    #[test]
    fn the_order_of_learning_does_not_matter() {
        let mut turned = LEARNT;
        turned.reverse();
        let turned = turned.map(|(tool, query, weight)| PastQuery { tool, query, weight });
        let (one, other) = (past(), PastIndex::of(turned));
        let request = "tell my landlord that the printer is broken";
        assert_eq!(
            one.bonuses(request, Mode::Hybrid, SHOWN, |_| true, None),
            other.bonuses(request, Mode::Hybrid, SHOWN, |_| true, None)
        );
    }

    #[test]
    fn what_led_to_unseen_tools_counts_for_nothing() {
        let of = |queries: &[(&'static str, &'static str, f32)]| {
            let queries = queries.iter().copied();
            PastIndex::of(queries.map(|(tool, query, weight)| PastQuery { tool, query, weight }))
        };
        let sees = |tool: &str| !tool.starts_with("tickets");
        let visible: Vec<_> = LEARNT.into_iter().filter(|(tool, ..)| sees(tool)).collect();
        let (all, only) = (past(), of(&visible));
        let part = all.part(sees).unwrap();
        assert!(all.part(|_| true).is_none());
        assert!(Arc::ptr_eq(&part, &all.part(sees).unwrap()), "it is kept");
        for request in ["tell the printer about the party", "what is still open", "landlord"] {
            let bonuses = |past: &PastIndex| {
                format!("{:?}", past.bonuses(request, Mode::Hybrid, SHOWN, |_| true, None))
            };
            assert_eq!(bonuses(&part), bonuses(&only), "{request}");
        }
    }

    #[test]
    fn nothing_learnt_adds_nothing() {
        assert!(PastIndex::of([]).is_empty());
        assert_eq!(PastIndex::of([]).bonuses("anything", Mode::Hybrid, SHOWN, |_| true, None), []);
    }
}
