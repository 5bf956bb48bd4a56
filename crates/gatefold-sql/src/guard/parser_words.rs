//! Words that a server knows and the parser does not.

use std::ops::Range;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace, Word};

use crate::Dialect;

/// The tokens as the parser knows them: in some dialects it lacks a word that changes nothing of
/// which names and functions a statement uses.
pub(super) fn parsed(dialect: Dialect, tokens: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let is_seen = |at: &usize| !matches!(tokens[*at].token, Token::Whitespace(_));
    let seen: Vec<usize> = (0..tokens.len()).filter(is_seen).collect();
    let mut parsed = tokens.to_vec();
    for start in 0..seen.len() {
        let token_after =
            |offset: usize| seen.get(start + offset).map_or(&Token::EOF, |at| &tokens[*at].token);
        let four = [0, 1, 2, 3].map(token_after);
        let unknown = match dialect {
            Dialect::Sqlite | Dialect::Postgres => standard_words(dialect, four),
            Dialect::MySql | Dialect::MariaDb => mysql_words(four),
        };
        if let Some((words, instead)) = unknown {
            for at in seen.get(start + words.start..start + words.end).unwrap_or_default() {
                parsed[*at].token = instead.clone();
            }
        }
        if dialect != Dialect::Postgres {
            rewrite_parentheses(&mut parsed, tokens, seen.get(start..).unwrap_or_default());
        }
    }
    parsed
}

/// The words that a query begins with.
const QUERY_WORDS: [&str; 4] = ["SELECT", "VALUES", "WITH", "TABLE"];

/// Rewrites what some words and their parentheses mean to MySQL or SQLite and not to the parser.
fn rewrite_parentheses(parsed: &mut [TokenWithSpan], tokens: &[TokenWithSpan], seen: &[usize]) {
    let [word, open, within @ ..] = seen else { return };
    let word_is = |text: &str| is_word(&tokens[*word].token, text);
    if tokens[*open].token != Token::LParen {
        return;
    }
    // `FROM (a, b)` and `JOIN (a, b)`: a join without a condition.
    if word_is("JOIN") || word_is("FROM") {
        let begins = within.first().map(|at| &tokens[*at].token);
        let is_query = |first: &Token| {
            let begins_query = |text: &&str| is_word(first, text);
            *first == Token::LParen || QUERY_WORDS.iter().any(begins_query)
        };
        if begins.is_some_and(is_query) {
            return;
        }
        for comma in own_commas(tokens, within) {
            parsed[comma].token = Token::make_keyword("JOIN");
        }
    }
    // `INTERVAL(a, b)` is a function, and `INTERVAL (a) DAY` is none.
    if word_is("INTERVAL") && own_commas(tokens, within).next().is_some() {
        let (value, quote_style) = ("interval".to_owned(), Some('`'));
        parsed[*word].token = Token::Word(Word { value, quote_style, keyword: Keyword::NoKeyword });
    }
    // `CHAR(65 USING utf8mb4)`.
    if word_is("CHAR") {
        let inner = within.get(..end_of_parentheses(tokens, within)).unwrap_or_default();
        if let [.., using, charset] = inner
            && is_word(&tokens[*using].token, "USING")
            && is_charset(&tokens[*charset].token)
        {
            for at in [*using, *charset] {
                parsed[at].token = Token::Whitespace(Whitespace::Space);
            }
        }
    }
}

/// The commas between what stands in parentheses, without those in parentheses within. The first token
/// is the one behind the opening one.
fn own_commas<'t>(
    tokens: &'t [TokenWithSpan],
    within: &'t [usize],
) -> impl Iterator<Item = usize> + 't {
    let inner = within.get(..end_of_parentheses(tokens, within)).unwrap_or_default();
    let mut depth = 0_usize;
    let is_own_comma = move |at: &usize| {
        match tokens[*at].token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Comma => return depth == 0,
            _ => {}
        }
        false
    };
    inner.iter().copied().filter(is_own_comma)
}

/// Where the parenthesis is closed that was opened before the first of these tokens.
fn end_of_parentheses(tokens: &[TokenWithSpan], within: &[usize]) -> usize {
    let mut depth = 1_usize;
    let closes = |at: &usize| {
        match tokens[*at].token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 0
    };
    within.iter().position(closes).unwrap_or(0)
}

/// Which of four tokens the parser does not know, and what it knows instead.
fn standard_words(dialect: Dialect, four: [&Token; 4]) -> Option<(Range<usize>, Token)> {
    let is = |at: usize, text: &str| is_word(four[at], text);
    let space = Token::Whitespace(Whitespace::Space);
    if dialect == Dialect::Sqlite && is(0, "AS") {
        if is(1, "MATERIALIZED") && *four[2] == Token::LParen {
            return Some((1..2, space));
        }
        if is(1, "NOT") && is(2, "MATERIALIZED") && *four[3] == Token::LParen {
            return Some((1..3, space));
        }
    }
    if dialect == Dialect::Postgres && is(0, "BETWEEN") && is(1, "SYMMETRIC") {
        return Some((1..2, space));
    }
    if dialect == Dialect::Postgres && is_lone_values(four) {
        return Some((2..3, Token::make_keyword("SELECT")));
    }
    let ends_frame = is(0, "ROW") || is(0, "PRECEDING") || is(0, "FOLLOWING");
    if ends_frame && is(1, "EXCLUDE") {
        if is(2, "TIES") || is(2, "GROUP") {
            return Some((1..3, space));
        }
        if (is(2, "CURRENT") && is(3, "ROW")) || (is(2, "NO") && is(3, "OTHERS")) {
            return Some((1..4, space));
        }
    }
    None
}

