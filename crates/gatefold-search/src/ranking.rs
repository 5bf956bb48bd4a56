//! The ranking: what a request asks for, best first.

use serde::{Deserialize, Serialize};

use crate::asked::Asked;
use crate::embedding::RequestVector;
use crate::fit::{BestScores, Fit};
use crate::index::Index;
use crate::names::NameMatch;
use crate::query::Query;
use crate::tuning::Tuning;

/// What tools are ranked by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// By the words they share with the request.
    Keyword,
    /// By their meaning.
    Semantic,
    /// By both.
    #[default]
    Hybrid,
}

/// One tool of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// The tool's place among those the index was built from.
    pub place: usize,
    /// Between 0 and about 1, comparable from one request to another.
    pub score: f32,
    pub naming: NameMatch,
}

impl Match {
    fn new(place: usize, score: f32) -> Self {
        Self { place, score, naming: NameMatch::Other }
    }
}

/// What a ranking found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// The tools, best first.
    pub matches: Vec<Match>,
    /// Whether any of them has enough in common with the request to be an answer to it at all.
    pub fits: bool,
    /// How likely it is that one of them is what was asked for.
    pub fit: Fit,
}

/// Evidence for tools from outside the index, by their places.
#[derive(Clone, Copy, Default)]
pub struct SearchEvidence<'a> {
    /// Added to the tools' own scores: see [`PastIndex::bonuses`](crate::PastIndex::bonuses).
    pub bonuses: &'a [(usize, f32)],
    /// A sentence encoder's judgement. It is called once, for the likeliest tools.
    pub judge: Option<&'a SimilarityFn<'a>>,
    /// The bar above which something fits by that judgement, if the encoder's cosines are on
    /// another scale than the built-in one's: it replaces the second of `Tuning::least_judged`.
    pub bar: Option<f32>,
}

/// How similar a request, in English as far as it could be translated, is to the tools at these
/// places: cosines, in the same order; none for a tool that the encoder has not read yet.
pub type SimilarityFn<'a> = dyn Fn(&str, &[usize]) -> Vec<Option<f32>> + 'a;

/// How a score by words and a score by meaning become one.
struct Fusion {
    words: f32,
    meaning: f32,
}

impl Fusion {
    /// The more a request says, the more its words tell and the less the average of their meanings:
    /// the share of meaning falls as the request's weight grows.
    fn new(mode: Mode, weight: f32, tuning: &Tuning) -> Self {
        let meaning = match mode {
            Mode::Keyword => return Self { words: 1.0, meaning: 0.0 },
            Mode::Semantic => return Self { words: 0.0, meaning: 1.0 },
            Mode::Hybrid => {
                tuning.meaning * (REQUEST_WEIGHT / weight.max(1.0)).powf(tuning.by_weight)
            }
        };
        let meaning = meaning.clamp(LEAST_MEANING, MOST_MEANING);
        Self { words: 1.0 / (1.0 + meaning), meaning: meaning / (1.0 + meaning) }
    }

    fn of(&self, words: f32, meaning: f32) -> f32 {
        self.words * words + self.meaning * meaning
    }
}

/// The weight of a common request, at which meaning has its usual share.
const REQUEST_WEIGHT: f32 = 50.0;

/// The bounds of the share of meaning.
const LEAST_MEANING: f32 = 0.05;
const MOST_MEANING: f32 = 1.0;

/// How well a tool must fit to be shown together with one that fits, as a share of that tool's
/// lowest score.
const BESIDE: f32 = 0.4;

/// How good a tool must be by words, as a share of the best, for its similarity to be computed
/// exactly.
const LIKELY: f32 = 0.5;

/// The least number of tools whose meaning is compared with every clause.
const CANDIDATES: usize = 256;

/// How many of the likeliest tools an encoder judges.
const RESCORED: usize = 100;

/// How many tools of a domain raise the others of it.
const SPEAKERS: usize = 3;

/// Each tool's scores for a request.
struct RequestScores {
    scores: Vec<f32>,
    /// Whether a visible tool fits well.
    fits: bool,
    fusion: Fusion,
    best: BestScores,
}

