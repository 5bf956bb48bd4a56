//! The inverted index: fielded BM25 (Robertson, Zaragoza and Taylor 2004, "Simple BM25 extension
//! to multiple weighted fields") with every tool's part of the sum computed when it is built.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::document::{Analysis, FIELDS};
use crate::embedding::Vectors;
use crate::names::Names;
use crate::query::Query;
use crate::services::Service;
use crate::sources::Sources;
use crate::tuning::Tuning;

/// How many steps the query-independent part of a score is rounded to.
const IMPACT_STEPS: f32 = 255.0;

/// How many longer terms a word that no tool has is completed to.
const COMPLETIONS: usize = 8;

/// The shortest word that is completed.
const COMPLETED_BYTES: usize = 3;

/// How much of a word a tool has that has a synonym of it.
const SYNONYM_HAS: f32 = 0.5;

/// What one term of a request is worth, and what a tool has of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermPart {
    pub(crate) worth: f32,
    /// Whether the tool has the term: 1, or less if only a synonym of it.
    pub(crate) has: f32,
    /// Whether any tool or service has it or a synonym of it.
    pub(crate) is_known: bool,
}

/// One tool as it enters an index.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// Breaks ties.
    pub id: &'a str,
    /// Its source: the best tools of a source raise its others.
    pub domain: &'a str,
    pub analysis: Arc<Analysis>,
    /// What is known of its source's services; that of a source's first tool counts.
    pub service: Option<Arc<Service>>,
}

/// The terms of many tools and where they stand.
#[derive(Debug)]
pub struct Index {
    pub(crate) tuning: Tuning,
    pub(crate) tools: usize,
    pub(crate) names: Names,
    /// The rank of each tool when they are sorted by id.
    pub(crate) order: Box<[u32]>,
    /// The number of each tool's domain.
    pub(crate) domains: Box<[u32]>,
    pub(crate) domain_count: usize,
    pub(crate) vectors: Vectors,
    pub(crate) sources: Sources,
    terms: Terms,
    postings: Postings,
}

