//! What people asked for when a tool then served them: an index of its own, beside that of the
//! tools, so that learning changes neither the catalogue nor what is known of a tool itself.
//!
//! A past query speaks for its tool twice: as a text of the tool (a field, as in Robertson et al.
//! 2004), and as a neighbour of the request (Cover and Hart 1967, "Nearest neighbor pattern
//! classification"), where the nearest one of each tool counts.

use std::collections::BTreeMap;

use crate::document::{Analysis, Document};
use crate::embedding::Meaning;
use crate::index::{Entry, Index};
use crate::query::Query;
use crate::ranking::Mode;
use crate::tuning::Tuning;

/// What a tool's past queries together count, as its text, for its score.
const FIELD: f32 = 0.2;

/// What the nearest of a tool's past queries counts.
const NEIGHBOUR: f32 = 0.4;

/// What a past query that has little to do with a request reaches all the same: by words, and where
/// meaning counts.
const DOUBT: (f32, f32) = (0.1, 0.2);

/// How many tools may stand out for a request. What more of them reach says how requests are put,
/// not what is asked for, and counts for none. Without this bound, tools that were used would get
/// before tools that were not, whatever is asked.
const OUTSTANDING: usize = 3;

/// The share that meaning has beside words.
const MEANING: f32 = 0.5;

/// The highest score up to which nothing may stand out.
const CERTAIN: f32 = 0.9;

/// How soon more of the same word stops to count: a past query repeated is to score close to 1.
const SATURATION: f32 = 0.3;

/// Words are told apart as if there were so many past queries, when there are fewer.
const ASSUMED_QUERIES: f32 = 200.0;

/// At which weight a past query is half believed. One successful use weighs 1.
const HALF_BELIEVED: f32 = 0.25;

/// A request after which a tool served whoever made it.
#[derive(Debug, Clone, Copy)]
pub struct PastQuery<'a> {
    /// The tool's id.
    pub tool: &'a str,
    pub query: &'a str,
    /// How often it served, decayed by age; above zero.
    pub weight: f32,
}

/// Past queries, read for ranking.
#[derive(Debug)]
pub struct Past {
    /// Ids, sorted.
    tools: Box<[Box<str>]>,
    /// How far each tool's past queries are believed together.
    belief: Box<[f32]>,
    /// A document for each tool: all it was found by.
    fields: Index,
    /// A document for each past query.
    queries: Index,
    /// The place of its tool and how far it is believed, for each past query.
    origins: Box<[(u32, f32)]>,
}

impl Past {
    /// Reads past queries, in any order. Equal ones make equal indexes.
    pub fn of<'a>(queries: impl IntoIterator<Item = PastQuery<'a>>) -> Self {
        let mut by_tool: BTreeMap<&str, Vec<PastQuery<'_>>> = BTreeMap::new();
        for query in queries {
            by_tool.entry(query.tool).or_default().push(query);
        }
        let (mut belief, mut origins) = (Vec::new(), Vec::new());
        let (mut fields, mut neighbours) = (Vec::new(), Vec::new());
        for (place, (tool, queries)) in (0_u32..).zip(&mut by_tool) {
            queries.sort_unstable_by(|a, b| a.query.cmp(b.query));
            let texts: Vec<_> = queries.iter().map(|query| query.query).collect();
            fields.push(entry(tool, &texts));
            neighbours.extend(texts.iter().map(|text| entry(tool, &[text])));
            origins.extend(queries.iter().map(|query| (place, believed(query.weight))));
            belief.push(believed(queries.iter().map(|query| query.weight).sum()));
        }
        let tuning =
            Tuning { saturation: SATURATION, assumed_tools: ASSUMED_QUERIES, ..Tuning::default() };
        Self {
            tools: by_tool.keys().map(|tool| (*tool).into()).collect(),
            belief: belief.into(),
            fields: Index::with_tuning(&fields, &tuning),
            queries: Index::with_tuning(&neighbours, &tuning),
            origins: origins.into(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// What a request adds to the scores of tools, by their ids, which are sorted: above zero,
    /// below 1, on the scale of [`Match::score`](crate::Match::score). Tools not named get nothing.
    ///
    /// Only tools that `shows` admits count.
    pub fn bonuses(
        &self,
        request: &str,
        mode: Mode,
        shows: impl Fn(&str) -> bool,
    ) -> Vec<(&str, f32)> {
        let counts: Vec<bool> = self.tools.iter().map(|tool| shows(tool)).collect();
        let asked = Asked::new(request, mode);
        let mut fields = asked.likenesses(&self.fields);
        for ((field, belief), counts) in fields.iter_mut().zip(&self.belief).zip(&counts) {
            *field *= if *counts { *belief } else { 0.0 };
        }
        let mut nearest = vec![0.0_f32; self.tools.len()];
        let tool = |query: usize| self.origins[query].0 as usize;
        let queries = asked.likenesses(&self.queries);
        for (query, score) in queries.into_iter().enumerate().filter(|(at, _)| counts[tool(*at)]) {
            let nearest = &mut nearest[tool(query)];
            *nearest = nearest.max(score * self.origins[query].1);
        }
        let least = if mode == Mode::Keyword { DOUBT.0 } else { DOUBT.1 };
        let (field_doubt, doubt) = (doubt(&fields, least), doubt(&nearest, least));
        let bonuses = fields.into_iter().zip(nearest).map(|(field, nearest)| {
            FIELD * beyond(field, field_doubt) + NEIGHBOUR * beyond(nearest, doubt)
        });
        let named = self.tools.iter().zip(bonuses).map(|(tool, bonus)| (&**tool, bonus));
        named.filter(|(_, bonus)| *bonus > 0.0).collect()
    }
}

/// A request, to be compared with past ones.
struct Asked {
    words: Query,
    meaning: Meaning,
    mode: Mode,
}

impl Asked {
    fn new(request: &str, mode: Mode) -> Self {
        let words = Query::of(request);
        Self { meaning: Meaning::of(words.text()), words, mode }
    }

    /// How like each document of an index the request is, between 0 and 1.
    fn likenesses(&self, index: &Index) -> Vec<f32> {
        let mut scores = vec![0.0; index.tools];
        if self.mode != Mode::Semantic {
            index.keyword_scores(&self.words, &mut scores);
        }
        if self.mode == Mode::Keyword {
            return scores;
        }
        let share = if self.mode == Mode::Semantic { 1.0 } else { MEANING };
        let meanings = index.vectors.likenesses(&self.meaning, |_| true);
        for (score, meaning) in scores.iter_mut().zip(meanings) {
            *score = (1.0 - share) * *score + share * meaning.max(0.0);
        }
        scores
    }
}

/// The score up to which nothing stands out.
fn doubt(scores: &[f32], least: f32) -> f32 {
    let mut scores = scores.to_vec();
    if scores.len() <= OUTSTANDING {
        return least;
    }
    let (_, first_of_many, _) = scores.select_nth_unstable_by(OUTSTANDING, |a, b| b.total_cmp(a));
    first_of_many.clamp(least, CERTAIN)
}

/// By how much of what is left above a doubt a score is beyond it.
fn beyond(score: f32, doubt: f32) -> f32 {
    ((score - doubt) / (1.0 - doubt)).clamp(0.0, 1.0)
}

fn entry<'a>(tool: &'a str, texts: &[&str]) -> Entry<'a> {
    let document = Document { description: texts, ..Document::default() };
    Entry { id: tool, domain: "", analysis: Analysis::of(&document) }
}