impl Index {
    /// The tools that a request most likely asks for, best first, at most `limit`, and whether any
    /// of them fits. A tool whose name equals the request comes first, then those whose names begin
    /// with it; ties go to the lower id. Tools that are far worse than the best are left out.
    ///
    /// Only tools that `shows` admits count, also where a domain raises its tools. The rarity of a
    /// word is counted over all tools.
    pub fn search(
        &self,
        request: &str,
        mode: Mode,
        shows: impl Fn(usize) -> bool,
        limit: usize,
    ) -> Findings {
        self.search_with(request, mode, shows, &SearchEvidence::default(), limit)
    }

    /// Like [`Index::search`], with further evidence. Tools that `shows` does not admit gain
    /// nothing from it.
    pub fn search_with(
        &self,
        request: &str,
        mode: Mode,
        shows: impl Fn(usize) -> bool,
        aids: &SearchEvidence<'_>,
        limit: usize,
    ) -> Findings {
        let knows = |term: &str| self.knows(term, &shows);
        let has_shown = |source| self.has_shown(source, &shows);
        let asked = Asked::new(request, mode != Mode::Keyword, &self.sources, &has_shown, &knows);
        let RequestScores { mut scores, mut fits, fusion, best: best_of_all } =
            self.scores(&asked, mode, &shows, limit);
        let mut judged = None;
        if let Some(judge) = aids.judge.filter(|_| mode != Mode::Keyword) {
            let judge = |places: &[usize]| judge(&asked.text, places);
            judged = self.rescore(&mut scores, &fusion, &shows, &judge, aids.bar);
            // Scores by meaning alone are on another scale, so the encoder's bar does not apply to
            // them.
            judged = judged.filter(|_| mode == Mode::Hybrid);
            fits = judged.map_or(fits, |margin| margin >= 0.0);
        }
        let mut is_past = false;
        for (place, bonus) in aids.bonuses.iter().filter(|(place, _)| shows(*place)) {
            is_past |= *bonus >= self.tuning.least_bonus;
            scores[*place] += bonus;
        }
        fits |= is_past;
        let is_likely = |place: &usize| scores[*place] > 0.0 && shows(*place);
        let likely: Vec<usize> = (0..self.tools).filter(is_likely).collect();
        self.raise_by_domain(&mut scores, &likely);
        self.prefer_named(&asked.named, &mut scores, &likely);
        let best = likely.iter().fold(0.0_f32, |best, place| best.max(scores[*place]));
        let beside = likely.into_iter().filter(|place| scores[*place] >= best * BESIDE);
        let mut found: Vec<Match> = beside.map(|place| Match::new(place, scores[place])).collect();
        self.name(request, &shows, &mut found, &scores);
        let mut matches = self.best(found, limit.max(2));
        let is_named = matches.first().is_some_and(|first| first.naming != NameMatch::Other);
        fits |= is_named;
        let fit = match mode {
            Mode::Hybrid => self.grade(&asked, &matches, &best_of_all, judged, &shows),
            Mode::Keyword | Mode::Semantic if fits => Fit::Likely,
            Mode::Keyword | Mode::Semantic => Fit::None,
        };
        let fit = if is_past || is_named { fit.max(Fit::Likely) } else { fit };
        matches.truncate(limit);
        Findings { matches, fits, fit }
    }

    /// How well the best tool fits a request, by its words and meaning.
    fn grade(
        &self,
        asked: &Asked<'_>,
        matches: &[Match],
        best: &BestScores,
        judged: Option<f32>,
        shows: &dyn Fn(usize) -> bool,
    ) -> Fit {
        let Some(first) = matches.first() else { return Fit::None };
        if first.naming == NameMatch::Exact {
            return Fit::Exact;
        }
        let second = matches.get(1).map_or(0.0, |second| second.score);
        let second = second / first.score.max(f32::EPSILON);
        self.fit(asked, first.place, best, second, judged, shows)
    }

