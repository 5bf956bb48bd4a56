//! The tokens of a statement, written in one way only.
//!
//! A server reads the tokens exactly as they were judged because each is written so that it can be
//! read in one way: strings in single quotes, names in the dialect's own quotes, no comment, and a
//! space wherever two tokens could be read as one.

use std::collections::HashMap;

use sqlparser::ast::Statement;
use sqlparser::dialect::{
    Dialect as ParserDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Tokenizer, Whitespace, Word};

use super::error::{GuardError, refused, too_deep};
use crate::Dialect;

/// How deep parentheses and brackets may be nested.
const MAX_NESTING: usize = 64;

pub(super) fn parser_dialect(dialect: Dialect) -> &'static dyn ParserDialect {
    match dialect {
        Dialect::Sqlite => &SQLiteDialect {},
        Dialect::Postgres => &PostgreSqlDialect {},
        Dialect::MySql | Dialect::MariaDb => &MySqlDialect {},
    }
}

/// The tokens of one statement, without the semicolons that end it.
pub(super) fn statement_tokens(
    dialect: Dialect,
    sql: &str,
) -> Result<Vec<TokenWithSpan>, GuardError> {
    let mut tokens = read(dialect, sql)?;
    let is_end = |token: &TokenWithSpan| {
        matches!(token.token, Token::SemiColon | Token::Whitespace(_) | Token::EOF)
    };
    while tokens.last().is_some_and(is_end) {
        tokens.pop();
    }
    if tokens.iter().all(is_end) {
        return Err(GuardError::Empty);
    }
    if tokens.iter().any(|token| token.token == Token::SemiColon) {
        return Err(GuardError::Several);
    }
    check_nesting(&tokens)?;
    Ok(tokens)
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The tokens of a text, each in the one way in which it is written. Whitespace and comments are one
/// space or line end.
pub(super) fn read(dialect: Dialect, sql: &str) -> Result<Vec<TokenWithSpan>, GuardError> {
    if let Some(c) = sql.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err(refused(
            format!("the control character U+{:04X}", u32::from(c)),
            "write plain text",
        ));
    }
    let mut tokenizer = Tokenizer::new(parser_dialect(dialect), sql).with_unescape(false);
    let tokens = tokenizer.tokenize_with_location().map_err(|error| GuardError::Syntax {
        message: lower_first(&error.message),
        position: Some((error.location.line, error.location.column)),
    })?;
    if matches!(dialect, Dialect::MySql | Dialect::MariaDb) {
        refuse_executable_comments(sql, &tokens)?;
    }
    let mut starts = TokenStarts::new(sql);
    let mut read: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    for TokenWithSpan { token, span } in tokens {
        let source = starts.rest_at(span.start.line, span.start.column);
        let token = one_way(dialect, token, source)?;
        let is_space = |token: &Token| matches!(token, Token::Whitespace(_));
        if is_space(&token) && read.last().is_none_or(|last| is_space(&last.token)) {
            continue;
        }
        if dialect == Dialect::Postgres && join_operator(read.last_mut(), &token, span) {
            continue;
        }
        read.push(TokenWithSpan { token, span });
    }
    Ok(read)
}

/// Adds an equals sign to one that begins with two, as PostgreSQL reads `===`: the tokenizer knows `==`
/// only, which is no operator there.
fn join_operator(last: Option<&mut TokenWithSpan>, token: &Token, span: Span) -> bool {
    let Some(last) = last.filter(|last| last.span.end == span.start) else { return false };
    let signs = match &last.token {
        Token::DoubleEq => "==",
        Token::CustomBinaryOperator(signs) if signs.starts_with("==") => signs.as_str(),
        _ => return false,
    };
    if !matches!(token, Token::Eq | Token::DoubleEq) {
        return false;
    }
    last.token = Token::CustomBinaryOperator(format!("{signs}{token}"));
    last.span.end = span.end;
    true
}

/// The text of a token as a server reads it.
pub(super) fn written(dialect: Dialect, token: &Token) -> String {
    match token {
        Token::Word(Word { value, quote_style: Some(_), .. }) => dialect.quoted(value),
        // Escaped, a string ends at the same place whatever `standard_conforming_strings` is.
        Token::SingleQuotedString(raw) if dialect == Dialect::Postgres && raw.contains('\\') => {
            format!("E'{}'", raw.replace('\\', "\\\\"))
        }
        token => token.to_string(),
    }
}

