//! Words of texts and queries, as the index has them.

use tantivy::tokenizer::{Language, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::limits::WORD;

/// The names of both analyses in the index.
pub(crate) const EXACT: &str = "exact";
pub(crate) const STEMMED: &str = "stemmed";

/// Words that say nothing about what a question is about.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "between", "both", "but", "by", "can", "could", "did",
    "do", "does", "doing", "during", "each", "either", "explain", "find", "for", "from", "give",
    "had", "has", "have", "he", "her", "him", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "list", "many", "may", "me", "might", "more", "most", "much", "must", "my",
    "of", "on", "or", "our", "please", "say", "says", "shall", "she", "should", "show", "so",
    "some", "such", "tell", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "whether",
    "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// Whether a word, in lower case, says nothing about what a question is about.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Words in lower case, as they are.
pub(crate) fn exact_analyzer() -> TextAnalyzer {
    TextAnalyzer::from(WordTokenizer { folds_accents: false })
}

/// Words without accents and without the endings that English gives them.
///
/// Other languages lose little: a word and a query lose the same ending.
pub(crate) fn stemming_analyzer() -> TextAnalyzer {
    let words = WordTokenizer { folds_accents: true };
    TextAnalyzer::builder(words).filter(Stemmer::new(Language::English)).build()
}

/// The words of a text by an analysis.
pub(crate) fn words(analyzer: &mut TextAnalyzer, text: &str) -> Vec<String> {
    let mut words = Vec::new();
    analyzer.token_stream(text).process(&mut |token| words.push(token.text.clone()));
    words
}

/// The parts of a word at the borders of letters and digits; none of a word without such a border, and
/// none of one character, which says too little.
pub(crate) fn word_parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    for (at, char) in word.char_indices() {
        if before.is_some_and(|before| before.is_numeric() != char.is_numeric()) {
            parts.push(&word[start..at]);
            start = at;
        }
        before = Some(char);
    }
    if start == 0 {
        return parts;
    }
    parts.push(&word[start..]);
    parts.retain(|part| part.chars().nth(1).is_some());
    parts
}

#[derive(Debug, Clone, Copy)]
struct WordTokenizer {
    folds_accents: bool,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream {
        let mut words = Vec::new();
        split(text, &mut |word, is_whole| {
            let mut token = Token { text: word.to_lowercase(), ..Token::default() };
            if self.folds_accents && !word.is_ascii() && is_whole {
                token.text = token.text.nfd().filter(|char| !is_combining_mark(*char)).collect();
            }
            token.position = words.len();
            words.push(token);
        });
        WordStream { words, next: 0 }
    }
}

struct WordStream {
    words: Vec<Token>,
    next: usize,
}

impl TokenStream for WordStream {
    fn advance(&mut self) -> bool {
        self.next += 1;
        self.next <= self.words.len()
    }

    fn token(&self) -> &Token {
        &self.words[self.next.saturating_sub(1)]
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.words[self.next.saturating_sub(1)]
    }
}

/// Hands over the words of a text: runs of letters and digits, and of writing without spaces each
/// two characters that follow one another. Says whether it is a run.
fn split(text: &str, hand: &mut dyn FnMut(&str, bool)) {
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        rest = &rest[start..];
        let spaceless = rest.starts_with(is_spaceless);
        let end = rest.find(|char: char| {
            let joins = char.is_alphanumeric() || is_combining_mark(char);
            !joins || is_spaceless(char) != spaceless && char.is_alphanumeric()
        });
        let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
        if spaceless {
            split_pairs(run, hand);
        } else {
            hand(cut(run), true);
        }
        rest = after;
    }
}

fn split_pairs(run: &str, hand: &mut dyn FnMut(&str, bool)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).collect();
    if starts.len() < 2 {
        return hand(run, false);
    }
    for (index, start) in starts.iter().enumerate().take(starts.len() - 1) {
        let end = starts.get(index + 2).copied().unwrap_or(run.len());
        hand(&run[*start..end], false);
    }
}

fn cut(run: &str) -> &str {
    // Cheap for most words: a word of few bytes has few characters.
    if run.len() <= WORD {
        return run;
    }
    let end = run.char_indices().nth(WORD).map_or(run.len(), |(at, _)| at);
    &run[..end]
}

/// Whether a character belongs to a writing that does not part words by spaces.
fn is_spaceless(char: char) -> bool {
    matches!(char,
        '\u{0e00}'..='\u{0eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Burmese
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3040}'..='\u{30ff}' // Hiragana, Katakana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Han
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_and_stemmed_ones_have_no_endings() {
        for (text, exact, stemmed) in [
            ("Running  dogs!", "running dogs", "run dog"),
            ("snake_case x=1.5", "snake case x 1 5", "snake case x 1 5"),
            ("Café", "café", "cafe"),
            ("東京都 is", "東京 京都 is", "東京 京都 is"),
            ("東a", "東 a", "東 a"),
            ("\u{301} …", "", ""),
        ] {
            assert_eq!(words(&mut exact_analyzer(), text).join(" "), exact, "{text}");
            assert_eq!(words(&mut stemming_analyzer(), text).join(" "), stemmed, "{text}");
        }
    }

    #[test]
    fn a_word_has_parts_where_letters_meet_digits() {
        for (word, parts) in [
            ("FY2018", "FY 2018"),
            ("2018Q2", "2018"),
            ("10K", "10"),
            ("3M", ""),
            ("word", ""),
            ("2018", ""),
            ("ÄÖ12é", "ÄÖ 12"),
        ] {
            assert_eq!(word_parts(word).join(" "), parts, "{word}");
        }
    }

    #[test]
    fn both_analyses_have_as_many_words() {
        let text = "Ǆ ﬁne ೧೨ İstanbul naïve 한국어 ภาษาไทย e\u{301}te";
        let exact = words(&mut exact_analyzer(), text);
        assert_eq!(exact.len(), words(&mut stemming_analyzer(), text).len());
    }

    #[test]
    fn a_word_without_an_end_is_cut() {
        let word = &words(&mut exact_analyzer(), &"a".repeat(100_000))[0];
        assert_eq!(word.len(), WORD);
    }
}