/// How far something of this weight is believed, between 0 and 1.
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

    fn past() -> Past {
        Past::of(LEARNT.map(|(tool, query, weight)| PastQuery { tool, query, weight }))
    }

    #[track_caller]
    fn check(request: &str, expected: &[&str]) {
        for mode in [Mode::Keyword, Mode::Hybrid] {
            let past = past();
            let bonuses = past.bonuses(request, mode, |_| true);
            let tools: Vec<_> = bonuses.iter().map(|(tool, _)| *tool).collect();
            assert_eq!(tools, expected, "{request}, {mode:?}");
            assert!(bonuses.iter().all(|(_, bonus)| *bonus > 0.0 && *bonus < 1.0));
        }
    }

    #[test]
    fn a_request_like_a_past_one_speaks_for_its_tool() {
        check("the printer is broken", &["tickets__create"]);
        check("write the landlord", &["mail__send"]);
        check("delete everything", &[]);
        check("", &[]);
    }

    #[test]
    fn what_was_hardly_ever_of_use_is_not_believed() {
        check("do I need an umbrella", &[]);
    }

    #[test]
    fn what_many_tools_were_asked_for_by_tells_none_of_them() {
        let tools = ["a", "b", "c", "d", "e"];
        let same = |tool| PastQuery { tool, query: "help me with my work", weight: 1.0 };
        assert_eq!(
            Past::of(tools.map(same)).bonuses("help me with my work", Mode::Keyword, |_| true),
            []
        );
        let few = Past::of(["a", "b"].map(same));
        assert_eq!(few.bonuses("help me with my work", Mode::Keyword, |_| true).len(), 2);
    }

    #[test]
    fn what_is_not_shown_gets_nothing_and_takes_nothing() {
        let tools = ["a", "b", "c", "d", "e"];
        let past = Past::of(tools.map(|tool| PastQuery { tool, query: "dry socks", weight: 1.0 }));
        for mode in [Mode::Keyword, Mode::Hybrid] {
            let bonuses = past.bonuses("dry socks", mode, |tool| tool < "c");
            let tools: Vec<_> = bonuses.iter().map(|(tool, _)| *tool).collect();
            assert_eq!(tools, ["a", "b"], "{mode:?}");
        }
    }

    #[test]
    fn the_order_of_learning_does_not_matter() {
        let mut turned = LEARNT;
        turned.reverse();
        let turned = turned.map(|(tool, query, weight)| PastQuery { tool, query, weight });
        let (one, other) = (past(), Past::of(turned));
        let request = "tell my landlord that the printer is broken";
        assert_eq!(
            one.bonuses(request, Mode::Hybrid, |_| true),
            other.bonuses(request, Mode::Hybrid, |_| true)
        );
    }

    #[test]
    fn nothing_learnt_adds_nothing() {
        assert!(Past::of([]).is_empty());
        assert_eq!(Past::of([]).bonuses("anything", Mode::Hybrid, |_| true), []);
    }
}
