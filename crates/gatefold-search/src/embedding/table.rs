//! The table: which words it knows, and their rows.

use std::hash::BuildHasher as _;
use std::sync::LazyLock;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::text;
use crate::words::is_boundary;

/// What the table's file begins with.
const MAGIC: &[u8; 8] = b"GFTABLE1";

/// The most words of a text that are embedded.
const MAX_WORDS: usize = 64;

/// The longest word that is embedded, in bytes; the rest of a longer one is ignored.
const WORD_BYTES: usize = 64;

/// The most dimensions: the sum of so many products fits into 32 bits.
const MAX_DIMS: usize = 512;

static BUILT_IN: LazyLock<Table> = LazyLock::new(|| {
    Table::parse(include_bytes!("../../data/table.bin")).expect("a test reads the built-in table")
});

/// Why a table cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    #[error("the table does not begin with its mark")]
    Mark,
    #[error("the table ends early or goes on after its end")]
    Length,
    #[error("the table has {0} dimensions, more than {MAX_DIMS} or none")]
    Dimensions(usize),
    #[error("the table's vocabulary is not text, not sorted, or not one entry a row")]
    Vocabulary,
}

/// Vectors of words (`issue`), of pieces that continue a word (`##ing`) and of neighbouring words
/// (`pull request`).
///
/// The file, in little endian: the mark `GFTABLE1`; as `u32` the dimensions, the rows and the
/// length of the vocabulary in bytes; the vocabulary, UTF-8, a line an entry, sorted by bytes; an
/// `f32` a row, its scale; the rows, an `i8` a dimension.
#[derive(Debug)]
pub(crate) struct Table {
    dims: usize,
    vocabulary: &'static str,
    /// Where each entry begins, and the end of the last.
    starts: Box<[u32]>,
    /// The numbers of the entries, found by their texts.
    known: HashTable<u32>,
    scales: &'static [u8],
    rows: &'static [u8],
}

impl Table {
    /// The table that is compiled in.
    pub(crate) fn built_in() -> &'static Self {
        &BUILT_IN
    }

    pub(crate) fn parse(bytes: &'static [u8]) -> Result<Self, TableError> {
        let bytes = bytes.strip_prefix(MAGIC).ok_or(TableError::Mark)?;
        let (dims, bytes) = number(bytes)?;
        let (count, bytes) = number(bytes)?;
        let (length, bytes) = number(bytes)?;
        if !(1..=MAX_DIMS).contains(&dims) {
            return Err(TableError::Dimensions(dims));
        }
        let (vocabulary, bytes) = bytes.split_at_checked(length).ok_or(TableError::Length)?;
        let (scales, rows) =
            bytes.split_at_checked(count.saturating_mul(4)).ok_or(TableError::Length)?;
        if rows.len() != count.saturating_mul(dims) {
            return Err(TableError::Length);
        }
        let vocabulary = str::from_utf8(vocabulary).map_err(|_| TableError::Vocabulary)?;
        if !vocabulary.lines().is_sorted() || vocabulary.lines().count() != count {
            return Err(TableError::Vocabulary);
        }
        let ends = vocabulary.bytes().zip(1_u32..).filter(|(byte, _)| *byte == b'\n');
        let starts = [0].into_iter().chain(ends.map(|(_, end)| end)).collect();
        let mut table = Self { dims, vocabulary, starts, known: HashTable::new(), scales, rows };
        table.known = table.numbered();
        Ok(table)
    }

    /// A text's vector, of any length: the sum of the rows of its words and of the pairs of
    /// neighbours among them, each row once. A word without a row is replaced by its pieces.
    pub(crate) fn embed(&self, text: &str) -> Vec<f32> {
        let words = words(text);
        let mut rows = Vec::new();
        for word in &words {
            match self.row(word) {
                Some(row) => rows.push(row),
                None => self.pieces(word, &mut rows),
            }
        }
        let mut pair = String::new();
        for two in words.windows(2) {
            pair.clear();
            pair.extend([&two[0], " ", &two[1]]);
            rows.extend(self.row(&pair));
        }
        rows.sort_unstable();
        rows.dedup();
        let mut vector = vec![0.0; self.dims];
        for row in rows {
            self.add(row, &mut vector);
        }
        vector
    }

    /// The longest pieces that a word begins with, one after another. A letter that begins no piece
    /// is skipped.
    fn pieces(&self, word: &str, rows: &mut Vec<usize>) {
        let mut from = 0;
        while from < word.len() {
            let mut piece = if from == 0 { String::new() } else { "##".to_owned() };
            let mark = piece.len();
            piece.push_str(&word[from..]);
            while piece.len() > mark {
                if let Some(row) = self.row(&piece) {
                    rows.push(row);
                    break;
                }
                piece.pop();
            }
            from += (piece.len() - mark).max(1);
        }
    }

    fn add(&self, row: usize, vector: &mut [f32]) {
        let scale = self.scales[row * 4..].first_chunk().copied().map_or(0.0, f32::from_le_bytes);
        let values = &self.rows[row * self.dims..][..self.dims];
        for (sum, value) in vector.iter_mut().zip(values) {
            *sum += scale * f32::from(value.cast_signed());
        }
    }

    /// The row of an entry.
    fn row(&self, entry: &str) -> Option<usize> {
        let row = self.known.find(hash(entry), |row| self.entry(*row) == entry)?;
        Some(*row as usize)
    }

    fn numbered(&self) -> HashTable<u32> {
        let hash_of = |row: &u32| hash(self.entry(*row));
        let mut known = HashTable::with_capacity(self.starts.len());
        for (row, _) in (0..).zip(self.vocabulary.lines()) {
            known.insert_unique(hash_of(&row), row, hash_of);
        }
        known
    }

    fn entry(&self, row: u32) -> &str {
        let row = row as usize;
        &self.vocabulary[self.starts[row] as usize..self.starts[row + 1] as usize - 1]
    }
}

