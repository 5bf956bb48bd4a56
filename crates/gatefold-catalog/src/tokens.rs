//! A bound on the length of a text in o200k tokens.
//!
//! Byte pair encoding merges, in each piece of a text, the pair of neighbours whose merged token
//! has the lowest rank, until no pair makes a token. Given only the first tokens of the vocabulary,
//! the same merges happen in the same order until none of *those* is left; whatever the whole
//! vocabulary merges after that only makes the count smaller. So the count from a table of the
//! first tokens is never too low, and it is close because the commonest tokens have the lowest
//! ranks.

use std::hash::BuildHasher as _;
use std::sync::LazyLock;

use hashbrown::HashTable;
use pieces::Piece;
use rustc_hash::FxBuildHasher;

mod pieces;

/// The first tokens in the order of their ranks, each preceded by its length.
/// `examples/vocabulary.rs` makes it from the vocabulary that OpenAI published with tiktoken (MIT
/// licence).
static VOCABULARY: &[u8] = include_bytes!("tokens/o200k.bin");

static RANKS: LazyLock<Ranks> = LazyLock::new(Ranks::built_in);

/// The longest piece that is encoded, in bytes: the work grows with the square. A longer one counts
/// one token a byte.
const MAX_PIECE: usize = 256;

/// At least as many tokens as o200k makes of a text.
///
/// Within a few per cent for English and JSON. Letters outside the Latin, Greek, Cyrillic, Chinese,
/// Japanese and Korean scripts count one token a byte.
pub fn token_bound(text: &str) -> usize {
    let (ranks, mut parts) = (&*RANKS, Vec::new());
    pieces::of(text)
        .map(|piece| match piece {
            Piece::Sure(piece) if piece.len() <= MAX_PIECE => {
                encoded_length(piece.as_bytes(), ranks, &mut parts)
            }
            Piece::Sure(piece) | Piece::Unsure(piece) => piece.len(),
        })
        .sum()
}

/// The ranks of the first tokens, found by the tokens' bytes.
struct Ranks {
    /// Where each token starts in [`VOCABULARY`], behind its length.
    starts: Box<[u32]>,
    known: HashTable<u32>,
}

impl Ranks {
    fn built_in() -> Self {
        let mut starts = Vec::new();
        let mut start = 1_u32;
        while let Some(length) = VOCABULARY.get(start as usize - 1) {
            starts.push(start);
            start += u32::from(*length) + 1;
        }
        let count = starts.len();
        let mut ranks = Self { starts: starts.into(), known: HashTable::with_capacity(count) };
        let mut known = std::mem::take(&mut ranks.known);
        for (rank, _) in (0..).zip(&ranks.starts) {
            let hash_of = |rank: &u32| hash(ranks.token(*rank));
            known.insert_unique(hash_of(&rank), rank, hash_of);
        }
        Self { known, ..ranks }
    }

    fn token(&self, rank: u32) -> &'static [u8] {
        let start = self.starts[rank as usize] as usize;
        &VOCABULARY[start..][..usize::from(VOCABULARY[start - 1])]
    }

    fn of(&self, token: &[u8]) -> Option<u32> {
        self.known.find(hash(token), |rank| self.token(*rank) == token).copied()
    }
}

fn hash(token: &[u8]) -> u64 {
    FxBuildHasher.hash_one(token)
}

