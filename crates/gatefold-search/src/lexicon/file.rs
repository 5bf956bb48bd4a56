//! The lexicon's file: which words it knows, and what they stand for. It is read where it lies.

use std::cmp::Ordering;
use std::hash::BuildHasher as _;
use std::sync::LazyLock;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// What the file begins with.
const MAGIC: &[u8; 8] = b"GFLEXIC1";

/// How many entries share their beginnings.
const BLOCK: usize = 16;

/// The most bytes of a word.
pub(super) const WORD_BYTES: usize = 40;

/// The bytes of a letter of both Chinese scripts.
const LETTER: usize = 3;

/// The languages of the file, in its order.
const LANGUAGES: [&[u8; 2]; 5] = [b"de", b"es", b"fr", b"ja", b"zh"];

static BUILT_IN: LazyLock<Lexicon> = LazyLock::new(|| {
    Lexicon::parse(include_bytes!("../../data/lexicon.bin"))
        .expect("a test reads the built-in lexicon")
});

/// Why a lexicon cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum LexiconError {
    #[error("the lexicon does not begin with its mark")]
    Mark,
    #[error("the lexicon ends early or goes on after its end")]
    Length,
    #[error("the lexicon's English words are not text, not sorted, or not as many as it says")]
    English,
    #[error("the lexicon lacks a language or has another")]
    Language,
}

/// Words of several languages and the English words they stand for.
///
/// The file, in little endian: the mark `GFLEXIC1`; as `u32` the number of English words, their
/// length in bytes, and the length of the letters; the English words, UTF-8, a line a word, sorted
/// by bytes; a bit a word, set where it tells that a text is English; pairs of letters, a
/// traditional Chinese one and the simplified one; then the languages: two letters; as `u32` the
/// numbers of entries and of blocks and the length of the entries; where each block begins; the
/// entries, as [`Entries::advance`] reads them.
#[derive(Debug)]
pub(super) struct Lexicon {
    english: &'static str,
    /// Where each English word begins, and the end of the last.
    starts: Box<[u32]>,
    /// The numbers of those that tell that a text is English, found by their texts.
    plain: HashTable<u32>,
    letters: &'static [u8],
    tongues: [Tongue; 5],
}

