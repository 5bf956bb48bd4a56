//! The ranking: what a request asks for, best first.

use crate::embedding::Meaning;
use crate::index::Index;
use crate::names::Naming;
use crate::query::Query;
use crate::tuning::Tuning;

/// By what tools are ranked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    /// The tool's place among those the index was built of.
    pub place: usize,
    /// Between 0 and about 1, comparable from one request to another.
    pub score: f32,
    pub naming: Naming,
}

impl Match {
    fn new(place: usize, score: f32) -> Self {
        Self { place, score, naming: Naming::Other }
    }
}

/// What a ranking found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// The tools, best first.
    pub matches: Vec<Match>,
    /// Whether any of them fits; else they are merely the likeliest.
    pub fits: bool,
}

/// What else than the index speaks for tools, by their places.
#[derive(Clone, Copy, Default)]
pub struct Aids<'a> {
    /// Added to the tools' own scores: see [`Past::bonuses`](crate::Past::bonuses).
    pub bonuses: &'a [(usize, f32)],
    /// A sentence encoder's judgement. It is asked once, for the likeliest tools.
    pub judge: Option<&'a Judge<'a>>,
}

/// How like a request the tools at these places are: cosines, in the same order; none for a tool
/// that is not known yet.
pub type Judge<'a> = dyn Fn(&[usize]) -> Vec<Option<f32>> + 'a;

/// How a score by words and one by meaning become one.
struct Fusion {
    words: f32,
    meaning: f32,
}

impl Fusion {
    /// The more a request says, the more its words tell and the less the mean of what they mean:
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

/// The bounds of what meaning counts beside words.
const LEAST_MEANING: f32 = 0.05;
const MOST_MEANING: f32 = 1.0;

/// How well a tool must fit beside one that fits, compared with that one's least.
const BESIDE: f32 = 0.4;

/// How good a tool must be by words, compared with the best, for its likeness to be exact.
const LIKELY: f32 = 0.5;

/// Of how many tools at least the meaning is compared with every clause.
const CANDIDATES: usize = 256;

/// How many tools, the likeliest, an encoder judges.
const RESCORED: usize = 100;

/// How many tools of a domain speak for it.
const SPEAKERS: usize = 3;

/// What each tool gets for a request.
struct RequestScores {
    scores: Vec<f32>,
    /// Whether a tool that is shown fits well.
    fits: bool,
    fusion: Fusion,
}

impl Index {
    /// The tools that a request is likeliest to ask for, best first, at most `limit`, and whether any
    /// of them fits. A tool whose name the request is comes first, then those whose names begin with
    /// it; of equals the one with the lower id. What is far worse than the best is left out.
    ///
    /// Only tools that `shows` admits count, also where a tool's domain raises it. How rare a word
    /// is, is counted over all tools.
    pub fn search(
        &self,
        request: &str,
        mode: Mode,
        shows: impl Fn(usize) -> bool,
        limit: usize,
    ) -> Findings {
        self.search_with(request, mode, shows, &Aids::default(), limit)
    }

    /// As [`Index::search`], with what else speaks for tools. One that `shows` does not admit gets
    /// nothing by it.
    pub fn search_with(
        &self,
        request: &str,
        mode: Mode,
        shows: impl Fn(usize) -> bool,
        aids: &Aids<'_>,
        limit: usize,
    ) -> Findings {
        let RequestScores { mut scores, mut fits, fusion } =
            self.scores(request, mode, &shows, limit);
        if let Some(judge) = aids.judge.filter(|_| mode != Mode::Keyword) {
            let judged = self.rescore(&mut scores, &fusion, &shows, judge);
            // Scores by meaning alone are on another scale.
            fits = judged.filter(|_| mode == Mode::Hybrid).unwrap_or(fits);
        }
        for (place, bonus) in aids.bonuses.iter().filter(|(place, _)| shows(*place)) {
            fits |= *bonus >= self.tuning.least_bonus;
            scores[*place] += bonus;
        }
        let is_likely = |place: &usize| scores[*place] > 0.0 && shows(*place);
        let likely: Vec<usize> = (0..self.tools).filter(is_likely).collect();
        self.raise_by_domain(&mut scores, &likely);
        let best = likely.iter().fold(0.0_f32, |best, place| best.max(scores[*place]));
        let beside = likely.into_iter().filter(|place| scores[*place] >= best * BESIDE);
        let mut found: Vec<Match> = beside.map(|place| Match::new(place, scores[place])).collect();
        self.name(request, &shows, &mut found, &scores);
        let matches = self.best(found, limit);
        let is_named = matches.first().is_some_and(|first| first.naming != Naming::Other);
        Findings { fits: fits || is_named, matches }
    }

