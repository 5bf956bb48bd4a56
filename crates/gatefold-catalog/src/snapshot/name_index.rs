//! Finds the tools whose names a name may resemble without comparing it with each of them.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::Tool;
use crate::similarity::NameShape;

/// The most names that one name is compared with. Half of them share the most trigrams with it, the
/// other half the most words, because similarity combines both.
const CANDIDATES: usize = 256;

/// Shapes by the names that have them.
type Shapes = HashMap<Box<str>, Arc<NameShape>>;

/// The names of a snapshot's tools by the trigrams of their letters and by their words, built when
/// an unknown name is first looked up.
///
/// The names' shapes outlive it: the next snapshot reuses those it needs.
#[derive(Debug, Default)]
pub(crate) struct NameIndex {
    built: OnceLock<KnownNames>,
    /// The shapes of the previous snapshot.
    earlier: Arc<Shapes>,
}

impl NameIndex {
    pub(super) fn after(previous: &Self) -> Self {
        let known = previous.built.get().map_or(&previous.earlier, |known| &known.shapes);
        Self { built: OnceLock::new(), earlier: Arc::clone(known) }
    }

    pub(super) fn is_built(&self) -> bool {
        self.built.get().is_some()
    }

    /// The index of these tools' names. Every call must pass the same tools.
    pub(super) fn get(&self, tools: &[Tool]) -> &KnownNames {
        self.built.get_or_init(|| KnownNames::of(tools, &self.earlier))
    }
}

/// The ids and the sources' own names of all tools of a snapshot.
#[derive(Debug)]
pub(crate) struct KnownNames {
    names: Vec<KnownName>,
    by_trigram: HashMap<u64, Vec<u32>>,
    by_stem: HashMap<Box<str>, Vec<u32>>,
    shapes: Arc<Shapes>,
}

/// One name and the tools that have it: for an id one tool, for `search` perhaps many.
#[derive(Debug)]
pub(crate) struct KnownName {
    pub(crate) shape: Arc<NameShape>,
    /// The places of its tools, sorted by the tools' ids.
    pub(crate) tools: Vec<usize>,
    trigrams: usize,
}

/// A name that shares trigrams or words with the one looked up.
struct Candidate {
    name: usize,
    /// The shares of trigrams and of words in common, between 0 and 1.
    by_trigrams: f32,
    by_words: f32,
}