    /// Each tool's score for the whole request and for the clause that fits it best, and whether a
    /// visible tool fits well.
    fn scores(
        &self,
        asked: &Asked<'_>,
        mode: Mode,
        shows: impl Fn(usize) -> bool,
        limit: usize,
    ) -> RequestScores {
        let Asked { text, whole, translation, vector, .. } = asked;
        let translated = |query: Query| query.with_alternatives(translation.as_ref());
        let clauses: Vec<_> = Query::clauses(text).into_iter().map(translated).collect();
        let (words, by_clause, weight) = match mode {
            Mode::Semantic => (vec![0.0; self.tools], vec![0.0; self.tools], 0.0),
            Mode::Keyword | Mode::Hybrid => self.by_words(whole, &clauses, &shows),
        };
        let meanings = match vector {
            None => Vec::new(),
            Some(vector) => {
                let visible = words.iter().enumerate().filter(|(place, _)| shows(*place));
                let best = visible.fold(0.0_f32, |best, (_, score)| best.max(*score));
                let likely = |place: usize| best > 0.0 && words[place] >= best * LIKELY;
                self.vectors.similarities(vector, likely)
            }
        };
        let fusion = Fusion::new(mode, weight, &self.tuning);
        let share = if clauses.is_empty() { 0.0 } else { self.tuning.clause };
        let (mut scores, mut something_fits) = (words, false);
        let mut best = BestScores::default();
        // Without meaning, one shared word has to be enough.
        let least_words = match mode {
            Mode::Keyword => f32::MIN_POSITIVE,
            Mode::Semantic | Mode::Hybrid => self.tuning.least_words,
        };
        for (place, (score, by_clause)) in scores.iter_mut().zip(by_clause).enumerate() {
            let meaning = meanings.get(place).map_or(0.0, |meaning| meaning.max(0.0));
            let fit = (*score / least_words).max(meaning / self.tuning.least_meaning);
            something_fits |= fit >= 1.0 && shows(place);
            if shows(place) {
                best.words = best.words.max(*score);
                best.meaning = best.meaning.max(meaning);
                best.tools += 1;
            }
            let whole = fusion.of(*score, meaning);
            *score = (whole + share * fusion.of(by_clause, 0.0)) / (1.0 + share);
        }
        if share > 0.0 && mode != Mode::Keyword {
            self.add_meaning_of_clauses(&mut scores, &clauses, &fusion, shows, limit);
        }
        RequestScores { scores, fits: something_fits, fusion, best }
    }

    /// Moves the likeliest tools up or down, as far as an encoder finds them more or less similar
    /// to the request than the rest. A tool that it has not read counts as average and stays where
    /// it is.
    ///
    /// Returns by how much the best of them is above the bar from which something fits, below zero if
    /// it is not; none if the encoder has not read most of them.
    fn rescore(
        &self,
        scores: &mut [f32],
        fusion: &Fusion,
        shows: impl Fn(usize) -> bool,
        judge: &dyn Fn(&[usize]) -> Vec<Option<f32>>,
        bar: Option<f32>,
    ) -> Option<f32> {
        let places = (0..self.tools).filter(|place| scores[*place] > 0.0 && shows(*place));
        let likeliest = places.map(|place| Match::new(place, scores[place])).collect();
        let likeliest = self.best(likeliest, RESCORED);
        let places: Vec<usize> = likeliest.iter().map(|found| found.place).collect();
        let similarities = judge(&places);
        let read = || places.iter().zip(&similarities).filter_map(|(at, one)| Some((*at, (*one)?)));
        let count = read().count();
        #[expect(clippy::cast_precision_loss, reason = "at most a hundred")]
        let mean = read().map(|(_, one)| one).sum::<f32>() / count.max(1) as f32;
        let (share, least) = self.tuning.least_judged;
        let judged = places.iter().enumerate().map(|(at, place)| {
            let similarity = similarities.get(at).copied().flatten().unwrap_or(mean);
            scores[*place] + share * similarity
        });
        let margin = judged.fold(0.0, f32::max) - bar.unwrap_or(least);
        for (place, similarity) in read() {
            scores[place] += self.tuning.encoder * fusion.of(0.0, similarity - mean);
        }
        (count > 0 && count * 2 >= places.len()).then_some(margin)
    }

