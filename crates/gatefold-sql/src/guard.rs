//! The first wall: reads a statement that a model wrote, and lets pass what can only read what may be
//! seen.
//!
//! Whatever is not known to be harmless is refused. What passes is written anew, from the tokens that
//! were judged: the server sees no comment, every table with its schema, and a table that has hidden
//! or masked columns only through a subquery that selects the visible ones by name.

mod catalogue;
mod constants;
mod edits;
mod error;
mod expressions;
mod fields;
mod functions;
mod inspector;
mod joins;
mod names;
mod operators;
mod parser_words;
mod path_names;
mod queries;
mod relations;
mod scopes;
mod selects;
mod suggestions;
mod tokens;
mod types;
mod writes;

use sqlparser::ast::Statement;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

pub use error::GuardError;
pub(crate) use path_names::PathNames;

use crate::{TableName, VisibleSchema};
use error::syntax_error;
use inspector::Inspector;

/// The longest statement, in bytes.
const MAX_STATEMENT_BYTES: usize = 64 * 1024;

/// How deep the parser may call itself.
const MAX_PARSER_DEPTH: usize = 160;

/// The stack on which a statement is judged: a chain of as many operators as fit in the longest
/// statement makes a tree of that depth, which must at least be dropped. Pages that are not touched
/// cost nothing. A thread of its own would cost a query more than the judgement does.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Judges the statements that a model writes for one database.
#[derive(Debug, Clone, Copy)]
pub struct Guard<'a> {
    schema: &'a VisibleSchema,
    allows_writes: bool,
    tells_catalogue: bool,
}

/// A statement that may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedStatement {
    /// The statement as it is to be sent.
    pub sql: String,
    pub kind: StatementKind,
    /// The tables it names, in their order.
    pub tables: Vec<TableName>,
    /// The result columns as far as names tell them: a function may have others.
    pub columns: Vec<String>,
    /// The positions of result columns whose values must be masked.
    pub masked: Vec<usize>,
    pub has_order: bool,
    pub limit: LimitForm,
    /// Whether it calls a function that somebody made, of which a plan tells what it reads.
    pub calls_own: bool,
}

