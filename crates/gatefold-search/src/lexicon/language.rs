//! Which language a request is in, and what its words stand for there.

use super::file::{Language, Lexicon, LexiconEntry, Tongue};
use super::runs::{Run, RunKind};

/// The languages that separate words.
const LANGUAGES: [Language; 3] = [Language::German, Language::Spanish, Language::French];

/// What a word tells of a request's language: one that English does not have, and one of grammar
/// that English has too.
const SURE: f32 = 1.0;
const SHARED: f32 = 0.2;

/// The most words whose forms are looked for to find a request's language.
const FORMS: usize = 4;

/// How much an English word speaks for English that the other language has too.
const SAME: f32 = 0.3;

/// The least share of a request's words that are another language's for any to be replaced: an
/// English request may name things in other languages.
const LEAST_SHARE: f32 = 0.34;

/// The shortest beginning by which a form of a word is known, and how many letters of either form
/// may follow it: at most so many, and at most half as many as the beginning has.
const LEAST_BEGINNING: usize = 4;
const MOST_ENDING: usize = 3;

/// The shortest parts of a compound, and of a word that is taken for one.
const LEAST_PART: usize = 3;
const LEAST_COMPOUND: usize = 8;

/// The most parts of a compound.
const PARTS: usize = 3;

/// What German puts between the parts of a compound.
const LINKS: [&str; 5] = ["", "s", "n", "en", "es"];

/// What a German imperative may lack, the ending of the longer imperative first.
const VERB_ENDINGS: [&str; 3] = ["e", "en", "n"];

/// What Spanish puts at the end of a verb: what for whom, or one of these, the longest first.
const PRONOUNS: [&str; 22] = [
    "noslos", "noslas", "melos", "melas", "selos", "selas", "noslo", "nosla", "melo", "mela",
    "selo", "sela", "nos", "los", "las", "les", "me", "te", "se", "lo", "la", "le",
];

/// What a Spanish verb ends with before them.
const VERB_STEMS: [&str; 4] = ["a", "e", "r", "ndo"];

/// Spanish imperatives that end in a consonant, or have two letters.
const SHORT_IMPERATIVES: [&str; 7] = ["di", "haz", "pon", "sal", "ten", "ven", "da"];

/// How German writes its vowels with two dots where the keyboard has none.
const DIGRAPHS: [(&str, &str); 3] = [("ae", "a"), ("oe", "o"), ("ue", "u")];

/// What a request's words tell of its language.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judgement {
    language: Language,
    /// Whether it is in that language as a whole, rather than English with single words of it.
    is_whole: bool,
}

