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

/// What a tool's past queries count: together, as its text, and the nearest of them.
const FIELD: f32 = 0.25;
const NEIGHBOUR: f32 = 0.2;

/// By how many deviations a tool's past queries must be more like a request than those of other
/// tools are, to speak for it. How requests are put makes all of them somewhat alike; without this
/// bar, tools that were used would get before tools that were not, whatever is asked.
const OUTSTANDING: f32 = 2.0;

/// The same, of both likenesses, where an encoder has read most of them. It finds what is alike more
/// surely, so that the bar may be higher and tools without past queries lose less.
const OUTSTANDING_READ: f32 = 2.5;

/// How many tools, those most like it, a request may mean: the bar is drawn from the others.
const MEANT: usize = 3;

/// What most past queries are taken to be like before there are many: the mean, the deviation, and
/// as how many tools that counts.
const USUAL: (f32, f32, f32) = (0.1, 0.1, 10.0);

/// How far below the bar a tool falls at most for which nothing speaks, if every tool has past
/// queries. Where few have any, that there are some is no reason to doubt a tool.
const DOUBT: f32 = 0.1;

/// The share that meaning has beside words.
const MEANING: f32 = 0.5;

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

/// How like a request texts are, as a sentence encoder has it: cosines, in their order; none for a
/// text that it has not read yet.
pub type PastJudge<'a> = dyn Fn(&[&str]) -> Vec<Option<f32>> + 'a;

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
    /// Its text.
    texts: Box<[Box<str>]>,
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
        let (mut belief, mut origins, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let (mut fields, mut neighbours) = (Vec::new(), Vec::new());
        for (place, (tool, queries)) in (0_u32..).zip(&mut by_tool) {
            queries.sort_unstable_by(|a, b| a.query.cmp(b.query));
            let texts: Vec<_> = queries.iter().map(|query| query.query).collect();
            fields.push(entry(tool, &texts));
            neighbours.extend(texts.iter().map(|text| entry(tool, &[text])));
            origins.extend(queries.iter().map(|query| (place, believed(query.weight))));
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
        }
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// What a request adds to the scores of tools, by their ids, which are sorted: a
    /// little below zero to 1, on the scale of [`Match::score`](crate::Match::score). Tools not
    /// named get nothing.
    ///
    /// Only tools that `shows` admits count; there are `tools` of them, with past queries or not. The
    /// `reader` is asked at most once, for all past queries of those.
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
        let mut fields = asked.likenesses(&self.fields, &|tool| counts[tool]);
        for (field, belief) in fields.iter_mut().zip(&self.belief) {
            *field *= belief;
        }
        let mut nearest = vec![0.0_f32; self.tools.len()];
        let of_counted = |query: usize| counts[self.origins[query].0 as usize];
        let mut likenesses = asked.likenesses(&self.queries, &of_counted);
        let reader = reader.filter(|_| mode != Mode::Keyword);
        let is_read =
            reader.is_some_and(|reader| self.read_again(&mut likenesses, &counts, reader));
        for (likeness, (tool, belief)) in likenesses.iter().zip(&self.origins) {
            let nearest = &mut nearest[*tool as usize];
            *nearest = nearest.max(likeness * belief);
        }
        let doubt = DOUBT * share(counts.iter().filter(|counts| **counts).count(), tools);
        let outstanding = if is_read { OUTSTANDING_READ } else { OUTSTANDING };
        let bar = |likenesses| bar(likenesses, &counts, outstanding);
        let (field_bar, bar) = (bar(&fields), bar(&nearest));
        let bonus = |at: usize| {
            let least = -doubt * self.belief[at];
            FIELD * (fields[at] - field_bar).max(least) + NEIGHBOUR * (nearest[at] - bar).max(least)
        };
        let counted = (0..self.tools.len()).filter(|at| counts[*at]);
        counted.map(|at| (&*self.tools[at], bonus(at))).collect()
    }

    /// Puts an encoder's judgement in the place of our own, of the past queries that it knows, if these
    /// are most: the two are on scales of their own. Whether they are.
    fn read_again(&self, likenesses: &mut [f32], counts: &[bool], reader: &PastJudge<'_>) -> bool {
        let counted = |at: &usize| counts[self.origins[*at].0 as usize];
        let places: Vec<usize> = (0..self.texts.len()).filter(counted).collect();
        let texts: Vec<&str> = places.iter().map(|at| &*self.texts[*at]).collect();
        let cosines = reader(&texts);
        let known = cosines.iter().flatten().count();
        if known == 0 || known * 2 < texts.len() {
            return false;
        }
        for (at, cosine) in places.into_iter().zip(&cosines) {
            likenesses[at] = cosine.map_or(likenesses[at], |cosine| cosine.max(0.0));
        }
        true
    }
}