/// How a statement says how many rows it wants, and from which on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LimitForm {
    #[default]
    None,
    /// `OFFSET start`, without a count.
    Offset,
    /// `LIMIT count`.
    Limit,
    /// `LIMIT count OFFSET start`.
    LimitOffset,
    /// `LIMIT start, count`.
    Comma,
    /// `FETCH FIRST count ROWS ONLY`.
    Fetch,
    /// `OFFSET start ROWS FETCH FIRST count ROWS ONLY`.
    OffsetFetch,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatementKind {
    Read,
    Write { verb: WriteVerb, table: TableName },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteVerb {
    Insert,
    Update,
    Delete,
}

impl<'a> Guard<'a> {
    /// Allows statements that read.
    pub fn new(schema: &'a VisibleSchema) -> Self {
        Self { schema, allows_writes: false, tells_catalogue: false }
    }

    /// Allows `INSERT`, `UPDATE` and `DELETE` too.
    #[must_use]
    pub fn with_writes(self) -> Self {
        Self { allows_writes: true, ..self }
    }

    /// Lets statements select from the server's catalogue, as far as it tells of visible tables.
    #[must_use]
    pub fn with_catalogue(self) -> Self {
        Self { tells_catalogue: true, ..self }
    }

    pub fn check(&self, sql: &str) -> Result<CheckedStatement, GuardError> {
        if sql.len() > MAX_STATEMENT_BYTES {
            return Err(GuardError::TooLarge(MAX_STATEMENT_BYTES));
        }
        stacker::grow(STACK_BYTES, || self.check_short(sql))
    }

    fn check_short(&self, sql: &str) -> Result<CheckedStatement, GuardError> {
        let tokens = tokens::statement_tokens(self.schema.dialect(), sql)?;
        self.check_first_word(&tokens)?;
        let parsed = parser_words::parsed(self.schema.dialect(), &tokens);
        let statement = self.parse(parsed.clone())?;
        let mut inspector = Inspector::new(self.schema, &tokens);
        inspector.tells_catalogue = self.tells_catalogue;
        let (kind, outputs, shape) = match &statement {
            Statement::Query(query) => {
                let outputs = inspector.query(query)?;
                (StatementKind::Read, outputs, queries::shape(query))
            }
            Statement::Insert(insert) if self.allows_writes => {
                (inspector.insert(insert)?, Vec::new(), queries::Shape::default())
            }
            Statement::Update(update) if self.allows_writes => {
                (inspector.update(update)?, Vec::new(), queries::Shape::default())
            }
            Statement::Delete(delete) if self.allows_writes => {
                (inspector.delete(delete)?, Vec::new(), queries::Shape::default())
            }
            _ => return Err(self.refused_statement("this statement")),
        };
        if !tokens::are_covered(self.schema.dialect(), &parsed, &statement)? {
            return Err(error::refused("a part of the statement", "write it more plainly"));
        }
        let masked = outputs.iter().enumerate().filter(|(_, column)| column.is_masked);
        Ok(CheckedStatement {
            kind,
            masked: masked.map(|(at, _)| at).collect(),
            columns: outputs.iter().map(|column| column.name.clone()).collect(),
            has_order: shape.has_order,
            limit: shape.limit,
            tables: inspector.tables.iter().cloned().collect(),
            calls_own: inspector.calls_own,
            sql: inspector.edits.rendered(self.schema.dialect(), &tokens)?,
        })
    }

    /// Refuses by its first word what the parser may not even know, so that the answer is a reason
    /// and no fault of syntax.
    fn check_first_word(&self, tokens: &[TokenWithSpan]) -> Result<(), GuardError> {
        let mut tokens = tokens.iter().map(|token| &token.token);
        match tokens.find(|token| !matches!(token, Token::Whitespace(_))) {
            Some(Token::LParen) => Ok(()),
            Some(Token::Word(word)) if word.quote_style.is_none() => {
                match &*word.value.to_ascii_uppercase() {
                    "SELECT" | "WITH" | "VALUES" | "TABLE" => Ok(()),
                    "INSERT" | "UPDATE" | "DELETE" if self.allows_writes => Ok(()),
                    first => Err(self.refused_statement(&format!("`{first}`"))),
                }
            }
            Some(token) => {
                let message = format!("a statement cannot begin with `{token}`");
                Err(GuardError::Syntax { message, position: Some((1, 1)) })
            }
            None => Err(GuardError::Empty),
        }
    }

    fn parse(&self, tokens: Vec<TokenWithSpan>) -> Result<Statement, GuardError> {
        let dialect = tokens::parser_dialect(self.schema.dialect());
        let parser = Parser::new(dialect).with_recursion_limit(MAX_PARSER_DEPTH);
        let mut parser = parser.with_tokens_with_locations(tokens);
        let parsed = match parser.peek_token_ref().token {
            Token::Word(Word {
                keyword: Keyword::INSERT | Keyword::UPDATE | Keyword::DELETE,
                ..
            }) => parser.parse_statement(),
            _ => parser.parse_query().map(Statement::Query),
        };
        let statement = parsed.map_err(|error| match error {
            ParserError::RecursionLimitExceeded => error::too_deep(),
            ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
                syntax_error(&text)
            }
        })?;
        let TokenWithSpan { token, span } = parser.next_token();
        if token == Token::EOF {
            return Ok(statement);
        }
        let message = format!("expected the end of the statement, found {token}");
        let position = Some((span.start.line, span.start.column));
        Err(GuardError::Syntax { message, position })
    }

    fn refused_statement(&self, what: &str) -> GuardError {
        let mut allowed = "a statement may be `SELECT`, `WITH`, `VALUES` or `TABLE`".to_owned();
        if self.allows_writes {
            allowed.push_str(", or one `INSERT`, `UPDATE` or `DELETE`");
        }
        GuardError::Refused { what: what.to_owned(), allowed }
    }
}

#[cfg(test)]
mod tests;