impl Lexicon {
    /// The lexicon that is compiled in.
    pub(super) fn built_in() -> &'static Self {
        &BUILT_IN
    }

    pub(super) fn parse(bytes: &'static [u8]) -> Result<Self, LexiconError> {
        let bytes = bytes.strip_prefix(MAGIC).ok_or(LexiconError::Mark)?;
        let (count, bytes) = number(bytes)?;
        let (length, bytes) = number(bytes)?;
        let (letters, bytes) = number(bytes)?;
        let (english, bytes) = split(bytes, length)?;
        let (plain, bytes) = split(bytes, count.div_ceil(8))?;
        let (letters, mut bytes) = split(bytes, letters)?;
        let english = str::from_utf8(english).map_err(|_| LexiconError::English)?;
        if !english.lines().is_sorted() || english.lines().count() != count {
            return Err(LexiconError::English);
        }
        let ends = english.bytes().zip(1_u32..).filter(|(byte, _)| *byte == b'\n');
        let starts = [0].into_iter().chain(ends.map(|(_, end)| end)).collect();
        let mut tongues = [Tongue::EMPTY; 5];
        for (tongue, language) in tongues.iter_mut().zip(LANGUAGES) {
            bytes = bytes.strip_prefix(language).ok_or(LexiconError::Language)?;
            (*tongue, bytes) = Tongue::parse(bytes)?;
        }
        if !bytes.is_empty() {
            return Err(LexiconError::Length);
        }
        let mut lexicon = Self { english, starts, plain: HashTable::new(), letters, tongues };
        lexicon.plain = lexicon.numbered(plain);
        Ok(lexicon)
    }

    /// The English words whose bits are set.
    fn numbered(&self, bits: &[u8]) -> HashTable<u32> {
        let hash_of = |number: &u32| hash(self.word(*number as usize));
        let mut known = HashTable::new();
        for (number, _) in (0_u32..).zip(self.english.lines()) {
            if bits[number as usize / 8] >> (number % 8) & 1 == 1 {
                known.insert_unique(hash_of(&number), number, hash_of);
            }
        }
        known.shrink_to_fit(hash_of);
        known
    }

    /// The words of a language.
    pub(super) fn tongue(&self, language: Language) -> &Tongue {
        &self.tongues[language as usize]
    }

    /// Whether a word, in lower case, tells that a text is English.
    pub(super) fn is_english(&self, word: &str) -> bool {
        self.plain.find(hash(word), |number| self.word(*number as usize) == word).is_some()
    }

    /// An English word by its number; empty if there is none.
    fn word(&self, number: usize) -> &'static str {
        match self.starts.get(number..number + 2) {
            Some([start, end]) => &self.english[*start as usize..*end as usize - 1],
            _ => "",
        }
    }

    /// The simplified Chinese letter that replaces a traditional one.
    pub(super) fn simplified(&self, letter: char) -> char {
        let mut buffer = [0; 4];
        let key = letter.encode_utf8(&mut buffer).as_bytes();
        let (pairs, _) = self.letters.as_chunks::<{ 2 * LETTER }>();
        let found = pairs.binary_search_by(|pair| pair[..LETTER].cmp(key));
        let new = found.ok().and_then(|at| str::from_utf8(&pairs[at][LETTER..]).ok());
        new.and_then(|new| new.chars().next()).unwrap_or(letter)
    }

    /// What an entry stands for, the likeliest first: English words, and how likely they are
    /// compared with the first.
    pub(super) fn meanings(
        &self,
        entry: LexiconEntry,
    ) -> impl Iterator<Item = (Vec<&'static str>, f32)> {
        let mut bytes = entry.meanings;
        std::iter::from_fn(move || {
            let (head, rest) = bytes.split_first()?;
            let (numbers, rest) = rest.split_at_checked(words_bytes(*head))?;
            bytes = rest;
            let (numbers, _) = numbers.as_chunks();
            let words = numbers.iter().map(|one| self.word(usize::from(u16::from_le_bytes(*one))));
            Some((words.collect(), f32::from(head & MOST_LIKELY) / f32::from(MOST_LIKELY)))
        })
    }
}

/// A language of the lexicon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    German,
    Spanish,
    French,
    Japanese,
    Chinese,
}

/// The weight of the likeliest meaning; the bits above it count words.
const MOST_LIKELY: u8 = 63;

/// The length of a meaning's words.
fn words_bytes(head: u8) -> usize {
    (usize::from(head >> 6) + 1) * 2
}

/// What the lexicon knows of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LexiconEntry {
    meanings: &'static [u8],
}

impl LexiconEntry {
    /// Whether the word belongs to grammar and stands for nothing by itself.
    pub(super) fn is_empty(self) -> bool {
        self.meanings.is_empty()
    }
}

/// The words of one language.
#[derive(Debug)]
pub(super) struct Tongue {
    /// Where each block begins, four bytes each.
    starts: &'static [[u8; 4]],
    entries: &'static [u8],
}

/// Words of the lexicon next to one that it does not have, and what they stand for.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    pub(super) before: Option<(String, LexiconEntry)>,
    pub(super) after: Option<(String, LexiconEntry)>,
}

/// What a word stands for, and whether longer words begin with it.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Beginning {
    pub(super) entry: Option<LexiconEntry>,
    pub(super) goes_on: bool,
}

impl Tongue {
    const EMPTY: Self = Self { starts: &[], entries: &[] };

    fn parse(bytes: &'static [u8]) -> Result<(Self, &'static [u8]), LexiconError> {
        let (_, bytes) = number(bytes)?;
        let (blocks, bytes) = number(bytes)?;
        let (length, bytes) = number(bytes)?;
        let (starts, bytes) = split(bytes, blocks.saturating_mul(4))?;
        let (entries, bytes) = split(bytes, length)?;
        Ok((Self { starts: starts.as_chunks().0, entries }, bytes))
    }

    /// What a word stands for.
    pub(super) fn get(&self, word: &str) -> Option<LexiconEntry> {
        self.beginning(word).entry
    }