impl Index {
    /// Builds the index of tools. A match names a tool by its place in `entries`.
    pub fn build(entries: &[Entry<'_>]) -> Self {
        Self::with_tuning(entries, &Tuning::default())
    }

    /// Like [`Index::build`], with other constants.
    pub fn with_tuning(entries: &[Entry<'_>], tuning: &Tuning) -> Self {
        let tools: Vec<&Analysis> = entries.iter().map(|entry| &*entry.analysis).collect();
        let (domains, domain_count) = domains(entries);
        let (terms, postings) = Postings::of(&tools, tuning);
        let services = entries.iter().map(|entry| entry.service.as_deref());
        Self {
            tuning: tuning.clone(),
            tools: tools.len(),
            sources: Sources::of(services, &domains, domain_count, tuning),
            names: Names::of(tools.iter().map(|tool| tool.key())),
            order: order(entries),
            domains,
            domain_count,
            vectors: Vectors::of(tools.iter().map(|tool| tool.embedding().clone()).collect()),
            terms,
            postings,
        }
    }

    /// How much memory it takes, in bytes, not counting the analyses it was built from.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.terms.memory()
            + self.postings.memory()
            + self.names.memory()
            + self.vectors.memory()
            + self.sources.memory()
            + size_of_val(&*self.order)
            + size_of_val(&*self.domains)
    }

    /// Writes each tool's score for a request, between 0 and about 1: the share of the request's
    /// weight (the rarity of its words) that the tool has.
    ///
    /// Only words of tools that `shows` admits complete a word of the request. Returns the
    /// request's weight.
    pub(crate) fn keyword_scores(
        &self,
        query: &Query,
        shows: &dyn Fn(usize) -> bool,
        scores: &mut [f32],
    ) -> f32 {
        scores.fill(0.0);
        let mut total = 0.0;
        for (term, weight) in query.terms(&self.tuning) {
            let mut others = query.alternatives(term).peekable();
            total += match others.peek() {
                None => self.add(scores, term, weight, shows),
                Some(_) => self.add_best(scores, term, weight, others, shows),
            };
        }
        if total > 0.0 {
            for score in scores {
                *score /= total;
            }
        }
        total
    }

    /// Adds what a term is worth to the tools that have it, and returns the most it is worth.
    fn add(
        &self,
        scores: &mut [f32],
        term: &str,
        weight: f32,
        shows: &dyn Fn(usize) -> bool,
    ) -> f32 {
        let number = self.terms.number(term);
        let by_source = self.sources.having(term);
        let worth = weight * self.rarity(number, by_source);
        match number {
            Some(number) => self.postings.add(scores, number, worth),
            None if by_source.is_empty() && term.len() >= COMPLETED_BYTES => {
                // Words of hidden tools must not take the places of visible ones.
                let is_shown = |number: &usize| self.postings.places(*number).any(shows);
                let completed = self.terms.beginning_with(term).filter(is_shown);
                for number in completed.take(COMPLETIONS) {
                    let worth = weight * self.rarity(Some(number), &[]) * self.tuning.completion;
                    self.postings.add(scores, number, worth);
                }
            }
            None => {}
        }
        for (source, count) in by_source {
            self.add_of_source(scores, number, *source, *count, worth);
        }
        for synonym in crate::synonyms::of(term) {
            if let Some(number) = self.terms.number(synonym) {
                let rarity = self.rarity(Some(number), &[]).min(worth / weight);
                self.postings.add(scores, number, self.tuning.synonym * weight * rarity);
            }
        }
        worth
    }

    /// Adds to each tool what the best of a term and its alternatives is worth to it, and returns
    /// the most that one of them is worth.
    fn add_best<'a>(
        &self,
        scores: &mut [f32],
        term: &str,
        weight: f32,
        others: impl Iterator<Item = &'a (String, f32)>,
        shows: &dyn Fn(usize) -> bool,
    ) -> f32 {
        let mut best = vec![0.0; scores.len()];
        let own = self.add(&mut best, term, weight, shows);
        let mut most = self.terms.number(term).map(|_| own);
        for (other, share) in others {
            if let Some(number) = self.terms.number(other) {
                let worth = weight * share * self.rarity(Some(number), &[]);
                self.postings.raise(&mut best, number, worth);
                most = Some(most.unwrap_or_default().max(worth));
            }
        }
        for (score, best) in scores.iter_mut().zip(best) {
            *score += best;
        }
        most.unwrap_or(own)
    }

    /// Whether a tool that `shows` admits has a term.
    pub(crate) fn knows(&self, term: &str, shows: &dyn Fn(usize) -> bool) -> bool {
        self.terms.number(term).is_some_and(|number| self.postings.places(number).any(shows))
    }

    /// Whether `shows` admits a tool of a source.
    pub(crate) fn has_shown(&self, source: u32, shows: &dyn Fn(usize) -> bool) -> bool {
        (0..self.tools).any(|place| self.domains[place] == source && shows(place))
    }

    /// What a term is worth and how much of it the tool at a place has.
    pub(crate) fn part(
        &self,
        term: &str,
        weight: f32,
        place: usize,
        shows: &dyn Fn(usize) -> bool,
    ) -> TermPart {
        let number = self.terms.number(term);
        let by_source = self.sources.having(term);
        let worth = weight * self.rarity(number, by_source);
        let at = u32::try_from(place).unwrap_or(u32::MAX);
        let own = number.map_or(0.0, |number| self.postings.impact(number, at));
        let source = self.domains[place];
        let count = by_source.iter().find(|(known, _)| *known == source);
        let count = count.map_or(0.0, |(_, count)| *count);
        // Hidden tools know nothing.
        let is_shown = |number: usize| self.postings.places(number).any(shows);
        let mut part = TermPart {
            worth,
            has: if own > 0.0 || count > 0.0 { 1.0 } else { 0.0 },
            is_known: number.is_some_and(is_shown)
                || by_source.iter().any(|(known, _)| {
                    self.sources.places(*known).iter().any(|at| shows(*at as usize))
                }),
        };
        for synonym in crate::synonyms::of(term) {
            if let Some(number) = self.terms.number(synonym) {
                part.is_known = part.is_known || is_shown(number);
                if part.has == 0.0 && self.postings.impact(number, at) > 0.0 {
                    part.has = SYNONYM_HAS;
                }
            }
        }
        part
    }

