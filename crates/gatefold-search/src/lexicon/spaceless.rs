//! Chinese and Japanese, whose words must be found first.

use super::file::{Language, Lexicon, LexiconEntry, Tongue};
use super::runs::lower;

/// The most letters of a word.
const WORD_LETTERS: usize = 12;

/// What a piece of a run costs: a word, a word of one letter that has a meaning, and a letter that
/// belongs to no word.
const WORD: f32 = 1.0;
const LETTER: f32 = 1.3;
const UNKNOWN: f32 = 2.0;

/// What the words of a run stand for, in their order, without those of grammar.
pub(super) fn entries(lexicon: &Lexicon, run: &str) -> Vec<LexiconEntry> {
    let letters: Vec<char> = lower(run).chars().collect();
    let (cost, japanese) = pieces(lexicon.tongue(Language::Japanese), &letters);
    if letters.iter().any(|letter| is_kana(*letter)) {
        return japanese;
    }
    let letters: Vec<char> = letters.into_iter().map(|one| lexicon.simplified(one)).collect();
    let (other, chinese) = pieces(lexicon.tongue(Language::Chinese), &letters);
    if cost < other { japanese } else { chinese }
}

/// The cheapest way to read letters as words, and what it costs.
fn pieces(tongue: &Tongue, letters: &[char]) -> (f32, Vec<LexiconEntry>) {
    // For each letter, the cost of what follows it, and the piece that begins with it.
    let mut best = vec![(0.0_f32, 0, None); letters.len() + 1];
    let mut word = String::new();
    for from in (0..letters.len()).rev() {
        best[from] = (UNKNOWN + best[from + 1].0, from + 1, None);
        word.clear();
        for (to, letter) in letters.iter().enumerate().skip(from).take(WORD_LETTERS) {
            word.push(*letter);
            let found = tongue.beginning(&word);
            if let Some(entry) = found.entry {
                let alone = to == from && !entry.is_empty();
                let cost = if alone { LETTER } else { WORD } + best[to + 1].0;
                // Of two readings that cost the same, the one whose first word is longer.
                if cost <= best[from].0 {
                    best[from] = (cost, to + 1, Some(entry));
                }
            }
            if !found.goes_on {
                break;
            }
        }
    }
    let mut entries = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let (_, next, entry) = best[at];
        entries.extend(entry.filter(|entry| !entry.is_empty()));
        at = next;
    }
    (best[0].0, entries)
}

/// Adds the parts of a run that tools use themselves.
pub(super) fn known(run: &str, knows: &dyn Fn(&str) -> bool, own: &mut String) {
    let folded = crate::text::fold(run);
    let mut letters = folded.chars().peekable();
    let mut is_open = false;
    while let Some(first) = letters.next() {
        let pair = letters.peek().map(|second| String::from_iter([first, *second]));
        let is_known = pair.is_some_and(|pair| knows(&pair));
        match (is_known, is_open) {
            (true, false) => own.extend([' ', first]),
            (_, true) => own.push(first),
            (false, false) => {}
        }
        is_open = is_known;
    }
}

/// Letters that only Japanese has.
fn is_kana(letter: char) -> bool {
    matches!(u32::from(letter), 0x3040..=0x30FF | 0x31F0..=0x31FF)
}
