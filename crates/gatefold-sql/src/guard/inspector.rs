//! What is known of a statement while it is walked.
//!
//! [`Inspector`] has its methods in the modules beside this one: queries hold expressions and
//! expressions hold queries, and neither module needs to know of the other.

use std::collections::BTreeSet;

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};
use sqlparser::tokenizer::TokenWithSpan;

use super::edits::Edits;
use super::error::{GuardError, refused, too_deep};
use super::scopes::{CommonTable, Scope};
use crate::{Dialect, TableName, VisibleSchema};

/// How deep expressions and queries may be nested, chains of operators included. SQLite's own limit.
const MAX_DEPTH: usize = 1_000;

/// How many expressions and queries are looked at. Recursive queries are walked more than once.
const MAX_STEPS: usize = 200_000;

/// How many tables and subqueries a statement may select from. SQLite joins 64, MySQL 61.
const MAX_RELATIONS: usize = 200;

/// How many columns all of them may have.
const MAX_RELATION_COLUMNS: usize = 20_000;

/// How many tables and subqueries there may be once each `WITH` query stands where it is named: SQLite prepares it
/// anew at each place, and memory and time grow with that.
const MAX_EXPANDED: usize = 10_000;

/// Walks one statement.
pub(super) struct Inspector<'a> {
    pub(super) schema: &'a VisibleSchema,
    pub(super) tokens: &'a [TokenWithSpan],
    /// The queries around the place that is looked at, the innermost last.
    pub(super) scopes: Vec<Scope>,
    /// The `WITH` queries that can be named there, the innermost last.
    pub(super) common_tables: Vec<CommonTable>,
    pub(super) edits: Edits,
    /// Whether what the catalogue says of visible tables may be selected from.
    pub(super) tells_catalogue: bool,
    pub(super) tables: BTreeSet<TableName>,
    /// Operators that somebody made, which stand in the edits with their schema.
    pub(super) own_operators: BTreeSet<String>,
    pub(super) calls_own: bool,
    depth: usize,
    steps: usize,
    relations: usize,
    relation_columns: usize,
    /// What was selected from so far, with what each `WITH` query selects from counted at each place.
    pub(super) expanded: usize,
}

impl<'a> Inspector<'a> {
    pub(super) fn new(schema: &'a VisibleSchema, tokens: &'a [TokenWithSpan]) -> Self {
        Self {
            schema,
            tokens,
            scopes: Vec::new(),
            common_tables: Vec::new(),
            edits: Edits::new(tokens),
            tells_catalogue: false,
            tables: BTreeSet::new(),
            own_operators: BTreeSet::new(),
            calls_own: false,
            depth: 0,
            steps: 0,
            relations: 0,
            relation_columns: 0,
            expanded: 0,
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.schema.dialect()
    }

    pub(super) fn is_postgres(&self) -> bool {
        self.dialect() == Dialect::Postgres
    }

    pub(super) fn is_mysql(&self) -> bool {
        matches!(self.dialect(), Dialect::MySql | Dialect::MariaDb)
    }

    /// Looks at something nested, within the bounds.
    pub(super) fn deeper<T>(
        &mut self,
        look: impl FnOnce(&mut Self) -> Result<T, GuardError>,
    ) -> Result<T, GuardError> {
        self.steps += 1;
        if self.depth >= MAX_DEPTH || self.steps > MAX_STEPS {
            return Err(too_deep());
        }
        self.depth += 1;
        let seen = look(self);
        self.depth -= 1;
        seen
    }

    /// Counts what is selected from: each name is looked for in all of it.
    pub(super) fn count_relation(&mut self, columns: usize) -> Result<(), GuardError> {
        self.relations += 1;
        self.count_expanded(1)?;
        self.relation_columns += columns;
        if self.relations <= MAX_RELATIONS && self.relation_columns <= MAX_RELATION_COLUMNS {
            return Ok(());
        }
        let allowed = format!(
            "{MAX_RELATIONS} tables and subqueries may be selected from, with {MAX_RELATION_COLUMNS} \
             columns in all"
        );
        Err(refused("a statement over this many tables", allowed))
    }

    /// Counts what a `WITH` query selects from, where it is named.
    pub(super) fn count_expanded(&mut self, relations: usize) -> Result<(), GuardError> {
        self.expanded = self.expanded.saturating_add(relations);
        if self.expanded <= MAX_EXPANDED {
            return Ok(());
        }
        let allowed = "name each `WITH` query once or twice; several levels that each name the one before twice double \
                       it at every level";
        Err(refused("`WITH` queries that are named this often", allowed))
    }

    /// The name that a server takes an identifier for.
    pub(super) fn name(&self, ident: &Ident) -> String {
        name_of(self.dialect(), ident)
    }
}

/// The parts of a name with dots.
pub(super) fn name_parts(name: &ObjectName) -> Result<Vec<&Ident>, GuardError> {
    fn ident(part: &ObjectNamePart) -> Result<&Ident, GuardError> {
        match part {
            ObjectNamePart::Identifier(ident) => Ok(ident),
            ObjectNamePart::Function(_) => {
                Err(refused("a function in a name", "a name is written as `schema.table`"))
            }
        }
    }
    name.0.iter().map(ident).collect()
}

/// PostgreSQL folds what has no quotes, and only letters of ASCII.
pub(super) fn name_of(dialect: Dialect, ident: &Ident) -> String {
    if dialect == Dialect::Postgres && ident.quote_style.is_none() {
        ident.value.to_ascii_lowercase()
    } else {
        ident.value.clone()
    }
}