    /// Raises a source's tools by a term that its services have, as if each tool had it in a field
    /// of its own.
    fn add_of_source(
        &self,
        scores: &mut [f32],
        number: Option<usize>,
        source: u32,
        count: f32,
        worth: f32,
    ) {
        for place in self.sources.places(source) {
            let own = number.map_or(0.0, |number| self.postings.impact(number, *place));
            // How much of the term stands in the tool's own fields, from what it is worth there.
            let own_count = self.tuning.saturation * own / (1.0 - own).max(f32::EPSILON);
            let both = (own_count + count) / (self.tuning.saturation + own_count + count);
            scores[*place as usize] += worth * (both - own).max(0.0);
        }
    }

    /// How rare a term is (inverse document frequency, never negative): among the tools' own words,
    /// and among the words of their services when it is none of the former.
    #[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
    fn rarity(&self, number: Option<usize>, by_source: &[(u32, f32)]) -> f32 {
        let by_source = || by_source.iter().map(|(source, _)| self.sources.places(*source).len());
        let own = number.map(|number| self.postings.range(number).len());
        let having = own.unwrap_or_else(|| by_source().sum()) as f32;
        let tools = (self.tools as f32).max(self.tuning.assumed_tools);
        (1.0 + (tools - having + 0.5) / (having + 0.5)).ln()
    }
}