fn hash(entry: &str) -> u64 {
    FxBuildHasher.hash_one(entry)
}

/// The words of a text: runs of ASCII letters of one case, with a capital before small ones, and of
/// ASCII digits, in lower case and without accents. The table knows no others.
fn words(text: &str) -> Vec<String> {
    let text = text::fold(text::bounded(text, MAX_WORDS));
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if !c.is_ascii_alphanumeric() {
            before = None;
            continue;
        }
        let next_is_lower = chars.peek().is_some_and(char::is_ascii_lowercase);
        if before.is_none_or(|last| is_boundary(last, c, next_is_lower)) {
            if words.len() == MAX_WORDS {
                break;
            }
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|word| word.len() < WORD_BYTES) {
            word.push(c.to_ascii_lowercase());
        }
        before = Some(c);
    }
    words
}

fn number(bytes: &[u8]) -> Result<(usize, &[u8]), TableError> {
    let (number, rest) = bytes.split_first_chunk().ok_or(TableError::Length)?;
    Ok((usize::try_from(u32::from_le_bytes(*number)).map_err(|_| TableError::Length)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of two dimensions.
    fn table(entries: &[(&str, f32, [i8; 2])]) -> Vec<u8> {
        let lines = entries.iter().flat_map(|(entry, ..)| [*entry, "\n"]);
        let vocabulary: String = lines.collect();
        let mut bytes = MAGIC.to_vec();
        for number in [2, entries.len(), vocabulary.len()] {
            bytes.extend(u32::try_from(number).unwrap().to_le_bytes());
        }
        bytes.extend(vocabulary.as_bytes());
        bytes.extend(entries.iter().flat_map(|(_, scale, _)| scale.to_le_bytes()));
        bytes.extend(entries.iter().flat_map(|(.., row)| row.map(i8::cast_unsigned)));
        bytes
    }

    #[track_caller]
    fn check(text: &str, expected: [f32; 2]) {
        let bytes = table(&[
            ("##ing", 1.0, [0, 3]),
            ("##ings", 1.0, [0, 4]),
            ("issue", 0.5, [2, 0]),
            ("mail", 1.0, [10, 0]),
            ("mail issue", 2.0, [0, -30]),
        ]);
        let table = Table::parse(bytes.leak()).unwrap();
        assert_eq!(table.embed(text), expected, "{text}");
    }

    #[test]
    fn a_text_is_the_sum_of_its_words_pieces_and_pairs() {
        check("issue", [1.0, 0.0]);
        check("Issue, issue!", [1.0, 0.0]);
        check("mailIssue", [11.0, -60.0]);
        check("issue mail", [11.0, 0.0]);
        check("mailings", [10.0, 4.0]);
        check("mailéing", [10.0, 3.0]);
        check("xxxing", [0.0, 3.0]);
        check("日本 ing", [0.0, 0.0]);
        check("", [0.0, 0.0]);
    }

    #[test]
    fn words_are_split_as_the_table_was_trained() {
        for (text, expected) in [
            ("listHTTPRoutes2", "list http routes 2"),
            ("Get_PRs v1.5", "get p rs v 1 5"),
            ("über Straße", "uber stra e"),
            ("ＡＢ１", "ab 1"),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
        assert_eq!(words(&"word ".repeat(1000)).len(), MAX_WORDS);
        assert_eq!(words(&"w".repeat(1000)), ["w".repeat(WORD_BYTES)]);
    }

    #[test]
    fn a_damaged_table_is_refused() {
        let good = table(&[("a", 1.0, [1, 2]), ("b", 1.0, [3, 4])]);
        assert!(Table::parse(good.clone().leak()).is_ok());
        let odd = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            Table::parse(bytes.leak()).unwrap_err()
        };
        assert_eq!(odd(&|bytes| bytes[0] = 0), TableError::Mark);
        assert_eq!(odd(&|bytes| bytes.truncate(10)), TableError::Length);
        assert_eq!(odd(&|bytes| bytes.push(0)), TableError::Length);
        assert_eq!(odd(&|bytes| bytes[12] = 3), TableError::Length);
        assert_eq!(odd(&|bytes| bytes[8] = 0), TableError::Dimensions(0));
        assert_eq!(odd(&|bytes| bytes[20] = b'c'), TableError::Vocabulary);
        assert_eq!(odd(&|bytes| bytes[20] = b'\n'), TableError::Vocabulary);
        assert_eq!(odd(&|bytes| bytes[21] = 0xff), TableError::Vocabulary);
    }
}