    /// What a word stands for, and whether others begin with it.
    pub(super) fn beginning(&self, word: &str) -> Beginning {
        let mut found = Beginning::default();
        self.seek(word, |key, entry| match key.cmp(word.as_bytes()) {
            Ordering::Equal => found.entry = Some(entry),
            Ordering::Greater => found.goes_on = key.starts_with(word.as_bytes()),
            Ordering::Less => {}
        });
        found
    }

    /// The words next to one that the lexicon does not have.
    pub(super) fn neighbours(&self, word: &str) -> Neighbours {
        let mut found = Neighbours::default();
        let text = |key: &[u8]| str::from_utf8(key).unwrap_or_default().to_owned();
        self.seek(word, |key, entry| match key.cmp(word.as_bytes()) {
            Ordering::Less => found.before = Some((text(key), entry)),
            Ordering::Equal => {}
            Ordering::Greater => found.after = Some((text(key), entry)),
        });
        found
    }

    /// Calls `each` with the words of the block where a word would stand, up to the first after it.
    fn seek(&self, word: &str, mut each: impl FnMut(&[u8], LexiconEntry)) {
        if word.is_empty() || word.len() > WORD_BYTES {
            return;
        }
        let first = |start: &[u8; 4]| Entries::at(self.entries, *start).first();
        let block = self.starts.partition_point(|start| first(start) <= word.as_bytes());
        let Some(start) = self.starts.get(block.saturating_sub(1)) else { return };
        let mut entries = Entries::at(self.entries, *start);
        // One more than a block has: its last word's neighbour is the next block's first.
        for _ in 0..=BLOCK {
            let Some(entry) = entries.advance() else { return };
            each(&entries.key, entry);
            if entries.key.as_slice() > word.as_bytes() {
                return;
            }
        }
    }
}

/// Entries in their order, from the beginning of a block on.
struct Entries {
    bytes: &'static [u8],
    /// The word of the entry that was read last.
    key: Vec<u8>,
}

impl Entries {
    fn at(entries: &'static [u8], start: [u8; 4]) -> Self {
        let start = u32::from_le_bytes(start) as usize;
        Self { bytes: entries.get(start..).unwrap_or_default(), key: Vec::new() }
    }

    /// The first word of a block.
    fn first(&self) -> &'static [u8] {
        let [_, length, rest @ ..] = self.bytes else { return &[] };
        rest.get(..usize::from(*length)).unwrap_or_default()
    }

    /// Reads the next entry. It has, a byte each, how many bytes its word shares with the one before
    /// and how many follow; those; the number of its meanings; and for each a byte with its weight
    /// and the count of its words, and the numbers of those, two bytes each.
    fn advance(&mut self) -> Option<LexiconEntry> {
        let [shared, length, rest @ ..] = self.bytes else { return None };
        let (end, rest) = rest.split_at_checked(usize::from(*length))?;
        self.key.truncate(usize::from(*shared));
        self.key.extend_from_slice(end);
        let (count, rest) = rest.split_first()?;
        let mut length = 0;
        for _ in 0..*count {
            length += 1 + words_bytes(*rest.get(length)?);
        }
        let (meanings, rest) = rest.split_at_checked(length)?;
        self.bytes = rest;
        Some(LexiconEntry { meanings })
    }
}

fn hash(word: &str) -> u64 {
    FxBuildHasher.hash_one(word)
}

fn number(bytes: &'static [u8]) -> Result<(usize, &'static [u8]), LexiconError> {
    let (number, rest) = bytes.split_first_chunk().ok_or(LexiconError::Length)?;
    Ok((usize::try_from(u32::from_le_bytes(*number)).map_err(|_| LexiconError::Length)?, rest))
}