/// Whether every name among the tokens is a part of what the parser made of them. What it
/// dropped would be sent without having been judged.
pub(super) fn are_covered(
    dialect: Dialect,
    tokens: &[TokenWithSpan],
    statement: &Statement,
) -> Result<bool, GuardError> {
    let mut kept: HashMap<String, usize> = HashMap::new();
    for TokenWithSpan { token, .. } in read(dialect, &statement.to_string())? {
        if let Some(key) = token_key(&token) {
            *kept.entry(key).or_default() += 1;
        }
    }
    let mut keys = tokens.iter().filter_map(|token| token_key(&token.token));
    Ok(keys.all(|key| match kept.get_mut(&key) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }))
}

/// What a token names, whatever its case.
fn token_key(token: &Token) -> Option<String> {
    match token {
        Token::Word(Word { value, quote_style, keyword }) => {
            let is_name = quote_style.is_some() || *keyword == Keyword::NoKeyword;
            is_name.then(|| value.to_ascii_lowercase())
        }
        _ => None,
    }
}

/// Whether two tokens that follow each other without a space must be kept apart.
pub(super) fn need_space(left: &Token, right: &Token) -> bool {
    let is_tight = |token: &Token| {
        matches!(
            token,
            Token::LParen
                | Token::RParen
                | Token::LBracket
                | Token::RBracket
                | Token::Comma
                | Token::Period
                | Token::DoubleColon
        )
    };
    // `U&"x"` is a name with escapes in PostgreSQL.
    let is_ampersand = |token: &Token| *token == Token::Ampersand;
    let is_value = |token: &Token| {
        matches!(
            token,
            Token::Word(_)
                | Token::Number(..)
                | Token::SingleQuotedString(_)
                | Token::HexStringLiteral(_)
                | Token::SingleQuotedByteStringLiteral(_)
        )
    };
    if matches!(left, Token::Whitespace(_)) || matches!(right, Token::Whitespace(_)) {
        return false;
    }
    if is_ampersand(left) || is_ampersand(right) {
        return true;
    }
    !is_tight(left) && !is_tight(right) && is_value(left) == is_value(right)
}

/// A token in the one way in which it is written, or why it may not be.
fn one_way(dialect: Dialect, token: Token, source: &str) -> Result<Token, GuardError> {
    let is_mysql = matches!(dialect, Dialect::MySql | Dialect::MariaDb);
    let is_postgres = dialect == Dialect::Postgres;
    Ok(match token {
        Token::Whitespace(Whitespace::Newline | Whitespace::SingleLineComment { .. }) => {
            Token::Whitespace(Whitespace::Newline)
        }
        Token::Whitespace(_) => Token::Whitespace(Whitespace::Space),
        Token::Word(word) => Token::Word(word_one_way(dialect, word)?),
        Token::SingleQuotedString(raw) | Token::NationalStringLiteral(raw) => {
            Token::SingleQuotedString(if is_mysql { single_quoted(&raw, '\'') } else { raw })
        }
        Token::DoubleQuotedString(raw) if is_mysql => {
            Token::SingleQuotedString(single_quoted(&raw, '"'))
        }
        Token::EscapedStringLiteral(text) | Token::UnicodeStringLiteral(text) => plain(&text)?,
        Token::DollarQuotedString(string) => plain(&string.value)?,
        Token::HexStringLiteral(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
            // `0x1F` may be a number where `x'1F'` is bytes.
            if !is_postgres && source.starts_with('0') {
                Token::Number(format!("0x{digits}"), false)
            } else {
                Token::HexStringLiteral(digits)
            }
        }
        Token::SingleQuotedByteStringLiteral(bits)
            if bits.bytes().all(|b| matches!(b, b'0' | b'1')) =>
        {
            Token::SingleQuotedByteStringLiteral(bits)
        }
        Token::Number(number, false) => Token::Number(number, false),
        Token::Placeholder(name) => {
            return Err(refused(
                format!("the parameter `{name}`"),
                "write the values into the statement",
            ));
        }
        Token::Colon | Token::Assignment | Token::AtSign | Token::AtAt if !is_postgres => {
            return Err(refused(
                format!("a variable or parameter (`{token}`)"),
                "write the values into the statement",
            ));
        }
        token if is_plain(&token) => token,
        token => {
            let message = format!("`{token}` has no place in a statement of {dialect}");
            return Err(GuardError::Syntax { message, position: None });
        }
    })
}