/// The ranks of entries when they are sorted by id.
fn order(entries: &[Entry<'_>]) -> Box<[u32]> {
    let mut sorted: Vec<usize> = (0..entries.len()).collect();
    sorted.sort_by(|a, b| entries[*a].id.cmp(entries[*b].id));
    let mut order = vec![0; entries.len()];
    for (place, at) in (0_u32..).zip(sorted) {
        order[at] = place;
    }
    order.into()
}

/// A number for the domain of each entry, and how many there are.
fn domains(entries: &[Entry<'_>]) -> (Box<[u32]>, usize) {
    let mut known: HashMap<&str, u32> = HashMap::new();
    let domains = entries.iter().map(|entry| {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        *known.entry(entry.domain).or_insert(next)
    });
    let domains = domains.collect();
    (domains, known.len())
}

/// Where each term stands and what it is worth there, by the terms' numbers.
#[derive(Debug)]
struct Postings {
    /// Where the postings of each term begin, and the end of the last.
    starts: Box<[u32]>,
    places: Box<[u32]>,
    impacts: Box<[u8]>,
}

impl Postings {
    fn of(tools: &[&Analysis], tuning: &Tuning) -> (Terms, Self) {
        let averages = averages(tools);
        let (terms, numbers) = Terms::of(tools);
        let mut starts = vec![0_u32; terms.len() + 1];
        for number in &numbers {
            starts[*number as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut places = vec![0; numbers.len()];
        let mut impacts = vec![0; numbers.len()];
        let mut numbers = numbers.into_iter();
        for (place, tool) in (0_u32..).zip(tools) {
            let scales = scales(tool.lengths(), &averages, tuning);
            for ((_, counts), number) in tool.terms().zip(&mut numbers) {
                let count: f32 =
                    counts.map(|(field, count)| scales[field] * f32::from(count)).sum();
                let at = &mut next[number as usize];
                places[*at as usize] = place;
                impacts[*at as usize] = quantised(count / (tuning.saturation + count));
                *at += 1;
            }
        }
        let (starts, places, impacts) = (starts.into(), places.into(), impacts.into());
        (terms, Self { starts, places, impacts })
    }

    fn range(&self, number: usize) -> Range<usize> {
        self.starts[number] as usize..self.starts[number + 1] as usize
    }

    /// The places of the tools that have a term.
    fn places(&self, number: usize) -> impl Iterator<Item = usize> {
        self.places[self.range(number)].iter().map(|place| *place as usize)
    }

    /// What a term is worth in the tool at a place, between 0 and 1.
    fn impact(&self, number: usize, place: u32) -> f32 {
        let range = self.range(number);
        match self.places[range.clone()].binary_search(&place) {
            Ok(at) => f32::from(self.impacts[range.start + at]) / IMPACT_STEPS,
            Err(_) => 0.0,
        }
    }

    fn add(&self, scores: &mut [f32], number: usize, worth: f32) {
        let range = self.range(number);
        let worth = worth / IMPACT_STEPS;
        for (place, impact) in self.places[range.clone()].iter().zip(&self.impacts[range]) {
            scores[*place as usize] += worth * f32::from(*impact);
        }
    }

    /// Like [`Postings::add`], but of what a tool has already and this only the greater counts.
    fn raise(&self, scores: &mut [f32], number: usize, worth: f32) {
        let range = self.range(number);
        let worth = worth / IMPACT_STEPS;
        for (place, impact) in self.places[range.clone()].iter().zip(&self.impacts[range]) {
            let score = &mut scores[*place as usize];
            *score = score.max(worth * f32::from(*impact));
        }
    }

    fn memory(&self) -> usize {
        size_of_val(&*self.starts) + size_of_val(&*self.places) + size_of_val(&*self.impacts)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1")]
fn quantised(share: f32) -> u8 {
    (share * IMPACT_STEPS).round() as u8
}

/// The mean length of each field, in words.
#[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
fn averages(tools: &[&Analysis]) -> [f32; FIELDS] {
    std::array::from_fn(|field| {
        let all: usize = tools.iter().map(|tool| usize::from(tool.lengths()[field])).sum();
        (all as f32 / tools.len().max(1) as f32).max(1.0)
    })
}

/// What one more occurrence of a term counts in each field of a tool.
fn scales(lengths: &[u16; FIELDS], averages: &[f32; FIELDS], tuning: &Tuning) -> [f32; FIELDS] {
    std::array::from_fn(|field| {
        let (weight, by_length) = tuning.fields[field];
        let length = f32::from(lengths[field]) / averages[field];
        weight / (1.0 - by_length + by_length * length)
    })
}

/// All terms, sorted; a term's number is its place.
#[derive(Debug)]
struct Terms {
    text: Box<str>,
    /// Where each term begins, and the end of the last.
    starts: Box<[u32]>,
}

impl Terms {
    /// The terms of the tools, and the number of each term of each tool in turn.
    fn of(tools: &[&Analysis]) -> (Self, Vec<u32>) {
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut numbers = Vec::new();
        for (term, _) in tools.iter().flat_map(|tool| tool.terms()) {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            numbers.push(*known.entry(term).or_insert(next));
        }
        let mut sorted: Vec<(&str, u32)> = known.into_iter().collect();
        sorted.sort_unstable();
        let mut renumbered = vec![0; sorted.len()];
        let (mut text, mut starts) = (String::new(), vec![0]);
        for (place, (term, number)) in (0_u32..).zip(sorted) {
            renumbered[number as usize] = place;
            text.push_str(term);
            starts.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
        }
        for number in &mut numbers {
            *number = renumbered[*number as usize];
        }
        (Self { text: text.into(), starts: starts.into() }, numbers)
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn term(&self, number: usize) -> &str {
        &self.text[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    /// The number of the first term that is not less than `term`.
    fn lower_bound(&self, term: &str) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.term(middle) < term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn number(&self, term: &str) -> Option<usize> {
        let at = self.lower_bound(term);
        (at < self.len() && self.term(at) == term).then_some(at)
    }

    fn beginning_with<'a>(&'a self, start: &'a str) -> impl Iterator<Item = usize> + 'a {
        let from = self.lower_bound(start);
        (from..self.len()).take_while(move |at| self.term(*at).starts_with(start))
    }

    fn memory(&self) -> usize {
        self.text.len() + size_of_val(&*self.starts)
    }
}