fn split(
    bytes: &'static [u8],
    length: usize,
) -> Result<(&'static [u8], &'static [u8]), LexiconError> {
    bytes.split_at_checked(length).ok_or(LexiconError::Length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Language; 5] = [
        Language::German,
        Language::Spanish,
        Language::French,
        Language::Japanese,
        Language::Chinese,
    ];

    /// Every word of a language with its meanings, in the file's order.
    fn entries(tongue: &Tongue) -> Vec<(String, LexiconEntry)> {
        let mut all = Entries::at(tongue.entries, [0; 4]);
        let mut entries = Vec::new();
        while let Some(entry) = all.advance() {
            entries.push((String::from_utf8(all.key.clone()).unwrap(), entry));
        }
        assert!(all.bytes.is_empty(), "{} bytes cannot be read", all.bytes.len());
        entries
    }

    #[test]
    fn the_built_in_lexicon_is_whole() {
        let lexicon = Lexicon::built_in();
        for language in ALL {
            let tongue = lexicon.tongue(language);
            let entries = entries(tongue);
            assert!(entries.len() > 10_000, "{language:?} has {} words", entries.len());
            assert!(entries.is_sorted_by(|a, b| a.0 < b.0), "{language:?} is not sorted");
            assert_eq!(tongue.starts.len(), entries.len().div_ceil(BLOCK));
            for (word, entry) in entries {
                assert!(word.len() <= WORD_BYTES, "{word}");
                assert_eq!(tongue.get(&word), Some(entry), "{word}");
                for (words, likelihood) in lexicon.meanings(entry) {
                    assert!(words.iter().all(|word| !word.is_empty()), "{word}: {words:?}");
                    assert!(likelihood > 0.0 && likelihood <= 1.0, "{word}: {likelihood}");
                }
            }
        }
    }

    #[test]
    fn a_word_is_found_with_its_neighbours() {
        let tongue = Lexicon::built_in().tongue(Language::German);
        let entries = entries(tongue);
        for at in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, entries.len() - 2] {
            let (word, next) = (&entries[at].0, &entries[at + 1].0);
            let between = format!("{word}\u{1}");
            assert_eq!(tongue.get(&between), None);
            let around = tongue.neighbours(&between);
            assert_eq!(around.before.map(|(word, _)| word).as_ref(), Some(word));
            assert_eq!(around.after.map(|(word, _)| word).as_ref(), Some(next));
            assert_eq!(tongue.beginning(word).goes_on, next.starts_with(word.as_str()));
        }
        assert!(tongue.neighbours("\u{10ffff}").after.is_none());
        assert_eq!(tongue.get(""), None);
        assert_eq!(tongue.get(&"z".repeat(1000)), None);
    }

    #[test]
    fn english_words_and_chinese_letters_are_known() {
        let lexicon = Lexicon::built_in();
        for word in ["file", "the", "calendar", "brief", "zoom"] {
            assert!(lexicon.is_english(word), "{word}");
        }
        for word in ["", "datei", "die", "fichier", "zzzz"] {
            assert!(!lexicon.is_english(word), "{word}");
        }
        assert_eq!(
            ['發', '件', 'a', '\u{10ffff}'].map(|one| lexicon.simplified(one)),
            ['发', '件', 'a', '\u{10ffff}']
        );
    }

    #[test]
    fn a_damaged_lexicon_is_refused() {
        let good = include_bytes!("../../data/lexicon.bin");
        let odd = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.to_vec();
            change(&mut bytes);
            Lexicon::parse(bytes.leak()).unwrap_err()
        };
        assert_eq!(odd(&|bytes| bytes[0] = 0), LexiconError::Mark);
        assert_eq!(odd(&|bytes| bytes.truncate(10)), LexiconError::Length);
        assert_eq!(odd(&|bytes| bytes.truncate(good.len() - 1)), LexiconError::Length);
        assert_eq!(odd(&|bytes| bytes.push(0)), LexiconError::Length);
        assert_eq!(odd(&|bytes| bytes[8] ^= 8), LexiconError::English);
        assert_eq!(odd(&|bytes| bytes[21] = 0xff), LexiconError::English);
        let first = good.windows(2).position(|two| two == b"\nz").unwrap();
        assert_eq!(odd(&|bytes| bytes[first + 1] = b'a'), LexiconError::English);
        assert_eq!(odd(&|bytes| bytes[16] ^= 2), LexiconError::Language);
    }

    #[test]
    fn an_entry_that_is_cut_ends_the_reading() {
        let bytes: &[u8] = &[0, 1, b'a', 1, 63, 0, 0, 1, 1, b'b', 9, 63];
        let mut entries = Entries::at(bytes, [0; 4]);
        assert!(entries.advance().is_some());
        assert!(entries.advance().is_none());
        assert!(Entries::at(bytes, [200; 4]).advance().is_none());
    }
}
