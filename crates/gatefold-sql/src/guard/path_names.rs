//! Which names of a statement PostgreSQL looks for along its search path.
//!
//! The server prefers the function or operator whose arguments fit best, wherever it is. So one of somebody
//! else's may run instead of the built-in one that the guard has judged.

use std::collections::BTreeSet;

use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::tokens::read;
use super::types::is_named_type;
use crate::Dialect;
use crate::function_names::is_function;

/// Operators that words stand for.
const OPERATORS_OF_WORDS: [(&str, &[&str]); 9] = [
    ("between", &["<", "<=", ">", ">="]),
    ("case", &["="]),
    ("distinct", &["="]),
    ("ilike", &["~~*", "!~~*"]),
    ("in", &["=", "<>"]),
    ("like", &["~~", "!~~"]),
    ("natural", &["="]),
    ("nullif", &["="]),
    ("similar", &["~", "!~"]),
];

/// Names without a schema.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PathNames {
    pub(crate) functions: BTreeSet<String>,
    pub(crate) operators: BTreeSet<String>,
    pub(crate) types: BTreeSet<String>,
}

impl PathNames {
    /// Those of a statement that the guard has passed. It lets through no functions and types but the known ones.
    pub(crate) fn of(sql: &str) -> Self {
        let mut names = Self::default();
        let tokens = read(Dialect::Postgres, sql).unwrap_or_default();
        let mut tokens = tokens
            .iter()
            .map(|TokenWithSpan { token, .. }| token)
            .filter(|token| !matches!(token, Token::Whitespace(_)))
            .peekable();
        let mut last = None;
        while let Some(token) = tokens.next() {
            match token {
                // With its schema, as in `public.net` and `OPERATOR(public.===)`.
                _ if last == Some(&Token::Period) => {}
                Token::Word(word) => names.add_word(word, tokens.peek() == Some(&&Token::LParen)),
                token => names.add_operator(token),
            }
            last = Some(token);
        }
        names
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.operators.is_empty() && self.types.is_empty()
    }

    fn add_word(&mut self, word: &Word, is_call: bool) {
        let name = match word.quote_style {
            Some(_) => word.value.clone(),
            None => word.value.to_ascii_lowercase(),
        };
        if word.quote_style.is_none() {
            let own = OPERATORS_OF_WORDS.iter().filter(|(word, _)| *word == name);
            let own = own.flat_map(|(_, operators)| operators.iter());
            self.operators.extend(own.map(|operator| (*operator).to_owned()));
            // `JOIN ... USING (id)`.
            if name == "using" {
                self.operators.insert("=".to_owned());
            }
        }
        if is_named_type(&name) {
            self.types.insert(name.clone());
        }
        if is_call && is_function(Dialect::Postgres, &name) {
            self.functions.insert(name);
        }
    }

    fn add_operator(&mut self, token: &Token) {
        let text = token.to_string();
        let is_operator = text.chars().all(|c| "+-*/<>=~!@#%^&|`?".contains(c));
        if is_operator && !text.is_empty() {
            self.operators.insert(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_the_path_decides_is_found() {
        let check = |sql: &str, functions: &[&str], operators: &[&str], types: &[&str]| {
            let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let (functions, operators, types) = (set(functions), set(operators), set(types));
            assert_eq!(PathNames::of(sql), PathNames { functions, operators, types }, "{sql}");
        };
        check("SELECT lower(a), pg_catalog.upper(b), lower FROM t", &["lower"], &[], &[]);
        check("SELECT a -> 'b' #>> '{c}', -1 FROM t", &[], &["->", "#>>", "-"], &[]);
        check("SELECT a != 1 AND b IN (1) FROM t", &[], &["<>", "=", "<>"], &[]);
        check(
            "SELECT 1 WHERE a NOT ILIKE 'x' OR b LIKE 'y'",
            &[],
            &["~~*", "!~~*", "~~", "!~~"],
            &[],
        );
        check("SELECT 1 FROM t JOIN u USING (id)", &[], &["="], &[]);
        check("SELECT 1 FROM t WHERE a BETWEEN 1 AND 2", &[], &["<", "<=", ">", ">="], &[]);
        check("SELECT a::citext, \"Lower\" (1), \"lower\"(2)", &["lower"], &[], &["citext"]);
        check("SELECT a <-> b, 'lower(x) + 1'", &[], &["<->"], &[]);
        check("SELECT a OPERATOR(\"public\".===) b, a * 1", &[], &["*"], &[]);
    }
}