/// The units of MySQL that are two.
const PAIRED_UNITS: [&str; 11] = [
    "SECOND_MICROSECOND",
    "MINUTE_MICROSECOND",
    "MINUTE_SECOND",
    "HOUR_MICROSECOND",
    "HOUR_SECOND",
    "HOUR_MINUTE",
    "DAY_MICROSECOND",
    "DAY_SECOND",
    "DAY_MINUTE",
    "DAY_HOUR",
    "YEAR_MONTH",
];

fn mysql_words(four: [&Token; 4]) -> Option<(Range<usize>, Token)> {
    let is_unit = |token: &Token| PAIRED_UNITS.iter().any(|unit| is_word(token, unit));
    let is_literal =
        |token: &Token| matches!(token, Token::Number(..) | Token::SingleQuotedString(_));
    let minute = Token::make_keyword("MINUTE");
    let space = Token::Whitespace(Whitespace::Space);
    let ends_type = |token: &Token| *token == Token::RParen || is_word(token, "CHAR");
    match four {
        four if is_lone_values(four) => Some((2..3, Token::make_keyword("SELECT"))),
        [before, word, like, _]
            if is_word(word, "SOUNDS") && is_word(like, "LIKE") && may_end_value(before) =>
        {
            Some((1..2, space))
        }
        // `CAST(a AS CHAR(3) CHARACTER SET latin1)`
        [before, word, set, charset]
            if ends_type(before)
                && is_word(word, "CHARACTER")
                && is_word(set, "SET")
                && is_charset(charset) =>
        {
            Some((1..4, space))
        }
        [before, word, charset, _]
            if ends_type(before) && is_word(word, "CHARSET") && is_charset(charset) =>
        {
            Some((1..3, space))
        }
        [Token::ExclamationMark, ..] => Some((0..1, Token::make_keyword("NOT"))),
        [before, word, ..] if is_word(word, "MOD") && ends_value(before) => {
            Some((1..2, Token::Mod))
        }
        [first, Token::LParen, unit, from]
            if is_word(first, "EXTRACT") && is_unit(unit) && is_word(from, "FROM") =>
        {
            Some((2..3, minute))
        }
        [first, value, unit, _]
            if is_word(first, "INTERVAL") && is_literal(value) && is_unit(unit) =>
        {
            Some((2..3, minute))
        }
        [first, Token::Minus, value, unit]
            if is_word(first, "INTERVAL") && is_literal(value) && is_unit(unit) =>
        {
            Some((3..4, minute))
        }
        _ => None,
    }
}

/// Character sets that a text may be cast to.
const CHARSETS: [&str; 9] =
    ["ascii", "binary", "latin1", "ucs2", "utf16", "utf32", "utf8", "utf8mb3", "utf8mb4"];

fn is_charset(token: &Token) -> bool {
    CHARSETS.iter().any(|charset| is_word(token, charset))
}

/// Whether `(VALUES (…` stands where a value does. The parser takes that for a function; as `SELECT (…`
/// it names the same.
fn is_lone_values(four: [&Token; 4]) -> bool {
    let [before, open, values, first] = four;
    let is_before = match before {
        Token::Eq
        | Token::Neq
        | Token::Lt
        | Token::Gt
        | Token::LtEq
        | Token::GtEq
        | Token::Plus
        | Token::Minus
        | Token::Mul
        | Token::Div
        | Token::StringConcat => true,
        word => ["SELECT", "WHEN", "THEN", "ELSE"].iter().any(|text| is_word(word, text)),
    };
    let is_parenthesis = |token: &Token| *token == Token::LParen;
    is_before && is_parenthesis(open) && is_word(values, "VALUES") && is_parenthesis(first)
}

fn is_word(token: &Token, text: &str) -> bool {
    matches!(token, Token::Word(word)
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text))
}

/// Words before a value. What stands behind another one is an operator, or no column is called like
/// that word and the statement is refused.
const BEFORE_VALUES: [&str; 12] = [
    "AND", "BETWEEN", "BY", "CASE", "DISTINCT", "ELSE", "HAVING", "NOT", "ON", "OR", "SELECT",
    "WHERE",
];

/// Whether an operator may follow, behind names too that the parser knows as words.
fn may_end_value(token: &Token) -> bool {
    match token {
        Token::Word(_) => !BEFORE_VALUES.iter().any(|word| is_word(token, word)),
        token => ends_value(token),
    }
}

/// Whether an operator may follow.
fn ends_value(token: &Token) -> bool {
    match token {
        Token::Word(word) => word.keyword == Keyword::NoKeyword,
        Token::Number(..) | Token::SingleQuotedString(_) | Token::RParen => true,
        _ => false,
    }
}