    /// Finds the best matching clause of the likeliest tools, and only of those.
    fn add_meaning_of_clauses(
        &self,
        scores: &mut [f32],
        clauses: &[Query],
        fusion: &Fusion,
        shows: impl Fn(usize) -> bool,
        limit: usize,
    ) {
        let places = (0..self.tools).filter(|place| scores[*place] > 0.0 && shows(*place));
        let likeliest = places.map(|place| Match::new(place, scores[place])).collect();
        let likeliest = self.best(likeliest, CANDIDATES.max(limit));
        let clauses: Vec<_> =
            clauses.iter().map(|clause| RequestVector::of(&clause.meaning())).collect();
        let share = self.tuning.clause;
        for Match { place, .. } in likeliest {
            let similarities = clauses.iter().map(|clause| self.vectors.similarity(place, clause));
            let best = similarities.fold(0.0, f32::max);
            scores[place] += share * fusion.of(0.0, best) / (1.0 + share);
        }
    }

    /// The scores of a request by words, the best scores of its clauses, and the request's weight.
    fn by_words(
        &self,
        whole: &Query,
        clauses: &[Query],
        shows: &dyn Fn(usize) -> bool,
    ) -> (Vec<f32>, Vec<f32>, f32) {
        let mut scores = vec![0.0; self.tools];
        let weight = self.keyword_scores(whole, shows, &mut scores);
        if clauses.is_empty() || weight == 0.0 {
            let best = vec![0.0; self.tools];
            return (scores, best, weight);
        }
        let (mut best, mut own) = (vec![0.0_f32; self.tools], vec![0.0; self.tools]);
        for clause in clauses {
            // Halfway (geometrically) between its share of the clause and its share of the whole
            // request: a clause of few or common words must not outweigh one that says more.
            let share = (self.keyword_scores(clause, shows, &mut own) / weight).sqrt();
            for (best, own) in best.iter_mut().zip(&own) {
                *best = best.max(*own * share);
            }
        }
        (scores, best, weight)
    }

    /// Raises the tools of a domain by its best ones.
    fn raise_by_domain(&self, scores: &mut [f32], fits: &[usize]) {
        let share = self.tuning.domain;
        let mut best = vec![[0.0_f32; SPEAKERS]; self.domain_count];
        for place in fits {
            let best = &mut best[self.domains[*place] as usize];
            let mut score = scores[*place];
            for slot in best {
                if score > *slot {
                    std::mem::swap(slot, &mut score);
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "three")]
        let mean = |best: [f32; SPEAKERS]| best.iter().sum::<f32>() / SPEAKERS as f32;
        for place in fits {
            let best = mean(best[self.domains[*place] as usize]);
            scores[*place] = (scores[*place] + share * best) / (1.0 + share);
        }
    }

    /// Lowers the tools of other sources than those that the request names.
    fn prefer_named(&self, named: &[u32], scores: &mut [f32], fits: &[usize]) {
        let is_named = |place: usize| named.binary_search(&self.domains[place]).is_ok();
        if !fits.iter().any(|place| is_named(*place)) {
            return;
        }
        for place in fits.iter().filter(|place| !is_named(**place)) {
            scores[*place] /= 1.0 + self.tuning.named;
        }
    }

    /// Marks the tools that the request names, including those that nothing else finds.
    fn name(
        &self,
        request: &str,
        shows: impl Fn(usize) -> bool,
        found: &mut Vec<Match>,
        scores: &[f32],
    ) {
        let mut unfound = Vec::new();
        for (place, naming) in self.names.find(request).filter(|(place, _)| shows(*place)) {
            match found.binary_search_by(|known| known.place.cmp(&place)) {
                Ok(at) => found[at].naming = naming,
                Err(_) => unfound.push(Match { place, score: scores[place], naming }),
            }
        }
        found.append(&mut unfound);
    }

    fn best(&self, mut found: Vec<Match>, limit: usize) -> Vec<Match> {
        let order = |a: &Match, b: &Match| {
            b.naming
                .cmp(&a.naming)
                .then_with(|| b.score.total_cmp(&a.score))
                .then_with(|| self.order[a.place].cmp(&self.order[b.place]))
        };
        if limit == 0 {
            return Vec::new();
        }
        if found.len() > limit {
            found.select_nth_unstable_by(limit - 1, order);
            found.truncate(limit);
        }
        found.sort_unstable_by(order);
        found
    }
}