    /// What each tool gets for a request: for the whole, and for the clause that fits it best; and
    /// whether a tool that is shown fits well.
    fn scores(
        &self,
        request: &str,
        mode: Mode,
        shows: impl Fn(usize) -> bool,
        limit: usize,
    ) -> RequestScores {
        let (whole, clauses) = (Query::of(request), Query::clauses(request));
        let (words, by_clause, weight) = match mode {
            Mode::Semantic => (vec![0.0; self.tools], vec![0.0; self.tools], 0.0),
            Mode::Keyword | Mode::Hybrid => self.by_words(&whole, &clauses, &shows),
        };
        let meanings = match mode {
            Mode::Keyword => Vec::new(),
            Mode::Semantic | Mode::Hybrid => {
                let visible = words.iter().enumerate().filter(|(place, _)| shows(*place));
                let best = visible.fold(0.0_f32, |best, (_, score)| best.max(*score));
                let likely = |place: usize| best > 0.0 && words[place] >= best * LIKELY;
                self.vectors.likenesses(&Meaning::of(whole.text()), likely)
            }
        };
        let fusion = Fusion::new(mode, weight, &self.tuning);
        let share = if clauses.is_empty() { 0.0 } else { self.tuning.clause };
        let (mut scores, mut something_fits) = (words, false);
        // Without meaning one shared word must do.
        let least_words = match mode {
            Mode::Keyword => f32::MIN_POSITIVE,
            Mode::Semantic | Mode::Hybrid => self.tuning.least_words,
        };
        for (place, (score, by_clause)) in scores.iter_mut().zip(by_clause).enumerate() {
            let meaning = meanings.get(place).map_or(0.0, |meaning| meaning.max(0.0));
            let fit = (*score / least_words).max(meaning / self.tuning.least_meaning);
            something_fits |= fit >= 1.0 && shows(place);
            let whole = fusion.of(*score, meaning);
            *score = (whole + share * fusion.of(by_clause, 0.0)) / (1.0 + share);
        }
        if share > 0.0 && mode != Mode::Keyword {
            self.add_meaning_of_clauses(&mut scores, &clauses, &fusion, shows, limit);
        }
        RequestScores { scores, fits: something_fits, fusion }
    }

    /// Moves the likeliest tools up or down as an encoder finds them more like the request than the
    /// rest of them, or less. A tool that it has not read stays where it is: among equals.
    ///
    /// Whether one of them fits well, unless it has not read most of them.
    fn rescore(
        &self,
        scores: &mut [f32],
        fusion: &Fusion,
        shows: impl Fn(usize) -> bool,
        judge: &Judge<'_>,
    ) -> Option<bool> {
        let places = (0..self.tools).filter(|place| scores[*place] > 0.0 && shows(*place));
        let likeliest = places.map(|place| Match::new(place, scores[place])).collect();
        let likeliest = self.best(likeliest, RESCORED);
        let places: Vec<usize> = likeliest.iter().map(|found| found.place).collect();
        let likenesses = judge(&places);
        let read = || places.iter().zip(&likenesses).filter_map(|(at, one)| Some((*at, (*one)?)));
        let count = read().count();
        #[expect(clippy::cast_precision_loss, reason = "at most a hundred")]
        let mean = read().map(|(_, one)| one).sum::<f32>() / count.max(1) as f32;
        let (share, least) = self.tuning.least_judged;
        let judged = places.iter().enumerate().map(|(at, place)| {
            let likeness = likenesses.get(at).copied().flatten().unwrap_or(mean);
            scores[*place] + share * likeness
        });
        let fits = judged.fold(0.0, f32::max) >= least;
        for (place, likeness) in read() {
            scores[place] += self.tuning.encoder * fusion.of(0.0, likeness - mean);
        }
        (count > 0 && count * 2 >= places.len()).then_some(fits)
    }

    /// Of each of the likeliest tools, and of those alone, finds the clause that is most like it.
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
        let clauses: Vec<_> = clauses.iter().map(|clause| Meaning::of(clause.text())).collect();
        let share = self.tuning.clause;
        for Match { place, .. } in likeliest {
            let likenesses = clauses.iter().map(|clause| self.vectors.likeness(place, clause));
            let best = likenesses.fold(0.0, f32::max);
            scores[place] += share * fusion.of(0.0, best) / (1.0 + share);
        }
    }

    /// The scores by words of a request, the best of those of its clauses, and the request's
    /// weight.
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
            // Between its share of what it asks for and its share of the whole request, a clause
            // of few or common words does not outweigh one that says more.
            let share = (self.keyword_scores(clause, shows, &mut own) / weight).sqrt();
            for (best, own) in best.iter_mut().zip(&own) {
                *best = best.max(*own * share);
            }
        }
        (scores, best, weight)
    }

    /// Adds to each tool what its domain's best tools speak for.
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

    /// Marks the tools that the request names, those included that nothing else finds.
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