impl Judgement {
    /// The language that most words speak for; none where the request is English.
    pub(super) fn of(lexicon: &Lexicon, runs: &[Run<'_>]) -> Option<Self> {
        let words = || runs.iter().filter(|run| run.kind == RunKind::Word);
        let is_sure = |language: Language| {
            let tongue = lexicon.tongue(language);
            words().any(|run| !run.is_english && tongue.get(&run.folded).is_some())
        };
        let judged = LANGUAGES.into_iter().filter(|language| is_sure(*language)).map(|language| {
            let each = words().map(|run| evidence(lexicon.tongue(language), run));
            (language, each.fold((0.0_f32, 0.0_f32), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
        });
        let judged: Vec<_> = judged.collect();
        let Some(own) = judged.iter().map(|(_, (own, _))| *own).max_by(f32::total_cmp) else {
            return Self::by_form(lexicon, runs);
        };
        let best: Vec<_> = judged.iter().filter(|(_, sum)| sum.0 >= own).collect();
        let language = by_forms(lexicon, runs, best.iter().map(|(language, _)| *language))?;
        let (_, english) = judged.iter().find(|(other, _)| *other == language)?.1;
        let is_foreign = own >= LEAST_SHARE * (own + english);
        is_foreign.then_some(Self { language, is_whole: own > english })
    }

    /// The language of a request that has no word of English nor, as it stands there, of another
    /// language: that in which its words are compounds or forms of others.
    fn by_form(lexicon: &Lexicon, runs: &[Run<'_>]) -> Option<Self> {
        if runs.iter().any(|run| run.is_english) {
            return None;
        }
        let language = by_forms(lexicon, runs, LANGUAGES.into_iter())?;
        Some(Self { language, is_whole: true })
    }

    /// What a word stands for, several entries for a compound; none if it stays as it is. In an
    /// English request only a word is replaced that neither English nor a tool has and that looks
    /// like no name.
    pub(super) fn entries(
        self,
        lexicon: &Lexicon,
        run: &Run<'_>,
        is_known: bool,
    ) -> Vec<LexiconEntry> {
        let tongue = lexicon.tongue(self.language);
        if self.is_whole {
            return entries(tongue, self.language, run);
        }
        let exact = tongue.get(&run.folded).filter(|entry| !entry.is_empty());
        let is_name = run.text.starts_with(char::is_uppercase);
        exact.filter(|_| !run.is_english && !is_known && !is_name).into_iter().collect()
    }
}

/// Of several languages, the one in which most words are compounds or forms of others, or else the
/// first.
fn by_forms(
    lexicon: &Lexicon,
    runs: &[Run<'_>],
    among: impl DoubleEndedIterator<Item = Language> + ExactSizeIterator,
) -> Option<Language> {
    let is_alone = among.len() == 1;
    let forms = |language: &Language| {
        let words = runs.iter().filter(|run| run.kind == RunKind::Word && !is_alone).take(FORMS);
        let tongue = lexicon.tongue(*language);
        words.filter(|run| !entries(tongue, *language, run).is_empty()).count()
    };
    // Of several that are equal, the last is taken.
    among.rev().max_by_key(forms)
}

/// How far a word speaks for a language, and how far for English.
fn evidence(tongue: &Tongue, run: &Run<'_>) -> (f32, f32) {
    match (tongue.get(&run.folded), run.is_english) {
        (Some(_), false) => (SURE, 0.0),
        (Some(entry), true) if entry.is_empty() => (SHARED, 0.0),
        (Some(_), true) => (0.0, SAME),
        (None, true) => (0.0, SURE),
        (None, false) => (0.0, 0.0),
    }
}

/// What a word stands for: itself, the verb that it is an imperative of, its parts, or another form of
/// it.
fn entries(tongue: &Tongue, language: Language, run: &Run<'_>) -> Vec<LexiconEntry> {
    let word = &*run.folded;
    if let Some(entry) = tongue.get(word) {
        return vec![entry];
    }
    if run.is_english {
        return Vec::new();
    }
    if language == Language::German {
        for (two, one) in DIGRAPHS {
            if word.contains(two)
                && let Some(entry) = tongue.get(&word.replace(two, one))
            {
                return vec![entry];
            }
        }
    }
    // What is capitalised within a sentence is a name, except in German.
    if language != Language::German && !run.is_first && run.text.starts_with(char::is_uppercase) {
        return Vec::new();
    }
    if let Some(verb) = verb(tongue, language, word) {
        return vec![verb];
    }
    let parts = (language == Language::German).then(|| parts(tongue, word, PARTS)).flatten();
    parts.unwrap_or_else(|| form(tongue, word).into_iter().collect())
}

/// The verb of an imperative without its ending, as people say it in German, or of a form with pronouns
/// at its end, as Spanish writes them.
fn verb(tongue: &Tongue, language: Language, word: &str) -> Option<LexiconEntry> {
    let meaning = |word: &str| tongue.get(word).filter(|entry| !entry.is_empty());
    match language {
        Language::German if word.len() >= LEAST_BEGINNING => {
            VERB_ENDINGS.iter().find_map(|ending| meaning(&[word, ending].concat()))
        }
        Language::Spanish => {
            let mut stems = PRONOUNS.iter().filter_map(|pronoun| word.strip_suffix(pronoun));
            stems.find_map(|stem| meaning(stem).filter(|_| takes_pronouns(stem)))
        }
        _ => None,
    }
}

/// Whether a Spanish word may have pronouns at its end: an imperative, an infinitive or a gerund.
fn takes_pronouns(stem: &str) -> bool {
    SHORT_IMPERATIVES.contains(&stem)
        || stem.len() >= LEAST_PART && VERB_STEMS.iter().any(|end| stem.ends_with(end))
}

/// The parts of a compound, the fewest and of those the most even; none if it has other parts than
/// known words.
fn parts(tongue: &Tongue, word: &str, most: usize) -> Option<Vec<LexiconEntry>> {
    if most < 2 || word.len() < LEAST_COMPOUND {
        return None;
    }
    let meaning = |word: &str| tongue.get(word).filter(|entry| !entry.is_empty());
    let cuts = || {
        let cuts = word.char_indices().map(|(at, _)| word.split_at(at));
        cuts.filter(|(first, last)| first.len() >= LEAST_PART && last.len() >= LEAST_PART)
    };
    let first_part = |first: &str| {
        let mut stems = LINKS.iter().filter_map(|link| first.strip_suffix(link));
        stems.find_map(|stem| (stem.len() >= LEAST_PART).then(|| meaning(stem)).flatten())
    };
    let two = cuts().filter_map(|(first, last)| {
        let evenness = first.len().min(last.len());
        Some((evenness, vec![first_part(first)?, meaning(last)?]))
    });
    if let Some((_, parts)) = two.max_by_key(|(evenness, _)| *evenness) {
        return Some(parts);
    }
    cuts().rev().find_map(|(first, last)| {
        let mut all = vec![first_part(first)?];
        all.extend(parts(tongue, last, most - 1)?);
        Some(all)
    })
}

/// Another form of a word: the one that shares its longest beginning.
fn form(tongue: &Tongue, word: &str) -> Option<LexiconEntry> {
    let around = tongue.neighbours(word);
    let shared = |(key, entry): (String, LexiconEntry)| {
        let shared = word.bytes().zip(key.bytes()).take_while(|(a, b)| a == b).count();
        let most = MOST_ENDING.min(shared / 2);
        let near =
            shared >= LEAST_BEGINNING && word.len() - shared <= most && key.len() - shared <= most;
        (near && !entry.is_empty()).then_some((shared, entry))
    };
    let both = [around.before, around.after].into_iter().flatten();
    both.filter_map(shared).max_by_key(|(shared, _)| *shared).map(|(_, entry)| entry)
}