impl KnownNames {
    fn of(tools: &[Tool], earlier: &Shapes) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, tool) in tools.iter().enumerate() {
            let (own, id) = (tool.target().name.as_ref(), tool.id().as_str());
            places.entry(own).or_default().push(place);
            if id != own {
                places.entry(id).or_default().push(place);
            }
        }
        let mut sorted: Vec<_> = places.into_iter().collect();
        sorted.sort_unstable_by_key(|(name, _)| *name);
        let mut shapes = Shapes::with_capacity(sorted.len());
        let mut known = Self {
            names: Vec::with_capacity(sorted.len()),
            by_trigram: HashMap::new(),
            by_stem: HashMap::new(),
            shapes: Arc::default(),
        };
        for (name, mut places) in sorted {
            places.sort_by(|a, b| tools[*a].id().cmp(tools[*b].id()));
            let shape = earlier.get(name).map(Arc::clone);
            let shape = shape.unwrap_or_else(|| Arc::new(NameShape::of(name)));
            shapes.insert(name.into(), Arc::clone(&shape));
            known.add(shape, places);
        }
        known.shapes = Arc::new(shapes);
        known
    }

    fn add(&mut self, shape: Arc<NameShape>, tools: Vec<usize>) {
        let Ok(place) = u32::try_from(self.names.len()) else { return };
        let trigrams = trigrams(&shape.letters);
        for trigram in &trigrams {
            self.by_trigram.entry(*trigram).or_default().push(place);
        }
        for stem in &shape.stems {
            match self.by_stem.get_mut(stem.as_str()) {
                Some(places) => places.push(place),
                None => _ = self.by_stem.insert(stem.as_str().into(), vec![place]),
            }
        }
        self.names.push(KnownName { shape, tools, trigrams: trigrams.len() });
    }

    /// The names that `asked` may resemble, at most [`CANDIDATES`]. Names of hidden tools are
    /// skipped before counting, so that they cannot crowd out the others.
    pub(crate) fn candidates(
        &self,
        asked: &NameShape,
        shows: impl Fn(usize) -> bool,
    ) -> Vec<&KnownName> {
        let trigrams = trigrams(&asked.letters);
        let lists = trigrams.iter().filter_map(|trigram| self.by_trigram.get(trigram));
        let shared_trigrams = self.counted(lists);
        let lists = asked.stems.iter().filter_map(|stem| self.by_stem.get(stem.as_str()));
        let shared_stems = self.counted(lists);
        let is_shown = |name: usize| self.names[name].tools.iter().any(|tool| shows(*tool));
        let mut candidates: Vec<Candidate> = Vec::new();
        for (name, known) in self.names.iter().enumerate() {
            if (shared_trigrams[name] > 0 || shared_stems[name] > 0) && is_shown(name) {
                candidates.push(Candidate {
                    name,
                    by_trigrams: dice(shared_trigrams[name], trigrams.len(), known.trigrams),
                    by_words: dice(shared_stems[name], asked.stems.len(), known.shape.stems.len()),
                });
            }
        }
        let by_trigrams = |one: &Candidate| (one.by_trigrams, one.by_words);
        let by_words = |one: &Candidate| (one.by_words, one.by_trigrams);
        let mut chosen = best(&mut candidates, by_trigrams);
        chosen.extend(best(&mut candidates, by_words));
        chosen.sort_unstable();
        chosen.dedup();
        chosen.into_iter().map(|name| &self.names[name]).collect()
    }

    #[cfg(test)]
    pub(crate) fn shape(&self, name: &str) -> Option<&Arc<NameShape>> {
        self.shapes.get(name)
    }

    /// For each name, how many of the lists contain it.
    fn counted<'a>(&self, lists: impl Iterator<Item = &'a Vec<u32>>) -> Vec<u16> {
        let mut counts = vec![0_u16; self.names.len()];
        for name in lists.flatten() {
            counts[*name as usize] += 1;
        }
        counts
    }
}

/// The first half of [`CANDIDATES`] by a measure, largest first.
fn best(candidates: &mut [Candidate], measure: impl Fn(&Candidate) -> (f32, f32)) -> Vec<usize> {
    const HALF: usize = CANDIDATES / 2;
    let order = |a: &Candidate, b: &Candidate| {
        let ((a_first, a_second), (b_first, b_second)) = (measure(a), measure(b));
        let by_measure = b_first.total_cmp(&a_first).then(b_second.total_cmp(&a_second));
        by_measure.then(a.name.cmp(&b.name))
    };
    let chosen = if candidates.len() > HALF {
        candidates.select_nth_unstable_by(HALF, order).0
    } else {
        candidates
    };
    chosen.iter().map(|one| one.name).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts within a name are small")]
fn dice(shared: u16, one: usize, other: usize) -> f32 {
    2.0 * f32::from(shared) / (one + other).max(1) as f32
}

/// The bits of one character in a trigram: as many as the largest character has.
const CHARACTER_BITS: u32 = 21;

/// The trigrams of a text, each once, with two for either end, so that short names have some too.
fn trigrams(letters: &str) -> Vec<u64> {
    let ends = ['\0'; 2];
    let mut trigrams = Vec::with_capacity(letters.len() + ends.len());
    let mut last = 0_u64;
    for letter in letters.chars().chain(ends) {
        last = (last << CHARACTER_BITS | u64::from(letter)) & ((1 << (3 * CHARACTER_BITS)) - 1);
        trigrams.push(last);
    }
    trigrams.sort_unstable();
    trigrams.dedup();
    trigrams
}