/// A request, to be compared with past ones.
struct ComparedRequest {
    words: Query,
    meaning: Meaning,
    mode: Mode,
}

impl ComparedRequest {
    fn new(request: &str, mode: Mode) -> Self {
        let words = Query::of(request);
        Self { meaning: Meaning::of(words.text()), words, mode }
    }

    /// How like each document of an index the request is, between 0 and 1. Only the words of those that
    /// count complete a word of the request.
    fn likenesses(&self, index: &Index, counts: &dyn Fn(usize) -> bool) -> Vec<f32> {
        let mut scores = vec![0.0; index.tools];
        if self.mode != Mode::Semantic {
            index.keyword_scores(&self.words, counts, &mut scores);
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

/// What the likenesses of tools that count must exceed to stand out: the mean of all but the
/// likeliest and so many deviations more, both drawn towards what is usual as long as there are few.
#[expect(clippy::cast_precision_loss, reason = "far fewer tools than that")]
fn bar(likenesses: &[f32], counts: &[bool], outstanding: f32) -> f32 {
    let counted = likenesses.iter().zip(counts).filter(|(_, counts)| **counts);
    let mut counted: Vec<f32> = counted.map(|(likeness, _)| *likeness).collect();
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

    /// How many tools are shown.
    const SHOWN: usize = 10;

    /// The tools that something speaks for.
    fn raised<'a>(bonuses: &[(&'a str, f32)]) -> Vec<&'a str> {
        bonuses.iter().filter(|(_, bonus)| *bonus > 0.0).map(|(tool, _)| *tool).collect()
    }

    fn past() -> Past {
        Past::of(LEARNT.map(|(tool, query, weight)| PastQuery { tool, query, weight }))
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
        let same = |tool| PastQuery { tool, query: "help me with my work", weight: 1.0 };
        let ids: Vec<_> = (0..40).map(|number| format!("tool{number}")).collect();
        for (tools, expected) in [(&ids[..], 0), (&ids[..2], 2)] {
            let past = Past::of(tools.iter().map(|id| same(id)));
            let bonuses = past.bonuses("help me with my work", Mode::Keyword, 40, |_| true, None);
            assert_eq!(raised(&bonuses).len(), expected);
        }
    }

    #[test]
    fn what_is_not_shown_gets_nothing_and_takes_nothing() {
        let tools: Vec<_> = (0..40).map(|number| format!("tool{number}")).collect();
        let query = "dry socks";
        let past = Past::of(tools.iter().map(|tool| PastQuery { tool, query, weight: 1.0 }));
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
        let (one, other) = (past(), Past::of(turned));
        let request = "tell my landlord that the printer is broken";
        assert_eq!(
            one.bonuses(request, Mode::Hybrid, SHOWN, |_| true, None),
            other.bonuses(request, Mode::Hybrid, SHOWN, |_| true, None)
        );
    }

    #[test]
    fn nothing_learnt_adds_nothing() {
        assert!(Past::of([]).is_empty());
        assert_eq!(Past::of([]).bonuses("anything", Mode::Hybrid, SHOWN, |_| true, None), []);
    }
}