/// A name without the marks that stand for its quotes, in the dialect's own quotes.
fn word_one_way(dialect: Dialect, word: Word) -> Result<Word, GuardError> {
    let Word { mut value, quote_style, keyword } = word;
    let quote_style = match quote_style {
        Some(quote) => {
            let end = if quote == '[' { ']' } else { quote };
            value = value.replace(&format!("{end}{end}"), &end.to_string());
            let is_mysql = matches!(dialect, Dialect::MySql | Dialect::MariaDb);
            // In SQLite only a name in double quotes may be a text instead, and only inside here does it
            // matter which one it was.
            let is_plain_name = dialect == Dialect::Sqlite && quote != '"';
            Some(if is_mysql || is_plain_name { '`' } else { '"' })
        }
        None if value.contains('@') => {
            return Err(refused(
                format!("the variable `{value}`"),
                "write the values into the statement; neither variables of the server nor of \
                 the session can be read",
            ));
        }
        None => None,
    };
    Ok(Word { value, quote_style, keyword })
}

/// What stood between quotes of MySQL, as it stands between single quotes. No quote is left behind a
/// backslash, so that the string ends at the same place whether or not backslashes escape.
fn single_quoted(raw: &str, quote: char) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        let quoted = match (c, chars.peek()) {
            ('\\', Some(&next @ ('\'' | '"'))) => Some(next),
            ('\\', Some(&next)) => {
                chars.next();
                text.extend(['\\', next]);
                continue;
            }
            (c, Some(&next)) if c == quote && next == quote => Some(quote),
            _ => None,
        };
        if quoted.is_some() {
            chars.next();
        }
        match quoted.unwrap_or(c) {
            '\'' => text.push_str("''"),
            c => text.push(c),
        }
    }
    text
}

/// A string of PostgreSQL whose value is known.
fn plain(text: &str) -> Result<Token, GuardError> {
    if text.contains('\0') {
        return Err(refused("a string with the character NUL", "PostgreSQL cannot hold it"));
    }
    Ok(Token::SingleQuotedString(text.replace('\'', "''")))
}

/// Whether a token has only one way to be written, and says nothing of parameters.
fn is_plain(token: &Token) -> bool {
    !matches!(
        token,
        Token::EOF
            | Token::Char(_)
            | Token::Number(_, true)
            | Token::DoubleQuotedString(_)
            | Token::TripleSingleQuotedString(_)
            | Token::TripleDoubleQuotedString(_)
            | Token::SingleQuotedByteStringLiteral(_)
            | Token::DoubleQuotedByteStringLiteral(_)
            | Token::TripleSingleQuotedByteStringLiteral(_)
            | Token::TripleDoubleQuotedByteStringLiteral(_)
            | Token::SingleQuotedRawStringLiteral(_)
            | Token::DoubleQuotedRawStringLiteral(_)
            | Token::TripleSingleQuotedRawStringLiteral(_)
            | Token::TripleDoubleQuotedRawStringLiteral(_)
            | Token::QuoteDelimitedStringLiteral(_)
            | Token::NationalQuoteDelimitedStringLiteral(_)
            | Token::HexStringLiteral(_)
            | Token::Backslash
            | Token::CopyData { .. }
            | Token::LBrace
            | Token::RBrace
            | Token::Placeholder(_)
    )
}

/// MySQL and MariaDB run what stands in `/*! */`, and the parser reads it as a part of the statement.
fn refuse_executable_comments(sql: &str, tokens: &[TokenWithSpan]) -> Result<(), GuardError> {
    let within = |token: &TokenWithSpan| match &token.token {
        Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => {
            text.matches("/*!").count()
        }
        Token::Word(word) if word.quote_style.is_some() => word.value.matches("/*!").count(),
        _ => 0,
    };
    let in_strings: usize = tokens.iter().map(within).sum();
    let is_marked = |token: &TokenWithSpan| {
        matches!(&token.token, Token::Whitespace(Whitespace::MultiLineComment(text))
            if text.trim_start_matches(['M', 'm']).starts_with('!'))
    };
    if sql.matches("/*!").count() > in_strings || tokens.iter().any(is_marked) {
        return Err(refused(
            "a comment that the server runs (`/*! */`)",
            "write its text into the statement, or leave it out",
        ));
    }
    Ok(())
}

fn check_nesting(tokens: &[TokenWithSpan]) -> Result<(), GuardError> {
    let mut depth = 0_usize;
    for token in tokens {
        match token.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(too_deep());
        }
    }
    Ok(())
}

/// Finds the text at places that come one after another.
struct TokenStarts<'a> {
    rest: &'a str,
    line: u64,
    column: u64,
}

impl<'a> TokenStarts<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, column: 1 }
    }

    fn rest_at(&mut self, line: u64, column: u64) -> &'a str {
        while (self.line, self.column) < (line, column) {
            let mut chars = self.rest.chars();
            match chars.next() {
                Some('\n') => (self.line, self.column) = (self.line + 1, 1),
                Some(_) => self.column += 1,
                None => break,
            }
            self.rest = chars.as_str();
        }
        self.rest
    }
}
