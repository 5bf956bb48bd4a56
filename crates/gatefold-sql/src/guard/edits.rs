//! What is changed in a statement before it is sent.

use std::collections::{BTreeMap, HashMap};

use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};

use super::error::{GuardError, refused};
use super::tokens::{need_space, read, written};
use crate::Dialect;

/// The longest statement that is sent. Columns that are written out make it longer than what came.
pub(super) const MAX_RENDERED_BYTES: usize = 512 * 1024;

/// Texts that replace tokens.
#[derive(Debug)]
pub(super) struct Edits {
    /// Where each token begins.
    starts: HashMap<(u64, u64), usize>,
    /// By the first token: the last one, and the text instead.
    replaced: BTreeMap<usize, (usize, String)>,
}

impl Edits {
    pub(super) fn new(tokens: &[TokenWithSpan]) -> Self {
        let start = |(at, token): (usize, &TokenWithSpan)| {
            ((token.span.start.line, token.span.start.column), at)
        };
        Self { starts: tokens.iter().enumerate().map(start).collect(), replaced: BTreeMap::new() }
    }

    /// Replaces the tokens from one to another. A second edit at the same place is the same one: a
    /// recursive query is walked more than once.
    pub(super) fn replace(
        &mut self,
        first: Span,
        last: Span,
        text: String,
    ) -> Result<(), GuardError> {
        let (first, last) = (self.token_at(first)?, self.token_at(last)?);
        self.replaced.insert(first, (last, text));
        Ok(())
    }

    /// Replaces the word before a token.
    pub(super) fn replace_before(
        &mut self,
        tokens: &[TokenWithSpan],
        span: Span,
        text: String,
    ) -> Result<(), GuardError> {
        let at = self.token_at(span)?;
        let before = tokens.get(..at).unwrap_or_default();
        let is_word = |token: &TokenWithSpan| matches!(token.token, Token::Word(_));
        let word = before.iter().rposition(is_word).ok_or_else(unplaced)?;
        self.replaced.insert(word, (word, text));
        Ok(())
    }

    /// Replaces a call from its name to the parenthesis that closes it.
    pub(super) fn replace_call(
        &mut self,
        tokens: &[TokenWithSpan],
        name: Span,
        text: String,
    ) -> Result<(), GuardError> {
        let first = self.token_at(name)?;
        let mut depth = 0_usize;
        for (at, token) in tokens.iter().enumerate().skip(first) {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen if depth <= 1 => {
                    self.replaced.insert(first, (at, text));
                    return Ok(());
                }
                Token::RParen => depth -= 1,
                _ => {}
            }
        }
        Err(unplaced())
    }

    /// The statement with every edit, which reads as the tokens that were judged.
    pub(super) fn rendered(
        &self,
        dialect: Dialect,
        tokens: &[TokenWithSpan],
    ) -> Result<String, GuardError> {
        let mut text = String::new();
        let mut expected = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while let Some(TokenWithSpan { token, .. }) = tokens.get(at) {
            let (pieces, last) = match self.replaced.get(&at) {
                Some((last, instead)) => (read(dialect, instead)?, *last),
                None => (vec![TokenWithSpan::wrap(token.clone())], at),
            };
            for TokenWithSpan { token, .. } in pieces {
                if expected.last().is_some_and(|last| need_space(last, &token)) {
                    text.push(' ');
                }
                text.push_str(&written(dialect, &token));
                expected.push(as_sent(dialect, token));
            }
            if text.len() > MAX_RENDERED_BYTES {
                return Err(GuardError::TooLarge(MAX_RENDERED_BYTES));
            }
            at = last.max(at) + 1;
        }
        let again = read(dialect, &text)?;
        let seen = |token: &&Token| !matches!(token, Token::Whitespace(_));
        let again = again.iter().map(|token| &token.token).filter(seen);
        if again.eq(expected.iter().filter(seen)) {
            return Ok(text);
        }
        Err(refused("a way of writing that can be read in two ways", "write it more plainly"))
    }

    fn token_at(&self, span: Span) -> Result<usize, GuardError> {
        let start = (span.start.line, span.start.column);
        self.starts.get(&start).copied().ok_or_else(unplaced)
    }
}

/// A token as it is read once it was written: names are sent in one kind of quotes.
fn as_sent(dialect: Dialect, token: Token) -> Token {
    match token {
        Token::Word(word) if dialect == Dialect::Sqlite && word.quote_style.is_some() => {
            Token::Word(Word { quote_style: Some('"'), ..word })
        }
        token => token,
    }
}

fn unplaced() -> GuardError {
    refused("this way of writing a name", "write the name plainly, as `schema.table`")
}