/// How many tokens a piece is made of. `parts` is empty room for the work.
fn encoded_length(piece: &[u8], ranks: &Ranks, parts: &mut Vec<(usize, u32)>) -> usize {
    if piece.len() == 1 || ranks.of(piece).is_some() {
        return 1;
    }
    let rank = |start: usize, end: usize| ranks.of(&piece[start..end]).unwrap_or(u32::MAX);
    // Where each part starts, and the rank of it merged with the next. The last two parts are
    // empty: they end the last real one.
    parts.clear();
    parts.extend((0..piece.len() - 1).map(|at| (at, rank(at, at + 2))));
    parts.extend([(piece.len() - 1, u32::MAX), (piece.len(), u32::MAX)]);
    let end_of = |parts: &[(usize, u32)], part: usize| parts.get(part).map(|(start, _)| *start);
    loop {
        let lowest = parts.iter().enumerate().min_by_key(|(at, (_, rank))| (*rank, *at));
        let Some((at, (_, merged))) = lowest else { break };
        if *merged == u32::MAX {
            break;
        }
        parts.remove(at + 1);
        let ranked = |parts: &[(usize, u32)], part: usize| {
            end_of(parts, part + 2).map_or(u32::MAX, |end| rank(parts[part].0, end))
        };
        parts[at].1 = ranked(parts, at);
        if at > 0 {
            parts[at - 1].1 = ranked(parts, at - 1);
        }
    }
    parts.len() - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) {
        let exact = o200k().count_ordinary(text);
        assert!(token_bound(text) >= exact, "{} < {exact}: {text:?}", token_bound(text));
    }

    fn o200k() -> &'static tiktoken_rs::CoreBPE {
        static BPE: LazyLock<tiktoken_rs::CoreBPE> =
            LazyLock::new(|| tiktoken_rs::o200k_base().unwrap());
        &BPE
    }

    #[test]
    fn the_table_is_the_head_of_the_vocabulary() {
        for rank in 0..40_000 {
            let token = RANKS.token(rank);
            assert_eq!(o200k().decode_bytes(&[rank]).unwrap(), token, "rank {rank}");
            assert_eq!(RANKS.of(token), Some(rank));
        }
        assert_eq!(RANKS.starts.len(), 40_000);
    }

    #[test]
    fn the_bound_is_close_for_what_gatefold_says() {
        let text = r#"{"domain":"apollo","tools":[{"name":"apollo_people_search","group":"people","description":"Search for people by name, title, company, or other criteria…"},{"name":"apollo_people_enrich","group":"people","description":"Enrich a person record with full contact and company data"}]}"#;
        check(text);
        let exact = o200k().count_ordinary(text);
        assert!(token_bound(text) * 10 <= exact * 12, "{} for {exact}", token_bound(text));
    }

    #[test]
    fn odd_texts_are_not_counted_too_low() {
        for text in [
            "",
            "I'll don'T we'RE 'sup it'ſ",
            "é#\n/\"name",
            "é\"/name é/\"name é\",\"name",
            "a\r\n\r\n  b \t\n c   ",
            "日本語テキスト，한국어 text Ωmega мир Ünïcödé ΑΒΓδ",
            "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 🎉🎉 👩‍👩‍👧 ①②③ ½ ٣٤٥ x²",
            "a\u{301}b\u{301} \u{a0}\u{3000}x\u{85}y\u{2028}z",
            "ABCdefGHI日A日B _private __init__ --flag=1234567",
            &"=".repeat(1000),
            &"ab".repeat(1000),
        ] {
            check(text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn no_text_is_counted_too_low(text in any::<String>()) {
            check(&text);
        }

        #[test]
        fn no_mixture_is_counted_too_low(
            text in r#"([a-zA-Z]{1,9}|[0-9]{1,5}|[ \t\r\n]{1,3}|["'{}:,./_#-]{1,4}|[àÉßщЖωΣ日本ひカ한]{1,3}|[…—’→٣²\u{301}\u{345}ʰªǅ]|'[sStTmMdD]|'(re|VE|ll)){0,24}"#
        ) {
            check(&text);
        }

        #[test]
        fn no_base64_is_counted_too_low(text in "[A-Za-z0-9+/]{0,400}={0,2}") {
            check(&text);
        }

        #[test]
        fn no_symbols_are_counted_too_low(text in "[!-/:-@\\[-`{-~ \n\u{0}-\u{1f}]{0,40}") {
            check(&text);
        }
    }
}
